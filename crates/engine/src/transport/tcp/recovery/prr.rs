//! Proportional rate reduction (RFC 6937): how much to send in a recovery.
//!
//! While more is in flight than the reduced window allows, segments leave in proportion to those
//! delivered, so that the flight shrinks over a round trip instead of stopping at once. Below that,
//! the slow start reduction bound lets it grow by one segment more than was delivered.

/// State of one recovery, in segments.
#[derive(Debug, Default)]
pub(crate) struct Prr {
    /// In flight when the recovery began (`RecoverFS`).
    flight: u64,
    /// Delivered in it (`prr_delivered`).
    delivered: u64,
    /// Sent in it (`prr_out`).
    sent: u64,
    /// What may leave before the next acknowledgement (`sndcnt`).
    allowance: u64,
}

impl Prr {
    /// A recovery begins with `flight` segments not acknowledged.
    pub(crate) fn start(&mut self, flight: u64) {
        *self = Self {
            flight: flight.max(1),
            ..Self::default()
        };
    }

    /// An acknowledgement tells of `delivered` segments and leaves `pipe` in flight; `window` is
    /// what the recovery reduces to (RFC 6937 section 3).
    pub(crate) fn on_ack(&mut self, delivered: u64, pipe: u64, window: u64) {
        self.delivered += delivered;
        self.allowance = if pipe > window {
            (self.delivered * window)
                .div_ceil(self.flight)
                .saturating_sub(self.sent)
        } else {
            let limit = self.delivered.saturating_sub(self.sent).max(delivered) + 1;
            limit.min(window - pipe)
        };
    }

    /// A segment leaves.
    pub(crate) fn on_sent(&mut self) {
        self.sent += 1;
        self.allowance = self.allowance.saturating_sub(1);
    }

    /// Whether a segment may leave.
    pub(crate) fn allows(&self) -> bool {
        self.allowance > 0
    }
}
