//! Explicit service: one event at the end of each transmission, as disciplines need that decide
//! which packet leaves next.

use std::collections::VecDeque;

use longhaul_units::{Rate, Span, Time};

use super::Offer;
use super::port::Port;
use super::transmitter::Transmitter;
use crate::packet::Packet;
use crate::schedule::{Event, Schedule};

/// A transmitter that takes packets off a queue one by one. The port's ring has those that have
/// begun service.
#[derive(Debug)]
pub(super) struct ExplicitService {
    link: u32,
    transmitter: Transmitter,
    delay: Span,
    tick: Option<Span>,
    busy_until: Time,
    /// Arrival at the far end of the last packet that has begun service.
    last_arrival: Time,
    backlog: VecDeque<Packet>,
    /// Packets whose transmission has ended and that have not reached the far end.
    propagating: usize,
}

impl ExplicitService {
    pub(super) fn new(link: u32, rate: Rate, delay: Span, tick: Option<Span>) -> Self {
        Self {
            link,
            transmitter: Transmitter::new(rate),
            delay,
            tick,
            busy_until: Time::ZERO,
            last_arrival: Time::ZERO,
            backlog: VecDeque::new(),
            propagating: 0,
        }
    }

    /// End of the last transmission that has begun.
    pub(super) fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Changes rate and delay for packets whose service has not begun.
    pub(super) fn alter(&mut self, rate: Option<Rate>, delay: Option<Span>) {
        if let Some(rate) = rate
            && rate != self.transmitter.rate()
        {
            self.transmitter = Transmitter::new(rate);
        }
        self.delay = delay.unwrap_or(self.delay);
    }

    /// A packet reaches the near end of the link.
    pub(super) fn offer(
        &mut self,
        port: &mut Port,
        mut packet: Packet,
        now: Time,
        schedule: &mut Schedule,
    ) -> Offer {
        let idle = self.busy_until <= now;
        let busy_until = self.busy_until;
        let Some(flags) = port.admit(&packet, now, idle, || busy_until) else {
            return Offer::Dropped;
        };
        packet.flags = flags;
        if idle {
            self.begin(port, packet, now, schedule);
        } else {
            port.note_waiting(packet.bytes);
            // Until its departure is known, `time` is when it began to wait.
            packet.time = now;
            self.backlog.push_back(packet);
        }
        Offer::Accepted
    }

    fn begin(&mut self, port: &mut Port, mut packet: Packet, now: Time, schedule: &mut Schedule) {
        self.busy_until = now + self.transmitter.time(packet.bytes);
        let arrival = self.busy_until + self.delay;
        let arrival = self.tick.map_or(arrival, |tick| next_tick(arrival, tick));
        // Not before the one in front, if the delay has become shorter.
        self.last_arrival = self.last_arrival.max(arrival);
        packet.time = self.last_arrival;
        packet.ns2_s = packet.time.as_secs_f64();
        schedule.push_link(self.busy_until, Event::Departure(self.link));
        port.append_in_service(packet);
    }

    /// A transmission ends. The caller has taken the event off the schedule. Returns the packet's
    /// arrival at the far end if it is the next one there.
    pub(super) fn depart(
        &mut self,
        port: &mut Port,
        now: Time,
        schedule: &mut Schedule,
    ) -> Option<Time> {
        self.propagating += 1;
        let leads = self.propagating == 1;
        let arrival = self.next(port).map(|packet| packet.time);
        if let Some(packet) = self.backlog.pop_front() {
            port.note_start(packet.bytes);
            port.note_wait(now.since(packet.time));
            self.begin(port, packet, now, schedule);
        }
        arrival.filter(|_| leads)
    }

    /// The packet that reaches the far end next, if its transmission has ended.
    pub(super) fn next<'a>(&self, port: &'a Port) -> Option<&'a Packet> {
        port.next().filter(|_| self.propagating > 0)
    }

    /// Hands on the next packet, if it reaches the far end by `until`.
    pub(super) fn hand_on<'a>(&mut self, port: &'a mut Port, until: Time) -> Option<&'a Packet> {
        self.next(port)?;
        let packet = port.hand_on(until)?;
        self.propagating -= 1;
        Some(packet)
    }

    /// Picoseconds that the packets now waiting have waited.
    pub(super) fn waited_ps(&self, now: Time) -> u128 {
        let waits = self.backlog.iter().map(|packet| now.since(packet.time));
        waits.map(|wait| u128::from(wait.as_ps())).sum()
    }
}

/// The first tick that is not before `time`.
fn next_tick(time: Time, tick: Span) -> Time {
    Time::from_ps(time.as_ps().next_multiple_of(tick.as_ps()))
}
