//! The handshake of NIST SP 500-282, equations 1 to 3.

use super::*;

/// A source sends SYNs at 0, 3 and 9 seconds, and gives up at 21 seconds.
#[test]
fn a_source_gives_up_21_seconds_after_the_first_of_three_syns() {
    let mut path = Start::new(Span::from_millis(40), 10).path("reno");
    path.lose = |packet, _| packet.kind() == Kind::Syn;
    path.connect();
    path.run(at(100.0));
    let times: Vec<f64> = path
        .seen
        .iter()
        .map(|(time, _, _)| time.as_secs_f64())
        .collect();
    assert_eq!(times.len(), 3);
    for (found, sent) in times.into_iter().zip([0.0, 3.0, 9.0]) {
        assert!((found - sent - 0.02).abs() < 1e-6, "{found}");
    }
    assert_eq!(path.failed, Some(at(21.0)));
}

/// An answer to the third SYN still connects; the transfer starts with the answer.
#[test]
fn an_answer_before_the_end_connects() {
    let mut path = Start::new(Span::from_millis(40), 2).path("reno");
    path.lose = |packet, sender| packet.kind() == Kind::SynAck && sender.syns() < 3;
    path.connect();
    path.run(at(100.0));
    assert_eq!(path.failed, None);
    let connected = path.sender.connected.as_secs_f64();
    assert!((connected - 9.04).abs() < 1e-6, "{connected}");
    let done = path.done.expect("two packets arrive").as_secs_f64();
    assert!((done - 9.08).abs() < 1e-6, "{done}");
}

/// A second answer to a SYN, which arrives when the flow is connected, does not start the transfer
/// again.
#[test]
fn an_answer_that_comes_twice_starts_nothing_anew() {
    let mut path = Start::new(Span::from_secs(4), 2).path("reno");
    path.connect();
    path.run(at(100.0));
    // The second SYN left after three seconds, before the answer to the first.
    let syn_acks = path.seen.iter().filter(|seen| seen.1 == Kind::SynAck);
    assert_eq!(syn_acks.count(), 2);
    assert_eq!(path.sender.connected.as_ps() / 1_000_000, 4_000_000);
    assert_eq!(path.sender.sent(), 2);
}

/// Checks that the handshake's round-trip time determines the first timeout. The receiver takes 100 ms for a packet, so
/// a timeout from the round-trip propagation delay of 40 ms would expire before the first acknowledgement.
#[test]
fn the_round_trip_of_the_handshake_sets_the_first_timeout() {
    let mut start = Start::new(Span::from_millis(40), 2);
    start.packet_intervals[1] = Span::from_millis(100);
    let timeouts = |handshake_rtt: bool| {
        let mut path = start.path("reno");
        path.env.handshake_rtt = handshake_rtt;
        path.connect();
        path.run(at(10.0));
        assert!(path.done.is_some());
        path.sender.signals()
    };
    assert_eq!(timeouts(true), (0, 0));
    let (naks, timeouts) = timeouts(false);
    assert_eq!(naks, 0);
    assert!(timeouts > 0, "{timeouts}");
}
