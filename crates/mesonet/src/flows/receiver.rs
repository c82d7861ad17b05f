//! The receiver of a flow. It acknowledges packets one after the other, at its host's speed (NIST
//! SP 500-282, chapter 3).
//!
//! A data packet with a number above the expected one shows that at least one packet was lost.
//! Nothing is retransmitted.

use serde::{Deserialize, Serialize};

use super::ack_queue::{AckQueue, AckQueues};
use crate::network::{FlowId, Kind, Network, Packet};

/// The receiving end of one flow.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Receiver {
    flow: FlowId,
    /// The flow's id at the sender, the destination of acknowledgements.
    sender: FlowId,
    /// Sequence number of the next packet if none is lost.
    expected: u64,
    /// Acknowledgements that wait for the receiver's host.
    queue: AckQueue,
    busy: bool,
    speed: u16,
    /// Index of the receiver's access router.
    access: u16,
    /// Index of the source's access router.
    source_access: u16,
    /// Index of the counter of data packets to this receiver.
    pub(crate) counter: u16,
}

/// Location and speed of a receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiverSetup {
    pub(crate) sender: FlowId,
    pub(crate) access: u16,
    pub(crate) source_access: u16,
    pub(crate) speed: u16,
    pub(crate) counter: u16,
}

impl Receiver {
    pub(crate) fn new(flow: FlowId, place: ReceiverSetup) -> Self {
        Self {
            flow,
            sender: place.sender,
            expected: 1,
            queue: AckQueue::default(),
            busy: false,
            speed: place.speed,
            access: place.access,
            source_access: place.source_access,
            counter: place.counter,
        }
    }

    /// Returns true if this entry of the table belongs to `flow`; false after the receiver of `flow` is closed.
    #[inline]
    pub(crate) fn is_of(&self, flow: FlowId) -> bool {
        self.flow == flow
    }

    /// Processes a SYN or a data packet that has passed the access router.
    #[inline]
    pub(crate) fn on_packet(&mut self, packet: &Packet, queues: &mut AckQueues, net: &mut Network) {
        let number = packet.number();
        let kind = if packet.kind() == Kind::Syn {
            Kind::SynAck
        } else {
            debug_assert!(number >= self.expected, "packets overtake each other");
            let in_order = number == self.expected;
            self.expected = number + 1;
            if in_order { Kind::Ack } else { Kind::Nak }
        };
        let ack = Packet::new(
            kind,
            number + 1,
            self.flow,
            self.source_access,
            packet.created,
        );
        if self.busy {
            queues.push(&mut self.queue, ack);
        } else {
            self.busy = true;
            net.process(self.speed, ack);
        }
    }

    /// Sends the acknowledgement of a packet that the host has processed, and starts to process the
    /// next packet.
    #[inline]
    pub(crate) fn on_ack_ready(&mut self, ack: Packet, queues: &mut AckQueues, net: &mut Network) {
        net.send(self.access, ack.for_flow(self.sender));
        match queues.pop(&mut self.queue) {
            Some(next) => net.process(self.speed, next),
            None => self.busy = false,
        }
    }

    /// Closes the flow, and frees its slot for the flow `next`. Queued acknowledgements are
    /// discarded, since a closed source would ignore them.
    pub(crate) fn close(&mut self, next: FlowId, queues: &mut AckQueues) {
        self.flow = next;
        while queues.pop(&mut self.queue).is_some() {}
    }
}
