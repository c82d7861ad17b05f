//! Queue disciplines: the engine's configuration that follows from their keys, and refusals.

use longhaul_engine::config::Shaper;
use longhaul_engine::queue::{
    CakeConfig, Capacity, CoDelConfig, CoDelParameters, CoDelVariant, CobaltConfig,
    CobaltParameters, DecBitConfig, DelayEstimate, DropFrom, DropTail, DrrConfig,
    FlowQueuesParameters, FqCoDelConfig, FqPieConfig, Marking, PieConfig, PieParameters,
    PieVariant, QueueConfig, RoundRobinConfig, Rule, VcpConfig, XcpConfig,
};
use longhaul_scenario::parse;
use longhaul_units::{Bytes, Rate, Span};

use crate::{BASE, origin, refusal, with};

const QUEUE: &str = "topology.dumbbell.bottleneck.queue";

/// Returns the configuration of the bottleneck's queue in [`BASE`], with the queue replaced by `table`.
fn queue(table: &str) -> QueueConfig {
    with(&[&format!("{QUEUE}={table}")]).config().links[0]
        .queue
        .clone()
}

/// Returns the message about a wrong queue `table` in [`BASE`].
fn refused(table: &str) -> String {
    let own = r#"{ kind = "droptail", limit = "1 BDP" }"#;
    assert!(BASE.contains(own));
    refusal(&BASE.replacen(own, table, 1))
}

/// Checks that each of `parts` is in the message about a wrong queue `table`.
fn assert_refused(table: &str, parts: &[&str]) {
    let message = refused(table);
    for part in parts {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
}

#[test]
fn a_limit_may_be_a_time() {
    let limit = r#"{ kind = "droptail", limit = "10 ms" }"#;
    // 1 Gbit/s sends 1.25 MB in 10 ms.
    let expected = DropTail::new(Capacity::Bytes(1_250_000));
    assert_eq!(queue(limit), QueueConfig::DropTail(expected));
    let scenario = with(&[&format!("{QUEUE}={limit}")]);
    let origin = origin(&scenario, &format!("{QUEUE}.limit"));
    assert!(
        origin.contains("10 ms") && origin.contains("1 Gbps"),
        "{origin}"
    );
    assert_refused(
        r#"{ kind = "droptail", limit = "10 us" }"#,
        &["limit", "1250 B in 10 us", "less than one packet of 1500 B"],
    );
}

#[test]
fn a_full_queue_may_drop_its_head() {
    let expected = DropTail {
        drop: DropFrom::Head,
        ..DropTail::new(Capacity::Packets(7))
    };
    assert_eq!(
        queue(r#"{ kind = "droptail", limit = "7 packets", drop = "head" }"#),
        QueueConfig::DropTail(expected)
    );
    assert_refused(
        r#"{ kind = "droptail", drop = "haed" }"#,
        &["queue.drop", "`haed`", "did you mean `head`?", "tail, head"],
    );
}

/// Default limit of the bottleneck: 1 BDP at 1 Gbit/s and 100 ms is 8333 packets of 1500 bytes.
const LIMIT: Capacity = Capacity::Packets(8333);

const FLOWS: FlowQueuesParameters = FlowQueuesParameters {
    queues: 1024,
    quantum: Bytes(1500),
};

#[test]
fn defaults_are_those_of_linux_for_cake() {
    let control = CobaltParameters {
        ecn: true,
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
        mtu_time: Span::from_micros(12),
        blue_up: 1.0 / 256.0,
        blue_down: 1.0 / 4096.0,
    };
    let cobalt = CobaltConfig {
        limit: LIMIT,
        control,
    };
    assert_eq!(queue(r#"{ kind = "cobalt" }"#), QueueConfig::Cobalt(cobalt));
    // 10,240 packets of 1500 bytes are less than the data that 1 Gbit/s sends in 400 ms.
    let cake = CakeConfig {
        limit: Capacity::Bytes(15_360_000),
        quantum: Bytes(1514),
        control,
    };
    assert_eq!(queue(r#"{ kind = "cake" }"#), QueueConfig::Cake(cake));
    assert_refused(
        r#"{ kind = "cake", limit = "1 kB" }"#,
        &["queue.limit", "less than one packet"],
    );
    assert_refused(
        r#"{ kind = "cake", limit = "lots" }"#,
        &["queue.limit", "`lots`"],
    );
}

#[test]
fn defaults_are_those_of_the_rfcs_and_of_ns2() {
    let control = CoDelParameters {
        variant: CoDelVariant::Rfc8289,
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
        max_packet: Bytes(1500),
    };
    let codel = CoDelConfig {
        limit: LIMIT,
        ecn: false,
        control,
    };
    assert_eq!(queue(r#"{ kind = "codel" }"#), QueueConfig::CoDel(codel));
    // RFC 8290 section 5.2.3.
    let fq = FqCoDelConfig {
        limit: Capacity::Packets(10_240),
        drop_batch: 64,
        ecn: true,
        flows: FLOWS,
        control,
    };
    assert_eq!(queue(r#"{ kind = "fq-codel" }"#), QueueConfig::FqCoDel(fq));
    let control = PieParameters {
        variant: PieVariant::Rfc8033,
        target: Span::from_millis(15),
        update: Span::from_millis(15),
        alpha: 0.125,
        beta: 1.25,
        max_burst: Span::from_millis(150),
        mark_up_to: 0.1,
        derandomise: false,
        mean_packet: Bytes(1500),
    };
    let pie = PieConfig {
        limit: LIMIT,
        ecn: false,
        delay_estimate: DelayEstimate::Rate,
        control,
        rate: Rate::from_bps(1_000_000_000),
    };
    assert_eq!(queue(r#"{ kind = "pie" }"#), QueueConfig::Pie(pie));
    let fq = FqPieConfig {
        limit: Capacity::Packets(10_240),
        ecn: false,
        flows: FLOWS,
        control,
    };
    assert_eq!(queue(r#"{ kind = "fq-pie" }"#), QueueConfig::FqPie(fq));
    let QueueConfig::Pi(pi) = queue(r#"{ kind = "pi" }"#) else {
        panic!("not PI");
    };
    assert_eq!((pi.reference_pkts, pi.a, pi.b), (50.0, 1.822e-5, 1.816e-5));
    assert!((pi.update.as_secs_f64() * 170.0 - 1.0).abs() < 1e-9);
    let QueueConfig::Rem(rem) = queue(r#"{ kind = "rem", mean_packet = "1000 B" }"#) else {
        panic!("not REM");
    };
    assert_eq!((rem.mean_packet, rem.target_pkts), (Bytes(1000), 20.0));
    assert_eq!((rem.gamma, rem.phi, rem.input_weight), (1e-3, 1.001, 1.0));
}

#[test]
fn disciplines_of_flows_and_of_decnet() {
    let drr = |quantum| {
        QueueConfig::Drr(DrrConfig {
            limit: LIMIT,
            quantum: Bytes(quantum),
        })
    };
    assert_eq!(queue(r#"{ kind = "drr" }"#), drr(1500));
    let quantum = r#"{ kind = "drr", quantum = "250 B" }"#;
    assert_eq!(queue(quantum), drr(250));
    let turns = QueueConfig::RoundRobin(RoundRobinConfig { limit: LIMIT });
    assert_eq!(queue(r#"{ kind = "round-robin" }"#), turns);
    let decbit = DecBitConfig { limit: LIMIT };
    assert_eq!(queue(r#"{ kind = "decbit" }"#), QueueConfig::DecBit(decbit));
}

#[test]
fn routers_have_the_constants_of_their_papers() {
    let vcp = VcpConfig {
        limit: LIMIT,
        interval: Span::from_millis(200),
        sample: Span::from_millis(10),
        queue_weight: 0.5,
        target: 0.98,
        rate: Rate::from_bps(1_000_000_000),
    };
    assert_eq!(queue(r#"{ kind = "vcp" }"#), QueueConfig::Vcp(vcp));
    let xcp = XcpConfig {
        limit: LIMIT,
        alpha: 0.4,
        beta: 0.226,
        gamma: 0.1,
        rate: Rate::from_bps(1_000_000_000),
    };
    assert_eq!(queue(r#"{ kind = "xcp" }"#), QueueConfig::Xcp(xcp));
    assert_refused(
        r#"{ kind = "xcp", alpha = 0 }"#,
        &["queue.alpha", "0 is out of range"],
    );
    assert_refused(
        r#"{ kind = "vcp", interval = "25 ms" }"#,
        &[
            "queue.interval",
            "25 ms",
            "not a multiple of sample (10 ms)",
        ],
    );
}

#[test]
fn what_no_discipline_can_do_is_refused() {
    assert_refused(
        r#"{ kind = "coddle" }"#,
        &[
            "queue.kind",
            "unknown queue discipline `coddle`",
            "did you mean `codel`?",
        ],
    );
    assert_refused(
        r#"{ kind = "codel", target = "0 s" }"#,
        &["queue.target", "must be greater than 0"],
    );
    assert_refused(
        r#"{ kind = "pie", update = "15" }"#,
        &["queue.update", "unit is missing"],
    );
    assert_refused(
        r#"{ kind = "rem", update = "1 ns" }"#,
        &["queue.update", "1 ns is too short; expected at least 10 us"],
    );
    assert_refused(
        r#"{ kind = "pie", alpha = -0.1 }"#,
        &["queue.alpha", "-0.1 is out of range"],
    );
    assert_refused(
        r#"{ kind = "pi", a = 1e-5, b = 2e-5 }"#,
        &["queue.a", "expected a above b (0.00002), found 0.00001"],
    );
    assert_refused(
        r#"{ kind = "pi", a = 1e-5, b = 1e-5 }"#,
        &["queue.a", "expected a above b (0.00001), found 0.00001"],
    );
    assert!(matches!(
        queue(r#"{ kind = "rem", update = "10 us" }"#),
        QueueConfig::Rem(_)
    ));
    assert_refused(
        r#"{ kind = "rem", phi = 1 }"#,
        &["queue.phi", "1 is out of range"],
    );
    assert_refused(
        r#"{ kind = "fq-codel", queues = 0 }"#,
        &["queue.queues", "0 is out of range"],
    );
    assert_refused(
        r#"{ kind = "round-robin", quantum = "1500 B" }"#,
        &["unknown key `quantum`"],
    );
}

#[test]
fn adaptation_and_marking_of_red_have_their_periods() {
    let red = |keys: &str| {
        let table = format!(r#"{{ kind = "red", ecn = true{keys} }}"#);
        match queue(&table) {
            QueueConfig::Red(red) => red,
            other => panic!("{other:?}"),
        }
    };
    let rule = |keys| red(keys).adaptive.0.map(|adaptation| adaptation.rule);
    assert_eq!(rule(""), None);
    assert_eq!(rule(", adaptive = true"), Some(Rule::Adaptive));
    assert_eq!(rule(r#", adaptive = "gared""#), Some(Rule::GentleAdaptive));
    let gared = red(r#", adaptive = "gared""#)
        .adaptive
        .0
        .expect("it adapts");
    assert_eq!((gared.bottom, gared.top), (None, 0.5), "no lower bound");
    assert_eq!(red("").marking, Marking::Always);
    assert_eq!(red(", mark_p = 0.1").marking, Marking::UpTo(0.1));
    let below = red(r#", mark_p = "below-max-th""#).marking;
    assert_eq!(below, Marking::BelowMaxTh);
    assert_refused(
        r#"{ kind = "red", adaptive = "gentle" }"#,
        &["queue.adaptive", "`gentle`", "gared"],
    );
}

const SHAPER: &str = r#"shaper = { rate = "100 Mbps", burst = "15 kB" }, "#;

#[test]
fn marks_that_a_sender_misunderstands_are_warned_of() {
    let warned = |congestion: &str| {
        let overrides = [
            format!(r#"{QUEUE}={{ kind = "decbit" }}"#),
            format!("flows.0.congestion.kind={congestion}"),
        ];
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        let scenario = with(&overrides);
        scenario
            .warnings()
            .iter()
            .any(|text| text.contains("made for `decbit` senders"))
    };
    assert!(warned("cubic"));
    assert!(!warned("decbit"));
}

#[test]
fn ecn_of_an_algorithm_that_ignores_marks_is_warned_of() {
    let warned = |kind: &str| {
        let congestion = format!("flows.0.congestion.kind={kind}");
        let scenario = with(&[congestion.as_str(), "flows.0.tcp.ecn=true"]);
        let mut warnings = scenario.warnings().iter();
        warnings.any(|text| text.contains("does not respond to marks"))
    };
    assert!(warned("bbr"));
    assert!(!warned("bbr3"));
}

#[test]
fn a_token_bucket_counts_as_the_rate() {
    let text = BASE.replacen("delay =", &format!("{SHAPER}delay ="), 1);
    let scenario = parse(&text, "shaped.toml", None, &[]).expect("valid");
    let [there, back] = scenario.config().links.as_slice() else {
        panic!("a dumbbell has two links");
    };
    let shaper = Shaper {
        rate: Rate::from_bps(100_000_000),
        burst: Bytes(15_000),
    };
    assert_eq!(
        (there.direction.shaper, back.direction.shaper),
        (Some(shaper), None)
    );
    assert_eq!(there.rate, Rate::from_bps(1_000_000_000));
    // The limit is 1 BDP of 100 Mbit/s and 100 ms.
    let QueueConfig::DropTail(queue) = &there.queue else {
        panic!("{:?}", there.queue);
    };
    assert_eq!(queue.limit, Capacity::Packets(833));
}

#[test]
fn a_token_bucket_that_does_nothing_or_nothing_else_is_refused() {
    let refused = |from: &str, to: &str, parts: &[&str]| {
        let shaper = SHAPER.replacen(from, to, 1);
        let message = refusal(&BASE.replacen("delay =", &format!("{shaper}delay ="), 1));
        for part in parts {
            assert!(message.contains(part), "no {part:?} in: {message}");
        }
    };
    let rate = "1 Gbps is not below the link's 1 Gbps";
    refused("100 Mbps", "1 Gbps", &["bottleneck.shaper.rate", rate]);
    let burst = "1 kB is less than one packet of 1500 B";
    refused("15 kB", "1 kB", &["bottleneck.shaper.burst", burst]);
    refused(", burst = \"15 kB\"", "", &["key `burst` is missing"]);
}

/// Checks that `explain` notes a RED limit that is measured in bytes. The profile `ns2-2.35` converts
/// a limit in packets to bytes, 500 per packet, as ns-2 does (`red.cc`).
#[test]
fn a_limit_of_red_that_is_measured_in_bytes_is_explained() {
    let path = "topology.dumbbell.bottleneck.queue";
    let explained = |profile: &str, limit: &str| {
        let queue = format!("{path}={{ kind = \"red\", limit = \"{limit}\" }}");
        let scenario = with(&[&format!("profile={profile}"), &queue]);
        let row = origin(&scenario, &format!("{path}.limit"));
        let QueueConfig::Red(red) = &scenario.config().links[0].queue else {
            panic!("not RED");
        };
        (red.limit, row)
    };
    let (limit, row) = explained("ns2-2.35", "1 packets");
    assert_eq!(limit, Capacity::Bytes(500));
    let expected = "derived: measured in bytes, 500 B of packets of 500 B: a packet is let in while less waits (--set";
    assert!(row.starts_with(expected), "{row}");
    let (_, row) = explained("ns2-2.35", "1 BDP");
    assert!(
        row.contains("1 BDP: 1 Gbps x 100 ms / 1500 B; measured in bytes, "),
        "{row}"
    );
    let (limit, row) = explained("rfc", "1 packets");
    assert_eq!(
        (limit, row.starts_with("--set")),
        (Capacity::Packets(1), true)
    );
}

/// A marking threshold at the queue's limit is refused, since it would never be exceeded.
#[test]
fn a_threshold_at_the_limit_is_refused() {
    let queue =
        "queue = { kind = \"threshold\", threshold = \"100 packets\", limit = \"100 packets\" }";
    let message = refusal(&BASE.replacen(
        "queue = { kind = \"droptail\", limit = \"1 BDP\" }",
        queue,
        1,
    ));
    assert!(
        message.contains("queue.threshold: is not more than one packet below the limit"),
        "{message}"
    );
}

/// Checks that default limits are those of each discipline's own source. RFC 8289, RFC 8033 and the papers on RED, PI,
/// REM, DECbit, round robin and DRR give none: the limit is then one bandwidth-delay product. The papers on VCP and XCP
/// simulate queues of one bandwidth-delay product.
#[test]
fn default_limits_are_those_of_each_disciplines_own_source() {
    let limit = |profile: &str, kind: &str| {
        let overrides = [
            format!("profile={profile}"),
            format!("{QUEUE}={{ kind = \"{kind}\" }}"),
        ];
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        with(&overrides).config().links[0].queue.limit()
    };
    let packets = |kind: &str| match kind {
        "fq-codel" | "fq-pie" => Some(10_240), // RFC 8290 section 5.2.3; fq_pie_init
        "dualpi2" => Some(10_000),             // dualpi2_reset_default
        _ => None,
    };
    for discipline in longhaul_engine::queue::DISCIPLINES {
        let kind = discipline.kind;
        let in_linux = match kind {
            "codel" | "pie" => Some(1000), // DEFAULT_CODEL_LIMIT, pie_params_init
            _ => packets(kind),
        };
        for (profile, expected) in [("rfc", packets(kind)), ("linux", in_linux)] {
            let expected = match kind {
                "cake" => Capacity::Bytes(10_240 * 1500), // cake_reconfigure: four intervals would be more
                _ => expected.map_or(LIMIT, Capacity::Packets),
            };
            assert_eq!(limit(profile, kind), expected, "{kind} in {profile}");
        }
    }
}

/// Reads [`BASE`] with `overrides`; returns the warnings that contain `text`.
fn warnings_with(overrides: &[&str], text: &str) -> Vec<String> {
    let scenario = with(overrides);
    let warnings = scenario.warnings().iter();
    warnings
        .filter(|warning| warning.contains(text))
        .cloned()
        .collect()
}

/// Checks that the profile `linux` selects the kernel's variants of CoDel and PIE. PIE's update interval of 15 ms is
/// rounded up to four ticks of 4 ms, and its delay is computed from timestamps.
#[test]
fn linux_has_the_kernels_codel_and_pie() {
    let queue = |kind: &str| {
        let queue = format!(r#"{QUEUE}={{ kind = "{kind}" }}"#);
        with(&["profile=linux", &queue]).config().links[0]
            .queue
            .clone()
    };
    for kind in ["codel", "fq-codel"] {
        let control = match queue(kind) {
            QueueConfig::CoDel(codel) => codel.control,
            QueueConfig::FqCoDel(fq) => fq.control,
            other => panic!("not CoDel: {other:?}"),
        };
        assert_eq!(control.variant, CoDelVariant::Linux);
    }
    for kind in ["pie", "fq-pie"] {
        let control = match queue(kind) {
            QueueConfig::Pie(pie) => {
                assert_eq!(pie.delay_estimate, DelayEstimate::Timestamps);
                pie.control
            }
            QueueConfig::FqPie(fq) => fq.control,
            other => panic!("not PIE: {other:?}"),
        };
        assert_eq!(control.variant, PieVariant::Linux);
        assert_eq!(
            (control.update, control.derandomise),
            (Span::from_millis(16), true)
        );
    }
}

#[test]
fn linux_s_pie_has_no_delay_by_the_rate() {
    assert_refused(
        r#"{ kind = "pie", variant = "linux-6.18", delay_estimate = "rate" }"#,
        &["delay_estimate", "rfc8033"],
    );
}

const CHANGES: &str = r#"topology.dumbbell.bottleneck.changes=[{ at = "5 s", rate = "10 Mbps" }]"#;
const FORWARD: &str = "the queue of `bottleneck` ";

/// Checks that PIE measures the delay if the link's rate varies (RFC 8033 section 4.3); otherwise
/// it uses the known rate.
#[test]
fn pie_measures_the_delay_where_the_rate_varies() {
    let pie = format!(r#"{QUEUE}={{ kind = "pie" }}"#);
    let rate = format!(r#"{QUEUE}={{ kind = "pie", delay_estimate = "rate" }}"#);
    let delay = r#"topology.dumbbell.bottleneck.changes=[{ at = "5 s", delay = "10 ms" }]"#;
    let estimates = |overrides: &[&str]| {
        let scenario = with(overrides);
        let links = scenario.config().links.iter();
        let estimate = |queue: &QueueConfig| match queue {
            QueueConfig::Pie(pie) => pie.delay_estimate,
            other => panic!("not PIE: {other:?}"),
        };
        links.map(|link| estimate(&link.queue)).collect::<Vec<_>>()
    };
    let [by_rate, measured] = [DelayEstimate::Rate, DelayEstimate::Timestamps];
    assert_eq!(estimates(&[&pie]), [by_rate, by_rate]);
    assert_eq!(estimates(&[&pie, delay]), [by_rate, by_rate]);
    assert_eq!(estimates(&[&pie, CHANGES]), [measured, measured]);
    assert_eq!(estimates(&[&rate, CHANGES]), [by_rate, by_rate]);
    assert_eq!(
        warnings_with(&[&pie, CHANGES], "uses the initial rate"),
        [""; 0]
    );
    let kept = warnings_with(&[&rate, CHANGES], "uses the initial rate");
    assert!(
        kept[0].starts_with(FORWARD) && kept[0].contains("timestamps"),
        "{kept:?}"
    );
}

#[test]
fn disciplines_that_keep_a_stale_rate_are_warned_of() {
    for kind in ["rem", "vcp", "xcp"] {
        let queue = format!(r#"{QUEUE}={{ kind = "{kind}" }}"#);
        let kept = warnings_with(
            &[&queue, CHANGES],
            "uses the initial rate of its link, 1 Gbps",
        );
        assert!(kept[0].starts_with(FORWARD), "{kind}: {kept:?}");
        assert_eq!(
            warnings_with(&[&queue], "uses the initial rate"),
            [""; 0],
            "{kind}"
        );
    }
}

/// A CoDel target below the transmission time of a packet causes a warning. 1500 bytes take 14.44
/// ms at 831 kbit/s, and 5 ms at 2.4 Mbit/s.
#[test]
fn a_target_below_the_time_of_a_packet_is_warned_of() {
    let warned = |queue: &str, rate: &str| {
        let overrides = [
            format!("topology.dumbbell.bottleneck.rate={rate}"),
            format!("{QUEUE}={{ {queue} }}"),
        ];
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        !warnings_with(&overrides, "RFC 8290 section 5.2.2").is_empty()
    };
    for kind in ["codel", "fq-codel", "cobalt", "cake"] {
        let own = format!(r#"kind = "{kind}""#);
        let slow = format!(r#"kind = "{kind}", target = "14 ms""#);
        let enough = format!(r#"kind = "{kind}", target = "14.5 ms""#);
        // COBALT and CAKE derive their target from the rate.
        let derives = ["cobalt", "cake"].contains(&kind);
        assert_eq!(warned(&own, "831 kbps"), !derives, "{kind}");
        assert!(
            warned(&slow, "831 kbps") && !warned(&enough, "831 kbps"),
            "{kind}"
        );
        assert!(!warned(&own, "2.4 Mbps"), "{kind}");
    }
}

#[test]
fn a_filter_of_acknowledgements_in_a_queue_shared_with_data_is_warned_of() {
    let warned = |kind: &str, upload: bool| {
        let overrides = [
            format!(
                r#"topology.dumbbell.bottleneck.reverse={{ queue = {{ kind = "{kind}" }}, ack_filtering = true }}"#
            ),
            r#"flows=[{ label = "down" }, { label = "up", direction = "reverse" }]"#.to_string(),
        ];
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        let used = if upload {
            &overrides[..]
        } else {
            &overrides[..1]
        };
        !warnings_with(used, "`bottleneck-reverse` filters acknowledgements").is_empty()
    };
    assert!(warned("droptail", true) && warned("codel", true));
    assert!(!warned("droptail", false) && !warned("fq-codel", true) && !warned("cake", true));
}
