//! Facts that a transport reports to a congestion controller.

use longhaul_units::{Span, Time};

use crate::rate_sample::RateSample;

/// Limit that kept the sender from sending more when the acknowledged data left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The congestion window.
    Network,
    /// The peer's receive window or a socket buffer.
    ReceiveWindow,
    /// The application had nothing to send.
    Application,
}

/// Phase of a connection in which an acknowledgement arrives; it determines how the window may
/// change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Slow start: the window is below `ssthresh`. The flow's slow start enlarges it after the
    /// algorithm has been called, unless the algorithm replaces it ([`Phases`](crate::Phases)).
    SlowStart,
    /// Congestion avoidance: the algorithm moves the window.
    Avoidance,
    /// No growth: an acknowledgement outside recovery that may not enlarge the window, because it
    /// is a duplicate, echoes a mark (RFC 3168 section 6.1.2), reports the loss that begins a
    /// recovery, or arrives while the window is not used (RFC 7661).
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
    /// Segments newly acknowledged by the cumulative acknowledgement.
    pub acked: u64,
    /// Segments of the connection known to be delivered so far, including selectively acknowledged
    /// ones.
    pub delivered: u64,
    /// Segments of the connection considered lost so far.
    pub lost: u64,
    /// Segments that count towards growth after the transport's ack-counting rule (RFC 3465).
    pub credit: f64,
    /// A round-trip sample, if this acknowledgement gave one.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time (zero before the first sample).
    pub srtt: Span,
    /// Smallest round-trip time seen (zero before the first sample).
    pub min_rtt: Span,
    /// Forward one-way transit time, where the transport measures it.
    pub one_way_delay: Option<Span>,
    /// Time between the acknowledgements of two segments that left back to back, where the
    /// transport measures it, as requested by [`Needs::pairs`].
    ///
    /// [`Needs::pairs`]: crate::Needs::pairs
    pub pair_spacing: Option<Span>,
    /// Feedback of the routers to [`Extension::router_request`], if there is any.
    ///
    /// [`Extension::router_request`]: crate::Extension::router_request
    pub router: Option<RouterFeedback>,
    /// True if the acknowledgement echoed a congestion mark.
    pub ecn_echo: bool,
    /// Segments of the connection known to have been marked so far, where acknowledgements count them (RFC 9768).
    pub marked: Option<u64>,
    /// Segments in flight after this acknowledgement.
    pub in_flight: u64,
    /// Rate at which segments of the last flight were delivered, where the transport measures it.
    pub delivery_rate: Option<RateSample>,
    /// Limit that kept the sender from sending more.
    pub limit: Limit,
    /// Number of the current round trip, counted by the transport from zero.
    pub round: u64,
    /// True for the first sample of a round trip.
    pub round_start: bool,
    /// Bytes of a full segment on the wire, headers included, to convert segments per second to a
    /// pacing rate.
    pub segment_bytes: u64,
}

/// Request to routers that take part in congestion control, carried by a data packet. Algorithms
/// use segments only; the transport converts to bytes where a header contains bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RouterRequest {
    /// XCP's header (draft-falk-xcp-spec-03 section 3; SIGCOMM 2002 section 3.2). A router computes
    /// the flow's throughput as `cwnd / rtt` and the spacing of its packets as `rtt / cwnd`, and
    /// replaces `change` by its grant if that is smaller.
    Xcp {
        /// Congestion window in segments.
        cwnd: f64,
        /// Smoothed round-trip time; routers do not change packets without one.
        rtt: Span,
        /// Change of the throughput that this packet requests, in segments per second.
        change: f64,
    },
    /// VCP's code point: the packet starts with [`Load::Low`], and each router replaces the load by
    /// its own load if that is higher (SIGCOMM 2005 section 3).
    Vcp,
}

/// Feedback of the routers to a [`RouterRequest`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RouterFeedback {
    /// XCP.
    Xcp {
        /// Change of the throughput granted, summed over the packets that the acknowledgement
        /// covers: segments per second, negative for a decrease.
        change: f64,
    },
    /// VCP: the highest load on the path.
    Vcp(Load),
}

/// A router's load as VCP encodes it (SIGCOMM 2005 section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Load {
    /// Below 80 %.
    Low,
    /// From 80 to 100 %.
    High,
    /// 100 % or more.
    Over,
}

/// Low-priority segments that probe the path: copies of the last data segment, which routers drop
/// before any other. They count neither as data in flight nor as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dummies {
    /// Number of segments to send.
    pub count: u64,
    /// Time from one to the next, and before the first.
    pub spacing: Span,
}

/// Cause of a congestion signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Duplicate acknowledgements or SACK blocks.
    Loss,
    /// An explicit negative acknowledgement.
    Nak,
    /// An echoed congestion mark (RFC 3168).
    Ecn,
}

/// A congestion signal; the transport reports one per recovery epoch.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// Time at which the congestion was detected.
    pub now: Time,
    /// Signal that reported it.
    pub cause: Cause,
    /// The window in use, which the reduction applies to: segments.
    pub base: f64,
    /// Segments in flight at detection.
    pub in_flight: u64,
    /// True if the window was still in slow start.
    pub in_slow_start: bool,
    /// True if this is the connection's first reduction of any kind.
    pub first: bool,
}

/// An idle time, in which nothing is in flight.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// Time at which it ends.
    pub now: Time,
    /// Length of the idle time.
    pub time: Span,
    /// Time since the last segment left, which was a round trip before the idle time began.
    pub since_sent: Span,
}

#[cfg(test)]
impl Idle {
    /// Returns an idle time of this length at the beginning of a connection.
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
    /// The window in use when it expired: segments.
    pub base: f64,
    /// True if `ssthresh` must stay the same: the timer expired again in the same epoch, or right
    /// after an ECN reduction.
    pub keep_ssthresh: bool,
    /// Segments of the connection sent so far: the value that [`AckSample::delivered`] will have
    /// when all have arrived.
    pub sent: u64,
}

impl AckSample {
    /// Sample of one segment without any measurement, from which tests build others.
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
