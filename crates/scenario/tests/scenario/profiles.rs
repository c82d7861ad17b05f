//! Tests that the values of profiles are those of standards, Linux and ns-2.

use longhaul_congestion::{MinCwnd, Rounding, SlowStart, SlowStartSpec, Variant};
use longhaul_engine::config::{
    AckCounting, Ecn, PrrRule, Recovery, RttClock, RttSample, Tcp, Timestamps,
};
use longhaul_engine::queue::{Capacity, Counting, Gentle, Marking, QueueConfig, RedConfig};
use longhaul_scenario::{Scenario, parse};
use longhaul_units::Span;

use crate::{BASE, with};

fn tcp(scenario: &Scenario) -> Tcp {
    let transport = &scenario.config().flows[0].transport;
    transport.tcp().expect("a TCP flow").as_ref().clone()
}

fn red(scenario: &Scenario) -> RedConfig {
    match &scenario.config().links[0].queue {
        QueueConfig::Red(red) => *red,
        other => panic!("not RED: {other:?}"),
    }
}

const ADAPTIVE_RED: &str = "topology.dumbbell.bottleneck.queue={ kind = \"red\", adaptive = true, limit = \"8333 packets\" }";

#[test]
fn rfc_follows_the_standards() {
    let scenario = with(&[]);
    let tcp = tcp(&scenario);
    // RFC 7323 appendix A: 12 bytes of timestamps leave 1448 of a 1460-byte segment.
    assert_eq!(
        (tcp.mss_bytes, tcp.timestamps),
        (1448, Timestamps::Standard(12))
    );
    assert_eq!((tcp.header_bytes, tcp.ack_bytes), (40, 40));
    assert_eq!(tcp.initial_window, 10.0); // RFC 6928
    assert_eq!(tcp.recovery, Recovery::Sack);
    assert_eq!(
        tcp.ack_counting,
        AckCounting::PerSegment {
            slow_start_limit: 2.0
        }
    ); // RFC 3465
    assert_eq!(tcp.delayed_ack.map(|delayed| delayed.segments), Some(2)); // RFC 5681
    // RFC 6298: the timeout is one second before the first sample, and at least one second.
    assert_eq!(
        (tcp.rto.initial, tcp.rto.min),
        (Span::from_secs(1), Span::from_secs(1))
    );
    assert_eq!(tcp.rounding, Rounding::Real);
    assert_eq!(tcp.min_cwnd, MinCwnd { loss: 2, ecn: 1 });
    assert_eq!(tcp.congestion.variant, Variant::Paper);
    // The window is 2 x (bandwidth-delay product 8333.3 + queue 8333), more than can be in flight.
    assert_eq!(tcp.receive_window, 33_333);
    assert_eq!(tcp.initial_ssthresh, Some(33_333.0));
}

#[test]
fn linux_is_a_current_kernel() {
    let text = BASE.replace("congestion = { kind = \"reno\" }", "count = 1");
    let profile = ["profile=linux".to_string()];
    let scenario = parse(&text, "base.toml", None, &profile).expect("a sound scenario");
    let tcp = tcp(&scenario);
    assert_eq!(tcp.congestion.kind, "cubic");
    assert_eq!(tcp.congestion.variant, Variant::Linux6_18);
    assert_eq!(tcp.recovery, Recovery::RackTlpPrr);
    assert_eq!(tcp.ack_counting, AckCounting::Delivered);
    assert_eq!(tcp.min_cwnd, MinCwnd { loss: 2, ecn: 2 });
    // tcp(7): timestamps and SACK are on, ECN is not requested.
    assert_eq!(
        (tcp.mss_bytes, tcp.timestamps),
        (1448, Timestamps::Standard(12))
    );
    assert_eq!((tcp.ecn, tcp.pacing), (Ecn::Off, None));
    assert_eq!(tcp.initial_window, 10.0); // include/net/tcp.h
    assert_eq!(tcp.rto.min, Span::from_millis(200));
    assert_eq!(tcp.rto.max, Span::from_secs(120));
    let delayed = tcp.delayed_ack.expect("acknowledgements are delayed");
    assert_eq!(delayed.timeout, Span::from_millis(40));
    assert!(delayed.push, "tcp_cleanup_rbuf");
    assert_eq!(delayed.quick, 16, "TCP_MAX_QUICKACKS");
    assert_eq!((tcp.prr, tcp.rtt_sample), (PrrRule::Linux, RttSample::Last));
    assert!(tcp.growth_beyond_use, "tcp_is_cwnd_limited");
    assert!(tcp.undo && tcp.dsack, "tcp_may_undo, tcp_dsack");
    assert_eq!(tcp.initial_ssthresh, Some(2_147_483_647.0));
    // tcp_rcvbuf_grow: six times the bytes that arrived in a round trip, where the RFCs' receiver has twice the
    // capacity of the path.
    let plain = parse(&text, "base.toml", None, &[]).expect("a sound scenario");
    let three = 3 * self::tcp(&plain).receive_window;
    assert!(tcp.receive_window.abs_diff(three) <= 3, "{three}");
    // The label and a flow's choice follow the algorithm.
    assert_eq!(scenario.config().flows[0].label, "cubic");
    let chosen = with(&["profile=linux"]);
    assert_eq!(self::tcp(&chosen).congestion.kind, "reno");
    let bbr = with(&["profile=linux", "flows.0.congestion.kind=bbr"]);
    assert_eq!(self::tcp(&bbr).congestion.variant, Variant::Linux6_18);
}

#[test]
fn algorithms_get_the_marks_and_transit_times_that_they_work_with() {
    let of = |kind: &str, more: &[&str]| {
        let kind = format!("flows.0.congestion.kind={kind}");
        tcp(&with(&[&[kind.as_str()], more].concat()))
    };
    for kind in ["dctcp", "decbit"] {
        assert_eq!(of(kind, &[]).ecn, Ecn::Dctcp, "{kind}");
        assert_eq!(
            of(kind, &["flows.0.tcp.ecn=true"]).ecn,
            Ecn::Classic,
            "{kind}"
        );
    }
    assert_eq!(of("bbr", &[]).ecn, Ecn::Off, "it does not respond to marks");
    assert_eq!(of("bbr", &["flows.0.tcp.ecn=true"]).ecn, Ecn::Classic);
    // BBR v3 does not request ECN, but counts marks where ECN is used.
    assert_eq!(of("bbr3", &[]).ecn, Ecn::Dctcp);
    assert_eq!(of("bbr3", &["profile=linux"]).ecn, Ecn::Off);
    let chosen = of("bbr3", &["flows.0.tcp.ecn=true"]);
    assert_eq!(chosen.ecn, Ecn::Classic);
    let deaf = "flows.0.congestion.ecn_factor=0";
    assert_eq!(of("bbr3", &[deaf]).ecn, Ecn::Off);
    assert!(of("reno", &[]).delayed_ack.is_some());
    assert!(of("packet-pair", &[]).delayed_ack.is_none());
    let chosen = of("packet-pair", &["flows.0.tcp.delayed_ack=true"]);
    assert!(chosen.delayed_ack.is_some());
    for kind in ["sync", "sync-pcwnd", "lp", "ledbat"] {
        let derived = of(kind, &[]);
        assert_eq!(derived.timestamps, Timestamps::OneWay(14), "{kind}");
        let chosen = of(kind, &["flows.0.tcp.timestamps=true"]);
        assert_eq!(chosen.timestamps, Timestamps::Standard(12), "{kind}");
    }
    let plain = of("reno", &[]);
    assert_eq!(
        (plain.ecn, plain.timestamps),
        (Ecn::Classic, Timestamps::Standard(12))
    );
}

#[test]
fn bbr_recovers_with_rack_tlp_unless_the_scenario_names_another() {
    let of = |profile: &str, kind: &str, more: &[&str]| {
        let (profile, kind) = (
            format!("profile={profile}"),
            format!("flows.0.congestion.kind={kind}"),
        );
        with(&[&[profile.as_str(), kind.as_str()], more].concat())
    };
    for kind in ["bbr", "bbr3"] {
        for profile in ["rfc", "ns2-2.35"] {
            let derived = of(profile, kind, &[]);
            assert_eq!(tcp(&derived).recovery, Recovery::RackTlp, "{profile}");
            assert!(derived.warnings().is_empty());
        }
        assert_eq!(
            tcp(&of("linux", kind, &[])).recovery,
            Recovery::RackTlpPrr,
            "the profile's own"
        );
        let chosen = of("rfc", kind, &["flows.0.recovery=sack"]);
        assert_eq!(tcp(&chosen).recovery, Recovery::Sack);
        assert!(chosen.warnings().concat().contains("without RACK-TLP"));
    }
    let reno = of("rfc", "reno", &["flows.0.recovery=sack"]);
    assert_eq!(
        (tcp(&reno).recovery, reno.warnings().len()),
        (Recovery::Sack, 0)
    );
}

#[test]
fn one_way_timestamps_have_the_size_of_their_own_option() {
    // Weigle 2003: 1420 bytes of data in packets of 1474, 14 of them for the option.
    let scenario = with(&["flows.0.tcp.timestamps=one-way", "flows.0.packet=1474 B"]);
    let one_way = tcp(&scenario);
    assert_eq!(
        (one_way.mss_bytes, one_way.timestamps),
        (1420, Timestamps::OneWay(14))
    );
    let padded = with(&[
        "flows.0.tcp.timestamps=one-way",
        "flows.0.tcp.timestamp_option=16 B",
    ]);
    assert_eq!(tcp(&padded).timestamps, Timestamps::OneWay(16));
}

#[test]
fn paced_flows_have_the_factors_of_the_profile_or_their_own() {
    let pacing = |profile: &str, value: &str| {
        let (profile, value) = (
            format!("profile={profile}"),
            format!("flows.0.tcp.pacing={value}"),
        );
        let pacing = tcp(&with(&[&profile, &value])).pacing;
        pacing.map(|gains| (gains.slow_start, gains.avoidance))
    };
    // RFC 9002 section 7.7; tcp_pacing_ss_ratio and tcp_pacing_ca_ratio.
    assert_eq!(pacing("rfc", "true"), Some((1.25, 1.25)));
    assert_eq!(pacing("linux", "true"), Some((2.0, 1.2)));
    assert_eq!(pacing("linux", "{ avoidance = 1.5 }"), Some((2.0, 1.5)));
    assert_eq!(pacing("linux", "false"), None);
}

#[test]
fn dctcp_echo_is_a_choice_of_the_flow() {
    let ecn = |value: &str| tcp(&with(&[&format!("flows.0.tcp.ecn={value}")])).ecn;
    assert_eq!(ecn("dctcp"), Ecn::Dctcp);
    assert_eq!(ecn("true"), Ecn::Classic);
    assert_eq!(ecn("false"), Ecn::Off);
}

#[test]
fn ns2_2_35_is_what_the_reference_runs_used() {
    let scenario = with(&["profile=ns2-2.35", "flows.0.slow_start.max_ssthresh=100"]);
    let tcp = tcp(&scenario);
    assert_eq!(
        (tcp.mss_bytes, tcp.timestamps, tcp.ack_bytes),
        (1460, Timestamps::Off, 40)
    );
    assert_eq!((tcp.initial_window, tcp.receive_window), (2.0, 100_000));
    assert_eq!(tcp.initial_ssthresh, Some(100_000.0));
    assert_eq!(tcp.recovery, Recovery::Ns2Sack);
    assert_eq!(tcp.ack_counting, AckCounting::PerAck);
    assert_eq!((tcp.ecn, tcp.delayed_ack), (Ecn::Off, None));
    assert_eq!(tcp.rto.initial, Span::from_secs(3));
    assert_eq!(tcp.rto.min, Span::from_millis(200));
    assert_eq!(
        tcp.rto.clock,
        RttClock::Ns2Ticks {
            tick: Span::from_millis(10)
        }
    );
    assert_eq!(tcp.rounding, Rounding::IntegerSsthresh);
    assert_eq!(tcp.min_cwnd, MinCwnd { loss: 1, ecn: 1 });
    assert_eq!(
        tcp.slow_start,
        SlowStart::Ns2Limited {
            max_ssthresh: 100.0
        }
    );
    let QueueConfig::DropTail(queue) = &scenario.config().links[0].queue else {
        panic!("not drop-tail")
    };
    assert_eq!(queue.counting, Counting::InService);
    assert_eq!(queue.limit, Capacity::Packets(8333));
}

#[test]
fn ns2_2_35_configures_red_as_ns2_reports_it() {
    // Recorded values of an ns-2.35 run at 1 Gbit/s and 50 ms, mean packet 1500 B, q_weight_ 0 and
    // bottom_ 0.0001: weight 1.199993e-05, thresholds 208.3333 and 625.
    let bottleneck = "topology.dumbbell.bottleneck.queue";
    let scenario = with(&[
        "profile=ns2-2.35",
        ADAPTIVE_RED,
        &format!("{bottleneck}.mean_packet=1500 B"),
        &format!("{bottleneck}.weight=per-packet"),
        &format!("{bottleneck}.bottom=0.0001"),
    ]);
    let red = red(&scenario);
    assert!((red.weight - 1.199993e-5).abs() < 1e-11, "{}", red.weight);
    assert!(
        (red.min_th_pkts - 208.3333).abs() < 1e-4,
        "{}",
        red.min_th_pkts
    );
    assert!(
        (red.max_th_pkts - 625.0).abs() < 1e-9,
        "{}",
        red.max_th_pkts
    );
    let adaptive = red.adaptive.0.expect("adaptive");
    assert_eq!(
        (adaptive.bottom, adaptive.top, adaptive.alpha, adaptive.beta),
        (Some(1e-4), 0.5, 0.01, 0.9)
    );
    assert_eq!(
        (red.max_p, red.marking, red.gentle),
        (0.1, Marking::UpTo(0.1), Gentle::Frozen)
    );
    assert!(red.queue_in_bytes && red.scale_by_size && red.wait);
    assert_eq!(red.limit, Capacity::Bytes(8333 * 1500));
}

#[test]
fn ns2_2003_has_the_thresholds_of_the_study() {
    // LBNL-52549, table 5.1: 500-byte mean packets at 1 Gbit/s give 625 and 1875 packets, weight 4.0e-6.
    let scenario = with(&["profile=ns2-2003", ADAPTIVE_RED]);
    let red = red(&scenario);
    assert_eq!((red.min_th_pkts, red.max_th_pkts), (625.0, 1875.0));
    assert!((red.weight - 4.0e-6).abs() < 1e-11, "{}", red.weight);
    assert!(red.ecn && !red.queue_in_bytes && !red.scale_by_size);
    assert_eq!(red.limit, Capacity::Packets(8333));
    let tcp = tcp(&scenario);
    assert_eq!(
        (tcp.rto.initial, tcp.rto.min),
        (Span::from_secs(6), Span::from_secs(1))
    );
    assert_eq!(tcp.ecn, Ecn::Classic);
    assert_eq!(tcp.rounding, Rounding::IntegerBoth);
}

#[test]
fn max_ssthresh_means_the_profiles_limited_slow_start_and_zero_none() {
    let slow_start = |overrides: &[&str]| tcp(&with(overrides)).slow_start;
    let limited = slow_start(&["flows.0.slow_start.max_ssthresh=100"]);
    assert_eq!(
        limited,
        SlowStart::Limited {
            max_ssthresh: 100.0
        }
    );
    assert_eq!(
        slow_start(&["flows.0.slow_start.max_ssthresh=0"]),
        SlowStart::Standard
    );
    let chosen = slow_start(&["profile=ns2-2.35", "flows.0.slow_start.kind=limited"]);
    assert_eq!(
        chosen,
        SlowStart::Limited {
            max_ssthresh: 100.0
        }
    );
}

/// Checks that HyStart is the default only for CUBIC in the profile `linux`, as in tcp_cubic.c.
#[test]
fn the_kernel_s_cubic_has_its_hystart() {
    let slow_start = |profile: &str, kind: &str, more: &[&str]| {
        let (profile, kind) = (
            format!("profile={profile}"),
            format!("flows.0.congestion.kind={kind}"),
        );
        tcp(&with(&[&[profile.as_str(), &kind], more].concat())).slow_start
    };
    let hystart = |given: &[(&str, f64)]| {
        let parameters = given.iter().map(|&(key, value)| (key.to_string(), value));
        let kind = "hystart".to_string();
        let parameters = parameters.collect();
        SlowStartSpec { kind, parameters }.build().unwrap()
    };
    assert_eq!(slow_start("linux", "cubic", &[]), hystart(&[]));
    let paced = "flows.0.tcp.pacing=true";
    // With pacing, an acknowledgement train ends slow start after a whole round-trip time, not half of one.
    let whole = hystart(&[("train", 1.0)]);
    assert_eq!(slow_start("linux", "cubic", &[paced]), whole);
    let given = "flows.0.slow_start={ kind = \"hystart\", low_window = 20 }";
    let later = hystart(&[("low_window", 20.0)]);
    assert_eq!(slow_start("rfc", "reno", &[given]), later);
    let standard = SlowStart::Standard;
    assert_eq!(slow_start("linux", "reno", &[]), standard);
    assert_eq!(slow_start("rfc", "cubic", &[]), standard);
    let chosen = "flows.0.slow_start.kind=standard";
    assert_eq!(slow_start("linux", "cubic", &[chosen]), standard);
    let older = "flows.0.congestion.variant=linux-2.6.22";
    assert_eq!(slow_start("linux", "cubic", &[older]), standard);
}

#[test]
fn slow_starts_have_their_own_parameters() {
    let refusal = |given: &str| {
        let given = [format!("flows.0.slow_start={given}")];
        parse(BASE, "base.toml", None, &given)
            .unwrap_err()
            .to_string()
    };
    let message = refusal("{ kind = \"hystart\", max_ssthresh = 100 }");
    assert!(message.contains("unknown key `max_ssthresh`"), "{message}");
    assert!(
        message.contains("`longhaul list slow-starts` shows all"),
        "{message}"
    );
    let message = refusal("{ kind = \"hystart++\", min_rtt_thresh = 0.02 }");
    assert!(message.contains("flows.0.slow_start"), "{message}");
    assert!(message.contains("max_rtt_thresh"), "{message}");
}

/// The variant `linux` is refused with a message that names the variants of both kernels. It was
/// once the name of the variant of Linux 2.6.22.
#[test]
fn variant_linux_is_refused_with_the_names_of_both_kernels() {
    let refusal = |kind: &str| {
        let given = format!("flows.0.congestion={{ kind = \"{kind}\", variant = \"linux\" }}");
        parse(BASE, "base.toml", None, &[given])
            .unwrap_err()
            .to_string()
    };
    let message = refusal("cubic");
    let both = "variant `linux` is called `linux-2.6.22` now; a current kernel's is `linux-6.18`";
    assert!(message.contains(both), "{message}");
    assert!(refusal("bic").contains("variant `linux` is called `linux-2.6.22` now"));
    assert!(refusal("reno").contains("unknown variant `linux`"));
}

#[test]
fn algorithms_without_the_profiles_variant_stay_as_published() {
    let variant = |kind: &str| {
        let kind = format!("flows.0.congestion.kind={kind}");
        tcp(&with(&["profile=ns2-2.35", &kind])).congestion.variant
    };
    assert_eq!(variant("hstcp"), Variant::Ns2);
}
