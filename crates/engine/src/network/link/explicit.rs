//! Explicit service: one event at the end of each transmission, as disciplines need that decide
//! which packet leaves next.

use longhaul_units::{Rate, Span, Time};

use super::Offer;
use super::port::Port;
use super::token_bucket::TokenBucket;
use super::transmitter::Transmitter;
use crate::config;
use crate::network::queue::Effects;
use crate::network::router::Router;
use crate::packet::{OptionStore, Packet};
use crate::schedule::{Event, Schedule};

/// A transmitter that takes packets off a discipline one by one. The port's ring has those that
/// have begun service.
#[derive(Debug)]
pub(super) struct ExplicitService {
    link: u32,
    transmitter: Transmitter,
    delay: Span,
    shaper: Option<TokenBucket>,
    tick: Option<Span>,
    router: Option<Box<Router>>,
    /// End of the last transmission that is due; before it a packet may wait for its tokens.
    busy_until: Time,
    /// Arrival at the far end of the last packet that has begun service.
    last_arrival: Time,
    /// Packets whose transmission has ended and that have not reached the far end.
    propagating: usize,
    /// Whether the discipline's periods have begun.
    has_periods: bool,
    pub(super) effects: Effects,
}

impl ExplicitService {
    pub(super) fn new(link: u32, config: &config::Link) -> Self {
        Self {
            link,
            transmitter: Transmitter::new(config.rate),
            delay: config.delay,
            shaper: config.shaper.map(TokenBucket::new),
            tick: config.tick,
            router: Router::new(&config.queue, config.capacity()),
            busy_until: Time::ZERO,
            last_arrival: Time::ZERO,
            propagating: 0,
            has_periods: false,
            effects: Effects::default(),
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
        packet: Packet,
        now: Time,
        schedule: &mut Schedule,
        options: &mut OptionStore,
    ) -> Offer {
        let idle = self.busy_until <= now;
        let idle_since = idle.then_some(self.busy_until);
        self.begin_periods(port, now, schedule);
        if let Some(router) = &mut self.router {
            router.on_arrival(&packet, options);
        }
        if !port.enqueue(packet, now, idle_since, &mut self.effects) {
            return Offer::Dropped;
        }
        if idle {
            self.begin_next(port, now, schedule, options);
        }
        port.note_maximum();
        Offer::Accepted
    }

    /// Begins the transmission of the packet that the discipline chooses, if there is one.
    fn begin_next(
        &mut self,
        port: &mut Port,
        now: Time,
        schedule: &mut Schedule,
        options: &mut OptionStore,
    ) {
        let Some(mut packet) = port.dequeue(now, &mut self.effects) else {
            return;
        };
        if let Some(router) = &mut self.router {
            let (_, waiting_bytes) = port.waiting();
            router.on_departure(&mut packet, waiting_bytes, options);
        }
        let start = match &mut self.shaper {
            Some(bucket) => bucket.take(packet.bytes, now),
            None => now,
        };
        self.busy_until = start + self.transmitter.time(packet.bytes);
        let arrival = self.busy_until + self.delay;
        let arrival = self.tick.map_or(arrival, |tick| next_tick(arrival, tick));
        // Not before the one in front, if the delay has become shorter.
        self.last_arrival = self.last_arrival.max(arrival);
        packet.time = self.last_arrival;
        packet.ns2_s = packet.time.as_secs_f64();
        schedule.push_link(self.busy_until, Event::Departure(self.link));
        port.append_in_service(packet);
    }

    /// With the first packet, enters the end of the current period of discipline or router: periods are whole
    /// ones since time zero, and nothing happens in those before.
    fn begin_periods(&mut self, port: &mut Port, now: Time, schedule: &mut Schedule) {
        if self.has_periods {
            return;
        }
        self.has_periods = true;
        if let Some(period) = self.period(port) {
            let periods = now.as_ps() / period.as_ps() + 1;
            let end = Time::from_ps(periods * period.as_ps());
            schedule.push_link(end, Event::QueueUpdate(self.link));
        }
    }

    /// Time between two calls of [`Self::update`], if discipline or router need them.
    fn period(&self, port: &mut Port) -> Option<Span> {
        match &self.router {
            Some(router) => Some(router.period()),
            None => port.queue.held().period(),
        }
    }

    /// A period of the discipline or router is over. Returns the length of the next one.
    pub(super) fn update(&mut self, port: &mut Port) -> Span {
        match &mut self.router {
            Some(router) => {
                let (_, waiting_bytes) = port.waiting();
                router.update(waiting_bytes);
            }
            None => port.queue.held().update(),
        }
        let period = self.period(port);
        period.expect("only what has a period has a timer")
    }

    /// A transmission ends. The caller has taken the event off the schedule. Returns whether the packet
    /// is the next one at the far end.
    pub(super) fn depart(
        &mut self,
        port: &mut Port,
        now: Time,
        schedule: &mut Schedule,
        options: &mut OptionStore,
    ) -> bool {
        self.propagating += 1;
        self.begin_next(port, now, schedule, options);
        self.propagating == 1
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
}

/// The first tick that is not before `time`.
fn next_tick(time: Time, tick: Span) -> Time {
    Time::from_ps(time.as_ps().next_multiple_of(tick.as_ps()))
}
