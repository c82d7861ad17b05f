//! Sources: location, algorithm, speed, and request times.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::config::{Algorithm, Config, StartWaves, Users};
use longhaul_kernel::random::{Stream, Streams};

/// The constant properties of a source.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Source {
    /// Index of the source's access router.
    pub(crate) access: u16,
    /// Index of the source's algorithm in the configuration.
    pub(crate) algorithm: u8,
    /// True if the source's host is fast.
    pub(crate) fast: bool,
}

/// All sources, in the order of their access routers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sources {
    sources: Vec<Source>,
    users: Users,
    think: Stream,
}

impl Sources {
    pub(crate) fn new(config: &Config, streams: &Streams) -> Self {
        let mut speeds = streams.component("mesonet/source-speeds");
        let mut algorithms = streams.component("mesonet/algorithms");
        let mut sources = Vec::new();
        for (access, router) in config.topology.access.iter().enumerate() {
            sources.extend((0..router.sources).map(|_| Source {
                access: access as u16,
                algorithm: draw_algorithm(&config.algorithms, &mut algorithms),
                fast: speeds.uniform() < config.hosts.fast_share,
            }));
        }
        Self {
            sources,
            users: config.users,
            think: streams.component("mesonet/think"),
        }
    }

    pub(crate) fn get(&self, source: u32) -> Source {
        self.sources[source as usize]
    }

    pub(crate) fn all(&self) -> &[Source] {
        &self.sources
    }

    /// Returns the time of each source's first request.
    pub(crate) fn first_requests(&self, streams: &Streams) -> Vec<Time> {
        let mut stream = streams.component("mesonet/start");
        let mean = |wave: f64| Span::from_secs_f64(self.users.think.as_secs_f64() * wave);
        let asks = self.sources.iter().map(|_| {
            let wave = wave(&self.users.start, stream.uniform());
            Time::ZERO + exponential(mean(wave), &mut stream)
        });
        asks.collect()
    }

    /// Draws a think time.
    pub(crate) fn think(&mut self) -> Span {
        exponential(self.users.think, &mut self.think)
    }

    /// Returns the bytes of state per source.
    pub(crate) fn bytes_each() -> usize {
        size_of::<Source>()
    }
}

/// Returns a source's mean start time, as a fraction of the mean think time. Sources start in four
/// waves; `number`, uniformly distributed between 0 and 1, selects the source's wave.
fn wave(waves: &StartWaves, number: f64) -> f64 {
    let second = waves.at_once + waves.second;
    if number < waves.at_once {
        0.0
    } else if number < second {
        1.0 / 3.0
    } else if number < second + waves.third {
        2.0 / 3.0
    } else {
        1.0
    }
}

fn exponential(mean: Span, stream: &mut Stream) -> Span {
    Span::from_secs_f64(-libm::log(1.0 - stream.uniform()) * mean.as_secs_f64())
}

/// Draws one of `algorithms`, with their probabilities `share`, and returns its index.
pub(crate) fn draw_algorithm(algorithms: &[Algorithm], stream: &mut Stream) -> u8 {
    let mut number = stream.uniform();
    for (at, algorithm) in algorithms.iter().enumerate() {
        if number < algorithm.share {
            return at as u8;
        }
        number -= algorithm.share;
    }
    // The shares add up to one, up to rounding.
    (algorithms.len() - 1) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a quarter of the sources starts at once, and the others in three waves with the probabilities of
    /// NIST SP 500-282, chapter 4.
    #[test]
    fn a_quarter_starts_at_once_and_the_waves_follow() {
        let waves = StartWaves {
            at_once: 0.25,
            second: 0.08,
            third: 0.17,
        };
        let cases = [
            (0.0, 0.0),
            (0.2499, 0.0),
            (0.25, 1.0 / 3.0),
            (0.3299, 1.0 / 3.0),
            (0.3301, 2.0 / 3.0),
            (0.4999, 2.0 / 3.0),
            (0.5, 1.0),
            (0.9999, 1.0),
        ];
        for (number, expected) in cases {
            assert_eq!(wave(&waves, number), expected, "{number}");
        }
    }
}
