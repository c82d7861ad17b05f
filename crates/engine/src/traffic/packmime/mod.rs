//! PackMime: a model of web traffic, fitted to traces of an enterprise's link to the Internet (Cao and others,
//! "Stochastic Models for Generating Synthetic HTTP Source Traffic", INFOCOM 2004).
//!
//! Times between connections, sizes of requests and round-trip times are transforms of Gaussian series with long-range
//! dependence (fractional sum-difference models). Responses alternate between runs of downloads and runs of cache
//! validations.

mod fractional;
mod gaussian;
mod knots;
#[cfg(test)]
mod tests;

use longhaul_kernel::interpolate;

use self::gaussian::Shape;
pub(super) use self::gaussian::{Gaussian, begin_together};
use crate::config::{Distribution, PackMime};
use crate::random::Stream;

/// State of one part of the model, that is, of one random variable, such as the sizes of responses.
#[derive(Debug)]
pub(super) enum Part {
    Arrivals(Arrivals),
    Requests(Requests),
    Responses(Responses),
    RoundTrips(Vec<RoundTrips>),
}

impl Part {
    /// Creates the part of the model that `config` selects. `stream` returns the random stream of a named component.
    pub(super) fn new(config: &PackMime, stream: impl Fn(&str) -> Stream) -> Self {
        match *config {
            PackMime::Arrivals { rate } => Self::Arrivals(Arrivals::new(rate, stream("arrivals"))),
            PackMime::Requests { rate } => Self::Requests(Requests::new(rate, stream("request"))),
            PackMime::Responses => Self::Responses(Responses::new(stream("response"))),
            PackMime::RoundTrips { rate, client_side } => {
                let mut sides = vec![RoundTrips::new(&SERVER_SIDE, rate, stream("server_rtt"))];
                if client_side {
                    sides.push(RoundTrips::new(&CLIENT_SIDE, rate, stream("client_rtt")));
                }
                Self::RoundTrips(sides)
            }
        }
    }

    /// Returns true if this part of the model shares its random generator with other parts.
    pub(super) fn is_shared(&self) -> bool {
        match self {
            Self::Arrivals(arrivals) => arrivals.series.is_shared(),
            Self::Requests(requests) => requests.series.is_shared(),
            Self::Responses(responses) => responses.stream.is_shared(),
            Self::RoundTrips(sides) => sides.iter().any(|side| side.series.is_shared()),
        }
    }

    /// Returns the Gaussian series of this part of the model.
    pub(super) fn series(&mut self) -> Vec<&mut Gaussian> {
        match self {
            Self::Arrivals(arrivals) => vec![&mut arrivals.series],
            Self::Requests(requests) => vec![&mut requests.series],
            Self::Responses(_) => Vec::new(),
            Self::RoundTrips(sides) => sides.iter_mut().map(|side| &mut side.series).collect(),
        }
    }

    /// Draws the next value: a time in seconds or a size in bytes.
    pub(super) fn next(&mut self) -> f64 {
        match self {
            Self::Arrivals(arrivals) => arrivals.next(),
            Self::Requests(requests) => requests.next(),
            Self::Responses(responses) => responses.next(),
            Self::RoundTrips(sides) => sides.iter_mut().map(RoundTrips::next).sum(),
        }
    }
}

/// Returns the fraction of white noise in a series at a given rate of connections: a logistic function of the logarithm
/// of the rate.
fn logistic(constant: f64, slope: f64, rate: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-(constant + slope * libm::log2(rate))))
}

/// Returns the probability that a standard Gaussian variable is below `y`, to full precision.
fn below(y: f64) -> f64 {
    libm::erfc(-y * std::f64::consts::FRAC_1_SQRT_2) / 2.0
}

/// Returns the probability that a standard Gaussian variable is above `y`, to full precision.
fn above(y: f64) -> f64 {
    libm::erfc(y * std::f64::consts::FRAC_1_SQRT_2) / 2.0
}

/// Times between the beginnings of connections: Weibull-distributed, with the inverse of the configured rate as mean.
#[derive(Debug)]
pub(super) struct Arrivals {
    series: Gaussian,
    shape: f64,
    scale: f64,
}

impl Arrivals {
    /// Creates the series, with the model's constants of 2003.
    fn new(rate: f64, stream: Stream) -> Self {
        let shape = logistic(0.352, 0.388, rate);
        let series = Shape {
            d: 0.33,
            memory: 1000,
            noise: logistic(0.333, 0.414, rate),
        };
        Self {
            series: Gaussian::new(series, stream),
            shape,
            scale: 1.0 / (rate * libm::tgamma(1.0 + 1.0 / shape)),
        }
    }

    fn next(&mut self) -> f64 {
        let above = above(self.series.next());
        self.scale * libm::pow(-libm::log(above), 1.0 / self.shape)
    }
}

/// Random series of request sizes.
#[derive(Debug)]
pub(super) struct Requests {
    series: Gaussian,
    large: Tail,
}

impl Requests {
    /// Tail index of the Pareto distribution of the largest requests.
    const TAIL: f64 = 1.4847;

    fn new(rate: f64, stream: Stream) -> Self {
        let series = Shape {
            d: 0.31,
            memory: 5000,
            noise: logistic(0.123, 0.494, rate),
        };
        Self {
            series: Gaussian::new(series, stream),
            large: Tail::new(&knots::LARGE_REQUESTS, Self::TAIL),
        }
    }

    fn next(&mut self) -> f64 {
        let y = self.series.next();
        let below = below(y);
        if below <= 0.5 {
            interpolate(&knots::SMALL_REQUESTS, below / 0.5)
        } else {
            self.large.value(above(y) / 0.5)
        }
    }
}

/// Sizes of responses, which alternate between runs of downloads and runs of answers to cache validations.
#[derive(Debug)]
pub(super) struct Responses {
    downloads: Tail,
    /// The current run of responses: true if they are downloads, and the number of responses left in the run.
    run: (bool, u64),
    stream: Stream,
}

impl Responses {
    /// Tail index of the Pareto distribution of the largest responses.
    const TAIL: f64 = 1.2314;
    /// Distribution of the number of consecutive responses that are downloads; drawn values are rounded up.
    const DOWNLOADS: Distribution = Distribution::Weibull {
        shape: 0.82,
        scale: 3.0059,
    };
    /// Distribution of the number of consecutive responses that answer cache validations; drawn values are rounded up.
    const VALIDATIONS: Distribution = Distribution::Weibull {
        shape: 0.82,
        scale: 1.1341,
    };

    fn new(stream: Stream) -> Self {
        Self {
            downloads: Tail::new(&knots::DOWNLOADS, Self::TAIL),
            run: (false, 0),
            stream,
        }
    }

    fn next(&mut self) -> f64 {
        let (downloads, left) = &mut self.run;
        if *left == 0 {
            *downloads = !*downloads;
            let lengths = if *downloads {
                &Self::DOWNLOADS
            } else {
                &Self::VALIDATIONS
            };
            *left = self.stream.draw_count(lengths);
        }
        *left -= 1;
        let p = self.stream.uniform();
        if *downloads {
            self.downloads.value(1.0 - p)
        } else {
            interpolate(&knots::VALIDATIONS, p)
        }
    }
}

/// A distribution given by quantiles, with a Pareto tail above the last one. Between quantiles, the logarithm of the
/// value is linear in the logarithm of the exceedance probability.
#[derive(Debug)]
struct Tail {
    /// Points of the distribution: `-log2` of the probability that a value is exceeded, and `log2` of this value.
    points: Vec<(f64, f64)>,
    index: f64,
}

impl Tail {
    fn new(knots: &[(f64, f64)], index: f64) -> Self {
        let point = |&(p, value): &(f64, f64)| (-libm::log2(1.0 - p), libm::log2(value));
        Self {
            points: knots.iter().map(point).collect(),
            index,
        }
    }

    /// Returns the value that is exceeded with probability `above`.
    fn value(&self, above: f64) -> f64 {
        let x = -libm::log2(above);
        let (last, highest) = self.points[self.points.len() - 1];
        libm::exp2(if x > last {
            highest + (x - last) / self.index
        } else {
            interpolate(&self.points, x)
        })
    }
}

/// Parameters of the round-trip times on one side.
struct Side {
    knots: &'static [(f64, f64)],
    /// Degree `n` of a root: between two quantiles, the `n`-th root of the round-trip time is interpolated linearly.
    root: f64,
    d: f64,
    /// Constant term and slope for [`logistic`], which gives the fraction of white noise in the series.
    logistic: (f64, f64),
}

const CLIENT_SIDE: Side = Side {
    knots: &knots::CLIENT_RTTS,
    root: 5.0,
    d: 0.31,
    logistic: (-0.445, 0.554),
};

const SERVER_SIDE: Side = Side {
    knots: &knots::SERVER_RTTS,
    root: 3.0,
    d: 0.32,
    logistic: (-0.053, 0.396),
};

/// Round-trip times between the hosts of one side and the link where the trace was taken.
#[derive(Debug)]
pub(super) struct RoundTrips {
    series: Gaussian,
    /// Points of the distribution of round-trip times `x`, in milliseconds: `-log10(P(X > x))`, and `x^(1/root)`.
    points: Vec<(f64, f64)>,
    root: f64,
}

impl RoundTrips {
    fn new(side: &Side, rate: f64, stream: Stream) -> Self {
        let series = Shape {
            d: side.d,
            memory: 1000,
            noise: logistic(side.logistic.0, side.logistic.1, rate),
        };
        let point = |&(p, ms): &(f64, f64)| (-libm::log10(1.0 - p), libm::pow(ms, 1.0 / side.root));
        Self {
            series: Gaussian::new(series, stream),
            points: side.knots.iter().map(point).collect(),
            root: side.root,
        }
    }

    fn next(&mut self) -> f64 {
        let above = above(self.series.next());
        let root = interpolate(&self.points, -libm::log10(above));
        libm::pow(root, self.root) / 1000.0
    }
}
