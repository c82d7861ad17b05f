//! Histograms of packet delays. Their buckets widen with the delay: a few kilobytes give quantiles for any number of
//! packets.

use longhaul_kernel::record;
use longhaul_units::Span;

/// Number of buckets in a row. Each row except the first covers one octave of delays.
const ROW: usize = 32;

/// Binary logarithm of the narrowest buckets' width in picoseconds. The first row (32 buckets) ends at 1.05 us.
const UNIT_BITS: u32 = 15;

/// Number of rows of buckets in a histogram. The last row ends at ten hours; its last bucket also counts longer delays.
const ROWS: usize = 36;

/// A histogram of delays. Above a microsecond, a bucket is at most 1/32 as wide as the delays in it, as in
/// HdrHistogram. Minimum and maximum are exact; the mean is exact to 33 ns. A row of buckets takes 256 bytes, allocated
/// at its first count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayHistogram {
    rows: [Option<Box<[u64; ROW]>>; ROWS],
    /// Number of packets with a delay of zero.
    instant: u64,
    /// Sum of all delays, in units of the narrowest bucket's width.
    sum: u64,
    /// Minimum delay; before the first packet, larger than any delay.
    min: Span,
    max: Span,
}

impl Default for DelayHistogram {
    fn default() -> Self {
        Self {
            rows: [const { None }; ROWS],
            instant: 0,
            sum: 0,
            min: Span::from_ps(u64::MAX),
            max: Span::ZERO,
        }
    }
}

impl DelayHistogram {
    /// Counts a packet with this delay. Not inlined, so that runs without measured delays, the majority, stay fast.
    #[inline(never)]
    pub fn record(&mut self, delay: Span) {
        let units = delay.as_ps() >> UNIT_BITS;
        let row = ((units | (ROW as u64 - 1)).ilog2() - (ROW.ilog2() - 1)) as usize;
        let bucket = (units >> row.saturating_sub(1)) as usize % ROW;
        let (row, bucket) = if row < ROWS {
            (row, bucket)
        } else {
            (ROWS - 1, ROW - 1)
        };
        match &mut self.rows[row] {
            Some(buckets) => buckets[bucket] += 1,
            none => begin_row(none)[bucket] += 1,
        }
        self.min = self.min.min(delay);
        self.max = self.max.max(delay);
        self.sum += units;
    }

    /// Counts `packets` packets with a delay of zero.
    pub(crate) fn record_instant(&mut self, packets: u64) {
        if packets > 0 {
            self.instant += packets;
            self.min = Span::ZERO;
        }
    }

    /// Adds the counts of another histogram.
    pub fn add(&mut self, other: &Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.instant += other.instant;
        self.sum += other.sum;
        for (mine, others) in self.rows.iter_mut().zip(&other.rows) {
            let Some(others) = others else { continue };
            let mine = mine.get_or_insert_with(|| Box::new([0; ROW]));
            for (mine, other) in mine.iter_mut().zip(others.iter()) {
                *mine += other;
            }
        }
    }

    /// Returns the number of packets counted.
    pub fn packets(&self) -> u64 {
        self.instant + self.timed()
    }

    /// Returns the number of packets with a delay above zero.
    fn timed(&self) -> u64 {
        self.rows.iter().flatten().flat_map(|row| row.iter()).sum()
    }

    /// Returns the middle of each bucket in picoseconds, with the bucket's number of packets.
    fn delays(&self) -> impl Iterator<Item = (f64, u64)> {
        let rows = self.rows.iter().enumerate();
        let rows = rows.filter_map(|(row, buckets)| Some((row, buckets.as_ref()?)));
        let timed = rows.flat_map(|(row, buckets)| {
            let counts = buckets.iter().enumerate();
            counts.map(move |(bucket, &count)| (middle_ps(row, bucket), count))
        });
        let instant = std::iter::once((0.0, self.instant));
        instant.chain(timed).filter(|&(_, count)| count > 0)
    }

    /// Returns the quantile of the delays at the fraction `part`, in seconds; `None` without packets. The error is at
    /// most half a bucket: 1.6 % or, below a microsecond, 17 ns.
    fn quantile_s(&self, part: f64) -> Option<f64> {
        let wanted = ((part * self.packets() as f64).ceil() as u64).max(1);
        let mut passed = 0;
        let (middle_ps, _) = self.delays().find(|(_, count)| {
            passed += count;
            passed >= wanted
        })?;
        let middle_s = middle_ps * 1e-12;
        Some(middle_s.clamp(self.min.as_secs_f64(), self.max.as_secs_f64()))
    }

    /// Returns `figure` of the number of packets; `None` without packets.
    fn of_packets(&self, figure: impl Fn(u64) -> f64) -> Option<f64> {
        let packets = self.packets();
        (packets > 0).then(|| figure(packets))
    }

    /// Returns the quantiles, mean and extremes that tables contain.
    pub fn summary(&self) -> DelaySummary {
        DelaySummary {
            packets: self.packets(),
            min: self.of_packets(|_| self.min.as_secs_f64()),
            mean: self.of_packets(|packets| {
                // Each delay has been rounded down to whole units, by half a unit on average.
                let units = self.sum as f64 + 0.5 * self.timed() as f64;
                units * unit_ps() * 1e-12 / packets as f64
            }),
            p1: self.quantile_s(0.01),
            p5: self.quantile_s(0.05),
            p25: self.quantile_s(0.25),
            p50: self.quantile_s(0.5),
            p75: self.quantile_s(0.75),
            p90: self.quantile_s(0.9),
            p95: self.quantile_s(0.95),
            p99: self.quantile_s(0.99),
            p999: self.quantile_s(0.999),
            max: self.of_packets(|_| self.max.as_secs_f64()),
        }
    }
}

/// Allocates and returns a row of the histogram, for the first delay that is counted in this row.
#[cold]
fn begin_row(row: &mut Option<Box<[u64; ROW]>>) -> &mut [u64; ROW] {
    row.insert(Box::new([0; ROW]))
}

/// Returns the middle of a bucket in picoseconds.
fn middle_ps(row: usize, bucket: usize) -> f64 {
    let first = if row == 0 { 0 } else { ROW };
    let width = (1u64 << row.saturating_sub(1)) as f64;
    (((first + bucket) as f64) + 0.5) * width * unit_ps()
}

fn unit_ps() -> f64 {
    (1u64 << UNIT_BITS) as f64
}

record! {
    /// Quantiles of delays, in seconds.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DelaySummary {
        /// Packets in the measurement window.
        packets: u64 as "packets",
        /// Minimum delay.
        min: Option<f64> as "min_s",
        /// Mean delay.
        mean: Option<f64> as "mean_s",
        /// 1 % quantile; this and the other quantiles are exact to 1.6 % or, below a microsecond, to 17 ns.
        p1: Option<f64> as "p1_s",
        /// 5 % quantile.
        p5: Option<f64> as "p5_s",
        /// 25 % quantile.
        p25: Option<f64> as "p25_s",
        /// Median.
        p50: Option<f64> as "p50_s",
        /// 75 % quantile.
        p75: Option<f64> as "p75_s",
        /// 90 % quantile.
        p90: Option<f64> as "p90_s",
        /// 95 % quantile.
        p95: Option<f64> as "p95_s",
        /// 99 % quantile.
        p99: Option<f64> as "p99_s",
        /// 99.9 % quantile.
        p999: Option<f64> as "p999_s",
        /// Maximum delay.
        max: Option<f64> as "max_s",
    }
}

/// Delays of packets, by flow and by sampled link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// One-way delays by flow: from each transmission of a data packet to its arrival. If a proxy splits the flow, the
    /// packets are those that the proxy's end node sends.
    pub flows: Vec<DelayHistogram>,
    /// Numbers of sampled links, and delays in their queues: from a packet's arrival to the start of its service.
    pub links: Vec<(usize, DelayHistogram)>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn histogram(delays: &[u64]) -> DelayHistogram {
        let mut histogram = DelayHistogram::default();
        for &ps in delays {
            histogram.record(Span::from_ps(ps));
        }
        histogram
    }

    proptest! {
        /// Every quantile differs from the same quantile of the sorted delays by at most half a bucket; minimum and
        /// maximum are exact.
        #[test]
        fn quantiles_are_those_of_the_sorted_delays(
            mut delays in prop::collection::vec((0u32..55, any::<u64>()), 1..300)
        ) {
            let mut delays: Vec<u64> = delays.drain(..).map(|(bits, any)| any % (1 << bits)).collect();
            let histogram = histogram(&delays);
            delays.sort_unstable();
            let summary = histogram.summary();
            prop_assert_eq!(summary.packets, delays.len() as u64);
            let mean = delays.iter().map(|&ps| u128::from(ps)).sum::<u128>() as f64 / delays.len() as f64;
            prop_assert!((summary.mean.unwrap() * 1e12 - mean).abs() < 17e3 + 1e-9 * mean);
            prop_assert_eq!(summary.min.unwrap(), Span::from_ps(delays[0]).as_secs_f64());
            prop_assert_eq!(summary.max.unwrap(), Span::from_ps(delays[delays.len() - 1]).as_secs_f64());
            for (part, quantile) in [(0.01, summary.p1), (0.5, summary.p50), (0.95, summary.p95), (0.999, summary.p999)] {
                let place = ((part * delays.len() as f64).ceil() as usize).max(1) - 1;
                let exact = delays[place] as f64;
                let error = (quantile.unwrap() * 1e12 - exact).abs();
                prop_assert!(error <= (exact / 64.0).max(2f64.powi(14)) * 1.001, "{part}: {quantile:?} for {exact}");
            }
        }

        /// The sum of two histograms equals a histogram that has counted everything.
        #[test]
        fn histograms_add_up(
            one in prop::collection::vec(0u64..1 << 45, 0..50),
            other in prop::collection::vec(0u64..1 << 45, 0..50),
        ) {
            let mut sum = histogram(&one);
            sum.add(&histogram(&other));
            let all: Vec<u64> = one.iter().chain(&other).copied().collect();
            prop_assert_eq!(sum, histogram(&all));
        }
    }

    #[test]
    fn nothing_has_no_delay_and_a_century_is_counted() {
        assert_eq!(DelayHistogram::default().summary().p50, None);
        let summary = histogram(&[u64::MAX]).summary();
        assert_eq!((summary.packets, summary.p50), (1, summary.max));
    }
}
