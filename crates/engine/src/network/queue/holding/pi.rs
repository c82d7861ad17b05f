//! The PI controller: arriving packets are dropped, or marked, with a probability that integrates
//! the queue's deviation from a reference (Hollot, Misra, Towsley and Gong, "On designing improved
//! controllers for AQM routers supporting TCP flows", INFOCOM 2001). As in ns-2's `pi.cc`, without
//! its modes in bytes.

use longhaul_units::Span;

use crate::network::queue::{Arrival, Capacity, DropReason, Verdict};
use crate::random::Stream;

/// The PI controller, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PiConfig {
    /// Hard limit on what waits.
    pub limit: Capacity,
    /// The queue to keep, in packets (`qref_` 50).
    pub reference_pkts: f64,
    /// Weight of the deviation now (`a_` 1.822e-5).
    pub a: f64,
    /// Weight of the deviation at the last update (`b_` 1.816e-5).
    pub b: f64,
    /// Time between two updates (`w_` 170 Hz).
    pub update: Span,
    /// Whether ECN-capable packets are marked instead.
    pub ecn: bool,
}

/// The PI controller at work.
#[derive(Clone, Debug)]
pub(super) struct Pi {
    config: PiConfig,
    probability: f64,
    /// The queue at the last update.
    old_pkts: u64,
    stream: Stream,
}

impl Pi {
    pub(super) fn new(config: PiConfig, stream: Stream) -> Self {
        Self {
            config,
            probability: 0.0,
            old_pkts: 0,
            stream,
        }
    }

    /// Of a drop or mark.
    pub(super) fn probability(&self) -> f64 {
        self.probability
    }

    pub(super) fn period(&self) -> Span {
        self.config.update
    }

    pub(super) fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        if let Err(reason) = arrival.check_room(self.config.limit) {
            Verdict::Drop(reason)
        } else if self.stream.uniform() >= self.probability {
            Verdict::Accept
        } else if self.config.ecn && arrival.ecn_capable {
            Verdict::AcceptMarked
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    pub(super) fn update(&mut self, waiting_pkts: u64) {
        let deviation = |pkts: u64| pkts as f64 - self.config.reference_pkts;
        let now = self.config.a * deviation(waiting_pkts);
        let before = self.config.b * deviation(self.old_pkts);
        self.probability = (self.probability + now - before).clamp(0.0, 1.0);
        self.old_pkts = waiting_pkts;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_integrates_the_deviation() {
        let config = PiConfig {
            limit: Capacity::Packets(800),
            reference_pkts: 200.0,
            a: 1.822e-5,
            b: 1.816e-5,
            update: Span::from_millis(6),
            ecn: true,
        };
        let mut pi = Pi::new(config, Stream::new(1, 0, "pi"));
        // From rest a deviation of -200 packets would make it negative.
        pi.update(0);
        assert_eq!(pi.probability, 0.0);
        // 1.822e-5 * 300 + 1.816e-5 * 200, then 1.822e-5 * 300 - 1.816e-5 * 300 in each period.
        for expected in [9.098e-3, 9.116e-3, 9.134e-3] {
            pi.update(500);
            assert!(
                (pi.probability - expected).abs() < 1e-12,
                "{}",
                pi.probability
            );
        }
        // At the reference only what was before counts: -1.816e-5 * 300.
        pi.update(200);
        assert!(
            (pi.probability - 3.686e-3).abs() < 1e-12,
            "{}",
            pi.probability
        );
    }
}
