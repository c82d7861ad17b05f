//! All queue disciplines, each with the parameters of its paper or RFC.

use longhaul_engine::queue::{self, Capacity, LinkContext, QueueConfig};
use longhaul_keys::{Field, Profile, Table, Value};
use longhaul_units::{Bytes, Quantity, Rate, Span};

/// Returns a queue's configuration: the defaults of its kind and profile, with the values in `given` changed.
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

/// A kind of discipline and, optionally, one of its keys with a value other than the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discipline {
    kind: &'static str,
    given: Option<(&'static str, &'static str)>,
}

/// Keys that the tests set for every discipline of a kind. The limit of drop-tail also counts the packet in service, as
/// in ns-2. PI has a reference queue length that short runs reach.
const GIVEN: [(&str, (&str, &str)); 2] = [
    ("droptail", ("counting", "in-service")),
    ("pi", ("reference", "20 packets")),
];

/// Variants of disciplines (kind, key and value) that are tested in addition to the disciplines with their defaults.
const FORMS: [(&str, (&str, &str)); 2] = [
    ("droptail", ("drop", "head")),
    ("red", ("adaptive", "gared")),
];

/// Returns the discipline of this name.
pub fn of(kind: &'static str) -> Discipline {
    let given = GIVEN.iter().find(|(of, _)| *of == kind);
    Discipline {
        kind,
        given: given.map(|(_, given)| *given),
    }
}

/// Returns all disciplines of the engine and their variants.
pub fn all() -> Vec<Discipline> {
    let registered = queue::DISCIPLINES.iter().map(|known| of(known.kind));
    let forms = FORMS.iter().map(|&(kind, given)| Discipline {
        kind,
        given: Some(given),
    });
    registered.chain(forms).collect()
}

impl Discipline {
    /// Returns the configuration of the discipline for a link of this rate and delay.
    pub fn config(self, limit: Capacity, ecn: bool, rate: Rate, delay: Span) -> QueueConfig {
        let value = |(key, text): (&'static str, &str)| {
            let mut known = queue::DISCIPLINES.iter();
            let known = known.find(|known| known.kind == self.kind);
            let mut keys = known.expect("a known kind").keys.iter();
            let kind = keys.find(|known| known.name == key).expect("a key").kind;
            (key, kind.parse(text).expect("a value"))
        };
        let given = self.given.map(value).into_iter();
        let given = given.chain([("ecn", Value::Flag(ecn))]);
        queue((self.kind, Profile::Rfc), limit, (rate, delay), given)
    }
}
