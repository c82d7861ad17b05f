//! The scenario's clock: time steps, measurement intervals, and fractions of the run.

use longhaul_mesonet::config::PacketRate;
use longhaul_units::{Span, Time};

use super::keys::{MesoNet, Period, Written};
use crate::check::LONGEST;
use crate::document::{Table, span};
use crate::error::Diagnostic;

/// Lengths of a time step, of a measurement interval, and of the run.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    step: Span,
    pub interval: Span,
    pub duration: Span,
}

impl Clock {
    /// Reads the clock from a complete `[mesonet]` table, or reports its errors.
    pub fn of(mesonet: &Table, out: &mut Vec<Diagnostic>) -> Option<Self> {
        let step = match mesonet.read(MesoNet::step) {
            Written::Number(seconds) => Span::from_secs_f64(seconds),
            Written::Span(span) => span,
        };
        const TOO_SHORT: &str = "this is less than a picosecond";
        if step == Span::ZERO {
            out.push(Diagnostic::at(mesonet, MesoNet::step, "mesonet", TOO_SHORT));
            return None;
        }
        let clock = |interval, duration| Self {
            step,
            interval,
            duration,
        };
        let interval = clock(step, step).span(mesonet.read(MesoNet::interval));
        let intervals = mesonet.read(MesoNet::intervals);
        let max = LONGEST.as_ps() / interval.as_ps().max(1);
        if interval == Span::ZERO {
            out.push(Diagnostic::at(
                mesonet,
                MesoNet::interval,
                "mesonet",
                TOO_SHORT,
            ));
        } else if max == 0 {
            let message = format!("expected at most {LONGEST}, found {interval}");
            out.push(Diagnostic::at(
                mesonet,
                MesoNet::interval,
                "mesonet",
                message,
            ));
        } else if intervals > max {
            let message =
                format!("{intervals} intervals of {interval} are too long; write at most {max}");
            out.push(Diagnostic::at(
                mesonet,
                MesoNet::intervals,
                "mesonet",
                message,
            ));
        } else {
            return Some(clock(interval, interval * intervals));
        }
        None
    }

    /// Returns the length of `written`, a time or a number of time steps.
    pub fn span(&self, written: Written) -> Span {
        match written {
            Written::Span(span) => span,
            Written::Number(steps) => {
                Span::from_ps((steps * self.step.as_ps() as f64).round() as u64)
            }
        }
    }

    /// Converts `written`, a time or a number of time steps, to a number of time steps.
    pub fn steps(&self, written: Written) -> f64 {
        match written {
            Written::Span(span) => span.as_ps() as f64 / self.step.as_ps() as f64,
            Written::Number(steps) => steps,
        }
    }

    /// Returns the length of `steps` time steps.
    pub fn of_steps(&self, steps: u64) -> Span {
        self.step * steps
    }

    /// Returns the point in time of `written`, a time or a fraction of the run.
    pub fn moment(&self, written: Written) -> Time {
        Time::ZERO
            + match written {
                Written::Span(span) => span,
                Written::Number(part) => {
                    let ps = part * self.duration.as_ps() as f64;
                    Span::from_ps(ps.round() as u64)
                }
            }
    }

    /// Returns the end of the run.
    pub fn end(&self) -> Time {
        Time::ZERO + self.duration
    }

    /// Returns the rate of `packets` packets in a time step.
    pub fn rate(&self, packets: f64) -> PacketRate {
        PacketRate::per(packets, self.step)
    }

    /// Converts the time step, the interval, and the bounds of periods to times with units.
    /// Refuses periods that do not end after their beginning, or that end after the run.
    pub fn resolve_times(&self, mesonet: &mut Table, out: &mut Vec<Diagnostic>) {
        let times = [
            (MesoNet::step, self.step),
            (MesoNet::interval, self.interval),
        ];
        for (key, time) in times {
            mesonet.get_mut(key).expect("it has a default").value = span(time);
        }
        for (index, period) in mesonet.tables_mut(MesoNet::periods).enumerate() {
            let [from, to] = [Period::from, Period::to].map(|key| {
                let node = period.get_mut(key).expect("the checker requires it");
                let moment = self.moment(node.read());
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
                let path = format!("mesonet.periods.{index}");
                out.push(Diagnostic::at(period, Period::to, &path, message));
            }
        }
    }
}
