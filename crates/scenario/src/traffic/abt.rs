//! Synthetic a-b-t traffic: connections as epochs of a request (a), a response (b) and a time between them (t).
//!
//! The quantiles are those of 340 connections of a campus, a sample of Tmix that comes with ns-2 (ns-2.35,
//! tcl/ex/tmix/sample-orig.cvec; Weigle and others, "Tmix: A Tool for Generating Realistic Application Workloads in
//! ns-2", CCR 36(3), 2006). Between two quantiles the logarithm of a value is interpolated linearly. Two assumptions
//! are our own: the minimum is half of the tenth percentile, and above the 99th percentile sizes and numbers of epochs
//! have a bounded Pareto distribution of index 1.1 up to the largest of the sample. No time exceeds its 99th
//! percentile. Epochs are drawn independently. In the trace, sizes within a connection depend on each other.

use longhaul_engine::config::{Binding, Distribution, Process, Quantiles, Requests};

/// Probabilities of the quantiles in `EPOCHS`, `REQUESTS`, `RESPONSES` and `TIMES`.
const PROBABILITIES: [f64; 6] = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99];
/// Quantiles of the number of epochs in a connection, and the maximum.
const EPOCHS: ([f64; 6], f64) = ([1.0, 1.0, 2.0, 2.0, 4.0, 16.0], 162.0);
/// Quantiles of the bytes of a request, and the maximum.
const REQUESTS: ([f64; 6], f64) = ([14.0, 49.0, 102.0, 408.0, 603.0, 6264.0], 12.4e6);
/// Quantiles of the bytes of a response, and the maximum.
const RESPONSES: ([f64; 6], f64) = ([43.0, 74.0, 164.0, 1301.0, 5556.0, 162_777.0], 8.8e6);
/// Quantiles of the time in seconds between a request or response and the next request or response
/// of the connection, and the maximum.
const TIMES: ([f64; 6], f64) = ([0.000_91, 0.004, 0.0288, 0.099, 2.13, 40.0], 40.0);

/// Index of the Pareto distribution above the last quantile.
const TAIL: f64 = 1.1;

/// Number of straight pieces that approximate the curve between two successive quantiles, or beyond the last.
const PIECES: u32 = 12;

/// Returns the model of requests with `rate` connections per second.
pub(super) fn requests(rate: f64) -> Requests {
    Requests {
        arrivals: Process::Independent(Distribution::Exponential { mean: 1.0 / rate }),
        request: Process::Independent(distribution(REQUESTS)),
        response: Process::Independent(distribution(RESPONSES)),
        binding: Binding::WithRequest,
        server_delay: distribution(TIMES),
        round_trip: Process::Independent(Distribution::Constant(0.0)),
        per_connection: distribution(EPOCHS),
        think: distribution(TIMES),
    }
}

fn distribution((quantiles, most): ([f64; 6], f64)) -> Distribution {
    let mut points = vec![(0.0, 0.5 * quantiles[0])];
    for (&probability, &value) in PROBABILITIES.iter().zip(&quantiles) {
        let (from, low) = points[points.len() - 1];
        points.extend(parts().map(|part| {
            let between = low * libm::pow(value / low, part);
            (from + part * (probability - from), between)
        }));
    }
    let (from, low) = points[points.len() - 1];
    let least = libm::pow(low / most, TAIL);
    if least < 1.0 {
        // The fraction of values above a value falls by the same factor from piece to piece.
        points.extend(parts().map(|part| {
            let above = libm::pow(least, part);
            let probability = 1.0 - (1.0 - from) * (above - least) / (1.0 - least);
            (probability, low * libm::pow(above, -1.0 / TAIL))
        }));
    } else {
        points.push((1.0, most));
    }
    Distribution::Empirical(Quantiles::new(&points, None))
}

/// Returns the ends of the twelve straight pieces by which the curve between two successive quantiles is approximated,
/// as fractions of the way from one quantile to the other: 1/12, 2/12, ..., 1.
fn parts() -> impl Iterator<Item = f64> {
    (1..=PIECES).map(|piece| f64::from(piece) / f64::from(PIECES))
}

#[cfg(test)]
mod tests {
    use longhaul_engine::config::Distribution;

    use super::*;

    fn quantiles(table: ([f64; 6], f64)) -> Quantiles {
        let Distribution::Empirical(quantiles) = distribution(table) else {
            unreachable!("all are")
        };
        quantiles
    }

    fn quantile(table: ([f64; 6], f64), probability: f64) -> f64 {
        quantiles(table).at(probability)
    }

    fn mean(table: ([f64; 6], f64), of: impl Fn(f64) -> f64) -> f64 {
        const STEPS: u32 = 200_000;
        let quantiles = quantiles(table);
        let values = (0..STEPS).map(|step| {
            let probability = (f64::from(step) + 0.5) / f64::from(STEPS);
            of(quantiles.at(probability))
        });
        values.sum::<f64>() / f64::from(STEPS)
    }

    #[test]
    fn connections_begin_at_their_rate() {
        let Process::Independent(Distribution::Exponential { mean }) = requests(40.0).arrivals
        else {
            unreachable!("a Poisson process")
        };
        assert_eq!(mean, 0.025);
    }

    #[test]
    fn quantiles_are_those_of_the_sample() {
        for table in [EPOCHS, REQUESTS, RESPONSES, TIMES] {
            for (&probability, &value) in PROBABILITIES.iter().zip(&table.0) {
                let found = quantile(table, probability);
                assert!((found / value - 1.0).abs() < 1e-6, "{probability}: {found}");
            }
            assert!((quantile(table, 1.0 - 1e-15) / table.1 - 1.0).abs() < 0.01);
            let between: Vec<f64> = (0..1000)
                .map(|p| quantile(table, f64::from(p) / 1e3))
                .collect();
            assert!(between.is_sorted());
        }
        // Half way between two quantiles is their geometric mean; the tail falls with the power 1.1.
        let half = quantile(REQUESTS, 0.825);
        assert!(
            (half / (408.0_f64 * 603.0).sqrt() - 1.0).abs() < 0.01,
            "{half}"
        );
        let rare = quantile(REQUESTS, 0.999);
        assert!(
            (rare / (6264.0 * 10_f64.powf(1.0 / 1.1)) - 1.0).abs() < 0.2,
            "{rare}"
        );
    }

    /// Checks the means within 10 %: 740 B per request, 10,800 B per response, 2.8 epochs per connection.
    #[test]
    fn means_are_known() {
        assert!(
            (mean(REQUESTS, f64::ceil) / 740.0 - 1.0).abs() < 0.1,
            "{}",
            mean(REQUESTS, f64::ceil)
        );
        assert!(
            (mean(RESPONSES, f64::ceil) / 10_800.0 - 1.0).abs() < 0.1,
            "{}",
            mean(RESPONSES, f64::ceil)
        );
        assert!(
            (mean(EPOCHS, f64::ceil) / 2.8 - 1.0).abs() < 0.1,
            "{}",
            mean(EPOCHS, f64::ceil)
        );
    }
}
