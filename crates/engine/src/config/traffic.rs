//! Applications of flows: messages in bursts, requests and responses, web sessions, and exchanges from traces.

use std::sync::Arc;

use longhaul_keys::{COUNT_MAX, Kind, SIZE, TIME, keys, words};
use longhaul_units::{Rate, Span, Time};

use super::{Distribution, TIMES};

keys! {
    /// Bursts of messages, with pauses between them.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Bursts {
        /// Lengths of bursts.
        pub on: Distribution = TIMES.key().required(),
        /// Lengths of pauses; a pause comes before the first burst.
        pub off: Distribution = TIMES.key().required(),
    }
}

/// An application that sends messages in bursts over one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Messages {
    /// Rate of messages within a burst, without headers.
    pub rate: Rate,
    /// Bytes of a message.
    pub message_bytes: u64,
    /// Bursts of messages.
    pub bursts: Bursts,
    /// True if each message is sent in separate, full segments, as ns-2's one-way agents do. False if messages are
    /// bytes of one stream.
    pub whole_segments: bool,
}

/// Application of a flow over TCP that opens connections during the run.
#[derive(Clone, Debug)]
pub enum Source {
    /// Requests on connections that are opened without waiting for earlier ones. Responses go from the flow's first
    /// node to its second.
    Requests(Requests),
    /// A web session of pages and their objects. Objects go from the flow's first node to its second.
    Web(Web),
    /// One greedy connection, aborted after this time with data in flight (like the perturbations in LBNL-52549).
    CutOff(Span),
    /// Exchanges with times and sizes from a trace, in the order of their times.
    Trace(Arc<[TraceEntry]>),
    /// Exchanges as in `Trace`. The flow's second node always opens the connections and sends the requests; with
    /// `Trace`, it does so only if an exchange of the trace has a response.
    Vectors(Arc<[TraceEntry]>),
}

/// A model of requests and responses.
#[derive(Clone, Debug, PartialEq)]
pub struct Requests {
    /// Times between the openings of two connections, in seconds.
    pub arrivals: Process,
    /// Sizes of requests, in bytes.
    pub request: Process,
    /// Sizes of responses, in bytes.
    pub response: Process,
    /// Time at which the size of a response is drawn.
    pub binding: Binding,
    /// Times from the arrival of a request to the beginning of its response, in seconds.
    pub server_delay: Distribution,
    /// Extra round-trip times of connections, in seconds. They are added to the network's round-trip time.
    pub round_trip: Process,
    /// Number of exchanges on a connection, which is closed after them.
    pub per_connection: Distribution,
    /// Times from the end of a response to the next request on the same connection, in seconds.
    pub think: Distribution,
}

/// A web session as in ns-2's WebTraf (`PagePool/WebTraf`).
#[derive(Clone, Debug, PartialEq)]
pub struct Web {
    /// Number of pages in the session.
    pub pages: u64,
    /// Times from the end of a page to the beginning of the next, in seconds.
    pub inter_page: Distribution,
    /// Number of objects on a page, rounded up.
    pub objects: Distribution,
    /// Times between the requests for successive objects of a page, in seconds.
    pub inter_object: Distribution,
    /// Sizes of objects, in bytes, rounded up.
    pub object: Distribution,
    /// Unit of objects' sizes in bytes; sizes are rounded up to whole units (ns-2 counts packets). `None` for one byte.
    pub whole_units_of: Option<u64>,
    /// Bytes of a request.
    pub request_bytes: u64,
    /// True if each object has a separate connection, as in ns-2: the server opens it when the request is acknowledged.
    /// False if objects use the connection of the request.
    pub separate: bool,
}

keys! {
    /// Rule that ends a run early, and warns if the run's largest responses are too small (Weigle 2003, appendix A).
    #[derive(Clone, Debug, PartialEq)]
    pub struct StopRule {
        /// Number of completed exchanges that ends the run. Only exchanges that begin in the measurement window count.
        pub exchanges: u64 = Kind::Whole { min: 1, max: COUNT_MAX }.key().required(),
        /// Size that the 99th percentile of the response sizes of the counted exchanges should exceed; a warning is
        /// given if it does not.
        pub p99_above: Option<u64> = Kind::Positive(SIZE).key(),
        /// Size that at least one response should exceed. A warning is given if no such response begins within
        /// `start_within`.
        pub longest_above: Option<u64> = Kind::Positive(SIZE).key(),
        /// Maximum time from the start of the measurement window to the first response larger than `longest_above`.
        pub start_within: Option<Span> = Kind::Positive(TIME).key(),
    }
    beside {
        /// Ids of the flows with counted exchanges.
        pub flows: Vec<u32>,
    }
}

/// A sequence of random numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Process {
    /// Independent random numbers.
    Independent(Distribution),
    /// Random numbers for one variable of the PackMime model (Cao, Cleveland and others, INFOCOM 2004).
    PackMime(PackMime),
}

/// One of the random variables of the PackMime model. A variable with a `rate` is a series with long-range dependence.
/// The rate determines the fraction of white noise in the series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PackMime {
    /// Times between connections, with this mean rate.
    Arrivals {
        /// Connections per second.
        rate: f64,
    },
    /// Sizes of requests.
    Requests {
        /// Connections per second.
        rate: f64,
    },
    /// Sizes of responses.
    Responses,
    /// Round-trip times between the servers and the link where the model's trace was taken. If `client_side` is true,
    /// the round-trip times between this link and the clients are added.
    RoundTrips {
        /// Connections per second.
        rate: f64,
        /// True if round-trip times of the clients' side, up to the traced link, are added to those of the servers'
        /// side.
        client_side: bool,
    },
}

words! {
    /// Time at which the size of a response is drawn.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Binding {
        /// The size is drawn together with the request. A seed gives the same request-response pairs on any network.
        WithRequest = "with-request",
        /// The size of a response is drawn when its request arrives, as in PackMime-NS. Congestion thus changes which
        /// request gets which size.
        OnArrival = "on-arrival",
    }
}

/// An exchange of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// Time at which the connection of the exchange opens.
    pub time: Time,
    /// Time from the end of the preceding exchange in the trace to the request, if both exchanges share a connection.
    pub after: Option<Span>,
    /// Bytes of the request, or of all data if there is no response.
    pub request_bytes: u64,
    /// Bytes of the response, if there is one.
    pub response_bytes: Option<u64>,
    /// Time from the arrival of the request to the beginning of the response.
    pub server_delay: Span,
}
