//! Westwood+ of a current kernel (Linux 6.18, `tcp_westwood.c`). A loss halves the window as in standard TCP. The end
//! of the recovery sets the window to the measured bandwidth, in whole bytes per tick, times the smallest round-trip
//! time.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::whole_windows::{Counted, HZ, Reducing, began, half, reduce, ticks, ticks_begun};
use crate::window::Window;

/// Minimum duration of a bandwidth sample (`TCP_WESTWOOD_RTT_MIN`), in ticks.
const SHORTEST: u64 = HZ / 20;
/// Round-trip time before the first sample, in ticks.
const UNKNOWN_RTT: u64 = 20 * HZ;

/// Bytes of headers of a segment with timestamps: 20 B each for IPv4 and TCP, and 12 B of options.
const HEADERS: u64 = 52;

/// State of the kernel's Westwood+ for one flow. Rates are in bytes per tick, and times in ticks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelWestwood {
    payload: u64,
    first_filter: u64,
    bandwidth: u64,
    /// Tick at which the bandwidth sample began.
    since: Option<u64>,
    /// Number of bytes acknowledged since the bandwidth sample began.
    bytes: u64,
    /// True until the first acknowledgement. Its segments do not count (`first_ack`).
    first_ack: bool,
    /// Number of segments delivered so far.
    delivered: u64,
    /// Number of segments cumulatively acknowledged.
    una: u64,
    /// Number of bytes that were counted for duplicate acknowledgements and are not subtracted yet.
    accounted: u64,
    rtt: u64,
    min_rtt: u64,
    /// True if the next acknowledgement replaces the smallest round-trip time by the last one.
    forgets: bool,
    counted: Counted,
    reducing: Reducing,
    /// True if the current reduction began with a loss or a mark, and not with a timeout.
    completes: bool,
}

impl KernelWestwood {
    pub(super) fn new() -> Self {
        Self {
            payload: 1,
            first_filter: 0,
            bandwidth: 0,
            since: None,
            bytes: 0,
            first_ack: true,
            delivered: 0,
            una: 0,
            accounted: 0,
            rtt: UNKNOWN_RTT,
            min_rtt: UNKNOWN_RTT,
            forgets: true,
            counted: Counted::default(),
            reducing: Reducing::default(),
            completes: false,
        }
    }

    /// Begins the first bandwidth sample at the beginning of the connection, a round trip before the first
    /// acknowledgement of data (`tcp_westwood_init`).
    pub(super) fn begin(&mut self, now: Time) {
        self.since = Some(ticks(now));
    }

    /// Returns the number of bytes that an acknowledgement counts for (`westwood_acked_count`). A duplicate counts for
    /// one segment, which is subtracted again from a later acknowledgement of several segments. Of these, at least one
    /// still counts. Any other acknowledgement counts for the segments that it covers.
    fn counted_bytes(&mut self, ack: &AckSample) -> u64 {
        let newly = ack.delivered - self.delivered;
        self.delivered = ack.delivered;
        self.una += ack.acked;
        let sacked = self.delivered > self.una;
        let slow_path = ack.ecn_echo || ack.acked == 0 || ack.acked != newly || sacked;
        let acked = if std::mem::take(&mut self.first_ack) {
            0
        } else {
            ack.acked
        };
        let covered = acked * self.payload;
        if slow_path && acked == 0 {
            self.accounted += self.payload;
            return self.payload;
        }
        if !slow_path || acked == 1 {
            return covered;
        }
        if self.accounted >= covered {
            self.accounted -= covered;
            return self.payload;
        }
        covered - std::mem::take(&mut self.accounted)
    }

    /// Updates the round-trip times and the bandwidth (`tcp_westwood_ack` and `tcp_westwood_pkts_acked`).
    fn measure(&mut self, ack: &AckSample) {
        self.payload = ack.segment_bytes.saturating_sub(HEADERS).max(1);
        if let Some(rtt) = ack.rtt {
            self.rtt = ticks_begun(rtt);
        }
        let now = ticks(ack.now);
        let length = now - *self.since.get_or_insert_with(|| ticks(began(ack)));
        if self.rtt > 0 && length > self.rtt.max(SHORTEST) {
            self.filter(self.bytes / length);
            self.bytes = 0;
            self.since = Some(now);
        }
        self.bytes += self.counted_bytes(ack);
        self.min_rtt = if std::mem::take(&mut self.forgets) {
            self.rtt
        } else {
            self.min_rtt.min(self.rtt)
        };
    }

    /// Smooths a sample by two filters in series; each keeps seven eighths of its old value (`westwood_filter`).
    fn filter(&mut self, sample: u64) {
        let mix = |old: u64, new: u64| (7 * old + new) >> 3;
        if self.first_filter == 0 && self.bandwidth == 0 {
            (self.first_filter, self.bandwidth) = (sample, sample);
        } else {
            self.first_filter = mix(self.first_filter, sample);
            self.bandwidth = mix(self.bandwidth, self.first_filter);
        }
    }

    /// Returns the bandwidth times the smallest round-trip time, in segments, at least two (`tcp_westwood_bw_rttmin`).
    fn carried(&self) -> f64 {
        (self.bandwidth * self.min_rtt / self.payload).max(2) as f64
    }

    pub(super) fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.measure(ack);
        self.reducing.on_ack(ack);
        if phase == Phase::Avoidance {
            // The reduction is over, but it is completed only by an acknowledgement that may change the window.
            if self.reducing.is_open() {
                self.complete(window);
            }
            let more = self.counted.add(window.cwnd() as u64, ack.credit as u64);
            if more > 0 {
                window.grow(more as f64);
            }
        }
    }

    pub(super) fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.reducing.begin(event);
        self.completes = true;
        self.counted = Counted::default();
        reduce(window, half(event.base));
    }

    /// Ends a reduction: sets the window and the threshold to the bandwidth times the smallest round-trip time
    /// (`CA_EVENT_COMPLETE_CWR`). Does nothing if the reduction began with a timeout.
    fn complete(&mut self, window: &mut Window) {
        if std::mem::take(&mut self.completes) {
            let carried = self.carried();
            window.set_ssthresh(carried);
            window.set_cwnd(carried);
        }
    }

    pub(super) fn on_recovery_exit(&mut self, now: Time, window: &mut Window) {
        if self.reducing.end_recovery(now) {
            self.complete(window);
        }
    }

    /// Processes a timeout (`CA_EVENT_LOSS`).
    pub(super) fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.reducing.begin_recovery();
        self.completes = false;
        self.counted = Counted::default();
        if !event.keep_ssthresh {
            window.set_ssthresh(self.carried());
            self.forgets = true;
        }
        window.restart();
    }

    pub(super) fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let per_s = self.bandwidth as f64 * HZ as f64 / self.payload as f64;
        out("bandwidth_segments_per_s", per_s);
        out("carried", self.carried());
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Span;

    use super::*;
    use crate::facts::Cause;
    use crate::window::Rounding;

    /// Checks that the end of a recovery sets the window to about the capacity of the path, 100 segments.
    #[test]
    fn the_window_is_what_the_path_carries_when_a_recovery_ends() {
        let mut westwood = KernelWestwood::new();
        let mut window = Window::new(160.0, 2.0, 1e6, Rounding::Real);
        for ms in 1..=1000_u64 {
            let ack = AckSample {
                now: Time::ZERO + Span::from_millis(ms),
                delivered: ms,
                rtt: Some(Span::from_millis(100)),
                ..AckSample::ONE_SEGMENT
            };
            westwood.on_ack(&ack, Phase::NoGrowth, &mut window);
        }
        let event = Congestion {
            now: Time::ZERO + Span::from_secs(1),
            cause: Cause::Loss,
            base: window.cwnd(),
            in_flight: 160,
            in_slow_start: false,
            first: true,
        };
        westwood.on_congestion(&event, &mut window);
        assert_eq!(window.cwnd(), 80.0);
        westwood.on_recovery_exit(event.now, &mut window);
        // The filtered bandwidth is too low by 2 %, because the first bandwidth sample lacks 2 of 104 segments.
        assert_eq!((window.cwnd(), window.ssthresh()), (98.0, 98.0), "cut off");
    }

    /// Checks that segments counted at duplicate acknowledgements are not counted again: after three duplicates, an
    /// acknowledgement of four segments counts for only one.
    #[test]
    fn what_duplicates_have_counted_is_taken_off() {
        let mut westwood = KernelWestwood::new();
        let of = |acked, delivered| AckSample {
            acked,
            delivered,
            ..AckSample::ONE_SEGMENT
        };
        let acks = [of(0, 1), of(0, 2), of(0, 3), of(4, 4), of(2, 6)];
        let counted = acks.map(|ack| westwood.counted_bytes(&ack));
        assert_eq!(counted, [1, 1, 1, 1, 2]);
    }

    /// Segments that the first acknowledgement covers do not count towards the bandwidth, since the kernel counts from
    /// the sequence number that this acknowledgement has reached.
    #[test]
    fn the_first_acknowledgement_counts_for_nothing() {
        let mut westwood = KernelWestwood::new();
        let of = |delivered| AckSample {
            acked: 2,
            delivered,
            ..AckSample::ONE_SEGMENT
        };
        let counted = [2, 4].map(|delivered| westwood.counted_bytes(&of(delivered)));
        assert_eq!(counted, [0, 2]);
    }

    #[test]
    fn the_filters_are_seven_eighths_of_whole_numbers() {
        let mut westwood = KernelWestwood::new();
        westwood.filter(1000);
        westwood.filter(2000);
        assert_eq!((westwood.first_filter, westwood.bandwidth), (1125, 1015));
    }
}
