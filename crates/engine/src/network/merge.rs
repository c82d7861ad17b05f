//! Links that several others lead to: the packets of all are merged in order of arrival.
//!
//! A packet that is not on one of those links yet takes at least the shortest of their delays, so that up to
//! so long from now all arrivals are known, and one event processes them.

use std::collections::BTreeSet;

use longhaul_units::{Span, Time};

use super::Network;
use crate::config::Link;
use crate::schedule::{Arrivals, Event, NextArrival, Schedule};

/// A link that several others lead to.
#[derive(Debug)]
pub(super) struct Merge {
    pub(super) into: u32,
    arrivals: Arrivals,
    /// When its event is due.
    entry: Time,
    /// A packet that is not on one of the links yet arrives no sooner than this from now.
    lookahead: Span,
    /// How long an arrival may wait for its event, so that one event processes several: until then it has no
    /// effect on anything but the links behind.
    slack: Span,
    /// How long arrivals do wait: not at all where there are many, since more on each link would only make
    /// the search for the next one longer.
    wait: Span,
}

impl Merge {
    /// Links compute arrivals to the picosecond, under ns-2's clock from sums of seconds.
    pub(super) const ROUNDING: Span = Span::from_ps(2);
    /// So many in one event are enough.
    const MANY: u32 = 32;

    pub(super) fn new(into: usize, feeders: &BTreeSet<usize>, links: &[Link], slack: Span) -> Self {
        let delays = feeders.iter().map(|&feeder| links[feeder].delay);
        let shortest = delays.min().unwrap_or(Span::ZERO);
        Self {
            into: into as u32,
            arrivals: Arrivals::default(),
            entry: Time::NEVER,
            lookahead: shortest.saturating_sub(Self::ROUNDING),
            slack: slack.saturating_sub(Self::ROUNDING),
            wait: Span::ZERO,
        }
    }

    /// When the event of an arrival is due: before the next observation.
    fn due(&self, arrival: Time, schedule: &Schedule) -> Time {
        let observation = schedule.next_observation();
        (arrival + self.wait).min(observation).max(arrival)
    }

    /// A link that was empty has a packet. `index` is the merge's own.
    #[inline]
    pub(super) fn push(
        &mut self,
        next: NextArrival,
        link: u32,
        index: u32,
        schedule: &mut Schedule,
    ) {
        self.arrivals.push(next, link);
        let due = self.due(next.time, schedule);
        if due < self.entry {
            self.entry = due;
            schedule.push_link(due, Event::Merge(index));
        }
    }

    /// Until when all arrivals are known, and no observation is due.
    pub(super) fn may_go_on_until(&self, now: Time, schedule: &Schedule) -> Time {
        (now + self.lookahead)
            .min(schedule.next_observation())
            .max(now)
    }

    /// The link of the next arrival, if that is not after `until`, and its time.
    #[inline]
    pub(super) fn next_by(&self, until: Time) -> Option<(u32, Time)> {
        let (time, link) = self.arrivals.first()?;
        (time <= until).then_some((link, time))
    }

    /// The packet of the next arrival has been forwarded; `next` is the next arrival on its link.
    #[inline]
    pub(super) fn renew(&mut self, link: u32, next: Option<NextArrival>) {
        self.arrivals.renew_first(link, next);
    }

    /// The event that was due at `time` has been processed, with so many packets.
    pub(super) fn finish(&mut self, time: Time, packets: u32, schedule: &mut Schedule) {
        self.wait = if packets < Self::MANY {
            self.slack
        } else {
            Span::ZERO
        };
        if self.entry != time {
            // Stale: an earlier one has been entered since.
            schedule.finish_link();
        } else if let Some((next, _)) = self.arrivals.first() {
            self.entry = self.due(next, schedule);
            schedule.renew_link(self.entry);
        } else {
            self.entry = Time::NEVER;
            schedule.finish_link();
        }
    }
}

impl Network {
    /// The event of arrivals at a link that several others lead to.
    pub(crate) fn merge(&mut self, index: u32) {
        let begin = self.now;
        let until = self.merges[index as usize].may_go_on_until(begin, &self.schedule);
        let mut packets = 0;
        while let Some((link, time)) = self.merges[index as usize].next_by(until) {
            packets += 1;
            let feeder = &mut self.links[link as usize];
            let Some(packet) = feeder.forward(time) else {
                unreachable!("a merge knows of packets on links only");
            };
            self.now = packet.time;
            self.ns2_s = packet.ns2_s;
            let next = feeder.next_arrival();
            let merge = &mut self.merges[index as usize];
            merge.renew(link, next);
            let into = merge.into;
            self.transfer(link, into);
        }
        self.merges[index as usize].finish(begin, packets, &mut self.schedule);
    }
}
