//! Failures of connections: each causes an event and a warning.

use longhaul_engine::config::Transport;
use longhaul_engine::measure::EventKind;
use longhaul_engine::stack::{Datagram, Host, StackNote, StackSetup};
use longhaul_units::{Span, Time};

use crate::{first_flow, run, with};

/// Returns the only warning of a run that loses its only connection.
fn warning_of(overrides: &[&str]) -> String {
    let (totals, records) = run(&with(overrides));
    let lost = records.events.iter();
    let lost = lost.filter(|event| event.kind == EventKind::ConnectionLost);
    assert_eq!(lost.count(), 1);
    let [warning] = &totals.run_warnings[..] else {
        panic!("{:?}", totals.run_warnings);
    };
    warning.clone()
}

/// Checks that quinn closes a connection on a long fat path if its stream is read in order. The
/// reason is that such a stream may have at most 1024 pieces of data behind gaps.
#[test]
fn ordered_reads_of_a_long_fat_path_close_the_connection() {
    let long_and_fat = [
        r#"topology.dumbbell.bottleneck.rate="200 Mbps""#,
        r#"topology.dumbbell.bottleneck.delay="50 ms""#,
        r#"duration="3 s""#,
    ];
    let mut ordered = long_and_fat.to_vec();
    ordered.push("flows.0.stack.ordered=true");
    let warning = warning_of(&ordered);
    assert!(
        warning.starts_with("flow `quinn-0`: its connection was lost at 1."),
        "{warning}"
    );
    assert!(
        warning.contains("too many gaps in stream buffer"),
        "{warning}"
    );
    let (totals, _) = run(&with(&long_and_fat));
    assert!(totals.run_warnings.is_empty());
}

/// A connection times out if its path is down for longer than the idle timeout.
#[test]
fn a_dead_path_times_out() {
    let warning = warning_of(&[
        r#"topology.dumbbell.bottleneck.changes=[{ at = "2 s", loss = { bernoulli = 1 } }]"#,
        r#"flows.0.stack.idle_timeout="3 s""#,
        r#"duration="20 s""#,
    ]);
    assert!(warning.contains("timed out"), "{warning}");
}

/// Checks that a handshake ends with a timeout if a full queue drops its packets.
#[test]
fn a_handshake_through_a_full_queue_times_out() {
    let warning = warning_of(&[
        r#"flows=[{ protocol = "quic", start = "2 s", stack = { idle_timeout = "5 s" } }, { protocol = "udp", rate = "40 Mbps", packet = "100 B" }]"#,
        r#"topology.dumbbell.bottleneck.queue.limit="2 kB""#,
        r#"duration="12 s""#,
    ]);
    assert!(
        warning.starts_with("flow `quinn-0`: its connection was lost at 7"),
        "{warning}"
    );
    assert!(warning.contains("timed out"), "{warning}");
}

/// Checks that a connection that times out after its stream has ended does not count as lost. The
/// stream ends after a transfer, or because the flow is stopped.
#[test]
fn connections_that_are_done_are_not_lost() {
    for done in [r#"flows.0.transfer="1 MB""#, r#"flows.0.stop="2 s""#] {
        let idle = r#"flows.0.stack.idle_timeout="2 s""#;
        let (totals, records) = run(&with(&[done, idle, r#"duration="15 s""#]));
        assert!(totals.run_warnings.is_empty(), "{:?}", totals.run_warnings);
        assert!(totals.flows[0].finish.is_some(), "{done}");
        assert!(
            records
                .events
                .iter()
                .any(|event| event.kind == EventKind::Finish)
        );
        assert!(first_flow(&totals).delivered_bytes >= 1_000_000);
    }
}

/// An outage of seconds is reported as a timeout. QUIC's persistent congestion (RFC 9002 section
/// 7.6) corresponds to a retransmission timeout of TCP.
#[test]
fn an_outage_of_seconds_is_persistent_congestion() {
    let (totals, records) = run(&with(&[
        r#"topology.dumbbell.bottleneck.changes=[{ at = "3 s", loss = { bernoulli = 1 } }, { at = "6 s", loss = { bernoulli = 0 } }]"#,
        r#"duration="20 s""#,
    ]));
    assert!(totals.run_warnings.is_empty(), "{:?}", totals.run_warnings);
    assert_eq!(first_flow(&totals).timeouts, 1);
    let timeout = records.events.iter();
    let mut timeout = timeout.filter(|event| event.kind == EventKind::Timeout);
    let timeout = timeout.next().expect("recorded");
    assert_eq!(timeout.cwnd_after, 2.0);
}

/// A server that cannot read the client's transport parameters refuses the handshake and reports
/// the refusal.
#[test]
fn a_refused_handshake_is_a_lost_connection() {
    let scenario = with(&[]);
    let Transport::Stack(stack) = &scenario.config().flows[0].transport else {
        panic!("a QUIC flow");
    };
    let mut pair = stack.factory.make(&StackSetup {
        seed: 1,
        transfer: None,
        traced: false,
    });
    let at = |ms| Time::ZERO + Span::from_millis(ms);
    fn whole(bytes: &[u8]) -> Datagram<'_> {
        Datagram { bytes, zeros: 0 }
    }
    pair.start(at(0));
    let mut datagram = Vec::new();
    let ecn = pair.poll(Host::Sender, at(0), &mut datagram);
    let ecn = ecn.expect("a client sends first");
    // The first message begins with its size, 280 bytes, and the size of its parameters.
    let is_size = |bytes: &[u8]| bytes == 280u16.to_be_bytes();
    let place = datagram.windows(2).position(is_size);
    let place = place.expect("the datagram has the message");
    datagram[place + 2] = 0xff;
    pair.receive(Host::Receiver, at(20), ecn, whole(&datagram));
    datagram.clear();
    let refusal = pair.poll(Host::Receiver, at(20), &mut datagram);
    let refusal = refusal.expect("an answer");
    pair.receive(Host::Sender, at(40), refusal, whole(&datagram));
    let mut notes = Vec::new();
    pair.take_notes(&mut notes);
    let [StackNote::ConnectionLost(reason)] = &notes[..] else {
        panic!("{notes:?}");
    };
    assert!(reason.contains("handshake message"), "{reason}");
}
