//! Packets between regions: arrivals from other regions, and packets that are handed over to them.

use longhaul_units::Time;

use super::Network;
use super::arrivals::{Crossing, InFlight};
use super::packet::Packet;

impl Network {
    /// Returns all links from other regions. Each link is given by the backbone router at its end, its index among this
    /// router's links from other regions, and its number in the network.
    pub(crate) fn links_in(&self) -> Vec<(u16, usize, u16)> {
        let routers = self.arrivals.iter().enumerate();
        let links = routers.flat_map(|(router, arrivals)| {
            let links = arrivals.links().iter().enumerate();
            links.map(move |(at, &link)| (router as u16, at, link))
        });
        links.collect()
    }

    /// Takes over packets that arrive at backbone router `router` from another region. `at` is the
    /// index of their link among this router's links from other regions.
    pub(crate) fn receive(&mut self, router: u16, at: usize, packets: &mut Crossing) {
        self.arrivals[router as usize].receive(at, packets);
        self.expect_cross_region(router);
    }

    /// Returns the packets that arrive from other regions by `end`, with destinations in this region.
    pub(crate) fn staying_until(&self, end: Time) -> impl Iterator<Item = &Packet> {
        let arrivals = self.arrivals.iter();
        arrivals.flat_map(move |arrivals| arrivals.staying_until(end))
    }

    /// Returns the number of packets on a link from another region to backbone router `router` that
    /// arrive after `time`. `at` is the link's index among the router's links from other regions.
    pub(crate) fn later_than(&self, router: u16, at: usize, time: Time) -> usize {
        self.arrivals[router as usize].later_than(at, time)
    }

    /// Returns, for each link that begins in the region, the link's number and the packets that have not been handed
    /// over yet to another region: none if the link ends in the region.
    pub(crate) fn outboxes(&mut self) -> impl Iterator<Item = (u16, &mut Crossing)> {
        let links = self.out_links.iter_mut();
        links.map(|link| (link.id, &mut link.outbox))
    }

    /// Finishes a step of the simulation, after all events until `until`. Processes the packets that pass through the
    /// region until then, and advances the region's time to `until`.
    pub(crate) fn finish<const TRACED: bool>(&mut self, until: Time) {
        for router in 0..self.backbone.len() as u16 {
            self.pass_through::<TRACED>(router, until);
        }
        self.now = until;
    }

    /// Processes the next packet that arrives at backbone router `router` from another region, on its way to a host in
    /// this region.
    #[inline]
    pub(super) fn arrive_cross_region<const TRACED: bool>(&mut self, router: u16, limit: Time) {
        self.pass_through::<TRACED>(router, self.arrivals[router as usize].next_staying());
        let Some(InFlight { time, packet }) = self.arrivals[router as usize].take_staying() else {
            return;
        };
        self.expect_cross_region(router);
        self.now = time;
        if let Some((departure, hop)) = self.enqueue_at_backbone::<TRACED>(router, time, &packet) {
            self.send_on::<TRACED>(router, hop, departure, packet, limit);
        }
    }

    /// Schedules the next arrival at a backbone router of a packet that comes from another region
    /// and has its destination in this region.
    #[inline]
    fn expect_cross_region(&mut self, router: u16) {
        let time = self.arrivals[router as usize].next_staying();
        self.event_list.set(self.layout.cross_region(router), time);
    }

    /// Processes, until `time`, the packets that pass a backbone router on their way between two other regions.
    #[inline(always)]
    pub(super) fn pass_through<const TRACED: bool>(&mut self, router: u16, time: Time) {
        // This test avoids the call if no packet passes.
        if self.arrivals[router as usize].next_passing() <= time {
            self.pass_some_through::<TRACED>(router, time);
        }
    }

    #[inline(never)]
    fn pass_some_through<const TRACED: bool>(&mut self, router: u16, until: Time) {
        while let Some(InFlight { time, packet }) =
            self.arrivals[router as usize].take_passing(until)
        {
            self.events += 1;
            let queued = self.enqueue_at_backbone::<TRACED>(router, time, &packet);
            if let Some((departure, hop)) = queued {
                self.send_on_link(hop, departure, packet);
            }
        }
    }
}
