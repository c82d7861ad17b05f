//! Topologies: nodes, links and hosts of the engine for each kind.

use longhaul_engine::config::{Start, Transport};
use longhaul_engine::measure::NoRecorder;
use longhaul_engine::queue::{Capacity, QueueConfig};
use longhaul_engine::simulation;
use longhaul_scenario::{Scenario, parse};
use longhaul_units::{Rate, Span, Time};

use crate::with;

fn names(scenario: &Scenario) -> Vec<&str> {
    scenario
        .config()
        .links
        .iter()
        .map(|link| link.name.as_str())
        .collect()
}

fn limits(scenario: &Scenario) -> Vec<Capacity> {
    let limit = |queue: &QueueConfig| match queue {
        QueueConfig::DropTail(queue) => queue.limit,
        QueueConfig::Red(red) => red.limit,
        other => panic!("{other:?}"),
    };
    scenario
        .config()
        .links
        .iter()
        .map(|link| limit(&link.queue))
        .collect()
}

#[test]
fn flows_without_access_links_sit_on_the_routers() {
    let scenario = with(&["flows.0.count=3"]);
    let config = scenario.config();
    assert_eq!(config.nodes, ["left", "right"]);
    assert_eq!(names(&scenario), ["bottleneck", "bottleneck-reverse"]);
    assert!(
        config
            .flows
            .iter()
            .all(|flow| (flow.from, flow.to) == (0, 1))
    );
    let flows: Vec<&str> = config.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(flows, ["reno-0", "reno-1", "reno-2"]);
    // LBNL-52549, section 5: floor(2 x 50 ms x 1000 Mbit/s / (8 x 1500)) = 8333, both ways.
    assert_eq!(limits(&scenario), [Capacity::Packets(8333); 2]);
}

#[test]
fn the_streams_of_a_flow_share_its_hosts_and_its_transfer() {
    let scenario = with(&[
        "flows.0.count=2",
        "flows.0.streams=3",
        "flows.0.transfer=\"1000001 B\"",
        "topology.dumbbell.access.delay=1 ms",
    ]);
    let config = scenario.config();
    assert_eq!(config.nodes.len(), 2 + 2 * 2);
    let flows: Vec<_> = config
        .flows
        .iter()
        .map(|flow| {
            let Transport::Tcp(tcp) = &flow.transport else {
                panic!("a TCP flow");
            };
            let (name, bundle) = (flow.name.as_str(), flow.bundle.as_str());
            (name, bundle, flow.from, tcp.transfer.unwrap_or(0))
        })
        .collect();
    let from = |bundle: &str| config.nodes.iter().position(|node| node == bundle).unwrap();
    let (first, second) = (from("reno-0-sender"), from("reno-1-sender"));
    assert_eq!(
        flows,
        [
            ("reno-0.0", "reno-0", first, 333_334),
            ("reno-0.1", "reno-0", first, 333_334),
            ("reno-0.2", "reno-0", first, 333_333),
            ("reno-1.0", "reno-1", second, 333_334),
            ("reno-1.1", "reno-1", second, 333_334),
            ("reno-1.2", "reno-1", second, 333_333),
        ]
    );
}

#[test]
fn access_links_give_each_flow_two_hosts_and_four_links() {
    let scenario = with(&["flows.0.count=2", "topology.dumbbell.access.delay=1 ms"]);
    let config = scenario.config();
    assert_eq!(
        (config.nodes.len(), config.links.len()),
        (2 + 2 * 2, 2 + 2 * 4)
    );
    let access = &config.links[2];
    assert_eq!(
        (access.rate, access.delay),
        (Rate::from_bps(10_000_000_000), Span::from_millis(1))
    );
    assert!(!access.sampled && config.links[0].sampled);
    for flow in &config.flows {
        let leaves = |node| {
            config
                .links
                .iter()
                .find(|link| link.from == node)
                .expect("a link")
        };
        assert_eq!((leaves(flow.from).to, leaves(flow.to).to), (0, 1));
    }
    let sender = with(&["topology.dumbbell.access={ delay = \"1 ms\", at = \"sender\" }"]);
    assert_eq!(
        (sender.config().nodes.len(), sender.config().flows[0].to),
        (3, 1)
    );
}

#[test]
fn a_round_trip_is_split_over_the_access_links() {
    // 120 ms less twice 50 ms is the delay of two links each way.
    let scenario = with(&["flows.0.rtt=120 ms"]);
    assert_eq!(scenario.config().links[2].delay, Span::from_millis(5));
    let scenario = with(&["flows.0.access={ rtt = \"120 ms\", at = \"sender\" }"]);
    assert_eq!(scenario.config().links[2].delay, Span::from_millis(10));
}

#[test]
fn reverse_flows_and_queues_of_their_own() {
    let scenario = with(&[
        "flows.0.direction=reverse",
        "topology.dumbbell.bottleneck.reverse.queue={ kind = \"droptail\", limit = \"64 KiB\" }",
    ]);
    let flow = &scenario.config().flows[0];
    assert_eq!((flow.from, flow.to), (1, 0));
    assert_eq!(
        limits(&scenario),
        [Capacity::Packets(8333), Capacity::Bytes(65_536)]
    );
}

#[test]
fn a_bandwidth_delay_product_counts_the_largest_packet() {
    // 1e9 x 0.1 / (8 x 9000) = 1388.9; a fifth of 8333.3 = 1666.7.
    let jumbo = with(&["flows.0.packet=9000 B"]);
    assert_eq!(limits(&jumbo)[0], Capacity::Packets(1388));
    let fifth = with(&["topology.dumbbell.bottleneck.queue.limit=0.2 BDP"]);
    assert_eq!(limits(&fifth)[0], Capacity::Packets(1666));
}

#[test]
fn a_parking_lot_is_a_chain() {
    let hop = "{ rate = \"120 Mbps\", delay = \"10 ms\" }";
    let text = format!(
        "duration = \"1 s\"\n[topology.parking-lot]\nhops = [{hop}, {hop}, {hop}]\n[[flows]]\n\
         [[flows]]\nlabel = \"back\"\npath = [2, 1]\n"
    );
    let scenario = parse(&text, "lot.toml", None, &[]).expect("valid");
    let config = scenario.config();
    assert_eq!((config.nodes.len(), config.links.len()), (4, 6));
    assert_eq!((config.flows[0].from, config.flows[0].to), (0, 3));
    assert_eq!((config.flows[1].from, config.flows[1].to), (2, 1));
    // 120e6 x 60 ms / 12000 = 600 packets: the round trip of the whole chain.
    assert_eq!(limits(&scenario), [Capacity::Packets(600); 6]);
}

#[test]
fn a_graph_routes_by_delay() {
    // The path a-b-c takes 2 x 10 ms; the direct link, which is the only way back, takes 50 ms. A
    // window of 2 x (path + queues) shows the path taken: 2 x (1.2e6 x 70 ms / 12000 + 2 x 100) =
    // 414; with the direct link both ways it would be 220.
    let text = "duration = \"1 s\"\n[topology.graph]\nnodes = [\"a\", \"b\", \"c\"]\nlinks = [\n\
        { from = \"a\", to = \"c\", rate = \"1.2 Mbps\", delay = \"50 ms\", queue = { kind = \
        \"droptail\", limit = \"100 packets\" } },\n\
        { from = \"a\", to = \"b\", rate = \"1.2 Mbps\", delay = \"10 ms\", queue = { kind = \
        \"droptail\", limit = \"100 packets\" } },\n\
        { from = \"b\", to = \"c\", rate = \"1.2 Mbps\", delay = \"10 ms\", duplex = false, queue = \
        { kind = \"droptail\", limit = \"100 packets\" } },\n]\n[[flows]]\nfrom = \"a\"\nto = \"c\"\n";
    let scenario = parse(text, "graph.toml", None, &[]).expect("valid");
    assert_eq!(
        names(&scenario),
        ["a-c", "a-c-reverse", "a-b", "a-b-reverse", "b-c"]
    );
    let Transport::Tcp(tcp) = &scenario.config().flows[0].transport else {
        panic!("no TCP")
    };
    assert_eq!(tcp.receive_window, 414);
}

#[test]
fn a_link_without_a_way_back_has_no_reverse() {
    let text = "duration = \"1 s\"\n[topology.graph]\nnodes = [\"a\", \"b\"]\nlinks = [\n\
        { from = \"a\", to = \"b\", rate = \"1 Mbps\", delay = \"50 ms\", duplex = false, reverse = { rate = \
        \"1 Mbps\" } },\n]\n[[flows]]\nfrom = \"a\"\nto = \"b\"\n";
    let error = parse(text, "graph.toml", None, &[])
        .unwrap_err()
        .to_string();
    let message = "there is no link back with `duplex = false`; leave one of both keys out";
    let place = "topology.graph.links.0.reverse: ";
    assert!(error.contains(&format!("{place}{message}")), "{error}");
    assert!(!error.contains("route"), "{error}");
}

/// Checks that the receive window is derived from the path that packets take. The paths over b and over c have the same
/// delay; packets take the path over b, whose links are faster.
#[test]
fn a_diamond_of_equal_delays_is_derived_from_the_path_that_packets_take() {
    let link = |from: &str, to: &str, mbps: &str| {
        format!("{{ from = \"{from}\", to = \"{to}\", rate = \"{mbps} Mbps\", delay = \"10 ms\" }}")
    };
    let links = [
        link("a", "c", "10"),
        link("c", "d", "10"),
        link("a", "b", "100"),
        link("b", "d", "100"),
    ];
    let text = |links: &[String]| {
        let links = links.join(", ");
        format!(
            "duration = \"1 s\"\n[topology.graph]\nnodes = [\"a\", \"b\", \"c\", \"d\"]\n\
             links = [{links}]\n[[flows]]\nfrom = \"a\"\nto = \"d\"\n"
        )
    };
    let window = |text: &str| {
        let scenario = parse(text, "diamond.toml", None, &[]).expect("valid");
        let config = scenario.config().clone();
        let Transport::Tcp(tcp) = &config.flows[0].transport else {
            panic!("no TCP")
        };
        (tcp.receive_window, config)
    };
    let (diamond, config) = window(&text(&links));
    let (fast, _) = window(&text(&links[2..]));
    assert_eq!(diamond, fast);
    let totals = simulation::run(&config, &mut NoRecorder).expect("it runs");
    let arrived = totals.links.iter().map(|link| link.total.arrived_pkts > 0);
    let taken: Vec<bool> = arrived.collect();
    assert_eq!(taken, [false, false, false, false, true, true, true, true]);
}

#[test]
fn starts_are_fixed_listed_or_drawn() {
    let second = |s| Time::ZERO + Span::from_secs(s);
    let starts = |overrides: &[&str]| -> Vec<Start> {
        with(overrides)
            .config()
            .flows
            .iter()
            .map(|flow| flow.start)
            .collect()
    };
    assert_eq!(starts(&["flows.0.start=2 s"]), [Start::At(second(2))]);
    let listed = starts(&["flows.0.count=2", "flows.0.start=[\"1 s\", \"3 s\"]"]);
    assert_eq!(listed, [Start::At(second(1)), Start::At(second(3))]);
    let drawn = starts(&[
        "flows.0.count=2",
        "flows.0.start={ uniform = [\"0 s\", \"5 s\"] }",
    ]);
    assert_eq!(drawn, [Start::Uniform(Time::ZERO, second(5)); 2]);
}
