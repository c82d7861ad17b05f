//! Merging: packets of several links that lead to one further link are processed in order of arrival.
//!
//! A packet that has not yet entered any of these links cannot arrive before their smallest delay is over. All earlier
//! arrivals are thus known, and one event processes them.

use std::collections::BTreeSet;

use longhaul_units::{Span, Time};

use super::Network;
use super::link::{DualClockTime, Entrance, Lane, Offer, PacketService};
use super::others::Others;
use crate::config;
use crate::packet::{OptionStore, Packet};
use crate::schedule::{Arrivals, Arriving, CalendarQueue, Event, NextArrival, Schedule};

/// Arrivals at a link that several other links lead to.
#[derive(Debug)]
pub(super) struct Merge {
    pub(super) into: u32,
    arrivals: Arrivals,
    /// Packets on their way over access links, which do not store packets themselves.
    packets: CalendarQueue<Arriving>,
    /// Time of the next scheduled event that processes arrivals; [`Time::NEVER`] if none is scheduled.
    entry: Time,
    /// Minimum time until a packet that has not yet entered any of the merged links can arrive at `into`.
    lookahead: Span,
    /// Maximum time by which an event is postponed, so that it processes several arrivals.
    slack: Span,
    /// Delay of the next event after the arrival of its first packet, so that the event also processes later packets.
    /// Zero if the previous event processed at least `MANY` packets, else `slack`.
    wait: Span,
}

impl Merge {
    /// Maximum rounding error of an arrival time: links compute it in picoseconds and, with ns-2's clock, as a sum of
    /// floating-point seconds.
    pub(super) const ROUNDING: Span = Span::from_ps(2);
    /// Minimum number of packets of a large event. The event after a large one is not postponed.
    const MANY: u32 = 32;

    pub(super) fn new(
        into: usize,
        feeders: &BTreeSet<usize>,
        links: &[config::Link],
        slack: Span,
    ) -> Self {
        let delays = feeders.iter().map(|&feeder| links[feeder].delay);
        let shortest = delays.min().unwrap_or(Span::ZERO);
        Self {
            into: into as u32,
            arrivals: Arrivals::default(),
            packets: CalendarQueue::default(),
            entry: Time::NEVER,
            lookahead: shortest.saturating_sub(Self::ROUNDING),
            slack: slack.saturating_sub(Self::ROUNDING),
            wait: Span::ZERO,
        }
    }

    /// Returns the time of the event for an arrival: the arrival time plus `wait`, or the next observation if this is
    /// earlier, but not before the arrival.
    fn due(&self, arrival: Time, schedule: &Schedule) -> Time {
        let observation = schedule.next_observation();
        (arrival + self.wait).min(observation).max(arrival)
    }

    /// Adds `next`, the next arrival over `link`, which had no packet before. `index` is this merge's index.
    #[inline]
    pub(super) fn push(
        &mut self,
        next: NextArrival,
        link: u32,
        index: u32,
        schedule: &mut Schedule,
    ) {
        self.arrivals.push(next, link);
        self.enter(next.time, index, schedule);
    }

    /// Adds a packet that will arrive over an access link. `index` is the index of this merge in the network.
    #[inline]
    pub(super) fn push_packet(&mut self, arriving: Arriving, index: u32, schedule: &mut Schedule) {
        self.packets.push(arriving);
        if arriving.packet.time < self.entry {
            self.enter(arriving.packet.time, index, schedule);
        }
    }

    /// Schedules the merge's event for an arrival, unless an event is scheduled that is not later. `index` is the
    /// merge's index in the network.
    #[inline]
    fn enter(&mut self, arrival: Time, index: u32, schedule: &mut Schedule) {
        let due = self.due(arrival, schedule);
        if due < self.entry {
            self.entry = due;
            schedule.push_link(due, Event::Merge(index));
        }
    }

    /// Returns the time up to which all arrivals are known, but at most the time of the next observation.
    pub(super) fn may_go_on_until(&self, now: Time, schedule: &Schedule) -> Time {
        (now + self.lookahead)
            .min(schedule.next_observation())
            .max(now)
    }

    /// Returns the link and the time of the next arrival, if it is not after `until`.
    #[inline]
    pub(super) fn next_by(&self, until: Time) -> Option<(u32, Time)> {
        let (time, link) = self.arrivals.first()?;
        (time <= until).then_some((link, time))
    }

    /// Returns true if only one link has packets.
    #[inline]
    fn is_alone(&self) -> bool {
        self.arrivals.len() == 1
    }

    /// Removes the first arrival, whose packet has been forwarded, and adds `next`: the next arrival on the same link,
    /// if there is one.
    #[inline]
    pub(super) fn renew(&mut self, link: u32, next: Option<NextArrival>) {
        self.arrivals.renew_first(link, next);
    }

    /// Returns the time of the next arrival.
    fn first(&self) -> Option<Time> {
        let over_access = self.packets.first().map(|first| first.packet.time);
        over_access.or_else(|| self.arrivals.first().map(|(time, _)| time))
    }

    /// Ends the event that was due at `time` and has processed `packets` packets; schedules the next one.
    pub(super) fn finish(&mut self, time: Time, packets: u32, schedule: &mut Schedule) {
        self.wait = if packets < Self::MANY {
            self.slack
        } else {
            Span::ZERO
        };
        if self.entry != time {
            // This event is stale: an earlier one has been scheduled in the meantime.
            schedule.finish_link();
        } else if let Some(next) = self.first() {
            self.entry = self.due(next, schedule);
            schedule.renew_link(self.entry);
        } else {
            self.entry = Time::NEVER;
            schedule.finish_link();
        }
    }
}

/// Data of an event that merges packets from several links: the arrivals, these links, and the state of the event.
#[derive(Debug)]
struct Merging<'a> {
    merge: &'a mut Merge,
    feeders: Others<'a>,
    arrived: ArrivalState<'a>,
}

/// State of an event that processes the arrivals of several packets at the receiving link.
#[derive(Debug)]
struct ArrivalState<'a> {
    options: &'a mut OptionStore,
    /// Arrival time of the last packet that was processed.
    now: DualClockTime,
    packets: u32,
    /// True if a packet of this event entered the receiving link while the link had no packets to forward.
    first: bool,
}

impl ArrivalState<'_> {
    /// Offers an arriving packet to the link that receives the packets.
    #[inline(always)]
    fn offer<S: PacketService>(&mut self, packet: &Packet, lane: &mut Lane<'_, S>) {
        self.packets += 1;
        self.now = DualClockTime::of(packet);
        match lane.take(packet, packet.route + 1, self.now, self.options) {
            Offer::Accepted => {}
            Offer::First => self.first = true,
            Offer::Dropped => self.options.forget(packet.sack),
        }
    }
}

impl Merging<'_> {
    /// Forwards all packets that arrive by `until`. The type of service is determined once for all packets. While only
    /// one link has packets, no search and no tie-break are necessary.
    #[inline(never)]
    fn run<S: PacketService>(&mut self, mut lane: Lane<'_, S>, until: Time) {
        while let Some((link, time)) = self.merge.next_by(until) {
            let run_until = if self.merge.is_alone() {
                until
            } else {
                Time::ZERO
            };
            let feeder = self.feeders.get(link);
            let mut next = feeder.forward(time);
            debug_assert!(next.is_some(), "a merge knows of packets on links only");
            while let Some(packet) = next {
                self.arrived.offer(packet, &mut lane);
                next = feeder.forward_alone(run_until);
            }
            self.merge.renew(link, feeder.next_arrival());
        }
    }

    /// Forwards all packets that arrive over access links by `until`.
    #[inline(never)]
    fn run_over_access<S: PacketService>(&mut self, mut lane: Lane<'_, S>, until: Time) {
        while let Some(Arriving { packet, .. }) = self.merge.packets.first()
            && packet.time <= until
        {
            self.arrived.offer(packet, &mut lane);
            self.merge.packets.remove_first();
        }
    }
}

impl Network {
    /// Processes the event of the merge `index`: passes packets that arrive over several links to the link behind them.
    pub(crate) fn merge(&mut self, index: u32) {
        let begin = self.dual_clock_time();
        let merge = &mut self.merges[index as usize];
        let until = merge.may_go_on_until(begin.time, &self.schedule);
        let into = merge.into;
        let over_access = merge.packets.first().is_some();
        let (link, feeders) = Others::split(&mut self.links, into);
        let mut merging = Merging {
            merge,
            feeders,
            arrived: ArrivalState {
                options: &mut self.options,
                now: begin,
                packets: 0,
                first: false,
            },
        };
        match link.entrance() {
            Entrance::Exact(lane) if over_access => merging.run_over_access(lane, until),
            Entrance::Explicit(lane) if over_access => merging.run_over_access(lane, until),
            Entrance::Exact(lane) => merging.run(lane, until),
            Entrance::Ns2(lane) => merging.run(lane, until),
            Entrance::Explicit(lane) => merging.run(lane, until),
        }
        let ArrivalState {
            now,
            packets,
            first,
            ..
        } = merging.arrived;
        self.end_run(now, into, first);
        self.merges[index as usize].finish(begin.time, packets, &mut self.schedule);
    }
}
