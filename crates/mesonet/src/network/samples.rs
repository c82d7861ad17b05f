//! Samples of queues and links at the end of an interval.

use super::Network;
use super::arrivals::InFlight;
use crate::records::QueueSample;

impl Network {
    /// Returns a sample of the queue of each backbone router, with the router's number in the
    /// network.
    pub(crate) fn sample_backbone(&self) -> impl Iterator<Item = (u16, QueueSample)> {
        let queues = self.backbone.iter().map(|queue| queue.sample(self.now));
        self.layout.backbone.iter().copied().zip(queues)
    }

    /// Returns samples of both queues (up and down) of each point of presence, with its number in
    /// the network.
    pub(crate) fn sample_pops(&self) -> impl Iterator<Item = (u16, (QueueSample, QueueSample))> {
        let samples = (0..self.layout.pops.len()).map(|pop| match self.shared.get(pop) {
            Some(shared) => shared.sample(),
            None => self.pops[pop].sample(self.now),
        });
        self.layout.pops.iter().copied().zip(samples)
    }

    /// Returns samples of both queues (up and down) of each access router, with its number in the
    /// network.
    pub(crate) fn sample_access(&self) -> impl Iterator<Item = (u16, (QueueSample, QueueSample))> {
        let first = self.layout.pops.len();
        let samples = (0..self.layout.access.len()).map(move |access| {
            match self.shared.get(first + access) {
                Some(shared) => shared.sample(),
                None => self.access[access].sample(self.now),
            }
        });
        self.layout.access.iter().copied().zip(samples)
    }

    /// Returns, for each link that begins in the region, its number in the network and the number of packets that have
    /// entered it so far. Packets that have already been handed to another region are counted, even if they enter the
    /// link later.
    pub(crate) fn entered(&self) -> impl Iterator<Item = (u16, u64)> {
        self.out_links.iter().map(|link| {
            let entered = self.now + link.delay;
            let late = |one: &&InFlight| one.time > entered;
            let ahead = match link.within {
                Some(fifo) => self.fifos[fifo].iter().rev().take_while(late).count(),
                None => link.outbox.later_than(entered),
            };
            (link.id, link.sent - ahead as u64)
        })
    }
}
