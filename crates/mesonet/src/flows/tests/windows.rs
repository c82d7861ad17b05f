//! Windows round by round without losses: NIST SP 500-282, chapter 3 and equation 5.

use super::*;

/// Checks the windows after given rounds against `expected`, windows computed by hand. Exponential growth ends at the
/// window `knee`.
fn assert_rounds(knee: f64, ssthresh: f64, expected: &[(usize, f64)]) {
    let mut path = Start {
        knee,
        ssthresh,
        ..Start::new(Span::from_secs(1), u64::MAX)
    }
    .path("reno");
    path.begin();
    for &(round, cwnd) in expected {
        path.run(at(round as f64 + 0.5));
        let found = path.cwnd();
        assert!((found - cwnd).abs() < 0.001, "{found} after round {round}");
    }
}

#[test]
fn limited_slow_start_opens_by_half_the_knee_per_round() {
    let rounds = [
        (0, 2.0),
        (1, 4.0),
        (5, 64.0),
        (6, 113.164),
        (7, 155.313),
        (8, 199.084),
        (9, 244.018),
        (25, 1007.877),
        (30, 1252.328),
    ];
    assert_rounds(100.0, 1e9, &rounds);
}

#[test]
fn beyond_the_threshold_it_is_standard_tcp() {
    let to_43 = [
        (4, 32.0),
        (5, 43.486),
        (6, 44.464),
        (8, 46.423),
        (30, 68.128),
    ];
    assert_rounds(100.0, 43.0, &to_43);
    let to_100 = [(5, 64.0), (6, 100.28), (7, 101.272), (30, 124.13)];
    assert_rounds(200.0, 100.0, &to_100);
    let both = [
        (4, 22.69),
        (9, 58.467),
        (18, 126.936),
        (19, 128.851),
        (30, 139.745),
    ];
    assert_rounds(16.0, 128.0, &both);
}

/// Checks the windows against the figure of slow start in NIST SP 500-282, chapter 5. Slow start leads to 128 packets.
/// The window then grows by one packet per round trip of a second to slightly more than 150 packets at about 30 s. It
/// is halved, and reaches 100 at about 55 s. A timeout then sets the window to 2 and the threshold to 50.
#[test]
fn a_saw_tooth_and_a_timeout_are_where_the_schematic_has_them() {
    let mut path = Start {
        knee: 128.0,
        ssthresh: 128.0,
        ..Start::new(Span::from_secs(1), u64::MAX)
    }
    .path("reno");
    path.lose = |packet, sender| {
        let cwnd = sender.congestion().window.cwnd();
        let first = sender.signals() == (0, 0);
        let few = packet.number() % 64 == 0;
        packet.kind() == Kind::Data && (first && few && cwnd > 150.0 || !first && cwnd >= 100.0)
    };
    path.begin();
    path.run(at(29.0));
    assert!((148.0..152.0).contains(&path.cwnd()), "{}", path.cwnd());
    path.run(at(33.0));
    assert!((75.0..78.0).contains(&path.cwnd()), "{}", path.cwnd());
    path.run(at(55.0));
    assert!((96.0..100.5).contains(&path.cwnd()), "{}", path.cwnd());
    let mut tenths = 550;
    while path.sender.signals().1 == 0 {
        tenths += 1;
        path.run(at(f64::from(tenths) / 10.0));
    }
    assert!((570..640).contains(&tenths), "{tenths}");
    assert_eq!(path.cwnd(), 2.0);
    assert!(
        (50.0..50.6).contains(&path.ssthresh()),
        "{}",
        path.ssthresh()
    );
}

/// Neither the source nor the receiver sends packets faster than its interface.
#[test]
fn hosts_keep_their_distance() {
    let mut path = Start {
        packet_intervals: [Span::from_micros(50), Span::from_micros(125)],
        ..Start::new(Span::from_millis(20), 3000)
    }
    .path("reno");
    path.begin();
    path.run(at(10.0));
    assert!(path.done.is_some());
    for (kinds, gap) in [
        ([Kind::Data, Kind::Data], 50),
        ([Kind::Ack, Kind::Nak], 125),
    ] {
        let of_kind = path.seen.iter().filter(|seen| kinds.contains(&seen.1));
        let times: Vec<Time> = of_kind.map(|seen| seen.0).collect();
        let least = times.windows(2).map(|pair| pair[1].since(pair[0])).min();
        assert_eq!(least, Some(Span::from_micros(gap)));
    }
}
