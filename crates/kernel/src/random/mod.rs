//! Random numbers: one stream per component, named by a path, or ns-2's single generator for all.
//!
//! A stream's seed is a hash of the run's seed, the replication and the stream's path. A new component, or another
//! protocol of one flow, therefore does not change the draws of other streams. In ns-2, everything draws from one
//! generator in the order of events. With this generator, a run repeats the draws of an ns-2 script after `ns-random
//! SEED`. Tests compare both generators with published values. The draws for a given seed must never change.

mod mrg32k3a;
mod samplers;
mod xoshiro;

use std::cell::Cell;
use std::fmt::Display;
use std::rc::Rc;

use longhaul_keys::words;
use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use self::mrg32k3a::Mrg32k3a;
pub use self::samplers::{WITHOUT_END, whole};
use self::xoshiro::Xoshiro256;

words! {
    /// Source of random numbers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Randomness {
        /// One stream per component: a change in one component does not affect the numbers of
        /// others.
        Streams = "streams",
        /// ns-2's single generator for all components, in the order of use.
        Ns2 = "ns2",
    }
}

/// Source of a run's random streams.
#[derive(Clone, Debug)]
pub struct Streams {
    seed: u64,
    replication: u64,
    /// ns-2's default generator; `None` if every component has its own stream.
    shared: Option<Rc<Cell<Mrg32k3a>>>,
}

impl Streams {
    /// Returns the streams of a run with this seed and replication, in the given mode. The seed of
    /// ns-2's generator is the sum of `seed` and `replication`.
    pub fn new(seed: u64, replication: u64, mode: Randomness) -> Self {
        let shared = match mode {
            Randomness::Streams => None,
            Randomness::Ns2 => Some(ns2_generator(seed + replication)),
        };
        Self {
            seed,
            replication,
            shared,
        }
    }

    /// Returns the stream of the component `path`; with [`Randomness::Ns2`], ns-2's shared generator.
    pub fn component(&self, path: &str) -> Stream {
        match &self.shared {
            None => Stream::new(self.seed, self.replication, path),
            Some(shared) => Stream(Generator::Ns2(Rc::clone(shared))),
        }
    }

    /// Returns a stream that only the component `path` uses, even with [`Randomness::Ns2`]. Calls
    /// with equal paths return streams with equal numbers.
    pub fn own(&self, path: impl Display) -> Stream {
        Stream::new(self.seed, self.replication, path)
    }

    /// Returns the stream of the losses on the link `path`. With [`Randomness::Ns2`], each link has
    /// a separate generator with the same seed, like error models in ns-2's scripts.
    pub fn losses(&self, path: &str) -> Stream {
        match &self.shared {
            None => Stream::new(self.seed, self.replication, path),
            Some(_) => Stream(Generator::Ns2(ns2_generator(self.seed + self.replication))),
        }
    }
}

fn ns2_generator(seed: u64) -> Rc<Cell<Mrg32k3a>> {
    Rc::new(Cell::new(Mrg32k3a::new(seed)))
}

/// A stream of random numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stream(Generator);

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Generator {
    Own(Xoshiro256),
    /// ns-2's generator. Its serialisation is an error, because each stream that shares the generator would get a copy
    /// of it.
    #[serde(skip)]
    Ns2(Rc<Cell<Mrg32k3a>>),
}

impl Stream {
    /// Creates the random stream called `path` of a run.
    pub fn new(seed: u64, replication: u64, path: impl Display) -> Self {
        Self(Generator::Own(Xoshiro256::new(seed, replication, path)))
    }

    /// Draws 53 random bits, which is the precision of a double. With ns-2's generator, they have only
    /// about 2^32 different values.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        (self.uniform() * (1_u64 << 53) as f64) as u64
    }

    /// Returns true if the stream draws from a generator of ns-2, which other streams may use, too.
    #[inline]
    pub fn is_shared(&self) -> bool {
        matches!(self.0, Generator::Ns2(_))
    }

    /// Draws a number uniformly from [0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        match &mut self.0 {
            Generator::Own(generator) => generator.uniform(),
            Generator::Ns2(shared) => {
                let mut generator = shared.get();
                let number = generator.uniform();
                shared.set(generator);
                number
            }
        }
    }

    /// Draws a duration uniformly from [0, `limit`).
    #[inline]
    pub fn span(&mut self, limit: Span) -> Span {
        Span::from_ps((self.uniform() * limit.as_ps() as f64) as u64)
    }

    /// Draws a start time as a fraction, from 0 to 1, of the interval in which flows start. With ns-2's generator, the
    /// fraction is a 31-bit integer divided by 2^31 - 1, as in scripts that call `ns-random`.
    #[inline]
    pub fn start_fraction(&mut self) -> f64 {
        let number = self.uniform();
        match self.0 {
            Generator::Own(_) => number,
            Generator::Ns2(_) => libm::floor(2_147_483_648.0 * number) / 2_147_483_647.0,
        }
    }

    /// Draws the number of failures before the first success, where `p` is the probability of
    /// success (0 < p <= 1).
    pub fn geometric(&mut self, p: f64) -> u64 {
        if p >= 1.0 {
            return 0;
        }
        if matches!(self.0, Generator::Ns2(_)) {
            // One draw per trial, as in ns-2's error model.
            return (0..).find(|_| self.uniform() < p).unwrap_or(u64::MAX);
        }
        // 1 - uniform() lies in (0, 1], so the logarithm is finite.
        let trials = libm::log(1.0 - self.uniform()) / libm::log1p(-p);
        // Saturates for tiny p.
        libm::floor(trials) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_name_seed_and_replication() {
        let first = |seed, replication, path| Stream::new(seed, replication, path).uniform();
        let base = first(1, 0, "flows/a");
        assert_ne!(base, first(1, 0, "flows/b"));
        assert_ne!(base, first(2, 0, "flows/a"));
        assert_ne!(base, first(1, 1, "flows/a"));
        assert_ne!(first(0, 1, "x"), first(1, 0, "x"));
    }

    #[test]
    fn geometric_gaps_have_the_right_mean() {
        let mut stream = Stream::new(7, 0, "test");
        let n = 200_000;
        let p = 0.01;
        let sum: u64 = (0..n).map(|_| stream.geometric(p)).sum();
        let mean = sum as f64 / f64::from(n);
        // Mean (1-p)/p = 99, standard error 100/sqrt(n) = 0.22.
        assert!((mean - 99.0).abs() < 1.0, "mean {mean}");
    }

    #[test]
    fn with_ns2_all_but_losses_draw_from_one_generator() {
        let streams = Streams {
            seed: 1,
            replication: 1,
            shared: Some(ns2_generator(2)),
        };
        let mut expected = Mrg32k3a::new(2);
        for path in ["a", "b", "a"] {
            assert_eq!(streams.component(path).uniform(), expected.uniform());
        }
        assert_eq!(streams.losses("c").uniform(), Mrg32k3a::new(2).uniform());
    }
}
