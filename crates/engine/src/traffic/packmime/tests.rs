//! Tests of PackMime against statements of Weigle's dissertation (UNC 2003, appendix A), and of its components against
//! closed forms. Quick tests draw some ten thousand values. The long test draws a million, as the dissertation does.

use super::*;

/// Connections per second of one cloud at a load of 85 % (Weigle, UNC 2003, table A.3).
const RATE: f64 = 24.1;

fn stream(name: &str) -> Stream {
    Stream::new(1, 0, name)
}

fn sorted(mut next: impl FnMut() -> f64, count: usize) -> Vec<f64> {
    let mut values: Vec<f64> = (0..count).map(|_| next()).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn quantile(sorted: &[f64], p: f64) -> f64 {
    sorted[(p * sorted.len() as f64) as usize]
}

fn share_up_to(sorted: &[f64], limit: f64) -> f64 {
    sorted.partition_point(|&value| value <= limit) as f64 / sorted.len() as f64
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn assert_near(what: &str, value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value - expected).abs() <= tolerance,
        "{what}: {value}, not {expected}"
    );
}

/// Tolerance for means of a million values. With long-range dependence, means converge only as `n^(d - 1/2)`.
const TENTH: f64 = 0.1;
const FEW: f64 = 0.25;

/// Returns the autocorrelation of `x_t + x_(t-1)` at a lag, where x is FARIMA(0, d, 0). The autocorrelations of x
/// satisfy `rho(k) = rho(k-1) (k-1+d)/(k-d)` (Hosking 1984).
fn correlation(d: f64, lag: usize) -> f64 {
    let rho =
        |lag: usize| (1..=lag).fold(1.0, |rho, k| rho * (k as f64 - 1.0 + d) / (k as f64 - d));
    let covariance = |lag: usize| 2.0 * rho(lag) + rho(lag.abs_diff(1)) + rho(lag + 1);
    covariance(lag) / covariance(0)
}

#[test]
fn series_have_the_correlations_of_fractional_noise() {
    for noise in [0.0, 0.4] {
        let shape = Shape {
            d: 0.3,
            memory: 200,
            noise,
        };
        let mut series = Gaussian::new(shape, stream("series"));
        let values: Vec<f64> = (0..200_000).map(|_| series.next()).collect();
        let covariance = |lag: usize| {
            let pairs = values.iter().zip(&values[lag..]);
            pairs.map(|(a, b)| a * b).sum::<f64>() / (values.len() - lag) as f64
        };
        assert_near("variance", covariance(0), 1.0, 0.03);
        for lag in [1, 2, 5, 20, 100] {
            let expected = (1.0 - noise) * correlation(0.3, lag);
            assert_near(&format!("lag {lag}"), covariance(lag), expected, 0.03);
        }
    }
}

/// Returns the Hurst parameter H of `values`. The variance of means over n values is proportional to n^(2 H - 2); the
/// values of n are `levels`.
fn hurst(values: &[f64], levels: &[usize]) -> f64 {
    let points: Vec<(f64, f64)> = levels
        .iter()
        .map(|&level| {
            let means: Vec<f64> = values.chunks_exact(level).map(mean).collect();
            let overall = mean(&means);
            let squares = means.iter().map(|m| (m - overall) * (m - overall));
            let variance = squares.sum::<f64>() / (means.len() - 1) as f64;
            (libm::log(level as f64), libm::log(variance))
        })
        .collect();
    let n = points.len() as f64;
    let (x, y) = points
        .iter()
        .fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
    let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
        / points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum::<f64>();
    1.0 + slope / 2.0
}

#[test]
fn arrivals_keep_the_rate() {
    for rate in [RATE, 200.0] {
        let mut arrivals = Arrivals::new(rate, stream("arrivals"));
        let values: Vec<f64> = (0..40_000).map(|_| arrivals.next()).collect();
        assert_near("mean", mean(&values) * rate, 1.0, 0.1);
    }
    // The shape is that of Weigle, UNC 2003, appendix A, for 24.1 connections per second.
    assert_near(
        "shape",
        Arrivals::new(RATE, stream("arrivals")).shape,
        0.894,
        5e-4,
    );
}

fn check_responses(count: usize) -> Vec<f64> {
    let mut responses = Responses::new(stream("response"));
    let sizes = sorted(|| responses.next(), count);
    assert_near("median", quantile(&sizes, 0.5), 730.0, 73.0);
    assert_near("up to a segment", share_up_to(&sizes, 1420.0), 0.6, 0.05);
    assert_near(
        "up to five segments",
        share_up_to(&sizes, 5.0 * 1420.0),
        0.8,
        0.05,
    );
    assert_near(
        "up to ten segments",
        share_up_to(&sizes, 10.0 * 1420.0),
        0.9,
        0.05,
    );
    assert_near(
        "above 18 segments",
        1.0 - share_up_to(&sizes, 25_560.0),
        0.05,
        0.01,
    );
    assert_near(
        "above 66560 bytes",
        1.0 - share_up_to(&sizes, 66_560.0),
        0.01,
        0.002,
    );
    sizes
}

fn check_requests(count: usize) -> Vec<f64> {
    let mut requests = Requests::new(RATE, stream("request"));
    let sizes = sorted(|| requests.next(), count);
    assert_near("below 1 KB", share_up_to(&sizes, 1000.0), 0.946, 0.03);
    // Half of the requests are smaller, and half larger, than the point at which the two tables meet.
    assert_near("median", quantile(&sizes, 0.5), 422.0, 25.0);
    sizes
}

fn check_round_trips(count: usize, tolerance: f64) {
    let near = |what: &str, value: f64, expected: f64| {
        assert_near(what, value, expected, tolerance * expected);
    };
    let with = |client_side| PackMime::RoundTrips {
        rate: RATE,
        client_side,
    };
    let mut both = Part::new(&with(true), stream);
    let rtts = sorted(|| both.next() * 1000.0 + 14.0, count);
    // The thinned tables give a median of 80 and a mean of 121; the source prints 78 and 115.
    near("median of both sides", quantile(&rtts, 0.5), 78.0);
    near("mean of both sides", mean(&rtts), 118.0);
    assert_near("below a second", share_up_to(&rtts, 1000.0), 0.99, 0.005);
    let mut server = Part::new(&with(false), stream);
    let rtts = sorted(|| server.next() * 1000.0, count);
    // Appendix B prints 54, 74 and 117; the thinned tables give 58, 81 and 114 to 119.
    near("median of the server's side", quantile(&rtts, 0.5), 56.0);
    near("mean of the server's side", mean(&rtts), 78.0);
    near(
        "90th percentile of the server's side",
        quantile(&rtts, 0.9),
        117.0,
    );
}

#[test]
fn sizes_and_round_trips_are_distributed_as_stated() {
    check_responses(100_000);
    check_requests(5_000);
    check_round_trips(30_000, FEW);
}

/// 67.65 % of the responses are downloads: runs of downloads have 3.894 responses on average, runs of validations
/// 1.862.
#[test]
fn two_thirds_of_the_responses_are_downloads() {
    let mut responses = Responses::new(stream("response"));
    let count = 200_000;
    let downloads = (0..count)
        .filter(|_| {
            responses.next();
            responses.run.0
        })
        .count();
    assert_near(
        "downloads",
        downloads as f64 / f64::from(count),
        0.6765,
        0.01,
    );
}

/// Checks a million values of each random variable of PackMime against Weigle's dissertation.
#[test]
#[ignore = "some minutes"]
fn a_million_values_of_each() {
    let count = 1_000_000;
    let sizes = check_responses(count);
    assert!(
        check_requests(count)[count - 1] > 1e6,
        "the largest request"
    );
    check_round_trips(count, TENTH);
    // Hill's estimator is applied to the largest 0.2 % of sizes, which all belong to the Pareto tail.
    let largest = &sizes[count - count / 500..];
    let logs = largest.iter().map(|size| libm::log(size / largest[0]));
    let index = (largest.len() - 1) as f64 / logs.sum::<f64>();
    assert_near("tail index", index, 1.23, 0.07);

    let mut arrivals = Arrivals::new(RATE, stream("arrivals"));
    let gaps: Vec<f64> = (0..count).map(|_| arrivals.next()).collect();
    assert_near("mean gap", mean(&gaps) * RATE, 1.0, 0.03);
    let series = Shape {
        d: 0.33,
        memory: 1000,
        noise: 0.0,
    };
    let mut series = Gaussian::new(series, stream("series"));
    let values: Vec<f64> = (0..count).map(|_| series.next()).collect();
    let levels = [10, 20, 40, 80, 160, 320];
    assert_near("Hurst parameter", hurst(&values, &levels), 0.83, 0.05);

    // The 90th percentile of all responses so far converges. The test covers its coefficient of variation between
    // 100,000 and 250,000 responses and its range, which is published as below 100 bytes for one seed; over several
    // seeds it is 50 to 150. The 99th percentile has an uncertainty of two per cent at first.
    let mut responses = Responses::new(stream("response"));
    let mut seen: Vec<f64> = (0..100_000).map(|_| responses.next()).collect();
    let mut running = Vec::new();
    for _ in 0..30 {
        seen.extend((0..5000).map(|_| responses.next()));
        let mut sizes = seen.clone();
        sizes.sort_by(f64::total_cmp);
        running.push(quantile(&sizes, 0.9));
        assert!(quantile(&sizes, 0.99) > 65_000.0);
    }
    let middle = mean(&running);
    let squares = running.iter().map(|q| (q - middle) * (q - middle));
    let deviation = libm::sqrt(squares.sum::<f64>() / running.len() as f64);
    assert!(deviation / middle < 0.03, "{}", deviation / middle);
    let (least, most) = (running.iter(), running.iter());
    let range = most.fold(0.0, |a: f64, b| a.max(*b)) - least.fold(1e9, |a: f64, b| a.min(*b));
    assert!(range < 200.0, "{range}");
}
