//! Tests of XCP and VCP. Their senders follow the feedback of routers.

use longhaul_congestion::{AckSample, Cause, Load, Phase, RouterFeedback, RouterRequest, Variant};
use longhaul_units::Span;

use crate::controller;
use crate::sender::{Sender, assert_near};

fn sender(kind: &str, given: &[(&str, f64)], cwnd: f64) -> Sender {
    Sender::new(&controller(kind, Variant::Paper, given), cwnd, 1e6)
}

/// Passes an acknowledgement that grants `change`, in segments per second, to the sender; returns the window.
fn granted(sender: &mut Sender, change: f64) -> f64 {
    sender.acknowledge(|ack| ack.router = Some(RouterFeedback::Xcp { change }))
}

/// Checks that XCP's window changes by the granted change of the throughput multiplied by the round-trip time. At 100
/// ms, 20 more segments per second are two more segments. The minimum window is one segment.
#[test]
fn xcp_moves_by_what_is_granted_over_a_round_trip() {
    let mut sender = sender("xcp", &[], 10.0);
    assert_near(granted(&mut sender, 20.0), 12.0);
    assert_near(granted(&mut sender, -50.0), 7.0);
    assert_near(granted(&mut sender, -1e4), 1.0);
    assert_near(sender.acknowledge(|_| ()), 1.0);
    granted(&mut sender, 150.0);
    assert_near(sender.signal(Cause::Loss), 8.0);
}

/// Checks that feedback in duplicate acknowledgements, and in acknowledgements in a recovery, does not change XCP's
/// window.
#[test]
fn xcp_ignores_feedback_of_duplicates_and_in_recoveries() {
    let mut sender = sender("xcp", &[], 10.0);
    sender.duplicate(|ack| {
        ack.acked = 0;
        ack.router = Some(RouterFeedback::Xcp { change: -20.0 });
    });
    assert_near(sender.cwnd(), 10.0);
    let ack = AckSample {
        srtt: Span::from_millis(100),
        router: Some(RouterFeedback::Xcp { change: -20.0 }),
        ..AckSample::ONE_SEGMENT
    };
    sender.state.on_ack_in(&ack, Phase::Recovery);
    assert_near(sender.cwnd(), 10.0);
    sender.state.on_ack_in(&ack, Phase::NoGrowth);
    assert_near(sender.cwnd(), 8.0);
}

/// Checks that an acknowledgement of two segments adds twice as much to VCP's window as one of a single segment, at low
/// and at high load.
#[test]
fn vcp_counts_segments() {
    for load in [Load::Low, Load::High] {
        let grown = |credit: f64| {
            let mut sender = sender("vcp", &[], 100.0);
            let after = sender.acknowledge(|ack| {
                ack.credit = credit;
                ack.router = Some(RouterFeedback::Vcp(load));
            });
            after - 100.0
        };
        assert_near(grown(2.0), 2.0 * grown(1.0));
        assert!(grown(1.0) > 0.0);
    }
}

#[test]
fn vcp_ignores_loads_in_duplicates_and_recoveries() {
    let mut sender = sender("vcp", &[], 10.0);
    let over = Some(RouterFeedback::Vcp(Load::Over));
    sender.duplicate(|ack| {
        ack.acked = 0;
        ack.router = over;
    });
    assert_near(sender.cwnd(), 10.0);
    let ack = AckSample {
        srtt: Span::from_millis(100),
        router: over,
        ..AckSample::ONE_SEGMENT
    };
    sender.state.on_ack_in(&ack, Phase::Recovery);
    assert_near(sender.cwnd(), 10.0);
    sender.state.on_ack_in(&ack, Phase::NoGrowth);
    assert!(sender.cwnd() < 10.0);
}

/// Checks that each packet of a window requests an equal share of the increase of the rate. A window of 10 segments in
/// 100 ms is a rate of 100 segments per second. For a rate of 500, each of the 10 packets requests 40 more.
#[test]
fn xcp_asks_for_its_share_of_the_desired_change() {
    let mut sender = sender("xcp", &[("desired_rate", 500.0)], 10.0);
    let rtt = Span::from_millis(100);
    assert_eq!(
        sender.state.router_request(rtt),
        Some(RouterRequest::Xcp {
            cwnd: 10.0,
            rtt,
            change: 40.0
        })
    );
    let unknown = sender.state.router_request(Span::ZERO);
    assert!(matches!(unknown, Some(RouterRequest::Xcp { change, .. }) if change == 0.0));
}

/// Checks that a fraction of 0.6^k of the initially free capacity is left after k round trips of XCP. Without a queue,
/// a router allocates 0.4 (alpha) of the free capacity in each round trip (SIGCOMM 2002, equation 1).
#[test]
fn xcp_fills_a_path_geometrically() {
    let mut sender = sender("xcp", &[], 2.0);
    for round in 1..12 {
        let packets = sender.cwnd() as u64;
        let total = 0.4 * (1000.0 - sender.cwnd());
        let change = total / 0.1 / packets as f64;
        for _ in 0..packets {
            granted(&mut sender, change);
        }
        let expected = 1000.0 - 998.0 * 0.6_f64.powi(round);
        assert!((sender.cwnd() - expected).abs() < 1e-6, "{round}");
    }
}

/// Sends an acknowledgement that reports a load at a round-trip time; returns the window.
fn loaded(sender: &mut Sender, load: Load, rtt_ms: u64) -> f64 {
    sender.acknowledge(|ack| {
        ack.router = Some(RouterFeedback::Vcp(load));
        ack.srtt = Span::from_millis(rtt_ms);
    })
}

/// At low load, VCP's window grows by 1/16 per interval of 200 ms, which is (17/16)^2 times in 400 ms at any round-trip
/// time. An acknowledgement at most doubles the window.
#[test]
fn vcp_multiplies_on_low_load() {
    for (rtt_ms, factor) in [(200, 1.0625), (400, 1.0625 * 1.0625), (10_000, 2.0)] {
        let mut sender = sender("vcp", &[], 100.0);
        for _ in 0..100 {
            loaded(&mut sender, Load::Low, rtt_ms);
        }
        assert_near(sender.cwnd(), 100.0 * factor);
    }
}

/// Checks that VCP's growth per round trip at high load is proportional to the square of the round-trip time, so the
/// rates of all flows grow equally fast. It is one segment at 200 ms, VCP's interval, and four segments at 400 ms.
#[test]
fn vcp_adds_on_high_load() {
    for (rtt_ms, increase) in [(200, 1.0), (400, 4.0), (100, 0.25)] {
        let mut sender = sender("vcp", &[], 100.0);
        let first = loaded(&mut sender, Load::High, rtt_ms);
        assert_near(first, 100.0 + increase / 100.0);
    }
}

/// Checks that VCP makes one reduction on overload, followed by 200 ms without growth. After a further round trip of
/// additive increase, 100 ms, it makes the next reduction. Acknowledgements arrive every 10 ms.
#[test]
fn vcp_cuts_once_in_an_interval_and_a_round_trip() {
    let mut sender = sender("vcp", &[], 100.0);
    assert_near(loaded(&mut sender, Load::Over, 100), 87.5);
    for _ in 1..20 {
        assert_near(loaded(&mut sender, Load::Over, 100), 87.5);
    }
    let mut expected = 87.5;
    for _ in 0..10 {
        expected += 0.25 / expected;
        assert_near(loaded(&mut sender, Load::Over, 100), expected);
    }
    assert_near(loaded(&mut sender, Load::Over, 100), 0.875 * expected);
    assert_near(sender.acknowledge(|_| ()), 0.875 * expected);
    assert_eq!(
        sender.state.router_request(Span::from_millis(100)),
        Some(RouterRequest::Vcp)
    );
}
