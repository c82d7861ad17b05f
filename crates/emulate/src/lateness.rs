//! Lateness of packets, which shows if the results of an emulation can be trusted.

use longhaul_engine::measure::DelayHistogram;
use longhaul_units::{Span, Time};
use serde::Serialize;

/// Lateness above which a packet counts as late.
const LATE: Span = Span::from_micros(1000);

/// Maximum fraction of late packets in an emulation that can be trusted.
const MAX_LATE_SHARE: f64 = 0.005;

/// Distribution of the lateness of packets: the time from when a packet is due until it leaves.
#[derive(Debug, Default)]
pub(crate) struct Lateness {
    packets: DelayHistogram,
    late_pkts: u64,
}

/// Statistics of the lateness of all packets in an emulation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatenessSummary {
    /// Number of packets that have left.
    pub packets: u64,
    /// Mean lateness in microseconds. This and all other statistics are 0 without packets.
    pub mean_us: f64,
    /// 99 % quantile of the lateness in microseconds.
    pub p99_us: f64,
    /// Largest lateness in microseconds.
    pub max_us: f64,
    /// Fraction of packets that were more than a millisecond late.
    pub share_over_1ms: f64,
}

impl LatenessSummary {
    /// Returns true if too many packets were late for the emulation to be trusted.
    pub fn is_excessive(&self) -> bool {
        self.share_over_1ms > MAX_LATE_SHARE
    }
}

impl Lateness {
    /// Records a packet that was due at `due` and leaves at `now`.
    pub(crate) fn record(&mut self, due: Time, now: Time) {
        let late = if now > due {
            now.since(due)
        } else {
            Span::ZERO
        };
        self.packets.record(late);
        self.late_pkts += u64::from(late > LATE);
    }

    pub(crate) fn summary(&self) -> LatenessSummary {
        let all = self.packets.summary();
        let us = |seconds: Option<f64>| seconds.unwrap_or(0.0) * 1e6;
        LatenessSummary {
            packets: all.packets,
            mean_us: us(all.mean),
            p99_us: us(all.p99),
            max_us: us(all.max),
            share_over_1ms: self.late_pkts as f64 / all.packets.max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_which_one_in_a_hundred_is_late_are_too_many() {
        let mut lateness = Lateness::default();
        let due = Time::from_ps(1);
        for packet in 0..1000 {
            let late = if packet % 100 == 0 { 2000 } else { 10 };
            lateness.record(due, due + Span::from_micros(late));
        }
        let summary = lateness.summary();
        assert!(summary.is_excessive());
        assert!((summary.share_over_1ms - 0.01).abs() < 1e-9);
        assert!((summary.max_us - 2000.0).abs() < 1.0);
    }
}
