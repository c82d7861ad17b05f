//! Rapid Start: a slow start that triples the window in each round trip while no queue builds up. The first recovery
//! then reduces the window to the algorithm's factor times the number of segments delivered.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Cause, Congestion};
use crate::parameter::{DefaultValue, Parameter, Range, Settings, SpecError, Variant};
use crate::window::Window;

pub(crate) static ENTRY: Entry<RapidStart> = Entry {
    kind: "rapid-start",
    title: "Rapid Start",
    description: "Slow start that triples the window each round trip while the round-trip times of the last one are \
        close to the smallest, and doubles it from then on. The first loss in it reduces the window only a little; \
        during the recovery each segment that arrives or is lost reduces it further, so that the recovery ends at \
        the algorithm's factor times what path and queue hold, however far the window was above that. It is meant \
        for pacing over whole round trips (tcp.pacing.slow_start = 1), without proportional rate reduction, which \
        has its own rule for sending in recovery. After the first recovery, or a timeout, it is standard slow start.",
    law: &[
        "min rtt of the round <= min(min_rtt + delay, min_rtt * factor): each ACK: cwnd += 2 acked; else cwnd += acked",
        "first loss in slow start: beta = the algorithm's factor, K = 2/3, silence = loss = beta + K (1 - beta), ack = K (1 - beta); cwnd = silence * cwnd",
        "each ACK of that recovery: cwnd -= ack * delivered + loss * lost, not below beta / 3 of the window before it",
        "end of the recovery: ssthresh = cwnd",
    ],
    source: "draft-kazuho-ccwg-rapid-start-02",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &PARAMETERS,
    build: RapidStart::new,
};

static PARAMETERS: [Parameter; 2] = [
    Parameter {
        name: "delay",
        unit: "seconds",
        default: DefaultValue::Fixed(0.004),
        allowed: Range::closed(0.0, 10.0),
        help: "Largest excess of round-trip times over the smallest while the window triples.",
        source: "draft-kazuho-ccwg-rapid-start-02 section 3.2",
    },
    Parameter {
        name: "factor",
        unit: "of the smallest round-trip time",
        default: DefaultValue::Fixed(1.1),
        allowed: Range::closed(1.0, 100.0),
        help: "Largest ratio of round-trip times to the smallest while the window triples. The stricter one of delay and factor applies.",
        source: "draft-kazuho-ccwg-rapid-start-02 section 3.2",
    },
];

/// Fraction of the reduction that is made gradually, as segments are acknowledged (K of section 3.3.1; appendix A).
const K: f64 = 2.0 / 3.0;

/// Maximum factor by which the window grows in a round trip. After a loss, the window is at least the usual reduced
/// window divided by this factor (section 3.3).
const MOST_GROWTH: f64 = 3.0;

/// Minimum window in a recovery, in segments (RFC 5681, equation 4).
const MIN_CWND: f64 = 2.0;

/// State of Rapid Start (draft-kazuho-ccwg-rapid-start-02, section 3) for one flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RapidStart {
    delay: Span,
    factor: f64,
    stage: Stage,
    /// Smallest round-trip time of the current round trip; `None` before the connection's first sample.
    floor: Option<Span>,
    /// Number of segments known to be delivered.
    delivered: u64,
    /// Number of segments known to be lost.
    lost: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Stage {
    /// Before the first congestion signal.
    Startup,
    /// The first recovery.
    Recovery(Reduction),
    /// Ordinary slow start, after the first recovery or a timeout.
    Over,
}

/// Reduction of the window during the first recovery.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Reduction {
    cwnd: f64,
    /// Reduction of the window per segment that has arrived, in segments.
    ack: f64,
    /// Reduction of the window per segment that is lost, in segments.
    loss: f64,
    least: f64,
}

impl Reduction {
    /// Creates the gradual reduction for a recovery that begins at the window `before`. `beta` is the fraction of the
    /// window that the congestion control algorithm keeps at a loss.
    fn of(before: f64, beta: f64) -> Self {
        let ack = K * (1.0 - beta);
        let silence = beta + ack;
        Self {
            cwnd: silence * before,
            ack,
            loss: silence,
            least: (before * beta / MOST_GROWTH)
                .max(MIN_CWND)
                .min(silence * before),
        }
    }

    fn on_ack(&mut self, delivered: u64, lost: u64) {
        let taken = self.ack * delivered as f64 + self.loss * lost as f64;
        self.cwnd = (self.cwnd - taken).max(self.least);
    }
}

impl RapidStart {
    fn new(settings: &Settings) -> Result<Self, SpecError> {
        Ok(Self {
            delay: Span::from_secs_f64(settings.get("delay")),
            factor: settings.get("factor"),
            stage: Stage::Startup,
            floor: None,
            delivered: 0,
            lost: 0,
        })
    }

    /// Processes an acknowledgement of new data in slow start, before the window grows for it.
    pub(super) fn watch(&mut self, ack: &AckSample) {
        (self.delivered, self.lost) = (ack.delivered, ack.lost);
        if let Some(rtt) = ack.rtt {
            let known = self.floor.filter(|_| !ack.round_start);
            self.floor = Some(known.map_or(rtt, |floor| floor.min(rtt)));
        }
    }

    /// Returns the growth of the window per acknowledged segment, in segments: 2 while no queue builds up, 1 otherwise.
    pub(super) fn step(&self, ack: &AckSample) -> f64 {
        let (Stage::Startup, Some(floor)) = (self.stage, self.floor) else {
            return 1.0;
        };
        let scaled = Span::from_secs_f64(self.factor * ack.min_rtt.as_secs_f64());
        let threshold = (ack.min_rtt + self.delay).min(scaled);
        if floor <= threshold { 2.0 } else { 1.0 }
    }

    /// Begins the gradual reduction of the window in the first recovery; `before` is the window before the algorithm's
    /// reduction. After a mark, or if slow start had already ended, the algorithm's reduction applies at once (section
    /// 3.3.2).
    pub(super) fn on_reduction(&mut self, event: &Congestion, before: f64, window: &mut Window) {
        let is_first_loss = self.stage == Stage::Startup && event.cause == Cause::Loss;
        self.stage = Stage::Over;
        if is_first_loss && event.in_slow_start && before > window.cwnd() {
            let reduction = Reduction::of(before, window.cwnd() / before);
            set(window, reduction.cwnd);
            self.stage = Stage::Recovery(reduction);
        }
    }

    /// Processes an acknowledgement in a recovery.
    pub(super) fn on_ack_in_recovery(&mut self, ack: &AckSample, window: &mut Window) {
        if let Stage::Recovery(reduction) = &mut self.stage {
            reduction.on_ack(ack.delivered - self.delivered, ack.lost - self.lost);
            (self.delivered, self.lost) = (ack.delivered, ack.lost);
            // The window does not grow here, since the algorithm may also reduce it in recoveries.
            set(window, reduction.cwnd.min(window.cwnd()));
        }
    }

    /// Ends Rapid Start. Called at a timeout, and at the end of a recovery, when all segments sent before the loss was
    /// detected have arrived or have been retransmitted.
    pub(super) fn end(&mut self) {
        self.stage = Stage::Over;
    }
}

/// Sets the window and the threshold to `cwnd`, so slow start is over.
fn set(window: &mut Window, cwnd: f64) {
    window.set_ssthresh(cwnd);
    window.set_cwnd(cwnd);
}

#[cfg(test)]
mod tests {
    use longhaul_units::Time;

    use super::*;
    use crate::window::Rounding;

    fn rapid() -> RapidStart {
        RapidStart::new(&ENTRY.settings(Variant::Paper, &[]).unwrap()).unwrap()
    }

    fn ack(delivered: u64, lost: u64, rtt_ms: f64) -> AckSample {
        AckSample {
            now: Time::ZERO + Span::from_secs(1),
            delivered,
            lost,
            rtt: Some(Span::from_secs_f64(rtt_ms / 1e3)),
            min_rtt: Span::from_millis(20),
            ..AckSample::ONE_SEGMENT
        }
    }

    fn signal(cause: Cause) -> Congestion {
        Congestion {
            now: Time::ZERO,
            cause,
            base: 300.0,
            in_flight: 300,
            in_slow_start: true,
            first: true,
        }
    }

    /// Checks that the window triples while the smallest round-trip time of a round trip exceeds that of the connection
    /// by at most 10 % (2 ms of 20 ms) or 4 ms, whichever is less (section 3.2).
    #[test]
    fn the_window_triples_while_round_trips_are_close_to_the_smallest() {
        let step = |min_ms: u64, rtts: &[f64]| {
            let mut rapid = rapid();
            let acks = rtts.iter().map(|&rtt| AckSample {
                min_rtt: Span::from_millis(min_ms),
                ..ack(1, 0, rtt)
            });
            acks.fold(0.0, |_, ack| {
                rapid.watch(&ack);
                rapid.step(&ack)
            })
        };
        assert_eq!(step(20, &[22.0]), 2.0);
        assert_eq!(step(20, &[22.1]), 1.0);
        assert_eq!(step(100, &[104.0]), 2.0);
        assert_eq!(step(100, &[104.1]), 1.0);
        assert_eq!(step(20, &[20.0, 40.0]), 2.0);
        let (mut rapid, next) = (rapid(), ack(2, 0, 40.0));
        rapid.watch(&ack(1, 0, 20.0));
        let round_start = true;
        rapid.watch(&AckSample {
            round_start,
            ..next
        });
        assert_eq!(rapid.step(&next), 1.0, "another round trip");
    }

    /// Compares the factors with section 3.3.1, for algorithms that halve the window and for CUBIC.
    #[test]
    fn factors_are_those_of_the_draft() {
        for (beta, silence, per_ack) in [
            (0.5, 5.0 / 6.0, 1.0 / 3.0),
            (0.7, 0.9, 0.2),
            (0.8, 14.0 / 15.0, 2.0 / 15.0),
        ] {
            let reduction = Reduction::of(1.0, beta);
            assert!((reduction.cwnd - silence).abs() < 1e-12);
            assert!((reduction.loss - silence).abs() < 1e-12);
            assert!((reduction.ack - per_ack).abs() < 1e-12);
        }
    }

    /// Checks that the window at the end of the recovery is beta times the number of segments delivered, but at least
    /// beta / 3 times the window before the recovery (appendix A).
    #[test]
    fn it_ends_at_the_part_of_what_was_delivered() {
        for (lost, ends_at) in [(0, 150.0), (100, 100.0), (200, 50.0), (250, 50.0)] {
            let mut rapid = rapid();
            let mut window = Window::new(300.0, 1e6, 1e6, Rounding::Real);
            rapid.watch(&ack(1000, 0, 20.0));
            window.reduce_to(150.0);
            rapid.on_reduction(&signal(Cause::Loss), 300.0, &mut window);
            assert!((window.cwnd() - 250.0).abs() < 1e-9);
            assert_eq!(window.ssthresh(), window.cwnd());
            let delivered = 300 - lost;
            for part in 1..=10 {
                let sample = ack(1000 + delivered * part / 10, lost * part / 10, 20.0);
                rapid.on_ack_in_recovery(&sample, &mut window);
            }
            assert!(
                (window.cwnd() - ends_at).abs() < 1e-9,
                "{lost}: {}",
                window.cwnd()
            );
            assert_eq!(window.ssthresh(), window.cwnd());
        }
    }

    /// Returns the slow start and the window after a first congestion signal. The algorithm has reduced a window of 300
    /// segments to `to`.
    fn reduced(event: &Congestion, to: f64) -> (RapidStart, Window) {
        let mut rapid = rapid();
        let mut window = Window::new(300.0, 1e6, 1e6, Rounding::Real);
        window.reduce_to(to);
        rapid.on_reduction(event, 300.0, &mut window);
        (rapid, window)
    }

    /// Checks that a mark, or a loss after slow start, ends Rapid Start without changing the window that the algorithm
    /// has set (section 3.3.2).
    #[test]
    fn a_mark_and_a_later_loss_are_answered_as_by_the_algorithm() {
        let later = Congestion {
            in_slow_start: false,
            ..signal(Cause::Loss)
        };
        for event in [signal(Cause::Ecn), later] {
            let (rapid, window) = reduced(&event, 240.0);
            assert_eq!((window.cwnd(), rapid.stage), (240.0, Stage::Over));
        }
    }

    /// If the algorithm reduces the window further during the recovery, the window stays reduced.
    #[test]
    fn a_recovery_never_raises_the_window() {
        let (mut rapid, mut window) = reduced(&signal(Cause::Loss), 150.0);
        window.set_cwnd(100.0);
        rapid.on_ack_in_recovery(&ack(1, 0, 20.0), &mut window);
        assert_eq!(window.cwnd(), 100.0);
    }

    /// Rapid Start controls only the first recovery.
    #[test]
    fn later_reductions_are_the_algorithm_s() {
        let (mut rapid, mut window) = reduced(&signal(Cause::Loss), 150.0);
        rapid.end();
        window.reduce_to(100.0);
        rapid.on_reduction(&signal(Cause::Loss), 150.0, &mut window);
        rapid.on_ack_in_recovery(&ack(2000, 10, 20.0), &mut window);
        assert_eq!(window.cwnd(), 100.0);
        assert_eq!(rapid.step(&ack(2000, 10, 20.0)), 1.0);
    }

    /// Checks that a timeout ends the fast growth even if no loss was detected before. The slow start after the timeout
    /// is standard (section 3.3.1).
    #[test]
    fn after_a_timeout_growth_is_standard() {
        let mut rapid = rapid();
        rapid.watch(&ack(1, 0, 20.0));
        assert_eq!(rapid.step(&ack(1, 0, 20.0)), 2.0);
        rapid.end();
        rapid.watch(&ack(2, 0, 20.0));
        assert_eq!(rapid.step(&ack(2, 0, 20.0)), 1.0);
    }
}
