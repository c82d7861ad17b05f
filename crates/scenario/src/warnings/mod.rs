//! Warnings about values that are allowed but probably not intended.

mod memory;
mod output_size;
mod queues;

use std::collections::BTreeMap;

use longhaul_congestion::{
    CongestionControl, ControllerSpec, Needs, PathNeeds, QueueNeed, registry,
};
use longhaul_engine::Loss;
use longhaul_engine::config::{
    Config, Distribution, Ecn, Link, Pacing, Proxy, Recovery, RttClock, Source, Spacing, Start,
    Tcp, Transport,
};
use longhaul_engine::queue::{Capacity, QueueConfig};
use longhaul_keys::KIND;
use longhaul_units::{Rate, Span, Time};

use crate::document::Origin;
use crate::link::AccessKeys;
use crate::model::Scenario;
use crate::model::flow::{AnyFlow, FlowAccess};
use crate::proxy::keys::ProxyKeys;
use crate::queue;
use crate::render::ExplainRow;
use crate::resolve::ResolvedDocument;

pub(crate) use output_size::expected_bytes;

/// Returns the warnings about a valid scenario.
pub(crate) fn warnings(resolved: &ResolvedDocument, config: &Config) -> Vec<String> {
    let mut out = Vec::new();
    if config.replication > 0 && drawn(config).is_empty() {
        let replication = config.replication;
        out.push(format!(
            "replication {replication} changes nothing: {NOTHING_DRAWN}"
        ));
    }
    output_size::warn_of_sampling(config, &mut out);
    output_size::warn_of_captures(config, &mut out);
    memory::warn_of_windows(config, &mut out);
    warn_of_flows(resolved, config, &mut out);
    warn_of_host_queues(resolved, &mut out);
    warn_of_ecn(config, &mut out);
    warn_of_recovery(config, &mut out);
    warn_of_timeouts(resolved, config, &mut out);
    warn_of_phases(resolved, config, &mut out);
    warn_of_own_bursts(config, &mut out);
    warn_of_routers(resolved, &mut out);
    warn_of_proxies(resolved, &mut out);
    queues::warn_of_targets(config, &mut out);
    queues::warn_of_thresholds(config, &mut out);
    queues::warn_of_stale_rates(config, &mut out);
    queues::warn_of_shared_ack_filters(resolved, config, &mut out);
    warn_of_stacks(resolved, &mut out);
    out
}

/// Adds the warnings about the flows' QUIC stacks, each with the label of the group of flows.
fn warn_of_stacks(resolved: &ResolvedDocument, out: &mut Vec<String>) {
    let groups = resolved.root.tables(Scenario::flows);
    for (group, path) in groups.zip(&resolved.paths) {
        let label = group.word(AnyFlow::label);
        let warnings = path.stack.iter().flat_map(|stack| &stack.warnings);
        out.extend(warnings.map(|warning| format!("flows `{label}`: {warning}")));
    }
}

fn tcps(config: &Config) -> impl Iterator<Item = &Tcp> {
    let flows = config.flows.iter();
    let proxies = config.proxies.iter().map(|proxy| &proxy.tcp);
    flows
        .filter_map(|flow| flow.transport.tcp())
        .chain(proxies)
        .map(AsRef::as_ref)
}

/// Returns the bytes of a full data packet of a flow, headers included; 0 for a flow of real programs.
fn packet_bytes(transport: &Transport) -> u32 {
    match transport {
        Transport::Udp(udp) => udp.packet_bytes,
        Transport::Stack(stack) => stack.packet_bytes,
        Transport::Outside(_) => 0,
        Transport::Tcp(tcp) | Transport::Traffic(tcp, _) | Transport::Messages(tcp, _) => {
            segment_bytes(tcp)
        }
    }
}

/// Returns the size of a full segment in bytes, with headers and options.
fn segment_bytes(tcp: &Tcp) -> u32 {
    tcp.mss_bytes + tcp.header_bytes + tcp.timestamps.bytes().unwrap_or(0)
}

/// Returns the requirements of an algorithm on its path; none for an unregistered algorithm.
fn needs_path(congestion: &ControllerSpec) -> PathNeeds {
    let registered = congestion.custom.is_none();
    let entry = registered.then(|| registry::find_algorithm(&congestion.kind));
    entry.map_or(PathNeeds::NONE, |entry| {
        entry.map_or(PathNeeds::NONE, |entry| entry.needs_path)
    })
}

/// Returns the requirements of a registered algorithm on the transport.
fn needs(tcp: &Tcp) -> Needs {
    match (&tcp.congestion.custom, tcp.congestion.build()) {
        (None, Ok(controller)) => controller.needs(),
        _ => Needs::default(),
    }
}

/// Message that replications of a scenario without random draws differ only in the order of simultaneous packets, with
/// changes that would make them differ in more. This order does not count as a draw.
pub(crate) const NOTHING_DRAWN: &str = "nothing is drawn at random but the order of packets that arrive \
     together; draw start times (start = { uniform = [\"0 s\", \"1 s\"] }), or losses, traffic or a delay box";

/// Returns the parts of the simulation that random numbers decide, except the order of simultaneous packets. Requests,
/// web pages and bursts are included even if all their sizes and times are constant.
pub(crate) fn drawn(config: &Config) -> Vec<&'static str> {
    let links = || config.links.iter();
    let random_loss = links().any(|link| {
        let changes = link
            .changes
            .iter()
            .filter_map(|change| change.loss.as_ref());
        [&link.direction.loss]
            .into_iter()
            .chain(changes)
            .any(is_random)
    });
    let random_queue = links().any(|link| link.queue.is_random());
    let random_impairments = links().any(impairments_draw);
    let random_proxy = config.proxies.iter().any(Proxy::draws);
    let random_tcp = tcps(config).any(|tcp| {
        tcp.send_jitter.as_ps() > 0 || matches!(tcp.rto.clock, RttClock::Ns2Ticks { .. })
    });
    let random_start = config
        .flows
        .iter()
        .any(|flow| matches!(flow.start, Start::Uniform(..)));
    let draws = |transport: &Transport| match transport {
        Transport::Traffic(_, source) => {
            matches!(source.as_ref(), Source::Requests(_) | Source::Web(_))
        }
        Transport::Messages(..) => true,
        Transport::Udp(udp) => udp.bursts.is_some() || udp.spacing != Spacing::Even,
        Transport::Tcp(_) | Transport::Stack(_) | Transport::Outside(_) => false,
    };
    let random_traffic = config.flows.iter().any(|flow| draws(&flow.transport));
    let all = [
        (random_start, "start times"),
        (random_traffic, "traffic"),
        (random_loss, "losses"),
        (random_queue, "queues"),
        (random_impairments, "impairments"),
        (random_tcp, "timers"),
        (random_proxy, "proxies"),
    ];
    let drawn = all.into_iter().filter(|(draws, _)| *draws);
    drawn.map(|(_, what)| what).collect()
}

/// Returns the row of `longhaul explain` that lists the parts of the simulation decided by random numbers.
pub(crate) fn explain_drawn(config: &Config) -> ExplainRow {
    let drawn = drawn(config);
    let (value, origin) = match drawn.is_empty() {
        true => ("nothing".to_string(), format!("derived: {NOTHING_DRAWN}")),
        false => (
            drawn.join(", "),
            "derived: what differs by seed and replication".to_string(),
        ),
    };
    ExplainRow {
        path: "drawn at random".to_string(),
        value,
        origin,
    }
}

fn varies(drawn: &Option<Distribution>) -> bool {
    let drawn = drawn.as_ref();
    drawn.is_some_and(|drawn| !matches!(drawn, Distribution::Constant(_)))
}

fn impairments_draw(link: &Link) -> bool {
    let keys = &link.direction;
    let by_flow = link.delay_box.as_ref().is_some_and(|delay_box| {
        varies(&delay_box.rate) || varies(&delay_box.delay) || delay_box.loses()
    });
    by_flow
        || varies(&link.host_processing_delay)
        || varies(&keys.jitter)
        || keys
            .duplication
            .is_some_and(|probability| probability > 0.0)
        || keys.reordering.is_some()
}

fn is_random(loss: &Loss) -> bool {
    match loss {
        Loss::None | Loss::List(_) => false,
        Loss::Bernoulli(p) => *p > 0.0 && *p < 1.0,
        Loss::GilbertElliott(_) => true,
    }
}

fn warn_of_flows(resolved: &ResolvedDocument, config: &Config, out: &mut Vec<String>) {
    let groups = resolved.root.tables(Scenario::flows);
    for (group, path) in groups.zip(&resolved.paths) {
        let label = group.word(AnyFlow::label);
        let tcp = config.flows.iter().find(|flow| flow.label == label);
        // A split connection has no single window for the whole path.
        if let Some(Transport::Tcp(tcp)) = tcp.map(|flow| &flow.transport)
            && path.via.is_none()
        {
            let window = tcp.send_buffer.unwrap_or(u64::MAX).min(tcp.receive_window);
            let bdp = path.rate.bdp(path.rtt).0 / group.read(AnyFlow::packet).0;
            if window.saturating_mul(group.read(AnyFlow::count)) < bdp {
                out.push(format!(
                    "flows `{label}` can never fill their path: {} windows of {window} segments, \
                     bandwidth-delay product {bdp} packets",
                    group.read(AnyFlow::count)
                ));
            }
        }
    }
    let starts_late = |start: Start| match start {
        Start::At(at) => at > config.measure.from,
        Start::Uniform(_, latest) => latest > config.measure.from,
    };
    if config.measure.from > Time::ZERO && config.flows.iter().any(|flow| starts_late(flow.start)) {
        out.push(
            "some flows start after measure.from, so goodput includes time before they start"
                .into(),
        );
    }
}

/// Warns about access links that are not faster than the rest of the path, if their queues have the default limit.
/// Packets then wait in these queues, at the hosts. The queues can become very long, since the default limit is meant
/// for faster access links.
fn warn_of_host_queues(resolved: &ResolvedDocument, out: &mut Vec<String>) {
    let groups = resolved.root.tables(Scenario::flows);
    for (group, path) in groups.zip(&resolved.paths) {
        let Some(access) = group.table(FlowAccess::access) else {
            continue;
        };
        let (rate, queue) = (access.read(AccessKeys::rate), access.sub(AccessKeys::queue));
        let limit = queue.node(Capacity::FIELD);
        if rate > path.rate || !matches!(limit.origin, Origin::Default) {
            continue;
        }
        let packet = group.read(AnyFlow::packet);
        let held = queue::capacity_packets(queue, packet);
        let wait_s = held * packet.0 as f64 * 8.0 / rate.as_bps() as f64;
        out.push(format!(
            "flows `{}` queue up at their own hosts, whose access links of {rate} are no faster than the path behind \
             them: by default {held:.0} packets, or {}; write access.queue.limit",
            group.word(AnyFlow::label),
            Span::from_secs_f64(wait_s)
        ));
    }
}

fn warn_of_ecn(config: &Config, out: &mut Vec<String>) {
    let marks = config.links.iter().any(|link| link.queue.marks());
    // The QUIC stacks that come with the program always send ECN-capable packets.
    let mut transports = config.flows.iter().map(|flow| &flow.transport);
    let quic = transports.any(|transport| matches!(transport, Transport::Stack(_)));
    let uses = quic || tcps(config).any(|tcp| tcp.ecn.is_on());
    if marks && !uses {
        out.push("a queue marks ECN-capable packets, but no flow uses ECN (tcp.ecn)".into());
    }
    for (number, proxy) in config.proxies.iter().enumerate() {
        let flows = config.flows.iter();
        let split = flows.filter(|flow| [flow.via, flow.via_back].contains(&Some(number)));
        let mut tcps = split.filter_map(|flow| flow.transport.tcp());
        if proxy.queues().any(QueueConfig::marks) && !tcps.any(|tcp| tcp.ecn.is_on()) {
            out.push(format!(
                "the local queue of proxy `{}` marks ECN-capable packets, but no flow that it splits \
                 uses ECN (tcp.ecn)",
                proxy.name
            ));
        }
    }
    let unresponsive = tcps(config).find(|tcp| tcp.ecn.is_on() && needs(tcp).no_ecn);
    if let Some(tcp) = unresponsive {
        out.push(format!(
            "`{}` does not respond to marks, which RFC 3168 section 6.1.2 asks of flows that use ECN \
             (tcp.ecn): queues mark its packets instead of dropping them, to no effect",
            tcp.congestion.kind
        ));
    }
    let inexact = tcps(config).find(|tcp| needs(tcp).l4s && tcp.ecn != Ecn::Accurate);
    if let Some(tcp) = inexact {
        out.push(format!(
            "`{}` counts marks, which ACKs report exactly only with tcp.ecn = \"accecn\" (RFC 9331 section 4.2)",
            tcp.congestion.kind
        ));
    }
    let is_decbit = |queue: &&QueueConfig| matches!(queue, QueueConfig::DecBit(_));
    let mut queues = config.links.iter().map(|link| &link.queue);
    let Some(decbit) = queues.find(is_decbit).map(QueueConfig::kind) else {
        return;
    };
    let is_made_for_it = |tcp: &Tcp| {
        let queue = needs_path(&tcp.congestion).queue;
        queue.is_some_and(|queue| queue.kind == decbit)
    };
    if let Some(other) = tcps(config).find(|tcp| tcp.ecn.is_on() && !is_made_for_it(tcp)) {
        out.push(format!(
            "a queue of kind `{decbit}` marks whenever a packet or two wait, which `{}` takes for \
             congestion; it is made for `{decbit}` senders",
            other.congestion.kind
        ));
    }
}

fn warn_of_recovery(config: &Config, out: &mut Vec<String>) {
    let rack = |tcp: &&Tcp| matches!(tcp.recovery, Recovery::RackTlp | Recovery::RackTlpPrr);
    let mut others = tcps(config).filter(|tcp| !rack(tcp));
    if let Some(tcp) = others.find(|tcp| needs(tcp).rack_tlp) {
        out.push(format!(
            "`{}` without RACK-TLP (recovery) waits for a retransmission timeout whenever a \
             retransmission is lost again",
            tcp.congestion.kind
        ));
    }
}

/// Warns about flows with timers that expire before an acknowledgement or SYN-ACK can arrive.
fn warn_of_timeouts(resolved: &ResolvedDocument, config: &Config, out: &mut Vec<String>) {
    let groups = resolved.root.tables(Scenario::flows);
    for (group, path) in groups.zip(&resolved.paths) {
        let label = group.word(AnyFlow::label);
        let flow = config.flows.iter().find(|flow| flow.label == label);
        // A split connection ends at its proxy.
        let tcp = flow.and_then(|flow| flow.transport.tcp());
        let Some(rto) = tcp.filter(|_| path.via.is_none()).map(|tcp| tcp.rto) else {
            continue;
        };
        if path.rtt >= rto.max {
            out.push(format!(
                "flows `{label}` time out before any acknowledgement can come: their base round trip of {} is not \
                 below tcp.rto.max = {}; write a larger one",
                path.rtt, rto.max
            ));
        } else if path.rtt >= rto.initial {
            out.push(format!(
                "flows `{label}` send each SYN again before its answer can come: their base round trip of {} is not \
                 below tcp.rto.initial = {}; write a larger one",
                path.rtt, rto.initial
            ));
        }
    }
}

/// Warns about flows that send datagrams at even intervals and together overload a drop-tail queue.
/// One flow may then always find a free place, since its packets arrive just after departures (Floyd
/// and Jacobson, "On traffic phase effects in packet-switched gateways", 1992).
fn warn_of_phases(resolved: &ResolvedDocument, config: &Config, out: &mut Vec<String>) {
    let groups = resolved.root.tables(Scenario::flows);
    let mut on_link: BTreeMap<usize, Vec<(&str, u64, u64)>> = BTreeMap::new();
    for (group, path) in groups.zip(&resolved.paths) {
        let label = group.word(AnyFlow::label);
        let flow = config.flows.iter().find(|flow| flow.label == label);
        let even = flow.and_then(|flow| match &flow.transport {
            Transport::Udp(udp) if udp.bursts.is_none() && udp.spacing == Spacing::Even => {
                Some(udp.rate)
            }
            _ => None,
        });
        let (Some(rate), Some(route)) = (even, resolved.core.route(path.from, path.to)) else {
            continue;
        };
        for core in &route.links {
            let number = config
                .links
                .iter()
                .position(|link| link.name == core.link.name);
            let streams = (label, group.read(AnyFlow::count), rate.as_bps());
            on_link
                .entry(number.unwrap_or(0))
                .or_default()
                .push(streams);
        }
    }
    for (number, streams) in on_link {
        let link = &config.links[number];
        let count: u64 = streams.iter().map(|(_, count, _)| count).sum();
        let offered: u128 = streams
            .iter()
            .map(|&(_, count, bps)| u128::from(count) * u128::from(bps))
            .sum();
        let overloads = offered > u128::from(link.capacity().as_bps());
        if count > 1 && overloads && matches!(link.queue, QueueConfig::DropTail(_)) {
            let labels: Vec<String> = streams
                .iter()
                .map(|(label, ..)| format!("`{label}`"))
                .collect();
            out.push(format!(
                "datagrams of {} come at even intervals and overload `{}`, a drop-tail queue: their phases decide \
                 which of them are dropped, and may stay the same throughout; write spacing = \"poisson\", or \
                 spacing = {{ jitter = 1 }}",
                labels.join(" and "),
                link.name
            ));
        }
    }
}

/// Warns about algorithms that mistake queueing by their own bursts for congestion, if all links are faster than
/// 10 Mbit/s. There is no warning about an algorithm whose bursts are prevented by the flow's pacing.
fn warn_of_own_bursts(config: &Config, out: &mut Vec<String>) {
    const FAST: Rate = Rate::from_bps(10_000_000);
    let fast = config.links.iter().all(|link| link.rate > FAST);
    // Pacing at more than a window per round trip leaves a burst in each round trip.
    let is_smooth = |tcp: &Tcp| {
        let slow = |pacing: Pacing| pacing.slow_start.max(pacing.avoidance) <= 1.0;
        tcp.pacing.is_some_and(slow)
    };
    let mut warned = Vec::new();
    for tcp in tcps(config).filter(|_| fast) {
        let kind = tcp.congestion.kind.as_str();
        let Some(trouble) = needs_path(&tcp.congestion).own_bursts else {
            continue;
        };
        if warned.contains(&kind) || trouble.pacing_helps && is_smooth(tcp) {
            continue;
        }
        warned.push(kind);
        let effect = trouble.effect;
        out.push(format!(
            "`{kind}` mistakes queueing caused by its own bursts for congestion: {effect}"
        ));
    }
}

/// Warns about router-assisted algorithms on a path without assisting routers. If a proxy splits
/// the path, each part needs such a router.
fn warn_of_routers(resolved: &ResolvedDocument, out: &mut Vec<String>) {
    let groups = resolved.root.tables(Scenario::flows);
    for (group, path) in groups.zip(&resolved.paths) {
        let Some(congestion) = &path.congestion else {
            continue;
        };
        let user = format!("flows `{}` ask", group.word(AnyFlow::label));
        let mut check = |nodes, place| {
            warn_of_router(resolved, &user, congestion, nodes, place, out);
        };
        match path.via.map(|number| &resolved.sites[number]) {
            None => check((path.from, path.to), "on their path"),
            Some(site) => {
                check((path.from, site.start), "on their path to the proxy");
                check((site.end, path.to), "on their path behind the proxy");
            }
        }
    }
    for (proxy, site) in resolved.root.tables(Scenario::proxies).zip(&resolved.sites) {
        let user = format!("proxy `{}` asks", proxy.word(Proxy::name));
        let nodes = (site.start, site.end);
        warn_of_router(
            resolved,
            &user,
            &site.congestion,
            nodes,
            "between its nodes",
            out,
        );
    }
}

fn warn_of_router(
    resolved: &ResolvedDocument,
    user: &str,
    congestion: &ControllerSpec,
    (from, to): (usize, usize),
    place: &str,
    out: &mut Vec<String>,
) {
    let Some(QueueNeed {
        kind,
        without: Some(effect),
    }) = needs_path(congestion).queue
    else {
        return;
    };
    let route = resolved.core.route(from, to);
    let links = route.iter().flat_map(|route| &route.links);
    let mut queues = links.map(|core| &core.queue);
    if queues.any(|queue| queue.word(KIND) == kind) {
        return;
    }
    out.push(format!(
        "{user} routers, but no queue {place} is of the kind `{kind}`: {effect}"
    ));
}

fn warn_of_proxies(resolved: &ResolvedDocument, out: &mut Vec<String>) {
    for (proxy, site) in resolved.root.tables(Scenario::proxies).zip(&resolved.sites) {
        let name = proxy.word(Proxy::name);
        let interval = proxy.read(Proxy::check_interval);
        let between = site.bytes_between(interval);
        let credit = proxy.read(Proxy::credit_bytes);
        if between > credit {
            out.push(format!(
                "proxy `{name}` sends in bursts: its link carries {between} B in its interval of \
                 {interval}, and a credit of {credit} B is used up before that; write a credit of \
                 {} B or more, or a shorter interval",
                2 * between
            ));
        }
        let packet = proxy.read(ProxyKeys::packet);
        let held = queue::capacity_packets(proxy.sub(ProxyKeys::queue), packet);
        let packets = between / packet.0;
        if held < packets as f64 {
            out.push(format!(
                "proxy `{name}` cannot fill its link: that carries {packets} packets in its interval \
                 of {interval}, and its local queue holds {held:.0}"
            ));
        }
    }
}
