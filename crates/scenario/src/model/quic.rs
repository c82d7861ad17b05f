//! Keys of flows that run in a QUIC stack.

use longhaul_engine::stack::{HEADER_BYTES, Host};
use longhaul_keys::{COUNT_MAX, Kind, Range, SIZE, TIME, Table, keys, words};
use longhaul_units::{Bytes, Dimension, Span};

/// Units of a size in bytes or in bandwidth-delay products.
const SIZE_OR_BDP: &[Dimension] = &[Dimension::Size, Dimension::Bdp];

keys! {
    /// Keys for QUIC flows only.
    pub(crate) struct QuicFlow {}
    apart {
        /// QUIC: the stack at both ends, and its settings.
        pub stack: Table = Kind::Table(QuicStack::KEYS).key(),
    }
}

keys! {
    /// A QUIC stack at both ends of a flow.
    #[derive(Clone, Debug, PartialEq)]
    pub struct QuicStack {
        /// Stack: `quinn`, or another one in this build.
        pub kind: String = Kind::Text.key().default("quinn"),
        /// The stack's congestion control; for quinn, `cubic`, `newreno` or `bbr`. The flow's key
        /// `congestion` replaces it by an algorithm of Longhaul.
        pub congestion: Option<String> = Kind::Text.key().derived("the stack's default"),
        /// Version of the stack; a build with another version refuses the scenario.
        pub version: Option<String> = Kind::Text.key().derived("version of the stack in this build"),
        /// End that opens the connection: the end that sends data or, as in a download, the end
        /// that receives it.
        pub client: Client = Kind::Word(Client::WORDS).key().default("sender"),
        /// Flow control window of a stream and of the connection, and size of the sender's buffer. The receiving
        /// application reads at once.
        pub window: Bytes = Kind::OneOf(&[Kind::Positive(SIZE_OR_BDP), Kind::Word(&["auto"])]).key()
            .default("auto"),
        /// Initial congestion window; the stack's default if it is not given.
        pub initial_window: Option<Bytes> = Kind::Positive(SIZE).key(),
        /// Largest UDP payload that path MTU discovery tries.
        pub mtu: Bytes = Kind::Positive(SIZE).key().default("1452 B")
            .source("quinn: MtuDiscoveryConfig::upper_bound; RFC 9000 section 14.3"),
        /// Number of packets that the receiver may leave unacknowledged: it acknowledges when one more arrives. The
        /// sender requests this through the ACK frequency extension. Without this key the extension is off, and the
        /// receiver acknowledges every second packet, as with 1.
        pub ack_frequency: Option<u64> = Kind::Whole { min: 1, max: 1_000_000 }.key()
            .source("draft-ietf-quic-ack-frequency"),
        /// Maximum ACK delay that the sender requests, with `ack_frequency`.
        pub max_ack_delay: Option<Span> = Kind::Positive(TIME).key()
            .source("draft-ietf-quic-ack-frequency; 25 ms without, RFC 9000 section 18.2"),
        /// True if the receiving application reads in order. quinn closes a connection if more than 1024 pieces of a
        /// stream wait behind a gap.
        pub ordered: bool = Kind::Flag.key().default("false"),
        /// Reordering threshold in packets: a packet is lost if one that was sent this many packets later is
        /// acknowledged.
        pub packet_threshold: u64 = Kind::Whole { min: 1, max: COUNT_MAX }.key().default("3")
            .source("RFC 9002 section 6.1.1"),
        /// Reordering threshold in round trips: a packet is lost if it was sent this long ago and a later one is
        /// acknowledged.
        pub time_threshold: f64 = Kind::Number(Range::closed(1.0, 100.0)).key().default("1.125")
            .unit("round trips").source("RFC 9002 section 6.1.2"),
        /// Round-trip time assumed before the first sample.
        pub initial_rtt: Span = Kind::Positive(TIME).key().default("333 ms").source("RFC 9002 section 6.2.2"),
        /// Maximum time without a packet; then a connection is closed.
        pub idle_timeout: Option<Span> = Kind::OneOf(&[Kind::Positive(TIME), Kind::Word(&["never"])]).key()
            .default("30 s").source("quinn: TransportConfig::max_idle_timeout; RFC 9000 section 10.1"),
        /// True if the sending end of each connection writes the stack's qlog: a file
        /// `flow-N.sqlog` of the run.
        pub qlog: Option<bool> = Kind::Flag.key(),
    }
}

words! {
    /// Endpoint of a flow that opens the connection.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Client {
        /// The endpoint that sends data.
        Sender = "sender",
        /// The endpoint that receives data.
        Receiver = "receiver",
    }
}

impl Client {
    /// Returns the endpoint that opens the connection, as the engine's type.
    pub fn host(self) -> Host {
        match self {
            Self::Sender => Host::Sender,
            Self::Receiver => Host::Receiver,
        }
    }
}

/// Returns the bytes on the wire of the largest datagram, including IP and UDP headers.
pub(crate) fn packet_bytes(stack: &QuicStack) -> u64 {
    stack.mtu.0 + HEADER_BYTES as u64
}
