//! The near end of a link, where packets enter. A caller with many packets for a link selects the code for the link's
//! type of service only once ([`Entrance`]).

use super::Offer;
use super::clock::{Clock, DualClockTime, ExactClock};
use super::explicit::ExplicitService;
use super::ns2_clock::Ns2Clock;
use super::port::Port;
use crate::packet::{OptionStore, Packet};

/// Type of service: the way in which a link queues and transmits packets.
pub(crate) trait PacketService {
    /// Processes a packet at the near end of the link; `route` is the packet's new position in the route table.
    fn take(
        &mut self,
        port: &mut Port,
        packet: &Packet,
        route: u32,
        arrival: DualClockTime,
        options: &mut OptionStore,
    ) -> Offer;
}

/// The near end of a link whose packet service has the type `S`, which is known at compile time.
#[derive(Debug)]
pub(crate) struct Lane<'a, S> {
    pub(super) port: &'a mut Port,
    pub(super) service: &'a mut S,
}

impl<S: PacketService> Lane<'_, S> {
    /// Processes a packet that reaches the near end of the link. The link is the first one of the packet's route.
    #[inline(always)]
    pub(crate) fn offer(
        &mut self,
        packet: &Packet,
        arrival: DualClockTime,
        options: &mut OptionStore,
    ) -> Offer {
        self.take(packet, packet.route, arrival, options)
    }

    /// Processes a packet at the near end of the link; `route` is the packet's new position in the route table.
    #[inline(always)]
    pub(crate) fn take(
        &mut self,
        packet: &Packet,
        route: u32,
        arrival: DualClockTime,
        options: &mut OptionStore,
    ) -> Offer {
        (self.service).take(self.port, packet, route, arrival, options)
    }
}

/// Near end of a link, with a variant for each kind of [`PacketService`].
#[derive(Debug)]
pub(crate) enum Entrance<'a> {
    Exact(Lane<'a, ExactClock>),
    Ns2(Lane<'a, Ns2Clock>),
    Explicit(Lane<'a, ExplicitService>),
}

impl<C: Clock> PacketService for C {
    #[inline(always)]
    fn take(
        &mut self,
        port: &mut Port,
        packet: &Packet,
        route: u32,
        arrival: DualClockTime,
        _: &mut OptionStore,
    ) -> Offer {
        port.offer(self, packet, route, arrival)
    }
}

impl PacketService for ExplicitService {
    #[inline(always)]
    fn take(
        &mut self,
        port: &mut Port,
        packet: &Packet,
        route: u32,
        arrival: DualClockTime,
        options: &mut OptionStore,
    ) -> Offer {
        let packet = Packet { route, ..*packet };
        self.offer(port, packet, arrival.time, options)
    }
}
