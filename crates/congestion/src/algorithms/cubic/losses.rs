//! A smoothed fraction of lost segments; losses count as congestion only when it exceeds a threshold. This is
//! picoquic's rule (`picoquic_cc_hystart_loss_test` of cc_common.c), which does not respond to a single loss.

use serde::{Deserialize, Serialize};

/// Weight of a segment in the smoothed fraction of lost segments (`PICOQUIC_SMOOTHED_LOSS_FACTOR`).
const GAIN: f64 = 1.0 / 16.0;

/// Maximum distance between two losses, in segments, that is taken into account; larger distances have the same effect
/// (`PICOQUIC_SMOOTHED_LOSS_SCOPE`).
const SCOPE: u64 = 32;

/// The smoothed fraction of lost segments, which is updated at each loss. picoquic measures the distance of losses in
/// packet numbers. Here, it is measured in segments known to be delivered or lost, which gives the same distances
/// unless the path reorders packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SmoothedLosses {
    threshold: f64,
    share: f64,
    /// Number of segments lost so far.
    lost: u64,
    /// Number of segments known to be delivered or lost at the time of the last loss.
    last: u64,
}

impl SmoothedLosses {
    pub(super) fn new(threshold: f64) -> Self {
        Self {
            threshold,
            share: 0.0,
            lost: 0,
            last: 0,
        }
    }

    /// Updates the fraction of lost segments; returns true if there are new losses and it exceeds the threshold.
    /// `delivered` and `lost` are the numbers of segments of the connection so far. Losses detected at the same time
    /// count as adjacent segments.
    pub(super) fn exceed(&mut self, delivered: u64, lost: u64) -> bool {
        let newly = lost.saturating_sub(self.lost);
        self.lost = lost;
        for later in (0..newly).rev() {
            self.note(delivered + lost - later);
        }
        newly > 0 && self.share > self.threshold
    }

    /// Excludes the losses since the last update from the fraction of lost segments; `lost` is the number of losses so
    /// far.
    pub(super) fn ignore(&mut self, lost: u64) {
        self.lost = lost;
    }

    fn note(&mut self, number: u64) {
        let since = number.saturating_sub(self.last).min(SCOPE);
        self.share *= libm::pow(1.0 - GAIN, since as f64);
        self.share += (1.0 - self.share) * GAIN;
        self.last = number;
    }

    pub(super) fn share(&self) -> f64 {
        self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number, from one, of the first loss that causes a response. `segments` are the numbers of the lost
    /// segments, in order.
    fn answered(segments: &[u64]) -> Option<usize> {
        let mut losses = SmoothedLosses::new(0.15);
        let mut told = (1..).zip(segments);
        let first = told.find(|&(lost, segment)| losses.exceed(segment - lost, lost));
        first.map(|(lost, _)| lost as usize)
    }

    /// Checks that three adjacent losses cause a response, and two do not. The smoothed fraction of lost segments is
    /// 1/16 after one loss, 0.1174 after two, and 0.1657 after three.
    #[test]
    fn three_neighbours_are_answered() {
        assert_eq!(answered(&[100]), None);
        assert_eq!(answered(&[100, 101]), None);
        assert_eq!(answered(&[100, 101, 102]), Some(3));
        let mut losses = SmoothedLosses::new(0.15);
        let share = |losses: &mut SmoothedLosses, number: u64| {
            losses.exceed(99, number);
            losses.share()
        };
        // Each segment lowers the fraction f to 15/16 f; each loss then raises it by (1 - f) / 16.
        assert_eq!(share(&mut losses, 1), 0.0625);
        assert!((share(&mut losses, 2) - 0.117_432).abs() < 1e-6);
        assert!((share(&mut losses, 3) - 0.165_711).abs() < 1e-6);
    }

    /// Checks the number of losses that cause a response: three if every second segment is lost, four if every third
    /// is. Losses 16 segments apart cause none.
    #[test]
    fn losses_further_apart_take_more() {
        assert_eq!(answered(&[100, 102, 104]), Some(3));
        assert_eq!(answered(&[100, 103, 106, 109]), Some(4));
        let rare: Vec<_> = (1..100).map(|loss| 16 * loss).collect();
        assert_eq!(answered(&rare), None);
    }

    #[test]
    fn losses_that_become_known_at_once_are_neighbours() {
        let mut losses = SmoothedLosses::new(0.15);
        assert!(!losses.exceed(50, 2));
        assert!(!losses.exceed(51, 2), "nothing was lost since");
        assert!(losses.exceed(51, 3));
        let mut other = SmoothedLosses::new(0.15);
        assert!(other.exceed(50, 3));
        // The last of these losses was that of segment 53. A loss seven segments later adds a sixteenth of the part of
        // the share that is not lost.
        other.exceed(56, 4);
        let kept = 0.165_711 * libm::pow(15.0 / 16.0, 7.0);
        assert!((other.share() - (kept + (1.0 - kept) / 16.0)).abs() < 1e-6);
    }

    /// Checks that ignored losses do not raise the smoothed fraction of losses. A counted loss raises it to 1/16.
    #[test]
    fn ignored_losses_do_not_count() {
        let mut losses = SmoothedLosses::new(0.15);
        losses.ignore(5);
        assert!(!losses.exceed(50, 5));
        assert!(!losses.exceed(50, 6));
        assert_eq!(losses.share(), 0.0625);
    }
}
