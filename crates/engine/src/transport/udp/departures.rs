//! Departure times of datagrams.

use longhaul_units::{Span, Time};

use crate::config::{Distribution, Spacing, Udp};
use crate::random::Stream;
use crate::transport::Bursts;

/// Rule for the departure times of a stream's datagrams.
#[derive(Debug)]
pub(crate) enum Departures {
    /// At equal intervals, from the beginning of the stream on.
    Even,
    /// In bursts.
    Bursts(Box<Bursts>),
    /// After exponential intervals.
    Poisson(Box<(Distribution, Stream)>),
    /// As [`Self::Even`], but each datagram is delayed, uniformly from zero to this fraction of the interval. The
    /// delays do not add up.
    Jitter(f64, Box<Stream>),
}

impl Departures {
    /// Creates the rule for the datagrams of a flow. `stream` returns a random stream by name; it is called only if the
    /// rule needs random numbers.
    pub(crate) fn new(config: &Udp, stream: impl FnOnce(&str) -> Stream) -> Self {
        let interval = config.rate.transmission(config.packet_bytes.into()).0;
        if let Some(bursts) = &config.bursts {
            let bursts = Bursts::new(bursts.clone(), interval, stream("bursts"));
            return Self::Bursts(Box::new(bursts));
        }
        match config.spacing {
            Spacing::Even => Self::Even,
            Spacing::Poisson => {
                let mean = interval.as_secs_f64();
                let gaps = (Distribution::Exponential { mean }, stream("spacing"));
                Self::Poisson(Box::new(gaps))
            }
            Spacing::Jitter(part) => Self::Jitter(part, Box::new(stream("spacing"))),
        }
    }

    /// Returns the departure time of the next datagram. The stream began at `begin` and has sent `number` datagrams,
    /// the last one at `now`. Before the first datagram, `now` is `begin`.
    ///
    /// Departures with [`Self::Even`] and [`Self::Jitter`] are computed from the beginning of the stream: rounding
    /// errors do not add up.
    pub(super) fn next(&mut self, config: &Udp, begin: Time, number: u64, now: Time) -> Time {
        let elapsed = |bytes: u64| -> Span { config.rate.transmission(bytes).0 };
        let bytes = u64::from(config.packet_bytes);
        match self {
            Self::Even => begin + elapsed(bytes * number),
            Self::Bursts(bursts) => now + bursts.next_gap(),
            Self::Poisson(gaps) => now + gaps.1.draw_span(&gaps.0),
            Self::Jitter(part, stream) => {
                let late = *part * elapsed(bytes).as_ps() as f64;
                begin + elapsed(bytes * number) + stream.span(Span::from_ps(late as u64))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Rate;

    use super::*;

    /// Returns the departure times in milliseconds of `count` datagrams of 1000 bytes at 8 Mbit/s, one per millisecond
    /// on average.
    fn departures(spacing: Spacing, count: u64) -> Vec<f64> {
        let config = Udp {
            rate: Rate::from_bps(8_000_000),
            packet_bytes: 1000,
            header_bytes: 28,
            bursts: None,
            spacing,
        };
        let mut departures = Departures::new(&config, |part| Stream::new(3, 0, part));
        let begin = Time::from_ps(7);
        let mut now = begin;
        let mut next = |number| {
            now = departures.next(&config, begin, number, now);
            now.since(begin).as_secs_f64() * 1e3
        };
        (0..count).map(&mut next).collect()
    }

    #[test]
    fn jitter_keeps_each_datagram_within_its_interval_and_spreads_it_there() {
        assert_eq!(departures(Spacing::Even, 4), [0.0, 1.0, 2.0, 3.0]);
        let late: Vec<f64> = (0..)
            .zip(departures(Spacing::Jitter(0.5), 10_000))
            .map(|(number, at)| at - f64::from(number))
            .collect();
        assert!(late.iter().all(|late| (-1e-9..0.5).contains(late)));
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        // The mean of a uniform distribution up to a half is 0.25, with a standard error of 0.0014.
        assert!((mean - 0.25).abs() < 0.006, "{mean}");
    }

    #[test]
    fn poisson_departures_have_exponential_intervals_at_the_same_rate() {
        const COUNT: usize = 100_000;
        let all = departures(Spacing::Poisson, COUNT as u64);
        let gaps: Vec<f64> = all.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = all[COUNT - 1] / COUNT as f64;
        assert!((mean - 1.0).abs() < 0.012, "{mean}");
        // The expected share is P(X > 2) = e^-2, with a standard error of 0.0011.
        let long = gaps.iter().filter(|gap| **gap > 2.0).count() as f64 / COUNT as f64;
        assert!((long - libm::exp(-2.0)).abs() < 0.005, "{long}");
    }
}
