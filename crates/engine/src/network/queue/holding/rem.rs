//! REM: packets are marked, or dropped, with a probability that grows exponentially with a price,
//! which sums up by how much the input exceeds the capacity and the queue its target (Athuraliya,
//! Low, Li and Yin, "REM: active queue management", IEEE Network 15(3), 2001). As in ns-2's
//! `rem.cc`, in packets: drops on arrival, marks when packets leave. There marking spares packets
//! that are not capable of it; here they are dropped on arrival.

use longhaul_units::Span;

use crate::network::queue::{Arrival, Capacity, DropReason, Verdict};
use crate::packet::{Flags, Packet};
use crate::random::Stream;

/// REM, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemConfig {
    /// Hard limit on what waits.
    pub limit: Capacity,
    /// The queue to keep, in packets (`pbo_` 20).
    pub target_pkts: f64,
    /// Step of the price (`gamma_` 0.001).
    pub gamma: f64,
    /// Weight of the queue against the input (0.1).
    pub alpha: f64,
    /// Base of the exponential (`phi_` 1.001).
    pub phi: f64,
    /// Weight of a period's input in its average (`inw_` 1).
    pub input_weight: f64,
    /// Time between two updates (`pupdtime_` 2 ms).
    pub update: Span,
    /// Mean packets that the link can send in that time.
    pub capacity_pkts: f64,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

/// REM at work.
#[derive(Clone, Debug)]
pub(super) struct Rem {
    config: RemConfig,
    price: f64,
    probability: f64,
    /// Packets that arrived since the last update, and the average of that.
    arrived_pkts: u64,
    input: f64,
    stream: Stream,
}

impl Rem {
    pub(super) fn new(config: RemConfig, stream: Stream) -> Self {
        Self {
            config,
            price: 0.0,
            probability: 0.0,
            arrived_pkts: 0,
            input: 0.0,
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
        self.arrived_pkts += 1;
        let may_be_marked = self.config.ecn && arrival.ecn_capable;
        if let Err(reason) = arrival.check_room(self.config.limit) {
            Verdict::Drop(reason)
        } else if !may_be_marked && self.stream.uniform() < self.probability {
            Verdict::Drop(DropReason::Early)
        } else {
            Verdict::Accept
        }
    }

    /// Whether to mark a packet that leaves.
    pub(super) fn marks(&mut self, packet: &Packet) -> bool {
        let may_be_marked = self.config.ecn && packet.flags.has(Flags::ECT);
        may_be_marked && self.stream.uniform() < self.probability
    }

    pub(super) fn update(&mut self, waiting_pkts: u64) {
        let RemConfig {
            gamma,
            alpha,
            phi,
            input_weight,
            ..
        } = self.config;
        let arrived = std::mem::take(&mut self.arrived_pkts) as f64;
        self.input += input_weight * (arrived - self.input);
        let backlog = waiting_pkts as f64 - self.config.target_pkts;
        let excess = self.input - self.config.capacity_pkts;
        self.price = f64::max(0.0, self.price + gamma * (alpha * backlog + excess));
        self.probability = 1.0 - libm::pow(phi, -self.price);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::queue::holding::tests::packet;

    fn rem(ecn: bool) -> Rem {
        let config = RemConfig {
            limit: Capacity::Packets(1000),
            target_pkts: 20.0,
            gamma: 0.5,
            alpha: 0.1,
            phi: 2.0,
            input_weight: 0.25,
            update: Span::from_millis(2),
            capacity_pkts: 4.0,
            ecn,
        };
        Rem::new(config, Stream::new(1, 0, "rem"))
    }

    #[test]
    fn the_price_sums_up_excess_and_backlog() {
        let mut rem = rem(false);
        // Twelve packets a period: the input's average is 3, 5.25, 6.9375. The price is the sum of
        // 0.5 (0.1 (waiting - 20) + input - 4): 0 as -1.5 is negative; +0.625; +1.96875 + ...
        for (waiting, price) in [(0, 0.0), (20, 0.625), (40, 3.093_75)] {
            rem.arrived_pkts = 12;
            rem.update(waiting);
            assert!((rem.price - price).abs() < 1e-12, "{}", rem.price);
            let probability = 1.0 - 0.5f64.powf(price);
            assert!((rem.probability - probability).abs() < 1e-12);
        }
    }

    #[test]
    fn capable_packets_are_marked_when_they_leave() {
        let mut rem = rem(true);
        rem.probability = 1.0;
        let mut arrival = Arrival {
            now: longhaul_units::Time::ZERO,
            bytes: 1500,
            ecn_capable: true,
            low_priority: false,
            waiting_pkts: 3,
            waiting_bytes: 4500,
            idle_since: None,
        };
        assert_eq!(rem.on_arrival(&arrival), Verdict::Accept);
        assert!(rem.marks(&packet(0, 1500)));
        arrival.ecn_capable = false;
        assert_eq!(rem.on_arrival(&arrival), Verdict::Drop(DropReason::Early));
    }
}
