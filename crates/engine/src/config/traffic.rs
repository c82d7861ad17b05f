//! What the applications of flows do, where they do more than send from start to end.

use std::sync::Arc;

use longhaul_keys::{COUNT_MAX, Kind, SIZE, TIME, keys, words};
use longhaul_units::{Rate, Span, Time};

use super::{Distribution, TIMES};

keys! {
    /// Bursts of messages and pauses between them.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Bursts {
        /// Lengths of bursts.
        pub on: Distribution = TIMES.key().required(),
        /// Lengths of pauses; the first burst comes after one.
        pub off: Distribution = TIMES.key().required(),
    }
}

/// The application of a connection that sends messages in bursts.
#[derive(Clone, Debug, PartialEq)]
pub struct Messages {
    /// Rate of messages in a burst, headers not counted.
    pub rate: Rate,
    /// Bytes of a message.
    pub message_bytes: u64,
    /// When they come.
    pub bursts: Bursts,
    /// Whether each message takes whole segments of its own, all full, as ns-2's one-way agents make
    /// of it. Otherwise they are bytes of one stream.
    pub whole_segments: bool,
}

/// The application of a flow over TCP that opens connections as it goes.
#[derive(Clone, Debug)]
pub enum Source {
    /// Requests and their responses, which begin whether or not earlier ones are over. The responses
    /// go from the flow's first node to its second.
    Requests(Requests),
    /// A web session of pages and objects. The objects go from the flow's first node to its second.
    Web(Web),
    /// One greedy connection that is aborted after a time, with what is in flight: the
    /// perturbations of LBNL-52549.
    CutOff(Span),
    /// Exchanges at times and of sizes known beforehand, in order of time.
    Trace(Arc<[TraceEntry]>),
    /// The same, of which those without a response go the other way all the same: from the flow's second
    /// node, which initiates connections.
    Vectors(Arc<[TraceEntry]>),
}

/// A model of requests and responses.
#[derive(Clone, Debug, PartialEq)]
pub struct Requests {
    /// Times between two new connections, in seconds.
    pub arrivals: Process,
    /// Sizes of requests, in bytes.
    pub request: Process,
    /// Sizes of responses, in bytes.
    pub response: Process,
    /// When the size of a response is drawn.
    pub binding: Binding,
    /// Times from the arrival of a request to its response, in seconds.
    pub server_delay: Distribution,
    /// Round trips of connections beyond that of the network, in seconds.
    pub round_trip: Process,
    /// Exchanges on one connection, which is closed after them.
    pub per_connection: Distribution,
    /// Times from the end of a response to the next request on its connection, in seconds.
    pub think: Distribution,
}

/// A session of ns-2's WebTraf (`PagePool/WebTraf`).
#[derive(Clone, Debug, PartialEq)]
pub struct Web {
    /// Pages in the session.
    pub pages: u64,
    /// Times from the end of a page to the beginning of the next, in seconds.
    pub inter_page: Distribution,
    /// Objects on a page, rounded up.
    pub objects: Distribution,
    /// Times between the requests for two objects of a page, in seconds.
    pub inter_object: Distribution,
    /// Sizes of objects, in bytes, rounded up.
    pub object: Distribution,
    /// Sizes are rounded up to multiples of this, if given: ns-2 counts in packets.
    pub whole_units_of: Option<u64>,
    /// Bytes of a request.
    pub request_bytes: u64,
    /// Whether an object comes over a connection of its own, opened by the server when the request
    /// is acknowledged, as in ns-2. Otherwise it comes over the request's.
    pub separate: bool,
}

keys! {
    /// When a run ends before its time, and what makes it conclusive (Weigle 2003, appendix A).
    #[derive(Clone, Debug, PartialEq)]
    pub struct StopRule {
        /// Stop after so many exchanges that began in the measurement window are complete.
        pub exchanges: u64 = Kind::Whole { min: 1, max: COUNT_MAX }.key().required(),
        /// Warn unless the 99th percentile of their responses is above this.
        pub p99_above: Option<u64> = Kind::Positive(SIZE).key(),
        /// Warn unless a response above this has begun,
        pub longest_above: Option<u64> = Kind::Positive(SIZE).key(),
        /// ... so soon after the opening of the window.
        pub start_within: Option<Span> = Kind::Positive(TIME).key(),
    }
    beside {
        /// Ids of the flows whose exchanges count.
        pub flows: Vec<u32>,
    }
}

/// Numbers that follow one another.
#[derive(Clone, Debug, PartialEq)]
pub enum Process {
    /// Independent of each other.
    Independent(Distribution),
    /// As in PackMime (Cao, Cleveland and others, INFOCOM 2004).
    PackMime(PackMime),
}

/// A part of the PackMime model. What depends on the rate of connections is how much of its long-range
/// dependence white noise hides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PackMime {
    /// Times between connections, so many a second on average.
    Arrivals {
        /// Connections a second.
        rate: f64,
    },
    /// Sizes of requests.
    Requests {
        /// Connections a second.
        rate: f64,
    },
    /// Sizes of responses.
    Responses,
    /// Round trips between the hosts and the link where the trace was taken: the server's, or both
    /// sides together.
    RoundTrips {
        /// Connections a second.
        rate: f64,
        /// Whether the client's side is in it.
        client_side: bool,
    },
}

words! {
    /// When the size of a response is drawn.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Binding {
        /// With its request: the same seed gives the same pairs, however long requests are in flight.
        WithRequest = "with-request",
        /// When the request arrives, so that congestion decides which request gets which response, as in
        /// PackMime-NS.
        OnArrival = "on-arrival",
    }
}

/// One exchange of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// When it begins, or its connection does.
    pub time: Time,
    /// If it is on the connection of the exchange above it: how long after that one has ended.
    pub after: Option<Span>,
    /// Bytes of the request, or of all there is to send.
    pub request_bytes: u64,
    /// Bytes of the response, if there is one.
    pub response_bytes: Option<u64>,
    /// Delay of the server.
    pub server_delay: Span,
}
