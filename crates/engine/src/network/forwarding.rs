//! Forwarding of packets: onto the first link of a route, from link to link, and from the last link to the receiver.

use longhaul_units::Time;

use super::link::{DualClockTime, Offer};
use super::others::Others;
use super::{Delivery, End, Hop, Network};
use crate::packet::{Packet, SackHandle};

/// Outcome of forwarding a packet at the far end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Delivered {
    /// The packet has entered the next link or its impairments, or was dropped there.
    ToLink,
    /// The packet has reached the end of its route.
    ToEnd(End),
}

impl Network {
    /// Puts a packet on the first link of its route.
    #[inline(always)]
    pub(crate) fn send(&mut self, packet: Packet) {
        if self.noted.is_some() {
            self.note_sent(packet);
        }
        match self.routes.hop(packet.route) {
            Hop::Link(link) => self.offer(link, &packet),
            Hop::Access(index) => self.enter_access(index, &packet),
            Hop::Impairments(index, carrier) => {
                // The packet is copied here, so that packets without impairments stay in registers.
                let route = packet.route + 1;
                self.impair(index, carrier, Packet { route, ..packet });
            }
            Hop::End(_) => unreachable!("a route begins with a link"),
        }
    }

    /// Offers a packet to the near end of a link, which accepts or drops it.
    #[inline(always)]
    pub(super) fn offer(&mut self, link: u32, packet: &Packet) {
        let now = self.dual_clock_time();
        let offer = self.links[link as usize].offer(packet, packet.route, now, &mut self.options);
        self.finish_offer(link, offer, packet.sack);
    }

    /// Offers the packet that the link `from` has just forwarded to the near end of the link `to`.
    #[inline(always)]
    pub(super) fn transfer(&mut self, from: u32, to: u32) {
        let (offer, sack) = self.offer_forwarded(from, to);
        self.finish_offer(to, offer, sack);
    }

    #[inline(always)]
    fn offer_forwarded(&mut self, from: u32, to: u32) -> (Offer, SackHandle) {
        let now = self.dual_clock_time();
        let both = self.links.get_disjoint_mut([from as usize, to as usize]);
        let [before, next] = both.expect("no link follows itself");
        let packet = before.last_forwarded();
        let offer = next.offer(packet, packet.route + 1, now, &mut self.options);
        (offer, packet.sack)
    }

    #[inline(always)]
    fn finish_offer(&mut self, link: u32, offer: Offer, sack: SackHandle) {
        match offer {
            Offer::Accepted => {}
            Offer::First => self.activate(link),
            Offer::Dropped => self.drop_offered(link, sack),
        }
    }

    /// Records that a link has dropped a packet offered to it.
    #[inline(always)]
    fn drop_offered(&mut self, link: u32, sack: SackHandle) {
        self.options.forget(sack);
        if self.noted.is_some() {
            self.note_drop(link);
        }
    }

    /// Schedules the forwarding of a link that had no packet to forward before, and now has one.
    #[inline]
    fn activate(&mut self, link: u32) {
        match self.deliveries[link as usize] {
            Delivery::ToObservation => {
                self.forward_without_events(link);
            }
            _ => self.await_arrival(link),
        }
    }

    /// Schedules the forwarding of a link that had no packets to forward, and has now accepted one or more. The effect
    /// is that of a call of [`Self::activate`] after each packet.
    pub(super) fn activate_all(&mut self, link: u32) {
        if self.deliveries[link as usize] != Delivery::ToObservation {
            return self.await_arrival(link);
        }
        while self.links[link as usize].next().is_some() && self.forward_without_events(link) {}
    }

    /// Schedules the arrival of a link's next packet, unless the packet can be processed ahead of time or (on a link to
    /// access links) an event is already scheduled.
    #[inline]
    pub(super) fn await_arrival(&mut self, link: u32) {
        match self.deliveries[link as usize] {
            Delivery::ToHolds => self.ready.push(link),
            Delivery::ToBoxes => self.delay_now(link),
            Delivery::ToAccess(spreading) if !self.access.needs_event(spreading) => {}
            _ => self.enter_arrival(link),
        }
    }

    /// Forwards the next packet of `link` over as many links as lookahead allows. An event is scheduled only for the
    /// arrival at the far end of the last link. Returns true if the packet has left `link`.
    #[inline(never)]
    fn forward_without_events(&mut self, mut link: u32) -> bool {
        let mut goes_on = false;
        let DualClockTime { time, ns2_s } = self.dual_clock_time();
        let until = self.schedule.next_observation();
        while self.deliveries[link as usize] == Delivery::ToObservation
            && let Some(packet) = self.links[link as usize].next()
            && let Hop::Link(next) = self.routes.hop(packet.route + 1)
            && let Some(packet) = self.links[link as usize].forward(until)
        {
            self.now = packet.time;
            self.ns2_s = packet.ns2_s;
            let (offer, sack) = self.offer_forwarded(link, next);
            (self.now, self.ns2_s) = (time, ns2_s);
            match offer {
                Offer::First => link = next,
                Offer::Accepted => return true,
                Offer::Dropped => {
                    self.options.forget(sack);
                    return true;
                }
            }
            goes_on = true;
        }
        self.await_arrival(link);
        goes_on
    }

    /// Passes packets from a link to the delay boxes at its far end. All packets that arrive by the next observation
    /// (such as a sample) are passed now, ahead of time. Then schedules the arrival of the link's next packet.
    #[inline]
    fn delay_now(&mut self, link: u32) {
        self.delay_ahead(link, self.schedule.next_observation());
        self.enter_rest(link);
    }

    /// Schedules the arrival of the next packet on a link that has no scheduled arrival.
    #[inline]
    fn enter_arrival(&mut self, link: u32) {
        let Some(next) = self.links[link as usize].next_arrival() else {
            unreachable!("the link has a packet");
        };
        match self.deliveries[link as usize] {
            Delivery::Merged(merge) => {
                self.merges[merge as usize].push(next, link, merge, &mut self.schedule);
            }
            _ => self.schedule.push_arrival(next, link),
        }
    }

    /// Removes a link from the list `ready` and returns the link's number. The link leads to endpoints with extra
    /// delays, and has a packet whose arrival is not scheduled yet.
    #[inline]
    pub(crate) fn take_ready(&mut self) -> Option<u32> {
        self.ready.pop()
    }

    /// Schedules the arrival of the next packet on `link`, after earlier packets were delivered ahead of time. Does
    /// nothing if the link has no more packets.
    pub(crate) fn enter_rest(&mut self, link: u32) {
        if self.links[link as usize].next().is_some() {
            self.enter_arrival(link);
        }
    }

    /// Computes a link's transmissions up to now, before its arrivals are processed. Returns the link's lookahead.
    #[inline]
    pub(crate) fn begin_arrivals(&mut self, link: u32) -> Delivery {
        self.links[link as usize].catch_up(self.now, &mut self.options);
        self.deliveries[link as usize]
    }

    /// Forwards a link's packets that reach its far end by `until`. Stops after the first packet that has reached the
    /// end of its route: stores the packet in `arrived`, and returns the kind of receiver at this end.
    #[inline]
    pub(crate) fn forward(&mut self, link: u32, until: Time, arrived: &mut Packet) -> Option<End> {
        loop {
            if let Delivered::ToEnd(end) = self.forward_one(link, until, arrived)? {
                return Some(end);
            }
        }
    }

    /// Forwards a link's next packet, if it reaches the far end by `until`, and sets the clock to this arrival. If the
    /// packet has reached the end of its route, stores it in `arrived`: returning it would copy it several times.
    #[inline(always)]
    pub(crate) fn forward_one(
        &mut self,
        link: u32,
        until: Time,
        arrived: &mut Packet,
    ) -> Option<Delivered> {
        let packet = self.links[link as usize].forward(until)?;
        self.now = packet.time;
        self.ns2_s = packet.ns2_s;
        match self.routes.hop(packet.route + 1) {
            Hop::Link(next) => {
                self.transfer(link, next);
                Some(Delivered::ToLink)
            }
            Hop::Impairments(index, carrier) => {
                let route = packet.route + 2;
                let packet = Packet { route, ..*packet };
                self.impair(index, carrier, packet);
                Some(Delivered::ToLink)
            }
            Hop::Access(_) => unreachable!("what leads to access links forwards to them alone"),
            Hop::End(end) => {
                *arrived = *packet;
                Some(Delivered::ToEnd(end))
            }
        }
    }

    /// Forwards a link's packets that reach its far end by `until`, for links with lookahead. Stops at the first packet
    /// that has reached the end of its route: stores this packet in `arrived`, and returns the kind of its receiver.
    pub(crate) fn forward_to_links(
        &mut self,
        link: u32,
        until: Time,
        arrived: &mut Packet,
    ) -> Option<End> {
        loop {
            match self.forward_until_first(link, until, arrived)? {
                Hop::Link(next) => self.activate(next),
                Hop::End(end) => return Some(end),
                Hop::Impairments(..) | Hop::Access(_) => {
                    unreachable!("links before these do not look ahead to links")
                }
            }
        }
    }

    /// Forwards a link's packets that reach its far end by `until`. Stops after the first packet that the caller has to
    /// process further, and returns the packet's next hop; `None` if there was no such packet. If the next hop is a
    /// link, the packet is now the only one on that link. Otherwise, the packet is in `arrived`. Sets the clock to the
    /// arrival of the last packet.
    #[inline(always)]
    fn forward_until_first(&mut self, link: u32, until: Time, arrived: &mut Packet) -> Option<Hop> {
        let mut now = self.dual_clock_time();
        let (from, mut others) = Others::split(&mut self.links, link);
        let mut last = None;
        while last.is_none()
            && let Some(packet) = from.forward(until)
        {
            now = DualClockTime::of(packet);
            let hop = self.routes.hop(packet.route + 1);
            let Hop::Link(next) = hop else {
                *arrived = *packet;
                last = Some(hop);
                break;
            };
            let to = others.get(next);
            match to.offer(packet, packet.route + 1, now, &mut self.options) {
                Offer::Accepted => {}
                Offer::First => last = Some(hop),
                Offer::Dropped => self.options.forget(packet.sack),
            }
        }
        (self.now, self.ns2_s) = (now.time, now.ns2_s);
        last
    }

    /// Returns the packet that a link will forward after `others` other packets, if this packet is already known.
    #[inline]
    pub(crate) fn ahead(&self, link: u32, others: usize) -> Option<&Packet> {
        self.links[link as usize].ahead(others)
    }

    /// Ends the event of a link's arrivals, and schedules the next such event if the link has another packet.
    #[inline]
    pub(crate) fn finish_arrivals(&mut self, link: u32) {
        match self.links[link as usize].next_arrival() {
            Some(next) => self.schedule.renew_arrival(next, link),
            None => self.schedule.finish_link(),
        }
    }
}
