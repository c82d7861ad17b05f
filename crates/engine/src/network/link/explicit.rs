//! Explicit service: transmissions are computed one by one, for disciplines that decide at departure.
//!
//! Departures need no events, since they depend only on arrivals. Those that are due are computed, in order, when the
//! next packet arrives, when packets at the far end are due, and when something is measured or changes.

use longhaul_units::{Span, Time};

use super::Offer;
use super::port::Port;
use super::token_bucket::TokenBucket;
use super::varying_transmitter::LinkTransmitter;
use crate::config::{self, Distribution, Work};
use crate::packet::{OptionStore, Packet};
use crate::queue::{Effects, PacketQueue};
use crate::random::{Stream, Streams};

/// A transmitter that takes packets from a discipline one by one. A packet whose service begins is moved from the
/// discipline to the port's ring.
#[derive(Debug)]
pub(crate) struct ExplicitService {
    transmitter: LinkTransmitter,
    delay: Span,
    shaper: Option<TokenBucket>,
    tick: Option<Span>,
    jitter: Option<(Distribution, Stream)>,
    /// Beginning of the last transmission, after any wait of the packet for tokens of the shaper.
    transmission_from: Time,
    /// End of the last transmission.
    busy_until: Time,
    /// True if the end of the last transmission has not been processed yet.
    in_service: bool,
    /// Arrival time, at the far end, of the packet that began service last.
    last_arrival: Time,
    /// Number of packets between the end of their transmission and the far end.
    propagating: usize,
    /// Arrival time of the first packet. Update intervals of the discipline that end by this time are ignored.
    first_arrival: Time,
    effects: Effects,
}

impl ExplicitService {
    pub(super) fn new(config: &config::Link, streams: &Streams) -> Self {
        let jitter = |jitter: &Distribution| {
            let stream = streams.component(&format!("links/{}/jitter", config.name));
            (jitter.clone(), stream)
        };
        Self {
            transmitter: LinkTransmitter::new(config),
            delay: config.delay,
            shaper: config.direction.shaper.map(TokenBucket::new),
            tick: config.tick,
            transmission_from: Time::ZERO,
            jitter: config.direction.jitter.as_ref().map(jitter),
            busy_until: Time::ZERO,
            in_service: false,
            last_arrival: Time::ZERO,
            propagating: 0,
            first_arrival: Time::NEVER,
            effects: Effects::default(),
        }
    }

    /// Returns true if a packet is in service at `now`. The service of the last packet must have begun by `now`.
    pub(super) fn in_service(&self, now: Time) -> bool {
        self.busy_until > now
    }

    /// Returns the unsent part of the packet in service.
    pub(super) fn unsent(&self, now: Time) -> Work {
        if self.busy_until < now {
            return Work::default();
        }
        // Before `transmission_from`, the packet waits for tokens.
        let now = now.max(self.transmission_from);
        self.transmitter.unsent(self.busy_until, now)
    }

    /// Changes the delay of packets that have not begun service.
    pub(super) fn set_delay(&mut self, delay: Span) {
        self.delay = delay;
    }

    /// Processes a packet that reaches the near end of the link.
    pub(super) fn offer(
        &mut self,
        port: &mut Port,
        packet: Packet,
        now: Time,
        options: &mut OptionStore,
    ) -> Offer {
        self.catch_up(port, now, options);
        let idle = !self.in_service;
        self.first_arrival = self.first_arrival.min(now);
        if idle && port.pass(packet.bytes) {
            self.in_service = true;
            let leads = self.begin(port, packet, now, false);
            return if leads { Offer::First } else { Offer::Accepted };
        }
        let idle_since = idle.then_some(self.busy_until);
        port.queue.as_buffered().observe_arrival(&packet, options);
        if !port.enqueue(packet, now, idle_since, &mut self.effects, options) {
            return Offer::Dropped;
        }
        let leads = idle && self.begin_next(port, now, false, options);
        port.note_maximum();
        if leads { Offer::First } else { Offer::Accepted }
    }

    /// Computes all transmissions that end by `now`, and begins the next one.
    #[inline]
    pub(super) fn catch_up(&mut self, port: &mut Port, now: Time, options: &mut OptionStore) {
        while self.in_service && self.busy_until <= now {
            self.propagating += 1;
            self.begin_next(port, self.busy_until, true, options);
        }
    }

    /// Begins the service, at `now`, of the packet that the discipline selects. `follows` is true at the end of a
    /// transmission, and false when a packet arrives at an idle link. Returns true if the selected packet is the next
    /// one to reach the far end; false also if no packet waits.
    fn begin_next(
        &mut self,
        port: &mut Port,
        now: Time,
        follows: bool,
        options: &mut OptionStore,
    ) -> bool {
        let next = port.dequeue(now, &mut self.effects, options);
        self.in_service = next.is_some();
        let Some(mut packet) = next else {
            return false;
        };
        port.queue
            .as_buffered()
            .stamp_departure(&mut packet, options);
        self.begin(port, packet, now, follows)
    }

    /// Begins the service of a packet at `now`; with a shaper, its transmission may begin later. `follows` is true if
    /// the packet has waited for the end of the last transmission. Returns true if this packet is the next one to reach
    /// the far end.
    #[inline(always)]
    fn begin(&mut self, port: &mut Port, mut packet: Packet, now: Time, follows: bool) -> bool {
        let start = match &mut self.shaper {
            Some(bucket) => bucket.take(packet.bytes, now),
            None => now,
        };
        self.transmission_from = start;
        self.busy_until = self.transmitter.transmit(
            packet.bytes,
            start,
            self.busy_until,
            follows && start == now,
        );
        let arrival = self.draw_arrival();
        // A packet never arrives before the one in front of it, even if the latter has a longer
        // delay.
        self.last_arrival = self.last_arrival.max(arrival);
        packet.time = self.last_arrival;
        packet.ns2_s = packet.time.as_secs_f64();
        port.append_in_service(packet)
    }

    /// Draws the jitter of the packet in service. Returns the packet's arrival time at the far end, which may precede
    /// the arrival of an earlier packet. If the transmission never ends, draws nothing and returns [`Time::NEVER`].
    fn draw_arrival(&mut self) -> Time {
        if self.busy_until == Time::NEVER {
            return Time::NEVER;
        }
        let arrival = self.busy_until + self.delay + self.draw_jitter();
        self.tick.map_or(arrival, |tick| next_tick(arrival, tick))
    }

    /// Draws the jitter to add to the next packet's delay.
    #[inline]
    fn draw_jitter(&mut self) -> Span {
        match &mut self.jitter {
            Some((jitter, stream)) => stream.draw_span(jitter),
            None => Span::ZERO,
        }
    }

    /// Updates the discipline at the end of an update interval. Does nothing if no packet has arrived before `now`.
    pub(super) fn update(&mut self, port: &mut Port, now: Time) {
        if self.first_arrival < now {
            port.queue.as_buffered().update(now);
        }
    }

    /// Forwards the next packet that has left service, if it reaches the far end by `until`.
    #[inline]
    pub(super) fn forward<'a>(&mut self, port: &'a mut Port, until: Time) -> Option<&'a Packet> {
        // The packet in service stays in the ring: an empty ring stands for a link without waiting packets.
        if self.propagating == 0 {
            return None;
        }
        let packet = port.forward(until)?;
        self.propagating -= 1;
        Some(packet)
    }
}

/// Returns the first multiple of `tick` that is `time` or later.
fn next_tick(time: Time, tick: Span) -> Time {
    Time::from_ps(time.as_ps().next_multiple_of(tick.as_ps()))
}
