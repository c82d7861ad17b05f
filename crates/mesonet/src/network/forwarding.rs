//! Forwarding by routers: from one queue to the next, over links, and to hosts. Functions with the parameter `TRACED`
//! are compiled twice: packet traces are recorded if `TRACED` is true.

use longhaul_units::Time;

use super::arrivals::InFlight;
use super::layout::{AccessParent, Hop};
use super::packet::Packet;
use super::{HostEvent, Network};
use crate::records::{Direction, RouterId};

impl Network {
    /// Ends the transmission of a packet at `router`, a router with one server for two queues. Forwards the packet, or
    /// returns it if its next hop is a host. Events after `limit` must not be processed.
    #[inline]
    pub(super) fn end_service_at<const TRACED: bool>(
        &mut self,
        router: u16,
        limit: Time,
    ) -> Option<HostEvent> {
        let (packet, served) = self.end_service(router.into());
        let next = self.layout.next(router, served, packet.to());
        if let Some(server) = next.server() {
            self.enqueue_shared::<TRACED>(server, served, packet);
            return None;
        }
        let Some(backbone) = next.backbone() else {
            return Some(HostEvent::Delivered(packet));
        };
        self.arrive_at_backbone::<TRACED>(backbone, packet, limit);
        None
    }

    /// Processes the arrival of a packet at the router above access router `access`. Used only if the two queues of
    /// points of presence and access routers have separate servers.
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

    /// Processes the arrival of a packet at a backbone router from an element of the same region.
    #[inline(never)]
    pub(super) fn arrive_at_backbone<const TRACED: bool>(
        &mut self,
        router: u16,
        packet: Packet,
        limit: Time,
    ) {
        self.pass_through::<TRACED>(router, self.now);
        let Some((departure, hop)) = self.enqueue_at_backbone::<TRACED>(router, self.now, &packet)
        else {
            return;
        };
        self.send_on::<TRACED>(router, hop, departure, packet, limit);
    }

    /// Sends a packet from a backbone router towards its next hop, a link or a router below.
    #[inline(always)]
    pub(super) fn send_on<const TRACED: bool>(
        &mut self,
        router: u16,
        hop: Hop,
        departure: Time,
        packet: Packet,
        limit: Time,
    ) {
        if matches!(hop, Hop::Pop(_) | Hop::Access(_)) {
            self.send_down::<TRACED>(router, hop, departure, packet, limit);
        } else {
            self.send_on_link(hop, departure, packet);
        }
    }

    /// Queues a packet at a backbone router at `time`. Returns the packet's departure time and next
    /// hop; `None` if the queue is full. The function is inlined, since a call would cost as much
    /// as the queue.
    #[inline(always)]
    pub(super) fn enqueue_at_backbone<const TRACED: bool>(
        &mut self,
        router: u16,
        time: Time,
        packet: &Packet,
    ) -> Option<(Time, Hop)> {
        let departure = self.backbone[router as usize].enqueue(time);
        if TRACED {
            let id = RouterId::Backbone(self.layout.backbone[router as usize].into());
            self.record_enqueue(time, packet, id, Direction::Up, departure);
        }
        Some((departure?, self.layout.hop(router, packet.to())))
    }

    /// Sends a packet over the link of `hop`, at the time `departure`.
    #[inline(always)]
    pub(super) fn send_on_link(&mut self, hop: Hop, departure: Time, packet: Packet) {
        let (Hop::Link(link) | Hop::LastLink(link)) = hop else {
            unreachable!("routers of this region are no links");
        };
        let link = &mut self.out_links[link as usize];
        link.sent += 1;
        let time = departure + link.delay;
        match link.within {
            None => {
                let stays = matches!(hop, Hop::LastLink(_));
                link.outbox.push(InFlight { time, packet }, stays);
            }
            Some(fifo) => self.push(fifo, time, packet),
        }
    }

    /// Sends a packet from its last backbone router towards its host in this region.
    #[inline(always)]
    fn send_down<const TRACED: bool>(
        &mut self,
        router: u16,
        hop: Hop,
        departure: Time,
        packet: Packet,
        limit: Time,
    ) {
        let station = self.layout.out_of_backbone(router);
        let early = if self.shared.is_empty() {
            departure <= self.horizon
        } else {
            departure <= limit && self.event_list.is_before_first(departure)
        };
        if early && self.fifos[station].is_empty() {
            self.arrive_from_backbone::<TRACED>(hop, departure, packet);
        } else {
            self.push(station, departure, packet);
        }
    }

    /// Processes a packet that has left its last backbone router at `time`. The packet's
    /// destination is a host in this region.
    #[inline(always)]
    pub(super) fn arrive_from_backbone<const TRACED: bool>(
        &mut self,
        hop: Hop,
        time: Time,
        packet: Packet,
    ) {
        let Hop::Pop(pop) = hop else {
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

    /// Processes the arrival of a packet from the backbone at its access router, at `time`.
    #[inline]
    pub(super) fn arrive_at_access<const TRACED: bool>(&mut self, time: Time, packet: Packet) {
        let access = self.layout.local(packet.to());
        if !self.shared.is_empty() {
            self.now = time;
            let router = self.layout.access_server(access);
            return self.enqueue_shared::<TRACED>(router, Direction::Down, packet);
        }
        let departure = self.access[access as usize].down.enqueue(time);
        if TRACED {
            let id = RouterId::Access(packet.to().into());
            self.record_enqueue(time, &packet, id, Direction::Down, departure);
        }
        if let Some(departure) = departure {
            self.push(self.layout.to_hosts(access), departure, packet);
        }
    }
}
