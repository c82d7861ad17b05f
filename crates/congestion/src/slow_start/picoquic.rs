//! Rules of picoquic, a QUIC stack, for the first slow start of a connection. When round-trip times have grown, slow
//! start ends with a smaller window.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::AckSample;
use crate::parameter::Variant;
use crate::peak_rate::PeakRate;
use crate::recent_rtts::{RecentRtts, SAMPLES};
use crate::window::Window;

pub(crate) static ENTRY: Entry<PicoquicSlowStart> = Entry {
    kind: "picoquic",
    title: "Slow start of picoquic",
    description: "Slow start that ends when the smallest of the last seven round-trip time samples, no two within a \
        millisecond, was above a threshold seven times. It then keeps half of the window, because the window has \
        grown since the packet left whose ACK reports the delay; on paths longer than 100 ms it keeps more. The \
        window is at least half of what the path holds at the largest rate over a millisecond. Only for the first \
        slow start of a connection.",
    law: &[
        "each ACK: cwnd = max(cwnd, srtt / 2 * largest rate over a millisecond) + acked",
        "7 times smallest of 7 rtt above base + max(base / 4, time of a packet): cwnd = ssthresh = cwnd / 2; \
            base is the least of the largest of 7 rtt",
        "base above 100 ms: cwnd -= (1 - 100 ms / min(base, 610 ms)) * cwnd / 2 instead",
    ],
    source: "picoquic, August 2026: cc_common.c (picoquic_cc_hystart_test), cubic.c",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &[],
    build: |_| Ok(PicoquicSlowStart::default()),
};

/// Divisor of the base round-trip time. A long sample exceeds the base round-trip time by more than the quotient.
const GROWTH: u64 = 4;
/// Longest base round-trip time, in seconds, at which the end of slow start removes half of the window. On longer
/// paths, it removes less (`PICOQUIC_TARGET_RENO_RTT`).
const SHORT_S: f64 = 0.1;
/// Base round-trip time in seconds. Above it, the fraction of the window that is removed at the end of slow start no
/// longer depends on the round-trip time (`PICOQUIC_TARGET_SATELLITE_RTT`).
const LONG_S: f64 = 0.61;
/// Pacing rate of picoquic in slow start, in windows per round trip (pacing.c).
const PACING_GAIN: f64 = 1.25;

/// State of picoquic's rules for the first slow start of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PicoquicSlowStart {
    rtts: RecentRtts,
    peak: PeakRate,
    base: Option<Span>,
    /// Number of samples at which all recent round-trip times were too long, since one of these last was at most the
    /// base. At `SAMPLES`, slow start ends.
    long: usize,
    over: bool,
}

impl PicoquicSlowStart {
    /// Processes an acknowledgement of new data in slow start, before the window grows for it.
    pub(super) fn watch(&mut self, ack: &AckSample, window: &mut Window) {
        let Some(rtt) = ack.rtt.filter(|_| !self.over) else {
            return;
        };
        self.peak.note(ack);
        let floor = self.peak.per_s() * ack.srtt.as_secs_f64() / 2.0;
        if floor > window.cwnd() {
            window.set_cwnd(floor);
        }
        if !self.rtts.take(rtt, ack.now) || !self.rtts.is_full() {
            return;
        }
        let packet = ack.srtt.as_secs_f64() / (PACING_GAIN * window.cwnd());
        let base = self.judge(Span::from_secs_f64(packet));
        if self.long >= SAMPLES {
            self.over = true;
            window.set_cwnd(kept(base) * window.cwnd());
            window.exit_slow_start();
        }
    }

    /// Updates and returns the base round-trip time. Increments `long` if all recent samples exceed the base by more
    /// than a quarter, and by more than `packet`, the transmission time of a packet. Resets `long` if one of them does
    /// not exceed the base.
    fn judge(&mut self, packet: Span) -> Span {
        let (least, most) = self.rtts.bounds();
        let base = self.base.map_or(most, |base| base.min(most));
        self.base = Some(base);
        if least <= base {
            self.long = 0;
        } else if least > base + packet.max(base / GROWTH) {
            self.long += 1;
        }
        base
    }

    /// Ends picoquic's rules at a reduction or a timeout; later slow starts of the flow are standard.
    pub(super) fn end(&mut self) {
        self.over = true;
    }
}

/// Returns the fraction of the window that is kept at the end of slow start; `base` is the base round-trip time.
fn kept(base: Span) -> f64 {
    let base_s = base.as_secs_f64();
    if base_s > SHORT_S {
        1.0 - (1.0 - SHORT_S / base_s.min(LONG_S)) / 2.0
    } else {
        0.5
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Time;

    use super::*;
    use crate::window::Rounding;

    /// Runs slow start with the round-trip times `rtts_ms`, in acknowledgements `gap_us` microseconds apart. Returns
    /// the number of the acknowledgement that ends slow start, from one, and the final window.
    fn end(rtts_ms: &[u64], gap_us: u64) -> (Option<usize>, f64) {
        let mut slow_start = PicoquicSlowStart::default();
        let mut window = Window::new(100.0, 1e6, 1e6, Rounding::Real);
        let mut now = Time::ZERO + Span::from_secs(1);
        for (number, &rtt_ms) in rtts_ms.iter().enumerate() {
            now += Span::from_micros(gap_us);
            let rtt = Span::from_millis(rtt_ms);
            let ack = AckSample {
                now,
                rtt: Some(rtt),
                srtt: rtt,
                ..AckSample::ONE_SEGMENT
            };
            slow_start.watch(&ack, &mut window);
            if !window.in_slow_start() {
                return (Some(number + 1), window.cwnd());
            }
        }
        (None, window.cwnd())
    }

    fn rtts(short: usize, long: usize, long_ms: u64) -> Vec<u64> {
        [vec![80; short], vec![long_ms; long]].concat()
    }

    /// Checks that slow start ends with the thirteenth successive long sample, and leaves half of the window.
    #[test]
    fn thirteen_long_samples_end_it_with_half_of_the_window() {
        // The seven most recent samples must all be long, at each of seven acknowledgements.
        assert_eq!(end(&rtts(7, 20, 101), 1_001), (Some(20), 50.0));
        assert_eq!(end(&rtts(7, 12, 101), 1_001), (None, 100.0));
        assert_eq!(
            end(&rtts(7, 200, 100), 1_001).0,
            None,
            "a quarter is not more"
        );
        // Acknowledgements are 0.5 ms apart, so that every third one gives a sample; the 22nd is the first with a long
        // round-trip time.
        assert_eq!(end(&rtts(21, 200, 101), 500).0, Some(22 + 12 * 3));
        let interrupted = [rtts(7, 12, 101), rtts(1, 12, 101)].concat();
        assert_eq!(end(&interrupted, 1_001).0, None);
    }

    /// Checks the fraction of the window that is kept at the end of slow start. Up to a base round-trip time of 100 ms,
    /// half is kept. Just above 100 ms, the fraction jumps to 1. It then falls as `1 - (1 - 100 ms / base) / 2`, which
    /// is 0.75 at 200 ms. From 610 ms on, it remains 0.582.
    #[test]
    fn longer_paths_keep_more() {
        for (rtt_ms, expected) in [(100, 0.5), (200, 0.75), (610, 0.581_967), (900, 0.581_967)] {
            let found = kept(Span::from_millis(rtt_ms));
            assert!((found - expected).abs() < 1e-6, "{rtt_ms}: {found}");
        }
    }

    /// Checks that the window rises to half of the number of segments that the maximum rate delivers in a round trip.
    /// Four segments in 2 ms are 2,000 segments per second, or 200 in 100 ms, so the window is 100.
    #[test]
    fn the_window_is_half_of_what_the_largest_rate_fills_at_least() {
        let mut slow_start = PicoquicSlowStart::default();
        let mut window = Window::new(10.0, 1e6, 1e6, Rounding::Real);
        for (sent_ms, at_ms, delivered) in [(0, 100, 1), (2, 102, 5)] {
            let rtt = Span::from_millis(at_ms - sent_ms);
            let ack = AckSample {
                now: Time::ZERO + Span::from_millis(at_ms),
                rtt: Some(rtt),
                srtt: rtt,
                delivered,
                ..AckSample::ONE_SEGMENT
            };
            slow_start.watch(&ack, &mut window);
        }
        assert!((window.cwnd() - 100.0).abs() < 1e-9);
    }

    #[test]
    fn a_reduction_ends_it() {
        let mut slow_start = PicoquicSlowStart::default();
        slow_start.end();
        let mut window = Window::new(100.0, 1e6, 1e6, Rounding::Real);
        let mut ack = AckSample::ONE_SEGMENT;
        for number in 1..100 {
            ack.now += Span::from_millis(2);
            ack.rtt = Some(Span::from_millis(if number < 8 { 50 } else { 200 }));
            slow_start.watch(&ack, &mut window);
        }
        assert_eq!(window.cwnd(), 100.0);
    }
}
