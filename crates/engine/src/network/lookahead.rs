//! Which links and receivers are served ahead of time; how it is done is in the link's `ahead`.

use std::collections::BTreeSet;

use super::link::{may_be_fed, may_feed};
use super::route::{End, Hop, Routes};
use crate::config::Config;

/// Routes of a TCP connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TcpRoutes {
    /// Position of the data's first hop in the route table.
    pub(crate) data: u32,
    /// Position of the acknowledgements' first hop.
    pub(crate) acknowledgements: u32,
    /// Whether the receiver may wait with an acknowledgement.
    pub(crate) delays: bool,
}

/// What is served ahead of time.
#[derive(Debug)]
pub(super) struct Plan {
    /// By link: whether it hands its packets on.
    pub(super) feeds: Vec<bool>,
    /// By link: whether it gets its packets that way.
    pub(super) is_fed: Vec<bool>,
    /// By connection: whether its receiver does.
    pub(super) receivers: Vec<bool>,
}

/// How links follow one another on all routes.
#[derive(Clone, Debug, Default)]
struct Surroundings {
    /// The links that packets come from and go on to.
    before: BTreeSet<usize>,
    next: BTreeSet<usize>,
    /// Where routes end that begin with the link, and that end with it.
    begin: BTreeSet<End>,
    end: BTreeSet<End>,
}

/// The last link of a connection's data and the first one of its acknowledgements.
#[derive(Clone, Copy, Debug)]
struct Turn {
    last: usize,
    first: usize,
    delays: bool,
}

/// Finds all that can be served ahead of time.
pub(super) fn plan(config: &Config, routes: &Routes, connections: &[TcpRoutes]) -> Plan {
    let links = surroundings(routes, config.links.len());
    let turns: Vec<Turn> = connections.iter().map(|tcp| turn(routes, tcp)).collect();
    let answers = answering_ahead(config, &links, &turns);
    let mut feeds: Vec<bool> = (0..links.len())
        .map(|id| may_feed(&config.links[id]) && goes_on_alone(config, &links, id))
        .collect();
    for turn in &turns {
        feeds[turn.last] &= answers[turn.first];
    }
    let receivers: Vec<bool> = turns.iter().map(|turn| feeds[turn.last]).collect();
    let fed_by_link = |link: &Surroundings| link.before.iter().any(|&before| feeds[before]);
    let mut is_fed: Vec<bool> = links.iter().map(fed_by_link).collect();
    for (turn, &ahead) in turns.iter().zip(&receivers) {
        is_fed[turn.first] |= ahead;
    }
    Plan {
        feeds,
        is_fed,
        receivers,
    }
}

/// Whether all that leaves a link goes to receivers, or to links that nothing else enters.
fn goes_on_alone(config: &Config, links: &[Surroundings], id: usize) -> bool {
    let sole = |next: usize| links[next].before.len() == 1 && links[next].begin.is_empty();
    let link = &config.links[id];
    let next_may =
        |&next: &usize| sole(next) && may_be_fed(&config.links[next], link, config.clock);
    let is_receiver = |&end: &End| end == End::TcpReceiver;
    links[id].next.iter().all(next_may) && links[id].end.iter().all(is_receiver)
}

/// By link, whether acknowledgements may enter it ahead of time: everything that enters it has to
/// come in order, from receivers behind one other link. A timer of one receiver would come between
/// the acknowledgements of the others.
fn answering_ahead(config: &Config, links: &[Surroundings], turns: &[Turn]) -> Vec<bool> {
    let mut behind: Vec<Option<Turn>> = vec![None; links.len()];
    let mut in_order = vec![true; links.len()];
    for turn in turns {
        if let Some(other) = behind[turn.first].replace(*turn) {
            let delays = turn.delays || other.delays;
            in_order[turn.first] &= other.last == turn.last && !delays;
        }
    }
    let may_answer = |(id, link): (usize, &Surroundings)| {
        let only_receivers = link.begin.iter().all(|&end| end == End::TcpSender);
        let alone = link.before.is_empty() && only_receivers;
        let may_follow = |turn: Turn| {
            let last = &config.links[turn.last];
            may_be_fed(&config.links[id], last, config.clock)
        };
        in_order[id] && alone && behind[id].is_some_and(may_follow)
    };
    links.iter().enumerate().map(may_answer).collect()
}

fn turn(routes: &Routes, tcp: &TcpRoutes) -> Turn {
    let mut last = None;
    let mut position = tcp.data;
    while let Hop::Link(link) = routes.hop(position) {
        last = Some(link);
        position += 1;
    }
    let (Some(last), Hop::Link(first)) = (last, routes.hop(tcp.acknowledgements)) else {
        unreachable!("a route begins with a link");
    };
    Turn {
        last: last as usize,
        first: first as usize,
        delays: tcp.delays,
    }
}

fn surroundings(routes: &Routes, count: usize) -> Vec<Surroundings> {
    let mut links = vec![Surroundings::default(); count];
    for route in routes.all() {
        let (hops, end) = route;
        for pair in hops.windows(2) {
            links[pair[0]].next.insert(pair[1]);
            links[pair[1]].before.insert(pair[0]);
        }
        links[hops[0]].begin.insert(end);
        links[hops[hops.len() - 1]].end.insert(end);
    }
    links
}
