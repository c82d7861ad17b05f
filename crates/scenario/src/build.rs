//! Translation of a resolved scenario into the engine's configuration.

use std::collections::HashSet;
use std::sync::Arc;

use longhaul_congestion::ControllerSpec;
use longhaul_engine::config::{Config, Flow, Link, Measure, Start, StopRule, Tcp, Transport, Udp};
use longhaul_units::Bytes;

use crate::document::Table;
use crate::flow;
use crate::link::AccessKeys;
use crate::model::flow::{AnyFlow, FlowAccess, Stack, Starts, TcpFlow, TracedConnections, UdpFlow};
use crate::model::protocol::Protocol;
use crate::model::{CountedFlows, Length, MoreMeasures, Scenario, Seeds};
use crate::queue;
use crate::resolve::ResolvedDocument;
use crate::traffic::{self, Traffic};

/// Bytes of the IPv4 and UDP headers of a datagram (RFC 791, RFC 768).
const UDP_HEADER_BYTES: u32 = 28;

/// Builds the configuration of a resolved scenario.
pub(crate) fn build(resolved: &ResolvedDocument) -> Config {
    let root = &resolved.root;
    let measure = root.sub(Scenario::measure);
    let core = resolved.core.links.iter();
    let mut network = Network {
        nodes: resolved.core.nodes.clone(),
        links: core.map(|core| core.link.clone()).collect(),
    };
    let mut flows = Vec::new();
    for (group, path) in root.tables(Scenario::flows).zip(&resolved.paths) {
        flows.extend(group_of(group, path, &mut network));
    }
    let MoreMeasures { stop, capture } = MoreMeasures::of(measure);
    let captured: HashSet<&str> = capture.iter().map(String::as_str).collect();
    for link in &mut network.links {
        link.captured = captured.contains(link.name.as_str());
    }
    let proxies = root.tables(Scenario::proxies).zip(&resolved.sites);
    let proxies = proxies.map(|(proxy, site)| site.config(proxy, tcp));
    let stop = stop.map(|counted| stop_rule(measure.sub(MoreMeasures::stop), counted, &flows));
    let Seeds { seed, replication } = Seeds::of(root);
    let Scenario { clock, random } = Scenario::of(root);
    Config {
        seed,
        replication,
        duration: root.read(Length::duration),
        clock,
        randomness: random,
        measure: Measure::of(measure, stop),
        proxies: proxies.collect(),
        captured_nodes: captured_nodes(&network, &captured),
        nodes: network.nodes,
        links: network.links,
        flows,
    }
}

/// Returns the indices of nodes with names in `captured`. A name that a node shares with a link means the link.
fn captured_nodes(network: &Network, captured: &HashSet<&str>) -> Vec<usize> {
    let links: HashSet<&str> = network
        .links
        .iter()
        .map(|link| link.name.as_str())
        .collect();
    let is_captured = |name: &str| captured.contains(name) && !links.contains(name);
    let nodes = network.nodes.iter().enumerate();
    nodes
        .filter_map(|(node, name)| is_captured(name).then_some(node))
        .collect()
}

/// Returns the rule that ends a run before its duration. The rule counts only flows with one of the `labels`.
fn stop_rule(stop: &Table, CountedFlows { labels }: CountedFlows, flows: &[Flow]) -> StopRule {
    let counted = (0..).zip(flows);
    let counted = counted.filter(|(_, flow)| labels.contains(&flow.label));
    StopRule::of(stop, counted.map(|(id, _)| id).collect())
}

/// Nodes and links of the engine's network. The hosts of flows are added to them.
struct Network {
    nodes: Vec<String>,
    links: Vec<Link>,
}

impl Network {
    /// Adds a separate host for a flow, with an access link to and from `router`, and returns its
    /// index.
    fn add_host(&mut self, name: String, router: usize, keys: &AccessKeys, queue: &Table) -> usize {
        let host = self.nodes.len();
        let carries = (keys.rate, keys.delay);
        let [up, down] = flow::access_links(&name);
        for (name, ends) in [(up, (host, router)), (down, (router, host))] {
            let queue = queue::config(queue, keys.rate);
            let link = Link::plain(name, ends, carries, queue);
            self.links.push(link);
        }
        self.nodes.push(name);
        host
    }
}

/// Returns the flows of one group, and adds their hosts and access links to `network`. Each parallel
/// stream of a flow is a separate [`Flow`].
fn group_of(group: &Table, path: &flow::Path, network: &mut Network) -> Vec<Flow> {
    let AnyFlow {
        label,
        count,
        protocol,
        packet,
        start,
        stop,
        traffic,
    } = AnyFlow::of(group);
    let (transports, traced, clock) = match protocol {
        Protocol::Udp => {
            let udp = udp(&UdpFlow::of(group), packet, traffic);
            (vec![udp], Vec::new(), None)
        }
        Protocol::Quic => {
            let stack = path.stack.as_ref().expect("resolved for QUIC");
            let TracedConnections(traced) = group.read(TcpFlow::trace_acks);
            let transport = Transport::Stack(stack.transport.clone());
            (vec![transport], traced, None)
        }
        Protocol::Tcp => {
            let keys = TcpFlow::of(group);
            let transports = connections(group, &keys, path, packet, traffic);
            let TracedConnections(traced) = keys.trace_acks;
            (transports, traced, keys.clock_error)
        }
    };
    let access = FlowAccess::of(group).access;
    let access = access.map(|keys| {
        let queue = group.sub(FlowAccess::access).sub(AccessKeys::queue);
        (keys, queue)
    });
    let mut flows = Vec::new();
    for index in 0..count {
        let bundle = format!("{label}-{index}");
        let (mut from, mut to) = (path.from, path.to);
        if let Some((keys, queue)) = &access {
            let mut hosts = flow::hosts(&bundle, keys.at).into_iter();
            for end in [&mut from, &mut to] {
                if let Some(host) = hosts.next() {
                    *end = network.add_host(host, *end, keys, queue);
                }
            }
        }
        let stream = |(stream, transport): (usize, &Transport)| Flow {
            label: label.clone(),
            name: match transports.len() {
                1 => bundle.clone(),
                _ => format!("{bundle}.{stream}"),
            },
            bundle: bundle.clone(),
            from,
            to,
            start: start_of(&start, index as usize),
            stop,
            via: path.via,
            via_back: path.via_back,
            traced: traced.clone(),
            clock: clock.unwrap_or_default(),
            transport: transport.clone(),
        };
        flows.extend(transports.iter().enumerate().map(stream));
    }
    flows
}

/// Returns the start of flow number `index` of a group.
fn start_of(starts: &Starts, index: usize) -> Start {
    match starts {
        Starts::Together(time) => Start::At(*time),
        Starts::Each(times) => Start::At(times[index]),
        Starts::Uniform(bounds) => Start::Uniform(bounds[0], bounds[1]),
    }
}

/// Returns the transport of a flow of datagrams.
fn udp(keys: &UdpFlow, packet: Bytes, traffic: Option<Traffic>) -> Transport {
    let bursts = traffic.and_then(|traffic| match traffic {
        Traffic::OnOff(keys) => Some(keys.bursts),
        _ => None,
    });
    Transport::Udp(Udp {
        rate: keys.rate,
        packet_bytes: packet.0 as u32,
        header_bytes: UDP_HEADER_BYTES,
        bursts,
        spacing: keys.spacing,
    })
}

/// Returns the transport of each stream of a flow.
fn connections(
    group: &Table,
    keys: &TcpFlow,
    path: &flow::Path,
    packet: Bytes,
    traffic: Option<Traffic>,
) -> Vec<Transport> {
    let congestion = path.congestion.clone().expect("resolved for TCP");
    let tcp = tcp(group, packet, congestion);
    let shared = Arc::new(Tcp {
        transfer: keys.transfer,
        ..tcp
    });
    if let Some(traffic) = traffic {
        return vec![traffic::transport(shared, traffic)];
    }
    let streams = keys.streams;
    let Some(transfer) = shared.transfer else {
        return vec![Transport::Tcp(shared); streams as usize];
    };
    // The first streams carry the remainder of the division.
    let (chunk, rest) = (transfer / streams, transfer % streams);
    let of = |bytes| {
        Transport::Tcp(Arc::new(Tcp {
            transfer: Some(bytes),
            ..Tcp::clone(&shared)
        }))
    };
    let (larger, smaller) = (of(chunk + 1), of(chunk));
    (0..streams)
        .map(|stream| if stream < rest { &larger } else { &smaller })
        .cloned()
        .collect()
}

/// Returns the TCP parameters of the connections of a group of flows or of a proxy. The transfer is
/// left unlimited.
fn tcp(group: &Table, packet: Bytes, congestion: ControllerSpec) -> Tcp {
    let options = group.sub(Stack::tcp);
    let payload = flow::payload(options, packet).expect("checked when resolved");
    let slow_start = flow::slow_start(group.sub(Stack::slow_start)).build();
    Tcp::of(
        options,
        None,
        payload as u32,
        congestion,
        slow_start.expect("checked when resolved"),
        group.read(Stack::recovery),
    )
}
