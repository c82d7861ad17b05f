//! Differential tests: each discipline except RED, VCP and XCP is compared with a second implementation, written from
//! the discipline's source with all packets in one list. Both serve equal links with the same random arrivals. The
//! fates of all packets, and the probability in the time series, must be equal for both.

mod arrivals;
mod flows;
mod pie;
mod sojourn;

use std::collections::VecDeque;

use longhaul_units::{Span, Time};

use super::ack_filter::AckFilter;
use super::tests::packet_of;
use super::{
    Arrival, BufferedQueue, Capacity, Draws, DropReason, Effects, PacketQueue, QueueConfig, Verdict,
};
use crate::measure::ClassCounters;
use crate::packet::{Flags, Packet};
use crate::random::Stream;

/// A discipline, restated from its source.
trait Rule {
    /// Decides about an arriving packet. A rule may drop waiting packets in favour of it.
    fn on_arrival(&mut self, arrival: &Arrival, packet: &Packet, waiting: &mut Waiting) -> Verdict;

    /// Drops packets if the queue is too long after a packet has joined it. The new packet may be dropped, too.
    fn make_room(&mut self, _now: Time, _waiting: &mut Waiting) {}

    /// Returns true if a packet that leaves must be marked; `_behind` is the number of packets left in the queue.
    fn marks(&mut self, _packet: &Packet, _now: Time, _behind: usize) -> bool {
        false
    }

    /// Removes the packet that leaves.
    fn take(&mut self, now: Time, waiting: &mut Waiting) -> Option<Packet> {
        let packet = waiting.take(|_| true)?;
        let marked = self.marks(&packet, now, waiting.len());
        Some(if marked { mark(packet) } else { packet })
    }

    /// Updates the probability of drops or marks.
    fn update(&mut self, _now: Time, _waiting: &Waiting) {}

    fn probability(&self) -> Option<f64> {
        None
    }

    /// Returns the time between updates of the probability. It is only compared with the discipline's: the tests update
    /// both after every eighth packet.
    fn interval(&self) -> Option<Span> {
        None
    }

    /// Returns the cases in which random numbers are drawn for packets; and true if the hash of flows is random.
    fn draws(&self) -> (Draws, bool) {
        (Draws::Never, false)
    }

    /// Returns the counters of L4S packets and of all others, if the discipline distinguishes them.
    fn classes(&self) -> Option<[ClassCounters; 2]> {
        None
    }
}

fn mark(packet: Packet) -> Packet {
    Packet {
        flags: packet.flags.with(Flags::CE),
        ..packet
    }
}

/// Waiting packets in the order of arrival; and the packets dropped since the last comparison, with the reasons.
#[derive(Default)]
struct Waiting {
    packets: VecDeque<Packet>,
    dropped: Vec<(u64, DropReason)>,
}

impl Waiting {
    fn len(&self) -> usize {
        self.packets.len()
    }

    /// Returns the number of bytes in the packets that `of` selects.
    fn bytes(&self, of: impl Fn(&Packet) -> bool) -> u64 {
        let chosen = self.packets.iter().filter(|packet| of(packet));
        chosen.map(|packet| u64::from(packet.bytes)).sum()
    }

    fn first(&self, of: impl Fn(&Packet) -> bool) -> Option<&Packet> {
        self.packets.iter().find(|packet| of(packet))
    }

    /// Removes the first packet that `of` selects.
    fn take(&mut self, of: impl Fn(&Packet) -> bool) -> Option<Packet> {
        let place = self.packets.iter().position(of)?;
        self.packets.remove(place)
    }

    fn drop_first(&mut self, reason: DropReason, of: impl Fn(&Packet) -> bool) {
        let packet = self.take(of).expect("there is one");
        self.dropped.push((packet.seq, reason));
    }
}

/// Resolution of the arrival times, and of the packet sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grid {
    /// Arrival times are whole microseconds, and packets have 40, 1000 or 1500 bytes.
    Fine,
    /// Times are multiples of half a millisecond, and packets have 750 or 1500 bytes. Delays thus often equal the
    /// target exactly, and drops become due exactly when packets leave.
    Coarse,
}

/// A link of 12 Mbit/s with bursts of arrivals.
struct Link {
    grid: Grid,
    random: u64,
    now: Time,
    /// End of the current transmission; `None` while the link is idle, since the time `idle_since`.
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

    /// Draws the time from the last arrival to the next. The first twelve packets arrive at once. Phases of overload
    /// alternate with phases of lower load. Occasionally nothing arrives for up to 0.35 s.
    fn gap(&mut self, number: u64) -> Span {
        if number < 12 {
            return Span::ZERO;
        }
        if number % 500 == 499 {
            return Span::from_micros(500 * self.below(700));
        }
        let bursts = if (number / 400).is_multiple_of(2) {
            120
        } else {
            260
        };
        let burst = self.below(300) < bursts;
        Span::from_micros(match (self.grid, burst) {
            (Grid::Fine, true) => self.below(900),
            (Grid::Fine, false) => self.below(2600),
            (Grid::Coarse, true) => 500 * self.below(3),
            (Grid::Coarse, false) => 500 * self.below(7),
        })
    }

    fn packet(&mut self, number: u64) -> Packet {
        let sizes = match self.grid {
            Grid::Fine => [1500, 1500, 1000, 40],
            Grid::Coarse => [1500, 1500, 1500, 750],
        };
        let bytes = sizes[self.below(4) as usize];
        let flow = [0, 0, 0, 1, 1, 2, 3, 4][self.below(8) as usize];
        let mut packet = packet_of(flow, number, bytes);
        packet.flags = match self.below(6) {
            0..2 => Flags::NONE,
            2 => packet.flags.with(Flags::ECT1),
            _ => packet.flags,
        };
        packet.time = self.now;
        packet
    }
}

/// Returns the transmission time of a packet.
fn service(packet: &Packet) -> Span {
    Span::from_ps(u64::from(packet.bytes) * 2_000_000 / 3)
}

/// Outcome of a packet's arrival. If the packet is accepted: its number, and true if it is marked. If the packet is
/// dropped: the reason. `Ok(None)` does not occur.
type Fate = Result<Option<(u64, bool)>, DropReason>;

struct Twin<'a> {
    discipline: BufferedQueue,
    effects: Effects,
    rule: &'a mut dyn Rule,
    waiting: Waiting,
    marks: bool,
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
        let verdict = self.rule.on_arrival(&arrival, &packet, &mut self.waiting);
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
        self.marks |= marked;
        if let Ok(Some((_, marked))) = expected {
            let joins = if marked { mark(packet) } else { packet };
            self.waiting.packets.push_back(joins);
            self.rule.make_room(now, &mut self.waiting);
        }
        self.compare();
    }

    /// Compares both implementations: their drops since the last comparison, and their waiting packets and bytes.
    fn compare(&mut self) {
        let dropped = self.effects.dropped.drain(..);
        let found: Vec<_> = dropped
            .map(|(packet, reason)| (packet.seq, reason))
            .collect();
        assert_eq!(found, std::mem::take(&mut self.waiting.dropped));
        let left = (self.waiting.len() as u64, self.waiting.bytes(|_| true));
        assert_eq!(self.discipline.waiting(), left);
    }

    fn leave(&mut self, now: Time) -> Option<Packet> {
        let found = self.discipline.dequeue(now, &mut self.effects);
        let expected = self.rule.take(now, &mut self.waiting);
        self.marks |= !std::mem::take(&mut self.effects.marked).is_empty();
        let fate = |packet: Option<Packet>| packet.map(|one| (one.seq, one.flags));
        assert_eq!(fate(found), fate(expected), "at {now:?}");
        self.compare();
        found
    }
}

/// Compares a discipline with its second implementation `rule` on 20,000 packets for each [`Grid`]. Also checks the
/// properties that the discipline declares. A discipline that marks packets is tested behind an ACK filter.
#[track_caller]
fn assert_follows<R: Rule>(config: &QueueConfig, rule: impl Fn() -> R) {
    let marked = [Grid::Fine, Grid::Coarse].map(|grid| follow(config, &mut rule(), grid));
    assert_eq!(config.marks(), marked.contains(&true));
}

/// Compares the fates of packets under a discipline and under `rule`, its second implementation. `grid` is the
/// resolution of arrival times and packet sizes. Returns true if any packet was marked.
#[track_caller]
fn follow(config: &QueueConfig, rule: &mut dyn Rule, grid: Grid) -> bool {
    let mut discipline = config.buffered(stream());
    if config.marks() {
        discipline = BufferedQueue::FilteringAcks(Box::new(AckFilter::new(discipline)));
    }
    assert_eq!(discipline.update_interval(), rule.interval());
    let (draws, hashes) = rule.draws();
    let is_random = hashes || draws != Draws::Never;
    assert_eq!((config.draws(), config.is_random()), (draws, is_random));
    let mut twin = Twin {
        discipline,
        marks: false,
        effects: Effects::default(),
        rule,
        waiting: Waiting::default(),
    };
    let mut link = Link {
        grid,
        random: 7,
        now: Time::ZERO,
        busy_until: None,
        idle_since: Time::ZERO,
    };
    for number in 0..20_000 {
        let next = link.now + link.gap(number);
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
            // A packet that finds the link idle may also be dropped early.
            let sent = twin.leave(next);
            link.busy_until = sent.map(|sent| next + service(&sent));
        }
        if number % 8 == 7 {
            twin.discipline.update(next);
            twin.rule.update(next, &twin.waiting);
        }
        let found = twin.discipline.state().drop_p;
        match (found, twin.rule.probability()) {
            (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-12),
            (_, expected) => assert_eq!(expected, None),
        }
    }
    assert_eq!(twin.discipline.classes(), twin.rule.classes());
    twin.marks
}

fn stream() -> Stream {
    Stream::new(1, 0, "bench")
}

const LIMIT: Capacity = Capacity::Packets(12);

fn is_full(arrival: &Arrival, waiting: &Waiting) -> bool {
    arrival.idle_since.is_none() && waiting.len() >= 12
}
