//! Determinism: the same scenario and seed give the same bytes in any thread and any process,
//! whether or not links process packets ahead of time.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::process::Command;
use std::thread;

use crate::{run, with};

/// Overrides with loss, reordering and other impairments, three QUIC flows and one TCP flow.
const UNRULY: [&str; 7] = [
    r#"topology.dumbbell.bottleneck.queue={ kind = "fq-codel", ecn = true }"#,
    r#"topology.dumbbell.bottleneck.loss={ bernoulli = 0.003 }"#,
    r#"topology.dumbbell.bottleneck.duplication=0.01"#,
    r#"topology.dumbbell.bottleneck.reordering={ probability = 0.01, delay = "5 ms" }"#,
    r#"flows.0.count=3"#,
    "flows.0.stack.qlog=true",
    r#"duration="6 s""#,
];

/// Controllers of quinn, and one of Longhaul's algorithms in it.
const CONTROLLERS: [&str; 4] = [
    r#"flows.0.stack.congestion="cubic""#,
    r#"flows.0.stack.congestion="newreno""#,
    r#"flows.0.stack.congestion="bbr""#,
    r#"flows.0.congestion={ kind = "bbr3" }"#,
];

/// Returns a hash of all records of a run with this controller.
fn digest(controller: &str) -> u64 {
    let mut overrides = UNRULY.to_vec();
    overrides.push(controller);
    let (totals, mut records) = run(&with(&overrides));
    assert!(totals.run_warnings.is_empty(), "{:?}", totals.run_warnings);
    assert!(
        totals
            .flows
            .iter()
            .all(|flow| flow.total.delivered_bytes > 100_000)
    );
    let mut hasher = DefaultHasher::new();
    let logs = std::mem::take(&mut records.logs);
    assert_eq!(logs.len(), 3);
    logs.hash(&mut hasher);
    format!("{totals:?}{records:?}").hash(&mut hasher);
    hasher.finish()
}

#[test]
fn threads_agree() {
    let threads = [(); 3].map(|()| thread::spawn(|| CONTROLLERS.map(digest)));
    let [one, two, three] = threads.map(|thread| thread.join().expect("runs do not panic"));
    assert_eq!(one, two);
    assert_eq!(one, three);
    // All controllers give different results.
    for (index, digest) in one.iter().enumerate() {
        assert!(!one[..index].contains(digest));
    }
}

/// Prints a hash of the results for each controller; [`processes_agree`] runs this test in separate processes.
#[test]
#[ignore = "prints what another test compares"]
fn print_digests() {
    let digests = CONTROLLERS.map(digest);
    writeln!(std::io::stdout(), "digests: {digests:?}").expect("a test can write");
}

#[test]
fn processes_agree() {
    let program = std::env::current_exe().expect("a test knows its program");
    let print = || {
        let arguments = [
            "--ignored",
            "--exact",
            "determinism::print_digests",
            "--nocapture",
        ];
        let output = Command::new(&program).args(arguments).output();
        let text = String::from_utf8(output.expect("it runs").stdout).expect("text");
        let line = text.lines().find(|line| line.contains("digests: ["));
        line.unwrap_or_else(|| panic!("no digests in {text}"))
            .to_string()
    };
    assert_eq!(print(), print());
}

/// Checks that traces of quinn's BBR repeat, although BBR draws the phase of its gain cycle without a seed.
#[test]
fn traces_of_bbr_repeat() {
    let traces = || {
        let congestion = r#"flows.0.stack.congestion="bbr""#;
        let trace = ["flows.0.trace_acks=true", congestion, r#"duration="3 s""#];
        run(&with(&trace)).1.traces
    };
    let first = traces();
    assert!(first.len() > 1000);
    assert!(first == traces());
}

/// Different replications draw different random numbers, and so do different flows.
#[test]
fn seeds_differ() {
    let digest = |replication: &str| {
        let mut overrides = UNRULY.to_vec();
        overrides.push(replication);
        let (totals, _) = run(&with(&overrides));
        let bytes = totals.flows.iter();
        bytes
            .map(|flow| flow.total.delivered_bytes)
            .collect::<Vec<_>>()
    };
    assert_ne!(digest("replication=0"), digest("replication=1"));
}

/// Writing a qlog changes no results. The qlog has every packet.
#[test]
fn a_qlog_changes_nothing() {
    let [(one, mut logged), (two, records)] =
        ["true", "false"].map(|qlog| run(&with(&[&format!("flows.0.stack.qlog={qlog}")])));
    let logs = std::mem::take(&mut logged.logs);
    assert_eq!((&one, &logged), (&two, &records));
    let log = str::from_utf8(&logs[&0]).expect("JSON is text");
    let events = |name: &str| log.matches(name).count() as u64;
    let flow = &one.flows[0].total;
    assert!(flow.retransmitted_pkts > 5);
    assert_eq!(events("recovery:packet_lost"), flow.retransmitted_pkts);
    // Two packets of the handshake may share a datagram.
    let beyond = events("transport:packet_sent") - flow.sent_pkts;
    assert!(beyond < 5, "{beyond}");
}

/// Checks that a link gives the same results whether or not it processes packets ahead of time. A
/// link with captured packets does not process packets ahead of time.
#[test]
fn work_ahead_of_time_agrees() {
    let [(mut one, records_one), (mut two, mut records_two)] =
        ["[]", r#"["bottleneck", "bottleneck-reverse"]"#].map(|links| {
            let capture = format!("measure.capture={links}");
            run(&with(&[&capture, r#"flows.0.count=2"#]))
        });
    for totals in [&mut one, &mut two] {
        totals.events = 0;
        totals.events_pending_max = 0;
    }
    assert!(!records_two.packets.is_empty());
    records_two.packets.clear();
    assert_eq!(one, two);
    assert_eq!(records_one, records_two);
}
