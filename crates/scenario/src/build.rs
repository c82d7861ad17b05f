//! From a resolved document to the engine's configuration.

use std::sync::Arc;

use longhaul_congestion::{ControllerSpec, MinCwnd, Rounding};
use longhaul_engine::Loss;
use longhaul_engine::config::{
    AckCounting, Clock, Config, DelayedAck, Ecn, Flow, Link, Measure, Pacing, Randomness, Recovery,
    Rto, RttClock, Service, Start, StopRule, Tcp, Transport, Udp,
};
use longhaul_units::{Bytes, Time};

use crate::document::{Node, Table, Value};
use crate::flow;
use crate::link;
use crate::queue;
use crate::resolve::Resolved;
use crate::traffic;
use crate::typed::{Typed, span_of, text_of};

/// IPv4 and UDP headers (RFC 791, RFC 768).
const UDP_HEADER_BYTES: u32 = 28;

/// Builds the configuration of a resolved scenario.
pub(crate) fn build(resolved: &Resolved) -> Config {
    let root = &resolved.root;
    let measure = root.sub("measure");
    let captured: Vec<&str> = measure.list("capture").iter().map(text_of).collect();
    let mut network = Network {
        nodes: resolved.core.nodes.clone(),
        links: Vec::new(),
    };
    network.links.extend(resolved.core.links.iter().map(|core| {
        let captured = captured.contains(&core.name.as_str());
        link::config(core, captured)
    }));
    let mut flows = Vec::new();
    for (node, path) in root.list("flows").iter().zip(&resolved.paths) {
        let group = node.table().expect("a group is a table");
        flows.extend(group_of(group, path, &mut network));
    }
    let proxies = root
        .get("proxies")
        .map_or(&[][..], |_| root.list("proxies"));
    let proxies = proxies.iter().zip(&resolved.sites).map(|(node, site)| {
        let proxy = node.table().expect("a proxy is a table");
        site.config(proxy, tcp)
    });
    let stop = measure.get("stop").and_then(Node::table);
    Config {
        seed: root.whole("seed"),
        replication: root.whole("replication"),
        duration: Time::ZERO + root.span("duration"),
        clock: match root.word("clock") {
            "exact" => Clock::Exact,
            _ => Clock::Ns2,
        },
        randomness: match root.word("random") {
            "streams" => Randomness::Streams,
            _ => Randomness::Ns2,
        },
        measure: Measure {
            from: Time::ZERO + measure.span("from"),
            every: match measure.node("every") {
                Node {
                    value: Value::Text(_),
                    ..
                } => None,
                every => Some(span_of(every)),
            },
            events: measure.flag("events"),
            stop: stop.map(|stop| stop_rule(stop, &flows)),
        },
        nodes: network.nodes,
        links: network.links,
        flows,
        proxies: proxies.collect(),
    }
}

/// When the run ends before its time.
fn stop_rule(stop: &Table, flows: &[Flow]) -> StopRule {
    let labels: Vec<&str> = stop.list("of").iter().map(text_of).collect();
    let counted = (0..).zip(flows);
    let counted = counted.filter(|(_, flow)| labels.contains(&flow.label.as_str()));
    let bytes = |key| stop.contains_key(key).then(|| stop.bytes(key).0);
    StopRule {
        exchanges: stop.whole("exchanges"),
        flows: counted.map(|(id, _)| id).collect(),
        p99_above: bytes("p99_above"),
        longest_above: bytes("longest_above"),
        begun_within: stop.get("begun_within").map(span_of),
    }
}

/// Nodes and links as they grow by the flows' hosts.
struct Network {
    nodes: Vec<String>,
    links: Vec<Link>,
}

impl Network {
    /// A host of its own for a flow, joined to a router by an access link each way.
    fn add_host(&mut self, name: String, router: usize, access: &Table) -> usize {
        let host = self.nodes.len();
        for (name, from, to) in [
            (format!("{name}-up"), host, router),
            (format!("{name}-down"), router, host),
        ] {
            let (rate, delay) = (access.rate("rate"), access.span("delay"));
            self.links.push(Link {
                name,
                from,
                to,
                rate,
                delay,
                queue: queue::config(access.sub("queue"), rate, delay),
                shaper: None,
                entrance: None,
                loss: Loss::None,
                changes: Vec::new(),
                tick: None,
                service: Service::OnArrival,
                sampled: false,
                captured: false,
            });
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
    for index in 0..group.whole("count") {
        let bundle = format!("{label}-{index}");
        let (mut from, mut to) = (path.from, path.to);
        if let Some(access) = access {
            from = network.add_host(format!("{bundle}-sender"), from, access);
            if access.word("at") == "both" {
                to = network.add_host(format!("{bundle}-receiver"), to, access);
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
            stop: group.get("stop").map(|stop| Time::ZERO + span_of(stop)),
            via: path.via,
            via_back: path.via_back,
            transport: transport.clone(),
        };
        flows.extend(transports.iter().enumerate().map(stream));
    }
    flows
}

fn start(node: &Node, index: usize) -> Start {
    let time = |node: &Node| Time::ZERO + span_of(node);
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
    let packet = group.bytes("packet");
    if group.word("protocol") == "udp" {
        return vec![Transport::Udp(Udp {
            rate: group.rate("rate"),
            packet_bytes: packet.0 as u32,
            header_bytes: UDP_HEADER_BYTES,
            bursts: group
                .get("traffic")
                .and_then(Node::table)
                .map(traffic::bursts),
        })];
    }
    let congestion = path.congestion.clone().expect("resolved for TCP");
    let shared = Arc::new(tcp(group, packet, congestion));
    if let Some(traffic) = group.get("traffic").and_then(Node::table) {
        return vec![traffic::transport(shared, traffic)];
    }
    let streams = group.whole("streams");
    let Some(transfer) = shared.transfer else {
        return vec![Transport::Tcp(shared); streams as usize];
    };
    // The first streams carry what the division leaves.
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

fn tcp(group: &Table, packet: Bytes, congestion: ControllerSpec) -> Tcp {
    let tcp = group.sub("tcp");
    let payload = flow::payload(tcp, packet).expect("checked when resolved");
    let small = |key| tcp.bytes(key).0 as u32;
    Tcp {
        transfer: group
            .contains_key("transfer")
            .then(|| group.bytes("transfer").0),
        mss_bytes: payload as u32,
        header_bytes: small("header"),
        ack_bytes: small("ack_size"),
        sack_option_bytes: small("sack_option"),
        sack_block_bytes: small("sack_block"),
        timestamps: flow::timestamp_option(tcp).map(|bytes| bytes as u32),
        one_way_delay: flow::reports_one_way_delay(tcp.node("timestamps")),
        initial_window: tcp.number("initial_window"),
        receive_window: tcp.whole("receive_window"),
        send_buffer: whole_unless_word(tcp, "send_buffer"),
        initial_ssthresh: Some(tcp.number("initial_ssthresh")),
        congestion,
        slow_start: flow::slow_start(group.sub("slow_start"))
            .build()
            .expect("checked when resolved"),
        rounding: match tcp.word("rounding") {
            "integer-ssthresh" => Rounding::IntegerSsthresh,
            "integer-both" => Rounding::IntegerBoth,
            _ => Rounding::Real,
        },
        min_cwnd: min_cwnd(tcp.sub("min_cwnd")),
        recovery: recovery(group.word("recovery")),
        dupack_threshold: tcp.whole("dupack_threshold") as u32,
        limited_transmit: tcp.flag("limited_transmit"),
        ack_counting: match &tcp.node("ack_counting").value {
            Value::Table(table) => AckCounting::PerSegment {
                slow_start_limit: table.number("per_segment"),
            },
            Value::Text(word) if word == "delivered" => AckCounting::Delivered,
            _ => AckCounting::PerAck,
        },
        ecn: match tcp.node("ecn").value {
            Value::Flag(false) => Ecn::Off,
            Value::Flag(true) => Ecn::Classic,
            _ => Ecn::Dctcp,
        },
        delayed_ack: tcp.node("delayed_ack").table().map(|delayed| DelayedAck {
            timeout: delayed.span("timeout"),
            segments: delayed.whole("segments") as u32,
            delays_syn: delayed.flag("delays_syn"),
        }),
        rto: rto(tcp.sub("rto")),
        send_jitter: tcp.span("send_jitter"),
        max_burst: whole_unless_word(tcp, "max_burst").map(|segments| segments as u32),
        pacing: tcp.node("pacing").table().map(|gains| Pacing {
            slow_start: gains.number("slow_start"),
            avoidance: gains.number("avoidance"),
        }),
    }
}

fn whole_unless_word(tcp: &Table, key: &str) -> Option<u64> {
    if let Value::Whole(whole) = tcp.node(key).value {
        Some(whole.unsigned_abs())
    } else {
        None
    }
}

fn min_cwnd(table: &Table) -> MinCwnd {
    MinCwnd {
        loss: table.whole("loss") as u8,
        ecn: table.whole("ecn") as u8,
    }
}

fn recovery(name: &str) -> Recovery {
    match name {
        "tahoe" => Recovery::Tahoe,
        "reno" => Recovery::Reno,
        "newreno" => Recovery::NewReno,
        "sack-prr" => Recovery::SackPrr,
        "fack" => Recovery::Fack,
        "rack-tlp" => Recovery::RackTlp,
        "rack-tlp-prr" => Recovery::RackTlpPrr,
        "ns2-reno" => Recovery::Ns2Reno,
        "ns2-newreno" => Recovery::Ns2NewReno,
        "ns2-sack" => Recovery::Ns2Sack,
        _ => Recovery::Sack,
    }
}

fn rto(table: &Table) -> Rto {
    let clock = if table.contains_key("tick") {
        RttClock::Ns2Ticks {
            tick: table.span("tick"),
        }
    } else {
        RttClock::Exact {
            granularity: table.span("granularity"),
        }
    };
    let (initial, min, max) = (table.span("initial"), table.span("min"), table.span("max"));
    Rto {
        initial,
        min,
        max,
        clock,
    }
}
