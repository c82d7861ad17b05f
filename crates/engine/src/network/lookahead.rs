//! Lookahead: the choice of links that may forward packets ahead of the simulation's time.
//!
//! Once a link has accepted packets, their arrivals at the far end are known. If nothing else affects the far end, the
//! link may forward all its packets in one event, long before their arrival times. The far end may be a link that
//! receives packets only from this link, or an endpoint that sends its answers over a link without other traffic. If
//! several links lead to the same link, their packets are merged up to the earliest time at which an unknown packet
//! could arrive (`merge.rs`). Packets that arrive after the next observation are forwarded after it, since samples must
//! show the state at their time. Packets that arrive at an endpoint after its next timer are also forwarded after the
//! timer.
//!
//! A delay box in front of a link holds each packet for a time that depends only on the packet's flow. A packet is put
//! into the box as soon as its arrival time there is known, even before it arrives (`Network::delay_ahead`).
//!
//! If there are many links with few packets each, links at the edge store no packets. A packet is passed at once to the
//! queue of arrivals at the next link, or to its endpoint (`access.rs`).
//!
//! If a packet is the only one on a link with lookahead, it is forwarded to the next link without an event
//! (`Network::forward_without_events`). A run that ends after a number of exchanges looks ahead only to its earliest
//! possible end (`traffic/stop_condition.rs`).
//!
//! In parallel discrete-event simulation, this is called conservative lookahead (Fujimoto, CACM 33(10), 1990). Here it
//! saves events, searches in the event list, and cache misses. The results do not change (tested by
//! `work_ahead_of_time_agrees` in `tests/behaviour.rs`).

use std::collections::BTreeSet;

use longhaul_units::Span;

use super::merge::Merge;
use super::route::{End, Hop, Routes};
use crate::config::{Clock, Config, Link, Loss, Randomness, Service};
use crate::queue::{Draws, QueueConfig};

/// Destination of the packets that a link forwards ahead of time, and the time up to which the link does so. This time
/// is often the next observation: an event that reads the state of links and flows, such as a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// No lookahead: packets are forwarded at their arrival times.
    OnTime,
    /// Packets go to links or to receivers of datagram streams. Those that arrive by the next observation are forwarded
    /// ahead of time.
    ToObservation,
    /// Packets go over access links to endpoints. Those that can reach an endpoint by the next observation are
    /// forwarded ahead of time. The number is the link's index in `Plan::spreading`.
    ToAccess(u32),
    /// Packets go to links and to endpoints of flows. Those that arrive by the next timer of any endpoint, and by the
    /// next observation (such as a sample), are forwarded ahead of time.
    ToTimer,
    /// Packets go to this sender and to no other endpoint with timers; some may go to links. Those that arrive by the
    /// next observation or the sender's next timer, whichever comes first, are forwarded ahead of time.
    ToSender(u32),
    /// Packets go to this receiver and to no other endpoint with timers; some may go to links. Those that arrive by the
    /// next observation or the receiver's next timer, whichever comes first, are forwarded ahead of time.
    ToReceiver(u32),
    /// Packets go to several receivers and to no other endpoint with timers; some may go to links. Those that arrive by
    /// the next observation or the next timer of any receiver, whichever comes first, are forwarded ahead of time.
    ToReceivers,
    /// Packets to endpoints that delay packets are passed to them ahead of time, up to the next observation. Packets to
    /// other endpoints are delivered at their arrival times.
    ToHolds,
    /// Packets go to the delay boxes in front of the next link. Those that arrive by the next observation (such as a
    /// sample) are forwarded ahead of time.
    ToBoxes,
    /// Packets go to a link that other links lead to as well. The `Merge` with this index processes their arrivals.
    Merged(u32),
}

/// Answers to a link's packets, such as ACKs: the kind of endpoint that sends them, and the one link that they enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answers {
    pub(crate) from: Side,
    /// Number of the link that receives the endpoints' answers to packets.
    pub(crate) to: u32,
}

/// Kind of endpoint of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Senders,
    Receivers,
}

/// An endpoint of a flow. In the route table, `gets` is the position of the route to the endpoint, and `sends` is the
/// position of the route from the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Endpoint {
    /// The sender of a connection.
    Sender {
        connection: u32,
        gets: u32,
        sends: u32,
        /// True if the application stops at a given time, or if the sender sends dummy packets.
        stops: bool,
        /// True if the sender draws random numbers while it sends.
        draws: bool,
    },
    Receiver {
        connection: u32,
        gets: u32,
        sends: u32,
    },
    /// The sender of a datagram stream, which sends at scheduled times.
    Source { sends: u32 },
    /// An endpoint of connections that traffic opens during the run, an endpoint of a foreign stack's connection, or
    /// the sender of a flow with messages. It sends packets in answer to others, and at scheduled times.
    Traffic {
        gets: u32,
        sends: u32,
        /// True if the endpoint delays packets before it processes them.
        holds: bool,
    },
    /// An endpoint of a connection at a node of a proxy. Timers and other connections can also cause it to send.
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

    /// Returns true if the endpoint only sends acknowledgements: its only timer is the delayed-ACK timer.
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
            // The next packet of a proxy depends on other links.
            Self::Proxy { .. } => Delivery::OnTime,
        }
    }
}

/// Lookahead of all links, and the choice of the links that are treated as access links.
#[derive(Debug)]
pub(super) struct Plan {
    /// Lookahead of each link.
    pub(super) deliveries: Vec<Delivery>,
    /// For each link, the single other link that all answers to its packets enter; `None` if there is no such link, or
    /// if the link's lookahead does not allow trains.
    pub(super) answers: Vec<Option<Answers>>,
    pub(super) merges: Vec<Merge>,
    /// Numbers of the access links, in the order of storage. The two links of one endpoint, one for each direction, are
    /// neighbours.
    pub(super) access: Vec<u32>,
    /// Links that lead only to access links, each with the minimum delay of these access links.
    pub(super) spreading: Vec<(u32, Span)>,
}

/// The links and flows that a link exchanges packets with.
#[derive(Clone, Debug, Default)]
struct Surroundings {
    /// Links that pass packets to this link.
    before: BTreeSet<usize>,
    /// Links to which this link passes packets.
    next: BTreeSet<usize>,
    /// Links that deliver packets to the endpoints that send into this link.
    behind: BTreeSet<usize>,
    /// True if packets enter the link at scheduled times, sent by an endpoint or released by impairments, or if a proxy
    /// sends into it.
    has_source: bool,
    /// True if endpoints of flows send into the link at scheduled times, or if a proxy sends into it.
    has_direct_source: bool,
    /// The endpoints of flows that receive packets from the link.
    endpoints: BTreeSet<Endpoint>,
    /// Kinds of receivers at the ends of the routes whose last link is this one.
    ends: BTreeSet<End>,
    carries_data: bool,
    /// Bottleneck links of the data whose acknowledgements use this link.
    answers: BTreeSet<usize>,
}

impl Surroundings {
    /// Returns the single link from which all packets of this link come; `None` if there is no such link. Answers of an
    /// endpoint count as packets from the link that leads to the endpoint.
    fn follows(&self) -> Option<usize> {
        let mut origins = self.before.union(&self.behind);
        let first = origins.next().copied()?;
        let alone = origins.next().is_none() && !self.has_source;
        alone.then_some(first)
    }

    /// Returns true if the link's packets come from several links and from no other source.
    fn merges(&self) -> bool {
        self.before.len() > 1 && self.behind.is_empty() && !self.has_source
    }
}

/// Determines the largest lookahead that does not change results.
pub(super) fn plan(config: &Config, routes: &Routes, endpoints: &[Endpoint]) -> Plan {
    let links = surroundings(config, routes, endpoints);
    let mut plan = Plan {
        deliveries: vec![Delivery::OnTime; links.len()],
        answers: vec![None; links.len()],
        merges: Vec::new(),
        access: Vec::new(),
        spreading: Vec::new(),
    };
    // Captures record events in the order of time.
    if config.captures() || draw_in_turn(config, &links, endpoints) {
        return plan;
    }
    for (id, link) in links.iter().enumerate() {
        if let Some(delivery) = alone_ahead(config, routes, &links, id) {
            plan.deliveries[id] = delivery;
            plan.answers[id] = answers(routes, link, id);
        } else if only_ends_hold_back(link) && is_plain(&config.links[id]) {
            plan.deliveries[id] = Delivery::ToHolds;
        }
    }
    for (id, link) in links.iter().enumerate() {
        if only_delayed_before(config, &links, id) {
            for &feeder in &link.before {
                plan.deliveries[feeder] = Delivery::ToBoxes;
            }
        }
    }
    let merged = |id: &usize| links[*id].merges() && may_merge(config, &links, *id);
    let merged: Vec<usize> = (0..links.len()).filter(merged).collect();
    for (&id, index) in merged.iter().zip(0..) {
        for &feeder in &links[id].before {
            plan.deliveries[feeder] = Delivery::Merged(index);
        }
    }
    plan_access(config, routes, &links, &merged, &mut plan);
    let merge = |id| {
        let slack = slack(config, &links, &plan.deliveries, id);
        Merge::new(id, &links[id].before, &config.links, slack)
    };
    plan.merges = merged.into_iter().map(merge).collect();
    plan
}

/// Minimum size of a group of links that become access links. All links of a group lead to, or come from, the same
/// link. In smaller groups, each link has more packets, and ordinary links are faster (`docs/speed.md`).
const MANY: usize = 2048;

/// Chooses the links that become access links (`access.rs`). The lookahead of all links is already in `plan`.
fn plan_access(
    config: &Config,
    routes: &Routes,
    links: &[Surroundings],
    merged: &[usize],
    plan: &mut Plan,
) {
    let has_priorities = |end| matches!(end, End::DummyReceiver | End::DummySender);
    // A run that may end early reads counters at times that are not known in advance.
    let may_stop = config.measure.stop.is_some();
    if may_stop || routes.all().any(|(_, end)| has_priorities(end)) {
        return;
    }
    let all = |set: &BTreeSet<usize>, is: &dyn Fn(usize) -> bool| {
        set.len() >= MANY && set.iter().all(|&id| is_closed_form(config, id) && is(id))
    };
    let is_first = |id: usize| links[id].before.is_empty();
    let is_last = |id: usize| links[id].behind.is_empty() && leads_to_one(&links[id], plan, id);
    let merged = (merged.iter()).filter(|&&into| all(&links[into].before, &is_first));
    let firsts: BTreeSet<usize> = merged
        .flat_map(|&into| &links[into].before)
        .copied()
        .collect();
    let spreads = |id: usize| {
        let none_ends = links[id].ends.is_empty();
        plan.deliveries[id] == Delivery::ToObservation
            && none_ends
            && all(&links[id].next, &is_last)
    };
    let spreading: Vec<usize> = (0..links.len()).filter(|&id| spreads(id)).collect();
    let mut rest = firsts.clone();
    for id in spreading {
        plan.deliveries[id] = Delivery::ToAccess(plan.spreading.len() as u32);
        let delays = links[id].next.iter().map(|&last| config.links[last].delay);
        let shortest = delays.min().unwrap_or(Span::ZERO);
        plan.spreading.push((id as u32, shortest));
        for &last in &links[id].next {
            plan.access.push(last as u32);
            let sends = links[last].endpoints.iter().map(|end| end.sends());
            let answers = sends.map(|route| ends_of(routes, route).0);
            plan.access
                .extend(answers.filter(|to| rest.remove(to)).map(|to| to as u32));
        }
    }
    plan.access.extend(rest.into_iter().map(|id| id as u32));
    for answers in &mut plan.answers {
        // The answers to a train are put onto an ordinary link. Packets enter access links in another way.
        *answers = answers.filter(|answers| !firsts.contains(&(answers.to as usize)));
    }
}

/// Returns true if all packets of a link reach the same endpoint: one sender or one receiver.
fn leads_to_one(link: &Surroundings, plan: &Plan, id: usize) -> bool {
    let mut ends = link.ends.iter();
    let one = matches!(
        (ends.next(), ends.next()),
        (Some(End::TcpSender | End::TcpReceiver), None)
    );
    let alone = matches!(
        plan.deliveries[id],
        Delivery::ToSender(_) | Delivery::ToReceiver(_)
    );
    one && alone && link.next.is_empty()
}

/// Returns true if the closed form of access links (`access.rs`) holds for a link: it has a drop-tail queue, service on
/// arrival and the exact clock, but no losses, impairments or samples.
fn is_closed_form(config: &Config, id: usize) -> bool {
    let link = &config.links[id];
    matches!(link.queue, QueueConfig::DropTail(_))
        && link.service() == Service::OnArrival
        && config.clock == Clock::Exact
        && matches!(link.direction.loss, Loss::None)
        && !link.is_impaired()
        && !link.sampled
}

/// Returns the maximum time by which a link may process arrivals late without changing results. It is zero if
/// departures are not computed on arrival, or if the link's packets are merged with those of other links. Otherwise, it
/// is the link's delay. If the packets go only to links without other packets, these links' minimum slack is added.
fn slack(config: &Config, links: &[Surroundings], deliveries: &[Delivery], id: usize) -> Span {
    let link = &config.links[id];
    if link.service() == Service::Explicit {
        return Span::ZERO;
    }
    let behind = match deliveries[id] {
        // Packets that arrive later may be before it at the next link.
        Delivery::Merged(_) => return Span::ZERO,
        Delivery::ToObservation => {
            let next = links[id].next.iter();
            next.map(|&next| slack(config, links, deliveries, next))
                .min()
        }
        _ => None,
    };
    link.delay + behind.unwrap_or(Span::ZERO)
}

/// Returns true if the order of random draws may depend on the order of events. This can only happen with ns-2's
/// randomness: there, the whole simulation shares one generator.
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
    let links = config.links.iter();
    let impaired = links.filter(|link| link.is_impaired() || link.direction.jitter.is_some());
    config.randomness == Randomness::Ns2 && draw + impaired.count() > 1
}

/// Returns true if the queue of a link may draw random numbers. Some disciplines draw only in congestion.
/// Acknowledgements alone do not congest a link with enough capacity.
fn queue_draws(config: &Config, links: &[Surroundings], id: usize) -> bool {
    match config.links[id].queue.draws() {
        Draws::Never => false,
        Draws::ForAnyPacket => true,
        Draws::InCongestion => links[id].carries_data || !has_room(config, &links[id], id),
    }
}

/// Returns true if acknowledgements cannot congest a link that carries nothing else: the link's rate is at least the
/// sum of the bottleneck rates of the acknowledged data, and all these links have one rate ([`has_one_rate`]).
fn has_room(config: &Config, around: &Surroundings, id: usize) -> bool {
    let bottlenecks = around.answers.iter().map(|&link| &config.links[link]);
    let fastest: u64 = bottlenecks.clone().map(effective_bps).sum();
    let mut all = bottlenecks.chain([&config.links[id]]);
    all.all(has_one_rate) && fastest <= effective_bps(&config.links[id])
}

/// Returns the long-run rate of a link, in bit/s.
fn effective_bps(link: &Link) -> u64 {
    link.capacity().as_bps()
}

/// Returns the lookahead of a link if the links behind it get only its packets and the answers to them, and if it and
/// all these links are plain ([`is_plain`]). Returns `None` otherwise.
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
    if !is_plain(&config.links[id]) || !links_follow || !answers_follow {
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

/// Returns the single other link that receives all answers to a link's packets, if there is one. Returns `None` if the
/// packets do not all go to TCP senders or all to TCP receivers.
fn answers(routes: &Routes, link: &Surroundings, id: usize) -> Option<Answers> {
    let mut ends = link.ends.iter();
    let from = match (ends.next()?, ends.next()) {
        (End::TcpSender, None) => Side::Senders,
        (End::TcpReceiver, None) => Side::Receivers,
        _ => return None,
    };
    let first_hops = (link.endpoints.iter()).map(|endpoint| routes.hop(endpoint.sends()));
    let mut first_hops = first_hops.collect::<Vec<Hop>>();
    first_hops.dedup();
    match first_hops[..] {
        [Hop::Link(to)] if link.next.is_empty() && to as usize != id => Some(Answers { from, to }),
        _ => None,
    }
}

/// Returns true if the packets of all links that lead to the link `id` may be merged into one sequence of arrivals.
/// These links have to lead only to `id`, to be plain, to compute departures on arrival, and to have a delay.
fn may_merge(config: &Config, links: &[Surroundings], id: usize) -> bool {
    let leads_here = |&feeder: &usize| {
        let (link, around) = (&config.links[feeder], &links[feeder]);
        let nowhere_else = around.next.len() == 1 && around.ends.is_empty();
        let knows_all = link.service() == Service::OnArrival;
        let may = knows_all && is_plain(link);
        may && nowhere_else && link.delay > Merge::ROUNDING
    };
    is_plain(&config.links[id]) && links[id].before.iter().all(leads_here)
}

/// Returns true if packets may be passed to the impairments of a link before they arrive there. There are two
/// conditions. Every link before this one is plain, leads only to this link, and knows the departure of a packet at the
/// packet's arrival. The impairments only delay packets, by known times.
fn only_delayed_before(config: &Config, links: &[Surroundings], id: usize) -> bool {
    let leads_here = |&feeder: &usize| {
        let (link, around) = (&config.links[feeder], &links[feeder]);
        let nowhere_else = around.next.len() == 1 && around.ends.is_empty();
        let knows_all = link.service() == Service::OnArrival;
        knows_all && is_plain(link) && nowhere_else
    };
    config.links[id].only_delays_flows()
        && links[id].behind.is_empty()
        && !links[id].has_direct_source
        && links[id].before.iter().all(leads_here)
}

/// Returns true if a link leads only to endpoints of flows, and some of these delay the packets that they receive.
fn only_ends_hold_back(link: &Surroundings) -> bool {
    link.next.is_empty() && link.endpoints.iter().any(holds_back)
}

/// Returns true if an endpoint delays received packets in a queue.
fn holds_back(endpoint: &Endpoint) -> bool {
    matches!(endpoint, Endpoint::Traffic { holds: true, .. })
}

/// Returns true if the behaviour of a link depends on the arrivals alone.
fn is_plain(link: &Link) -> bool {
    !link.changes_by_events()
}

/// Returns true if a link has no changes (not even of delay or loss) and no delivery trace, and thus one rate.
fn has_one_rate(link: &Link) -> bool {
    link.changes.is_empty() && link.delivery_trace.is_none()
}

fn surroundings(config: &Config, routes: &Routes, endpoints: &[Endpoint]) -> Vec<Surroundings> {
    let mut links = vec![Surroundings::default(); config.links.len()];
    for (link, around) in config.links.iter().zip(&mut links) {
        // Impairments release delayed packets into the link at scheduled times.
        around.has_source = link.is_impaired();
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
        links[hops[hops.len() - 1]].ends.insert(end);
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
        let is_source = matches!(
            endpoint,
            Endpoint::Source { .. } | Endpoint::Traffic { .. } | Endpoint::Proxy { .. }
        );
        links[first].has_source |= is_source;
        links[first].has_direct_source |= is_source;
    }
    links
}

/// Returns the first and the last link of a route.
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
        Hop::Impairments(..) | Hop::Access(_) | Hop::End(_) => None,
    })
}
