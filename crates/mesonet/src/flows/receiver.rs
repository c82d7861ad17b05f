//! The receiving end of a flow: answers each packet, one after the other at its host's speed.
//!
//! Spec 004a B.6. A data packet with a number beyond the expected one shows that at least one was
//! lost; it is not asked for again.

use serde::{Deserialize, Serialize};

use super::ack_queue::{Backlog, Waiting};
use crate::network::{FlowId, Kind, Network, Packet};

/// The receiving end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ReceivingEnd {
    flow: FlowId,
    /// Number of the next data packet if none is lost.
    expected: u64,
    /// Answers that wait for the one that is being made.
    waiting: Waiting,
    busy: bool,
    speed: u16,
    /// Its access router.
    access: u16,
    /// That of the source.
    source_access: u16,
    /// Under which number its data packets are counted.
    pub(crate) tally: u16,
}

/// Where the receiving end is and what it can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) access: u16,
    pub(crate) source_access: u16,
    pub(crate) speed: u16,
    pub(crate) tally: u16,
}

impl ReceivingEnd {
    pub(crate) fn new(flow: FlowId, place: Place) -> Self {
        Self {
            flow,
            expected: 1,
            waiting: Waiting::default(),
            busy: false,
            speed: place.speed,
            access: place.access,
            source_access: place.source_access,
            tally: place.tally,
        }
    }

    /// Whether it is of this flow, and not of one that has its place now.
    #[inline]
    pub(crate) fn is_of(&self, flow: FlowId) -> bool {
        self.flow == flow
    }

    /// A SYN or a data packet has passed the access router.
    #[inline]
    pub(crate) fn on_packet(&mut self, packet: &Packet, backlog: &mut Backlog, net: &mut Network) {
        let number = packet.number();
        let kind = if packet.kind() == Kind::Syn {
            Kind::SynAck
        } else {
            debug_assert!(number >= self.expected, "packets overtake each other");
            let in_order = number == self.expected;
            self.expected = number + 1;
            if in_order { Kind::Ack } else { Kind::Nak }
        };
        let answer = Packet::new(
            kind,
            number + 1,
            self.flow,
            self.source_access,
            packet.created,
        );
        if self.busy {
            backlog.put(&mut self.waiting, answer);
        } else {
            self.busy = true;
            net.answer(self.speed, answer);
        }
    }

    /// An answer is made and leaves; the next one is begun.
    #[inline]
    pub(crate) fn on_answer(&mut self, answer: Packet, backlog: &mut Backlog, net: &mut Network) {
        net.send(self.access, answer);
        match backlog.take(&mut self.waiting) {
            Some(next) => net.answer(self.speed, next),
            None => self.busy = false,
        }
    }

    /// The flow is over: what waits is forgotten. What the receiver's host still had to say to a source
    /// that no longer listens does not burden the network. The place waits for the `next` flow.
    pub(crate) fn close(&mut self, next: FlowId, backlog: &mut Backlog) {
        self.flow = next;
        while backlog.take(&mut self.waiting).is_some() {}
    }
}
