//! The scenario's clock: time steps, measurement intervals, and fractions of the run.

use longhaul_mesonet::config::PacketRate;
use longhaul_units::{Quantity, Span, Time};

use crate::check::LONGEST;
use crate::document::{Node, Table, Value, join};
use crate::error::Diagnostic;
use crate::typed::{Typed, span};

/// How long steps, intervals and the run are.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    step: Span,
    pub interval: Span,
    pub duration: Span,
}

impl Clock {
    /// Of a `[mesonet]` table with its defaults, or what is wrong with it.
    pub fn of(mesonet: &Table, out: &mut Vec<Diagnostic>) -> Option<Self> {
        let step = match &mesonet.node("step").value {
            Value::Number(seconds) => Span::from_secs_f64(*seconds),
            _ => mesonet.node("step").read::<Span>(),
        };
        let mut refuse = |key: &str, message: String| {
            let origin = &mesonet.node(key).origin;
            out.push(Diagnostic::new(&join("mesonet", key), origin, message));
        };
        if step == Span::ZERO {
            refuse("step", "this is less than a picosecond".to_string());
            return None;
        }
        let clock = |interval, duration| Self {
            step,
            interval,
            duration,
        };
        let interval = clock(step, step).span(mesonet.node("interval"));
        let intervals = mesonet.read::<u64>("intervals");
        let max = LONGEST.as_ps() / interval.as_ps().max(1);
        if interval == Span::ZERO {
            refuse("interval", "this is less than a picosecond".to_string());
        } else if intervals > max {
            refuse(
                "intervals",
                format!("{intervals} intervals of {interval} are too long; write at most {max}"),
            );
        } else {
            return Some(clock(interval, interval * intervals));
        }
        None
    }

    /// A time, or time steps.
    pub fn span(&self, node: &Node) -> Span {
        match &node.value {
            Value::Quantity(Quantity::Span(span)) => *span,
            _ => Span::from_ps((node.read::<f64>() * self.step.as_ps() as f64).round() as u64),
        }
    }

    /// The same in time steps.
    pub fn steps(&self, node: &Node) -> f64 {
        match &node.value {
            Value::Quantity(Quantity::Span(span)) => span.as_ps() as f64 / self.step.as_ps() as f64,
            _ => node.read::<f64>(),
        }
    }

    /// So many steps.
    pub fn of_steps(&self, steps: u64) -> Span {
        self.step * steps
    }

    /// A point in time: a time, or a fraction of the run.
    pub fn moment(&self, node: &Node) -> Time {
        Time::ZERO
            + match &node.value {
                Value::Quantity(Quantity::Span(span)) => *span,
                _ => {
                    let ps = node.read::<f64>() * self.duration.as_ps() as f64;
                    Span::from_ps(ps.round() as u64)
                }
            }
    }

    /// The end of the run.
    pub fn end(&self) -> Time {
        Time::ZERO + self.duration
    }

    /// So many packets in a time step.
    pub fn rate(&self, packets: f64) -> PacketRate {
        PacketRate::per(packets, self.step)
    }

    /// Replaces step, interval and periods by absolute times. Refuses periods that end before they
    /// begin, or after the run.
    pub fn resolve_times(&self, mesonet: &mut Table, out: &mut Vec<Diagnostic>) {
        for (key, time) in [("step", self.step), ("interval", self.interval)] {
            mesonet.get_mut(key).expect("it has a default").value = span(time);
        }
        let Some(Value::List(periods)) = mesonet.get_mut("periods").map(|node| &mut node.value)
        else {
            unreachable!("the checker knows a list")
        };
        for (index, period) in periods.iter_mut().filter_map(Node::table_mut).enumerate() {
            let [from, to] = ["from", "to"].map(|key| {
                let node = period.get_mut(key).expect("the checker requires it");
                let moment = self.moment(node);
                node.value = span(moment.since(Time::ZERO));
                moment
            });
            if to <= from || to > self.end() {
                let message = format!(
                    "the period ends at {}; it has to end after its beginning at {}, and by the end \
                     of the run at {}",
                    to.since(Time::ZERO),
                    from.since(Time::ZERO),
                    self.duration
                );
                let path = format!("mesonet.periods.{index}.to");
                out.push(Diagnostic::new(&path, &period.node("to").origin, message));
            }
        }
    }
}
