//! PIE's control as in Linux (`include/net/pie.h`, `net/sched/sch_pie.c`). The main differences from RFC 8033's
//! pseudo-code are these. The burst allowance decreases by the time between departures, not by the time between
//! updates. The delay below which nothing is dropped is the one at the last departure, not at the last update. Two
//! waiting packets are enough for a drop, instead of more than two. If the delay is zero at two successive updates, the
//! probability decays by the fraction 1/64 instead of 0.02, and only if no packets wait. Above a delay of 250 ms, a
//! step is larger by 0.02. The probability is not capped at 1, and thus takes longer to decrease again.
//!
//! Probabilities are whole numbers, of which 2^56 - 1 stands for 1. Times are in units of 64 ns.

use longhaul_units::{Span, Time};

use super::{DropReason, PieParameters, Verdict};
use crate::random::Stream;

/// Value that stands for a probability of 1 (`MAX_PROB`).
const ONE: u64 = u64::MAX >> 8;
/// Number of ticks of the scheduler's clock per second (`PSCHED_TICKS_PER_SEC`).
const TICKS_PER_S: u64 = 1_000_000_000 >> 6;

/// State of PIE for one queue, with the kernel's names.
#[derive(Clone, Debug)]
pub(in crate::queue) struct Control {
    prob: u64,
    /// Sum of the probabilities at the arrivals since the last drop, or since the last mark by a random number.
    /// Arrivals at which nothing can be dropped do not count.
    accu_prob: u64,
    /// Sojourn time of the last packet that left, in ticks; zero if no packet waited behind this packet.
    qdelay: u64,
    /// Delay at the last update, in ticks.
    qdelay_old: u64,
    burst_time: u64,
    /// Time of the last departure, in ticks; `None` if no packet has left since the burst allowance was restored.
    dq_tstamp: Option<u64>,
}

impl Control {
    pub(super) fn new(parameters: &PieParameters) -> Self {
        Self {
            prob: 0,
            accu_prob: 0,
            qdelay: 0,
            qdelay_old: 0,
            burst_time: ticks_of(parameters.max_burst),
            dq_tstamp: None,
        }
    }

    /// Decides if an arriving packet is accepted, marked or dropped (`pie_qdisc_enqueue`). `waiting_bytes` is the
    /// size of the queue that the packet finds.
    #[inline]
    pub(super) fn on_arrival(
        &mut self,
        parameters: &PieParameters,
        ecn: bool,
        waiting_bytes: u64,
        stream: &mut Stream,
    ) -> Verdict {
        if !self.selects(parameters, waiting_bytes, stream) {
            return Verdict::Accept;
        }
        if ecn && self.prob <= (parameters.mark_up_to * ONE as f64) as u64 {
            return Verdict::AcceptMarked;
        }
        self.accu_prob = 0;
        Verdict::Drop(DropReason::Early)
    }

    /// Records a drop at a full queue.
    pub(super) fn on_overflow(&mut self) {
        self.accu_prob = 0;
    }

    /// Decides at random if a packet is to be dropped or marked (`pie_drop_early`).
    fn selects(
        &mut self,
        parameters: &PieParameters,
        waiting_bytes: u64,
        stream: &mut Stream,
    ) -> bool {
        let calm = self.qdelay < ticks_of(parameters.target) / 2 && self.prob < ONE / 5;
        if self.burst_time > 0 || calm || waiting_bytes < 2 * parameters.mean_packet.0 {
            return false;
        }
        if parameters.derandomise {
            self.accu_prob = match self.prob {
                0 => 0,
                prob => self.accu_prob.wrapping_add(prob),
            };
            if self.accu_prob < ONE / 100 * 85 {
                return false;
            }
            if self.accu_prob >= ONE / 2 * 17 {
                return true;
            }
        }
        // The kernel uses the upper 56 of 64 random bits; a double has a precision of only 53 bits.
        let selected = stream.bits() << 3 < self.prob;
        if selected {
            self.accu_prob = 0;
        }
        selected
    }

    /// Records the departure of a packet that arrived at `arrived`; `alone` is true if no packet waits behind it
    /// (`pie_process_dequeue`).
    #[inline]
    pub(super) fn on_departure(&mut self, now: Time, arrived: Time, alone: bool) {
        let now = ticks_at(now);
        self.qdelay = if alone { 0 } else { now - ticks_at(arrived) };
        if let Some(last) = self.dq_tstamp.replace(now) {
            self.burst_time = self.burst_time.saturating_sub(now - last);
        }
    }

    /// Updates the probability (`pie_calculate_probability`); `waiting` is true if packets wait.
    pub(super) fn update(&mut self, parameters: &PieParameters, waiting: bool) {
        let (qdelay, old, target) = (self.qdelay, self.qdelay_old, ticks_of(parameters.target));
        let deviation = self
            .weight(parameters.alpha)
            .wrapping_mul(qdelay.wrapping_sub(target));
        let trend = self
            .weight(parameters.beta)
            .wrapping_mul(qdelay.wrapping_sub(old));
        let mut delta = deviation.wrapping_add(trend).cast_signed();
        let two_hundredths = (ONE / 50).cast_signed();
        if delta > two_hundredths && self.prob >= ONE / 10 {
            delta = (ONE / 100 * 2).cast_signed();
        }
        if qdelay > ticks_of(Span::from_millis(250)) {
            delta += two_hundredths;
        }
        self.move_by(delta);
        if qdelay == 0 && old == 0 && !waiting {
            self.prob -= self.prob / 64;
        }
        if qdelay < target / 2 && old < target / 2 && self.prob == 0 {
            self.burst_time = ticks_of(parameters.max_burst);
            self.dq_tstamp = None;
            self.accu_prob = 0;
        }
        self.qdelay_old = qdelay;
    }

    /// Returns a weight of the controller per tick. `per_s`, the weight per second, is rounded to sixteenths. While the
    /// probability is small, the weight is scaled down.
    fn weight(&self, per_s: f64) -> u64 {
        let sixteenths = libm::round(16.0 * per_s) as u64;
        let mut weight = (sixteenths * (ONE / TICKS_PER_S)) >> 4;
        if self.prob < ONE / 10 {
            weight >>= 1;
            let bounds = [100, 1000, 10_000, 100_000, 1_000_000];
            let below = bounds.iter().take_while(|&&part| self.prob < ONE / part);
            weight >>= 2 * below.count();
        }
        weight
    }

    /// Adds a step to the probability. If the sum exceeds 64 bits, the probability becomes 1; if it is negative, 0.
    fn move_by(&mut self, delta: i64) {
        let bound = if delta > 0 { ONE } else { 0 };
        self.prob = self.prob.checked_add_signed(delta).unwrap_or(bound);
    }

    /// Returns the probability of a drop or mark.
    pub(super) fn probability(&self) -> f64 {
        (self.prob as f64 / ONE as f64).min(1.0)
    }
}

/// Returns a time in the scheduler's ticks of 64 ns (`PSCHED_NS2TICKS`).
fn ticks_at(time: Time) -> u64 {
    (time.as_ps() / 1000) >> 6
}

/// Returns a duration in ticks of 64 ns.
fn ticks_of(span: Span) -> u64 {
    (span.as_ps() / 1000) >> 6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::pie::tests::linux;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// With a delay of 40 ms and a target of 15 ms, the first step is (0.125 * 0.025 + 1.25 * 0.04) / 2048.
    #[test]
    fn the_probability_by_hand() {
        let parameters = linux();
        let mut control = Control::new(&parameters);
        control.on_departure(ms(40), ms(0), false);
        control.update(&parameters, true);
        let expected = 0.053_125 / 2048.0;
        assert!((control.probability() / expected - 1.0).abs() < 1e-3);
        // Without delay, steps are negative; in addition, the probability decays, but only if
        // nothing waits.
        let fallen = [true, false].map(|waiting| {
            let mut control = control.clone();
            control.prob = ONE / 4;
            (control.qdelay, control.qdelay_old) = (0, 0);
            control.update(&parameters, waiting);
            control.probability()
        });
        let step = 0.125 * 0.015;
        assert!((fallen[0] - (0.25 - step)).abs() < 1e-6);
        assert!((fallen[1] - (0.25 - step) * 63.0 / 64.0).abs() < 1e-6);
    }

    /// With a delay above 250 ms, an update adds another 0.02 to the probability, which is not capped at 1.
    #[test]
    fn long_delays_take_the_probability_beyond_one() {
        let parameters = linux();
        let mut control = Control::new(&parameters);
        control.prob = ONE;
        control.qdelay_old = ticks_of(Span::from_millis(300));
        control.on_departure(ms(300), ms(0), false);
        control.update(&parameters, true);
        let steps = 0.02 + 0.02;
        assert!((control.prob as f64 / ONE as f64 - 1.0 - steps).abs() < 1e-6);
        assert_eq!(control.probability(), 1.0);
    }

    /// `pie_drop_early`: nothing is dropped if the delay is below half of the target and the probability below a fifth.
    /// A delay of exactly half of the target is not below.
    #[test]
    fn short_delays_at_small_probabilities_drop_nothing() {
        let parameters = PieParameters {
            derandomise: false,
            ..linux()
        };
        let half = ticks_of(parameters.target) / 2;
        for (qdelay, prob, drops) in [
            (half - 1, ONE / 5 - 1, false),
            (half, ONE / 5 - 1, true),
            (half - 1, ONE / 5, true),
        ] {
            let mut control = Control::new(&parameters);
            (control.qdelay, control.prob, control.burst_time) = (qdelay, prob, 0);
            let mut stream = Stream::new(1, 0, "pie");
            let dropped = (0..100).any(|_| {
                let verdict = control.on_arrival(&parameters, false, 15_000, &mut stream);
                verdict == Verdict::Drop(DropReason::Early)
            });
            assert_eq!(dropped, drops, "{qdelay} {prob}");
        }
    }

    /// `pie_calculate_probability`: weights are divided by 2 below a probability of 0.1, and by a further 4 below each
    /// lower power of ten, down to a millionth.
    #[test]
    fn weights_are_scaled_down_below_powers_of_ten() {
        let whole = ONE / TICKS_PER_S;
        for (part, at, below) in [
            (10, 1, 2),
            (100, 2, 8),
            (1000, 8, 32),
            (10_000, 32, 128),
            (100_000, 128, 512),
            (1_000_000, 512, 2048),
        ] {
            let mut control = Control::new(&linux());
            for (prob, divisor) in [(ONE / part, at), (ONE / part - 1, below)] {
                control.prob = prob;
                assert_eq!(control.weight(1.0), whole / divisor, "{part}");
            }
        }
    }

    /// Checks three rules of `pie_calculate_probability`. Steps are at most 0.02 if the probability is a tenth or more.
    /// Steps are larger by 0.02 above a delay of 250 ms. The probability does not fall below zero. Delays are in ticks
    /// of 64 ns; in each case of the list, the last two delays are equal.
    #[test]
    fn steps_are_bounded_by_probability_and_delay() {
        let parameters = linux();
        let long = ticks_of(Span::from_millis(250));
        let step = |prob: u64, qdelay: u64, old: u64| {
            let mut control = Control::new(&parameters);
            (control.prob, control.qdelay, control.qdelay_old) = (prob, qdelay, old);
            control.update(&parameters, true);
            (control.prob as f64 - prob as f64) / ONE as f64
        };
        // The increase is 0.125 (250 ms - 15 ms), and half of it if the probability is below a tenth.
        for (prob, qdelay, expected) in [
            (ONE / 10, long, 0.02),
            (ONE / 10 - 1, long, 0.029_375 / 2.0),
            (ONE / 10, long + 1, 0.04),
            (ONE / 10 - 1, long + 1, 0.029_375 / 2.0 + 0.02),
            (ONE / 10, long / 2, 0.125 * 0.11),
        ] {
            let found = step(prob, qdelay, qdelay);
            assert!((found - expected).abs() < 1e-5, "{found}, not {expected}");
        }
        // The probability would fall by more than its value: 1.25 * 40 ms.
        let none = step(ONE / 100, 0, ticks_of(Span::from_millis(400)));
        assert!((none + 0.01).abs() < 1e-12, "{none}");
    }

    /// The full burst allowance is restored if the probability is zero, and the last two delays are below half of the
    /// target. The sum of probabilities and the time of the last departure are then reset, too.
    #[test]
    fn a_quiet_time_restores_the_burst_allowance() {
        let parameters = linux();
        let half = ticks_of(parameters.target) / 2;
        for (prob, qdelay, old, restored) in [
            (0, half - 1, half - 1, true),
            (0, half, half - 1, false),
            (0, half - 1, half, false),
            (ONE / 2, 0, 0, false),
        ] {
            let mut control = Control::new(&parameters);
            (control.prob, control.qdelay, control.qdelay_old) = (prob, qdelay, old);
            (control.burst_time, control.accu_prob, control.dq_tstamp) = (7, 8, Some(9));
            control.update(&parameters, true);
            let found = (control.burst_time, control.accu_prob, control.dq_tstamp);
            let expected = if restored {
                (ticks_of(parameters.max_burst), 0, None)
            } else {
                (7, 8, Some(9))
            };
            assert_eq!(found, expected, "{prob} {qdelay} {old}");
        }
    }

    /// Checks the bounds of `pie_drop_early` for the sum of drop probabilities, which includes the arriving packet's:
    /// below 0.85, no packet is dropped; from 8.5 on, every packet is.
    #[test]
    fn sums_of_probabilities_decide_at_their_bounds() {
        let parameters = linux();
        let (low, high) = (ONE / 100 * 85, ONE / 2 * 17);
        let p = ONE / 16;
        let dropped = |before: u64| {
            let draws = (0..100).filter(|&number| {
                let mut control = Control::new(&parameters);
                (control.prob, control.burst_time, control.accu_prob) = (p, 0, before);
                control.qdelay = ticks_of(parameters.target);
                let mut stream = Stream::new(number, 0, "pie");
                let verdict = control.on_arrival(&parameters, false, 15_000, &mut stream);
                assert!(verdict == Verdict::Accept || control.accu_prob == 0);
                verdict != Verdict::Accept
            });
            draws.count()
        };
        assert_eq!(dropped(low - p - 1), 0);
        assert!((1..50).contains(&dropped(low - p)));
        assert!((1..50).contains(&dropped(high - p - 1)));
        assert_eq!(dropped(high - p), 100);
        let mut control = Control::new(&parameters);
        (control.burst_time, control.accu_prob) = (0, high);
        control.qdelay = ticks_of(parameters.target);
        let mut stream = Stream::new(1, 0, "pie");
        let verdict = control.on_arrival(&parameters, false, 15_000, &mut stream);
        assert_eq!((verdict, control.accu_prob), (Verdict::Accept, 0));
    }

    /// Nothing is dropped while fewer than two packets wait (`pie_drop_early`). With two or more, ECN-capable packets
    /// are marked instead of dropped, up to a probability of a tenth (`pie_qdisc_enqueue`).
    #[test]
    fn two_packets_are_enough_for_a_drop_and_a_tenth_is_marked() {
        let parameters = PieParameters {
            derandomise: false,
            ..linux()
        };
        let tenth = (0.1 * ONE as f64) as u64;
        let early = Verdict::Drop(DropReason::Early);
        for (prob, waiting, ecn, expected) in [
            (tenth, 2999, true, Verdict::Accept),
            (tenth, 3000, true, Verdict::AcceptMarked),
            (tenth + 1, 3000, true, early),
            (tenth, 3000, false, early),
        ] {
            let mut control = Control::new(&parameters);
            (control.prob, control.burst_time) = (prob, 0);
            control.qdelay = ticks_of(parameters.target);
            let mut stream = Stream::new(1, 0, "pie");
            let mut verdicts =
                (0..200).map(|_| control.on_arrival(&parameters, ecn, waiting, &mut stream));
            let first = verdicts.find(|&found| found != Verdict::Accept);
            assert_eq!(
                first.unwrap_or(Verdict::Accept),
                expected,
                "{prob} {waiting}"
            );
        }
    }

    /// The burst allowance of 150 ms falls with the time since the first departure, not with updates.
    #[test]
    fn departures_use_up_the_burst_allowance() {
        let parameters = linux();
        let mut control = Control::new(&parameters);
        control.prob = ONE;
        let mut stream = Stream::new(1, 0, "pie");
        for (at, dropped) in [(1000, false), (1149, false), (1150, true)] {
            control.update(&parameters, true);
            control.on_departure(ms(at), ms(0), false);
            let verdict = control.on_arrival(&parameters, false, 15_000, &mut stream);
            assert_eq!(verdict == Verdict::Drop(DropReason::Early), dropped, "{at}");
        }
    }
}
