//! Impairments of links: loss, changes, reordering, duplication, delay boxes, emulation.

use longhaul_engine::config::{AckThinning, DeliveryTrace, Distribution, Link, Policer};
use longhaul_engine::queue::{Capacity, DropTail, QueueConfig};
use longhaul_engine::{Change, DelayBox, GilbertElliott, Loss, Reordering};
use longhaul_scenario::{load, parse};
use longhaul_units::{Bytes, Rate, Span, Time};

use crate::{BASE, origin, refusal, value, with};

const LINK: &str = "topology.dumbbell.bottleneck";

/// Returns the scenario `BASE` with one more key in the table of its link.
fn link_with(key: &str, value: &str) -> longhaul_scenario::Scenario {
    with(&[&format!("{LINK}.{key}={value}")])
}

/// Checks that the key and value `text` of the link cause one message, at line 5, which contains all `parts`.
fn link_refusal(text: &str, parts: &[&str]) {
    let message = refusal(&BASE.replacen("delay =", &format!("{text}, delay ="), 1));
    let heads = message
        .lines()
        .filter(|line| line.starts_with("wrong.toml:5:"));
    assert_eq!(heads.count(), 1, "{message}");
    for part in parts {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
}

#[test]
fn bursts_give_the_channel_with_their_mean_length_and_rate() {
    let scenario = link_with("loss", "{ bursts = { loss_rate = 0.02, mean_length = 4 } }");
    let Loss::GilbertElliott(channel) = &scenario.config().links[0].direction.loss else {
        panic!("{:?}", scenario.config().links[0].direction.loss);
    };
    assert_eq!(channel.to_good, 0.25);
    assert!((channel.to_bad - 0.25 * 0.02 / 0.98).abs() < 1e-15);
    assert!((channel.loss_rate() - 0.02).abs() < 1e-15);
    assert_eq!(scenario.config().links[1].direction.loss, Loss::None);
    let scenario = link_with("loss", "{ gilbert_elliott = { p = 0.01, r = 0.2 } }");
    let channel = GilbertElliott {
        to_bad: 0.01,
        to_good: 0.2,
        good_loss: 0.0,
        bad_loss: 1.0,
    };
    let loss = Loss::GilbertElliott(channel);
    assert_eq!(scenario.config().links[0].direction.loss, loss);
    let resolved = "/topology/dumbbell/bottleneck/loss/gilbert_elliott/bad_loss";
    assert_eq!(value(&scenario, resolved), "1");
}

/// Checks that bursts of one packet may lose half of all packets. They cannot lose more, since at least one packet
/// passes between two bursts.
#[test]
fn the_largest_loss_rate_of_bursts_is_legal() {
    let scenario = link_with("loss", "{ bursts = { loss_rate = 0.5, mean_length = 1 } }");
    let Loss::GilbertElliott(channel) = &scenario.config().links[0].direction.loss else {
        panic!("{:?}", scenario.config().links[0].direction.loss);
    };
    assert!((channel.loss_rate() - 0.5).abs() < 1e-15);
}

#[test]
fn impossible_losses_are_refused() {
    link_refusal(
        "loss = { bursts = { loss_rate = 0.9, mean_length = 4 } }",
        &["bottleneck.loss.bursts.loss_rate: ", "at most 0.800"],
    );
    link_refusal(
        "loss = { bursts = { loss_rate = 0.1, mean_length = 0.5 } }",
        &["mean_length: 0.5 is out of range", "from 1"],
    );
    link_refusal(
        "loss = { gilbert_elliott = { p = 0.1, r = 0.2, q = 0.2 } }",
        &["unknown key `q`", "allowed: p, r, good_loss, bad_loss"],
    );
    link_refusal(
        "loss = { packets = [3, 3] }",
        &["bottleneck.loss.packets: ", "ascending order, each once"],
    );
    link_refusal(
        "loss = { bernoulli = 0.1, packets = [1] }",
        &["give one of `bernoulli`, `bursts`"],
    );
}

const ROWS: &str =
    "[{ at = \"1 s\", rate = \"2 Mbps\", loss = 0.5 }, { at = \"3 s\", delay = \"7 ms\" }]";

#[test]
fn changes_hold_both_ways_except_for_loss() {
    let scenario = link_with("changes", ROWS);
    let at = |seconds| Time::ZERO + Span::from_secs(seconds);
    let first = Change {
        at: at(1),
        rate: Some(Rate::from_bps(2_000_000)),
        delay: None,
        loss: Some(Loss::Bernoulli(0.5)),
    };
    let second = Change {
        at: at(3),
        rate: None,
        delay: Some(Span::from_millis(7)),
        loss: None,
    };
    let links = &scenario.config().links;
    assert_eq!(links[0].changes, [first.clone(), second.clone()]);
    let first = Change {
        loss: None,
        ..first
    };
    assert_eq!(links[1].changes, [first, second]);
}

/// Reads [`BASE`], with `from` replaced by `to`, from a directory that also has the file `file`.
fn beside_a_file(
    (from, to): (&str, &str),
    (file, text): (&str, &str),
    name: &str,
) -> Result<longhaul_scenario::Scenario, String> {
    let folder = std::env::temp_dir().join(format!("longhaul-links-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let scenario = BASE.replacen(from, to, 1);
    std::fs::write(folder.join("scenario.toml"), scenario).expect("written");
    std::fs::write(folder.join(file), text).expect("written");
    let found = load(&folder.join("scenario.toml"), &[]);
    std::fs::remove_dir_all(&folder).expect("removed");
    found.map_err(|error| error.to_string())
}

/// Reads the base scenario with link changes from a file with the given text.
fn with_file(name: &str, text: &str) -> Result<longhaul_scenario::Scenario, String> {
    let changes = ("delay =", "changes = \"trace.csv\", delay =");
    beside_a_file(changes, ("trace.csv", text), name)
}

#[test]
fn changes_from_a_file_are_those_of_the_list() {
    let text = "# measured at night\nat, rate, delay, loss\n1 s, 2 Mbps,, 0.5\n\n3 s,, 7 ms,\n";
    let from_file = with_file("rows", text).unwrap_or_else(|error| panic!("{error}"));
    let listed = link_with("changes", ROWS);
    assert_eq!(
        from_file.config().links[0].changes,
        listed.config().links[0].changes
    );
    // The hashed form contains the text, and the resolved scenario runs without the file.
    let resolved = from_file.resolved_json().to_string();
    let again = parse(&resolved, "resolved.json", None, &[]).expect("sound");
    assert_eq!(again.hash(), from_file.hash());
    assert_eq!(
        again.config().links[0].changes,
        listed.config().links[0].changes
    );
    let origin = origin(&from_file, &format!("{LINK}.changes"));
    assert_eq!(origin, "derived: the text of trace.csv");
}

#[test]
fn a_table_of_changes_may_stand_in_the_scenario() {
    let text = "at, rate, delay, loss\\n1 s, 2 Mbps,, 0.5\\n3 s,, 7 ms,";
    let inline = link_with("changes", &format!("\"{text}\""));
    let listed = link_with("changes", ROWS);
    assert_eq!(
        inline.config().links[0].changes,
        listed.config().links[0].changes
    );
    let wrong = "changes = \"at, rate\\n1 s, 2\", delay =";
    let message = refusal(&BASE.replacen("delay =", wrong, 1));
    assert!(
        message.starts_with("topology.dumbbell.bottleneck.changes:2:6: "),
        "{message}"
    );
    assert!(message.contains("unit is missing"), "{message}");
}

#[test]
fn mistakes_in_a_file_of_changes_are_found_in_their_line() {
    for (name, text, head, parts) in [
        (
            "unit",
            "at,rate\n1 s,2 Mbps\n2 s,3\n",
            "trace.csv:3:5: ",
            vec!["changes.1.rate", "unit is missing"],
        ),
        (
            "column",
            "at,speed\n1 s,2\n",
            "trace.csv:1:4: ",
            vec!["unknown column `speed`", "allowed: at, rate"],
        ),
        (
            "cells",
            "at,rate\n1 s\n",
            "trace.csv:2:1: ",
            vec!["1 values", "2 columns"],
        ),
        (
            "order",
            "at,rate\n2 s,2 Mbps\n1 s,3 Mbps\n",
            "trace.csv:3:1: ",
            vec!["1 s is not after 2 s"],
        ),
        (
            "time",
            "rate\n2 Mbps\n",
            "trace.csv:2:1: ",
            vec!["the key `at` is missing"],
        ),
    ] {
        let message = with_file(name, text).expect_err(name);
        let line = message.lines().next().expect("a line");
        assert!(line.contains(head), "{message}");
        for part in parts {
            assert!(line.contains(part), "no {part:?} in: {message}");
        }
        let heads = message.lines().filter(|line| line.contains("changes"));
        assert_eq!(heads.count(), 1, "{message}");
    }
    assert!(
        with_file("empty", "at,rate\n")
            .expect_err("empty")
            .contains("at least one change")
    );
}

#[test]
fn changes_that_change_nothing_are_refused() {
    link_refusal(
        "changes = [{ at = \"1 s\" }]",
        &["changes.0: the row changes nothing"],
    );
    link_refusal("changes = []", &["at least one change"]);
    link_refusal("changes = \"missing.csv\"", &["cannot read missing.csv"]);
    link_refusal(
        "changes = [{ at = \"1 s\", rate = \"-1 bps\" }]",
        &["changes.0.rate: "],
    );
    link_refusal(
        "changes = [{ at = \"1 s\", loss = { packets = [2, 1] } }]",
        &["changes.0.loss.packets: ", "ascending"],
    );
}

/// A rate of zero is an outage during which packets wait.
#[test]
fn a_rate_may_change_to_zero_and_back() {
    let outage = "[{ at = \"1 s\", rate = \"0 bps\" }, { at = \"2 s\", rate = \"1 Mbps\" }]";
    let scenario = link_with("changes", outage);
    let rates = scenario.config().links[0]
        .changes
        .iter()
        .map(|change| change.rate);
    let expected = [0, 1_000_000].map(|bps| Some(Rate::from_bps(bps)));
    assert!(rates.eq(expected));
}

#[test]
fn changes_are_repeated_after_longer_than_they_take() {
    let scenario = with(&[
        &format!("{LINK}.changes={ROWS}"),
        &format!("{LINK}.changes_period=15 s"),
    ]);
    for link in &scenario.config().links {
        assert_eq!(link.changes_period, Some(Span::from_secs(15)));
    }
    link_refusal(
        &format!("changes_period = \"2 s\", changes = {ROWS}"),
        &[
            "changes_period: ",
            "2 s is not longer than the 2 s from the first change to the last",
        ],
    );
    link_refusal(
        "changes_period = \"2 s\"",
        &["changes_period: ", "nothing to repeat"],
    );
}

/// Reads the base scenario with a delivery trace instead of a rate.
fn with_trace(name: &str, text: &str) -> Result<longhaul_scenario::Scenario, String> {
    let trace = "delivery_trace = { file = \"cell.down\" }";
    beside_a_file(
        ("rate = \"1 Gbps\"", trace),
        ("cell.down", text),
        &format!("trace-{name}"),
    )
}

#[test]
fn a_delivery_trace_is_read_from_mahimahis_files_and_gives_the_rate() {
    let scenario = with_trace("read", "0\n2\n2\n\n4\n").unwrap_or_else(|error| panic!("{error}"));
    let [forward, reverse] = &scenario.config().links[..2] else {
        panic!("two directions");
    };
    let trace = DeliveryTrace::new(vec![0, 2, 2, 4], Bytes(1504));
    assert_eq!(forward.delivery_trace.as_deref(), Some(&trace));
    // Four opportunities in 4 ms.
    assert_eq!(forward.rate, Rate::from_bps(1504 * 8 * 1000));
    assert_eq!(
        (reverse.rate, &reverse.delivery_trace),
        (forward.rate, &None)
    );
    // The text replaces the file; the file's name is kept.
    let kept = |key: &str| {
        let pointer = format!("/topology/dumbbell/bottleneck/delivery_trace/{key}");
        scenario.resolved_json().pointer(&pointer).cloned()
    };
    assert_eq!(kept("from_file"), Some("cell.down".into()));
    assert_eq!(kept("file"), None);
    let resolved = scenario.resolved_json().to_string();
    let again = parse(&resolved, "resolved.json", None, &[]).expect("sound");
    assert_eq!(again.hash(), scenario.hash());
    // A file in addition to the text would be one source too many.
    let other = format!("{LINK}.delivery_trace.file=\"other.down\"");
    let refused = parse(&resolved, "resolved.json", None, &[other]).expect_err("both");
    assert!(
        refused.to_string().contains("there is `times_ms`, too"),
        "{refused}"
    );
}

#[test]
fn mistakes_in_a_delivery_trace_are_found_in_their_line() {
    for (name, text, expected) in [
        ("empty", "\n", "the trace has no line"),
        (
            "word",
            "1\nx\n",
            "line 2 is \"x\", not a whole number of milliseconds",
        ),
        ("order", "3\n2\n", "line 2: 2 is before the 3 above it"),
        ("zero", "0\n0\n", "all times of the trace are 0"),
    ] {
        let message = with_trace(name, text).expect_err(name);
        assert!(
            message.contains("delivery_trace.file: ") && message.contains(expected),
            "{message}"
        );
    }
    link_refusal("delivery_trace = {}", &["delivery_trace: ", "needs a file"]);
    link_refusal(
        "delivery_trace = { times_ms = \"9000\", opportunity = \"1 B\" }",
        &["delivery_trace: ", "less than 1 bit/s on average"],
    );
    let both =
        "changes = [{ at = \"1 s\", rate = \"1 Mbps\" }], delivery_trace = { times_ms = \"1\" }";
    link_refusal(
        both,
        &[
            "changes: ",
            "the rate of a link with a delivery trace does not change",
        ],
    );
    let message = refusal(&BASE.replacen("rate = \"1 Gbps\",", "", 1));
    assert!(
        message.contains("the key `rate` is missing: a rate such as"),
        "{message}"
    );
    let message = with_file("mahimahi", "0\n3\n3\n").expect_err("not changes");
    assert!(
        message.contains("delivery_trace = { file = ... }"),
        "{message}"
    );
}

#[test]
fn reordering_and_duplication_are_of_the_forward_direction() {
    let scenario = link_with(
        "reordering",
        "{ probability = 0.1, delay = { kind = \"pareto\", mean = \"2 ms\", shape = 1.5, limit = \"1 s\" } }",
    );
    let links = &scenario.config().links;
    let pareto = Distribution::Pareto {
        mean: 2e-3,
        shape: 1.5,
    };
    let delay = Distribution::Limited {
        of: Box::new(pareto),
        max: 1.0,
    };
    let reordering = Reordering {
        probability: 0.1,
        delay,
    };
    assert_eq!(links[0].direction.reordering, Some(reordering));
    assert_eq!(links[0].direction.duplication, None);
    assert!(links[0].is_impaired() && !links[1].is_impaired());
    let scenario = link_with("duplication", "0.02");
    let links = &scenario.config().links;
    assert_eq!(links[0].direction.duplication, Some(0.02));
    assert!(links[0].is_impaired() && !links[1].is_impaired());
    assert!(!link_with("duplication", "0").config().links[0].is_impaired());
}

#[test]
fn a_delay_box_stands_at_both_ends_and_shares_its_draws_if_symmetric() {
    let boxes = |symmetric: &str| {
        let rate = "rate = { kind = \"log-normal\", median = \"5 Mbps\", sigma = 0.5 }";
        let keys = format!("{{ delay = \"10 ms\", {rate}{symmetric} }}");
        let scenario = link_with("delay_box", &keys);
        let links = scenario.config().links.iter();
        let boxes = links.map(|link| {
            assert!(link.is_impaired());
            let delay_box = link.delay_box.clone().expect("a box");
            (delay_box, link.forward_name.clone())
        });
        boxes.collect::<Vec<_>>()
    };
    let symmetric = boxes("");
    assert_eq!(symmetric[0], symmetric[1]);
    let log_normal = Distribution::LogNormal {
        median: 5e6,
        sigma: 0.5,
    };
    let (delay_box, name) = &symmetric[0];
    assert_eq!((name.as_str(), delay_box.symmetric), ("bottleneck", true));
    assert_eq!(delay_box.rate, Some(log_normal));
    assert_eq!(delay_box.delay, Some(Distribution::Constant(0.01)));
    assert!(!delay_box.loses());
    let asymmetric = boxes(", symmetric = false");
    let expected = DelayBox {
        symmetric: false,
        ..delay_box.clone()
    };
    assert!(asymmetric.iter().all(|(found, _)| *found == expected));
    link_refusal(
        "delay_box = {}",
        &["delay_box: the delay box has no effect"],
    );
    link_refusal(
        "delay_box = { loss = { kind = \"uniform\", min = 0, max = 1.5 } }",
        &["delay_box.loss.max: 1.5 is out of range"],
    );
}

#[test]
fn an_emulated_link_has_ticks_noise_and_a_limit_in_bytes() {
    let scenario = with(&[
        &format!("{LINK}.tick=1 ms"),
        &format!(
            "{LINK}.host_processing_delay={{ kind = \"exponential\", mean = \"50 us\", limit = \"1 ms\" }}"
        ),
        &format!("{LINK}.queue={{ kind = \"droptail\", limit = \"200 kB\" }}"),
    ]);
    for link in &scenario.config().links {
        assert_eq!(link.tick, Some(Span::from_millis(1)));
        let noise = Distribution::Limited {
            of: Box::new(Distribution::Exponential { mean: 50e-6 }),
            max: 1e-3,
        };
        assert_eq!(link.host_processing_delay, Some(noise));
        assert!(link.is_impaired() && link.delay_box.is_none());
        let QueueConfig::DropTail(queue) = &link.queue else {
            panic!("{:?}", link.queue);
        };
        assert_eq!(queue.limit, Capacity::Bytes(200_000));
    }
    link_refusal("tick = \"0 s\"", &["tick: ", "must be greater than 0"]);
    link_refusal(
        "host_processing_delay = {}",
        &["host_processing_delay: the key `kind` is missing"],
    );
}

/// Checks that a link's reverse direction has the values in `reverse`, and otherwise the values of the
/// forward direction.
#[test]
fn the_other_direction_has_what_it_is_given_and_the_rest_in_common() {
    let scenario = with(&[
        &format!("{LINK}.rate=100 Mbps"),
        &format!("{LINK}.delay=20 ms"),
        &format!(
            "{LINK}.reverse={{ rate = \"1 Mbps\", delay = \"30 ms\", loss = {{ bernoulli = 0.1 }} }}"
        ),
        "flows.0.rtt=60 ms",
    ]);
    let config = scenario.config();
    let [there, back, access] = &config.links[..3] else {
        panic!("{:?}", config.links);
    };
    let mbps = |mbps: u64| Rate::from_bps(mbps * 1_000_000);
    assert_eq!((there.rate, back.rate), (mbps(100), mbps(1)));
    let delays = (there.delay, back.delay);
    assert_eq!(delays, (Span::from_millis(20), Span::from_millis(30)));
    assert_eq!(
        (&there.direction.loss, &back.direction.loss),
        (&Loss::None, &Loss::Bernoulli(0.1))
    );
    // The round trip takes 20 + 30 ms. 1e8 x 0.05 / 12000 = 416.7, and 1e6 x 0.05 / 12000 = 4.2.
    let limits = [there, back].map(|link| link.queue.clone());
    let droptail = |packets| QueueConfig::DropTail(DropTail::new(Capacity::Packets(packets)));
    assert_eq!(limits, [droptail(416), droptail(4)]);
    // 60 ms less 50 ms is the delay of two links each way.
    assert_eq!(access.delay, Span::from_micros(2500));
    // Both directions share keys that do not depend on the rate.
    let same = with(&[
        &format!("{LINK}.queue={{ kind = \"droptail\", limit = \"70 packets\" }}"),
        &format!("{LINK}.reverse.rate=1 Mbps"),
    ]);
    for link in &same.config().links {
        assert_eq!(link.queue, droptail(70));
    }
}

#[test]
fn changes_leave_alone_what_the_other_direction_has_of_its_own() {
    let changes =
        "changes=[{ at = \"1 s\", rate = \"50 Mbps\" }, { at = \"2 s\", delay = \"9 ms\" }]";
    let rows = |reverse: &str| {
        let scenario = with(&[
            &format!("{LINK}.{changes}"),
            &format!("{LINK}.reverse={reverse}"),
        ]);
        let [there, back] = scenario.config().links.as_slice() else {
            panic!("a dumbbell has two links");
        };
        assert_eq!(there.changes.len(), 2);
        back.changes.clone()
    };
    assert_eq!(rows("{}").len(), 2);
    let [row] = &rows("{ rate = \"1 Mbps\" }")[..] else {
        panic!("the rate does not change");
    };
    assert_eq!((row.rate, row.delay), (None, Some(Span::from_millis(9))));
    assert!(rows("{ rate = \"1 Mbps\", delay = \"1 ms\" }").is_empty());
}

#[test]
fn the_old_name_of_the_other_directions_queue_is_explained() {
    link_refusal(
        "reverse_queue = { kind = \"droptail\" }",
        &["`reverse_queue` is called `reverse.queue` now"],
    );
}

#[test]
fn a_policer_is_slower_than_its_link_and_lets_a_packet_through() {
    let scenario = link_with("policer", "{ rate = \"100 Mbps\", burst = \"15 kB\" }");
    let [there, back] = scenario.config().links.as_slice() else {
        panic!("a dumbbell has two links");
    };
    let policer = |link: &Link| link.direction.policer;
    let expected = Policer {
        rate: Rate::from_bps(100_000_000),
        burst: Bytes(15_000),
    };
    assert_eq!((policer(there), policer(back)), (Some(expected), None));
    assert_eq!(there.capacity(), expected.rate);
    link_refusal(
        "policer = { rate = \"1 Gbps\", burst = \"15 kB\" }",
        &[
            "bottleneck.policer.rate: ",
            "is not below the link's 1 Gbps",
        ],
    );
    link_refusal(
        "reverse = { policer = { rate = \"1 Mbps\", burst = \"1 kB\" } }",
        &["bottleneck.reverse.policer.burst: ", "less than one packet"],
    );
}

#[test]
fn jitter_and_thinning_are_of_one_direction() {
    let scenario = with(&[
        &format!("{LINK}.jitter={{ kind = \"exponential\", mean = \"1 ms\" }}"),
        &format!("{LINK}.reverse.ack_thinning.keep_every=4"),
    ]);
    let [there, back] = scenario.config().links.as_slice() else {
        panic!("a dumbbell has two links");
    };
    let jitter = Distribution::Exponential { mean: 1e-3 };
    assert_eq!(
        (&there.direction.jitter, &back.direction.jitter),
        (&Some(jitter), &None)
    );
    let expected = AckThinning {
        keep_every: 4,
        hold: Span::from_millis(10),
    };
    assert_eq!(back.direction.ack_thinning, Some(expected));
    assert!(!there.is_impaired());
    link_refusal(
        "ack_thinning = { keep_every = 1 }",
        &["ack_thinning.keep_every: ", "from 2 to 1000"],
    );
}

#[test]
fn acks_are_filtered_in_the_queue_of_one_direction() {
    let filters = |change: &str| -> Vec<bool> {
        let scenario = with(&[&format!("{LINK}.{change}")]);
        let links = scenario.config().links.iter();
        links.map(|link| link.direction.filters_acks()).collect()
    };
    assert_eq!(filters("reverse.ack_filtering=true"), [false, true]);
    assert_eq!(filters("ack_filtering=true"), [true, false]);
    assert_eq!(filters("reverse.ack_filtering=false"), [false, false]);
    link_refusal(
        "ack_filtering = 2",
        &["bottleneck.ack_filtering: ", "true or false"],
    );
}

/// Checks the warning about the default queue of access links that are as slow as the path. The
/// queue's 10,000 packets of 1500 bytes take 120 ms at 1 Gbit/s.
#[test]
fn hosts_as_slow_as_the_path_are_warned_of_unless_their_queue_is_given() {
    let warned = |access: &str| {
        let scenario = with(&[&format!("topology.dumbbell.access={access}")]);
        let mut warnings = scenario.warnings().iter();
        warnings.any(|text| text.contains("10000 packets, or 120 ms; write access.queue.limit"))
    };
    assert!(warned("{ rate = \"1 Gbps\" }"));
    assert!(!warned(
        "{ rate = \"1 Gbps\", queue = { kind = \"droptail\", limit = \"1 BDP\" }, delay = \"1 ms\" }"
    ));
    assert!(!warned("{ rate = \"10 Gbps\" }") && !warned("{}"));
}

#[test]
fn an_empty_table_of_changes_says_what_it_needs() {
    for (name, text) in [("empty", ""), ("comment", "# nothing yet\n\n")] {
        let error = with_file(name, text).expect_err("it is empty");
        let expected = "the table is empty; its first line names the columns, such as `at, rate`; available: at, rate, \
                        delay, loss";
        assert!(
            error.contains("trace.csv") && error.contains(expected),
            "{error}"
        );
    }
}

#[test]
fn a_byte_order_mark_before_a_table_or_a_trace_is_skipped() {
    let plain = with_file("plain", "at, rate\n1 s, 2 Mbps\n").expect("valid");
    let marked = with_file("marked", "\u{feff}at, rate\n1 s, 2 Mbps\n").expect("valid");
    assert_eq!(plain.hash(), marked.hash());
    let trace = ("delay =", "delivery_trace = { file = \"t.down\" }, delay =");
    let plain = beside_a_file(trace, ("t.down", "1\n2\n"), "trace").expect("valid");
    let marked = beside_a_file(trace, ("t.down", "\u{feff}1\n2\n"), "marked-trace");
    assert_eq!(plain.hash(), marked.expect("valid").hash());
}

/// Reads the base scenario with a reverse rate at which 1 BDP is less than a packet, and further reverse keys `more`.
fn slow_return(more: &str) -> Result<longhaul_scenario::Scenario, String> {
    let link = format!("reverse = {{ rate = \"5 kbps\"{more} }}, delay =");
    parse(&BASE.replacen("delay =", &link, 1), "base.toml", None, &[])
        .map_err(|error| error.to_string())
}

#[test]
fn the_queue_that_a_slow_reverse_takes_over_holds_a_packet() {
    let scenario = slow_return("").unwrap_or_else(|error| panic!("{error}"));
    let link = &scenario.config().links[1];
    assert_eq!(link.name, "bottleneck-reverse");
    let limit = format!("{LINK}.reverse.queue.limit");
    assert_eq!(
        value(&scenario, &format!("/{}", limit.replace('.', "/"))),
        "\"1 packet\""
    );
    let origin = origin(&scenario, &limit);
    assert!(origin.contains("but at least one packet"), "{origin}");
    // A limit of 1 BDP that was written for this queue is refused.
    let refused = slow_return(", queue = { kind = \"droptail\", limit = \"1 BDP\" }").unwrap_err();
    assert!(
        refused.contains("reverse.queue.limit: 1 BDP is less than one packet"),
        "{refused}"
    );
}

/// There is a warning about windows that may not fit into memory, here for 10^18 bit/s and 100 ms,
/// which are 8.3e12 packets of 1500 bytes.
#[test]
fn windows_that_may_not_fit_into_memory_are_warned_of() {
    let warned = |overrides: &[&str]| {
        let scenario = with(overrides);
        let mut warnings = scenario.warnings().iter();
        warnings.any(|text| text.starts_with("full windows would take some"))
    };
    let rate = "topology.dumbbell.bottleneck.rate=1000000 Tbps";
    assert!(warned(&[rate]));
    assert!(!warned(&[rate, "tcp.receive_window=100000"]));
    assert!(!warned(&[rate, "flows.0.transfer=1 GB"]));
    assert!(!warned(&["topology.dumbbell.bottleneck.rate=10 Gbps"]));
}
