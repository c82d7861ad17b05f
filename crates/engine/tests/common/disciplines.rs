//! Every queue discipline, with the parameters of its paper or RFC.

use longhaul_engine::queue::{self, Capacity, LinkContext, QueueConfig};
use longhaul_keys::{Field, Profile, Table, Value};
use longhaul_units::{Bytes, Quantity, Rate, Span};

/// Returns a queue of a kind with the defaults of a profile, except for some values.
pub fn queue(
    (kind, profile): (&str, Profile),
    limit: Capacity,
    (rate, delay): (Rate, Span),
    given: impl IntoIterator<Item = (&'static str, Value)>,
) -> QueueConfig {
    let mut known = queue::DISCIPLINES.iter();
    let discipline = known
        .find(|known| known.kind == kind)
        .expect("a known kind");
    let limit = match limit {
        Capacity::Packets(packets) => Quantity::Packets(packets as f64),
        Capacity::Bytes(bytes) => Quantity::Bytes(Bytes(bytes)),
    };
    let defaults =
        Table::defaults(discipline.keys, profile).with(Capacity::FIELD, Value::Quantity(limit));
    let given = given.into_iter();
    let mut values = given.fold(defaults, |values, (key, value)| {
        values.with(Field::<()>::new(key), value)
    });
    let link = LinkContext::new(rate, delay, Bytes(1500));
    discipline
        .complete(&mut values, &link)
        .expect("sound values");
    discipline.config(&values, rate)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    DropTail,
    HeadDrop,
    Red,
    GentleAdaptiveRed,
    CoDel,
    FqCoDel,
    Cobalt,
    Cake,
    Pie,
    FqPie,
    Pi,
    Rem,
    DecBit,
    Threshold,
    DualPi2,
    RoundRobin,
    Drr,
    Vcp,
    Xcp,
}

pub const DISCIPLINES: [Discipline; 19] = [
    Discipline::DropTail,
    Discipline::HeadDrop,
    Discipline::Red,
    Discipline::GentleAdaptiveRed,
    Discipline::CoDel,
    Discipline::FqCoDel,
    Discipline::Cobalt,
    Discipline::Cake,
    Discipline::Pie,
    Discipline::FqPie,
    Discipline::Pi,
    Discipline::Rem,
    Discipline::DecBit,
    Discipline::Threshold,
    Discipline::DualPi2,
    Discipline::RoundRobin,
    Discipline::Drr,
    Discipline::Vcp,
    Discipline::Xcp,
];

impl Discipline {
    /// Returns the discipline in front of a link of this rate and delay.
    pub fn config(self, limit: Capacity, ecn: bool, rate: Rate, delay: Span) -> QueueConfig {
        let (kind, given) = self.scenario();
        let given = given.into_iter().chain([("ecn", Value::Flag(ecn))]);
        queue((kind, Profile::Rfc), limit, (rate, delay), given)
    }

    /// Returns the kind in scenarios, and the value that is given in addition.
    pub fn scenario(self) -> (&'static str, Option<(&'static str, Value)>) {
        let word = |word: &str| Value::Text(word.to_string());
        match self {
            Self::DropTail => ("droptail", Some(("counting", word("in-service")))),
            Self::HeadDrop => ("droptail", Some(("drop", word("head")))),
            Self::Red => ("red", None),
            Self::GentleAdaptiveRed => ("red", Some(("adaptive", word("gared")))),
            Self::CoDel => ("codel", None),
            Self::FqCoDel => ("fq-codel", None),
            Self::Cobalt => ("cobalt", None),
            Self::Cake => ("cake", None),
            Self::Pie => ("pie", None),
            Self::FqPie => ("fq-pie", None),
            Self::Pi => (
                "pi",
                Some(("reference", Value::Quantity(Quantity::Packets(20.0)))),
            ),
            Self::Rem => ("rem", None),
            Self::DecBit => ("decbit", None),
            Self::Threshold => ("threshold", None),
            Self::DualPi2 => ("dualpi2", None),
            Self::RoundRobin => ("round-robin", None),
            Self::Drr => ("drr", None),
            Self::Vcp => ("vcp", None),
            Self::Xcp => ("xcp", None),
        }
    }
}
