//! The receiving end of a connection with data in both directions.
//!
//! Each direction has a sender and a receiver. A segment also acknowledges data of the other direction, but a packet
//! has no field for this acknowledgement: the owner of both directions passes it to the sender of that data.

use longhaul_units::Time;

use super::Receiver;
use crate::transport::Environment;

impl Receiver {
    /// Makes segment 1 the first one expected: data in this direction needs no handshake of its own. The SYN of the other
    /// direction was answered at the time `answered`, which is the timestamp of that answer.
    pub(crate) fn join(&mut self, answered: Time) {
        self.next = 1;
        self.stamp = answered;
        self.leave_plain();
    }

    /// Returns the next segment expected.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Sets the end of the stream, one past its last segment. The acknowledgement of the last segment carries a FIN.
    pub(crate) fn expect_end(&mut self, end: u64) {
        self.end = end;
        self.leave_plain();
    }

    /// Records that a segment of the other direction carries the delayed acknowledgement.
    pub(crate) fn acknowledged_by_data(&mut self, env: &mut impl Environment) {
        self.unacknowledged = 0;
        self.timer.stop(self.own_timer(), env.schedule());
        if let Some(prompt) = &mut self.prompt {
            prompt.on_answer(env.now());
        }
    }

    /// Returns the bytes on the wire of an acknowledgement without options other than timestamps.
    pub(crate) fn ack_bytes(&self) -> u16 {
        self.ack_bytes
    }

    /// Sends the delayed acknowledgement, if there is one, because a FIN has to be answered at once.
    pub(crate) fn acknowledge_held_back(&mut self, env: &mut impl Environment) {
        if self.unacknowledged > 0 {
            self.timer.stop(self.own_timer(), env.schedule());
            self.acknowledge_cold(false, env);
        }
    }

    /// Returns the timestamp that segments of the other direction echo.
    pub(crate) fn stamp(&self) -> Time {
        self.stamp
    }
}
