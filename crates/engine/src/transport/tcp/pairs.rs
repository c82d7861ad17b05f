//! Packet pairs: segments sent back to back, two at a time, and the spacing of their acknowledgements (Keshav, SIGCOMM
//! 1991).

use std::collections::VecDeque;

use longhaul_units::{Span, Time};

/// Packet pairs of a connection that are in flight.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// The first segments of pairs not yet acknowledged.
    firsts: VecDeque<u64>,
    /// Number and send time of the last segment, if it may be the first of a pair.
    unpaired: Option<(u64, Time)>,
    /// Number and arrival time of the last acknowledgement, if it acknowledged the first segment of a pair.
    acknowledged: Option<(u64, Time)>,
}

impl Pairs {
    /// Records a segment that is sent. A retransmission discards all earlier pairs, since their acknowledgements could
    /// be for either transmission (Karn's rule).
    pub(super) fn on_sent(&mut self, segment: u64, is_new: bool, now: Time) {
        if !is_new {
            *self = Self::default();
            return;
        }
        if self.unpaired == Some((segment - 1, now)) {
            self.firsts.push_back(segment - 1);
            self.unpaired = None;
        } else {
            self.unpaired = Some((segment, now));
        }
    }

    /// Processes the acknowledgement of all segments below `next`. If it is for the second segment of a pair, directly
    /// after the acknowledgement for the first, returns the time between the two acknowledgements.
    pub(super) fn on_ack(&mut self, next: u64, now: Time) -> Option<Span> {
        let newest = next - 1;
        if let Some((first, at)) = self.acknowledged {
            if newest == first {
                return None;
            }
            self.acknowledged = None;
            if newest == first + 1 {
                return Some(now.since(at));
            }
        }
        while let Some(&first) = self.firsts.front()
            && first <= newest
        {
            self.firsts.pop_front();
            if first == newest {
                self.acknowledged = Some((first, now));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn the_spacing_is_that_of_two_acknowledgements() {
        let mut pairs = Pairs::default();
        for (segment, at) in [
            (1, 0),
            (2, 0),
            (3, 0),
            (4, 0),
            (5, 7),
            (6, 8),
            (7, 8),
            (8, 9),
        ] {
            pairs.on_sent(segment, true, ms(at));
        }
        // Segments 1 and 2, segments 3 and 4, and segments 6 and 7 left together.
        let acks = [
            (2, 100),
            (2, 101),
            (3, 103),
            (4, 110),
            (6, 120),
            (7, 121),
            (8, 126),
            (9, 130),
        ];
        let spacings: Vec<_> = acks
            .into_iter()
            .map(|(next, at)| pairs.on_ack(next, ms(at)))
            .collect();
        let spacing = |ms| Some(Span::from_millis(ms));
        // Segment 4 was acknowledged together with another segment.
        let expected = [None, None, spacing(3), None, None, None, spacing(5), None];
        assert_eq!(spacings, expected);
    }

    #[test]
    fn a_retransmission_ends_the_pairs_before() {
        let mut pairs = Pairs::default();
        pairs.on_sent(1, true, ms(0));
        pairs.on_sent(2, true, ms(0));
        assert_eq!(pairs.on_ack(2, ms(100)), None);
        pairs.on_sent(2, false, ms(300));
        assert_eq!(pairs.on_ack(3, ms(400)), None);
        pairs.on_sent(3, true, ms(400));
        pairs.on_sent(4, true, ms(400));
        assert_eq!(pairs.on_ack(4, ms(500)), None);
        assert_eq!(pairs.on_ack(5, ms(502)), Some(Span::from_millis(2)));
    }
}
