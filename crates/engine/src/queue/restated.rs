//! Disciplines in the order of arrival beside their rules, restated here from their sources, in a random life of a link: the fates of
//! all packets, and the probability in the time series, are the same.

use std::collections::VecDeque;

use longhaul_units::{Bytes, Rate, Span, Time};

use super::decbit::DecBitConfig;
use super::drop_tail::DropTail;
use super::pi::PiConfig;
use super::rem::RemConfig;
use super::tests::packet;
use super::threshold::ThresholdConfig;
use super::{
    Arrival, Capacity, Counting, DropFrom, DropReason, Effects, PacketQueue, QueueConfig, Verdict,
};
use crate::packet::{Flags, Packet};
use crate::random::Stream;

/// A rule, as its source states it.
trait Rule {
    /// Decides about a packet that arrives at these packets, which a rule may drop for it.
    fn on_arrival(&mut self, arrival: &Arrival, waiting: &mut VecDeque<Packet>) -> Verdict;

    /// Returns true if a packet that leaves is marked; `behind` are those left.
    fn marks(&mut self, _packet: &Packet, _now: Time, _behind: usize) -> bool {
        false
    }

    /// Updates the probability.
    fn update(&mut self, _waiting_pkts: usize) {}

    fn probability(&self) -> Option<f64> {
        None
    }
}

/// A link of 12 Mbit/s whose packets arrive in bursts.
struct Link {
    random: u64,
    now: Time,
    /// End of the packet in service; none while the link is idle, since a time.
    busy_until: Option<Time>,
    idle_since: Time,
}

impl Link {
    /// Returns a number below `n` (xorshift64).
    fn below(&mut self, n: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 20) % n
    }

    fn packet(&mut self, number: u64) -> Packet {
        let bytes = [1500, 1500, 1000, 40][self.below(4) as usize];
        let mut packet = packet(number, bytes);
        if self.below(3) == 0 {
            packet.flags = Flags::NONE;
        }
        packet.time = self.now;
        packet
    }
}

/// Returns the time that the link takes for a packet.
fn service(packet: &Packet) -> Span {
    Span::from_ps(u64::from(packet.bytes) * 666_667)
}

/// Outcome of a packet's arrival or departure: its number, and true if it was marked.
type Fate = Result<Option<(u64, bool)>, DropReason>;

struct Twin<'a> {
    discipline: super::BufferedQueue,
    effects: Effects,
    rule: &'a mut dyn Rule,
    waiting: VecDeque<Packet>,
}

impl Twin<'_> {
    fn arrive(&mut self, packet: Packet, now: Time, idle_since: Option<Time>) {
        let (waiting_pkts, waiting_bytes) = self.discipline.waiting();
        let arrival = Arrival {
            now,
            bytes: u32::from(packet.bytes),
            ecn_capable: packet.flags.has(Flags::ECT),
            low_priority: false,
            waiting_pkts,
            waiting_bytes,
            idle_since,
        };
        let found = self.discipline.enqueue(packet, &arrival, &mut self.effects);
        let verdict = self.rule.on_arrival(&arrival, &mut self.waiting);
        let expected: Fate = match verdict {
            Verdict::Accept => Ok(Some((packet.seq, false))),
            Verdict::AcceptMarked => Ok(Some((packet.seq, true))),
            Verdict::Drop(reason) => Err(reason),
        };
        let marked = !std::mem::take(&mut self.effects.marked).is_empty();
        assert_eq!(
            found.map(|()| Some((packet.seq, marked))),
            expected,
            "{arrival:?}"
        );
        if let Ok(Some((_, marked))) = expected {
            let flags = if marked {
                packet.flags.with(Flags::CE)
            } else {
                packet.flags
            };
            self.waiting.push_back(Packet { flags, ..packet });
        }
        let bytes = self
            .waiting
            .iter()
            .map(|packet| u64::from(packet.bytes))
            .sum();
        assert_eq!(
            self.discipline.waiting(),
            (self.waiting.len() as u64, bytes)
        );
    }

    fn leave(&mut self, now: Time) -> Option<Packet> {
        let found = self.discipline.dequeue(now, &mut self.effects);
        self.effects = Effects::default();
        let mut expected = self.waiting.pop_front();
        if let Some(packet) = &mut expected
            && self.rule.marks(packet, now, self.waiting.len())
        {
            packet.flags = packet.flags.with(Flags::CE);
        }
        let fate = |packet: Option<Packet>| packet.map(|one| (one.seq, one.flags));
        assert_eq!(fate(found), fate(expected));
        found
    }
}

/// Checks a discipline against its rule over 20,000 packets.
#[track_caller]
fn assert_follows(config: &QueueConfig, rule: &mut dyn Rule) {
    let mut twin = Twin {
        discipline: config.buffered(Stream::new(1, 0, "bench")),
        effects: Effects::default(),
        rule,
        waiting: VecDeque::new(),
    };
    let mut link = Link {
        random: 7,
        now: Time::ZERO,
        busy_until: None,
        idle_since: Time::ZERO,
    };
    for number in 0..20_000 {
        let burst = link.below(300) < 120;
        let gap = if burst {
            link.below(900)
        } else {
            link.below(2600)
        };
        let next = link.now + Span::from_micros(gap);
        while let Some(end) = link.busy_until
            && end <= next
        {
            link.busy_until = twin.leave(end).map(|sent| end + service(&sent));
            link.idle_since = end;
        }
        link.now = next;
        let packet = link.packet(number);
        let idle = link.busy_until.is_none();
        twin.arrive(packet, next, idle.then_some(link.idle_since));
        if idle {
            // A packet that finds the link idle may be dropped early.
            let sent = twin.leave(next);
            link.busy_until = sent.map(|sent| next + service(&sent));
        }
        if number % 8 == 0 {
            twin.discipline.update(next);
            let pkts = twin.waiting.len();
            twin.rule.update(pkts);
        }
        let found = twin.discipline.state().drop_p;
        match (found, twin.rule.probability()) {
            (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-12),
            (_, expected) => assert_eq!(expected, None),
        }
    }
}

fn bytes_of(waiting: &VecDeque<Packet>) -> u64 {
    waiting.iter().map(|packet| u64::from(packet.bytes)).sum()
}

/// First in, first out, up to a limit; a packet for which the link is idle needs no room.
struct Limited(DropTail);

impl Rule for Limited {
    fn on_arrival(&mut self, arrival: &Arrival, waiting: &mut VecDeque<Packet>) -> Verdict {
        let bytes = u64::from(arrival.bytes);
        loop {
            let (with, limit) = match self.0.limit {
                Capacity::Packets(limit) => (waiting.len() as u64 + 1, limit),
                Capacity::Bytes(limit) => (bytes_of(waiting) + bytes, limit),
            };
            // ns-2 counts the packet in service: as many as the limit are too many.
            let full = with > limit || with == limit && self.0.counting == Counting::InService;
            if arrival.idle_since.is_some() || !full {
                return Verdict::Accept;
            }
            if self.0.drop == DropFrom::Tail || waiting.pop_front().is_none() {
                return Verdict::Drop(DropReason::Overflow);
            }
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
            assert_follows(&config, &mut Limited(parameters));
        }
    }
}

const LIMIT: Capacity = Capacity::Packets(12);

fn is_full(arrival: &Arrival, waiting: &VecDeque<Packet>) -> bool {
    arrival.idle_since.is_none() && waiting.len() >= 12
}

/// RFC 8257 section 3.1: marked if more than four packets wait.
struct Step;

impl Rule for Step {
    fn on_arrival(&mut self, arrival: &Arrival, waiting: &mut VecDeque<Packet>) -> Verdict {
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
    assert_follows(&QueueConfig::Threshold(config), &mut Step);
}

/// Hollot and others, INFOCOM 2001; ns-2.35, `pi.cc`: `p += a (q - q_ref) - b (q_old - q_ref)`.
struct Pi {
    p: f64,
    old: f64,
    ecn: bool,
    stream: Stream,
}

impl Rule for Pi {
    fn on_arrival(&mut self, arrival: &Arrival, waiting: &mut VecDeque<Packet>) -> Verdict {
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

    fn update(&mut self, waiting_pkts: usize) {
        let waiting = waiting_pkts as f64;
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
        let mut rule = Pi {
            p: 0.0,
            old: 0.0,
            ecn,
            stream: Stream::new(1, 0, "bench"),
        };
        assert_follows(&QueueConfig::Pi(config), &mut rule);
    }
}

/// Athuraliya and others, IEEE Network 15(3), 2001; ns-2.35, `rem.cc`: `p = 1 - phi^-price`, and the price sums up
/// `gamma (alpha (q - target) + input - capacity)`, not below zero. Packets that may be marked are marked as they leave.
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
    fn on_arrival(&mut self, arrival: &Arrival, waiting: &mut VecDeque<Packet>) -> Verdict {
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

    fn update(&mut self, waiting_pkts: usize) {
        self.input = 0.75 * self.input + 0.25 * self.arrived;
        self.arrived = 0.0;
        // 8 Mbit/s carry eight packets of 1000 B in 8 ms.
        let excess = 0.1 * (waiting_pkts as f64 - 4.0) + self.input - 8.0;
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
        let mut rule = Rem {
            price: 0.0,
            arrived: 0.0,
            input: 0.0,
            ecn,
            stream: Stream::new(1, 0, "bench"),
        };
        assert_follows(&QueueConfig::Rem(config), &mut rule);
    }
}

/// Ramakrishnan and Jain, TOCS 8(2), 1990, section 3: marked if the queue's mean over the last cycle, busy and then idle, and over the
/// current one so far is at least one packet, with the one in service.
#[derive(Default)]
struct DecBit {
    /// Length and integral, in packet picoseconds, of the last cycle and of the current one.
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
    fn on_arrival(&mut self, arrival: &Arrival, waiting: &mut VecDeque<Packet>) -> Verdict {
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
    assert_follows(&config, &mut DecBit::default());
}
