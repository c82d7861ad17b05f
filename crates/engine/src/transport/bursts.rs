//! Messages in bursts: a number of messages at even intervals, then a pause (ns-2's `Pareto` and `Exponential`
//! traffic).

use longhaul_units::Span;

use crate::config::Bursts as OnOff;
use crate::random::Stream;

/// Times of the messages of a bursty source.
#[derive(Debug)]
pub(crate) struct Bursts {
    config: OnOff,
    /// Time between two messages of a burst.
    interval: Span,
    /// Number of messages left in the current burst.
    left: u64,
    stream: Stream,
}

impl Bursts {
    pub(crate) fn new(config: OnOff, interval: Span, stream: Stream) -> Self {
        Self {
            config,
            interval,
            left: 0,
            stream,
        }
    }

    /// Draws the time until the next message: from the previous message or, for the first message, from now. A pause
    /// comes before each burst. A burst is rounded to a whole number of messages, at least one.
    pub(crate) fn next_gap(&mut self) -> Span {
        let mut gap = self.interval;
        if self.left == 0 {
            let messages = self.stream.draw(&self.config.on) / self.interval.as_secs_f64();
            self.left = (libm::floor(messages + 0.5) as u64).max(1);
            gap += self.stream.draw_span(&self.config.off);
        }
        self.left -= 1;
        gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Distribution;

    const INTERVAL: Span = Span::from_micros(26_250);

    fn source(on: Distribution, off: Distribution) -> Bursts {
        let config = OnOff { on, off };
        Bursts::new(config, INTERVAL, Stream::new(3, 0, "test"))
    }

    /// Returns the mean rate, in messages per second, of the next `messages` messages of `source`.
    fn rate(mut source: Bursts, messages: u32) -> f64 {
        let gaps = (0..messages).map(|_| source.next_gap());
        f64::from(messages) / gaps.fold(Span::ZERO, |sum, gap| sum + gap).as_secs_f64()
    }

    #[test]
    fn bursts_are_even_and_follow_pauses() {
        let constant = |s| Distribution::Constant(s);
        // 0.09 s are 3.43 intervals, so that a burst has three messages.
        let mut source = source(constant(0.09), constant(0.5));
        let gaps: Vec<Span> = (0..7).map(|_| source.next_gap()).collect();
        let after = INTERVAL + Span::from_millis(500);
        assert_eq!(
            gaps,
            [after, INTERVAL, INTERVAL, after, INTERVAL, INTERVAL, after]
        );
    }

    /// Mean rates agree with theory for ns-2's defaults. A burst has 19.048 messages on average, one every 26.25 ms,
    /// and takes 500 ms, as long as the mean pause. Lengths are heavy-tailed: their mean settles only after millions of
    /// messages.
    #[test]
    fn rates_are_within_a_percent_of_theory() {
        let theory = 0.5 / 0.02625;
        let pareto = Distribution::Pareto {
            mean: 0.5,
            shape: 1.5,
        };
        let drawn = rate(source(pareto.clone(), pareto), 40_000_000);
        assert!(
            (drawn / theory - 1.0).abs() < 0.01,
            "Pareto: {drawn} for {theory}"
        );
        let exponential = Distribution::Exponential { mean: 0.5 };
        let drawn = rate(source(exponential.clone(), exponential), 10_000_000);
        // After rounding to at least one, a burst has 1/(2 sinh(1/2b)) + 1 - e^(-1/2b) messages on average.
        let half = 0.5 / (0.5 / 0.02625);
        let mean = 0.5 / libm::sinh(half) + 1.0 - libm::exp(-half);
        let theory = mean / (mean * 0.02625 + 0.5);
        assert!(
            (drawn / theory - 1.0).abs() < 0.01,
            "exponential: {drawn} for {theory}"
        );
        assert!((mean / (0.5 / 0.02625) - 1.0).abs() < 0.01);
    }
}
