//! Losses in bursts: a channel that is either in a good or in a bad state (Gilbert, "Capacity of a burst-noise
//! channel", 1960; Elliott, "Estimates of error rates for codes on burst-noise channels", 1963).
//!
//! Each packet is lost with the loss probability of the current state. Then the state changes with the transition
//! probability of the current state. The number of packets until the next change of state has a geometric distribution,
//! and so has, within one state, the number until the next loss. Random numbers are therefore drawn only at changes of
//! state and losses.

use crate::config::GilbertElliott;
use crate::random::Stream;

/// A Gilbert-Elliott channel on one link.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    parameters: GilbertElliott,
    stream: Stream,
    bad: bool,
    /// Number of packets until the state changes.
    stay: u64,
    /// Number of packets that pass before the next loss, if the state lasts long enough.
    until_loss: u64,
}

impl Channel {
    /// Creates a channel. Its first state is drawn from the stationary distribution.
    pub(super) fn new(parameters: GilbertElliott, mut stream: Stream) -> Self {
        let bad = stream.uniform() < parameters.bad_share();
        let mut channel = Self {
            parameters,
            stream,
            bad,
            stay: 0,
            until_loss: 0,
        };
        channel.enter(bad);
        channel
    }

    fn enter(&mut self, bad: bool) {
        let parameters = &self.parameters;
        let leaves = if bad {
            parameters.to_good
        } else {
            parameters.to_bad
        };
        self.bad = bad;
        self.stay = gap(&mut self.stream, leaves).saturating_add(1);
        self.draw_loss();
    }

    fn draw_loss(&mut self) {
        let loss = if self.bad {
            self.parameters.bad_loss
        } else {
            self.parameters.good_loss
        };
        self.until_loss = gap(&mut self.stream, loss);
    }

    /// Advances past the packets that need no decision, up to the next call of [`Self::decide`]. Returns their number.
    pub(super) fn pass(&mut self) -> u64 {
        let passing = self.until_loss.min(self.stay);
        self.until_loss -= passing;
        self.stay -= passing;
        passing
    }

    /// Returns true if the next packet is lost. To be called when a change of state or a loss is due.
    pub(super) fn decide(&mut self) -> bool {
        if self.stay == 0 {
            self.enter(!self.bad);
        }
        let lost = self.until_loss == 0;
        if lost {
            self.draw_loss();
        } else {
            self.until_loss -= 1;
        }
        self.stay -= 1;
        lost
    }
}

/// Draws the number of packets before the next event (a loss or a change of state), which occurs at each packet with
/// probability `p`.
fn gap(stream: &mut Stream, p: f64) -> u64 {
    if p > 0.0 {
        stream.geometric(p)
    } else {
        u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Loss, LossModel};
    use super::*;

    fn losses(parameters: GilbertElliott, packets: usize) -> Vec<bool> {
        let loss = Loss::GilbertElliott(parameters);
        let mut model = LossModel::new(&loss, Stream::new(3, 0, "loss"));
        (0..packets).map(|_| model.loses()).collect()
    }

    /// Returns the lengths of the runs of consecutive values in `losses` that equal `of`.
    fn runs(losses: &[bool], of: bool) -> Vec<usize> {
        let runs = losses.chunk_by(|a, b| a == b);
        let lengths = runs.filter(|run| run[0] == of).map(<[bool]>::len);
        lengths.collect()
    }

    fn share(count: usize, of: usize) -> f64 {
        count as f64 / of as f64
    }

    /// Lengths of bursts and of gaps are geometric: the mean is 1/q, and a fraction (1-q)^n of the lengths exceeds n.
    /// Here q is the probability that the state ends.
    #[test]
    fn bursts_and_gaps_of_the_simple_channel_are_geometric() {
        let channel = GilbertElliott::of_bursts(0.02, 4.0);
        let losses = losses(channel, 4_000_000);
        let lost = losses.iter().filter(|&&lost| lost).count();
        // With 20,000 bursts, all standard errors are about 1 %.
        assert!((share(lost, losses.len()) / 0.02 - 1.0).abs() < 0.04);
        for (of, leaves) in [(true, channel.to_good), (false, channel.to_bad)] {
            let runs = runs(&losses, of);
            let mean = share(runs.iter().sum(), runs.len());
            assert!((mean * leaves - 1.0).abs() < 0.04, "mean run {mean}");
            for length in [1, 3, (1.0 / leaves) as usize] {
                let longer = runs.iter().filter(|&&run| run > length).count();
                let expected = libm::pow(1.0 - leaves, length as f64);
                let found = share(longer, runs.len());
                assert!((found - expected).abs() < 0.02, "{length}: {found}");
            }
        }
    }

    /// With losses in both states, two values agree with the Markov chain: the loss rate, and the probability that the
    /// packet after a lost one is lost, too.
    #[test]
    fn losses_in_both_states_follow_the_chain() {
        let channel = GilbertElliott {
            to_bad: 0.05,
            to_good: 0.3,
            good_loss: 0.01,
            bad_loss: 0.6,
        };
        let losses = losses(channel, 2_000_000);
        let lost = losses.iter().filter(|&&lost| lost).count();
        let rate = (0.05 * 0.6 + 0.3 * 0.01) / 0.35;
        assert!((channel.loss_rate() - rate).abs() < 1e-12);
        assert!((share(lost, losses.len()) / rate - 1.0).abs() < 0.01);
        let both = losses.windows(2).filter(|pair| pair[0] && pair[1]).count();
        let (bad, good) = (0.05 / 0.35, 0.3 / 0.35);
        let after_bad = 0.7 * 0.6 + 0.3 * 0.01;
        let after_good = 0.95 * 0.01 + 0.05 * 0.6;
        let expected = (bad * 0.6 * after_bad + good * 0.01 * after_good) / rate;
        assert!((share(both, lost) - expected).abs() < 0.01);
    }

    #[test]
    fn states_that_never_end_and_channels_that_lose_nothing_or_all() {
        let channel = |to_bad, to_good, good_loss, bad_loss| GilbertElliott {
            to_bad,
            to_good,
            good_loss,
            bad_loss,
        };
        let lost = |channel| losses(channel, 1000).iter().filter(|&&lost| lost).count();
        assert_eq!(lost(channel(0.0, 0.0, 0.0, 1.0)), 0);
        assert_eq!(lost(channel(0.0, 0.0, 1.0, 0.0)), 1000);
        assert_eq!(lost(channel(0.5, 0.5, 0.0, 0.0)), 0);
        assert_eq!(lost(channel(1.0, 1.0, 0.0, 1.0)), 500);
        // The channel begins in its steady state, which is the bad state; this never ends.
        assert_eq!(lost(channel(0.1, 0.0, 0.0, 1.0)), 1000);
    }
}
