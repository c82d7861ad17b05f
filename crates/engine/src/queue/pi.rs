//! The PI controller. Arriving packets are dropped, or marked, with a probability that integrates the deviation of the
//! queue from a reference (Hollot, Misra, Towsley and Gong, "On designing improved controllers for AQM routers
//! supporting TCP flows", INFOCOM 2001). The controller is that of ns-2's `pi.cc`, without the modes in bytes.

use longhaul_keys::{Kind, Range, Refusal, TIME, Table, keys};
use longhaul_units::{Dimension, Rate, Span};

use super::link_context::check_update;
use super::{
    Aqm, AqmState, Arrival, Capacity, Draws, DropReason, Fifo, LinkContext, Parameters, Verdict,
};
use crate::random::Stream;

const REFERENCE: Kind = Kind::Positive(&[Dimension::Packets]);
const WEIGHT: Kind = Kind::Number(Range::above(0.0, 1.0));

keys! {
    /// Parameters of the PI controller.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PiConfig {
        /// Capacity of the queue. A capacity given as a time means the data that the link sends in this time.
        pub limit: Capacity = Capacity::LIMIT,
        /// Reference queue length.
        pub reference_pkts as "reference": f64 = REFERENCE.key().default("50 packets").source("ns-2: qref_"),
        /// Weight of the queue's deviation from the reference.
        pub a: f64 = WEIGHT.key().default("1.822e-5").source("ns-2: a_"),
        /// Weight of the deviation at the previous update; less than `a`.
        pub b: f64 = WEIGHT.key().default("1.816e-5").source("ns-2: b_"),
        /// Time between two updates of the probability.
        pub update: Span =
            Kind::Positive(TIME).key().default("5.882352941 ms").source("ns-2: w_ of 170 Hz"),
        /// True if ECN-capable packets are marked instead of dropped.
        pub ecn: bool = Kind::Flag.key().default("false").source("ns-2: setbit_"),
    }
}

impl Parameters for PiConfig {
    type Queue = Fifo<Pi>;

    const KIND: &'static str = "pi";
    const TITLE: &'static str = "PI controller";
    const DESCRIPTION: &'static str = "Controls the probability of drops on arrival such that the queue approaches a reference length.";
    const SOURCE: &'static str = "Hollot, Misra, Towsley and Gong, INFOCOM 2001; ns-2";

    /// Refuses `a` at or below `b`, since the probability would not rise while the queue stays above the reference.
    /// Also refuses a too short update interval.
    fn complete(values: &mut Table, _link: &LinkContext) -> Result<(), Refusal> {
        check_update(values, Self::update)?;
        let (a, b) = (values.read(Self::a), values.read(Self::b));
        if a <= b {
            let message = format!("expected a above b ({b}), found {a}");
            return Err(Refusal::of(Self::a, message));
        }
        Ok(())
    }

    fn read(values: &Table, _rate: Rate) -> Self {
        Self::of(values)
    }

    fn queue(&self, stream: Stream) -> Fifo<Pi> {
        Fifo::new(Pi::new(*self, stream))
    }

    fn draws(&self) -> Draws {
        Draws::ForAnyPacket
    }

    fn marks(&self) -> bool {
        self.ecn
    }
}

/// The state of the PI controller.
#[derive(Clone, Debug)]
pub(crate) struct Pi {
    config: PiConfig,
    probability: f64,
    /// Queue length at the last update, in packets.
    old_pkts: u64,
    stream: Stream,
}

impl Pi {
    fn new(config: PiConfig, stream: Stream) -> Self {
        Self {
            config,
            probability: 0.0,
            old_pkts: 0,
            stream,
        }
    }
}

impl Aqm for Pi {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        if let Err(reason) = arrival.check_limit(self.config.limit) {
            Verdict::Drop(reason)
        } else if self.stream.uniform() >= self.probability {
            Verdict::Accept
        } else if self.config.ecn && arrival.ecn_capable {
            Verdict::AcceptMarked
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    fn update_interval(&self) -> Option<Span> {
        Some(self.config.update)
    }

    fn update(&mut self, (waiting_pkts, _): (u64, u64)) {
        let deviation = |pkts: u64| pkts as f64 - self.config.reference_pkts;
        let now = self.config.a * deviation(waiting_pkts);
        let before = self.config.b * deviation(self.old_pkts);
        self.probability = (self.probability + now - before).clamp(0.0, 1.0);
        self.old_pkts = waiting_pkts;
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
    use longhaul_units::Time;

    use super::*;

    const CONFIG: PiConfig = PiConfig {
        limit: Capacity::Packets(800),
        reference_pkts: 200.0,
        a: 1.822e-5,
        b: 1.816e-5,
        update: Span::from_millis(6),
        ecn: true,
    };

    fn stream() -> Stream {
        Stream::new(1, 0, "pi")
    }

    /// A packet is selected if the number drawn for it is below the probability. At a probability of zero, no packet is
    /// selected.
    #[test]
    fn a_number_below_the_probability_selects() {
        let drawn = stream().uniform();
        let arrival = Arrival {
            now: Time::ZERO,
            bytes: 1500,
            ecn_capable: false,
            low_priority: false,
            waiting_pkts: 10,
            waiting_bytes: 15_000,
            idle_since: None,
        };
        let early = Verdict::Drop(DropReason::Early);
        for (probability, verdict) in [(drawn, Verdict::Accept), (f64::next_up(drawn), early)] {
            let mut pi = Pi::new(CONFIG, stream());
            pi.probability = probability;
            assert_eq!(pi.on_arrival(&arrival), verdict);
        }
    }

    #[test]
    fn the_probability_integrates_the_deviation() {
        let mut pi = Pi::new(CONFIG, stream());
        // At first, a deviation of -200 packets would make the probability negative.
        pi.update((0, 0));
        assert_eq!(pi.probability, 0.0);
        // The increase is 1.822e-5 * 300 + 1.816e-5 * 200 at first, and then 1.822e-5 * 300 - 1.816e-5 * 300 in each
        // period.
        for expected in [9.098e-3, 9.116e-3, 9.134e-3] {
            pi.update((500, 0));
            assert!(
                (pi.probability - expected).abs() < 1e-12,
                "{}",
                pi.probability
            );
        }
        // At the reference, only the preceding deviation changes the probability, by -1.816e-5 * 300.
        pi.update((200, 0));
        assert!(
            (pi.probability - 3.686e-3).abs() < 1e-12,
            "{}",
            pi.probability
        );
        // The probability is at most 1.
        pi.update((1_000_000, 0));
        assert_eq!(pi.probability, 1.0);
    }
}
