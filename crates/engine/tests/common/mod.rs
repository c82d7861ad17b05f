//! Helpers for tests: a dumbbell. One bottleneck connects two routers, and the flows are at the routers.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod disciplines;
pub mod extras;
pub mod proxies;

use std::sync::Arc;

use longhaul_congestion::{ControllerSpec, MinCwnd, Rounding, SlowStart, Variant};
use longhaul_engine::config::{
    AckCounting, Clock, ClockError, DelayedAck, DirectionKeys, Ecn, Fin, Flow, Link, Measure,
    Randomness, Recovery, Rto, RttClock, Service, Source, Spacing, Start, Tcp, Timestamps,
    Transport, Udp,
};
use longhaul_engine::measure::{
    AckTrace, CapturedPacket, Control, DataPackets, Event, Exchange, FlowSample, LinkSample,
    ProxySample, Recorder, Totals,
};
use longhaul_engine::queue::{Capacity, Counting, DropTail, QueueConfig};
use longhaul_engine::{Config, Loss, simulation};
use longhaul_keys::{Profile, Table, Value};
use longhaul_units::{Rate, Span, Time};

/// A recorder that keeps all records.
#[derive(Debug, Default, PartialEq)]
pub struct Records {
    pub flows: Vec<FlowSample>,
    pub links: Vec<LinkSample>,
    pub proxies: Vec<ProxySample>,
    pub events: Vec<Event>,
    pub traces: Vec<AckTrace>,
    pub exchanges: Vec<Exchange>,
    pub packets: Vec<CapturedPacket>,
    /// Number of data packets in the last progress report.
    pub data_packets: u64,
}

impl Recorder for Records {
    fn flow_sample(&mut self, sample: &FlowSample) {
        self.flows.push(*sample);
    }
    fn link_sample(&mut self, sample: &LinkSample) {
        self.links.push(*sample);
    }
    fn proxy_sample(&mut self, sample: &ProxySample) {
        self.proxies.push(*sample);
    }
    fn event(&mut self, event: &Event) {
        self.events.push(*event);
    }
    fn trace(&mut self, sample: &AckTrace) {
        self.traces.push(*sample);
    }
    fn exchange(&mut self, exchange: &Exchange) {
        self.exchanges.push(*exchange);
    }
    fn packet(&mut self, packet: &CapturedPacket) {
        self.packets.push(*packet);
    }
    fn progress(&mut self, _: Time, data_packets: DataPackets<'_>) -> Control {
        let before = std::mem::replace(&mut self.data_packets, data_packets());
        assert!(before <= self.data_packets);
        Control::Continue
    }
}

/// All loss recovery algorithms.
pub const RECOVERIES: [Recovery; 11] = [
    Recovery::Tahoe,
    Recovery::Reno,
    Recovery::NewReno,
    Recovery::Sack,
    Recovery::SackPrr,
    Recovery::Fack,
    Recovery::RackTlp,
    Recovery::RackTlpPrr,
    Recovery::Ns2Reno,
    Recovery::Ns2NewReno,
    Recovery::Ns2Sack,
];

/// Returns a standard connection: packets of 1500 bytes, immediate acknowledgements, no ECN.
pub fn tcp(recovery: Recovery) -> Tcp {
    let rfc =
        Table::defaults(Tcp::KEYS, Profile::Rfc).with(Tcp::receive_window, Value::Whole(100_000));
    let (congestion, slow_start) = (controller("reno", Variant::Paper, &[]), SlowStart::Standard);
    let rfc = Tcp::of(&rfc, None, 1460, congestion, slow_start, recovery);
    Tcp {
        initial_window: 2.0,
        ack_counting: AckCounting::PerAck,
        ecn: Ecn::Off,
        delayed_ack: None,
        timestamps: Timestamps::Off,
        rto: Rto {
            min: Span::from_millis(200),
            ..rfc.rto
        },
        ..rfc
    }
}

/// Returns settings of delayed ACKs: every second segment is acknowledged at once, and a single segment after
/// `timeout`.
pub fn delayed_ack(timeout: Span) -> DelayedAck {
    DelayedAck {
        timeout,
        segments: 2,
        delays_syn: false,
        quick: 0,
        push: false,
    }
}

/// Returns the parameters of ns-2.35's senders in the recorded runs of ns-2.
pub fn ns2_tcp(recovery: Recovery) -> Tcp {
    Tcp {
        sack_option_bytes: 0,
        fin: Fin::WhenQuiet,
        rounding: Rounding::IntegerSsthresh,
        min_cwnd: MinCwnd { loss: 1, ecn: 1 },
        rto: Rto {
            initial: Span::from_secs(3),
            clock: RttClock::Ns2Ticks {
                tick: Span::from_millis(10),
            },
            ..tcp(recovery).rto
        },
        ..tcp(recovery)
    }
}

/// Returns the congestion control algorithm `kind` in a variant, with parameters.
pub fn controller(kind: &str, variant: Variant, parameters: &[(&str, f64)]) -> ControllerSpec {
    let parameters = parameters
        .iter()
        .map(|&(name, value)| (name.to_string(), value));
    ControllerSpec {
        kind: kind.to_string(),
        variant,
        parameters: parameters.collect(),
        ..ControllerSpec::default()
    }
}

/// Returns the drop-tail queue of ns-2 with a limit in packets.
pub fn drop_tail(packets: u64) -> QueueConfig {
    QueueConfig::DropTail(DropTail {
        counting: Counting::InService,
        ..DropTail::new(Capacity::Packets(packets))
    })
}

/// Returns a dumbbell without flows. The bottleneck has the rate `rate`, the one-way delay `delay` and the same queue
/// in both directions.
pub fn dumbbell(rate: Rate, delay: Span, queue: QueueConfig, seconds: u64) -> Config {
    let link = |name: &str, from, to| Link {
        sampled: true,
        ..Link::plain(name.to_string(), (from, to), (rate, delay), queue.clone())
    };
    Config {
        seed: 1,
        replication: 0,
        duration: Time::ZERO + Span::from_secs(seconds),
        clock: Clock::Exact,
        randomness: Randomness::Streams,
        measure: Measure {
            from: Time::ZERO,
            every: Some(Span::from_millis(100)),
            events: true,
            delays: false,
            stop: None,
        },
        nodes: vec!["left".to_string(), "right".to_string()],
        captured_nodes: Vec::new(),
        links: vec![link("there", 0, 1), link("back", 1, 0)],
        flows: Vec::new(),
        proxies: Vec::new(),
    }
}

/// Adds `count` flows of one group that send from left to right.
pub fn add_flows(config: &mut Config, label: &str, count: usize, start: Start, tcp: Tcp) {
    let tcp = Arc::new(tcp);
    for number in 1..=count {
        config.flows.push(Flow {
            label: label.to_string(),
            name: format!("{label}-{number}"),
            bundle: format!("{label}-{number}"),
            from: 0,
            to: 1,
            start,
            stop: None,
            via: None,
            via_back: None,
            traced: Vec::new(),
            clock: ClockError::default(),
            transport: Transport::Tcp(Arc::clone(&tcp)),
        });
    }
}

/// Adds a traffic source. Responses go from left to right.
pub fn add_source(config: &mut Config, name: &str, source: Source, tcp: Tcp) {
    config.flows.push(Flow {
        label: name.to_string(),
        name: name.to_string(),
        bundle: name.to_string(),
        from: 0,
        to: 1,
        start: AT_ONCE,
        stop: None,
        via: None,
        via_back: None,
        traced: Vec::new(),
        clock: ClockError::default(),
        transport: Transport::Traffic(Arc::new(tcp), Arc::new(source)),
    });
}

/// Adds datagrams that are sent at a constant rate from left to right.
pub fn add_datagrams(config: &mut Config, rate: Rate) {
    let udp = Udp {
        packet_bytes: 1000,
        header_bytes: 28,
        rate,
        bursts: None,
        spacing: Spacing::Even,
    };
    config.flows.push(Flow {
        label: "datagrams".to_string(),
        name: "datagrams".to_string(),
        bundle: "datagrams".to_string(),
        from: 0,
        to: 1,
        start: AT_ONCE,
        stop: None,
        via: None,
        via_back: None,
        traced: Vec::new(),
        clock: ClockError::default(),
        transport: Transport::Udp(udp),
    });
}

/// Moves the flows of a dumbbell to a source and a sink behind access links. These links are as fast as the bottleneck;
/// packets may wait there behind larger packets.
pub fn add_access(config: &mut Config, delay: Span) {
    let source = add_node(config, 0, delay);
    let sink = add_node(config, 1, delay);
    let place = |node: usize| if node == 0 { source } else { sink };
    for flow in &mut config.flows {
        (flow.from, flow.to) = (place(flow.from), place(flow.to));
    }
}

/// Moves each flow to two nodes of its own, behind access links ([`add_access`] has two nodes for all flows). The delay
/// of these links increases after every second flow.
pub fn add_own_access(config: &mut Config, delay: Span) {
    add_access_of(config, |number| {
        Span::from_ps(delay.as_ps() * (2 + number as u64 / 2) / 2)
    });
}

/// Moves each flow to separate nodes behind access links, as [`add_own_access`] does. All links have the same delay.
pub fn add_equal_access(config: &mut Config, delay: Span) {
    add_access_of(config, |_| delay);
}

fn add_access_of(config: &mut Config, delay: impl Fn(usize) -> Span) {
    for number in 0..config.flows.len() {
        let delay = delay(number);
        let (from, to) = (config.flows[number].from, config.flows[number].to);
        config.flows[number].from = add_node(config, from, delay);
        config.flows[number].to = add_node(config, to, delay);
    }
}

/// Adds a node with links to and from a router and returns the node's index.
fn add_node(config: &mut Config, router: usize, delay: Span) -> usize {
    let node = config.nodes.len();
    config.nodes.push(format!("node {node}"));
    for (from, to) in [(node, router), (router, node)] {
        let link = Link {
            name: format!("{} to {}", config.nodes[from], config.nodes[to]),
            from,
            to,
            delay,
            queue: drop_tail(10_000),
            delay_box: None,
            host_processing_delay: None,
            direction: DirectionKeys {
                loss: Loss::None,
                duplication: None,
                reordering: None,
                policer: None,
                ack_thinning: None,
                ..config.links[0].direction.clone()
            },
            ..config.links[0].clone()
        };
        config.links.push(link);
    }
    node
}

/// Runs a simulation and returns its results and its records.
pub fn run(config: &Config) -> (Totals, Records) {
    let mut records = Records::default();
    let totals = simulation::run(config, &mut records).expect("the configuration is sound");
    (totals, records)
}

/// A start at time zero.
pub const AT_ONCE: Start = Start::At(Time::ZERO);

/// Sets explicit service on every link, so that departures are events and there is no lookahead.
pub fn serve_explicitly(config: &mut Config) {
    for link in &mut config.links {
        link.service = Service::Explicit;
    }
}

/// Runs a simulation and returns its records.
pub fn results(config: &Config) -> Records {
    run(config).1
}
