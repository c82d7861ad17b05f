//! Applications that open connections during the run: their configuration and refusals.

use longhaul_engine::config::{
    Binding, Distribution, PackMime, Process, Requests, Source, Spacing, StopRule, Transport, Web,
};
use longhaul_scenario::{Scenario, load, parse};
use longhaul_units::Time;

use crate::{refusal, value};

/// Returns the text of a scenario with one flow, which runs the application `traffic`.
fn text(traffic: &str) -> String {
    format!(
        "duration = \"10 s\"\n\
         topology.dumbbell.bottleneck = {{ rate = \"10 Mbps\", delay = \"10 ms\" }}\n\
         [[flows]]\ntraffic = {traffic}\n"
    )
}

fn scenario(traffic: &str) -> Scenario {
    parse(&text(traffic), "base.toml", None, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn source(scenario: &Scenario) -> &Source {
    match &scenario.config().flows[0].transport {
        Transport::Traffic(_, source) => source,
        other => panic!("{other:?}"),
    }
}

fn requests(traffic: &str) -> Requests {
    match source(&scenario(traffic)) {
        Source::Requests(requests) => requests.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn requests_have_defaults() {
    let defaults = requests("{ kind = \"requests\", interval = \"20 ms\", response = \"1 KB\" }");
    let interval = Process::Independent(Distribution::Constant(0.02));
    assert_eq!(defaults.arrivals, interval);
    assert_eq!(defaults.server_delay, Distribution::Constant(0.0));
    assert_eq!(
        (defaults.per_connection.clone(), defaults.binding),
        (Distribution::Constant(1.0), Binding::WithRequest)
    );
}

/// Checks that PackMime needs only a rate, and that other keys replace its defaults. By default, clients and servers
/// have extra round-trip times (Weigle 2003, main study). With `server`, only servers have them (appendix B).
#[test]
fn packmime_is_a_rate() {
    let model = requests("{ kind = \"packmime\", rate = 24.1 }");
    assert_eq!(
        model.arrivals,
        Process::PackMime(PackMime::Arrivals { rate: 24.1 })
    );
    assert_eq!(model.response, Process::PackMime(PackMime::Responses));
    let round_trips = |client_side| {
        Process::PackMime(PackMime::RoundTrips {
            rate: 24.1,
            client_side,
        })
    };
    assert_eq!(model.round_trip, round_trips(true));
    let inverse = Distribution::InverseWeibull {
        shape: 0.63,
        scale: 305.0,
    };
    let delay = Distribution::Limited {
        of: Box::new(inverse),
        max: 0.1,
    };
    assert_eq!(model.server_delay, delay);
    let other = requests(
        "{ kind = \"packmime\", rate = 24.1, round_trips = \"server\", server_delay = \"0 s\", \
         binding = \"on-arrival\", requests_per_connection = 3 }",
    );
    assert_eq!(other.round_trip, round_trips(false));
    assert_eq!(other.server_delay, Distribution::Constant(0.0));
    assert_eq!(
        (other.binding, other.per_connection.clone()),
        (Binding::OnArrival, Distribution::Constant(3.0))
    );
}

#[test]
fn mistakes_are_refused_with_their_place() {
    let wrong = |traffic: &str, parts: &[&str]| {
        let message = refusal(&text(traffic));
        assert!(message.starts_with("wrong.toml:4:"), "{message}");
        for part in parts {
            assert!(message.contains(part), "no {part:?} in: {message}");
        }
    };
    let requests = |rest: &str| format!("{{ kind = \"requests\", interval = \"1 s\", {rest} }}");
    wrong(
        "{ interval = \"1 s\" }",
        &["`kind` is missing", "requests, packmime, web"],
    );
    wrong(
        &requests("request = \"1 B\""),
        &["flows.0.traffic", "`response` is missing"],
    );
    wrong("{ kind = \"trace\" }", &["a trace needs a table"]);
    wrong(
        "{ kind = \"trace\", file = \"none.csv\" }",
        &["traffic.file", "cannot read none.csv"],
    );
    wrong(
        "{ kind = \"trace\", csv = \"start_s,bytes\" }",
        &["traffic.csv", "no line below"],
    );
    wrong("{ kind = \"tmix\" }", &["`tmix` needs connection vectors"]);
    wrong(
        "{ kind = \"tmix\", vectors = \"SEQ 5 1\\n> x\" }",
        &[
            "traffic.vectors",
            "line 2: \"x\" is no whole number of bytes",
        ],
    );
    let file = std::env::temp_dir().join(format!("longhaul-{}.cvec", std::process::id()));
    std::fs::write(&file, "# a comment\nS 5 1\nI 0 7\n").unwrap();
    wrong(
        &format!("{{ kind = \"tmix\", file = \"{}\" }}", file.display()),
        &["traffic.file", ".cvec: line 3: `I` with 2 values"],
    );
    std::fs::remove_file(&file).unwrap();
    let both = text("{ kind = \"trace\", csv = \"start_s,bytes\\n0,1\" }\ntransfer = \"1 MB\"");
    assert!(refusal(&both).contains("either transfer or traffic"));
    let udp = "protocol = \"udp\"\nrate = \"1 Mbps\"\n";
    let over_udp = |traffic: &str| refusal(&(text(traffic) + udp));
    let message = over_udp("{ kind = \"trace\", csv = \"start_s,bytes\\n0,1\" }");
    assert!(
        message.contains("opens TCP connections; a UDP flow may be `on-off`"),
        "{message}"
    );
    let message = over_udp("{ kind = \"on-off\", on = \"1 s\", off = \"1 s\", message = \"9 B\" }");
    assert!(
        message.contains("messages of a UDP flow are its packets"),
        "{message}"
    );
    for (rate, message) in [
        ("1 bps", "1 GB"),
        ("1000 Tbps", "1 B"),
        ("1 Mbps", "1000000000 GB"),
    ] {
        let extreme = format!("rate = \"{rate}\", message = \"{message}\"");
        wrong(
            &format!("{{ kind = \"on-off\", on = \"1 s\", off = \"1 s\", {extreme} }}"),
            &["traffic.message: ", "between 1 ps and 100000 s"],
        );
    }
    for nothing in [
        "\"0 s\"",
        "{ kind = \"empirical\", probabilities = [0, 1], values = [\"0 s\", \"0 s\"] }",
    ] {
        let traffic =
            format!("{{ kind = \"requests\", response = \"1 B\", interval = {nothing} }}");
        wrong(&traffic, &["traffic.interval: ", "without limit"]);
    }
    wrong(
        "{ kind = \"on-off\", on = \"1 s\", off = \"1 s\", rate = \"1 Mbps\" }",
        &["flows.0.traffic", "over TCP, `on-off` needs message"],
    );
}

#[test]
fn a_trace_becomes_part_of_the_scenario() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("trace");
    std::fs::create_dir_all(&folder).expect("a folder");
    let csv = "start_s,request_bytes,response_bytes\n0.5,400,9000\n";
    std::fs::write(folder.join("web.csv"), csv).expect("a file");
    let file = folder.join("base.toml");
    std::fs::write(&file, text("{ kind = \"trace\", file = \"web.csv\" }")).expect("a file");
    let loaded = load(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
    let Source::Trace(entries) = source(&loaded) else {
        panic!("not a trace");
    };
    assert_eq!(entries[0].time, Time::from_secs_f64(0.5));
    assert_eq!(value(&loaded, "/flows/0/label"), "\"trace\"");
    // It runs without the file, wherever the file was, and describes the same simulation.
    let resolved = loaded.resolved_json().to_string();
    assert!(!resolved.contains("CARGO") && !resolved.contains(&folder.display().to_string()));
    let again = parse(&resolved, "resolved.json", None, &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.hash(), loaded.hash());
}

/// Checks that bursts are possible over TCP and over UDP. Their parameters are those of table 4.2 of the thesis on
/// proxies (University of Innsbruck, 2009), with ns-2's rounding.
#[test]
fn bursts_go_over_tcp_or_udp() {
    let pareto = "{ kind = \"pareto\", mean = \"500 ms\", shape = 1.5 }";
    let on_off = format!("kind = \"on-off\", on = {pareto}, off = {pareto}");
    let over_tcp =
        format!("{{ {on_off}, rate = \"64 kbps\", message = \"210 B\", whole_segments = true }}");
    let scenario = scenario(&over_tcp);
    let Transport::Messages(_, messages) = &scenario.config().flows[0].transport else {
        panic!("no messages");
    };
    let pareto = Distribution::Pareto {
        mean: 0.5,
        shape: 1.5,
    };
    assert_eq!(messages.bursts.on, pareto);
    assert_eq!(
        (messages.rate.as_bps(), messages.message_bytes),
        (64_000, 210)
    );
    assert!(messages.whole_segments);
    let udp = text(&format!("{{ {on_off} }}")) + "protocol = \"udp\"\nrate = \"3 Mbps\"\n";
    let udp = parse(&udp, "udp.toml", None, &[]).unwrap_or_else(|error| panic!("{error}"));
    let Transport::Udp(udp) = &udp.config().flows[0].transport else {
        panic!("not UDP");
    };
    assert_eq!(udp.bursts.as_ref().map(|bursts| &bursts.off), Some(&pareto));
}

/// Checks that sizes in web sessions are rounded up to packets by default. The sessions are those of the thesis on
/// gentle HighSpeed TCP (Osaka University, 2006).
#[test]
fn sessions_count_in_packets_unless_told_otherwise() {
    let web = |rest: &str| {
        let traffic = format!(
            "{{ kind = \"web\", inter_page = \"10 s\", inter_object = \"0.5 s\", object = \"12 KB\", \
             objects = {{ kind = \"pareto\", mean = 3, shape = 1.5 }}{rest} }}"
        );
        match source(&scenario(&traffic)) {
            Source::Web(web) => web.clone(),
            other => panic!("{other:?}"),
        }
    };
    let expected = Web {
        pages: 1000,
        inter_page: Distribution::Constant(10.0),
        objects: Distribution::Pareto {
            mean: 3.0,
            shape: 1.5,
        },
        inter_object: Distribution::Constant(0.5),
        object: Distribution::Constant(12_000.0),
        whole_units_of: Some(1448),
        request_bytes: 1448,
        separate: true,
    };
    assert_eq!(web(""), expected);
    let other = web(", whole_segments = false, connection_per_object = false, request = \"400 B\"");
    assert_eq!(
        (other.whole_units_of, other.request_bytes, other.separate),
        (None, 400, false)
    );
}

#[test]
fn a_stop_rule_names_flows_with_exchanges() {
    let stop = |rest: &str| {
        let packmime = "{ kind = \"packmime\", rate = 10 }\n";
        let flows =
            "[[flows]]\nlabel = \"bulk\"\n[[flows]]\nlabel = \"other\"\ncount = 2\ntraffic = ";
        format!(
            "measure.stop = {{ exchanges = 1000{rest} }}\n{}{flows}{packmime}",
            text(packmime)
        )
    };
    let rule = |rest: &str| -> StopRule {
        let scenario = parse(&stop(rest), "stop.toml", None, &[]);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        scenario.config().measure.stop.clone().expect("a rule")
    };
    assert_eq!(rule("").flows, [0, 2, 3]);
    let strict = rule(
        ", of = [\"other\"], p99_above = \"65 KB\", longest_above = \"10 MB\", start_within = \"1000 s\"",
    );
    assert_eq!(strict.flows, [2, 3]);
    assert_eq!((strict.exchanges, strict.p99_above), (1000, Some(65_000)));
    let message = refusal(&stop(", of = [\"bulk\"]"));
    assert!(
        message.contains("measure.stop.of.0: unknown label of flows with exchanges"),
        "{message}"
    );
    assert!(message.contains("packmime, other"), "{message}");
    let bulk = text(
        "{ kind = \"on-off\", on = \"1 s\", off = \"1 s\", rate = \"1 Mbps\", message = \"1 KB\" }",
    );
    let message = refusal(&format!("measure.stop = {{ exchanges = 1 }}\n{bulk}"));
    assert!(
        message.contains("no flow has exchanges to count"),
        "{message}"
    );
}

/// Returns a scenario of one UDP flow, to which the lines `keys` are added.
fn datagrams(keys: &str) -> String {
    format!(
        "duration = \"10 s\"\n\
         topology.dumbbell.bottleneck = {{ rate = \"10 Mbps\", delay = \"10 ms\" }}\n\
         [[flows]]\nprotocol = \"udp\"\nrate = \"8 Mbps\"\n{keys}\n"
    )
}

#[test]
fn datagrams_are_spaced_evenly_or_at_random() {
    let spaced = [
        ("", Spacing::Even),
        ("spacing = \"even\"", Spacing::Even),
        ("spacing = \"poisson\"", Spacing::Poisson),
        ("spacing = { jitter = 0.5 }", Spacing::Jitter(0.5)),
    ];
    for (keys, expected) in spaced {
        let scenario = parse(&datagrams(keys), "udp.toml", None, &[]).expect(keys);
        let Transport::Udp(udp) = &scenario.config().flows[0].transport else {
            panic!("{keys}: no datagrams");
        };
        assert_eq!(udp.spacing, expected);
        assert_eq!(scenario.draws(), expected != Spacing::Even);
    }
    let refused = [
        ("spacing = { jitter = 2 }", "from 0 to 1"),
        ("spacing = \"often\"", "even, poisson"),
        (
            "spacing = \"poisson\"\ntraffic = { kind = \"on-off\", on = \"1 s\", off = \"1 s\" }",
            "give either spacing or traffic",
        ),
    ];
    for (keys, expected) in refused {
        let message = refusal(&datagrams(keys));
        assert!(message.contains(expected), "{message}");
    }
    let tcp = refusal(&text(
        "{ kind = \"perturbation\", lifetime = \"1 s\" }\nspacing = \"even\"",
    ));
    assert!(tcp.contains("a TCP flow has no spacing"), "{tcp}");
}

/// Checks the warning about datagrams at even intervals that overload a drop-tail queue. Streams of 8 and 16 Mbit/s
/// share 10 Mbit/s: their phases would decide which stream loses packets.
#[test]
fn even_datagrams_that_overload_a_drop_tail_queue_are_warned_of() {
    let second = |spacing: &str| {
        let second = "[[flows]]\nlabel = \"more\"\nprotocol = \"udp\"\nrate = \"16 Mbps\"\n";
        let text = datagrams("") + second + spacing;
        let scenario = parse(&text, "udp.toml", None, &[]).expect("a scenario");
        scenario.warnings().join("\n")
    };
    let warning = "datagrams of `udp` and `more` come at even intervals and overload `bottleneck`";
    assert!(second("").contains(warning), "{}", second(""));
    assert!(!second("spacing = \"poisson\"").contains("intervals"));
}
