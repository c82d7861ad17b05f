//! Tests of algorithms that count marks.

use longhaul_congestion::{Cause, Variant};
use longhaul_units::Span;

use crate::pipe::{Bottleneck, Pipe};
use crate::sender::{Sender, assert_near};
use crate::{controller, flow, slow_start};

const RTT: Span = Span::from_millis(100);

fn dctcp(cwnd: f64, path: Bottleneck) -> Pipe {
    let spec = controller("dctcp", Variant::Paper, &[]);
    Pipe::single(
        path,
        flow(&spec, slow_start("standard", None), cwnd, 2.0).state,
    )
}

fn alpha(pipe: &Pipe) -> f64 {
    let mut alpha = f64::NAN;
    pipe.senders[0].state.probe(&mut |_, value| alpha = value);
    alpha
}

/// Without marks, DCTCP's `alpha` falls by a sixteenth in each window. If every segment is marked, `alpha` stays 1 and
/// every window is halved.
#[test]
fn dctcp_s_alpha_follows_the_share_of_marks() {
    let path = Bottleneck::endless(1000.0, RTT);
    let mut pipe = dctcp(20.0, path);
    // Round trips take 101 ms; the first window ends with the first acknowledgement of the second.
    pipe.run(0.15 + 10.0 * 0.101);
    let expected = 0.9375_f64.powi(10);
    assert!((alpha(&pipe) - expected).abs() < 1e-9, "{}", alpha(&pipe));
    let all = Bottleneck {
        mark_from: 0.0,
        ..path
    };
    let mut pipe = dctcp(64.0, all);
    // After the first acknowledgement, which has halved the window, thirty acknowledgements have increased it by one.
    pipe.run(0.13);
    assert!((alpha(&pipe) - 1.0).abs() < 1e-9);
    let cwnd = pipe.senders[0].state.window.cwnd();
    assert!((32.0..33.1).contains(&cwnd), "{cwnd}");
}

/// Checks that DCTCP keeps the queue close to the marking threshold of 20 segments, with one flow on a path of 100
/// segments (Alizadeh et al., SIGCOMM 2010).
#[test]
fn dctcp_keeps_the_queue_at_the_mark() {
    let path = Bottleneck {
        mark_from: 20.0,
        ..Bottleneck::endless(1000.0, RTT)
    };
    let mut pipe = dctcp(90.0, path);
    pipe.run(200.0);
    let seen = pipe.run(100.0)[0];
    assert!((seen.max_queue - 21.0).abs() < 1.5, "{seen:?}");
    // The queue varies by half of `sqrt(2 (100 + 20))` segments (equations 8 to 10).
    let swing = seen.max_queue - seen.min_queue;
    assert!((swing - 7.7).abs() < 2.0, "{seen:?}");
    assert!(seen.rate > 999.0, "{seen:?}");
}

/// Checks that with ABE (RFC 8511), a mark reduces the window less than a loss, but only in congestion avoidance. In
/// slow start, and without ABE, a mark reduces it as much as a loss. The kernel rounds windows to whole segments.
#[test]
fn a_mark_takes_less_than_a_loss_with_abe() {
    for (kind, ecn_decrease, after_loss, after_mark) in
        [("reno", 0.2, 512.0, 819.2), ("cubic", 0.15, 716.8, 870.4)]
    {
        for variant in [Variant::Paper, Variant::Linux6_18] {
            let left = |given: &[(&str, f64)], ssthresh, cause| {
                Sender::new(&controller(kind, variant, given), 1024.0, ssthresh).signal(cause)
            };
            let abe = [("ecn_decrease", ecn_decrease)];
            let after_loss = if variant == Variant::Paper {
                after_loss
            } else {
                f64::floor(after_loss + 0.5)
            };
            assert_near(left(&[], 600.0, Cause::Ecn), after_loss);
            assert_near(left(&abe, 600.0, Cause::Loss), after_loss);
            assert_near(left(&abe, 1e6, Cause::Ecn), after_loss);
            let found = left(&abe, 600.0, Cause::Ecn);
            assert!(
                (found - after_mark).abs() < 0.5,
                "{kind} {variant}: {found}"
            );
        }
    }
}
