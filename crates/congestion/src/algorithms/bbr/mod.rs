//! BBR: sends at the measured delivery rate, and keeps the bandwidth-delay product in flight.
//!
//! This module has the parts that both versions share: rounds, samples, the test for a full pipe, the window to restore
//! after a recovery, the pacing rate, and ProbeRTT. The pseudocode of BBR stores state for each packet; this module
//! only counts the flow's segments. A round ends when more segments have been delivered or lost than had been sent at
//! its beginning.

#[cfg(test)]
mod differential;
#[cfg(test)]
mod flow;
mod v1;
mod v3;

pub use v1::Bbr;
pub(crate) use v1::ENTRY;
pub use v3::Bbr3;

use longhaul_units::{Rate, Span, Time};
use serde::{Deserialize, Serialize};

use crate::facts::{AckSample, Limit};
use crate::needs::Needs;
use crate::window::Window;

/// Smallest window in segments, except just after a timeout and in version 1's packet conservation. With fewer segments
/// in flight, a receiver that delays acknowledgements could not send them regularly (MinPipeCwnd).
const MIN_WINDOW: f64 = 4.0;

/// Number of send quanta that the hosts may hold: two at the sender (queueing discipline and segmentation offload), and
/// one at the receiver. Version 1 adds them to the target of segments in flight; in version 3, they are a lower bound
/// of the target.
const QUANTA: f64 = 3.0;

/// Requirements of BBR. The maximum delivery rate is its estimate of the bandwidth. BBR also needs RACK-TLP:
/// otherwise, only the retransmission timer would detect lost retransmissions.
const NEEDS: Needs = Needs {
    delivery_rate: true,
    paces: true,
    rack_tlp: true,
    ..Needs::RTT
};

/// Time during which ProbeRTT keeps the window small (ProbeRTTDuration).
const PROBE_RTT: Span = Span::from_millis(200);

/// Returns the larger of two numbers. The comparison takes one instruction; `f64::max`, which handles NaN, takes five.
#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[inline]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// Converts a number of segments to floating point. Goes through a signed integer, since x86-64 processors have a
/// conversion instruction only for signed integers.
#[inline]
fn segments(count: u64) -> f64 {
    count as i64 as f64
}

/// Numbers of segments that an acknowledgement newly reports as delivered or lost.
#[derive(Clone, Copy, Debug)]
struct Newly {
    delivered: u64,
    lost: u64,
    /// True if a round begins with this acknowledgement.
    round_start: bool,
}

/// Values that the algorithm takes from one acknowledgement.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Sample {
    newly_delivered: f64,
    newly_lost: f64,
    /// Number of segments in flight after the acknowledgement.
    in_flight: f64,
    /// Number of segments in flight before the acknowledgement.
    prior_in_flight: f64,
    /// True if a round begins with this acknowledgement.
    round_start: bool,
    /// True if the delivery rate may be below the bandwidth of the path, because the application did not send enough,
    /// or because BBR kept the window small.
    limited: bool,
}

/// Counter of rounds, and of the segments that each acknowledgement newly reports as delivered or lost.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Meter {
    delivered: u64,
    lost: u64,
    in_flight: u64,
    /// Number of rounds so far.
    rounds: u64,
    /// Number of segments sent before the current round. The round ends when the number of segments delivered or lost
    /// exceeds it.
    round_end: u64,
    /// Number of segments sent until the flow was last limited. Delivery rates measured with these segments may be too
    /// low.
    limited_until: u64,
}

impl Meter {
    /// Returns the numbers of segments that `ack` newly reports as delivered and lost; begins a new round if due.
    #[inline]
    fn read(&mut self, ack: &AckSample) -> Newly {
        let delivered = ack.delivered - self.delivered;
        let lost = ack.lost - self.lost;
        (self.delivered, self.lost, self.in_flight) = (ack.delivered, ack.lost, ack.in_flight);
        let round_start = self.answered() > self.round_end;
        if round_start {
            self.rounds += 1;
            self.restart_round();
        }
        Newly {
            delivered,
            lost,
            round_start,
        }
    }

    /// Returns the sample of `ack`; `newly` has the changes of the counters since the last acknowledgement.
    fn sample(&self, ack: &AckSample, newly: Newly) -> Sample {
        let limited = ack.limit == Limit::Application || self.answered() <= self.limited_until;
        Sample {
            newly_delivered: segments(newly.delivered),
            newly_lost: segments(newly.lost),
            in_flight: segments(ack.in_flight),
            prior_in_flight: segments(ack.in_flight + newly.delivered + newly.lost),
            round_start: newly.round_start,
            limited,
        }
    }

    /// Returns the number of segments known to be delivered or lost so far.
    fn answered(&self) -> u64 {
        self.delivered + self.lost
    }

    /// Returns the number of segments sent so far, retransmissions included.
    fn sent(&self) -> u64 {
        self.answered() + self.in_flight
    }

    /// Restarts the current round: it ends when all segments now in flight, and one more, have been delivered or lost.
    fn restart_round(&mut self) {
        self.round_end = self.sent();
    }

    /// Marks all segments in flight as limited: their delivery rates may be below the bandwidth
    /// (MarkConnectionAppLimited).
    fn limit(&mut self) {
        self.limited_until = self.sent();
    }
}

/// Test for a full pipe: the pipe is full when the bandwidth has grown by less than a quarter in three rounds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct FullPipe {
    bandwidth: f64,
    rounds: u32,
}

impl FullPipe {
    /// Updates the test with `bandwidth`; returns true if the pipe is full. With the draft's rules of version 3,
    /// `bandwidth` is the last delivery rate, otherwise the maximum. Called once per round, unless the delivery rate
    /// was limited by the sender.
    fn is_full(&mut self, bandwidth: f64) -> bool {
        if bandwidth >= 1.25 * self.bandwidth {
            *self = Self {
                bandwidth,
                rounds: 0,
            };
            return false;
        }
        self.rounds += 1;
        self.rounds >= 3
    }
}

/// Cause of a recovery from losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Episode {
    FastRecovery,
    Timeout,
}

/// Recovery from losses, and the window to restore afterwards: the last window before recovery or ProbeRTT reduced
/// it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Recovery {
    episode: Option<Episode>,
    good_cwnd: f64,
}

impl Recovery {
    /// Saves the current window. While recovery or the probe for the round-trip time reduces the window, only a larger
    /// window is saved.
    fn save(&mut self, window: &Window, probing_rtt: bool) {
        let cwnd = window.cwnd();
        self.good_cwnd = if self.episode.is_some() || probing_rtt {
            self.good_cwnd.max(cwnd)
        } else {
            cwnd
        };
    }

    fn restore(&self, window: &mut Window) {
        window.set_cwnd(window.cwnd().max(self.good_cwnd));
    }

    fn is_fast(&self) -> bool {
        self.episode == Some(Episode::FastRecovery)
    }

    fn enter(&mut self, window: &Window, probing_rtt: bool) {
        self.save(window, probing_rtt);
        self.episode = Some(Episode::FastRecovery);
    }

    /// Begins the recovery from a timeout: saves the window, and sets it to one segment.
    fn time_out(&mut self, window: &mut Window, probing_rtt: bool) {
        self.save(window, probing_rtt);
        self.episode = Some(Episode::Timeout);
        window.restart();
    }

    /// Ends a recovery from losses or from a timeout, and restores the window. Does nothing outside recovery.
    fn exit(&mut self, window: &mut Window) {
        if self.episode.take().is_some() {
            self.restore(window);
        }
    }
}

/// Pacing rate, set in segments per second and read in bits per second on the wire.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Pacer {
    segments_per_s: Option<f64>,
    segment_bits: f64,
    /// Pacing rate in bits per second. Stored, like the two values below that are computed from it, since they are read
    /// more often than the rate changes.
    bits_per_s: f64,
    rate: Option<Rate>,
    segments_at_once: f64,
}

impl Pacer {
    /// Sets the first pacing rate: `gain` windows per round-trip time or, if no round-trip time is known, per
    /// millisecond.
    fn begin(&mut self, ack: &AckSample, window: &Window, gain: f64) {
        let rtt_s = if ack.srtt == Span::ZERO {
            1e-3
        } else {
            ack.srtt.as_secs_f64()
        };
        self.segment_bits = 8.0 * ack.segment_bytes as f64;
        self.set(gain * window.cwnd() / rtt_s, false);
    }

    /// Sets the pacing rate. Before the pipe is full (`full` is false), lower rates are ignored.
    fn set(&mut self, segments_per_s: f64, full: bool) {
        let rises = self.segments_per_s.is_none_or(|old| segments_per_s > old);
        if rises || full && self.segments_per_s != Some(segments_per_s) {
            self.change(segments_per_s);
        }
    }

    fn change(&mut self, segments_per_s: f64) {
        self.segments_per_s = Some(segments_per_s);
        let bits_per_s = segments_per_s * self.segment_bits;
        self.bits_per_s = bits_per_s;
        self.rate = (bits_per_s >= 1.0).then(|| Rate::from_bps(bits_per_s as u64));
        self.segments_at_once = at_once(bits_per_s, self.segment_bits);
    }
}

/// Returns the number of segments in a burst, as with segmentation offload: as many whole segments as are sent in a
/// millisecond, at most 64 KiB and at least one.
fn at_once(bits_per_s: f64, segment_bits: f64) -> f64 {
    const LARGEST_BITS: f64 = 8.0 * 65_536.0;
    let bits = f64::min(1e-3 * bits_per_s, LARGEST_BITS);
    // The conversion is to a signed integer, since x86-64 processors have an instruction for signed integers only.
    f64::max((bits / segment_bits) as i64 as f64, 1.0)
}

/// State of ProbeRTT; `None` until the number of segments in flight has fallen to ProbeRTT's limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct ProbeRtt(Option<Measuring>);

/// Measurement in ProbeRTT, which begins when the number of segments in flight has fallen to ProbeRTT's limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Measuring {
    until: Time,
    round_over: bool,
}

impl ProbeRtt {
    /// Advances ProbeRTT by one acknowledgement, and marks all segments in flight as limited. The measurement begins,
    /// and the current round restarts, once few enough segments are in flight, which `few` tells. Returns true when the
    /// measurement has lasted for more than 200 ms and for a round trip.
    fn advance(&mut self, now: Time, few: bool, round_start: bool, meter: &mut Meter) -> bool {
        meter.limit();
        match &mut self.0 {
            Some(measuring) => {
                measuring.round_over |= round_start;
                measuring.round_over && now > measuring.until
            }
            None => {
                if few {
                    self.0 = Some(Measuring {
                        until: now + PROBE_RTT,
                        round_over: false,
                    });
                    meter.restart_round();
                }
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Rounding;

    #[test]
    fn a_millisecond_of_segments_leaves_at_once() {
        // The cases are: segments of 1500 bytes; jumbo frames, which may be larger than the data of a millisecond; and
        // a rate at which the limit of 64 KiB applies.
        let cases = [
            (100e6, 1500.0, 8.0),
            (30e6, 9000.0, 1.0),
            (10e9, 1500.0, 43.0),
        ];
        for (bits_per_s, bytes, expected) in cases {
            let segment_bits = 8.0 * bytes;
            let segments = at_once(bits_per_s, segment_bits);
            assert_eq!(segments, expected, "{bits_per_s} {bytes}");
        }
    }

    /// Checks that ProbeRTT lasts for at least 200 ms and one round trip. Both are counted from the time at which few
    /// enough segments are in flight (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3.5).
    #[test]
    fn a_probe_for_the_round_trip_time_lasts_200_ms_and_a_round_trip() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let run = |calls: &[(u64, bool, bool)]| {
            let (mut probe, mut meter) = (ProbeRtt::default(), Meter::default());
            let ends = |&(ms, few, round_start): &(u64, bool, bool)| {
                probe.advance(at(ms), few, round_start, &mut meter)
            };
            calls.iter().position(ends)
        };
        let few = [(0, false, true), (100, true, true), (150, true, false)];
        let until = |more: &[(u64, bool, bool)]| run(&[&few, more].concat());
        assert_eq!(until(&[(200, true, true), (300, true, false)]), None);
        assert_eq!(until(&[(200, true, true), (301, false, false)]), Some(4));
        assert_eq!(until(&[(301, true, false), (400, true, true)]), Some(4));
    }

    /// Checks that only a larger window replaces the saved window in a recovery or in ProbeRTT. At other
    /// times, any window does (`BBRSaveCwnd`, draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3.4).
    #[test]
    fn the_window_before_a_recovery_outlives_what_happens_in_it() {
        let window = |cwnd| Window::new(cwnd, 1e6, 1e6, Rounding::Real);
        let mut recovery = Recovery::default();
        let mut flow = window(100.0);
        recovery.enter(&flow, false);
        flow.set_cwnd(40.0);
        recovery.time_out(&mut flow, false);
        assert_eq!(flow.cwnd(), 1.0);
        recovery.enter(&flow, false);
        recovery.exit(&mut flow);
        assert_eq!(flow.cwnd(), 100.0, "after a timeout in the recovery");
        for (probing_rtt, saved) in [(true, 100.0), (false, 4.0)] {
            recovery.save(&window(4.0), probing_rtt);
            let mut flow = window(4.0);
            recovery.restore(&mut flow);
            assert_eq!(flow.cwnd(), saved, "no recovery, probing: {probing_rtt}");
        }
    }
}
