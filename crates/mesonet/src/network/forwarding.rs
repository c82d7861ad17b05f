//! Routers forward packets: from one queue to the next, over links, and to hosts.

use longhaul_units::Time;

use super::arrivals::InFlight;
use super::layout::{AccessParent, Hop};
use super::packet::Packet;
use super::{HostEvent, Network};
use crate::records::{Direction, RouterId};

impl Network {
    /// A service ends at a point of presence.
    #[inline]
    pub(super) fn end_service_at_pop<const TRACED: bool>(&mut self, pop: u16, limit: Time) {
        let served = self.shared[pop as usize].serving();
        let packet = self.end_service(pop as usize, served);
        match served {
            Direction::Up => {
                let router = self.layout.parent(pop);
                self.arrive_at_backbone::<TRACED>(router, packet, limit);
            }
            Direction::Down => self.arrive_at_access::<TRACED>(self.now, packet),
        }
    }

    /// A service ends at an access router.
    #[inline]
    pub(super) fn end_service_at_access<const TRACED: bool>(
        &mut self,
        access: u16,
        limit: Time,
    ) -> Option<HostEvent> {
        let router = self.layout.pops.len() + access as usize;
        let served = self.shared[router].serving();
        let packet = self.end_service(router, served);
        match served {
            Direction::Up => {
                self.arrive_from_access::<TRACED>(access, packet, limit);
                None
            }
            Direction::Down => Some(HostEvent::Delivered(packet)),
        }
    }

    /// A packet arrives at the router above an access router.
    #[inline]
    pub(super) fn arrive_from_access<const TRACED: bool>(
        &mut self,
        access: u16,
        packet: Packet,
        limit: Time,
    ) {
        match self.layout.above(access) {
            AccessParent::Backbone(router) => {
                self.arrive_at_backbone::<TRACED>(router, packet, limit);
            }
            AccessParent::Pop(pop) if !self.shared.is_empty() => {
                self.enqueue_shared::<TRACED>(pop as usize, Direction::Up, packet);
            }
            AccessParent::Pop(pop) => {
                let now = self.now;
                let departure = self.pops[pop as usize].up.enqueue(now);
                if TRACED {
                    let router = RouterId::Pop(self.layout.pops[pop as usize].into());
                    self.record_enqueue(now, &packet, router, Direction::Up, departure);
                }
                if let Some(departure) = departure {
                    self.push(self.layout.out_of_pop(pop), departure, packet);
                }
            }
        }
    }

    /// A packet arrives at a backbone router from its own region.
    #[inline]
    pub(super) fn arrive_at_backbone<const TRACED: bool>(
        &mut self,
        router: u16,
        packet: Packet,
        limit: Time,
    ) {
        self.pass_through::<TRACED>(router, self.now);
        self.enqueue_at_backbone::<TRACED>(router, self.now, packet, limit);
    }

    /// A packet is queued at a backbone router at `time`.
    #[inline]
    pub(super) fn enqueue_at_backbone<const TRACED: bool>(
        &mut self,
        router: u16,
        time: Time,
        packet: Packet,
        limit: Time,
    ) {
        let departure = self.backbone[router as usize].enqueue(time);
        if TRACED {
            let id = RouterId::Backbone(self.layout.backbone[router as usize].into());
            self.record_enqueue(time, &packet, id, Direction::Up, departure);
        }
        let Some(departure) = departure else {
            return;
        };
        if let Hop::Link(link) = self.layout.hop(router, packet.to) {
            return self.send_on_link(link, departure, packet);
        }
        let station = self.layout.out_of_backbone(router);
        let early = if self.shared.is_empty() {
            departure <= self.horizon
        } else {
            departure <= limit && self.event_list.is_before_first(departure)
        };
        if early && self.fifos[station].is_empty() {
            self.arrive_from_backbone::<TRACED>(router, departure, packet);
        } else {
            self.push(station, departure, packet);
        }
    }

    #[inline]
    fn send_on_link(&mut self, link: u16, departure: Time, packet: Packet) {
        let link = link as usize;
        self.sent[link] += 1;
        let out = self.layout.out_links[link];
        let time = departure + out.delay;
        match out.within {
            None => self.outboxes[link].push(InFlight { time, packet }),
            Some(fifo) => self.push(fifo, time, packet),
        }
    }

    /// A packet for this region has left its last backbone router at `time`.
    #[inline]
    pub(super) fn arrive_from_backbone<const TRACED: bool>(
        &mut self,
        router: u16,
        time: Time,
        packet: Packet,
    ) {
        let Hop::Pop(pop) = self.layout.hop(router, packet.to) else {
            return self.arrive_at_access::<TRACED>(time, packet);
        };
        if !self.shared.is_empty() {
            self.now = time;
            return self.enqueue_shared::<TRACED>(pop as usize, Direction::Down, packet);
        }
        let departure = self.pops[pop as usize].down.enqueue(time);
        if TRACED {
            let id = RouterId::Pop(self.layout.pops[pop as usize].into());
            self.record_enqueue(time, &packet, id, Direction::Down, departure);
        }
        if let Some(departure) = departure {
            let fifo = self.layout.below_pop(pop);
            if departure <= self.horizon && self.fifos[fifo].is_empty() {
                self.arrive_at_access::<TRACED>(departure, packet);
            } else {
                self.push(fifo, departure, packet);
            }
        }
    }

    /// The packet arrives at its access router from above, at `time`.
    #[inline]
    pub(super) fn arrive_at_access<const TRACED: bool>(&mut self, time: Time, packet: Packet) {
        let access = self.layout.local(packet.to);
        if !self.shared.is_empty() {
            self.now = time;
            let router = self.layout.pops.len() + access as usize;
            return self.enqueue_shared::<TRACED>(router, Direction::Down, packet);
        }
        let departure = self.access[access as usize].down.enqueue(time);
        if TRACED {
            let id = RouterId::Access(packet.to.into());
            self.record_enqueue(time, &packet, id, Direction::Down, departure);
        }
        if let Some(departure) = departure {
            self.push(self.layout.to_hosts(access), departure, packet);
        }
    }
}
