//! Second implementations of disciplines that decide on arrival, from the length of the queue.

use longhaul_units::{Bytes, Rate, Span, Time};

use super::{LIMIT, Rule, Waiting, assert_follows, is_full, stream};
use crate::packet::{Flags, Packet};
use crate::queue::decbit::DecBitConfig;
use crate::queue::drop_tail::DropTail;
use crate::queue::pi::PiConfig;
use crate::queue::rem::RemConfig;
use crate::queue::threshold::ThresholdConfig;
use crate::queue::{
    Arrival, Capacity, Counting, Draws, DropFrom, DropReason, QueueConfig, Verdict,
};
use crate::random::Stream;

/// A first-in first-out queue with a limit; a packet that finds the link idle is always accepted.
struct Limited(DropTail);

impl Rule for Limited {
    fn on_arrival(&mut self, arrival: &Arrival, _: &Packet, waiting: &mut Waiting) -> Verdict {
        let bytes = u64::from(arrival.bytes);
        loop {
            let (with, limit) = match self.0.limit {
                Capacity::Packets(limit) => (waiting.len() as u64 + 1, limit),
                Capacity::Bytes(limit) => (waiting.bytes(|_| true) + bytes, limit),
            };
            // ns-2's counting includes the packet in service, so that fewer packets than the limit may wait.
            let full = with > limit || with == limit && self.0.counting == Counting::InService;
            if arrival.idle_since.is_some() || !full {
                return Verdict::Accept;
            }
            if self.0.drop == DropFrom::Tail || waiting.len() == 0 {
                return Verdict::Drop(DropReason::Overflow);
            }
            waiting.drop_first(DropReason::Overflow, |_| true);
        }
    }
}

#[test]
fn full_queues_drop_the_last_or_the_first() {
    for limit in [Capacity::Packets(6), Capacity::Bytes(6000)] {
        for (drop, counting) in [
            (DropFrom::Tail, Counting::Waiting),
            (DropFrom::Tail, Counting::InService),
            (DropFrom::Head, Counting::Waiting),
            (DropFrom::Head, Counting::InService),
        ] {
            let parameters = DropTail {
                limit,
                drop,
                counting,
            };
            let config = QueueConfig::DropTail(parameters);
            assert_follows(&config, || Limited(parameters));
        }
    }
}

/// DCTCP's threshold (RFC 8257 section 3.1): a packet is marked if it finds more than four packets waiting.
struct Step;

impl Rule for Step {
    fn on_arrival(&mut self, arrival: &Arrival, _: &Packet, waiting: &mut Waiting) -> Verdict {
        if is_full(arrival, waiting) {
            Verdict::Drop(DropReason::Overflow)
        } else if arrival.ecn_capable && waiting.len() > 4 {
            Verdict::AcceptMarked
        } else {
            Verdict::Accept
        }
    }
}

#[test]
fn step_marking() {
    let config = ThresholdConfig {
        limit: LIMIT,
        threshold: Capacity::Packets(4),
    };
    assert_follows(&QueueConfig::Threshold(config), || Step);
}

/// The PI controller of Hollot and others, INFOCOM 2001, and ns-2.35, `pi.cc`: `p += a (q - q_ref) - b (q_old -
/// q_ref)`.
struct Pi {
    p: f64,
    old: f64,
    ecn: bool,
    stream: Stream,
}

impl Rule for Pi {
    fn interval(&self) -> Option<Span> {
        Some(Span::from_millis(6))
    }

    fn draws(&self) -> (Draws, bool) {
        (Draws::ForAnyPacket, false)
    }

    fn on_arrival(&mut self, arrival: &Arrival, _: &Packet, waiting: &mut Waiting) -> Verdict {
        if is_full(arrival, waiting) {
            Verdict::Drop(DropReason::Overflow)
        } else if self.stream.uniform() >= self.p {
            Verdict::Accept
        } else if self.ecn && arrival.ecn_capable {
            Verdict::AcceptMarked
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    fn update(&mut self, _now: Time, waiting: &Waiting) {
        let waiting = waiting.len() as f64;
        self.p += 0.02 * (waiting - 4.0) - 0.018 * (self.old - 4.0);
        (self.p, self.old) = (self.p.clamp(0.0, 1.0), waiting);
    }

    fn probability(&self) -> Option<f64> {
        Some(self.p)
    }
}

#[test]
fn pi_controller() {
    for ecn in [false, true] {
        let config = PiConfig {
            limit: LIMIT,
            reference_pkts: 4.0,
            a: 0.02,
            b: 0.018,
            update: Span::from_millis(6),
            ecn,
        };
        let rule = || Pi {
            p: 0.0,
            old: 0.0,
            ecn,
            stream: stream(),
        };
        assert_follows(&QueueConfig::Pi(config), rule);
    }
}

/// REM of Athuraliya and others, IEEE Network 15(3), 2001, and ns-2.35, `rem.cc`. The probability is `p = 1 -
/// phi^-price`. The price is never negative. Each update adds `gamma (alpha (q - target) + input - capacity)` to it.
/// ECN-capable packets are marked when they leave.
struct Rem {
    price: f64,
    arrived: f64,
    input: f64,
    ecn: bool,
    stream: Stream,
}

impl Rem {
    fn draws(&mut self) -> bool {
        let p = 1.0 - 1.05_f64.powf(-self.price);
        self.stream.uniform() < p
    }
}

impl Rule for Rem {
    fn interval(&self) -> Option<Span> {
        Some(Span::from_millis(8))
    }

    fn draws(&self) -> (Draws, bool) {
        (Draws::ForAnyPacket, false)
    }

    fn on_arrival(&mut self, arrival: &Arrival, _: &Packet, waiting: &mut Waiting) -> Verdict {
        self.arrived += 1.0;
        if is_full(arrival, waiting) {
            Verdict::Drop(DropReason::Overflow)
        } else if !(self.ecn && arrival.ecn_capable) && self.draws() {
            Verdict::Drop(DropReason::Early)
        } else {
            Verdict::Accept
        }
    }

    fn marks(&mut self, packet: &Packet, _now: Time, _behind: usize) -> bool {
        self.ecn && packet.flags.has(Flags::ECT) && self.draws()
    }

    fn update(&mut self, _now: Time, waiting: &Waiting) {
        self.input = 0.75 * self.input + 0.25 * self.arrived;
        self.arrived = 0.0;
        // 8 Mbit/s are eight packets of 1000 B in 8 ms.
        let excess = 0.1 * (waiting.len() as f64 - 4.0) + self.input - 8.0;
        self.price = (self.price + 0.5 * excess).max(0.0);
    }

    fn probability(&self) -> Option<f64> {
        Some(1.0 - 1.05_f64.powf(-self.price))
    }
}

#[test]
fn random_exponential_marking() {
    for ecn in [false, true] {
        let config = RemConfig {
            limit: LIMIT,
            target_pkts: 4.0,
            gamma: 0.5,
            alpha: 0.1,
            phi: 1.05,
            input_weight: 0.25,
            update: Span::from_micros(8000),
            ecn,
            mean_packet: Bytes(1000),
            rate: Rate::from_bps(8_000_000),
        };
        let rule = || Rem {
            price: 0.0,
            arrived: 0.0,
            input: 0.0,
            ecn,
            stream: stream(),
        };
        assert_follows(&QueueConfig::Rem(config), rule);
    }
}

/// DECbit of Ramakrishnan and Jain, TOCS 8(2), 1990, section 3. A packet is marked if the average queue, including the
/// packet in service, is at least one packet. The average is taken over the previous cycle (busy, then idle) and the
/// current cycle so far.
#[derive(Default)]
struct DecBit {
    /// The previous cycle, then the current one. A tuple has the length of the cycle in picoseconds, and the integral
    /// of the queue over the cycle, in packets times picoseconds.
    cycles: [(u128, u128); 2],
    began: Time,
    changed: Time,
    pkts: u128,
}

impl DecBit {
    fn pass(&mut self, until: Time) {
        let [_, current] = &mut self.cycles;
        current.1 += self.pkts * u128::from(until.since(self.changed).as_ps());
        current.0 = u128::from(until.since(self.began).as_ps());
        self.changed = until;
    }
}

impl Rule for DecBit {
    fn on_arrival(&mut self, arrival: &Arrival, _: &Packet, waiting: &mut Waiting) -> Verdict {
        if let Some(idle) = arrival.idle_since {
            self.pass(idle);
            self.pkts = 0;
            self.pass(arrival.now);
            self.cycles = [self.cycles[1], (0, 0)];
            self.began = arrival.now;
        }
        self.pass(arrival.now);
        let [last, current] = self.cycles;
        let (length, integral) = (last.0 + current.0, last.1 + current.1);
        if is_full(arrival, waiting) {
            return Verdict::Drop(DropReason::Overflow);
        }
        self.pkts += 1;
        if length > 0 && integral >= length && arrival.ecn_capable {
            Verdict::AcceptMarked
        } else {
            Verdict::Accept
        }
    }

    fn marks(&mut self, _packet: &Packet, now: Time, behind: usize) -> bool {
        self.pass(now);
        self.pkts = behind as u128 + 1;
        false
    }
}

#[test]
fn decbit() {
    let config = QueueConfig::DecBit(DecBitConfig { limit: LIMIT });
    assert_follows(&config, DecBit::default);
}
