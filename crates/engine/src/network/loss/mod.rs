//! Losses not due to congestion: packets are lost before they reach a link's queue.

mod gilbert_elliott;

use self::gilbert_elliott::Channel;
use crate::config::Loss;
use crate::random::Stream;

/// State of a loss model ([`Loss`]). Most packets only decrement the number of packets before the next decision, and
/// need no random number.
#[derive(Clone, Debug)]
pub(crate) struct LossModel {
    /// Number of packets that pass before the next decision.
    gap: u64,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    None,
    Bernoulli { probability: f64, stream: Stream },
    GilbertElliott(Box<Channel>),
    List { arrivals: Vec<u64>, next: usize },
}

impl LossModel {
    pub(crate) fn new(loss: &Loss, stream: Stream) -> Self {
        let source = match loss {
            Loss::None => Source::None,
            Loss::Bernoulli(probability) if *probability <= 0.0 => Source::None,
            Loss::Bernoulli(probability) => Source::Bernoulli {
                probability: *probability,
                stream,
            },
            Loss::GilbertElliott(parameters) => {
                Source::GilbertElliott(Box::new(Channel::new(*parameters, stream)))
            }
            Loss::List(arrivals) => Source::List {
                arrivals: arrivals.clone(),
                next: 0,
            },
        };
        let mut model = Self { gap: 0, source };
        model.gap = model.next_gap();
        model
    }

    /// Returns true if the arriving packet may be lost; false if it is certainly not lost.
    #[inline]
    pub(crate) fn is_to_decide(&self) -> bool {
        self.gap == 0
    }

    /// Returns true if the arriving packet is lost.
    #[inline]
    pub(crate) fn loses(&mut self) -> bool {
        if self.gap > 0 {
            self.gap -= 1;
            return false;
        }
        self.decide()
    }

    #[cold]
    fn decide(&mut self) -> bool {
        let lost = match &mut self.source {
            Source::GilbertElliott(channel) => channel.decide(),
            Source::None | Source::Bernoulli { .. } | Source::List { .. } => true,
        };
        self.gap = self.next_gap();
        lost
    }

    fn next_gap(&mut self) -> u64 {
        match &mut self.source {
            Source::None => u64::MAX,
            Source::Bernoulli {
                probability,
                stream,
            } => stream.geometric(*probability),
            Source::GilbertElliott(channel) => channel.pass(),
            Source::List { arrivals, next } => {
                let Some(&arrival) = arrivals.get(*next) else {
                    return u64::MAX;
                };
                let passed = if *next == 0 {
                    0
                } else {
                    arrivals[*next - 1] + 1
                };
                *next += 1;
                arrival - passed
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(loss: &Loss, packets: u64) -> Vec<u64> {
        let mut model = LossModel::new(loss, Stream::new(1, 0, "loss"));
        (0..packets).filter(|_| model.loses()).collect()
    }

    #[test]
    fn a_list_loses_exactly_its_packets() {
        assert_eq!(lost(&Loss::List(vec![0, 1, 7, 20]), 30), [0, 1, 7, 20]);
        assert_eq!(lost(&Loss::None, 1000), [0; 0]);
    }

    #[test]
    fn bernoulli_loses_its_share() {
        let n = 1_000_000;
        let share = lost(&Loss::Bernoulli(0.02), n).len() as f64 / n as f64;
        // The standard error is sqrt(0.02 * 0.98 / n) = 1.4e-4.
        assert!((share - 0.02).abs() < 7e-4, "share {share}");
        assert_eq!(lost(&Loss::Bernoulli(1.0), 10).len(), 10);
    }
}
