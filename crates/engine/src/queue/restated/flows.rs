//! Second implementations of disciplines that separate flows into queues. All packets are in one list. Other lists give
//! the order in which the queues are served.

use std::collections::VecDeque;

use longhaul_units::{Bytes, Span, Time};

use super::pie::{Either, parameters as pie_parameters};
use super::sojourn::{CoDel, Cobalt, parameters as codel_parameters, refuse_beyond};
use super::{Rule, Waiting, assert_follows, stream};
use crate::packet::Packet;
use crate::queue::cake::CakeConfig;
use crate::queue::drr::DrrConfig;
use crate::queue::flow_queues::FlowHash;
use crate::queue::round_robin::RoundRobinConfig;
use crate::queue::{
    Arrival, Capacity, CoDelVariant, CobaltParameters, Draws, DropReason, FlowQueuesParameters,
    FqCoDelConfig, FqPieConfig, PieVariant, QueueConfig, Verdict,
};
use crate::random::Stream;

const FEW: u64 = 12;
/// Limits in packets and in bytes. With the limit in bytes, a single packet may be the longest queue.
const LIMITS: [Capacity; 2] = [Capacity::Packets(FEW), Capacity::Bytes(5000)];

fn exceed(limit: Capacity, waiting: &Waiting) -> bool {
    match limit {
        Capacity::Packets(packets) => waiting.len() as u64 > packets,
        Capacity::Bytes(bytes) => waiting.bytes(|_| true) > bytes,
    }
}

/// Flows served in turn. A turn is one packet (RFC 970) or a quantum (Shreedhar and Varghese, ToN 4(3), 1996, figure
/// 5). Above the limit, the longest queue loses its first packet. Of equally long queues, this is the queue that is
/// served next.
struct Turns {
    limit: Capacity,
    quantum: Option<u64>,
    /// Flows with packets, each with its remaining credit in bytes.
    active: VecDeque<(u32, u64)>,
    in_turn: bool,
}

impl Turns {
    fn forget_empty(&mut self, waiting: &Waiting) {
        let first = self.active.front().copied();
        self.active
            .retain(|&(flow, _)| waiting.first(|packet| packet.flow == flow).is_some());
        self.in_turn &= self.active.front().map(|one| one.0) == first.map(|one| one.0);
    }
}

impl Rule for Turns {
    fn on_arrival(&mut self, _: &Arrival, _: &Packet, _: &mut Waiting) -> Verdict {
        Verdict::Accept
    }

    fn make_room(&mut self, _now: Time, waiting: &mut Waiting) {
        let newest = waiting.packets.back().expect("it has just come").flow;
        if self.active.iter().all(|&(flow, _)| flow != newest) {
            self.active.push_back((newest, 0));
        }
        while exceed(self.limit, waiting) {
            let bytes = |flow: u32| waiting.bytes(|packet| packet.flow == flow);
            let most = self.active.iter().map(|&(flow, _)| bytes(flow)).max();
            let longest = self
                .active
                .iter()
                .find(|&&(flow, _)| Some(bytes(flow)) == most);
            let &(longest, _) = longest.expect("packets wait");
            waiting.drop_first(DropReason::Overflow, |packet| packet.flow == longest);
            self.forget_empty(waiting);
        }
    }

    fn take(&mut self, _now: Time, waiting: &mut Waiting) -> Option<Packet> {
        let packet = loop {
            let (flow, deficit) = self.active.front_mut()?;
            let flow = *flow;
            let Some(quantum) = self.quantum else {
                self.active.rotate_left(1);
                break waiting.take(|packet| packet.flow == flow);
            };
            if !self.in_turn {
                *deficit += quantum;
                self.in_turn = true;
            }
            let next = waiting
                .first(|packet| packet.flow == flow)
                .expect("it is active");
            let bytes = u64::from(next.bytes);
            if bytes <= *deficit {
                *deficit -= bytes;
                break waiting.take(|packet| packet.flow == flow);
            }
            self.active.rotate_left(1);
            self.in_turn = false;
        };
        self.forget_empty(waiting);
        packet
    }
}

#[test]
fn round_robin_by_packets_and_by_bytes() {
    for limit in LIMITS {
        let quantum = Bytes(700);
        for (config, quantum) in [
            (QueueConfig::RoundRobin(RoundRobinConfig { limit }), None),
            (QueueConfig::Drr(DrrConfig { limit, quantum }), Some(700)),
        ] {
            let rule = || Turns {
                limit,
                quantum,
                active: VecDeque::new(),
                in_turn: false,
            };
            assert_follows(&config, rule);
        }
    }
}

/// The lists of RFC 8290 section 4: new queues come first, each until its quantum is used up. `A` is the state of a
/// queue's active queue management.
struct Lists<A> {
    sorting: Sorting,
    emptied: Emptied,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    credits: Vec<i64>,
    managed: Vec<A>,
}

/// Assignment of flows to queues.
enum Sorting {
    Hash(FlowHash),
    /// Each flow has its own queue, as in CAKE if there are as few flows as in these tests.
    Own,
}

/// Treatment of a queue in the list of new queues that is empty at its turn.
enum Emptied {
    /// The empty new queue joins the old queues (RFC 8290 section 4.2).
    Old,
    /// The empty new queue joins the old queues if there are any; otherwise it leaves the lists (Linux,
    /// `fq_codel_dequeue`, `fq_pie_qdisc_dequeue`).
    OldBehindOthers,
    /// The empty new queue leaves the lists (Linux, `cake_dequeue`).
    Gone,
}

const QUEUES: u32 = 3;

impl Sorting {
    fn queue(&self, packet: &Packet) -> usize {
        match self {
            Self::Hash(hash) => hash.queue(packet, QUEUES) as usize,
            Self::Own => packet.flow as usize,
        }
    }
}

impl<A: Clone> Lists<A> {
    fn new(linux: bool, managed: A, stream: &mut Stream) -> Self {
        let emptied = if linux {
            Emptied::OldBehindOthers
        } else {
            Emptied::Old
        };
        let sorting = Sorting::Hash(FlowHash::new(stream));
        Self::of(sorting, emptied, vec![managed; QUEUES as usize])
    }

    fn of(sorting: Sorting, emptied: Emptied, managed: Vec<A>) -> Self {
        Self {
            sorting,
            emptied,
            new: VecDeque::new(),
            old: VecDeque::new(),
            credits: vec![0; managed.len()],
            managed,
        }
    }

    fn queue(&self, packet: &Packet) -> usize {
        self.sorting.queue(packet)
    }

    /// Returns the queues on the lists of new and of old queues, in the order of their turns.
    fn in_turn(&self) -> Vec<usize> {
        self.new.iter().chain(&self.old).copied().collect()
    }

    /// Returns the queue in `among` with the most bytes, and its number of bytes. Of equal queues, returns the first.
    fn longest(&self, among: &[usize], waiting: &Waiting) -> (usize, u64) {
        let bytes = |queue: usize| waiting.bytes(|packet| self.queue(packet) == queue);
        let most = among.iter().map(|&queue| bytes(queue)).max();
        let longest = among.iter().find(|&&queue| Some(bytes(queue)) == most);
        (*longest.expect("packets wait"), most.expect("packets wait"))
    }

    /// Adds the queue of the packet that has just arrived to the new queues, unless the queue is new or old already.
    fn join(&mut self, waiting: &Waiting) {
        let queue = self.queue(waiting.packets.back().expect("it has just come"));
        if !self.new.contains(&queue) && !self.old.contains(&queue) {
            self.new.push_back(queue);
            self.credits[queue] = 1500;
        }
    }

    /// Returns the packet to send. `take` removes the first packet that satisfies the condition passed to it.
    fn next(
        &mut self,
        mut take: impl FnMut(&mut A, &dyn Fn(&Packet) -> bool) -> Option<Packet>,
    ) -> Option<Packet> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let queue = *list.front()?;
            if self.credits[queue] <= 0 {
                self.credits[queue] += 1500;
                list.pop_front();
                self.old.push_back(queue);
                continue;
            }
            let of = |packet: &Packet| self.sorting.queue(packet) == queue;
            if let Some(packet) = take(&mut self.managed[queue], &of) {
                self.credits[queue] -= i64::from(packet.bytes);
                return Some(packet);
            }
            list.pop_front();
            let turns_old = match self.emptied {
                Emptied::Old => true,
                Emptied::OldBehindOthers => !self.old.is_empty(),
                Emptied::Gone => false,
            };
            if is_new && turns_old {
                self.old.push_back(queue);
            }
        }
    }
}

struct FqCoDel {
    lists: Lists<CoDel>,
    linux: bool,
    limit: Capacity,
    batch: u64,
}

impl Rule for FqCoDel {
    fn draws(&self) -> (Draws, bool) {
        (Draws::Never, true)
    }

    fn on_arrival(&mut self, _: &Arrival, _: &Packet, _: &mut Waiting) -> Verdict {
        Verdict::Accept
    }

    /// Drops packets of the longest queue: half of its packets or, in Linux, half of its bytes (`fq_codel_drop`), but
    /// at most a batch (RFC 8290 section 4.1). Linux adds these drops to the queue's count of CoDel's drops.
    fn make_room(&mut self, _now: Time, waiting: &mut Waiting) {
        self.lists.join(waiting);
        while exceed(self.limit, waiting) {
            let in_turn = if self.linux {
                (0..QUEUES as usize).collect()
            } else {
                self.lists.in_turn()
            };
            let (longest, most) = self.lists.longest(&in_turn, waiting);
            let of = |packet: &Packet| self.lists.queue(packet) == longest;
            let pkts = waiting.packets.iter().filter(|packet| of(packet)).count() as u64;
            let mut drops = 0;
            loop {
                waiting.drop_first(DropReason::Overflow, of);
                drops += 1;
                let half = if self.linux {
                    most - waiting.bytes(of) >= most / 2
                } else {
                    drops >= pkts / 2
                };
                if half || drops == self.batch {
                    break;
                }
            }
            if self.linux {
                self.lists.managed[longest].count += drops;
            }
        }
    }

    fn take(&mut self, now: Time, waiting: &mut Waiting) -> Option<Packet> {
        let linux = self.linux;
        // In Linux, the bytes of all queues together count.
        self.lists
            .next(|codel, of| codel.deque(now, waiting, of, |packet: &Packet| linux || of(packet)))
    }
}

#[test]
fn fq_codel() {
    for variant in [CoDelVariant::Rfc8289, CoDelVariant::Linux] {
        for (ecn, batch, limit) in [
            (false, 64, LIMITS[0]),
            (true, 2, LIMITS[0]),
            (true, 64, Capacity::Bytes(12_000)),
        ] {
            let control = codel_parameters(variant);
            let config = FqCoDelConfig {
                limit,
                ecn,
                drop_batch: batch,
                flows: FlowQueuesParameters {
                    quantum: Bytes(1500),
                    queues: QUEUES,
                },
                control,
            };
            let linux = variant == CoDelVariant::Linux;
            let rule = || FqCoDel {
                lists: Lists::new(linux, CoDel::new(control, ecn), &mut stream()),
                linux,
                limit,
                batch: batch.into(),
            };
            assert_follows(&QueueConfig::FqCoDel(config), rule);
        }
    }
}

struct FqPie {
    lists: Lists<Either>,
    ecn: bool,
    stream: Stream,
}

impl FqPie {
    fn bytes(&self, queue: usize, waiting: &Waiting) -> u64 {
        waiting.bytes(|packet| self.lists.queue(packet) == queue)
    }
}

impl Rule for FqPie {
    fn interval(&self) -> Option<Span> {
        Some(Span::from_millis(6))
    }

    fn draws(&self) -> (Draws, bool) {
        (Draws::InCongestion, true)
    }

    fn on_arrival(&mut self, arrival: &Arrival, packet: &Packet, waiting: &mut Waiting) -> Verdict {
        let queue = self.lists.queue(packet);
        let bytes = self.bytes(queue, waiting);
        let pie = &mut self.lists.managed[queue];
        let full = refuse_beyond(FEW, arrival, waiting);
        if full != Verdict::Accept {
            pie.overflow();
            return full;
        }
        pie.decide(self.ecn && arrival.ecn_capable, bytes, &mut self.stream)
    }

    fn make_room(&mut self, _now: Time, waiting: &mut Waiting) {
        self.lists.join(waiting);
    }

    fn take(&mut self, now: Time, waiting: &mut Waiting) -> Option<Packet> {
        self.lists.next(|pie, of| {
            let packet = waiting.take(of)?;
            pie.left(&packet, now, waiting.first(of).is_some());
            Some(packet)
        })
    }

    fn update(&mut self, _now: Time, waiting: &Waiting) {
        for queue in 0..QUEUES as usize {
            let bytes = self.bytes(queue, waiting);
            self.lists.managed[queue].calculate(bytes);
        }
    }

    fn probability(&self) -> Option<f64> {
        let all = self.lists.managed.iter().map(Either::probability);
        all.reduce(f64::max)
    }
}

/// Compares FQ-PIE with its second implementation, without and with ECN. Drops are derandomised only with ECN.
#[test]
fn fq_pie() {
    for variant in [PieVariant::Rfc8033, PieVariant::Linux] {
        for ecn in [false, true] {
            let control = pie_parameters(variant, ecn);
            let config = FqPieConfig {
                limit: Capacity::Packets(FEW),
                ecn,
                flows: FlowQueuesParameters {
                    quantum: Bytes(1500),
                    queues: QUEUES,
                },
                control,
            };
            let linux = variant == PieVariant::Linux;
            let rule = || {
                let mut stream = stream();
                FqPie {
                    lists: Lists::new(linux, Either::new(control, true), &mut stream),
                    ecn,
                    stream,
                }
            };
            assert_follows(&QueueConfig::FqPie(config), rule);
        }
    }
}

/// CAKE by `cake_enqueue`, `cake_drop` and `cake_dequeue` of Linux 6.18 (`sch_cake.c`), with a queue for each flow and
/// its own COBALT.
struct Cake {
    lists: Lists<Cobalt>,
    limit: Capacity,
    stream: Stream,
}

impl Rule for Cake {
    fn draws(&self) -> (Draws, bool) {
        (Draws::InCongestion, false)
    }

    fn on_arrival(&mut self, arrival: &Arrival, packet: &Packet, _: &mut Waiting) -> Verdict {
        self.lists.managed[packet.flow as usize].rest(arrival.now);
        Verdict::Accept
    }

    /// Drops the first packet of the queue with the most bytes, and reports the overflow to this queue's COBALT.
    fn make_room(&mut self, now: Time, waiting: &mut Waiting) {
        self.lists.join(waiting);
        while exceed(self.limit, waiting) {
            let (longest, _) = self.lists.longest(&self.lists.in_turn(), waiting);
            waiting.drop_first(DropReason::Overflow, |packet| {
                packet.flow as usize == longest
            });
            self.lists.managed[longest].queue_full(now);
        }
    }

    fn take(&mut self, now: Time, waiting: &mut Waiting) -> Option<Packet> {
        let stream = &mut self.stream;
        self.lists
            .next(|cobalt, of| cobalt.deque(now, waiting, of, stream))
    }

    fn probability(&self) -> Option<f64> {
        self.lists.managed.iter().map(Cobalt::blue).reduce(f64::max)
    }
}

#[test]
fn cake() {
    for limit in LIMITS {
        for ecn in [false, true] {
            let control = CobaltParameters {
                ecn,
                target: Span::from_millis(2),
                interval: Span::from_millis(15),
                mtu_time: Span::from_micros(500),
                blue_up: 1.0 / 64.0,
                blue_down: 1.0 / 512.0,
            };
            let config = CakeConfig {
                limit,
                quantum: Bytes(1500),
                control,
            };
            let rule = || {
                let mut stream = stream();
                // The hash is perturbed by the first random number.
                let _ = FlowHash::new(&mut stream);
                Cake {
                    lists: Lists::of(Sorting::Own, Emptied::Gone, vec![Cobalt::new(control); 5]),
                    limit,
                    stream,
                }
            };
            assert_follows(&QueueConfig::Cake(config), rule);
        }
    }
}
