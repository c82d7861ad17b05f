//! The receiving end where data flows in both directions of one connection.
//!
//! The two directions are two pairs of sender and receiver. Segments acknowledge what came the other
//! way; since packets have no room for that, whoever knows both directions says so.

use longhaul_units::Time;

use super::Receiver;
use crate::transport::Environment;

impl Receiver {
    /// Before the first segment: this direction begins without a handshake of its own.
    pub(crate) fn join(&mut self) {
        self.next = 1;
        self.leave_plain();
    }

    /// The next segment expected.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// One past the last segment of all, which is answered with a FIN.
    pub(crate) fn expect_end(&mut self, end: u64) {
        self.end = end;
        self.leave_plain();
    }

    /// A segment of the other direction carries the acknowledgement that is held back.
    pub(crate) fn acknowledged_by_data(&mut self, env: &mut impl Environment) {
        self.unacknowledged = 0;
        self.timer.stop(self.own_timer(), env.schedule());
        if let Some(prompt) = &mut self.prompt {
            prompt.on_answer(env.now());
        }
    }

    /// Bytes on the wire of an acknowledgement without options.
    pub(crate) fn ack_bytes(&self) -> u16 {
        self.ack_bytes
    }

    /// Acknowledges what is held back, if anything: a FIN is answered at once.
    pub(crate) fn acknowledge_held_back(&mut self, env: &mut impl Environment) {
        if self.unacknowledged > 0 {
            self.timer.stop(self.own_timer(), env.schedule());
            self.acknowledge_cold(false, env);
        }
    }

    /// The time stamp that such a segment echoes.
    pub(crate) fn stamp(&self) -> Time {
        self.stamp
    }
}
