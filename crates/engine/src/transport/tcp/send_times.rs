//! Send times of segments. With them, every acknowledgement gives a round-trip sample from the sender's clock alone.
//!
//! By Karn's rule (RFC 6298 section 3), a retransmitted segment gives no sample, because the acknowledgement may be for
//! any copy. Other segments that the same cumulative acknowledgement covers give no sample either: they may have waited
//! at the receiver for the retransmitted segment. Segments in SACK blocks of the acknowledgement do give samples
//! (Linux, `tcp_clean_rtx_queue`).

use longhaul_units::Time;

use super::segment_ring::SegmentRing;

#[derive(Clone, Copy, Debug)]
enum Sent {
    Once(Time),
    Repeatedly,
    /// The segment has arrived: a SACK block has reported it.
    Sacked,
}

/// First and last send time of all segments that an acknowledgement newly covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) first: Time,
    pub(super) last: Time,
}

impl Ends {
    /// Returns the first and last send time of a set of segments after the addition of a segment sent at `at`. `ends`
    /// contains the times before; `None` stands for the empty set.
    #[inline]
    fn with(ends: Option<Self>, at: Time) -> Option<Self> {
        Some(match ends {
            None => Self {
                first: at,
                last: at,
            },
            Some(ends) => Self {
                first: ends.first.min(at),
                last: ends.last.max(at),
            },
        })
    }
}

/// Send times of a connection's segments in flight.
#[derive(Debug, Default)]
pub(super) struct SendTimes {
    sent: SegmentRing<Sent>,
    /// First and last send time of the segments newly acknowledged; `None` if they give no round-trip samples.
    ends: Option<Ends>,
}

impl SendTimes {
    /// Records that a segment is sent; `is_new` is true for its first transmission.
    pub(super) fn on_sent(&mut self, segment: u64, is_new: bool, now: Time) {
        let sent = if is_new {
            Sent::Once(now)
        } else {
            Sent::Repeatedly
        };
        self.sent.set(segment, sent);
    }

    /// Records the selective acknowledgement of the segments from `left` to `right`.
    pub(super) fn on_sacked(&mut self, left: u64, right: u64) {
        for segment in self.sent.within(left, right) {
            if let Sent::Once(at) = *self.sent.at(segment) {
                self.ends = Ends::with(self.ends, at);
            }
            self.sent.set(segment, Sent::Sacked);
        }
    }

    /// Records the cumulative acknowledgement of the segments from `una` to `next`. To be called before the SACK blocks
    /// of the same packet are recorded.
    pub(super) fn on_cumulative(&mut self, una: u64, next: u64) {
        let mut ends = None;
        let mut ambiguous = false;
        for segment in self.sent.within(una, next) {
            match *self.sent.at(segment) {
                Sent::Once(at) => ends = Ends::with(ends, at),
                Sent::Repeatedly => ambiguous = true,
                Sent::Sacked => {}
            }
        }
        self.ends = ends.filter(|_| !ambiguous);
        self.sent.forget_below(next);
    }

    /// Returns the first and the last send time of newly acknowledged segments, if they give round-trip samples.
    #[inline]
    pub(super) fn ends(&self) -> Option<Ends> {
        self.ends
    }

    /// Ends the processing of the current acknowledgement.
    #[inline]
    pub(super) fn end_acknowledgement(&mut self) {
        self.ends = None;
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Span;

    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Karn's rule (RFC 6298 section 3): a cumulative acknowledgement of a segment sent twice gives no sample. A SACK
    /// block for another segment gives one.
    #[test]
    fn only_segments_sent_once_give_samples() {
        let mut times = SendTimes::default();
        (1..=6).for_each(|segment| times.on_sent(segment, true, ms(segment)));
        times.on_cumulative(1, 3);
        let ends = |first, last| {
            Some(Ends {
                first: ms(first),
                last: ms(last),
            })
        };
        assert_eq!(times.ends(), ends(1, 2));
        times.on_sent(3, false, ms(10));
        times.on_cumulative(3, 5);
        assert_eq!(times.ends(), None, "segment 4 may have waited");
        times.end_acknowledgement();
        times.on_sacked(6, 7);
        assert_eq!(times.ends(), ends(6, 6));
        times.end_acknowledgement();
        times.on_cumulative(5, 7);
        assert_eq!(times.ends(), ends(5, 5), "6 had its sample");
        assert_eq!(times.sent.within(0, 100).count(), 0, "all are forgotten");
    }
}
