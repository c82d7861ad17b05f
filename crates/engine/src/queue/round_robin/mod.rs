//! A queue for each flow, served in turn. One limit applies to all queues together. There are two variants. In Nagle's
//! fair queueing (RFC 970), each turn is one packet; packet pairs rely on this. In deficit round robin, each flow gets
//! an equal share in bytes (Shreedhar and Varghese, "Efficient fair queuing using deficit round robin", ToN 4(3),
//! 1996).
//!
//! Above the limit, packets are dropped from the head of the longest queue, as in ns-2.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use longhaul_keys::{Table, keys};
use longhaul_units::{Bytes, Rate, Time};

use super::flow::FlowNumbers;
use super::sub_queues::SubQueues;
use super::{Arrival, Capacity, DropReason, Effects, PacketQueue, Parameters};
use crate::packet::Packet;
use crate::random::Stream;

keys! {
    /// Parameters of packet-by-packet round robin.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RoundRobinConfig {
        /// Capacity of all queues together. A capacity given as a time means the data that the link sends in this time.
        pub limit: Capacity = Capacity::LIMIT,
    }
}

impl Parameters for RoundRobinConfig {
    type Queue = RoundRobin;

    const KIND: &'static str = "round-robin";
    const TITLE: &'static str = "Round robin";
    const DESCRIPTION: &'static str = "A queue for each flow, served packet by packet in turn.";
    const SOURCE: &'static str = "Nagle, RFC 970";
    const PER_FLOW: bool = true;
    const OUTSIDE_LINKS: bool = true;

    fn read(values: &Table, _rate: Rate) -> Self {
        Self::of(values)
    }

    fn queue(&self, _stream: Stream) -> RoundRobin {
        RoundRobin::new(self.limit, None)
    }
}

/// The state of round robin.
#[derive(Clone, Debug)]
pub(crate) struct RoundRobin {
    limit: Capacity,
    /// Bytes added to the deficit of a flow at each turn; `None` for one packet per turn.
    quantum: Option<Bytes>,
    /// Numbers of the flows with packets; `packets` and `deficits` are indexed by these numbers.
    flows: FlowNumbers,
    packets: SubQueues,
    /// Deficit of each flow: the bytes that it may still send in its turn.
    deficits: Vec<u64>,
    /// Flows with packets; it is the turn of the first one.
    active: VecDeque<u32>,
    /// True if the first flow has received its quantum for this turn.
    in_turn: bool,
}

impl RoundRobin {
    pub(super) fn new(limit: Capacity, quantum: Option<Bytes>) -> Self {
        Self {
            limit,
            quantum,
            flows: FlowNumbers::default(),
            packets: SubQueues::default(),
            deficits: Vec::new(),
            active: VecDeque::new(),
            in_turn: false,
        }
    }

    fn drop_from_longest(&mut self, effects: &mut Effects) {
        let longest = self.packets.longest(self.active.iter().copied());
        let flow = longest.expect("too much waits");
        let packet = self.packets.pop(flow).expect("active flows have packets");
        effects.drop(packet, DropReason::Overflow);
        if self.packets.is_empty(flow) {
            let place = self.active.iter().position(|&active| active == flow);
            self.active.remove(place.expect("it was active"));
            self.in_turn &= place != Some(0);
            self.forget(flow);
        }
    }

    /// Discards the deficit of a flow without packets, and releases its number.
    fn forget(&mut self, flow: u32) {
        self.deficits[flow as usize] = 0;
        self.flows.release(flow);
    }

    fn dequeue_one_each(&mut self) -> Option<Packet> {
        let flow = self.active.pop_front()?;
        let packet = self.packets.pop(flow);
        if self.packets.is_empty(flow) {
            self.forget(flow);
        } else {
            self.active.push_back(flow);
        }
        packet
    }
}

impl PacketQueue for RoundRobin {
    fn enqueue(
        &mut self,
        packet: Packet,
        _arrival: &Arrival,
        effects: &mut Effects,
    ) -> Result<(), DropReason> {
        let flow = self.flows.number(&packet);
        self.packets.grow_to(self.flows.len());
        self.deficits.resize(self.flows.len(), 0);
        if self.packets.is_empty(flow) {
            self.active.push_back(flow);
        }
        self.packets.push(flow, packet);
        while self.packets.exceed(self.limit) {
            self.drop_from_longest(effects);
        }
        Ok(())
    }

    fn dequeue(&mut self, _now: Time, _effects: &mut Effects) -> Option<Packet> {
        let Some(quantum) = self.quantum else {
            return self.dequeue_one_each();
        };
        loop {
            let flow = *self.active.front()?;
            let deficit = &mut self.deficits[flow as usize];
            if !self.in_turn {
                *deficit += quantum.0;
                self.in_turn = true;
            }
            let next = self.packets.first(flow).expect("active flows have packets");
            let bytes = u64::from(next.bytes);
            if bytes > *deficit {
                self.active.rotate_left(1);
                self.in_turn = false;
                continue;
            }
            *deficit -= bytes;
            let packet = self.packets.pop(flow);
            if self.packets.is_empty(flow) {
                self.active.pop_front();
                self.in_turn = false;
                self.forget(flow);
            }
            return packet;
        }
    }

    fn waiting(&self) -> (u64, u64) {
        self.packets.waiting()
    }
}
