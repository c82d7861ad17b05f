//! Proportional rate reduction (RFC 6937): the number of segments that may be sent in a recovery.
//!
//! While the flight exceeds the reduced window, segments leave in proportion to those delivered: the flight shrinks
//! over a round trip. Once it is smaller, the slow start reduction bound applies: one segment leaves for each delivered
//! segment, and one more for each acknowledgement.
//!
//! Linux (6.18, `tcp_cwnd_reduction`) starts from cwnd instead of the flight size. It sends the additional segment only
//! after an acknowledgement that advances and reports no loss, as RFC 9937 does.

/// State of proportional rate reduction in one recovery. All values are in segments.
#[derive(Debug, Default)]
pub(crate) struct Prr {
    /// Unacknowledged segments at the start of the recovery (`RecoverFS`), or the window then (Linux, `prior_cwnd`).
    flight: u64,
    /// Segments delivered in the recovery (`prr_delivered`).
    delivered: u64,
    /// Segments sent in the recovery (`prr_out`).
    sent: u64,
    /// Number of segments that may leave before the next acknowledgement (`sndcnt`).
    allowance: u64,
}

impl Prr {
    /// Starts a recovery with `flight` unacknowledged segments or, by Linux's rule, a window of `flight` segments.
    pub(crate) fn start(&mut self, flight: u64) {
        *self = Self {
            flight: flight.max(1),
            ..Self::default()
        };
    }

    /// Starts the reduction for a mark; the former window is `window` segments. One segment may leave for the
    /// acknowledgement that carried the mark.
    pub(crate) fn start_for_mark(&mut self, window: u64) {
        self.start(window);
        self.allowance = 1;
    }

    /// Allows the first segment of the reduction, such as the fast retransmit, to leave, even if proportional rate
    /// reduction does not allow a segment yet.
    pub(crate) fn allow_first(&mut self) {
        if self.sent == 0 {
            self.allowance = self.allowance.max(1);
        }
    }

    /// Processes an acknowledgement that reports `delivered` segments and leaves `pipe` in flight. `window` is the
    /// target of the reduction (RFC 6937 section 3). If `grows` is false, no more segments leave than were delivered.
    pub(crate) fn on_ack(&mut self, delivered: u64, pipe: u64, window: u64, grows: bool) {
        self.delivered += delivered;
        self.allowance = if pipe > window {
            (self.delivered * window)
                .div_ceil(self.flight)
                .saturating_sub(self.sent)
        } else {
            let limit = self.delivered.saturating_sub(self.sent).max(delivered);
            (limit + u64::from(grows)).min(window - pipe)
        };
    }

    /// Lets as many segments leave in place of `lost` segments, since the window stays while the flight shrinks.
    pub(crate) fn on_lost(&mut self, lost: u64) {
        self.allowance += lost;
    }

    /// Records a segment that leaves.
    pub(crate) fn on_sent(&mut self) {
        self.sent += 1;
        self.allowance = self.allowance.saturating_sub(1);
    }

    /// Returns the number of segments that may still leave before the next acknowledgement.
    #[cfg(test)]
    pub(crate) fn allowance(&self) -> u64 {
        self.allowance
    }

    /// Returns true if a segment may leave.
    pub(crate) fn allows(&self) -> bool {
        self.allowance > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With 20 segments in flight and a target of 14, the number of segments that leave is 14/20 of the number
    /// delivered, rounded up. Once the flight is below the target, as many segments leave as were delivered in the
    /// recovery, and one more if the flight may grow.
    #[test]
    fn segments_leave_in_proportion_and_then_one_for_one() {
        for (grows, at_last) in [(true, 4), (false, 3)] {
            let mut prr = Prr::default();
            prr.start(20);
            let mut sent = Vec::new();
            for n in 1..=5 {
                prr.on_ack(1, 20 - n, 14, grows);
                let before = prr.sent;
                while prr.allows() {
                    prr.on_sent();
                }
                sent.push(prr.sent - before);
            }
            assert_eq!(sent, [1, 1, 1, 0, 1]);
            prr.on_ack(2, 9, 14, grows);
            assert_eq!(prr.allowance, at_last);
        }
    }

    #[test]
    fn a_segment_leaves_for_the_acknowledgement_that_brings_a_mark() {
        let mut prr = Prr::default();
        prr.start_for_mark(20);
        assert!(prr.allows());
        prr.on_sent();
        assert!(!prr.allows());
    }
}
