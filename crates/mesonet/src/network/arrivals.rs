//! Packets that arrive at a backbone router from other regions.

use std::collections::VecDeque;

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use super::packet::Packet;

/// A packet on its way to the next element, or in process at a host, with the time of its arrival or of the end of the
/// process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct InFlight {
    pub(crate) time: Time,
    pub(crate) packet: Packet,
}

/// Packets on a link to another region, in order of arrival. Packets with a destination in that region are separate
/// from packets that pass through it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Crossing {
    packets: [Vec<InFlight>; 2],
}

impl Crossing {
    #[inline]
    pub(super) fn push(&mut self, one: InFlight, stays: bool) {
        self.packets[usize::from(stays)].push(one);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.packets.iter().all(Vec::is_empty)
    }

    /// Returns the number of packets that arrive after `time`.
    pub(crate) fn later_than(&self, time: Time) -> usize {
        let later = |packets: &Vec<InFlight>| {
            let later = packets.iter().rev().take_while(|one| one.time > time);
            later.count()
        };
        self.packets.iter().map(later).sum()
    }
}

/// Packets that arrive at a backbone router from other regions.
///
/// An arrival is an event only if the packet's destination is in the region. Other packets pass through: they leave the
/// region over another link. Simultaneous arrivals are processed in the order of links, but packets that pass through
/// are processed first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Arrivals {
    /// Numbers of the links that lead from other regions to the router.
    links: Vec<u16>,
    staying: MergedLanes,
    passing: MergedLanes,
}

impl Arrivals {
    pub(super) fn new(links: impl Iterator<Item = u16>) -> Self {
        let links: Vec<u16> = links.collect();
        Self {
            staying: MergedLanes::new(links.len()),
            passing: MergedLanes::new(links.len()),
            links,
        }
    }

    /// Returns the numbers of the links that lead from other regions to this router.
    pub(super) fn links(&self) -> &[u16] {
        &self.links
    }

    /// Takes over `packets` that arrive on the link with index `link`.
    pub(super) fn receive(&mut self, link: usize, packets: &mut Crossing) {
        let [passing, staying] = &mut packets.packets;
        self.passing.receive(link, passing);
        self.staying.receive(link, staying);
    }

    /// Returns the packets that arrive by `end` and have a destination in the region.
    pub(super) fn staying_until(&self, end: Time) -> impl Iterator<Item = &Packet> {
        let lanes = self.staying.lanes.iter();
        let due = lanes.flat_map(move |lane| lane.iter().take_while(move |one| one.time <= end));
        due.map(|one| &one.packet)
    }

    /// Returns the arrival time of the next packet with a destination in the region; [`Time::NEVER`] if there is none.
    #[inline]
    pub(super) fn next_staying(&self) -> Time {
        self.staying.first.0
    }

    /// Returns the arrival time of the next packet with a destination outside the region;
    /// [`Time::NEVER`] if there is none.
    #[inline]
    pub(super) fn next_passing(&self) -> Time {
        self.passing.first.0
    }

    /// Removes and returns the next packet whose destination is in this region of the network; `None` if there is none.
    #[inline]
    pub(super) fn take_staying(&mut self) -> Option<InFlight> {
        self.staying.take()
    }

    /// Removes and returns the next packet with a destination outside the region; `None` if there is
    /// none, or if it arrives after `limit`.
    #[inline]
    pub(super) fn take_passing(&mut self, limit: Time) -> Option<InFlight> {
        if self.passing.first.0 > limit {
            return None;
        }
        self.passing.take()
    }

    /// Returns the number of packets on the link with index `link` that arrive after `time`.
    pub(super) fn later_than(&self, link: usize, time: Time) -> usize {
        let lanes = [&self.staying, &self.passing].map(|merged| &merged.lanes[link]);
        let later = |lane: &Lane| {
            let later = lane.iter().rev().take_while(|one| one.time > time);
            later.count()
        };
        lanes.into_iter().map(later).sum()
    }
}

/// The packets on several links, merged by their time of arrival.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct MergedLanes {
    lanes: Vec<Lane>,
    /// Time of arrival of the first packet on each link.
    times: Vec<Time>,
    /// Earliest of `times`, and the index of its link.
    first: (Time, usize),
}

impl MergedLanes {
    fn new(links: usize) -> Self {
        Self {
            lanes: vec![Lane::default(); links],
            times: vec![Time::NEVER; links],
            first: (Time::NEVER, 0),
        }
    }

    fn receive(&mut self, link: usize, packets: &mut Vec<InFlight>) {
        self.lanes[link].receive(packets);
        self.times[link] = self.lanes[link].next();
        self.find_first();
    }

    #[inline]
    fn find_first(&mut self) {
        let mut first = (Time::NEVER, 0);
        for (link, &time) in self.times.iter().enumerate() {
            first = if time < first.0 { (time, link) } else { first };
        }
        self.first = first;
    }

    #[inline]
    fn take(&mut self) -> Option<InFlight> {
        let link = self.first.1;
        let lane = self.lanes.get_mut(link)?;
        let taken = lane.take();
        self.times[link] = lane.next();
        self.find_first();
        taken
    }
}

/// Packets on a link from another region, in order of arrival. They stay in the batches in which
/// that region hands them over, so no packet is copied.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Lane {
    /// The batch from which packets are taken now.
    batch: Vec<InFlight>,
    /// Number of packets taken from `batch`.
    taken: usize,
    later: VecDeque<Vec<InFlight>>,
    /// Empty batches for reuse.
    spare: Vec<Vec<InFlight>>,
}

impl Lane {
    fn receive(&mut self, packets: &mut Vec<InFlight>) {
        if packets.is_empty() {
            return;
        }
        let batch = std::mem::replace(packets, self.spare.pop().unwrap_or_default());
        self.later.push_back(batch);
        if self.taken == self.batch.len() {
            self.turn();
        }
    }

    /// Replaces the first batch by the next batch, if there is one. All packets of the first have been taken.
    #[cold]
    fn turn(&mut self) {
        let Some(next) = self.later.pop_front() else {
            return;
        };
        self.taken = 0;
        let mut over = std::mem::replace(&mut self.batch, next);
        over.clear();
        self.spare.push(over);
    }

    /// Returns the time of arrival of the next packet; [`Time::NEVER`] without one.
    #[inline]
    fn next(&self) -> Time {
        let next = self.batch.get(self.taken);
        next.map_or(Time::NEVER, |one| one.time)
    }

    #[inline]
    fn take(&mut self) -> Option<InFlight> {
        let taken = *self.batch.get(self.taken)?;
        self.taken += 1;
        if self.taken == self.batch.len() {
            self.turn();
        }
        Some(taken)
    }

    /// Returns the packets in order of arrival.
    fn iter(&self) -> impl DoubleEndedIterator<Item = &InFlight> {
        let later = self.later.iter().flatten();
        self.batch[self.taken..].iter().chain(later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{FlowId, Kind};

    /// Returns packets with the given arrival times and slots. The destination of packets with an even
    /// slot is in the region.
    fn packets<const N: usize>(times_and_slots: [(u64, u32); N]) -> Crossing {
        let packet = |(time, slot)| InFlight {
            time: Time::from_ps(time),
            packet: Packet::new(
                Kind::Data,
                0,
                FlowId {
                    slot,
                    generation: 0,
                },
                0,
                Time::ZERO,
            ),
        };
        let mut packets = Crossing::default();
        for one in times_and_slots {
            packets.push(packet(one), one.1.is_multiple_of(2));
        }
        packets
    }

    #[test]
    fn arrivals_of_all_links_are_taken_in_order_of_time_then_of_link() {
        let at = Time::from_ps;
        let mut arrivals = Arrivals::new([7, 9].into_iter());
        // Packets of two windows on the first link.
        arrivals.receive(0, &mut packets([(1, 2), (3, 1), (5, 4)]));
        arrivals.receive(0, &mut packets([(9, 6)]));
        arrivals.receive(1, &mut packets([(2, 3), (3, 5), (5, 8)]));
        let due = arrivals.staying_until(at(5));
        assert_eq!(
            due.map(|packet| packet.flow().slot).collect::<Vec<_>>(),
            [2, 4, 8]
        );
        assert_eq!(
            (arrivals.later_than(0, at(3)), arrivals.later_than(1, at(5))),
            (2, 0)
        );
        let slot = |one: Option<InFlight>| one.map(|one| one.packet.flow().slot);
        let passing: Vec<_> = std::iter::from_fn(|| slot(arrivals.take_passing(at(3)))).collect();
        assert_eq!(passing, [3, 1, 5]);
        let mut staying = Vec::new();
        while arrivals.next_staying() < Time::NEVER {
            staying.push((arrivals.next_staying(), slot(arrivals.take_staying())));
        }
        let expected = [(1, 2), (5, 4), (5, 8), (9, 6)];
        assert_eq!(staying, expected.map(|(time, slot)| (at(time), Some(slot))));
        assert!(arrivals.take_staying().is_none() && arrivals.take_passing(at(99)).is_none());
    }
}
