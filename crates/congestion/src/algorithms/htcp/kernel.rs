//! H-TCP of a current kernel (Linux 6.18, `tcp_htcp.c`), in integers: segments, 128ths for fractions, and clock ticks.
//! Each time the window grows by one segment, the count of acknowledged segments is reset to zero, and its remainder is
//! lost. Small windows therefore grow more slowly than in the draft.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::whole_windows::{HZ, Reducing, began, reduce, ticks, ticks_begun};
use crate::window::Window;

/// Denominator of fixed-point fractions.
const UNIT: u64 = 128;
const HALF: u64 = UNIT / 2;

/// Threshold of the smallest round-trip time, rounded up to three clock ticks (12 ms). Up to the threshold, a reduction
/// halves the window.
const TRUSTED: Span = Span::from_millis(10);
/// Maximum increase of the largest round-trip time by one sample.
const STEP: Span = Span::from_millis(20);

/// State of the kernel's H-TCP for one flow. Times are in clock ticks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelHtcp {
    max_kept: u64,
    /// Growth in segments per round trip, in 128ths.
    increase: u64,
    /// Fraction of the window that is kept after a loss, in 128ths.
    kept: u64,
    trusts: bool,
    min_rtt: u64,
    max_rtt: u64,
    /// End of the recovery from the last congestion event; during this recovery, the time of the event. Before the
    /// first event, the beginning of the connection.
    since: Option<u64>,
    reduced: bool,
    /// Number of segments that an acknowledgement adds to `counted`: those that it covers, or one during a reduction
    /// (`pkts_acked`).
    acked: u64,
    /// Number of acknowledged segments counted towards the next growth of the window by one segment.
    counted: u64,
    throughput: Throughput,
    reducing: Reducing,
}

/// Throughputs in segments per second: the current one, the largest since the last congestion event, and the largest
/// before that event.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Throughput {
    segments: u64,
    /// Beginning of the current throughput sample; `None` for the first one. The kernel measures the duration of the
    /// first sample from time zero of its clock, so this throughput is close to zero.
    since: Option<u64>,
    now: u64,
    largest: u64,
    before: u64,
}

impl KernelHtcp {
    pub(super) fn new(max_kept: f64) -> Self {
        Self {
            max_kept: libm::round(max_kept * UNIT as f64) as u64,
            increase: UNIT,
            kept: HALF,
            trusts: false,
            min_rtt: 0,
            max_rtt: 0,
            since: None,
            reduced: false,
            acked: 1,
            counted: 0,
            throughput: Throughput::default(),
            reducing: Reducing::default(),
        }
    }

    /// Sets the beginning of the connection as the start of the time without congestion (`htcp_init`).
    pub(super) fn begin(&mut self, now: Time) {
        self.since = Some(ticks(now));
    }

    /// Returns the number of ticks since the last recovery ended, since the congestion event during a recovery, or
    /// since the connection began if it has had no event.
    fn elapsed(&self, now: u64) -> u64 {
        self.since.map_or(0, |since| now - since)
    }

    /// Updates the smallest and the largest round-trip time (`measure_rtt`).
    fn measure_rtt(&mut self, rtt: u64) {
        if rtt < self.min_rtt || self.min_rtt == 0 {
            self.min_rtt = rtt;
        }
        if self.reducing.is_open() {
            self.max_rtt = self.max_rtt.max(self.min_rtt);
            if self.max_rtt < rtt && rtt <= self.max_rtt + ticks_begun(STEP) {
                self.max_rtt = rtt;
            }
        }
    }

    /// Updates the throughput (`measure_achieved_throughput`).
    fn measure(&mut self, ack: &AckSample, cwnd: u64) {
        let now = ticks(ack.now);
        if self.reducing.is_open() {
            self.acked = ack.acked;
        }
        if let Some(rtt) = ack.rtt {
            self.measure_rtt(ticks_begun(rtt));
        }
        let elapsed = self.elapsed(now);
        let throughput = &mut self.throughput;
        if !self.reducing.is_open() {
            (throughput.segments, throughput.since) = (0, Some(now));
            return;
        }
        throughput.segments += ack.acked;
        let window = cwnd.saturating_sub((self.increase / UNIT).max(1));
        let length = throughput.since.map_or(u64::MAX, |since| now - since);
        if throughput.segments < window || length < self.min_rtt || self.min_rtt == 0 {
            return;
        }
        let sample = throughput.segments * HZ / length;
        if elapsed / self.min_rtt <= 3 {
            (throughput.now, throughput.largest) = (sample, sample);
        } else {
            throughput.now = (3 * throughput.now + sample) / 4;
            throughput.largest = throughput.largest.max(throughput.now);
        }
        (throughput.segments, throughput.since) = (0, Some(now));
    }

    /// Updates the increase (alpha) from the time since the last congestion event (`htcp_alpha_update`).
    fn update_increase(&mut self, now: u64) {
        let elapsed = self.elapsed(now);
        let mut factor = 1;
        if elapsed > HZ {
            let fast = elapsed - HZ;
            factor = 1 + (10 * fast + (fast / 2) * (fast / 2) / HZ) / HZ;
        }
        if self.min_rtt > 0 {
            let scale = ((HZ << 3) / (10 * self.min_rtt)).clamp(4, 80);
            factor = ((factor << 3) / scale).max(1);
        }
        self.increase = 2 * factor * (UNIT - self.kept);
        if self.increase == 0 {
            self.increase = UNIT;
        }
    }

    /// Updates the fraction of the window that is kept after a loss (`htcp_beta_update`).
    fn update_kept(&mut self) {
        let Throughput {
            largest, before, ..
        } = self.throughput;
        self.throughput.before = largest;
        if !(4 * before..=6 * before).contains(&(5 * largest)) {
            (self.kept, self.trusts) = (HALF, false);
        } else if self.trusts && self.min_rtt > ticks_begun(TRUSTED) && self.max_rtt > 0 {
            self.kept = (self.min_rtt * UNIT / self.max_rtt).clamp(HALF, self.max_kept.max(HALF));
        } else {
            (self.kept, self.trusts) = (HALF, true);
        }
    }

    /// Processes a congestion event at `base` segments; returns the new window (`htcp_recalc_ssthresh`, `htcp_reset`).
    fn reduce(&mut self, base: f64, now: Time) -> f64 {
        let now = ticks(now);
        self.update_kept();
        self.update_increase(now);
        if self.max_rtt > self.min_rtt {
            self.max_rtt = self.min_rtt + (self.max_rtt - self.min_rtt) * 95 / 100;
        }
        (self.since, self.reduced, self.counted) = (Some(now), true, 0);
        (base as u64 * self.kept / UNIT).max(2) as f64
    }

    fn end(&mut self, now: Time) {
        if std::mem::take(&mut self.reduced) {
            self.since = Some(ticks(now));
        }
    }

    pub(super) fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.since.get_or_insert_with(|| ticks(began(ack)));
        self.measure(ack, window.cwnd() as u64);
        if self.reducing.on_ack(ack) {
            self.end(ack.now);
        }
        if phase == Phase::Avoidance {
            if self.counted * self.increase / UNIT >= window.cwnd() as u64 {
                window.grow(1.0);
                self.counted = 0;
                self.update_increase(ticks(ack.now));
            } else {
                self.counted += self.acked;
            }
            self.acked = 1;
        }
    }

    pub(super) fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.reducing.begin(event);
        let target = self.reduce(event.base, event.now);
        reduce(window, target);
    }

    pub(super) fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.reducing.begin_recovery();
        let target = self.reduce(event.base, event.now);
        if !event.keep_ssthresh {
            window.set_ssthresh(target);
        }
        window.restart();
    }

    pub(super) fn on_recovery_exit(&mut self, now: Time) {
        if self.reducing.end_recovery(now) {
            self.end(now);
        }
    }

    /// Returns the result of [`Self::elapsed`] in seconds.
    pub(super) fn elapsed_s(&self, now: Time) -> f64 {
        self.elapsed(ticks(now)) as f64 / HZ as f64
    }

    pub(super) fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("kept", self.kept as f64 / UNIT as f64);
        out("max_rtt_s", self.max_rtt as f64 / HZ as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the increase three seconds after the last event. At a round-trip time of 100 ms, it is 22 segments:
    /// `1 + 10 (t - 1) + ((t - 1) / 2)^2`. At 200 ms, it is twice as large.
    #[test]
    fn the_increase_follows_the_time_since_the_last_event() {
        let mut htcp = KernelHtcp::new(0.8);
        htcp.begin(Time::ZERO);
        htcp.min_rtt = HZ / 10;
        htcp.update_increase(3 * HZ);
        assert_eq!(htcp.increase, 22 * UNIT);
        htcp.min_rtt = HZ / 5;
        htcp.update_increase(3 * HZ);
        assert_eq!(htcp.increase, 2 * (22 * 8 / 4) * HALF);
    }

    /// Checks that the second successive event with a steady throughput (changed by at most a fifth) sets the fraction
    /// of the window that is kept to the ratio of the smallest to the largest round-trip time, here 25/40.
    #[test]
    fn the_second_steady_event_trusts_round_trips() {
        let mut htcp = KernelHtcp::new(102.0 / 128.0);
        (htcp.min_rtt, htcp.max_rtt) = (25, 40);
        htcp.throughput.largest = 1000;
        let mut kept = Vec::new();
        for _ in 0..3 {
            htcp.update_kept();
            kept.push(htcp.kept);
        }
        htcp.throughput.largest = 1300;
        htcp.update_kept();
        kept.push(htcp.kept);
        assert_eq!(kept, [64, 64, 80, 64]);
    }
}
