//! Tests of algorithms for satellite paths.

use longhaul_congestion::CongestionControl;
use longhaul_congestion::Variant;
use longhaul_congestion::rounds::{Loss, Path, mean_window};
use longhaul_units::Span;

use crate::{controller, flow, slow_start};

/// Checks that Hybla's rate `W(t) / RTT` is the same at any round-trip time (equations 4 and 5 of the paper). In slow
/// start, it is `2^(t / RTT_0) / RTT_0` up to the threshold, here 800 segments per second. After that, it grows by `1 /
/// RTT_0^2` segments per second in each second. The model grows in steps of round trips.
#[test]
fn hybla_s_rate_grows_alike_at_all_round_trips() {
    let spec = controller("hybla", Variant::Paper, &[]);
    for rtt_ms in [25_u64, 50, 100, 200] {
        let rtt = Span::from_millis(rtt_ms);
        let rho = rtt_ms as f64 / 25.0;
        let ssthresh = 20.0 * rho;
        let mut flow = flow(&spec, slow_start("standard", None), 1.0, ssthresh);
        let rounds = flow.run(&Path::clean(rtt), 4_000 / rtt_ms + 1);
        let rate_at = |ms: u64| rounds[(ms / rtt_ms) as usize].cwnd / rtt.as_secs_f64();
        // The threshold is reached after log2(20) reference round trips, 108 ms, or at the end of a
        // longer one.
        let expected = 800.0 + 1600.0 * (0.4 - 0.108);
        let found = rate_at(400);
        assert!((found - expected).abs() < 350.0, "{rtt_ms} ms: {found}");
        let growth = (rate_at(4_000) - rate_at(2_000)) / 2.0;
        assert!(
            (growth / 1600.0 - 1.0).abs() < 0.05,
            "{rtt_ms} ms: {growth}"
        );
    }
}

/// Checks Hybla's growth at a round-trip time of 50 ms, where `rho` is 2. In slow start, each acknowledgement adds
/// `2^rho - 1 = 3` segments. The first one also raises the initial window from 1 to `rho`. After slow start, each
/// acknowledgement adds `rho^2 / cwnd`.
#[test]
fn hybla_adds_two_to_the_rho_less_one_per_acknowledgement() {
    let spec = controller("hybla", Variant::Paper, &[]);
    let mut flow = flow(&spec, slow_start("standard", None), 1.0, 40.0);
    let rounds = flow.run(&Path::clean(Span::from_millis(50)), 5);
    // The windows are 2 + 3 and 5 + 5 * 3. The next one would be 20 + 20 * 3, but slow start ends at 40.
    assert_eq!([rounds[1].cwnd, rounds[2].cwnd], [5.0, 20.0]);
    // Seven acknowledgements reach the threshold; each of the other 13 adds a tenth of a segment or less.
    assert!((rounds[3].cwnd - 41.28).abs() < 0.03, "{}", rounds[3].cwnd);
    assert!((rounds[4].cwnd - rounds[3].cwnd - 4.0).abs() < 0.3);
}

#[test]
fn hybla_has_rho_times_the_mean_window_of_standard_tcp() {
    let spec = controller("hybla", Variant::Paper, &[]);
    let rtt = Span::from_millis(100);
    let expected: f64 = spec.build().unwrap().response(1e-4, rtt).unwrap();
    assert!((expected / (4.0 * 122.47) - 1.0).abs() < 1e-4, "{expected}");
    let mut flow = flow(&spec, slow_start("standard", None), expected, 2.0);
    let path = Path {
        loss: Loss::Every(10_000),
        ..Path::clean(rtt)
    };
    flow.run(&path, 500);
    let mean = mean_window(&flow.run(&path, 2_000));
    assert!((mean / expected - 1.0).abs() < 0.03, "{mean}, {expected}");
}
