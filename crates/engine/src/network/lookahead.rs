//! Lookahead: which links may forward packets ahead of the simulation's time.
//!
//! Once a link has accepted a packet, it is known when the packet reaches the far end, and after
//! which others. If nothing else acts on what is there, the link may forward all its packets at
//! once, long before their time: to links that only it leads to, and to ends of flows that send
//! into such links. A link that several others lead to gets their packets merged, as far ahead as
//! no packet to come can overtake them. Nothing goes past the next observation, so that whatever is
//! measured is measured on time, nor do the ends of flows go past their timers.
//!
//! A packet that arrives at a link which may work ahead, and has forwarded all others, is forwarded to the next
//! link at once (`Network::forward_without_events`). A run that may end before its time, after so many exchanges, works ahead
//! up to the earliest time at which it can end (`traffic/stop_condition.rs`).
//!
//! The results are the same (tested); events, which each take a search in the event list and a jump
//! to another part of memory, become rare.

use std::collections::BTreeSet;

use longhaul_units::{Span, Time};

use super::NextArrival;
use super::route::{End, Hop, Routes};
use crate::config::{Config, Link, Randomness, Service};
use crate::queue::Draws;
use crate::schedule::{Arrivals, Event, Schedule};

/// How far ahead of the simulation a link forwards its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Not at all.
    OnTime,
    /// To links, up to the next observation.
    ToObservation,
    /// To ends of flows also, up to the next timer of any of them.
    ToTimer,
    /// To one sender of a connection, up to its own timer.
    ToSender(u32),
    /// To one receiver of a connection, up to its own timer.
    ToReceiver(u32),
    /// To receivers of connections alone, up to the next timer of any receiver.
    ToReceivers,
    /// To ends of dialogues that hold packets back, up to the next observation; other packets on time.
    ToHolds,
    /// It leads to a link that several lead to, which merges their packets.
    Merged(u32),
}

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Endpoint {
    /// Of a connection. The routes are positions in the route table: of the packets that it gets,
    /// and of those that it sends.
    Sender {
        connection: u32,
        gets: u32,
        sends: u32,
        /// Whether its application stops at some time, or it sends at times of its own.
        stops: bool,
        /// Whether it draws random numbers while it sends.
        draws: bool,
    },
    Receiver {
        connection: u32,
        gets: u32,
        sends: u32,
    },
    /// Of a datagram stream, which sends at times of its own.
    Source { sends: u32 },
    /// Of connections that are not known beforehand: packets answer packets, and others leave at
    /// times of their own.
    Traffic {
        gets: u32,
        sends: u32,
        /// Whether it holds packets back before it takes them.
        holds: bool,
    },
    /// Of a connection at a node of a proxy: what it sends leaves when a timer or another connection
    /// says so.
    Proxy { gets: u32, sends: u32, draws: bool },
}

impl Endpoint {
    fn gets(self) -> Option<u32> {
        match self {
            Self::Sender { gets, .. }
            | Self::Receiver { gets, .. }
            | Self::Traffic { gets, .. }
            | Self::Proxy { gets, .. } => Some(gets),
            Self::Source { .. } => None,
        }
    }

    fn sends(self) -> u32 {
        match self {
            Self::Sender { sends, .. }
            | Self::Receiver { sends, .. }
            | Self::Source { sends }
            | Self::Traffic { sends, .. }
            | Self::Proxy { sends, .. } => sends,
        }
    }

    /// Whether it only answers, with its delayed acknowledgements for a timer.
    fn is_receiver(&self) -> bool {
        matches!(self, Self::Receiver { .. })
    }

    fn delivery(self) -> Delivery {
        match self {
            Self::Sender {
                connection,
                stops: false,
                ..
            } => Delivery::ToSender(connection),
            Self::Receiver { connection, .. } => Delivery::ToReceiver(connection),
            Self::Sender { .. } | Self::Source { .. } | Self::Traffic { .. } => Delivery::ToTimer,
            // What comes next out of it depends on other links.
            Self::Proxy { .. } => Delivery::OnTime,
        }
    }
}

/// Which links work ahead of time, and how far.
#[derive(Debug)]
pub(super) struct Plan {
    /// By link.
    pub(super) deliveries: Vec<Delivery>,
    pub(super) merges: Vec<Merge>,
}

/// A link that several others lead to.
#[derive(Debug)]
pub(super) struct Merge {
    pub(super) into: u32,
    arrivals: Arrivals,
    /// When its event is due.
    entry: Time,
    /// No packet that is not on one of the links yet arrives sooner than this from now.
    lookahead: Span,
}

impl Merge {
    /// Links compute arrivals to the picosecond, under ns-2's clock from sums of seconds.
    const ROUNDING: Span = Span::from_ps(2);

    fn new(into: usize, feeders: &BTreeSet<usize>, links: &[Link]) -> Self {
        let delays = feeders.iter().map(|&feeder| links[feeder].delay);
        let shortest = delays.min().unwrap_or(Span::ZERO);
        Self {
            into: into as u32,
            arrivals: Arrivals::default(),
            entry: Time::NEVER,
            lookahead: shortest.saturating_sub(Self::ROUNDING),
        }
    }

    /// A link has a packet again. `index` is the merge's own.
    pub(super) fn push(
        &mut self,
        next: NextArrival,
        link: u32,
        index: u32,
        schedule: &mut Schedule,
    ) {
        self.arrivals.push(next, link);
        if next.time < self.entry {
            self.entry = next.time;
            schedule.push_link(next.time, Event::Merge(index));
        }
    }

    /// Until when the arrivals that are known are all there will be.
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

    /// The packet of the next arrival has been taken; the next one of its link comes at `next`.
    #[inline]
    pub(super) fn renew(&mut self, link: u32, next: Option<NextArrival>) {
        self.arrivals.renew_first(link, next);
    }

    /// The event that was taken at `time` is over.
    pub(super) fn finish(&mut self, time: Time, schedule: &mut Schedule) {
        if self.entry != time {
            // An earlier one has been entered since this one was.
            schedule.finish_link();
        } else if let Some((next, _)) = self.arrivals.first() {
            self.entry = next;
            schedule.renew_link(next);
        } else {
            self.entry = Time::NEVER;
            schedule.finish_link();
        }
    }
}

/// The links and flows around a link.
#[derive(Clone, Debug, Default)]
struct Surroundings {
    /// The links that packets come from and go on to.
    before: BTreeSet<usize>,
    next: BTreeSet<usize>,
    /// The last links on the way to the ends of flows that send into the link.
    behind: BTreeSet<usize>,
    /// Whether something sends into it at times of its own.
    has_source: bool,
    /// The ends of flows that get packets from the link.
    endpoints: BTreeSet<Endpoint>,
    /// Whether routes end behind it.
    ends_here: bool,
    carries_data: bool,
    /// The bottlenecks of what the ends answer that send into the link.
    answers: BTreeSet<usize>,
}

impl Surroundings {
    /// The one link whose packets, or what they are answered with, are all that enters this one.
    fn follows(&self) -> Option<usize> {
        let mut origins = self.before.union(&self.behind);
        let first = origins.next().copied()?;
        let alone = origins.next().is_none() && !self.has_source;
        alone.then_some(first)
    }

    /// Whether several links lead here, and nothing else does.
    fn merges(&self) -> bool {
        self.before.len() > 1 && self.behind.is_empty() && !self.has_source
    }
}

/// Finds all lookahead that changes no result.
pub(super) fn plan(config: &Config, routes: &Routes, endpoints: &[Endpoint]) -> Plan {
    let links = surroundings(config, routes, endpoints);
    let mut plan = Plan {
        deliveries: vec![Delivery::OnTime; links.len()],
        merges: Vec::new(),
    };
    if draw_in_turn(config, &links, endpoints) {
        return plan;
    }
    for (id, link) in links.iter().enumerate() {
        if let Some(delivery) = alone_ahead(config, routes, &links, id) {
            plan.deliveries[id] = delivery;
        } else if link.endpoints.iter().any(holds_back) && may_work_ahead(&config.links[id]) {
            plan.deliveries[id] = Delivery::ToHolds;
        }
    }
    for (id, link) in links.iter().enumerate() {
        if link.merges() && may_merge(config, &links, id) {
            let index = plan.merges.len() as u32;
            plan.merges
                .push(Merge::new(id, &link.before, &config.links));
            for &feeder in &link.before {
                plan.deliveries[feeder] = Delivery::Merged(index);
            }
        }
    }
    plan
}

/// Whether the order of random numbers may depend on the order of events: ns-2 has one generator
/// for all.
fn draw_in_turn(config: &Config, links: &[Surroundings], endpoints: &[Endpoint]) -> bool {
    let queues = (0..links.len()).filter(|&id| queue_draws(config, links, id));
    let is_drawing = |endpoint: &&Endpoint| {
        matches!(
            endpoint,
            Endpoint::Sender { draws: true, .. }
                | Endpoint::Traffic { .. }
                | Endpoint::Proxy { draws: true, .. }
        )
    };
    let draw = queues.count() + endpoints.iter().filter(is_drawing).count();
    let impairments = config
        .links
        .iter()
        .filter(|link| link.impairments.is_some());
    config.randomness == Randomness::Ns2 && draw + impairments.count() > 1
}

/// Whether a link's queue draws random numbers, or may come to. Some disciplines do so only in
/// congestion, which acknowledgements alone do not cause where they have room.
fn queue_draws(config: &Config, links: &[Surroundings], id: usize) -> bool {
    match config.links[id].queue.draws() {
        Draws::Never => false,
        Draws::ForAnyPacket => true,
        Draws::InCongestion => links[id].carries_data || !has_room(config, &links[id], id),
    }
}

/// Whether a link that carries only acknowledgements is as fast as all the bottlenecks together of
/// the data that they answer: its load is then what they are shorter than segments.
fn has_room(config: &Config, around: &Surroundings, id: usize) -> bool {
    let bottlenecks = around.answers.iter().map(|&link| &config.links[link]);
    let fastest: u64 = bottlenecks.clone().map(effective_bps).sum();
    let mut all = bottlenecks.chain([&config.links[id]]);
    all.all(is_plain) && fastest <= effective_bps(&config.links[id])
}

/// What a link sends in the long run.
fn effective_bps(link: &Link) -> u64 {
    let shaped = link.shaper.map_or(link.rate, |shaper| shaper.rate);
    shaped.min(link.rate).as_bps()
}

/// How far ahead a link may forward its packets, if everything at its far end waits for it alone.
fn alone_ahead(
    config: &Config,
    routes: &Routes,
    links: &[Surroundings],
    id: usize,
) -> Option<Delivery> {
    let follows = |next: usize| links[next].follows() == Some(id) && is_plain(&config.links[next]);
    let link = &links[id];
    let first_link = |endpoint: &Endpoint| ends_of(routes, endpoint.sends()).0;
    let links_follow = link.next.iter().all(|&next| follows(next));
    let answers_follow = link
        .endpoints
        .iter()
        .all(|endpoint| follows(first_link(endpoint)));
    if !may_work_ahead(&config.links[id]) || !links_follow || !answers_follow {
        return None;
    }
    let mut endpoints = link.endpoints.iter();
    Some(match (endpoints.next(), endpoints.next()) {
        (None, _) => Delivery::ToObservation,
        (Some(one), None) => one.delivery(),
        (Some(_), Some(_)) if link.endpoints.iter().all(Endpoint::is_receiver) => {
            Delivery::ToReceivers
        }
        (Some(_), Some(_)) => Delivery::ToTimer,
    })
}

/// Whether the links before one lead nowhere else, and take time.
fn may_merge(config: &Config, links: &[Surroundings], id: usize) -> bool {
    let leads_here = |&feeder: &usize| {
        let (link, around) = (&config.links[feeder], &links[feeder]);
        let nowhere_else = around.next.len() == 1 && !around.ends_here;
        let knows_all = link.service() == Service::OnArrival;
        let may = knows_all && may_work_ahead(link);
        may && nowhere_else && link.delay > Merge::ROUNDING
    };
    is_plain(&config.links[id]) && links[id].before.iter().all(leads_here)
}

/// Whether a link may forward packets ahead of time at all.
fn may_work_ahead(link: &Link) -> bool {
    is_plain(link) && !link.captured
}

/// Whether an end puts packets that it gets into a queue, in which they wait for a time of their own.
fn holds_back(endpoint: &Endpoint) -> bool {
    matches!(endpoint, Endpoint::Traffic { holds: true, .. })
}

/// Whether what a link does depends on nothing but what arrives.
fn is_plain(link: &Link) -> bool {
    link.changes.is_empty()
}

fn surroundings(config: &Config, routes: &Routes, endpoints: &[Endpoint]) -> Vec<Surroundings> {
    let mut links = vec![Surroundings::default(); config.links.len()];
    for (link, around) in config.links.iter().zip(&mut links) {
        // What it holds back enters the link at times of its own.
        around.has_source = link.impairments.is_some();
    }
    for (hops, end) in routes.all() {
        for pair in hops.windows(2) {
            links[pair[0]].next.insert(pair[1]);
            links[pair[1]].before.insert(pair[0]);
        }
        for &hop in &hops {
            let acknowledges =
                matches!(end, End::TcpSender | End::TrafficSender | End::DummySender);
            links[hop].carries_data |= !acknowledges;
        }
        links[hops[hops.len() - 1]].ends_here = true;
    }
    for &endpoint in endpoints {
        let (first, _) = ends_of(routes, endpoint.sends());
        if let Some(route) = endpoint.gets() {
            let (_, last) = ends_of(routes, route);
            links[first].behind.insert(last);
            links[last].endpoints.insert(endpoint);
            let bottleneck =
                links_of(routes, route).min_by_key(|&link| effective_bps(&config.links[link]));
            for link in links_of(routes, endpoint.sends()) {
                links[link].answers.extend(bottleneck);
            }
        }
        links[first].has_source |= matches!(
            endpoint,
            Endpoint::Source { .. } | Endpoint::Traffic { .. } | Endpoint::Proxy { .. }
        );
    }
    links
}

/// The first and the last link of a route.
fn ends_of(routes: &Routes, route: u32) -> (usize, usize) {
    let first = links_of(routes, route).next();
    let last = links_of(routes, route).last();
    first.zip(last).expect("a route begins with a link")
}

fn links_of(routes: &Routes, route: u32) -> impl Iterator<Item = usize> {
    let hops = (route..).map(|position| routes.hop(position));
    let hops = hops.take_while(|hop| !matches!(hop, Hop::End(_)));
    hops.filter_map(|hop| match hop {
        Hop::Link(link) => Some(link as usize),
        Hop::Impairments(..) | Hop::End(_) => None,
    })
}
