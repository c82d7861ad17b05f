//! Tests that compare mean windows under evenly spaced and under random losses with the response functions of
//! algorithms.

use longhaul_congestion::rounds::{Loss, Path, Round, mean_window};
use longhaul_congestion::{CongestionControl, ControllerSpec, Variant};
use longhaul_units::Span;

use crate::{controller, flow, slow_start};

const RTT: Span = Span::from_millis(100);

/// Returns the records of `rounds` round trips of a flow with losses by the rule `loss`. A warm-up of a quarter of this
/// number precedes them.
fn steady(spec: &ControllerSpec, loss: Loss, start: f64, rounds: u64) -> Vec<Round> {
    let mut flow = flow(spec, slow_start("standard", None), start, 2.0);
    let path = Path {
        loss,
        ..Path::clean(RTT)
    };
    flow.run(&path, rounds / 4);
    flow.run(&path, rounds)
}

/// Returns the mean window of a flow that has a loss every `1 / p` segments, divided by the value of the response
/// function.
fn ratio(spec: &ControllerSpec, p: f64, rounds: u64) -> f64 {
    let expected = spec.build().unwrap().response(p, RTT).unwrap();
    let rounds = steady(
        spec,
        Loss::Every((1.0 / p).round() as u64),
        expected,
        rounds,
    );
    mean_window(whole_cycles(&rounds)) / expected
}

/// Returns the rounds from the first to the last reduction.
fn whole_cycles(rounds: &[Round]) -> &[Round] {
    let cut = |round: &Round| round.congestion;
    let first = rounds.iter().position(cut).unwrap();
    let last = rounds.iter().rposition(cut).unwrap();
    &rounds[first..last]
}

#[test]
fn standard_tcp_has_sqrt_of_three_halves_over_p() {
    let spec = controller("reno", Variant::Paper, &[]);
    for (p, expected, rounds) in [
        (1e-3, 38.73, 2_000),
        (1e-4, 122.47, 3_000),
        (1e-5, 387.3, 6_000),
        (1e-6, 1224.7, 12_000),
    ] {
        let response: f64 = spec.build().unwrap().response(p, RTT).unwrap();
        assert!((response / expected - 1.0).abs() < 1e-4, "{response}");
        let ratio = ratio(&spec, p, rounds);
        assert!((ratio - 1.0).abs() < 0.02, "p = {p}: {ratio}");
    }
}

#[test]
fn general_aimd_has_its_response_function() {
    // TCP-friendly pair of GAIMD (Yang and Lam, ICNP 2000): a = 0.31 with b = 1/8.
    let spec = controller(
        "reno",
        Variant::Paper,
        &[("increase", 0.31), ("decrease", 0.125)],
    );
    let ratio = ratio(&spec, 1e-4, 4_000);
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

#[test]
fn binomial_controls_have_theirs() {
    for (k, l, decrease) in [(0.5, 0.5, 0.5), (1.0, 0.0, 1.0), (0.0, 1.0, 0.5)] {
        let given = [("k", k), ("l", l), ("decrease", decrease)];
        let spec = controller("binomial", Variant::Paper, &given);
        for p in [1e-3, 1e-4] {
            let ratio = ratio(&spec, p, 4_000);
            assert!((ratio - 1.0).abs() < 0.05, "k = {k}, p = {p}: {ratio}");
        }
    }
}

#[test]
fn gaimd_and_increase_by_k_have_those_of_aimd() {
    for kind in ["gaimd", "increase-by-k"] {
        let ratio = ratio(&controller(kind, Variant::Paper, &[]), 1e-4, 4_000);
        assert!((ratio - 1.0).abs() < 0.02, "{kind}: {ratio}");
    }
}

/// Checks that the mean window of HighSpeed TCP is within 5 % of its response function (RFC 3649).
#[test]
fn high_speed_tcp_has_equation_3_3() {
    for spec in [
        controller("hstcp", Variant::Paper, &[]),
        controller("hstcp", Variant::Ns2, &[("low_window", 31.0)]),
    ] {
        // A larger `p` is left out: near the low window, half of each sawtooth is standard TCP.
        for p in [1e-4, 1e-5, 1e-6] {
            let ratio = ratio(&spec, p, 2_000);
            assert!(
                (ratio - 1.0).abs() < 0.05,
                "{} p = {p}: {ratio}",
                spec.variant
            );
        }
    }
}

/// Checks that random losses give larger mean windows than evenly spaced ones. At a loss rate of 1e-4, the ratio is
/// 1.07 for standard TCP. For HighSpeed TCP (low window 31), it is 1.04 at 1e-4 and 1e-5.
#[test]
fn random_losses_give_a_larger_mean() {
    let reno = controller("reno", Variant::Paper, &[]);
    let hstcp = controller("hstcp", Variant::Ns2, &[("low_window", 31.0)]);
    for (spec, p, expected, rounds) in [
        (&reno, 1e-4, 1.07, 80_000),
        (&hstcp, 1e-4, 1.04, 60_000),
        (&hstcp, 1e-5, 1.04, 10_000),
    ] {
        let response = spec.build().unwrap().response(p, RTT).unwrap();
        let mean = |seed| mean_window(&steady(spec, Loss::Random { p, seed }, response, rounds));
        let ratio = (mean(1) + mean(2)) / (2.0 * response);
        // Several thousand losses give a standard error of about two per cent.
        assert!(
            (ratio - expected).abs() < 0.06,
            "{} p = {p}: {ratio}",
            spec.kind
        );
    }
}

#[test]
fn scalable_tcp_grows_geometrically_between_cuts() {
    for variant in [Variant::Paper, Variant::Linux2_6_22] {
        let spec = controller("scalable", variant, &[]);
        for p in [1e-4, 1e-5] {
            let ratio = ratio(&spec, p, 2_000);
            assert!((ratio - 1.0).abs() < 0.02, "{variant} p = {p}: {ratio}");
        }
    }
}

/// Checks the mean window of one connection that stands for `n` flows. The window grows by `n` segments per round trip.
/// A loss removes the fraction `1 / (2 n)`, so the mean is `n sqrt((2 - 1 / (2 n)) / p)`. For `n` below one, a loss
/// removes half, and the mean is `sqrt(1.5 n / p)`.
#[test]
fn several_flows_in_one_have_theirs() {
    for (flows, expected) in [(4.0, 4.0 * 136.93), (0.25, 61.24)] {
        let spec = controller("multcp", Variant::Paper, &[("flows", flows)]);
        let response: f64 = spec.build().unwrap().response(1e-4, RTT).unwrap();
        assert!((response / expected - 1.0).abs() < 1e-4, "{response}");
        let ratio = ratio(&spec, 1e-4, 6_000);
        assert!((ratio - 1.0).abs() < 0.03, "{flows}: {ratio}");
    }
}

/// Checks that the mean window of Compound TCP is close to its response function. The simulated window may be up to 7 %
/// smaller, since the delay window does not grow in the round trip of a loss.
#[test]
fn compound_tcp_has_the_saw_tooth_of_its_power() {
    for variant in [Variant::Paper, Variant::Nist] {
        let spec = controller("ctcp", variant, &[]);
        for p in [1e-4, 1e-5] {
            let ratio = ratio(&spec, p, 1_500);
            assert!((0.93..=1.01).contains(&ratio), "{variant} p = {p}: {ratio}");
        }
    }
}

/// Checks that algorithms for fast paths have standard TCP's mean window when losses are frequent. At a loss rate `p`
/// of 2 %, it is `sqrt(1.5 / p)`, 8.7 segments.
#[test]
fn where_losses_are_frequent_standard_tcp_s_function_holds() {
    let response = |kind, p| {
        let state = controller(kind, Variant::Paper, &[]).build().unwrap();
        state.response(p, RTT).unwrap()
    };
    for kind in ["ctcp", "hstcp", "scalable"] {
        let expected = response("reno", 0.02);
        assert!((expected - 75_f64.sqrt()).abs() < 0.01, "{expected}");
        let found = response(kind, 0.02);
        assert!((found - expected).abs() < 0.01, "{kind}: {found}");
        assert!(
            response(kind, 1e-6) > 2.0 * response("reno", 1e-6),
            "{kind}"
        );
    }
}

/// Checks that the response function is that of standard TCP only below `low_window`.
#[test]
fn the_response_is_standard_below_the_low_window_alone() {
    let response = |kind, given: &[(&str, f64)]| {
        let state = controller(kind, Variant::Paper, given).build().unwrap();
        state.response(1e-3, RTT).unwrap()
    };
    let standard = response("reno", &[]);
    for kind in ["ctcp", "scalable"] {
        let above = [("low_window", f64::next_up(standard))];
        assert_eq!(response(kind, &above), standard, "{kind}");
        assert!(
            response(kind, &[("low_window", standard)]) > 1.5 * standard,
            "{kind}"
        );
    }
}

/// Returns the mean window of each sawtooth of CUBIC, divided by RFC 9438's mean window at the loss probability `p`.
/// The first loss is at `height` times the peak of the RFC's sawtooth.
fn cubic_saw_teeth(fast_convergence: f64, height: f64, p: f64, rounds: u64) -> Vec<f64> {
    let given = [("fast_convergence", fast_convergence)];
    let spec = controller("cubic", Variant::Paper, &given);
    let expected = spec.build().unwrap().response(p, RTT).unwrap();
    // The peak of the RFC's sawtooth is `4 / (3 + 0.7)` times its mean.
    let peak = height * expected * 4.0 / 3.7;
    let mut flow = flow(&spec, slow_start("standard", None), peak, 2.0);
    let path = |loss| Path {
        loss,
        ..Path::clean(RTT)
    };
    flow.run(&path(Loss::Every(1)), 1);
    let rounds = flow.run(&path(Loss::Every((1.0 / p).round() as u64)), rounds);
    rounds
        .split_inclusive(|round| round.congestion)
        .filter(|saw_tooth| saw_tooth.last().is_some_and(|round| round.congestion))
        .map(|saw_tooth| mean_window(saw_tooth) / expected)
        .collect()
}

/// Checks that RFC 9438's equation 6 is the mean window if all losses are on the plateau.
#[test]
fn cubic_has_the_rfc_s_mean_where_losses_come_on_its_plateau() {
    for (p, rounds) in [(1e-4, 600), (1e-5, 600)] {
        let ratios = cubic_saw_teeth(0.0, 1.0, p, rounds);
        assert!(ratios.len() > 4);
        for ratio in ratios {
            assert!((ratio - 1.0).abs() < 0.01, "p = {p}: {ratio}");
        }
    }
}

/// Checks the ratio of each sawtooth's mean window to the RFC's mean. After a first loss at 1.5 times the RFC's peak,
/// the ratio falls from 1.427 to 1.286 in ten losses (fluid limit). With fast convergence, the ratio is 0.86 to 0.93.
#[test]
fn cubic_comes_down_to_the_rfc_s_mean_slowly_or_below_it_with_fast_convergence() {
    let ratios = cubic_saw_teeth(0.0, 1.5, 1e-4, 600);
    for (number, expected) in [(0, 1.427), (1, 1.406), (10, 1.286)] {
        assert!(
            (ratios[number] - expected).abs() < 0.03,
            "{}",
            ratios[number]
        );
    }
    for ratio in &cubic_saw_teeth(1.0, 1.0, 1e-4, 600)[1..] {
        assert!((0.86..=0.93).contains(ratio), "{ratio}");
    }
}
