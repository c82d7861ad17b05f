//! REM (Athuraliya, Low, Li and Yin, "REM: active queue management", IEEE Network 15(3), 2001): the probability of a
//! mark or drop approaches 1 exponentially with a price. The price integrates two differences: input minus capacity,
//! and queue minus target.
//!
//! As in ns-2's `rem.cc`, quantities are in packets. Packets are dropped on arrival, but marked when they leave. With
//! marking, ns-2 spares packets that are not ECN-capable. Here they are dropped on arrival.

use longhaul_keys::{Kind, Range, Refusal, SIZE, TIME, Table, keys};
use longhaul_units::{Bytes, Dimension, Rate, Span, Time};

use super::link_context::check_update;
use super::{
    Aqm, AqmState, Arrival, Capacity, Draws, DropReason, Fifo, LinkContext, Parameters, Verdict,
};
use crate::packet::{Flags, Packet};
use crate::random::Stream;

keys! {
    /// Parameters of REM.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RemConfig {
        /// Capacity of the queue. A capacity given as a time means the data that the link sends in this time.
        pub limit: Capacity = Capacity::LIMIT,
        /// Target of the queue length.
        pub target_pkts as "reference": f64 =
            Kind::Positive(&[Dimension::Packets]).key().default("20 packets").source("ns-2: pbo_"),
        /// Factor of each change of the price.
        pub gamma: f64 =
            Kind::Number(Range::above(0.0, 1e6)).key().default("0.001").source("ns-2: gamma_"),
        /// Weight of the excess queue (length minus target) in the price. Input minus capacity has weight 1.
        pub alpha: f64 =
            Kind::Number(Range::closed(0.0, 1e6)).key().default("0.1").source("ns-2: a constant"),
        /// Base of the exponential function that gives the probability of drops or marks, `1 - phi^-price`.
        pub phi: f64 = Kind::Number(Range::above(1.0, 1e6)).key().default("1.001").source("ns-2: phi_"),
        /// Weight of the last interval's input in the average input.
        pub input_weight: f64 =
            Kind::Number(Range::above(0.0, 1.0)).key().default("1").source("ns-2: inw_"),
        /// Time between two updates of the probability.
        pub update: Span = Kind::Positive(TIME).key().default("2 ms").source("ns-2: pupdtime_"),
        /// True if ECN-capable packets are marked instead of dropped.
        pub ecn: bool = Kind::Flag.key().default("false").source("ns-2: markpkts_"),
        /// Mean packet size; `auto`: the largest packet of a flow.
        pub mean_packet: Bytes =
            Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(SIZE)]).key().default("auto"),
    }
    beside {
        /// Rate of the link.
        pub rate: Rate,
    }
}

impl Parameters for RemConfig {
    type Queue = Fifo<Rem>;

    const KIND: &'static str = "rem";
    const TITLE: &'static str = "Random exponential marking";
    const DESCRIPTION: &'static str = "Drops or marks arriving packets with a probability that is exponential in a price, which sums up excess \
            input and backlog.";
    const SOURCE: &'static str = "Athuraliya, Low, Li and Yin, IEEE Network 15(3), 2001; ns-2";

    fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        link.complete_size(values, Self::mean_packet);
        check_update(values, Self::update)
    }

    fn read(values: &Table, rate: Rate) -> Self {
        Self::of(values, rate)
    }

    fn queue(&self, stream: Stream) -> Fifo<Rem> {
        Fifo::new(Rem::new(*self, stream))
    }

    fn draws(&self) -> Draws {
        Draws::ForAnyPacket
    }

    fn marks(&self) -> bool {
        self.ecn
    }
}

/// The state of REM.
#[derive(Clone, Debug)]
pub(crate) struct Rem {
    config: RemConfig,
    /// Number of packets of mean size that the link can send in an update interval.
    capacity_pkts: f64,
    price: f64,
    probability: f64,
    /// Number of packets that have arrived since the last update.
    arrived_pkts: u64,
    /// Average input, in packets per update interval.
    input: f64,
    stream: Stream,
}

impl Rem {
    fn new(config: RemConfig, stream: Stream) -> Self {
        let packets_per_s = config.rate.packets_per_s(config.mean_packet.0);
        Self {
            config,
            capacity_pkts: config.update.as_secs_f64() * packets_per_s,
            price: 0.0,
            probability: 0.0,
            arrived_pkts: 0,
            input: 0.0,
            stream,
        }
    }
}

impl Aqm for Rem {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        self.arrived_pkts += 1;
        let may_be_marked = self.config.ecn && arrival.ecn_capable;
        if let Err(reason) = arrival.check_limit(self.config.limit) {
            Verdict::Drop(reason)
        } else if !may_be_marked && self.stream.uniform() < self.probability {
            Verdict::Drop(DropReason::Early)
        } else {
            Verdict::Accept
        }
    }

    fn on_departure(&mut self, packet: &Packet, _now: Time, _waiting_pkts: u64) -> bool {
        let may_be_marked = self.config.ecn && packet.flags.has(Flags::ECT);
        may_be_marked && self.stream.uniform() < self.probability
    }

    fn update_interval(&self) -> Option<Span> {
        Some(self.config.update)
    }

    fn update(&mut self, (waiting_pkts, _): (u64, u64)) {
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
        let excess = self.input - self.capacity_pkts;
        self.price = f64::max(0.0, self.price + gamma * (alpha * backlog + excess));
        self.probability = 1.0 - libm::pow(phi, -self.price);
    }

    fn state(&self) -> AqmState {
        AqmState {
            drop_p: Some(self.probability),
            ..AqmState::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::packet;

    fn rem(ecn: bool) -> Rem {
        let config = RemConfig {
            limit: Capacity::Packets(1000),
            target_pkts: 20.0,
            gamma: 0.5,
            alpha: 0.1,
            phi: 2.0,
            input_weight: 0.25,
            update: Span::from_millis(2),
            ecn,
            mean_packet: Bytes(1000),
            // The rate is four packets in 2 ms.
            rate: Rate::from_bps(16_000_000),
        };
        Rem::new(config, Stream::new(1, 0, "rem"))
    }

    #[test]
    fn the_price_sums_up_excess_and_backlog() {
        let mut rem = rem(false);
        // Twelve packets arrive in each period, so that the average of the input is 3, 5.25 and 6.9375. The price is
        // the sum of 0.5 (0.1 (waiting - 20) + input - 4): 0 (since -1.5 is negative), + 0.625, + 2.46875.
        for (waiting, price) in [(0, 0.0), (20, 0.625), (40, 3.093_75)] {
            rem.arrived_pkts = 12;
            rem.update((waiting, 0));
            assert!((rem.price - price).abs() < 1e-12, "{}", rem.price);
            let probability = 1.0 - 0.5f64.powf(price);
            assert!((rem.probability - probability).abs() < 1e-12);
        }
    }

    const ARRIVAL: Arrival = Arrival {
        now: Time::ZERO,
        bytes: 1500,
        ecn_capable: true,
        low_priority: false,
        waiting_pkts: 3,
        waiting_bytes: 4500,
        idle_since: None,
    };

    /// A packet is selected, on arrival or on departure, if its random number is below the probability. At a
    /// probability of zero, no packet is selected.
    #[test]
    fn a_number_below_the_probability_selects() {
        let drawn = Stream::new(1, 0, "rem").uniform();
        for (probability, selects) in [(drawn, false), (f64::next_up(drawn), true)] {
            let of = |ecn| {
                let mut rem = rem(ecn);
                rem.probability = probability;
                rem
            };
            let verdict = of(false).on_arrival(&ARRIVAL);
            assert_eq!(verdict == Verdict::Drop(DropReason::Early), selects);
            assert_eq!(
                of(true).on_departure(&packet(0, 1500), Time::ZERO, 3),
                selects
            );
        }
    }

    #[test]
    fn capable_packets_are_marked_when_they_leave() {
        let mut rem = rem(true);
        rem.probability = 1.0;
        let mut arrival = ARRIVAL;
        assert_eq!(rem.on_arrival(&arrival), Verdict::Accept);
        assert!(rem.on_departure(&packet(0, 1500), Time::ZERO, 3));
        arrival.ecn_capable = false;
        assert_eq!(rem.on_arrival(&arrival), Verdict::Drop(DropReason::Early));
    }
}
