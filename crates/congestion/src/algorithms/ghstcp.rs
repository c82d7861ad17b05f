//! Gentle HighSpeed TCP: HighSpeed TCP that grows like standard TCP while round-trip times increase.
//!
//! Zhang, thesis, Osaka University, 2006. After each window of samples (cycle), the original variant (chapter 2) tests
//! if round-trip times are correlated with departure times, by Fisher's transform of the correlation
//! coefficient. The refined variant (chapter 4) first compares the mean round-trip time of the cycle with the smallest
//! mean since the last loss. It uses the correlation only if the difference of these means is neither small nor large.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::hstcp::{
    HIGH_DECREASE, HIGH_P, HIGH_WINDOW, Hstcp, LOW_P, LOW_WINDOW, MIN_DECREASE, rounded,
};
use crate::congestion_control::CongestionControl;
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, SpecError, Variant};
use crate::quantity::{self, Quantity};
use crate::window::Window;

pub(crate) static ENTRY: Entry<Ghstcp> = Entry {
    kind: "ghstcp",
    title: "Gentle HighSpeed TCP",
    description: "HighSpeed TCP that adds only one segment per round trip while round-trip times tend upwards over a \
        window; each loss restores HighSpeed TCP's growth. With refined, a mean round-trip time near the smallest \
        mean since the last loss restores it, too, and a mean far above the smallest selects standard TCP's growth. \
        Variant ns2 reduces its window as ns-2's HighSpeed TCP does.",
    law: &[
        "each window: round-trip times rise if atanh(correlation of rtt and time) * (n - 3)^(1/2) > trend",
        "each ACK while they rise: cwnd += acked / cwnd; else cwnd += a(cwnd) * acked / cwnd, as hstcp",
        "congestion: as hstcp; growth is hstcp's again",
    ],
    source: "Gentle HighSpeed TCP, doctoral thesis, Osaka University, 2006",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[
        quantity::INCREASE,
        quantity::DECREASE,
        Quantity::new("gentle", "", "1 while it grows like standard TCP"),
    ],
    variants: &[Variant::Paper, Variant::Ns2],
    parameters: &PARAMETERS,
    build: Ghstcp::new,
};

static PARAMETERS: [Parameter; 12] = [
    LOW_WINDOW,
    HIGH_WINDOW,
    rounded(DefaultValue::Derived {
        rule: "1; variant ns2: 0",
        value: |settings| f64::from(settings.variant() == Variant::Paper),
    }),
    HIGH_P,
    HIGH_DECREASE,
    LOW_P,
    MIN_DECREASE,
    Parameter {
        name: "refined",
        unit: "0 or 1",
        default: DefaultValue::Fixed(0.0),
        allowed: Range::closed(0.0, 1.0),
        help: "1 compares mean and standard deviation of the round-trip times first.",
        source: "Zhang, thesis, Osaka 2006, chapter 4",
    },
    Parameter {
        name: "trend",
        unit: "standard deviations",
        default: DefaultValue::Fixed(3.09),
        allowed: Range::closed(0.0, 100.0),
        help: "Fisher's transform of the correlation, times the root of the sample size less three, \
            above which round-trip times count as rising. The default is exceeded by chance once \
            in a thousand cycles of independent samples.",
        source: "Zhang, thesis, Osaka 2006, chapter 2",
    },
    Parameter {
        name: "near",
        unit: "standard deviations",
        default: DefaultValue::Fixed(2.0),
        allowed: Range::closed(0.0, 1e3),
        help: "Refined: distance above the smallest mean up to which growth is HighSpeed TCP's.",
        source: "Zhang, thesis, Osaka 2006, chapter 4",
    },
    Parameter {
        name: "far",
        unit: "standard deviations",
        default: DefaultValue::Fixed(4.0),
        allowed: Range::closed(0.0, 1e3),
        help: "Refined: distance above the smallest mean from which on growth is standard TCP's.",
        source: "Zhang, thesis, Osaka 2006, chapter 4",
    },
    Parameter {
        name: "clock",
        unit: "seconds",
        default: DefaultValue::Fixed(1e-6),
        allowed: Range::closed(0.0, 1.0),
        help: "Resolution of the round-trip times, and lower bound of their standard deviation.",
        source: "Zhang, thesis, Osaka 2006, chapters 2 and 4",
    },
];

/// State of Gentle HighSpeed TCP for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ghstcp {
    hstcp: Hstcp,
    low_window: f64,
    refined: bool,
    trend: f64,
    near: f64,
    far: f64,
    clock: Span,
    /// True if the window grows like standard TCP at present.
    gentle: bool,
    cycle: Option<Cycle>,
    /// Smallest of the cycles' mean round-trip times since the last loss, in seconds.
    least_mean_s: f64,
}

impl Ghstcp {
    fn new(settings: &Settings) -> Result<Self, SpecError> {
        settings.require_below("near", "far")?;
        Ok(Self {
            hstcp: Hstcp::new(settings)?,
            low_window: settings.get("low_window"),
            refined: settings.get("refined") >= 0.5,
            trend: settings.get("trend"),
            near: settings.get("near"),
            far: settings.get("far"),
            clock: Span::from_secs_f64(settings.get("clock")),
            gentle: false,
            cycle: None,
            least_mean_s: f64::INFINITY,
        })
    }

    /// Adds the round-trip time `rtt` of a segment that was acknowledged at `now`. If this completes a cycle, decides
    /// on the growth until the next decision.
    fn sample(&mut self, now: Time, rtt: Span, cwnd: f64) {
        let departure = Time::ZERO + now.since(Time::ZERO).saturating_sub(rtt);
        let resolution = self.clock.as_ps().max(1);
        let rtt = Span::from_ps(rtt.as_ps() / resolution * resolution);
        let cycle = self
            .cycle
            .get_or_insert_with(|| Cycle::new(departure, cwnd as u64));
        cycle.add(departure, rtt);
        if cycle.count < cycle.size {
            return;
        }
        if let Some(cycle) = self.cycle.take() {
            self.gentle = self.judge(&cycle);
        }
    }

    /// Returns true if `cycle` shows congestion. After such a cycle, the window grows like standard TCP's.
    fn judge(&mut self, cycle: &Cycle) -> bool {
        let rising = cycle.fisher_z() > self.trend;
        if !self.refined {
            return rising;
        }
        self.least_mean_s = self.least_mean_s.min(cycle.mean_rtt_s);
        let above_s = cycle.mean_rtt_s - self.least_mean_s;
        let deviation_s = cycle.deviation_s().max(self.clock.as_secs_f64());
        above_s > self.near * deviation_s && (rising || above_s >= self.far * deviation_s)
    }

    /// Returns to the growth of HighSpeed TCP after any loss (chapter 2), mark or timeout. Discards the current cycle
    /// and the smallest mean.
    fn start_anew(&mut self) {
        self.gentle = false;
        self.cycle = None;
        self.least_mean_s = f64::INFINITY;
    }
}

impl CongestionControl for Ghstcp {
    fn needs(&self) -> Needs {
        Needs::RTT
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if phase != Phase::Avoidance {
            return;
        }
        let cwnd = window.cwnd();
        if self.gentle {
            window.grow(ack.credit / cwnd);
        } else {
            self.hstcp.on_ack(ack, phase, window);
        }
        if let Some(rtt) = ack.rtt
            && cwnd > self.low_window
        {
            self.sample(ack.now, rtt, cwnd);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.start_anew();
        self.hstcp.on_congestion(event, window);
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.start_anew();
        self.hstcp.on_timeout(event, window);
    }

    fn probe(&self, window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("gentle", f64::from(self.gentle));
        self.hstcp.probe(window, out);
    }

    fn share_tables(&mut self, like: &Self) {
        self.hstcp.share_tables(&like.hstcp);
    }
}

/// Statistics of departure times and round-trip times in one cycle, updated by Welford's method (1962).
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cycle {
    /// Departure time of the first segment.
    start: Time,
    /// Number of samples in a complete cycle: the window, in segments, at the start of the cycle.
    size: u64,
    count: u64,
    mean_departure_s: f64,
    mean_rtt_s: f64,
    /// Sum of squared deviations of the departure times.
    departures: f64,
    /// Sum of squared deviations of the round-trip times.
    rtts: f64,
    /// Sum over the samples: deviation of the departure time times deviation of the round-trip time, from their means.
    products: f64,
}

impl Cycle {
    fn new(start: Time, size: u64) -> Self {
        Self {
            start,
            size,
            count: 0,
            mean_departure_s: 0.0,
            mean_rtt_s: 0.0,
            departures: 0.0,
            rtts: 0.0,
            products: 0.0,
        }
    }

    fn add(&mut self, departure: Time, rtt: Span) {
        self.count += 1;
        let weight = 1.0 / self.count as f64;
        let from_mean_departure = departure.since(self.start).as_secs_f64() - self.mean_departure_s;
        let from_mean_rtt = rtt.as_secs_f64() - self.mean_rtt_s;
        self.mean_departure_s += from_mean_departure * weight;
        self.mean_rtt_s += from_mean_rtt * weight;
        let rest = 1.0 - weight;
        self.departures += from_mean_departure * from_mean_departure * rest;
        self.rtts += from_mean_rtt * from_mean_rtt * rest;
        self.products += from_mean_departure * from_mean_rtt * rest;
    }

    /// Returns Pearson's correlation coefficient of departure and round-trip times; zero if one of them is constant.
    fn correlation(&self) -> f64 {
        let spread = libm::sqrt(self.departures * self.rtts);
        if spread > 0.0 {
            self.products / spread
        } else {
            0.0
        }
    }

    /// Returns Fisher's transform of [`Self::correlation`], in units of its standard deviation (chapter 2); zero for
    /// fewer than four samples.
    fn fisher_z(&self) -> f64 {
        if self.count < 4 {
            return 0.0;
        }
        let bounded = self.correlation().clamp(-1.0 + 1e-12, 1.0 - 1e-12);
        libm::atanh(bounded) * libm::sqrt(self.count as f64 - 3.0)
    }

    /// Returns the sample standard deviation of the round-trip times.
    fn deviation_s(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        libm::sqrt(self.rtts / (self.count as f64 - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ghstcp(given: &[(&str, f64)]) -> Ghstcp {
        let given: Vec<_> = given
            .iter()
            .map(|&(name, value)| (name.to_string(), value))
            .collect();
        Ghstcp::new(&ENTRY.settings(Variant::Paper, &given).unwrap()).unwrap()
    }

    /// Returns a cycle of segments that departed one millisecond apart.
    fn cycle(rtts_ms: &[u64]) -> Cycle {
        let mut cycle = Cycle::new(Time::ZERO, rtts_ms.len() as u64);
        for (number, &rtt_ms) in rtts_ms.iter().enumerate() {
            let departure = Time::ZERO + Span::from_millis(number as u64);
            cycle.add(departure, Span::from_millis(rtt_ms));
        }
        cycle
    }

    #[test]
    fn the_moments_are_those_of_textbooks() {
        // The sums of squares are 10 and 6, the sum of products is 6; the correlation is 6 / sqrt(60).
        let found = cycle(&[2, 4, 5, 4, 5]);
        assert!((found.correlation() - 0.774_597).abs() < 1e-6);
        assert!((found.mean_rtt_s - 4e-3).abs() < 1e-12);
        // The sum of squares is 32; divided by 7, it is the variance.
        let found = cycle(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert!((found.deviation_s() - 2.138_090e-3).abs() < 1e-9);
        assert_eq!(cycle(&[7; 50]).fisher_z(), 0.0);
    }

    /// Checks that the threshold of 3.09 for Fisher's transform corresponds to a correlation coefficient of 0.479 with
    /// 38 samples, 0.304 with 100, 0.154 with 400 and 0.0756 with 1667.
    #[test]
    fn the_trend_s_threshold_is_a_correlation_that_falls_with_the_sample_size() {
        for (count, critical) in [(38, 0.479), (100, 0.304), (400, 0.154), (1667, 0.0756)] {
            for (factor, rising) in [(0.99, false), (1.01, true)] {
                let found = Cycle {
                    count,
                    departures: 1.0,
                    rtts: 1.0,
                    products: critical * factor,
                    ..Cycle::new(Time::ZERO, count)
                };
                assert_eq!(found.fisher_z() > 3.09, rising, "{count}");
            }
        }
    }

    /// Checks that round-trip times that increase within a cycle are congestion for the original variant. For the
    /// refined variant, the mean of the cycle must also be well above the smallest mean of all cycles.
    #[test]
    fn the_refinement_trusts_means_more_than_trends() {
        let rising: Vec<u64> = (100..150).collect();
        assert!(ghstcp(&[]).judge(&cycle(&rising)));
        let mut refined = ghstcp(&[("refined", 1.0)]);
        assert!(!refined.judge(&cycle(&rising)));
        // The deviation is 14.58 ms. Round-trip times 25 ms above are considered near, 60 ms above far, and 35 ms above
        // neither.
        for (above, expected) in [(25, false), (35, true), (60, true)] {
            let rising: Vec<u64> = (100 + above..150 + above).collect();
            assert_eq!(refined.judge(&cycle(&rising)), expected, "{above} ms");
            let falling: Vec<u64> = rising.into_iter().rev().collect();
            assert_eq!(refined.judge(&cycle(&falling)), above == 60, "{above} ms");
        }
    }

    /// Checks that neither the original nor the refined variant takes constant round-trip times for congestion. Their
    /// standard deviation is zero, and the mean of each cycle equals the smallest mean.
    #[test]
    fn constant_round_trip_times_are_not_congestion() {
        for refined in [0.0, 1.0] {
            let mut ghstcp = ghstcp(&[("refined", refined)]);
            for _ in 0..3 {
                assert!(!ghstcp.judge(&cycle(&[45; 50])));
            }
        }
    }
}
