//! Packets that arrive at a backbone router from other regions.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use super::fifo::Fifo;
use super::packet::Packet;

/// A packet on a link, and when it arrives.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct InFlight {
    pub(crate) time: Time,
    pub(crate) packet: Packet,
}

/// What arrives at a backbone router: packets that stay in the region, each an event, and packets that
/// leave it again over another link. Those that arrive at the same time are taken in this order: the ones
/// that leave again before the others, then by link.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Arrivals {
    /// Numbers of the links.
    links: Vec<u16>,
    staying: Merged,
    passing: Merged,
}

impl Arrivals {
    pub(super) fn new(links: impl Iterator<Item = u16>) -> Self {
        let links: Vec<u16> = links.collect();
        Self {
            staying: Merged::new(links.len()),
            passing: Merged::new(links.len()),
            links,
        }
    }

    /// The links that lead here.
    pub(super) fn links(&self) -> &[u16] {
        &self.links
    }

    /// Receives packets on a link, in order of time; `stays` says which ones stay.
    pub(super) fn receive(
        &mut self,
        link: usize,
        packets: &mut Vec<InFlight>,
        stays: impl Fn(&Packet) -> bool,
    ) {
        for one in packets.drain(..) {
            let fifos = if stays(&one.packet) {
                &mut self.staying.fifos
            } else {
                &mut self.passing.fifos
            };
            fifos[link].push(one);
        }
        self.staying.find_first();
        self.passing.find_first();
    }

    /// Those of packets that stay in the region which arrive by `end`.
    pub(super) fn staying_until(&self, end: Time) -> impl Iterator<Item = &Packet> {
        let fifos = self.staying.fifos.iter();
        let due = fifos.flat_map(move |fifo| fifo.iter().take_while(move |one| one.time <= end));
        due.map(|one| &one.packet)
    }

    /// When the next packet that stays in the region arrives; never if there is none.
    #[inline]
    pub(super) fn next_staying(&self) -> Time {
        self.staying.first.0
    }

    /// Removes it.
    #[inline]
    pub(super) fn take_staying(&mut self) -> Option<InFlight> {
        self.staying.take()
    }

    /// Removes the next packet that leaves the region again, if it arrives by `limit`.
    #[inline]
    pub(super) fn take_passing(&mut self, limit: Time) -> Option<InFlight> {
        if self.passing.first.0 > limit {
            return None;
        }
        self.passing.take()
    }

    /// How many of the packets on a link arrive after `time`.
    pub(super) fn later_than(&self, link: usize, time: Time) -> usize {
        let fifos = [&self.staying, &self.passing].map(|merged| &merged.fifos[link]);
        let later = |fifo: &Fifo<InFlight>| {
            let later = fifo.iter().rev().take_while(|one| one.time > time);
            later.count()
        };
        fifos.into_iter().map(later).sum()
    }
}

/// A FIFO for each link, and which one is next.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Merged {
    fifos: Vec<Fifo<InFlight>>,
    /// When its first packet arrives, and its number.
    first: (Time, usize),
}

impl Merged {
    fn new(links: usize) -> Self {
        Self {
            fifos: vec![Fifo::default(); links],
            first: (Time::NEVER, 0),
        }
    }

    #[inline]
    fn find_first(&mut self) {
        let mut first = (Time::NEVER, 0);
        for (link, fifo) in self.fifos.iter().enumerate() {
            let time = fifo.first().map_or(Time::NEVER, |one| one.time);
            first = if time < first.0 { (time, link) } else { first };
        }
        self.first = first;
    }

    #[inline]
    fn take(&mut self) -> Option<InFlight> {
        let taken = self.fifos.get_mut(self.first.1)?.pop();
        self.find_first();
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{FlowId, Kind};

    /// Packets that arrive at these times; those of an even slot stay.
    fn packets<const N: usize>(times_and_slots: [(u64, u32); N]) -> Vec<InFlight> {
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
        times_and_slots.map(packet).to_vec()
    }

    #[test]
    fn arrivals_of_all_links_are_taken_in_order_of_time_then_of_link() {
        let (at, stays) = (Time::from_ps, |packet: &Packet| {
            packet.flow().slot.is_multiple_of(2)
        });
        let mut arrivals = Arrivals::new([7, 9].into_iter());
        arrivals.receive(0, &mut packets([(1, 2), (3, 1), (5, 4), (9, 6)]), stays);
        arrivals.receive(1, &mut packets([(2, 3), (3, 5), (5, 8)]), stays);
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
