//! Mean goodputs of flows without losses on very fast paths, compared with NIST SP 500-282, chapter 9. A flow is
//! simulated until its window fills the path; afterwards, its acknowledgements arrive at the host's rate.

use super::*;

/// Letters of the backbone routers with a direct access router, each with the fraction of the backbone router's
/// receivers that are behind its direct access router.
const DOMAINS: [(char, f64); 6] = [
    ('B', 480.0 / 12_480.0),
    ('C', 480.0 / 20_640.0),
    ('E', 480.0 / 12_480.0),
    ('F', 480.0 / 20_640.0),
    ('I', 480.0 / 20_640.0),
    ('K', 480.0 / 4320.0),
];

/// Round-trip propagation delays in milliseconds (table 3-2). The letters name two backbone routers.
const ROUND_TRIPS: [(&str, u64); 15] = [
    ("BC", 24),
    ("BE", 40),
    ("BF", 48),
    ("BI", 62),
    ("BK", 79),
    ("CE", 16),
    ("CF", 36),
    ("CI", 38),
    ("CK", 48),
    ("EF", 20),
    ("EI", 22),
    ("EK", 32),
    ("FI", 40),
    ("FK", 38),
    ("IK", 10),
];

/// Arrival times of a flow's acknowledgements until its window fills the path. Later ones arrive `gap` apart.
struct Arrivals {
    times: Vec<f64>,
    gap: f64,
}

impl Arrivals {
    fn simulate(rtt_ms: u64, gap: Span) -> Self {
        let rtt = Span::from_millis(rtt_ms);
        let mut path = Start {
            packet_intervals: [gap; 2],
            ..Start::new(rtt, u64::MAX)
        }
        .path("reno");
        path.begin();
        let full = rtt.as_secs_f64() / gap.as_secs_f64() + 2.0;
        let mut seconds = 0.0;
        while path.cwnd() < full {
            seconds += 10.0 * rtt.as_secs_f64();
            path.run(at(seconds));
        }
        path.run(at(seconds + 2.0 * rtt.as_secs_f64()));
        let acks = path.seen.iter().filter(|seen| seen.1 == Kind::Ack);
        Self {
            times: acks.map(|seen| seen.0.as_secs_f64()).collect(),
            gap: gap.as_secs_f64(),
        }
    }

    fn goodput(&self, size: f64) -> f64 {
        let last = self.times.len();
        let beyond = size - last as f64;
        let time = if beyond > 0.0 {
            self.times[last - 1] + beyond * self.gap
        } else {
            self.times[size as usize - 1]
        };
        size / time
    }

    /// Returns the mean goodput of files of random size. The size in packets is `factor` times a Pareto-distributed
    /// number with the mean `mean`.
    fn mean_goodput(&self, mean: f64, factor: f64) -> f64 {
        let (steps, last) = (20_000, 30.0);
        let sum: f64 = (0..steps)
            .map(|step| {
                // The sizes' quantile function at 1 - e^-y, by the midpoint rule.
                let y = (f64::from(step) + 0.5) * last / f64::from(steps);
                let web = libm::ceil(mean / 3.0 * libm::exp(y / 1.5));
                self.goodput(web * factor) * libm::exp(-y)
            })
            .sum();
        sum * last / f64::from(steps)
    }
}

/// Checks the mean goodputs of loss-free flows against NIST SP 500-282, chapter 9, within half a percent. A case is
/// (factor of the file sizes, packets/s with fast interfaces, packets/s with other interfaces).
#[test]
#[ignore = "eight million packets"]
fn loss_free_flows_on_very_fast_paths_have_the_published_goodputs() {
    let published = [
        (10_000.0, 60_629.0, 7928.0),
        (1000.0, 30_716.0, 7437.0),
        (10.0, 2376.0, 1946.0),
        (1.0, 452.0, 426.0),
    ];
    for fast in [true, false] {
        let gap = Span::from_ps(if fast { 12_500_000 } else { 125_000_000 });
        let mut means = [0.0; 4];
        let mut weights = 0.0;
        for (pair, rtt_ms) in ROUND_TRIPS {
            // The source is below one of the two routers, the receiver below the other.
            let share = |name: char| {
                DOMAINS
                    .iter()
                    .find(|domain| domain.0 == name)
                    .expect("known")
                    .1
            };
            let weight: f64 = pair.chars().map(share).sum();
            for delay_factor in [1, 2] {
                let arrivals = Arrivals::simulate(rtt_ms * delay_factor, gap);
                for (mean, published) in means.iter_mut().zip(published) {
                    let goodput = |size| arrivals.mean_goodput(size, published.0);
                    *mean += weight * (goodput(100.0) + goodput(150.0)) / 2.0;
                }
                weights += weight;
            }
        }
        for (sum, published) in means.into_iter().zip(published) {
            let expected = if fast { published.1 } else { published.2 };
            let found = sum / weights;
            assert!(
                (found / expected - 1.0).abs() < 0.005,
                "{found} for {expected}"
            );
        }
    }
}

/// Checks the times of packets and acknowledgements against a recursion: a packet leaves when the window allows it and
/// the host is free, and is acknowledged a round trip later.
#[test]
fn a_flow_keeps_the_times_of_the_closed_form() {
    let (rtt_ms, gap) = (20, Span::from_ps(12_500_000));
    let arrivals = Arrivals::simulate(rtt_ms, gap);
    // The receiver's time to answer is part of the round trip.
    let rtt = rtt_ms as f64 / 1e3 + gap.as_secs_f64();
    let (mut cwnd, mut left) = (2.0_f64, Vec::<f64>::new());
    let mut acked = 0;
    for packet in 0..arrivals.times.len().min(20_000) {
        let mut earliest = left.last().map_or(0.0, |last| last + gap.as_secs_f64());
        while packet >= acked + cwnd as usize {
            earliest = earliest.max(left[acked] + rtt);
            cwnd += if cwnd < 100.0 { 1.0 } else { 50.0 / cwnd };
            acked += 1;
        }
        left.push(earliest);
        let found = arrivals.times[packet];
        let expected = earliest + rtt;
        assert!(
            (found / expected - 1.0).abs() < 0.001,
            "{packet}: {found} for {expected}"
        );
    }
}
