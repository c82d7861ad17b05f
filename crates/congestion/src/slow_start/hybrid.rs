//! HyStart of Linux: slow start ends when a train of acknowledgements lasts half of the smallest round-trip time, or
//! when the round-trip time grows.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Timeout};
use crate::parameter::{DefaultValue, Parameter, Range, Settings, SpecError, Variant};
use crate::window::Window;

pub(crate) static ENTRY: Entry<HybridSlowStart> = Entry {
    kind: "hystart",
    title: "HyStart of Linux",
    description: "Slow start that ends, without a slower phase, when a train of closely spaced ACKs spans half the \
        smallest round-trip time, which indicates that the path is full, or when the smallest round-trip time of a \
        round has grown. After a timeout it is active again.",
    law: &[
        "each ACK: cwnd += acked",
        "ACK train as long as half of min_rtt, or smallest rtt of a round grown by an eighth, bounded: ssthresh = cwnd",
    ],
    source: "Linux 6.18, tcp_cubic.c (hystart_update); Ha and Rhee, Computer Networks 55, 2011",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &PARAMETERS,
    build: HybridSlowStart::new,
};

static PARAMETERS: [Parameter; 7] = [
    Parameter {
        name: "low_window",
        unit: "segments",
        default: DefaultValue::Fixed(16.0),
        allowed: Range::closed(0.0, 1e9),
        help: "Smallest window at which it ends slow start.",
        source: "Linux, hystart_low_window",
    },
    Parameter {
        name: "ack_delta",
        unit: "seconds",
        default: DefaultValue::Fixed(0.002),
        allowed: Range::closed(0.0, 10.0),
        help: "Longest time between two acknowledgements of a train.",
        source: "Linux, hystart_ack_delta_us",
    },
    Parameter {
        name: "train",
        unit: "fraction of the smallest round-trip time",
        default: DefaultValue::Fixed(0.5),
        allowed: Range::closed(0.0, 100.0),
        help: "Length of a train of acknowledgements that ends slow start, including up to a millisecond for segments \
            sent together. With tcp.pacing it is 1: pacing alone spreads segments over half the round trip.",
        source: "Linux, hystart_update (sk_pacing_status) and hystart_ack_delay",
    },
    Parameter {
        name: "samples",
        unit: "samples",
        default: DefaultValue::Fixed(8.0),
        allowed: Range::closed(0.0, 1e6),
        help: "Number of round-trip time samples after which a round is judged.",
        source: "Linux, HYSTART_MIN_SAMPLES",
    },
    Parameter {
        name: "min_rtt_thresh",
        unit: "seconds",
        default: DefaultValue::Fixed(0.004),
        allowed: Range::closed(0.0, 10.0),
        help: "Smallest growth of the round-trip time that counts.",
        source: "Linux, HYSTART_DELAY_MIN",
    },
    Parameter {
        name: "max_rtt_thresh",
        unit: "seconds",
        default: DefaultValue::Fixed(0.016),
        allowed: Range::above(0.0, 10.0),
        help: "Growth of the round-trip time that always counts.",
        source: "Linux, HYSTART_DELAY_MAX",
    },
    Parameter {
        name: "min_rtt_divisor",
        unit: "1",
        default: DefaultValue::Fixed(8.0),
        allowed: Range::closed(1.0, 1e3),
        help: "Between these two bounds, the growth that counts is the smallest round-trip time divided by this.",
        source: "Linux, hystart_update",
    },
];

/// Bytes in four of the largest bursts of segmentation offload (`sk_gso_max_size`). Their transmission time at the
/// pacing rate is added to the round-trip time with which an acknowledgement train is compared.
const FOUR_BURSTS_BYTES: f64 = 4.0 * 65_536.0;

/// Upper bound of the transmission time of four bursts, in seconds. This time is added to the round-trip time with
/// which an acknowledgement train is compared (`hystart_ack_delay`).
const MAX_BURST_TIME_S: f64 = 1e-3;

/// Pacing rate in slow start, in windows per round trip; Linux computes this rate even if it does not pace
/// (tcp_pacing_ss_ratio).
const PACING_GAIN: f64 = 2.0;

/// State of HyStart (`hystart_update`) for one flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HybridSlowStart {
    low_window: f64,
    ack_delta: Span,
    train: f64,
    samples: f64,
    min_rtt_thresh_s: f64,
    max_rtt_thresh_s: f64,
    min_rtt_divisor: f64,
    /// Number of segments sent before the last timeout. Acknowledgements are not evaluated until more segments than
    /// this number have been delivered.
    resumes_after: u64,
    /// Number of delivered segments. An acknowledgement that exceeds this number begins the next round.
    round_end: u64,
    /// Time at which the current round began.
    round_start: Time,
    /// Time of the last acknowledgement in the round's train.
    last_of_train: Time,
    /// Smallest round-trip time of the connection in slow start since its last timeout.
    min_rtt: Option<Span>,
    /// Smallest round-trip time of the current round.
    round_min: Option<Span>,
    /// Number of samples in the current round, at most `samples`.
    taken: f64,
    /// True if HyStart has ended slow start.
    found: bool,
}

impl HybridSlowStart {
    fn new(settings: &Settings) -> Result<Self, SpecError> {
        settings.require_below("min_rtt_thresh", "max_rtt_thresh")?;
        Ok(Self {
            low_window: settings.get("low_window"),
            ack_delta: Span::from_secs_f64(settings.get("ack_delta")),
            train: settings.get("train"),
            samples: settings.get("samples"),
            min_rtt_thresh_s: settings.get("min_rtt_thresh"),
            max_rtt_thresh_s: settings.get("max_rtt_thresh"),
            min_rtt_divisor: settings.get("min_rtt_divisor"),
            resumes_after: 0,
            round_end: 0,
            round_start: Time::ZERO,
            last_of_train: Time::ZERO,
            min_rtt: None,
            round_min: None,
            taken: 0.0,
            found: false,
        })
    }

    /// Processes an acknowledgement of new data in slow start, before the window grows for it; ends
    /// slow start if the path is full.
    pub(super) fn watch(&mut self, ack: &AckSample, window: &mut Window) {
        // Segments retransmitted after a timeout give no round-trip times in Linux (Karn's rule),
        // and are not evaluated.
        let Some(rtt) = ack.rtt.filter(|_| ack.delivered > self.resumes_after) else {
            return;
        };
        let min_rtt = self.min_rtt.map_or(rtt, |min| min.min(rtt));
        self.min_rtt = Some(min_rtt);
        if self.found {
            return;
        }
        if ack.delivered > self.round_end {
            self.begin_round(ack.now, ack.delivered + ack.in_flight);
        }
        if window.cwnd() < self.low_window {
            return;
        }
        let train = self.has_long_train(ack, min_rtt, window);
        if self.has_grown(rtt, min_rtt) || train {
            self.found = true;
            window.exit_slow_start();
        }
    }

    /// Begins a round, which ends when a segment is acknowledged that was sent after the round began.
    fn begin_round(&mut self, now: Time, end: u64) {
        self.round_end = end;
        (self.round_start, self.last_of_train) = (now, now);
        (self.round_min, self.taken) = (None, 0.0);
    }

    /// Returns true if the round's acknowledgement train is long enough to end slow start. Each acknowledgement of a
    /// train arrives shortly after the previous one.
    fn has_long_train(&mut self, ack: &AckSample, min_rtt: Span, window: &Window) -> bool {
        if ack.now.since(self.last_of_train) > self.ack_delta {
            return false;
        }
        self.last_of_train = ack.now;
        let in_flight = window.cwnd().max(ack.in_flight as f64);
        let bytes_per_round = PACING_GAIN * in_flight * ack.segment_bytes as f64;
        let bursts_s = FOUR_BURSTS_BYTES / bytes_per_round * ack.srtt.as_secs_f64();
        let span_s = min_rtt.as_secs_f64() + bursts_s.min(MAX_BURST_TIME_S);
        ack.now.since(self.round_start) > Span::from_secs_f64(self.train * span_s)
    }

    /// Returns true if the smallest round-trip time of the round is well above the smallest one of the connection;
    /// false if there are too few samples.
    fn has_grown(&mut self, rtt: Span, min_rtt: Span) -> bool {
        let round_min = self.round_min.map_or(rtt, |min| min.min(rtt));
        self.round_min = Some(round_min);
        if self.taken < self.samples {
            self.taken += 1.0;
            return false;
        }
        let part = min_rtt.as_secs_f64() / self.min_rtt_divisor;
        let growth = part.clamp(self.min_rtt_thresh_s, self.max_rtt_thresh_s);
        round_min > min_rtt + Span::from_secs_f64(growth)
    }

    /// Restarts the search for the end of slow start. Only new data sent from now on is evaluated (`cubictcp_state`).
    pub(super) fn on_timeout(&mut self, event: &Timeout) {
        self.found = false;
        self.min_rtt = None;
        self.resumes_after = event.sent;
        self.begin_round(event.now, event.sent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Rounding;

    const RTT: Span = Span::from_millis(100);

    fn hystart(given: &[(&str, f64)]) -> HybridSlowStart {
        let given: Vec<_> = given.iter().map(|&(key, v)| (key.to_string(), v)).collect();
        HybridSlowStart::new(&ENTRY.settings(Variant::Paper, &given).unwrap()).unwrap()
    }

    /// Passes acknowledgements of one segment each, `gap` apart, with round-trip times `rtts`. All are in one round,
    /// and the window does not grow. Returns the index of the acknowledgement that ends slow start.
    fn ends_with(
        hystart: &mut HybridSlowStart,
        cwnd: f64,
        gap: Span,
        rtts: impl IntoIterator<Item = Span>,
    ) -> Option<usize> {
        let mut window = Window::new(cwnd, 1e6, 1e6, Rounding::Real);
        let start = Time::ZERO + Span::from_secs(10);
        let delivered = hystart.round_end;
        rtts.into_iter().enumerate().position(|(number, rtt)| {
            let ack = AckSample {
                now: start + gap * number as u64,
                delivered: delivered + 1 + number as u64,
                in_flight: 100_000,
                rtt: Some(rtt),
                srtt: rtt,
                ..AckSample::ONE_SEGMENT
            };
            hystart.watch(&ack, &mut window);
            window.ssthresh() == cwnd
        })
    }

    fn steady(count: usize) -> std::iter::RepeatN<Span> {
        std::iter::repeat_n(RTT, count)
    }

    /// Checks that an acknowledgement train longer than half of the round-trip time ends slow start. The round-trip
    /// time is 100 ms.
    #[test]
    fn a_train_of_half_the_round_trip_ends_slow_start() {
        let train = |gap_us: u64, cwnd: f64, given: &[(&str, f64)]| {
            let gap = Span::from_micros(gap_us);
            ends_with(&mut hystart(given), cwnd, gap, steady(200))
        };
        // The threshold is half of the sum of 100 ms and one millisecond for bursts.
        assert_eq!(train(2_000, 32.0, &[]), Some(26));
        assert_eq!(train(1_000, 32.0, &[]), Some(51));
        assert_eq!(
            train(2_001, 32.0, &[]),
            None,
            "acknowledgements too far apart"
        );
        assert_eq!(train(2_000, 15.0, &[]), None, "below the low window");
        assert_eq!(train(2_000, 16.0, &[]), Some(26));
        // With pacing, the threshold is the whole sum.
        assert_eq!(train(2_000, 32.0, &[("train", 1.0)]), Some(51));
    }

    /// Checks the length of the acknowledgement train that ends slow start. It exceeds half of the sum of two times:
    /// the round-trip time of 10 ms, and the time that four bursts take at the pacing rate.
    #[test]
    fn the_time_of_bursts_follows_the_rate() {
        let rtts = std::iter::repeat_n(Span::from_millis(10), 9_000);
        // Four bursts of 65,536 bytes take 8.7 us at two windows of 100,000 segments (1500 bytes each) per 10 ms.
        let found = ends_with(&mut hystart(&[]), 1e5, Span::from_micros(1), rtts);
        assert_eq!(found, Some(5_005));
    }

    /// Checks that the ninth sample of a round ends slow start if the smallest of the nine exceeds 100 + 12.5 ms.
    #[test]
    fn a_longer_round_trip_ends_slow_start_with_the_ninth_sample() {
        let gap = Span::from_millis(5);
        let after = |first_us: u64, others_us: u64| {
            let mut hystart = hystart(&[]);
            assert_eq!(ends_with(&mut hystart, 32.0, gap, steady(1)), None);
            hystart.begin_round(Time::ZERO, hystart.round_end);
            let first = std::iter::once(Span::from_micros(first_us));
            let others = std::iter::repeat_n(Span::from_micros(others_us), 20);
            ends_with(&mut hystart, 32.0, gap, first.chain(others))
        };
        assert_eq!(after(112_501, 112_501), Some(8));
        assert_eq!(after(112_500, 112_501), None, "one is not above");
        assert_eq!(after(130_000, 120_000), Some(8));
    }

    /// Checks HyStart's threshold for growth of the round-trip time: an eighth, but at least 4 and at most 16 ms.
    #[test]
    fn the_growth_that_counts_is_an_eighth_within_bounds() {
        for (min_ms, growth_us) in [(8, 4_000), (40, 5_000), (400, 16_000)] {
            let min_rtt = Span::from_millis(min_ms);
            let mut hystart = hystart(&[("samples", 0.0)]);
            let limit = min_rtt + Span::from_micros(growth_us);
            assert!(!hystart.has_grown(limit, min_rtt));
            hystart.round_min = None;
            assert!(hystart.has_grown(limit + Span::from_micros(1), min_rtt));
        }
    }

    /// Checks that HyStart ends only one slow start, unless a timeout activates HyStart again. It then ignores
    /// acknowledgements of segments that were sent before the timeout.
    #[test]
    fn it_watches_anew_what_is_sent_after_a_timeout() {
        let gap = Span::from_millis(2);
        let mut hystart = hystart(&[]);
        assert_eq!(ends_with(&mut hystart, 32.0, gap, steady(100)), Some(26));
        assert_eq!(ends_with(&mut hystart, 32.0, gap, steady(100)), None);
        let (now, base, sent) = (Time::ZERO + Span::from_secs(5), 32.0, 1_000);
        let keep_ssthresh = false;
        hystart.on_timeout(&Timeout {
            now,
            base,
            keep_ssthresh,
            sent,
        });
        hystart.round_end = 900;
        assert_eq!(ends_with(&mut hystart, 32.0, gap, steady(100)), None);
        hystart.round_end = sent;
        assert_eq!(ends_with(&mut hystart, 32.0, gap, steady(100)), Some(26));
    }
}
