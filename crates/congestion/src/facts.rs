//! Facts that a transport reports to a congestion controller.

use longhaul_units::{Span, Time};

use crate::rate_sample::RateSample;

/// Reason why a sender does not send more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The congestion window was full, or pacing or loss recovery held back the next segment.
    Network,
    /// The peer's receive window or a socket buffer was full.
    ReceiveWindow,
    /// The application had nothing to send.
    Application,
}

/// Phase of a connection at an acknowledgement; it determines if the window may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Slow start: the window is below `ssthresh`. The flow's slow start enlarges the window after the algorithm has
    /// been called, unless the algorithm replaces it ([`Phases`](crate::Phases)).
    SlowStart,
    /// Congestion avoidance: the algorithm changes the window.
    Avoidance,
    /// Outside recovery, but the window must not grow. The acknowledgement is a duplicate, echoes a mark (RFC 3168
    /// section 6.1.2), arrives during the reduction for a mark, reports the loss that begins a recovery, or arrives
    /// while the window is not fully used (RFC 7661).
    NoGrowth,
    /// Fast recovery.
    Recovery,
}

impl Phase {
    /// Returns true if the window may grow.
    #[inline]
    pub fn may_grow(self) -> bool {
        matches!(self, Self::SlowStart | Self::Avoidance)
    }
}

/// An acknowledgement, with the connection's counters and measurements.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// Time at which the acknowledgement arrived.
    pub now: Time,
    /// Number of segments that the cumulative acknowledgement newly covers.
    pub acked: u64,
    /// Number of the connection's segments known to be delivered so far, including selectively acknowledged ones.
    pub delivered: u64,
    /// Number of the connection's segments considered lost so far.
    pub lost: u64,
    /// Number of segments that count towards growth, by the transport's rule of ACK counting (RFC 3465).
    pub credit: f64,
    /// A round-trip sample, if this acknowledgement gave one.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// Smallest round-trip time so far; zero before the first sample. In TCP, the handshake's is replaced by the first
    /// sample of data, even if that is larger.
    pub min_rtt: Span,
    /// One-way transit time of the forward path, if the transport measures it.
    pub one_way_delay: Option<Span>,
    /// Time between the acknowledgements of two segments that left back to back, if the transport measures it for
    /// [`Needs::pairs`].
    ///
    /// [`Needs::pairs`]: crate::Needs::pairs
    pub pair_spacing: Option<Span>,
    /// Feedback of routers to [`Extension::router_request`], if there is any.
    ///
    /// [`Extension::router_request`]: crate::Extension::router_request
    pub router: Option<RouterFeedback>,
    /// True if the acknowledgement echoes a congestion mark.
    pub ecn_echo: bool,
    /// Number of the connection's segments known to be marked, if acknowledgements count marks (RFC 9768).
    pub marked: Option<u64>,
    /// Number of segments in flight after this acknowledgement.
    pub in_flight: u64,
    /// Delivery rate of the last flight, if the transport measures it.
    pub delivery_rate: Option<RateSample>,
    /// Reason why the sender has not sent more so far. With a `delivery_rate`, the reason when it sent the acknowledged
    /// data.
    pub limit: Limit,
    /// Number of the current round trip, which the transport counts from zero.
    pub round: u64,
    /// True for the first sample of a round trip.
    pub round_start: bool,
    /// Bytes of a full segment on the wire, headers included. Algorithms use them to convert segments per second to a
    /// pacing rate.
    pub segment_bytes: u64,
}

/// Request of a data packet to routers that take part in congestion control. Algorithms use segments only; if a header
/// contains bytes, the transport converts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RouterRequest {
    /// Request in XCP's header (draft-falk-xcp-spec-03 section 3; SIGCOMM 2002 section 3.2). From it, a router computes
    /// the flow's throughput as `cwnd / rtt`, and the spacing of its packets as `rtt / cwnd`. The router replaces
    /// `change` by its grant if that is smaller.
    Xcp {
        /// Congestion window in segments.
        cwnd: f64,
        /// Smoothed round-trip time; zero before the first sample. If it is zero, routers set `change` to zero.
        rtt: Span,
        /// Change of the throughput that this packet requests, in segments per second.
        change: f64,
    },
    /// Request in VCP's code point. The packet starts with [`Load::Low`]; each router replaces the packet's load by its
    /// own load if the latter is higher (SIGCOMM 2005 section 3).
    Vcp,
}

/// Feedback of the routers to a [`RouterRequest`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RouterFeedback {
    /// Feedback of XCP's routers.
    Xcp {
        /// Granted change of the throughput in segments per second, summed over the packets that the acknowledgement
        /// covers; negative for a decrease.
        change: f64,
    },
    /// Highest load of VCP's routers on the path.
    Vcp(Load),
}

/// Load of a router, as VCP encodes it (SIGCOMM 2005 section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Load {
    /// Load below 80 %.
    Low,
    /// Load from 80 to 100 %.
    High,
    /// Load of 100 % or more.
    Over,
}

/// Low-priority segments that probe the path. They are copies of the last data segment, and routers drop them before
/// any other packet. They count neither as data in flight nor as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dummies {
    /// Number of segments to send.
    pub count: u64,
    /// Time from now to the first segment, and between successive segments.
    pub spacing: Span,
}

/// Cause of a congestion signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A loss, shown by duplicate acknowledgements or SACK blocks.
    Loss,
    /// A negative acknowledgement (MesoNet).
    Nak,
    /// A congestion mark, echoed by an acknowledgement (RFC 3168).
    Ecn,
}

/// A congestion signal. The transport reports one per recovery epoch.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// Time at which the congestion was detected.
    pub now: Time,
    /// Kind of signal that reported the congestion.
    pub cause: Cause,
    /// The window in use, in segments; the reduction applies to it. It is below cwnd if less is in flight and
    /// `tcp.reductions` is `rfc5681`. In ns-2, it may be above cwnd.
    pub base: f64,
    /// Number of segments in flight when the congestion was detected. In TCP, all segments that are not cumulatively
    /// acknowledged count, those lost or selectively acknowledged included.
    pub in_flight: u64,
    /// True if the window was in slow start.
    pub in_slow_start: bool,
    /// True if this is the connection's first reduction of any kind.
    pub first: bool,
}

/// An idle time: nothing is in flight.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// Time at which the idle time ends.
    pub now: Time,
    /// Length of the idle time.
    pub time: Span,
    /// Time since the last segment was sent. It is longer than the idle time, which begins only when that segment has
    /// been acknowledged.
    pub since_sent: Span,
}

#[cfg(test)]
impl Idle {
    /// Returns an idle time that began at time zero and lasted for `time`. The last segment was sent at time zero, too.
    pub(crate) fn of(time: Span) -> Self {
        Self {
            now: Time::ZERO + time,
            time,
            since_sent: time,
        }
    }
}

/// A retransmission timeout.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// Time at which the timer expired.
    pub now: Time,
    /// The window in use when the timer expired, in segments.
    pub base: f64,
    /// True if `ssthresh` must not change, for example because the timer has expired before for the same data, or
    /// because a mark has just reduced `ssthresh`.
    pub keep_ssthresh: bool,
    /// Number of the connection's segments sent so far. When all these segments have arrived, [`AckSample::delivered`]
    /// has this value.
    pub sent: u64,
}

impl AckSample {
    /// A sample for tests: one acknowledged segment, without any measurement.
    pub const ONE_SEGMENT: Self = Self {
        now: Time::ZERO,
        acked: 1,
        delivered: 1,
        lost: 0,
        credit: 1.0,
        rtt: None,
        srtt: Span::ZERO,
        min_rtt: Span::ZERO,
        one_way_delay: None,
        pair_spacing: None,
        router: None,
        ecn_echo: false,
        marked: None,
        in_flight: 1,
        delivery_rate: None,
        limit: Limit::Network,
        round: 0,
        round_start: false,
        segment_bytes: 1500,
    };
}
