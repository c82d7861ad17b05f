//! Dummy segments (dummies): low-priority copies of the last data segment that probe the path (TCP-Peach: Akyildiz,
//! Morabito and Palazzo, ToN 9(3), 2001).
//!
//! Dummies are not data of the connection: sequence numbers and counters do not include them. They have separate
//! routes, out and back.

use longhaul_congestion::Dummies;
use longhaul_units::{Span, Time};

use crate::network::Path;
use crate::packet::{Flags, Packet, SackHandle};
use crate::schedule::Event;
use crate::transport::Environment;

/// A train of dummies still to be sent, evenly spaced.
#[derive(Debug)]
pub(super) struct DummyTrain {
    path: Path,
    left: u64,
    spacing: Span,
    /// Time of the next dummy. An event at another time is ignored: it was scheduled for an earlier, replaced train.
    next_at: Time,
}

impl DummyTrain {
    /// Returns an empty train. Dummies added to it later will take `path`.
    pub(super) fn new(path: Path) -> Self {
        Self {
            path,
            left: 0,
            spacing: Span::ZERO,
            next_at: Time::NEVER,
        }
    }

    /// Begins a train with the requested dummies. The new train replaces the current one.
    pub(super) fn begin(&mut self, dummies: Dummies, connection: u32, env: &mut impl Environment) {
        self.left = dummies.count;
        self.spacing = dummies.spacing;
        self.arm(connection, env);
    }

    /// Ends the train.
    pub(super) fn end(&mut self) {
        self.left = 0;
    }

    fn arm(&mut self, connection: u32, env: &mut impl Environment) {
        self.next_at = env.now() + self.spacing;
        let event = Event::Dummy(connection);
        env.schedule().push_timer(self.next_at, event);
    }

    /// Processes the event of the next dummy segment: sends a copy of `segment`, with low priority.
    pub(super) fn on_event(
        &mut self,
        connection: u32,
        segment: u64,
        bytes: u16,
        env: &mut impl Environment,
    ) {
        let now = env.now();
        if self.left == 0 || now != self.next_at {
            return;
        }
        self.left -= 1;
        env.send(dummy(
            connection,
            self.path,
            segment,
            bytes,
            now,
            Flags::NONE,
        ));
        if self.left > 0 {
            self.arm(connection, env);
        }
    }
}

/// Returns a receiver's answer to a dummy segment. Like the segment, the answer has low priority.
pub(super) fn answer(packet: &Packet, path: Path, next: u64, bytes: u16) -> Packet {
    dummy(packet.flow, path, next, bytes, packet.stamp, Flags::ACK)
}

fn dummy(flow: u32, path: Path, seq: u64, bytes: u16, stamp: Time, flags: Flags) -> Packet {
    Packet {
        time: stamp,
        ns2_s: 0.0,
        seq,
        stamp,
        flow,
        route: path.route,
        sack: SackHandle::NONE,
        bytes,
        flags: flags.with(Flags::LOW),
    }
}
