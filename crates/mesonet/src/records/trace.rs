//! Records of traced flows: their state at every event, and events of their packets (NIST SP 500-282,
//! chapter 3: `TCPstate`, `TCPmessages`).

use longhaul_kernel::record;
use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::records::FlowClass;

/// Identity of a traced flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracedFlow {
    /// Number of the flow among the traced flows of the run, from one.
    pub number: u64,
    /// Index among the long-lived flows of the configuration; `None` for other flows.
    pub long_lived: Option<u32>,
    /// Number of the source; `None` for hosts of long-lived flows.
    pub source: Option<u32>,
    /// Number of the receiver; `None` for hosts of long-lived flows.
    pub receiver: Option<u32>,
    /// Index of the source's access router.
    pub from: u32,
    /// Index of the receiver's access router.
    pub to: u32,
    /// Class of the flow.
    pub class: FlowClass,
    /// Index of the flow's algorithm in the configuration.
    pub algorithm: u32,
    /// Time of the source's request for the file, or of the start of a long-lived flow.
    pub start: Time,
    /// Size of the file in packets; `None` for an unlimited flow.
    pub size_pkts: Option<u64>,
}

/// Event that changed the state of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowEvent {
    /// Connection of the flow, with its initial window.
    Start,
    /// Acknowledgement that enlarged the window.
    Increase,
    /// Acknowledgement that reduced the window, or showed the first loss of a loss epoch.
    Decrease,
    /// Acknowledgement that did not change the window.
    Ack,
    /// Retransmission timeout, which set the window and the threshold.
    Timeout,
    /// Acknowledgement of the last packet, or stop of the flow.
    End,
}

impl FlowEvent {
    /// Returns the event's name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Increase => "increase",
            Self::Decrease => "decrease",
            Self::Ack => "ack",
            Self::Timeout => "timeout",
            Self::End => "end",
        }
    }
}

/// Phase of a flow's congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowPhase {
    /// In slow start, without a loss so far.
    InitialSlowStart,
    /// After initial slow start, with a window below the threshold again, as after a timeout.
    SlowStart,
    /// In congestion avoidance.
    Avoidance,
}

record! {
    /// A traced flow right after an event.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FlowState {
        /// Time of the event.
        time: Time,
        /// Event after which the state was recorded.
        event: FlowEvent,
        /// Identity of the flow.
        flow: TracedFlow,
        /// Phase of the flow's congestion control.
        phase: FlowPhase,
        /// Packets of the file that are not acknowledged yet; null for an unlimited flow.
        undelivered_pkts: Option<u64> as "undelivered_pkts",
        /// Data packets sent.
        sent_pkts: u64 as "sent_pkts",
        /// Packets that the window and the file allow to send now.
        sendable_pkts: u64 as "sendable_pkts",
        /// Packets in flight.
        in_flight_pkts: u64 as "in_flight_pkts",
        /// Sequence number of the next packet to send.
        next: u64 as "next",
        /// Highest acknowledgement number, or the next sequence number at a later timeout.
        highest: u64 as "highest",
        /// Next sequence number at the last loss that began a loss epoch while the trace was on; 0 before the first.
        last_nak: u64 as "last_nak",
        /// Next sequence number at the last timeout; 0 before the first timeout.
        last_timeout: u64 as "last_timeout",
        /// Congestion window.
        cwnd: f64 as "cwnd_pkts",
        /// Slow start threshold.
        ssthresh: f64 as "ssthresh_pkts",
        /// Time at which the retransmission timer expires.
        deadline: Time as "rto_at_s",
        /// Retransmission timeout.
        rto: Span as "rto_s",
        /// Smoothed round-trip time.
        srtt: Span as "srtt_s",
    }
}

/// A type of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacketKind {
    /// Request of a source for a connection.
    Syn,
    /// Answer of a receiver that accepts the connection.
    SynAck,
    /// Data packet: a packet of the file.
    Data,
    /// Acknowledgement of a data packet that arrived in sequence.
    Ack,
    /// Negative acknowledgement: the answer to a data packet that arrived after a gap in the sequence
    /// numbers.
    Nak,
}

/// A router, given by its tier and its index in the tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RouterId {
    /// A backbone router.
    Backbone(u32),
    /// A point of presence.
    Pop(u32),
    /// An access router.
    Access(u32),
}

/// Direction of packets, which identifies one of the two queues of a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// The queue towards the backbone; the only queue of a backbone router.
    Up,
    /// The queue towards the hosts.
    Down,
}

impl Direction {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

impl PacketKind {
    /// Returns the packet type's name in NIST SP 500-282.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syn => "SYN",
            Self::SynAck => "SYN+ACK",
            Self::Data => "DT",
            Self::Ack => "ACK",
            Self::Nak => "NAK",
        }
    }
}

impl PacketEvent {
    /// Returns the event's name in tables.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Queued { .. } => "queued",
            Self::Dropped { .. } => "dropped",
            Self::Delivered => "delivered",
        }
    }

    /// Returns the router and the direction of the queue that queued or dropped the packet; `None` for other events.
    pub const fn queue(&self) -> Option<(RouterId, Direction)> {
        match *self {
            Self::Queued {
                router, direction, ..
            }
            | Self::Dropped { router, direction } => Some((router, direction)),
            Self::Sent | Self::Delivered => None,
        }
    }
}

impl Direction {
    /// Returns the direction's name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

/// Event of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum PacketEvent {
    /// The host sent the packet.
    Sent,
    /// The packet was queued at a router.
    Queued {
        /// The router.
        router: RouterId,
        /// Direction of the queue.
        direction: Direction,
        /// Time at which the packet will leave the router; `None` if the router's queues share a server, since the time
        /// is not known yet.
        leaves: Option<Time>,
    },
    /// The packet was dropped at a full queue.
    Dropped {
        /// The router.
        router: RouterId,
        /// Direction of the queue.
        direction: Direction,
    },
    /// The packet reached its host.
    Delivered,
}

/// An event of a packet of a traced flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PacketTraceRecord {
    /// Time of the event.
    pub time: Time,
    /// Number of the flow among the traced flows.
    pub flow: u64,
    /// The packet's type.
    pub kind: PacketKind,
    /// Sequence number; for an acknowledgement, the number expected next.
    pub number: u64,
    /// Index of the access router of the packet's destination host.
    pub to: u32,
    /// The event.
    pub event: PacketEvent,
}
