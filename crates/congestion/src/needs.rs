//! Requirements of an algorithm on the transport.

/// Requirements of an algorithm on the transport, in addition to those of every flow. A field is true if the algorithm
/// needs the item that its doc describes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The algorithm needs [`AckSample::rtt`](crate::AckSample::rtt) of every acknowledgement. Senders without
    /// timestamps then store the send time of each segment.
    pub rtt: bool,
    /// The algorithm needs [`AckSample::delivery_rate`](crate::AckSample::delivery_rate). The transport then stores
    /// more state of each segment.
    pub delivery_rate: bool,
    /// The algorithm needs [`AckSample::one_way_delay`](crate::AckSample::one_way_delay). Receivers then report transit
    /// times.
    pub one_way_delay: bool,
    /// Dummies ([`Extension::take_dummies`](crate::Extension::take_dummies)), and routers that drop dummies first.
    pub dummies: bool,
    /// New segments sent in pairs, back to back, so that [`AckSample::pair_spacing`](crate::AckSample::pair_spacing) is
    /// measured.
    pub pairs: bool,
    /// Data packets with a request to routers ([`Extension::router_request`](crate::Extension::router_request)). The
    /// answers are in [`AckSample::router`](crate::AckSample::router).
    pub routers: bool,
    /// ECN with an echo of each segment's mark in [`AckSample::ecn_echo`](crate::AckSample::ecn_echo) (RFC 8257 section
    /// 3.2), instead of an echo that is repeated until the sender confirms it.
    pub every_mark: bool,
    /// An echo of each segment's mark in [`AckSample::ecn_echo`](crate::AckSample::ecn_echo), but only for flows that
    /// use ECN. The algorithm also works without ECN.
    pub exact_marks: bool,
    /// Segments sent as ECT(1) to request L4S service (RFC 9331), and an exact count of marks (AccECN, RFC 9768).
    pub l4s: bool,
    /// Segments sent as Not-ECT, since the algorithm does not respond to marks. Senders of ECN-capable segments must
    /// respond to marks (RFC 3168 section 6.1.2).
    pub no_ecn: bool,
    /// Detection of lost retransmissions before the retransmission timer expires, by RACK-TLP (RFC 8985), as for BBR in
    /// Linux.
    pub rack_tlp: bool,
    /// Pacing at the rate that [`CongestionControl::pacing_rate`](crate::CongestionControl::pacing_rate) returns; no
    /// pacing while it returns `None`.
    pub paces: bool,
}

impl Needs {
    /// No requirements in addition to those of every flow.
    pub const NOTHING: Self = Self {
        rtt: false,
        delivery_rate: false,
        one_way_delay: false,
        dummies: false,
        pairs: false,
        routers: false,
        every_mark: false,
        l4s: false,
        exact_marks: false,
        no_ecn: false,
        rack_tlp: false,
        paces: false,
    };

    /// Only the requirement of round-trip samples.
    pub const RTT: Self = Self {
        rtt: true,
        ..Self::NOTHING
    };
}
