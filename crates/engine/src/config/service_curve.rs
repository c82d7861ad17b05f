//! Service curves: the amount of data that a link can transmit up to a given time, and the inverse function. Rates may
//! change, or follow a delivery trace.
//!
//! All rates are known before the run begins. The end of a transmission is therefore computed at its beginning. The
//! cost is logarithmic in the number of changes.

use std::sync::Arc;

use longhaul_units::{Bytes, PS_PER_S, Rate, Span, Time};

use super::{Change, Link};

/// An amount of data, in units of 10^-12 bit. The product of a rate in whole bits per second and a time in whole
/// picoseconds is a whole number of units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Work(pub u128);

impl Work {
    /// Returns the amount of data in `bytes` bytes.
    pub const fn of_bytes(bytes: u64) -> Self {
        Self(bytes as u128 * 8 * PS_PER_S as u128)
    }

    /// Returns the amount of data that a link sends at `rate` during `span`.
    pub const fn of_rate(rate: Rate, span: Span) -> Self {
        Self(rate.as_bps() as u128 * span.as_ps() as u128)
    }

    /// Returns the amount in bytes.
    pub fn bytes(self) -> f64 {
        self.0 as f64 / (8 * PS_PER_S) as f64
    }

    /// Returns the amount in whole bytes, rounded down.
    pub fn whole_bytes(self) -> Bytes {
        Bytes((self.0 / (8 * u128::from(PS_PER_S))) as u64)
    }

    /// Returns this amount less the earlier amount `before`; zero if `before` is larger.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self(self.0.saturating_sub(before.0))
    }
}

/// Amount of data that a link can transmit up to any time of a run.
#[derive(Clone, Debug)]
pub enum ServiceCurve {
    /// Data are transmitted at a constant rate.
    Constant(Rate),
    /// Data are transmitted at rates that change in steps.
    Steps(Arc<RateSteps>),
    /// Data are transmitted at the delivery opportunities of a trace.
    Trace(Arc<DeliveryTrace>),
}

impl ServiceCurve {
    /// Returns the service curve of a link.
    pub fn of(link: &Link) -> Self {
        if let Some(trace) = &link.delivery_trace {
            return Self::Trace(Arc::clone(trace));
        }
        match RateSteps::new(link.rate, &link.changes, link.changes_period) {
            Some(steps) => Self::Steps(Arc::new(steps)),
            None => Self::Constant(link.rate),
        }
    }

    /// Returns the amount of data that can be transmitted up to `time`.
    pub fn work_by(&self, time: Time) -> Work {
        match self {
            Self::Constant(rate) => Work::of_rate(*rate, time.since(Time::ZERO)),
            Self::Steps(steps) => steps.work_by(time),
            Self::Trace(trace) => trace.work_by(time),
        }
    }

    /// Returns the time, rounded down, at which the transmission of `work` ends; [`Time::NEVER`] if the link never
    /// transmits so much.
    pub(crate) fn time_of(&self, work: Work) -> Time {
        match self {
            Self::Constant(rate) => whole_time(work.0 / u128::from(rate.as_bps())),
            Self::Steps(steps) => steps.time_of(work),
            Self::Trace(trace) => trace.time_of(work),
        }
    }
}

fn whole_time(ps: u128) -> Time {
    u64::try_from(ps).map_or(Time::NEVER, Time::from_ps)
}

/// A rate, and the time from which it applies.
#[derive(Clone, Copy, Debug)]
struct Step {
    at: Time,
    /// Amount of data transmitted before the step begins.
    before: Work,
    rate: Rate,
}

impl Step {
    fn work_by(&self, time: Time) -> Work {
        Work(self.before.0 + Work::of_rate(self.rate, time.since(self.at)).0)
    }
}

/// The steps that are repeated for ever.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    /// Time of the first step that is repeated.
    from: Time,
    length: Span,
    /// Amount of data transmitted before `from`.
    before: Work,
    /// Amount of data transmitted in each repetition.
    work: Work,
}

/// Rates as a step function of time.
#[derive(Debug)]
pub struct RateSteps {
    /// Steps in order of time; the first begins at the start of the run.
    steps: Vec<Step>,
    cycle: Option<Cycle>,
}

impl RateSteps {
    /// Returns the rates of a link: first `rate`, then those of `changes`, repeated with `period` if there is one.
    /// Returns `None` if the rate never changes.
    fn new(rate: Rate, changes: &[Change], period: Option<Span>) -> Option<Self> {
        let changed = changes
            .iter()
            .filter_map(|change| Some((change.at, change.rate?)));
        if changed.clone().all(|(_, new)| new == rate) {
            return None;
        }
        let mut steps = vec![Step {
            at: Time::ZERO,
            before: Work::default(),
            rate,
        }];
        for (at, rate) in changed {
            let last = steps[steps.len() - 1];
            steps.push(Step {
                at,
                before: last.work_by(at),
                rate,
            });
        }
        // The first step, from the beginning of the run to the first change, is not repeated.
        let first = steps.get(1)?;
        let cycle = period.map(|length| {
            let end = steps[steps.len() - 1].work_by(first.at + length);
            Cycle {
                from: first.at,
                length,
                before: first.before,
                work: end.since(first.before),
            }
        });
        Some(Self { steps, cycle })
    }

    fn work_by(&self, time: Time) -> Work {
        let Some(cycle) = self.cycle.filter(|cycle| time > cycle.from) else {
            return self.work_in_steps(time);
        };
        let (into, length) = (time.since(cycle.from).as_ps(), cycle.length.as_ps());
        let within = self.work_in_steps(cycle.from + Span::from_ps(into % length));
        Work(within.0 + u128::from(into / length) * cycle.work.0)
    }

    fn work_in_steps(&self, time: Time) -> Work {
        let later = self.steps.partition_point(|step| step.at <= time);
        self.steps[later.saturating_sub(1)].work_by(time)
    }

    fn time_of(&self, work: Work) -> Time {
        let Some(cycle) = self
            .cycle
            .filter(|cycle| work.0 > cycle.before.0 + cycle.work.0)
        else {
            return self.time_in_steps(work);
        };
        if cycle.work.0 == 0 {
            return Time::NEVER;
        }
        // This is the number of cycles that are complete before the end of the work. The end of a cycle belongs to this
        // cycle.
        let cycles = (work.0 - cycle.before.0 - 1) / cycle.work.0;
        let within = self.time_in_steps(Work(work.0 - cycles * cycle.work.0));
        let ps = cycles * u128::from(cycle.length.as_ps()) + u128::from(within.as_ps());
        whole_time(ps)
    }

    fn time_in_steps(&self, work: Work) -> Time {
        let reached = self.steps.partition_point(|step| step.before < work);
        let step = self.steps[reached.saturating_sub(1)];
        let (left, rate) = (work.since(step.before).0, u128::from(step.rate.as_bps()));
        match left.checked_div(rate) {
            Some(ps) => whole_time(u128::from(step.at.as_ps()) + ps),
            None if left == 0 => step.at,
            None => Time::NEVER,
        }
    }
}

/// Delivery opportunities: times at which a link delivers a fixed number of bytes at once. The list is repeated without
/// end. It represents a cellular scheduler or satellite handovers, as in mahimahi's `mm-link` (Netravali and others,
/// USENIX ATC 2015, section 4.2).
#[derive(Debug, PartialEq)]
pub struct DeliveryTrace {
    /// Times of delivery opportunities in milliseconds, ascending. A time is listed once for each opportunity at this
    /// time. The list repeats; its last time, which is not 0, is the period.
    times_ms: Vec<u32>,
    /// Bytes that may leave at each opportunity.
    opportunity: Bytes,
}

const PS_PER_MS: u64 = PS_PER_S / 1000;

impl DeliveryTrace {
    /// Returns a delivery trace with opportunities at these times, each of `opportunity` bytes.
    ///
    /// # Panics
    ///
    /// Panics if there are no times, if they are not in ascending order, or if all are 0.
    pub fn new(times_ms: Vec<u32>, opportunity: Bytes) -> Self {
        assert!(times_ms.is_sorted(), "opportunities in order of time");
        assert!(
            times_ms.last().is_some_and(|&last| last > 0),
            "a trace that takes time"
        );
        Self {
            times_ms,
            opportunity,
        }
    }

    /// Returns the mean rate, rounded down to a bit per second.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.times_ms.len() as u128 * u128::from(self.opportunity.0) * 8;
        Rate::from_bps((bits * 1000 / u128::from(self.period_ms())) as u64)
    }

    fn period_ms(&self) -> u64 {
        u64::from(self.times_ms[self.times_ms.len() - 1])
    }

    fn work_by(&self, time: Time) -> Work {
        let ms = time.as_ps() / PS_PER_MS;
        let (repetitions, into) = (ms / self.period_ms(), ms % self.period_ms());
        let within = self.times_ms.partition_point(|&at| u64::from(at) <= into);
        let opportunities = repetitions * self.times_ms.len() as u64 + within as u64;
        Work(u128::from(opportunities) * Work::of_bytes(self.opportunity.0).0)
    }

    /// Returns the time of the delivery opportunity that transmits the last bit of `work`.
    fn time_of(&self, work: Work) -> Time {
        let opportunity = Work::of_bytes(self.opportunity.0).0;
        let last = work.0.div_ceil(opportunity).saturating_sub(1);
        let (repetitions, within) = (
            last / self.times_ms.len() as u128,
            (last % self.times_ms.len() as u128) as usize,
        );
        let ms = repetitions * u128::from(self.period_ms()) + u128::from(self.times_ms[within]);
        whole_time(ms * u128::from(PS_PER_MS))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn change(ms: u64, bps: Option<u64>) -> Change {
        Change {
            at: at_ms(ms),
            rate: bps.map(Rate::from_bps),
            delay: None,
            loss: None,
        }
    }

    fn steps(rate: u64, changes: &[Change], period_ms: Option<u64>) -> RateSteps {
        let period = period_ms.map(Span::from_millis);
        RateSteps::new(Rate::from_bps(rate), changes, period).expect("rates change")
    }

    #[test]
    fn capacity_weighs_each_rate_with_its_time() {
        let changes = [
            change(2000, Some(30_000_000)),
            change(5000, None),
            change(8000, Some(100_000_000)),
        ];
        let steps = steps(10_000_000, &changes, None);
        // The link has 10 Mbit/s for 2 s, 30 Mbit/s for 6 s and 100 Mbit/s for 2 s.
        for (ms, bytes) in [
            (0, 0),
            (2000, 2_500_000),
            (3000, 6_250_000),
            (10_000, 50_000_000),
        ] {
            assert_eq!(steps.work_by(at_ms(ms)), Work::of_bytes(bytes), "{ms} ms");
            assert_eq!(
                steps.time_of(Work::of_bytes(bytes)),
                at_ms(ms),
                "{bytes} bytes"
            );
        }
    }

    #[test]
    fn a_rate_of_zero_is_an_outage_after_which_work_goes_on() {
        let outage = [change(20_000, Some(0)), change(23_000, Some(10_000_000))];
        let outage = steps(10_000_000, &outage, None);
        let before = Work::of_bytes(25_000_000);
        assert_eq!(outage.work_by(at_ms(21_500)), before);
        // Bytes that are transmitted completely before the outage leave before it. The next byte leaves 800 ns after
        // the end of the outage.
        assert_eq!(outage.time_of(before), at_ms(20_000));
        let next = outage.time_of(Work::of_bytes(25_000_001));
        assert_eq!(next, at_ms(23_000) + Span::from_ps(800_000));
        let forever = steps(8_000, &[change(1000, Some(0))], None);
        assert_eq!(forever.time_of(Work::of_bytes(1000)), at_ms(1000));
        assert_eq!(forever.time_of(Work::of_bytes(1001)), Time::NEVER);
    }

    #[test]
    fn changes_are_repeated_with_their_period_and_the_initial_rate_is_not() {
        // The rate is 80 bit/s for 1 s. Cycles of 3 s follow, with 8 bit/s for 1 s and 16 bit/s for 2 s.
        let cycle = [change(1000, Some(8)), change(2000, Some(16))];
        let cycle = steps(80, &cycle, Some(3000));
        let bytes = |ms| cycle.work_by(at_ms(ms)).bytes();
        let expected = [10.0, 11.0, 13.0, 15.0, 16.0, 20.0, 21.0, 25.0];
        let times = [1000, 2000, 3000, 4000, 5000, 7000, 8000, 10_000];
        assert_eq!(times.map(bytes), expected);
        for (ms, bytes) in times.into_iter().zip(expected) {
            assert_eq!(cycle.time_of(Work::of_bytes(bytes as u64)), at_ms(ms));
        }
        let dead = steps(8, &[change(1000, Some(0))], Some(2000));
        assert_eq!(dead.time_of(Work::of_bytes(2)), Time::NEVER);
    }

    #[test]
    fn opportunities_of_a_trace_are_repeated_from_its_last_on() {
        // Two opportunities at 1 ms and one at 4 ms are repeated at 5, 5 and 8 ms.
        let trace = DeliveryTrace::new(vec![1, 1, 4], Bytes(1504));
        assert_eq!(trace.mean_rate().as_bps(), 3 * 1504 * 8 * 250);
        let opportunities = |ms| trace.work_by(at_ms(ms)).bytes() / 1504.0;
        assert_eq!(
            [0, 1, 3, 4, 5, 7, 8, 9].map(opportunities),
            [0.0, 2.0, 2.0, 3.0, 5.0, 5.0, 6.0, 8.0]
        );
        for (bytes, ms) in [
            (1, 1),
            (1504, 1),
            (3008, 1),
            (3009, 4),
            (4513, 5),
            (9024, 8),
            (9025, 9),
        ] {
            assert_eq!(
                trace.time_of(Work::of_bytes(bytes)),
                at_ms(ms),
                "{bytes} bytes"
            );
        }
        // The opportunity at 0 coincides with the last one of the preceding repetition.
        let trace = DeliveryTrace::new(vec![0, 2], Bytes(1000));
        let opportunities = |ms| trace.work_by(at_ms(ms)).bytes() / 1000.0;
        assert_eq!([0, 1, 2, 4].map(opportunities), [1.0, 1.0, 3.0, 5.0]);
    }

    proptest! {
        /// `time_of` and `work_by` are inverse functions to the picosecond, for random rates and periods.
        #[test]
        fn work_is_done_at_its_time_and_not_before(
            rate in 1u64..1_000,
            gaps in prop::collection::vec((1u64..50, 0u64..1_000), 1..8),
            longer in prop::option::of(1u64..100),
            work in 1u128..1_000_000_000_000_000_000,
        ) {
            prop_assume!(gaps.iter().any(|&(_, bps)| bps != rate));
            let mut ms = 0;
            let changes: Vec<Change> = gaps.iter().map(|&(gap, bps)| {
                ms += gap;
                change(ms, Some(bps))
            }).collect();
            let steps = steps(rate, &changes, longer.map(|longer| ms - gaps[0].0 + longer));
            let done = steps.time_of(Work(work));
            if done != Time::NEVER {
                prop_assert!(steps.work_by(done) <= Work(work));
                prop_assert!(steps.work_by(done + Span::from_ps(1)) >= Work(work));
            }
        }
    }
}
