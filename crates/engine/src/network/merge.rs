//! Merging: packets of several links that lead to one link are processed in order of arrival.
//!
//! A packet that is not yet on one of those links takes at least the smallest of their delays, so
//! all arrivals within that delay from now are known, and one event processes them.

use std::collections::BTreeSet;

use longhaul_units::{Span, Time};

use super::Network;
use super::link::{DualClockTime, Entrance, Lane, Offer, PacketService};
use super::others::Others;
use crate::config;
use crate::packet::{OptionStore, Packet};
use crate::schedule::{Arrivals, Arriving, CalendarQueue, Event, NextArrival, Schedule};

/// A link that several others lead to.
#[derive(Debug)]
pub(super) struct Merge {
    pub(super) into: u32,
    arrivals: Arrivals,
    /// Packets over access links, which do not store them.
    packets: CalendarQueue<Arriving>,
    /// Time of the scheduled event.
    entry: Time,
    /// Minimum time until the arrival of a packet that is not on one of the links yet.
    lookahead: Span,
    /// Maximum time for which an arrival may wait for its event, so that one event processes
    /// several arrivals. During this time, an arrival affects only the link and the links that
    /// follow.
    slack: Span,
    /// Time for which arrivals do wait. It is zero if there are many arrivals per event: with more
    /// packets on each link, only the search for the next one would take longer.
    wait: Span,
}

impl Merge {
    /// Rounding error of an arrival: links compute it to the picosecond, and with ns-2's clock from
    /// sums of floating-point seconds.
    pub(super) const ROUNDING: Span = Span::from_ps(2);
    /// Number of packets per event above which arrivals do not wait.
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

    /// Returns the time of the event for an arrival, which is before the next observation.
    fn due(&self, arrival: Time, schedule: &Schedule) -> Time {
        let observation = schedule.next_observation();
        (arrival + self.wait).min(observation).max(arrival)
    }

    /// Records that a link that was empty has a packet. `index` is the index of this merge.
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

    /// Records a packet that has entered an access link. `index` is the index of this merge.
    #[inline]
    pub(super) fn push_packet(&mut self, arriving: Arriving, index: u32, schedule: &mut Schedule) {
        self.packets.push(arriving);
        if arriving.packet.time < self.entry {
            self.enter(arriving.packet.time, index, schedule);
        }
    }

    /// Schedules the event of an arrival, unless there is an earlier event.
    #[inline]
    fn enter(&mut self, arrival: Time, index: u32, schedule: &mut Schedule) {
        let due = self.due(arrival, schedule);
        if due < self.entry {
            self.entry = due;
            schedule.push_link(due, Event::Merge(index));
        }
    }

    /// Returns the time until which all arrivals are known and no observation is due.
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

    /// Returns true if no link other than the one of the next arrival has packets.
    #[inline]
    fn is_alone(&self) -> bool {
        self.arrivals.len() == 1
    }

    /// Replaces the next arrival, whose packet has been forwarded, by the next arrival `next` on
    /// its link.
    #[inline]
    pub(super) fn renew(&mut self, link: u32, next: Option<NextArrival>) {
        self.arrivals.renew_first(link, next);
    }

    /// Returns the time of the next arrival.
    fn first(&self) -> Option<Time> {
        let over_access = self.packets.first().map(|first| first.packet.time);
        over_access.or_else(|| self.arrivals.first().map(|(time, _)| time))
    }

    /// Ends the event that was due at `time` and has processed this many packets.
    pub(super) fn finish(&mut self, time: Time, packets: u32, schedule: &mut Schedule) {
        self.wait = if packets < Self::MANY {
            self.slack
        } else {
            Span::ZERO
        };
        if self.entry != time {
            // The event is stale: an earlier one has been scheduled since.
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

/// An event of arrivals, with all state that it uses.
#[derive(Debug)]
struct Merging<'a> {
    merge: &'a mut Merge,
    feeders: Others<'a>,
    arrived: ArrivalState<'a>,
}

/// State of the arrivals in an event.
#[derive(Debug)]
struct ArrivalState<'a> {
    options: &'a mut OptionStore,
    /// Arrival of the last packet.
    now: DualClockTime,
    packets: u32,
    /// True if the common next link had no packet to forward when one arrived.
    first: bool,
}

impl ArrivalState<'_> {
    /// Offers the next packet to the common next link.
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
    /// Forwards all packets that arrive by `until`. The type of service is determined once for all
    /// of them. If only one link has packets, its packets need no search for the first, and no
    /// tie-break.
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

    /// Forwards all packets over access links that arrive by `until`.
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
    /// Processes the event of arrivals at a link that several others lead to.
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
