//! From a resolved document to the engine's configuration.

use std::collections::HashSet;
use std::sync::Arc;

use longhaul_congestion::ControllerSpec;
use longhaul_engine::config::{
    ClockError, Config, Flow, Link, Measure, Spacing, Start, StopRule, Tcp, Transport, Udp,
};
use longhaul_units::{Bytes, Time};

use crate::defaults;
use crate::document::{Node, Table, Value};
use crate::flow;
use crate::link::{self, AccessKeys};
use crate::resolve::Resolved;
use crate::traffic;
use crate::typed::{Typed, text_of};

/// IPv4 and UDP headers (RFC 791, RFC 768).
const UDP_HEADER_BYTES: u32 = 28;

/// Builds the configuration of a resolved scenario.
pub(crate) fn build(resolved: &Resolved) -> Config {
    let root = &resolved.root;
    let measure = root.sub("measure");
    let core = resolved.core.links.iter();
    let mut network = Network {
        nodes: resolved.core.nodes.clone(),
        links: core.map(|core| core.link.clone()).collect(),
    };
    let mut flows = Vec::new();
    for (node, path) in root.list("flows").iter().zip(&resolved.paths) {
        let group = node.table().expect("a group is a table");
        flows.extend(group_of(group, path, &mut network));
    }
    let captured: HashSet<&str> = measure.list("capture").iter().map(text_of).collect();
    for link in &mut network.links {
        link.captured = captured.contains(link.name.as_str());
    }
    let proxies = root
        .get("proxies")
        .map_or(&[][..], |_| root.list("proxies"));
    let proxies = proxies.iter().zip(&resolved.sites).map(|(node, site)| {
        let proxy = node.table().expect("a proxy is a table");
        site.config(proxy, tcp)
    });
    let stop = measure.get("stop").and_then(Node::table);
    let general = ["clock", "random"].map(|key| (key.to_string(), root.node(key).clone()));
    let values = defaults::values(&Table::from(general));
    Config {
        seed: root.read("seed"),
        replication: root.read("replication"),
        duration: root.read::<Time>("duration"),
        clock: values.read("clock"),
        randomness: values.read("random"),
        measure: Measure::of(
            &defaults::values(measure),
            stop.map(|stop| stop_rule(stop, &flows)),
        ),
        nodes: network.nodes,
        links: network.links,
        flows,
        proxies: proxies.collect(),
    }
}

/// The rule that ends a run before its duration.
fn stop_rule(stop: &Table, flows: &[Flow]) -> StopRule {
    let labels: Vec<&str> = stop.list("of").iter().map(text_of).collect();
    let counted = (0..).zip(flows);
    let counted = counted.filter(|(_, flow)| labels.contains(&flow.label.as_str()));
    StopRule::of(&defaults::values(stop), counted.map(|(id, _)| id).collect())
}

/// Nodes and links, to which the flows' hosts are added.
struct Network {
    nodes: Vec<String>,
    links: Vec<Link>,
}

impl Network {
    /// A host of its own for a flow, joined to a router by an access link each way.
    fn add_host(&mut self, name: String, router: usize, access: &Table) -> usize {
        let host = self.nodes.len();
        let keys = AccessKeys::of(&defaults::values(access));
        let (carries, queue) = ((keys.rate, keys.delay), access.sub("queue"));
        let [up, down] = flow::access_links(&name);
        for (name, ends) in [(up, (host, router)), (down, (router, host))] {
            let link = link::plain(name, ends, carries, queue, keys.rate);
            self.links.push(link);
        }
        self.nodes.push(name);
        host
    }
}

/// The flows of one group, numbered from zero, with the streams of each.
fn group_of(group: &Table, path: &flow::Path, network: &mut Network) -> Vec<Flow> {
    let label = group.word("label");
    let transports = transports(group, path);
    let access = group.get("access").and_then(Node::table);
    let mut flows = Vec::new();
    for index in 0..group.read::<u64>("count") {
        let bundle = format!("{label}-{index}");
        let (mut from, mut to) = (path.from, path.to);
        if let Some(access) = access {
            let mut hosts = flow::hosts(&bundle, access).into_iter();
            for end in [&mut from, &mut to] {
                if let Some(host) = hosts.next() {
                    *end = network.add_host(host, *end, access);
                }
            }
        }
        let stream = |(stream, transport): (usize, &Transport)| Flow {
            label: label.to_string(),
            name: match transports.len() {
                1 => bundle.clone(),
                _ => format!("{bundle}.{stream}"),
            },
            bundle: bundle.clone(),
            from,
            to,
            start: start(group.node("start"), index as usize),
            stop: group.get("stop").map(|stop| stop.read::<Time>()),
            via: path.via,
            via_back: path.via_back,
            traced: traced(group),
            clock: clock(group),
            transport: transport.clone(),
        };
        flows.extend(transports.iter().enumerate().map(stream));
    }
    flows
}

/// Numbers of the connections that are traced: of a flow that has one only, number 0.
fn traced(group: &Table) -> Vec<u64> {
    match group.get("trace_acks").map(|node| &node.value) {
        Some(Value::List(numbers)) => numbers.iter().map(Node::read::<u64>).collect(),
        Some(Value::Flag(true)) => vec![0],
        _ => Vec::new(),
    }
}

fn clock(group: &Table) -> ClockError {
    let clock = group.get("clock_error").and_then(Node::table);
    clock.map_or_else(ClockError::default, |clock| ClockError {
        offset: clock.read("offset"),
        drift: clock.read("drift"),
    })
}

fn start(node: &Node, index: usize) -> Start {
    let time = |node: &Node| node.read::<Time>();
    match &node.value {
        Value::Table(table) => {
            let bounds = table.list("uniform");
            Start::Uniform(time(&bounds[0]), time(&bounds[1]))
        }
        Value::List(starts) => Start::At(time(&starts[index])),
        _ => Start::At(time(node)),
    }
}

/// The transport of each stream of a flow.
fn transports(group: &Table, path: &flow::Path) -> Vec<Transport> {
    let packet = group.read::<Bytes>("packet");
    if group.word("protocol") == "udp" {
        return vec![Transport::Udp(Udp {
            rate: group.read("rate"),
            packet_bytes: packet.0 as u32,
            header_bytes: UDP_HEADER_BYTES,
            bursts: group
                .get("traffic")
                .and_then(Node::table)
                .map(traffic::bursts),
            spacing: group.get("spacing").map(spacing).unwrap_or_default(),
        })];
    }
    let congestion = path.congestion.clone().expect("resolved for TCP");
    let shared = Arc::new(tcp(group, packet, congestion));
    if let Some(traffic) = group.get("traffic").and_then(Node::table) {
        return vec![traffic::transport(shared, traffic)];
    }
    let streams = group.read::<u64>("streams");
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

fn spacing(node: &Node) -> Spacing {
    match node.table() {
        Some(table) => Spacing::Jitter(table.read("jitter")),
        None if text_of(node) == "poisson" => Spacing::Poisson,
        None => Spacing::Even,
    }
}

fn tcp(group: &Table, packet: Bytes, congestion: ControllerSpec) -> Tcp {
    let options = group.sub("tcp");
    let payload = flow::payload(options, packet).expect("checked when resolved");
    let slow_start = flow::slow_start(group.sub("slow_start")).build();
    let group = defaults::values(group);
    Tcp::of(
        &defaults::values(options),
        group.read("transfer"),
        payload as u32,
        congestion,
        slow_start.expect("checked when resolved"),
        group.read("recovery"),
    )
}
