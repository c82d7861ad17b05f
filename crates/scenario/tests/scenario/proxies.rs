//! Proxies that split connections: defaults, refusals, and results of a thesis (University of Innsbruck, 2009).

use longhaul_engine::measure::{NoRecorder, Totals};
use longhaul_engine::queue::{Capacity, QueueConfig};
use longhaul_engine::simulation::run;
use longhaul_scenario::{Scenario, load, parse};
use longhaul_units::{Span, Time};

use crate::{origin, refusal, value};

/// Returns a scenario with a satellite link, flows with separate access links, and the proxy
/// `proxy`.
fn text(proxy: &str) -> String {
    format!(
        "duration = \"100 s\"\n\
         proxies = [{{ start = \"left\", end = \"right\"{proxy} }}]\n\
         [topology.dumbbell]\n\
         bottleneck = {{ rate = \"100 Mbps\", delay = \"250 ms\", queue = {{ kind = \"droptail\", limit = \"500 packets\" }} }}\n\
         access = {{ delay = \"5 ms\" }}\n\
         [[flows]]\npacket = \"1040 B\"\n"
    )
}

fn accepted(text: &str) -> Scenario {
    parse(text, "base.toml", None, &[]).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn defaults_are_those_of_the_thesis() {
    let scenario = accepted(&text(""));
    let proxy = &scenario.config().proxies[0];
    assert_eq!((proxy.start, proxy.end), (0, 1));
    assert_eq!(proxy.credit_bytes, 200 * 988);
    assert_eq!(proxy.check_interval, Span::from_millis(10));
    assert!(proxy.credit_for_retransmissions && proxy.changes.is_empty());
    assert_eq!(value(&scenario, "/proxies/0/name"), "\"left-right\"");
    assert!(origin(&scenario, "proxies.0.credit").contains("200 packets"));
    assert_eq!(scenario.config().flows[0].via, Some(0));
    assert!(scenario.warnings().is_empty());
}

/// Checks that the default limit of a proxy's local queue is 1000 packets (thesis, University of
/// Innsbruck, 2009), not the default that the queue's discipline has on a link.
#[test]
fn a_local_queue_without_a_limit_has_that_of_the_thesis() {
    let scenario = accepted(&text(", queue = { kind = \"red\" }"));
    let limit = value(&scenario, "/proxies/0/queue/limit");
    assert_eq!(limit, "\"1000 packets\"");
    assert_eq!(origin(&scenario, "proxies.0.queue.limit"), "default");
}

/// Checks the default parameters of RED in a proxy's local queue. They follow from the link between the proxy's start
/// and end nodes, and equal those of table 4.1 of the thesis (University of Innsbruck, 2009).
#[test]
fn red_outside_a_link_is_configured_for_the_link_between_the_nodes() {
    let scenario = accepted(&text(
        ", queue = { kind = \"red\", limit = \"1000 packets\", mean_packet = \"500 B\" }",
    ));
    let QueueConfig::Red(red) = &scenario.config().proxies[0].queue else {
        panic!("not RED");
    };
    assert_eq!(
        (red.min_th_pkts, red.max_th_pkts, red.max_p),
        (62.5, 187.5, 0.1)
    );
    assert!((red.weight - 5.3325e-6).abs() < 1e-9);
}

#[test]
fn changes_come_in_order() {
    let scenario = accepted(&text(
        ", changes = [{ at = \"10 s\", credit = \"50 packets\" }, { at = \"20 s\", interval = \"3 ms\", \
         queue = { kind = \"droptail\", limit = \"10 packets\" } }]",
    ));
    let [first, second] = &scenario.config().proxies[0].changes[..] else {
        panic!("two changes");
    };
    assert_eq!(first.at, Time::ZERO + Span::from_secs(10));
    assert_eq!(
        (first.credit_bytes, first.check_interval),
        (Some(50 * 988), None)
    );
    assert_eq!(second.check_interval, Some(Span::from_millis(3)));
    let Some(QueueConfig::DropTail(queue)) = &second.queue else {
        panic!("{second:?}");
    };
    assert_eq!(queue.limit, Capacity::Packets(10));
}

#[test]
fn a_local_queue_may_hold_its_packets_and_then_stays() {
    let scenario = accepted(&text(
        ", queue = { kind = \"fq-codel\", limit = \"1000 packets\" }",
    ));
    let QueueConfig::FqCoDel(_) = &scenario.config().proxies[0].queue else {
        panic!("not FQ-CoDel");
    };
    let message = refusal(&text(
        ", queue = { kind = \"codel\" }, changes = [{ at = \"10 s\", queue = { kind = \"droptail\" } }]",
    ));
    assert!(message.contains("proxies.0.changes.0.queue"), "{message}");
    assert!(message.contains("cannot be replaced"), "{message}");
}

#[test]
fn mistakes_are_refused_with_their_place() {
    let wrong = |proxy: &str, parts: &[&str]| {
        let message = refusal(&text(proxy));
        assert!(message.starts_with("wrong.toml:2:"), "{message}");
        for part in parts {
            assert!(message.contains(part), "no {part:?} in: {message}");
        }
    };
    wrong(
        ", credit = \"0 packets\"",
        &["proxies.0.credit", "must be greater than 0"],
    );
    wrong(
        ", credit = \"500 B\"",
        &["proxies.0.credit", "less than the 988 B of one packet"],
    );
    wrong(
        ", interval = \"0 s\"",
        &["proxies.0.interval", "must be greater than 0"],
    );
    wrong(", number = 3", &["number"]);
    wrong(
        ", packet = \"576 B\", credit = \"1 packets\"",
        &[
            "proxies.0.credit",
            "less than a segment of the flows `reno`",
        ],
    );
    wrong(
        ", congestion = { kind = \"cubik\" }",
        &["did you mean `cubic`"],
    );
    wrong(
        ", changes = [{ at = \"100 s\", credit = \"9 packets\" }]",
        &["proxies.0.changes.0.at", "not before the end of the run"],
    );
    wrong(
        ", queue = { kind = \"pie\", limit = \"9 packets\" }",
        &["proxies.0.queue.kind", "droptail", "red"],
    );
    wrong(
        ", queue = { kind = \"droptail\", limit = \"9 packets\", drop = \"head\" }",
        &["proxies.0.queue.drop", "the packet that arrives"],
    );
    wrong(
        ", changes = [{ at = \"1 s\" }]",
        &["the entry changes nothing"],
    );
    wrong(
        ", changes = [{ at = \"2 s\", interval = \"1 ms\" }, { at = \"1 s\", interval = \"2 ms\" }]",
        &["changes.1.at", "in order of time"],
    );
    wrong(
        ", changes = [{ at = \"2 s\", credit = \"1 B\" }]",
        &["changes.0.credit", "one packet"],
    );
}

#[test]
fn nodes_have_to_be_joined_and_passed() {
    let nodes = |end: &str| text("").replace("end = \"right\"", &format!("end = \"{end}\""));
    assert!(refusal(&nodes("rigt")).contains("did you mean `right`"));
    assert!(refusal(&nodes("left")).contains("two different nodes"));
    let on_routers = text("").replace("access = { delay = \"5 ms\" }\n", "");
    let message = refusal(&on_routers);
    assert!(
        message.contains("no TCP flow begins before `left`"),
        "{message}"
    );
    let other_way = text("").replace("packet =", "direction = \"reverse\"\npacket =");
    assert!(refusal(&other_way).contains("no TCP flow begins before `left`"));
    let island = "duration = \"1 s\"\n\
        proxies = [{ start = \"b\", end = \"d\" }]\n\
        [topology.graph]\nnodes = [\"a\", \"b\", \"c\", \"d\"]\n\
        links = [{ from = \"a\", to = \"b\", rate = \"10 Mbps\", delay = \"10 ms\" }, \
        { from = \"b\", to = \"c\", rate = \"10 Mbps\", delay = \"10 ms\" }]\n\
        [[flows]]\nfrom = \"a\"\nto = \"c\"\n";
    assert!(refusal(island).contains("no route leads from `b` to `d`"));
}

#[test]
fn flows_of_a_graph_are_split_if_they_go_by() {
    let graph = |from: &str, to: &str| {
        format!(
            "duration = \"1 s\"\n\
             proxies = [{{ start = \"b\", end = \"c\" }}]\n\
             [topology.graph]\nnodes = [\"a\", \"b\", \"c\", \"d\"]\n\
             links = [{{ from = \"a\", to = \"b\", rate = \"10 Mbps\", delay = \"10 ms\" }}, \
             {{ from = \"b\", to = \"c\", rate = \"10 Mbps\", delay = \"10 ms\" }}, \
             {{ from = \"c\", to = \"d\", rate = \"10 Mbps\", delay = \"10 ms\" }}]\n\
             [[flows]]\nfrom = \"a\"\nto = \"d\"\n\
             [[flows]]\nlabel = \"other\"\nfrom = \"{from}\"\nto = \"{to}\"\n"
        )
    };
    let via = |from, to| accepted(&graph(from, to)).config().flows[1].via;
    assert_eq!(via("a", "d"), Some(0));
    assert_eq!(via("b", "d"), None);
    assert_eq!(via("a", "c"), None);
    assert_eq!(via("d", "a"), None);
}

#[test]
fn two_proxies_serve_two_directions_and_one_flow_has_one() {
    let both = text("").replace(
        "right\" }]",
        "right\" }, { start = \"right\", end = \"left\" }]",
    ) + "[[flows]]\nlabel = \"back\"\ndirection = \"reverse\"\n";
    let config = accepted(&both).config().clone();
    assert_eq!(
        (config.flows[0].via, config.flows[1].via),
        (Some(0), Some(1))
    );
    let twice = text("").replace(
        "right\" }]",
        "right\" }, { start = \"left\", end = \"right\" }]",
    );
    let message = refusal(&twice);
    assert!(
        message.contains("the name `left-right` is empty or already used"),
        "{message}"
    );
    assert!(message.contains("only one may split them"), "{message}");
}

/// Checks that a proxy splits the connections of traffic sources in each direction that carries data.
#[test]
fn traffic_is_split_in_both_directions() {
    let both = |traffic: &str| {
        let text = text("").replace(
            "right\" }]",
            "right\" }, { start = \"right\", end = \"left\" }]",
        );
        let scenario = accepted(&format!(
            "{text}[[flows]]\nlabel = \"other\"\ndirection = \"reverse\"\n[[flows]]\n{traffic}\n"
        ));
        let flow = &scenario.config().flows[2];
        assert!(scenario.warnings().is_empty());
        (flow.via, flow.via_back)
    };
    let requests = "traffic = { kind = \"requests\", interval = \"1 s\", response = \"1 kB\" }";
    assert_eq!(both(requests), (Some(0), Some(1)));
    let back = format!("direction = \"reverse\"\n{requests}");
    assert_eq!(both(&back), (Some(1), Some(0)));
    // Hosts at the proxy's own node are not behind the proxy.
    let beside = format!("access = {{ at = \"sender\" }}\n{requests}");
    assert_eq!(both(&beside), (None, None));
    for one_way in [
        "{ kind = \"perturbation\", lifetime = \"1 s\" }",
        "{ kind = \"on-off\", on = \"1 s\", off = \"1 s\", rate = \"1 Mbps\", message = \"1 kB\" }",
        "{ kind = \"trace\", csv = \"start_s,bytes\\n0,1\" }",
    ] {
        assert_eq!(both(&format!("traffic = {one_way}")), (Some(0), None));
    }
}

/// Checks that XCP without XCP routers causes a warning for each part of a path: before the proxy, between the proxy's
/// two nodes, and behind the proxy.
#[test]
fn a_router_is_missed_on_each_part_of_the_way() {
    let routers = |queue: &str, between: &str| {
        let link = |from: &str, to: &str| {
            format!(
                "{{ from = \"{from}\", to = \"{to}\", rate = \"1 Gbps\", delay = \"5 ms\", \
                 queue = {{ kind = \"{queue}\", limit = \"500 packets\" }} }}"
            )
        };
        let text = format!(
            "duration = \"9 s\"\n\
             proxies = [{{ start = \"b\", end = \"c\", congestion = {{ kind = \"{between}\" }} }}]\n\
             [topology.graph]\nnodes = [\"a\", \"b\", \"c\", \"d\"]\n\
             links = [{}, {}, {}]\n\
             [[flows]]\nlabel = \"asking\"\nfrom = \"a\"\nto = \"d\"\n\
             congestion = {{ kind = \"xcp\" }}\n",
            link("a", "b"),
            link("b", "c"),
            link("c", "d"),
        );
        let warnings = accepted(&text).warnings().to_vec();
        warnings
            .into_iter()
            .filter(|one| one.contains("routers, but no queue"))
            .collect::<Vec<_>>()
    };
    let [to, behind] = &routers("droptail", "cubic")[..] else {
        panic!("two warnings");
    };
    assert!(
        to.contains("flows `asking`") && to.contains("to the proxy"),
        "{to}"
    );
    assert!(behind.contains("behind the proxy"), "{behind}");
    let [_, _, between] = &routers("droptail", "xcp")[..] else {
        panic!("three warnings");
    };
    assert!(
        between.contains("proxy `b-c`") && between.contains("between its nodes"),
        "{between}"
    );
    assert!(routers("xcp", "xcp").is_empty());
}

#[test]
fn what_is_probably_not_meant_is_warned_of() {
    let warning = |text: &str| accepted(text).warnings().join("\n");
    // In 10 ms a link of 100 Mbit/s carries 125 kB, which are 120 packets.
    assert!(warning(&text(", credit = \"100 packets\"")).contains("a credit of 250000 B or more"));
    let short = ", queue = { kind = \"droptail\", limit = \"100 packets\" }";
    assert!(warning(&text(short)).contains("carries 120 packets"));
    let marking = ", queue = { kind = \"red\", limit = \"1000 packets\", ecn = true }";
    let unused = "the local queue of proxy `left-right` marks ECN-capable packets, but no flow";
    // Flows use ECN by default. ECN of the proxy's own connection does not count here.
    assert_eq!(warning(&text(marking)), "");
    let found = warning(&(text(marking) + "tcp = { ecn = false }\n"));
    assert!(found.contains(unused), "{found}");
}

/// Runs `split_proxy.toml` with overrides for 2000 s, all of which are measured, as in the thesis.
fn study(overrides: &[&str]) -> Totals {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scenarios/split_proxy.toml"
    );
    let whole = [
        "duration=\"2000 s\"",
        "measure={ from = \"0 s\", every = \"never\" }",
    ];
    let overrides = whole.iter().chain(overrides);
    let overrides: Vec<String> = overrides.map(ToString::to_string).collect();
    let scenario = load(file.as_ref(), &overrides).unwrap_or_else(|error| panic!("{error}"));
    run(scenario.config(), &mut NoRecorder).expect("it is sound")
}

/// Returns the used rate of the satellite link in Mbit/s, headers included.
fn used(totals: &Totals) -> f64 {
    totals.links[0].window.departed_bytes as f64 * 8.0 / 2000.0 / 1e6
}

/// Returns the mean congestion window of the senders in segments.
fn window(totals: &Totals) -> f64 {
    let windows = totals.flows.iter().map(|flow| flow.window.cwnd_integral);
    windows.sum::<f64>() / 2000.0 / totals.flows.len() as f64
}

/// Checks that flows through a proxy use 94.2 Mbit/s of the satellite link, within 1 Mbit/s, as in the thesis
/// (University of Innsbruck, 2009). The limit of the proxy's queue changes the rate by less than 0.5 Mbit/s.
#[test]
#[ignore = "minutes"]
fn the_split_link_is_used_as_in_the_study() {
    let used = [3000, 1500, 1000].map(|queue| {
        used(&study(&[&format!(
            "proxies.0.queue.limit=\"{queue} packets\""
        )]))
    });
    let most = used.into_iter().fold(0.0, f64::max);
    let least = used.into_iter().fold(f64::INFINITY, f64::min);
    assert!(
        used.iter().all(|used| (used - 94.2).abs() < 1.0),
        "{used:?}"
    );
    assert!(most - least < 0.5, "{used:?}");
}

/// Checks that fifty flows without a proxy, which all lose packets at the same time, use as much of the link as the
/// formula for a sawtooth says, within 3 %.
#[test]
#[ignore = "minutes"]
fn without_a_proxy_fifty_flows_use_what_their_common_saw_tooth_says() {
    for queue in [3000, 1500, 1000, 600, 300] {
        let limit = format!("topology.dumbbell.bottleneck.queue.limit=\"{queue} packets\"");
        let used = used(&study(&["proxies=[]", "tcp.delayed_ack=false", &limit]));
        // The path without the queue holds 6250 packets.
        let b = f64::from(queue) / 6250.0;
        let expected = 75.0 * (1.0 + b) * (1.0 + b) / (1.0 + b + b * b);
        assert!(
            (used / expected - 1.0).abs() < 0.03,
            "{queue}: {used} {expected}"
        );
    }
}

/// Checks that 5 flows and 500 flows through a proxy use 94.2 Mbit/s of the satellite link, within 2 Mbit/s. In the
/// thesis (University of Innsbruck, 2009), they use 94.2 Mbit/s and 94.1 Mbit/s.
#[test]
#[ignore = "minutes"]
fn few_and_many_flows_use_the_split_link_alike() {
    for count in [5, 500] {
        let used = used(&study(&[&format!("flows.0.count={count}")]));
        assert!((used - 94.2).abs() < 2.0, "{count}: {used}");
    }
}

/// Checks that a proxy reduces the senders' mean window to about 30 % of the mean without a proxy if its local queue is
/// drop-tail, and to about 3 % if the queue is RED, as in the thesis. Smaller drop-tail queues reduce the window more.
#[test]
#[ignore = "minutes"]
fn windows_shrink_as_in_the_study() {
    let mut shares = Vec::new();
    for queue in [3000, 1500, 1000] {
        let limit = format!("limit = \"{queue} packets\"");
        let link = format!("topology.dumbbell.bottleneck.queue={{ kind = \"droptail\", {limit} }}");
        let without = window(&study(&["proxies=[]", "tcp.delayed_ack=false", &link]));
        let local = format!("proxies.0.queue={{ kind = \"droptail\", {limit} }}");
        shares.push(window(&study(&[&local])) / without);
        let red = format!("proxies.0.queue={{ kind = \"red\", {limit} }}");
        // RED counts bytes, and the proxy checks its queue every 3 ms.
        let red = study(&[&red, "proxies.0.interval=\"3 ms\""]);
        let share = window(&red) / without;
        assert!((0.015..0.05).contains(&share), "RED, {queue}: {share}");
        assert!(
            (used(&red) - 94.2).abs() < 2.0,
            "RED, {queue}: {}",
            used(&red)
        );
    }
    assert!(shares.is_sorted_by(|a, b| a > b), "{shares:?}");
    let mean = shares.iter().sum::<f64>() / 3.0;
    assert!((mean - 0.3).abs() < 0.05, "{shares:?}");
}

/// Checks that 750 Web flows through a proxy have the rates of the thesis: together they use 95.4 Mbit/s of the link,
/// within 2 Mbit/s, and each receives 120 kbit/s on average, within 8 kbit/s.
#[test]
#[ignore = "minutes"]
fn web_traffic_goes_by_the_proxy_as_in_the_study() {
    let pareto = "{ kind = \"pareto\", mean = \"500 ms\", shape = 1.5 }";
    let traffic = format!(
        "flows.0.traffic={{ kind = \"on-off\", on = {pareto}, off = {pareto}, rate = \"64 kbps\", \
         message = \"210 B\", whole_segments = true }}"
    );
    let totals = study(&["flows.0.count=750", &traffic]);
    assert!((used(&totals) - 95.4).abs() < 2.0, "{}", used(&totals));
    let flows = totals.flows.iter();
    let bytes: u64 = flows.map(|flow| flow.window.delivered_bytes).sum();
    let kbps = bytes as f64 * 8.0 / 2000.0 / 750.0 / 1e3;
    assert!((kbps - 120.0).abs() < 8.0, "{kbps}");
}
