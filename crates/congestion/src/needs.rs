//! Requirements of an algorithm on the transport.

/// Requirements of an algorithm on the transport beyond what every flow has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// [`AckSample::rtt`](crate::AckSample::rtt) of every acknowledgement, for which senders
    /// without timestamps have to store the send time of each segment.
    pub rtt: bool,
    /// [`AckSample::delivery_rate`](crate::AckSample::delivery_rate), for which the transport has
    /// to store more state of each segment.
    pub delivery_rate: bool,
    /// [`AckSample::one_way_delay`](crate::AckSample::one_way_delay), for which receivers have to report transit times.
    pub one_way_delay: bool,
    /// Dummies ([`Extension::take_dummies`](crate::Extension::take_dummies)), and routers that drop them first.
    pub dummies: bool,
    /// New segments that leave two at a time, back to back, for
    /// [`AckSample::pair_spacing`](crate::AckSample::pair_spacing).
    pub pairs: bool,
    /// Data packets that carry a request to routers ([`Extension::router_request`](crate::Extension::router_request)),
    /// for [`AckSample::router`](crate::AckSample::router).
    pub routers: bool,
    /// [`AckSample::ecn_echo`](crate::AckSample::ecn_echo) of each segment's mark (RFC 8257 section
    /// 3.2), rather than an echo that continues until it is answered.
    pub every_mark: bool,
    /// [`AckSample::ecn_echo`](crate::AckSample::ecn_echo) of each segment's mark if the flow uses
    /// ECN, which the algorithm does not require.
    pub exact_marks: bool,
    /// ECN-capable segments of L4S (ECT(1), RFC 9331), with marks counted exactly (AccECN, RFC
    /// 9768).
    pub l4s: bool,
    /// Segments that are not ECN-capable: the algorithm does not respond to marks, as senders of ECN-capable segments
    /// must (RFC 3168 section 6.1.2).
    pub no_ecn: bool,
    /// Detection of lost retransmissions before the retransmission timer expires: RACK-TLP (RFC 8985), with which Linux
    /// runs BBR.
    pub rack_tlp: bool,
    /// Segments paced at [`CongestionControl::pacing_rate`](crate::CongestionControl::pacing_rate),
    /// which the algorithm sets at times or always.
    pub paces: bool,
}

impl Needs {
    /// No requirements beyond what every flow has.
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

    /// Round-trip samples only.
    pub const RTT: Self = Self {
        rtt: true,
        ..Self::NOTHING
    };
}
