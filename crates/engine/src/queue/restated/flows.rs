//! Disciplines with a queue for each flow: all packets are in one list, from which the flows' turns
//! are derived.

use std::collections::VecDeque;

use longhaul_units::{Bytes, Span, Time};

use super::pie::{Either, parameters as pie_parameters};
use super::sojourn::{CoDel, parameters as codel_parameters, refuse_beyond};
use super::{Rule, Waiting, assert_follows, stream};
use crate::packet::Packet;
use crate::queue::drr::DrrConfig;
use crate::queue::flow_queues::FlowHash;
use crate::queue::round_robin::RoundRobinConfig;
use crate::queue::{
    Arrival, Capacity, CoDelVariant, Draws, DropReason, FlowQueuesParameters, FqCoDelConfig,
    FqPieConfig, PieVariant, QueueConfig, Verdict,
};
use crate::random::Stream;

const FEW: u64 = 12;

/// Flows in turn, each with one packet (RFC 970) or a quantum (Shreedhar and Varghese, ToN 4(3),
/// 1996, figure 5). Above the limit, the longest queue loses its first packet; of several longest
/// queues, the one whose turn is next.
struct Turns {
    quantum: Option<u64>,
    /// Flows with packets, each with its remaining credit.
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
        while waiting.len() as u64 > FEW {
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
    let limit = Capacity::Packets(FEW);
    for (config, quantum) in [
        (QueueConfig::RoundRobin(RoundRobinConfig { limit }), None),
        (
            QueueConfig::Drr(DrrConfig {
                limit,
                quantum: Bytes(700),
            }),
            Some(700),
        ),
    ] {
        let mut rule = Turns {
            quantum,
            active: VecDeque::new(),
            in_turn: false,
        };
        assert_follows(&config, &mut rule);
    }
}

/// The lists of RFC 8290 section 4: new queues first, each for its quantum. In Linux, a new queue
/// that is empty does not become old if there is no old one (`fq_codel_dequeue`).
struct Lists<A> {
    hash: FlowHash,
    linux: bool,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    credits: Vec<i64>,
    managed: Vec<A>,
}

const QUEUES: u32 = 3;

impl<A: Clone> Lists<A> {
    fn new(linux: bool, managed: A, stream: &mut Stream) -> Self {
        Self {
            hash: FlowHash::new(stream),
            linux,
            new: VecDeque::new(),
            old: VecDeque::new(),
            credits: vec![0; QUEUES as usize],
            managed: vec![managed; QUEUES as usize],
        }
    }

    fn queue(&self, packet: &Packet) -> usize {
        self.hash.queue(packet, QUEUES) as usize
    }

    fn join(&mut self, queue: usize) {
        if !self.new.contains(&queue) && !self.old.contains(&queue) {
            self.new.push_back(queue);
            self.credits[queue] = 1500;
        }
    }

    /// Returns the packet to send; `take` removes a packet from a queue.
    fn next(
        &mut self,
        mut take: impl FnMut(&mut A, &FlowHash, usize) -> Option<Packet>,
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
            if let Some(packet) = take(&mut self.managed[queue], &self.hash, queue) {
                self.credits[queue] -= i64::from(packet.bytes);
                return Some(packet);
            }
            list.pop_front();
            if is_new && !(self.linux && self.old.is_empty()) {
                self.old.push_back(queue);
            }
        }
    }
}

struct FqCoDel {
    lists: Lists<CoDel>,
    batch: u64,
}

impl Rule for FqCoDel {
    fn draws(&self) -> (Draws, bool) {
        (Draws::Never, true)
    }

    fn on_arrival(&mut self, _: &Arrival, _: &Packet, _: &mut Waiting) -> Verdict {
        Verdict::Accept
    }

    /// Drops half of the packets of the longest queue, at most a batch (RFC 8290 section 4.1); in
    /// Linux half of its bytes (`fq_codel_drop`), which count as drops of that queue's CoDel.
    fn make_room(&mut self, _now: Time, waiting: &mut Waiting) {
        let newest = self
            .lists
            .queue(waiting.packets.back().expect("it has just come"));
        self.lists.join(newest);
        while waiting.len() as u64 > FEW {
            let hash = &self.lists.hash;
            let of = |packet: &Packet, queue: usize| hash.queue(packet, QUEUES) as usize == queue;
            let bytes = |queue: usize| waiting.bytes(|packet| of(packet, queue));
            let in_turn: Vec<usize> = if self.lists.linux {
                (0..QUEUES as usize).collect()
            } else {
                self.lists
                    .new
                    .iter()
                    .chain(&self.lists.old)
                    .copied()
                    .collect()
            };
            let most = in_turn
                .iter()
                .map(|&queue| bytes(queue))
                .max()
                .expect("packets wait");
            let longest = *in_turn
                .iter()
                .find(|&&queue| bytes(queue) == most)
                .expect("one is");
            let pkts = waiting
                .packets
                .iter()
                .filter(|packet| of(packet, longest))
                .count() as u64;
            let mut drops = 0;
            loop {
                waiting.drop_first(DropReason::Overflow, |packet| of(packet, longest));
                drops += 1;
                let left = waiting.bytes(|packet| of(packet, longest));
                let half = if self.lists.linux {
                    most - left >= most / 2
                } else {
                    drops >= pkts / 2
                };
                if half || drops == self.batch {
                    break;
                }
            }
            if self.lists.linux {
                self.lists.managed[longest].count += drops;
            }
        }
    }

    fn take(&mut self, now: Time, waiting: &mut Waiting) -> Option<Packet> {
        let linux = self.lists.linux;
        self.lists.next(|codel, hash, queue| {
            let of = |packet: &Packet| hash.queue(packet, QUEUES) as usize == queue;
            // In Linux, the bytes of all queues count.
            codel.deque(now, waiting, of, |packet: &Packet| linux || of(packet))
        })
    }
}

#[test]
fn fq_codel() {
    for variant in [CoDelVariant::Rfc8289, CoDelVariant::Linux] {
        for (ecn, batch) in [(false, 64), (true, 2)] {
            let control = codel_parameters(variant);
            let config = FqCoDelConfig {
                limit: Capacity::Packets(FEW),
                ecn,
                drop_batch: batch,
                flows: FlowQueuesParameters {
                    quantum: Bytes(1500),
                    queues: QUEUES,
                },
                control,
            };
            let linux = variant == CoDelVariant::Linux;
            let mut rule = FqCoDel {
                lists: Lists::new(linux, CoDel::new(control, ecn), &mut stream()),
                batch: batch.into(),
            };
            assert_follows(&QueueConfig::FqCoDel(config), &mut rule);
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
        let newest = self
            .lists
            .queue(waiting.packets.back().expect("it has just come"));
        self.lists.join(newest);
    }

    fn take(&mut self, now: Time, waiting: &mut Waiting) -> Option<Packet> {
        self.lists.next(|pie, hash, queue| {
            let of = |packet: &Packet| hash.queue(packet, QUEUES) as usize == queue;
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

/// Tests FQ-PIE with marks for the flows that can be marked, and drops for the others.
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
            let mut stream = stream();
            let linux = variant == PieVariant::Linux;
            let mut rule = FqPie {
                lists: Lists::new(linux, Either::new(control, true), &mut stream),
                ecn,
                stream,
            };
            assert_follows(&QueueConfig::FqPie(config), &mut rule);
        }
    }
}
