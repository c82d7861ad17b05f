//! One direction of a link: loss, queue, transmitter and propagation.
//!
//! In a first-in first-out queue, the arrival of a packet determines its departure. By default, a link therefore
//! computes departures on arrival. It keeps all its packets (waiting, in service or propagating) in one ring, in the
//! order of their arrival at the far end. With explicit service, a link computes one transmission after the other;
//! disciplines that decide at departure need this. Both give the same results (tested).

mod clock;
mod entrance;
mod explicit;
mod ns2_clock;
mod per_flow_drops;
mod port;
mod ring;
mod tie_break;
mod token_bucket;
mod transmitter;
mod tx_time_cache;
mod varying_transmitter;

use longhaul_units::{Span, Time};

pub(crate) use self::clock::DualClockTime;
use self::clock::ExactClock;
pub(crate) use self::clock::{Line, Occupancy};
pub(crate) use self::entrance::{Entrance, Lane, PacketService};
use self::explicit::ExplicitService;
use self::ns2_clock::Ns2Clock;
pub(crate) use self::per_flow_drops::FlowDrops;
use self::port::Port;
pub(crate) use self::tie_break::RandomTieBreak;
use super::loss::LossModel;
use crate::config::{self, Clock, Service};
use crate::measure::{DelayHistogram, LinkCounters, LinkSample};
use crate::packet::{OptionStore, Packet};
use crate::queue::{DropReason, Queue};
use crate::random::Streams;
use crate::schedule::NextArrival;

/// State of one direction of a link.
#[derive(Debug)]
pub(crate) struct Link {
    id: u32,
    pub(crate) captured: bool,
    pub(crate) sampled: bool,
    port: Port,
    server: Server,
    draws: RandomTieBreak,
}

/// Server of a link's packets. The tag is a separate byte, which is faster to read than a tag hidden in the variants'
/// contents.
#[derive(Debug)]
#[repr(u8)]
enum Server {
    Exact(ExactClock),
    /// Service on arrival, with times in ns-2's arithmetic.
    Ns2(Ns2Clock),
    /// Computation of each departure at the end of the preceding one; boxed, since few links need it.
    Explicit(Box<ExplicitService>),
}

/// Result of offering a packet to a link.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(crate) enum Offer {
    Accepted,
    /// The packet was accepted, and is the next one to be forwarded.
    First,
    Dropped,
}

impl Link {
    pub(crate) fn new(
        id: u32,
        config: &config::Link,
        clock: Clock,
        queue: Queue,
        loss: LossModel,
        streams: &Streams,
    ) -> Self {
        let (rate, delay) = (config.rate, config.delay);
        let server = match (config.service(), clock) {
            (Service::Explicit, _) => {
                Server::Explicit(Box::new(ExplicitService::new(config, streams)))
            }
            (Service::OnArrival, Clock::Exact) => Server::Exact(ExactClock::new(rate, delay)),
            (Service::OnArrival, Clock::Ns2) => Server::Ns2(Ns2Clock::new(rate, delay)),
        };
        Self {
            id,
            captured: config.captured,
            sampled: config.sampled,
            port: Port::new(queue, loss),
            server,
            draws: RandomTieBreak::new(&config.name, streams),
        }
    }

    /// Processes a packet at the near end of the link; `route` is the packet's new position in the route table.
    ///
    /// Always inlined, with the packet as a reference: the packet is then copied straight into this link's ring. A copy
    /// that stores fields one by one and loads them in pairs would make processors wait for the stores.
    #[inline(always)]
    pub(crate) fn offer(
        &mut self,
        packet: &Packet,
        route: u32,
        arrival: DualClockTime,
        options: &mut OptionStore,
    ) -> Offer {
        let port = &mut self.port;
        match &mut self.server {
            Server::Exact(clock) => clock.take(port, packet, route, arrival, options),
            Server::Ns2(clock) => clock.take(port, packet, route, arrival, options),
            Server::Explicit(service) => service.take(port, packet, route, arrival, options),
        }
    }

    /// Returns the near end of the link. The variant of [`Entrance`] depends on how the link computes departures.
    #[inline]
    pub(crate) fn entrance(&mut self) -> Entrance<'_> {
        let port = &mut self.port;
        match &mut self.server {
            Server::Exact(service) => Entrance::Exact(Lane { port, service }),
            Server::Ns2(service) => Entrance::Ns2(Lane { port, service }),
            Server::Explicit(service) => Entrance::Explicit(Lane { port, service }),
        }
    }

    /// Returns the source of tie-breaks between packets of this and of other links that arrive at one node at one time.
    pub(crate) fn tie_breaks(&self) -> RandomTieBreak {
        self.draws
    }

    /// Stores a packet on an access link until it reaches the far end. Returns true if it is the next packet to be
    /// forwarded.
    pub(crate) fn hold(&mut self, packet: &Packet) -> bool {
        self.port.hold(packet)
    }

    /// Counts a packet that was dropped before it reached the link.
    pub(crate) fn note_drop(&mut self, reason: DropReason, packet: &Packet) {
        self.port.count_drop(reason, packet);
    }

    /// Computes all transmissions that end by `now`, unless the link computes transmissions on arrival.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Time, options: &mut OptionStore) {
        if let Server::Explicit(service) = &mut self.server {
            service.catch_up(&mut self.port, now, options);
        }
    }

    /// Returns the time until the next update of the discipline, if the discipline needs updates.
    pub(crate) fn update_interval(&self) -> Option<Span> {
        self.port.queue.update_interval()
    }

    /// Updates the discipline at the end of an update interval. Returns the length of the next interval.
    pub(crate) fn update(&mut self, now: Time, options: &mut OptionStore) -> Option<Span> {
        if let Server::Explicit(service) = &mut self.server {
            service.catch_up(&mut self.port, now, options);
            service.update(&mut self.port, now);
        }
        self.update_interval()
    }

    /// Changes the delay of packets that have not begun service, and the loss of packets that have not reached the near
    /// end. `None` means no change.
    pub(crate) fn apply(&mut self, delay: Option<Span>, loss: Option<LossModel>) {
        let Server::Explicit(service) = &mut self.server else {
            unreachable!("links that change have explicit service");
        };
        if let Some(delay) = delay {
            service.set_delay(delay);
        }
        if let Some(loss) = loss {
            self.port.loss = loss;
        }
    }

    /// Returns the packet that reaches the far end next; `None` if there is none, or if it is not known yet.
    #[inline]
    pub(crate) fn next(&self) -> Option<&Packet> {
        self.port.next()
    }

    /// Returns the arrival of the next packet as an entry of the event list. With ns-2's clock, also records the packet
    /// for the tie-breaks of later packets; a second call for the same packet changes nothing. Need not be called for
    /// packets that are forwarded ahead of time.
    #[inline(always)]
    pub(crate) fn next_arrival(&mut self) -> Option<NextArrival> {
        let packet = self.next()?;
        let time = packet.time;
        let tie_break = match &mut self.server {
            Server::Ns2(clock) => clock.tie_break(self.port.next()?),
            Server::Exact(_) | Server::Explicit(_) => self.draws.tie_break(time),
        };
        Some(NextArrival { time, tie_break })
    }

    /// Forwards the next packet, if it reaches the far end by `until`. `until` may be in the future.
    #[inline(always)]
    pub(crate) fn forward(&mut self, until: Time) -> Option<&Packet> {
        match &mut self.server {
            Server::Exact(_) | Server::Ns2(_) => self.port.forward(until),
            Server::Explicit(service) => service.forward(&mut self.port, until),
        }
    }

    /// Forwards the next packet, if it reaches the far end by `until`, without comparing it with packets of other
    /// links. May be called only after [`Self::forward`], while no other link into the far end has packets. The link
    /// must compute a packet's departure when the packet enters the link.
    #[inline(always)]
    pub(crate) fn forward_alone(&mut self, until: Time) -> Option<&Packet> {
        let packet = self.port.forward(until)?;
        if let Server::Ns2(clock) = &mut self.server {
            clock.note_next(packet);
        }
        Some(packet)
    }

    /// Returns the packet that will be forwarded after `others` other packets, if this packet is already known.
    #[inline]
    pub(crate) fn ahead(&self, others: usize) -> Option<&Packet> {
        self.port.ahead(others)
    }

    /// Returns the packet that was forwarded last.
    #[inline(always)]
    pub(crate) fn last_forwarded(&self) -> &Packet {
        self.port.last_forwarded()
    }

    /// Returns the counters up to `now`. With explicit service, [`Self::catch_up`] must have been called for `now`.
    pub(crate) fn counters(&mut self, now: Time) -> LinkCounters {
        self.begin_services(now);
        let port = &self.port;
        match &self.server {
            Server::Exact(clock) => port.counters_on_arrival(clock, now),
            Server::Ns2(clock) => port.counters_on_arrival(clock, now),
            Server::Explicit(service) => {
                let waited_ps = port.waits() + port.waited(now);
                let [l4s, classic] = port.classes().unwrap_or_default();
                LinkCounters {
                    l4s,
                    classic,
                    ..port.counters(0, service.in_service(now), service.unsent(now), waited_ps)
                }
            }
        }
    }

    /// Begins to count drops and marks of data packets for each of the first `connections` connections.
    pub(crate) fn track(&mut self, connections: u32) {
        self.port.flow_drops.track(connections);
    }

    /// Adds this link's drops and marks of data packets to `all`, which has one entry for each connection.
    pub(crate) fn add_flow_drops(&self, all: &mut [FlowDrops]) {
        self.port.flow_drops.add_to(all);
    }

    /// Adds this link's drops and marks of datagrams to `all`, which is indexed by the number in the packets. Extends
    /// `all` if it is too short. Only datagrams of real programs, and those from sending endpoints of foreign stacks'
    /// connections, are counted.
    pub(crate) fn add_datagram_drops(&self, all: &mut Vec<FlowDrops>) {
        self.port.flow_drops.add_datagrams_to(all);
    }

    /// Measures queueing delays from now on.
    pub(crate) fn measure_waits(&mut self) {
        self.port.measure_waits();
    }

    /// Returns the queueing delays measured so far, and ends their measurement; `None` if they are not measured.
    pub(crate) fn take_waits(&mut self) -> Option<DelayHistogram> {
        self.port.take_waits()
    }

    /// Discards the queueing delays measured so far.
    pub(crate) fn restart_waits(&mut self) {
        if self.port.measures_waits() {
            self.port.measure_waits();
        }
    }

    /// Counts the services that have begun by `now`, if the link computes departures on arrival.
    fn begin_services(&mut self, now: Time) {
        let (port, now) = (&mut self.port, DualClockTime::at(now));
        match &mut self.server {
            Server::Exact(clock) => port.begin_services(clock, now),
            Server::Ns2(clock) => port.begin_services(clock, now),
            Server::Explicit(_) => {}
        }
    }

    /// Returns the maximum length of the queue up to `now`, and begins a new maximum for a new measurement period.
    pub(crate) fn restart_maximum(&mut self, now: Time) -> u64 {
        self.begin_services(now);
        self.port.restart_maximum()
    }

    /// Returns the number of packets on the link: waiting, in service or propagating. Packets that were forwarded ahead
    /// of time are not included.
    pub(crate) fn packets_held(&self) -> u64 {
        let under_way = self.port.under_way() as u64;
        match self.server {
            Server::Exact(_) | Server::Ns2(_) => under_way,
            Server::Explicit(_) => under_way + self.port.waiting().0,
        }
    }

    /// Returns the state of the link at `now` for the time series.
    pub(crate) fn sample(&mut self, now: Time) -> LinkSample {
        let counters = self.counters(now);
        let (queue_pkts, queue_bytes) = self.port.waiting();
        let state = self.port.queue.state();
        LinkSample {
            time: now,
            link: self.id,
            queue_pkts,
            queue_bytes,
            queue_avg_pkts: state.average_pkts,
            max_p: state.max_p,
            drop_p: state.drop_p,
            queue_integral: counters.queue_integral(),
            departed_pkts: counters.departed_pkts,
            departed_bytes: counters.departed_bytes,
            transmitted_bytes: counters.transmitted.bytes(),
            dropped_pkts: counters.dropped_pkts(),
            marked_pkts: counters.marked_pkts,
            capacity_bytes: None,
        }
    }
}
