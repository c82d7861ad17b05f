//! Tests of HighSpeed TCP: the tables of RFC 3649, and the properties of the variants.

use longhaul_units::Time;

use super::*;
use crate::facts::Cause;
use crate::window::Rounding;

fn hstcp(variant: Variant, parameters: &[(&str, f64)]) -> Hstcp {
    let given: Vec<_> = parameters
        .iter()
        .map(|&(name, v)| (name.to_string(), v))
        .collect();
    Hstcp::new(&ENTRY.settings(variant, &given).unwrap()).unwrap()
}

/// Creates the algorithm with the RFC's rounded response function.
fn with_rounded_response() -> Hstcp {
    hstcp(Variant::Paper, &[("rounded", 1.0)])
}

fn response_at(algorithm: &Hstcp, loss: f64) -> f64 {
    algorithm.response(loss, Span::from_millis(100)).unwrap()
}

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "found {found}, expected {expected}"
    );
}

#[test]
fn the_increase_reaches_whole_numbers_where_the_rfc_lists_them() {
    // RFC 3649 appendix B: the windows at which the increase reaches 2, 3, ... and the
    // decrease there.
    let rows = [
        (118.0, 2.0, 0.44),
        (221.0, 3.0, 0.41),
        (347.0, 4.0, 0.38),
        (495.0, 5.0, 0.37),
        (663.0, 6.0, 0.35),
        (851.0, 7.0, 0.34),
        (1058.0, 8.0, 0.33),
        (1284.0, 9.0, 0.32),
        (1529.0, 10.0, 0.31),
        (2378.0, 13.0, 0.28),
        (3778.0, 17.0, 0.26),
    ];
    let response = with_rounded_response().response;
    for (w, a, b) in rows {
        near(response.increase(w), a, 0.014);
        near(response.decrease(w), b, 0.0051);
    }
}

/// Compares rows with Linux 2.6.22 (tcp_highspeed.c): the largest window of each row and the decrease in 256ths. The
/// increase per round trip is two segments in the first of these rows, three in the second one, and so on.
#[test]
fn linux_has_the_rfc_s_table() {
    let response = hstcp(Variant::Linux2_6_22, &[]).response;
    let rows = [
        (118.0, 112.0),
        (221.0, 104.0),
        (347.0, 98.0),
        (495.0, 93.0),
        (663.0, 89.0),
        (851.0, 86.0),
        (1058.0, 83.0),
        (1284.0, 81.0),
    ];
    for (row, (largest, decrease)) in rows.into_iter().enumerate() {
        // The table was computed from rounded numbers, so that windows and decreases may differ slightly.
        assert_eq!(response.increase(largest - 4.0), row as f64 + 2.0);
        assert_eq!(response.increase(largest + 4.0), row as f64 + 3.0);
        near(256.0 * response.decrease(largest - 4.0), decrease, 1.0);
    }
    // The decrease is that of 577 whole segments: 577 * 89 / 256 = 200.6.
    assert_eq!(response.reduced(577.9), 377.0);
}

/// Checks that Linux still removes between 10 and 50 % of a window of 10,000 segments if the increase `a(w)` falls as
/// the window grows. Here, it falls because the response function `p(w)` is as steep as w^-3.6.
#[test]
fn linux_reduces_where_no_larger_window_has_another_row() {
    let response = hstcp(Variant::Linux2_6_22, &[("high_p", 1e-15)]).response;
    let left = response.reduced(10_000.0);
    assert!((5_000.0..9_000.0).contains(&left), "{left}");
}

#[test]
fn increase_and_decrease_have_their_published_values() {
    // (window, a, b): from RFC 3649 section 5 for low windows 31 (as in ns-2) and 38.
    let ns2 = hstcp(Variant::Ns2, &[("low_window", 31.0)]);
    let paper = hstcp(Variant::Paper, &[]);
    let cases = [
        (&ns2, 31.0, 1.0, 0.5),
        (&ns2, 50.0, 1.3574, 0.47577),
        (&ns2, 833.0, 7.7264, 0.33321),
        (&ns2, 8333.0, 28.0587, 0.21649),
        (&ns2, 83000.0, 72.5158, 0.1),
        (&paper, 38.0, 1.0, 0.5),
        (&paper, 50.0, 1.1545, 0.48572),
        (&paper, 1000.0, 7.8599, 0.32988),
        (&paper, 16666.0, 38.4015, 0.18352),
        (&paper, 83000.0, 72.5158, 0.1),
        (&with_rounded_response(), 1000.0, 7.7398, 0.32988),
        (&with_rounded_response(), 41666.0, 56.4331, 0.13585),
    ];
    for (algorithm, w, a, b) in cases {
        near(algorithm.response.increase(w) / a, 1.0, 3e-5);
        near(algorithm.response.decrease(w), b, 6e-6);
    }
}

#[test]
fn nist_s_increase_is_a_whole_number() {
    // NIST SP 500-282, equations 26 and 27: (window, one half more than the increase, which is then truncated to
    // whole segments, decrease).
    let cases = [
        (31.0, 1.311_134, 0.5),
        (38.0, 1.428_532, 0.489_682),
        (100.0, 2.254_960, 0.440_644),
        (500.0, 5.424_933, 0.359_077),
        (882.0, 7.511_135, 0.330_312),
        (1000.0, 8.073_783, 0.323_948),
        (3402.0, 16.224_156, 0.261_897),
        (6804.0, 23.735_538, 0.226_768),
        (10_000.0, 29.082_835, 0.207_253),
        (83_000.0, 71.234_856, 0.1),
    ];
    let response = hstcp(Variant::Nist, &[]).response;
    for (w, a, b) in cases {
        near(response.curve.increase(w) + 0.5, a, 1e-6);
        near(response.decrease(w), b, 1e-6);
        assert_eq!(response.increase(w), f64::floor(a), "{w}");
    }
    assert_eq!(response.decrease(1e6), 0.1);
}

/// Checks that a window of exactly `low_window` departs from standard TCP in NIST's variant, but not in RFC 3649's.
/// With a `low_window` of 100 segments, NIST's increase there is two segments (NIST SP 500-282, equation 26).
#[test]
fn nist_s_own_mode_begins_at_the_low_window() {
    for (variant, own, increase) in [(Variant::Nist, true, 2.0), (Variant::Paper, false, 1.0)] {
        let algorithm = hstcp(variant, &[("low_window", 100.0)]);
        let at = |cwnd| {
            let window = Window::new(cwnd, 2.0, 1e6, Rounding::Real);
            algorithm.departs_from_standard(Time::ZERO, &window)
        };
        assert_eq!(
            [99.9, 100.0, 100.1].map(at),
            [false, own, true],
            "{variant}"
        );
        assert_eq!(algorithm.response.increase(100.0), increase, "{variant}");
    }
}

#[test]
fn nist_s_timeout_keeps_the_algorithm_s_own_part() {
    for (cwnd, expected) in [(1000.0, 676.051_71), (20.0, 10.0)] {
        let mut window = Window::new(cwnd, 2.0, 1e6, Rounding::Real);
        let event = Timeout {
            now: Time::ZERO,
            base: cwnd,
            keep_ssthresh: false,
            sent: 0,
        };
        hstcp(Variant::Nist, &[]).on_timeout(&event, &mut window);
        near(window.ssthresh(), expected, 1e-5);
        assert_eq!(window.cwnd(), 1.0);
    }
    near(
        cut(&mut hstcp(Variant::Nist, &[]), 1000.0, false, false),
        676.051_71,
        1e-5,
    );
}

#[test]
fn the_response_function_goes_through_its_published_points() {
    // The expected values are from LBNL-52549, equation 3.3, with the RFC's low_p.
    let paper = hstcp(Variant::Paper, &[]);
    for (p, w) in [
        (1e-4, 259.8),
        (1e-5, 1776.0),
        (1e-6, 12141.0),
        (1e-7, 83000.0),
    ] {
        near(response_at(&paper, p) / w, 1.0, 3e-4);
    }
    // For the ns-2 runs with random loss, these values are tabulated for a low window of 38 segments.
    let ns2 = hstcp(Variant::Ns2, &[]);
    for (p, w) in [(1e-3, 39.2), (1e-4, 266.0), (1e-5, 1804.3), (1e-6, 12237.4)] {
        near(response_at(&ns2, p) / w, 1.0, 1e-3);
    }
    // The expected values are those of the rounded form (thesis, Osaka 2006, chapter 2), and of standard TCP where
    // losses are frequent.
    near(response_at(&with_rounded_response(), 1e-7), 81297.8, 1.0);
    near(response_at(&with_rounded_response(), 1e-2), 12.247, 1e-3);
}

#[test]
fn the_table_agrees_with_the_formula() {
    for algorithm in [
        hstcp(Variant::Paper, &[]),
        hstcp(Variant::Ns2, &[("low_window", 31.0)]),
        hstcp(Variant::Paper, &[("high_decrease", 0.5)]),
        hstcp(Variant::Paper, &[("min_decrease", 1e-4)]),
    ] {
        let Response { curve, .. } = &*algorithm.response;
        let mut w = curve.low_window;
        while w < 8e6 {
            w *= 1.000_37;
            let exact = curve.increase(w).max(1.0);
            near(algorithm.response.increase(w) / exact, 1.0, 1e-5);
        }
    }
}

#[test]
fn the_decrease_stays_positive_above_any_window() {
    let response = hstcp(Variant::Paper, &[]).response;
    assert_eq!(response.decrease(1e6), 0.01);
    assert!(response.increase(1e6) > 1.0);
}

/// Returns the window after a loss at a window of `cwnd` segments. The loss is the connection's first if `first`.
fn cut(algorithm: &mut Hstcp, cwnd: f64, first: bool, in_slow_start: bool) -> f64 {
    let mut window = Window::new(cwnd, 2.0, 1e6, Rounding::Real);
    let event = Congestion {
        now: Time::ZERO,
        cause: Cause::Loss,
        base: cwnd,
        in_flight: cwnd as u64,
        in_slow_start,
        first,
    };
    algorithm.on_congestion(&event, &mut window);
    window.cwnd()
}

#[test]
fn the_rfc_removes_b_always() {
    let mut paper = hstcp(Variant::Paper, &[]);
    near(
        cut(&mut paper, 1000.0, true, true),
        1000.0 * (1.0 - 0.32988),
        0.01,
    );
    near(cut(&mut paper, 30.0, false, false), 15.0, 1e-12);
}

#[test]
fn ns2_halves_first_and_in_slow_start_and_keeps_b_for_small_windows() {
    let mut ns2 = hstcp(Variant::Ns2, &[]);
    assert_eq!(cut(&mut ns2, 30.0, false, false), 15.0);
    assert_eq!(cut(&mut ns2, 1000.0, true, false), 500.0);
    // The stored decrease is b(1000); it now applies to a small window.
    near(cut(&mut ns2, 30.0, false, false), 30.0 * 0.32988, 2e-4);
    near(
        cut(&mut ns2, 100.0, false, false),
        100.0 * (1.0 - 0.44966),
        1e-3,
    );
    assert_eq!(cut(&mut ns2, 100.0, false, true), 50.0);
    // A timeout also computes b.
    let mut window = Window::new(10000.0, 2.0, 1e6, Rounding::Real);
    let event = Timeout {
        now: Time::ZERO,
        base: 10000.0,
        keep_ssthresh: false,
        sent: 0,
    };
    ns2.on_timeout(&event, &mut window);
    assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 5000.0));
    near(cut(&mut ns2, 30.0, false, false), 30.0 * 0.21009, 2e-4);
}

/// Checks that a current kernel counts acknowledgements, not the segments that they cover. From 664 segments on, the
/// increase is seven (RFC 3649, appendix B): the window grows by one per 95 acknowledgements. A loss removes 86/256 of
/// the window.
#[test]
fn a_current_kernel_counts_acknowledgements() {
    let settings = ENTRY.settings(Variant::Linux6_18, &[]).unwrap();
    let mut hstcp = Hstcp::new(&settings).unwrap();
    let grown: f64 = (0..95).map(|_| hstcp.increment(2.0, 664.0).unwrap()).sum();
    let kernel = hstcp.kernel.unwrap();
    assert_eq!((grown, kernel.counted), (1.0, 1));
    assert_eq!(kernel.reduced(664.0), 664.0 - 223.0);
    // A loss in slow start reduces the window by half, whatever the window is.
    assert_eq!(KernelCount::NEW.reduced(664.0), 332.0);
    // The decrease is 0.44 * 256 = 112 at the end of the row, not 113 as at its beginning.
    assert_eq!(hstcp.response.row(89), (2, 112));
    assert_eq!(hstcp.response.row(200_000), (72, 24));
    assert_eq!(
        hstcp.recovery_floor(&Window::new(10.0, 2.0, 1e6, crate::Rounding::Real)),
        None
    );
}
