//! What is reported of flows that are traced: their state at every event, and the passage of their
//! packets (spec 004a B.15).

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::records::FlowClass;

/// A traced flow: which one it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracedFlow {
    /// Its number among the traced flows of the run, from one.
    pub number: u64,
    /// Position among the long-lived flows of the configuration, if it is one of them.
    pub long_lived: Option<u32>,
    /// Number of the source; hosts of long-lived flows have none.
    pub source: Option<u32>,
    /// Number of the receiver, likewise.
    pub receiver: Option<u32>,
    /// Access router of the source.
    pub from: u32,
    /// Access router of the receiver.
    pub to: u32,
    /// Its class.
    pub class: FlowClass,
    /// Position of its algorithm in the configuration.
    pub algorithm: u32,
    /// When the source asked for the file.
    pub start: Time,
    /// Packets of the file; none of a flow without end.
    pub size_pkts: Option<u64>,
}

/// What changed the state of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowEvent {
    /// It was connected, and its window set.
    Start,
    /// An answer enlarged the window.
    Increase,
    /// An answer made the window smaller.
    Decrease,
    /// An answer left the window as it was.
    Answer,
    /// No answer came for a whole timeout.
    Timeout,
    /// The last packet was acknowledged, or it was stopped.
    End,
}

/// How a flow's window moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowPhase {
    /// In slow start, without a loss so far.
    InitialSlowStart,
    /// In slow start again.
    SlowStart,
    /// In congestion avoidance.
    Avoidance,
}

/// A traced flow right after an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowState {
    /// When.
    pub time: Time,
    /// What happened.
    pub event: FlowEvent,
    /// The flow.
    pub flow: TracedFlow,
    /// Packets of the file without an answer; none of a flow without end.
    pub undelivered_pkts: Option<u64>,
    /// Data packets sent.
    pub sent_pkts: u64,
    /// How its window moves.
    pub phase: FlowPhase,
    /// Congestion window in packets.
    pub cwnd: f64,
    /// Slow start threshold in packets.
    pub ssthresh: f64,
    /// Packets that window and file allow to send now.
    pub sendable_pkts: u64,
    /// Packets sent and not answered.
    pub in_flight_pkts: u64,
    /// Number of the next data packet.
    pub next: u64,
    /// Highest number that the receiver said it expects.
    pub highest: u64,
    /// The next number when the last loss was noticed.
    pub last_nak: u64,
    /// The next number at the last timeout.
    pub last_timeout: u64,
    /// When the retransmission timer expires.
    pub deadline: Time,
    /// What the timer is set to.
    pub rto: Span,
    /// Smoothed round-trip time.
    pub srtt: Span,
}

/// A type of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacketKind {
    /// A source asks for a connection.
    Syn,
    /// A receiver grants it.
    SynAck,
    /// A part of the file.
    Data,
    /// The answer to a data packet that came in order.
    Ack,
    /// The answer to a data packet that came after a gap.
    Nak,
}

/// A router by its tier and position there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Site {
    /// Of the backbone.
    Backbone(u32),
    /// A point of presence.
    Pop(u32),
    /// An access router.
    Access(u32),
}

/// A queue of a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// Towards the backbone, and the only one of a backbone router.
    Up,
    /// Towards the hosts.
    Down,
}

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum PacketEvent {
    /// Its host sent it.
    Sent,
    /// It was queued at a router.
    Queued {
        /// The router.
        site: Site,
        /// The queue.
        direction: Direction,
        /// When it will leave the router, if its queues do not share a server.
        leaves: Option<Time>,
    },
    /// It found a queue full.
    Dropped {
        /// The router.
        site: Site,
        /// The queue.
        direction: Direction,
    },
    /// It reached its host.
    Delivered,
}

/// A moment in the life of a packet of a traced flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// When.
    pub time: Time,
    /// The flow's number.
    pub flow: u64,
    /// The packet's type.
    pub kind: PacketKind,
    /// Its own number, or the one that an answer expects next.
    pub number: u64,
    /// What happened.
    pub event: PacketEvent,
}
