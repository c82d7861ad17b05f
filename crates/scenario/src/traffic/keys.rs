//! Keys of applications that open connections during the run, or send in bursts.

use longhaul_engine::config::{Binding, Bursts, COUNTS, DRAWN_TIMES, Distribution, SIZES, TIMES};
use longhaul_keys::{Kind, RATE, Range, SIZE, TIME, keys, tagged, words};
use longhaul_units::{Rate, Span};

tagged! {
    /// Behaviour of an application, by its `kind`.
    pub(crate) enum Traffic {
        /// Requests and responses whose sizes and times are independent.
        Requests(RequestKeys) = "requests",
        /// The PackMime model of Web traffic.
        PackMime(PackMimeKeys) = "packmime",
        /// Pages and their objects, as in ns-2's WebTraf.
        Web(WebKeys) = "web",
        /// Connections as sequences of epochs: a request, its response, and the time until the next request.
        Abt(AbtKeys) = "abt",
        /// A greedy connection that is aborted after a time.
        Perturbation(PerturbationKeys) = "perturbation",
        /// Requests and responses from a table.
        Trace(TraceKeys) = "trace",
        /// Connections from a file of Tmix.
        Tmix(TmixKeys) = "tmix",
        /// Bursts and pauses.
        OnOff(OnOffKeys) = "on-off",
    }
}

keys! {
    /// Keys that all models of requests have.
    pub(crate) struct ConnectionKeys {
        /// Number of requests, each with a response, on one connection.
        pub requests_per_connection: u32 = Kind::Whole { min: 1, max: 100_000 }.key().default("1"),
        /// Time from the end of a response to the next request on the same connection.
        pub think: Distribution = TIMES.key().default("0 s"),
        /// Time at which the size of a response is drawn: together with its request (`with-request`), or when the
        /// server sends the response (`on-arrival`). Only `with-request` gives the same pairs of sizes on any network.
        pub binding: Binding = Kind::Word(Binding::WORDS).key().default("with-request"),
    }
}

keys! {
    /// Requests and responses whose sizes and times are independent.
    pub(crate) struct RequestKeys {
        /// Time between the beginnings of two connections.
        pub interval: Distribution = TIMES.key().required(),
        /// Bytes of a request.
        pub request: Distribution = SIZES.key().default("400 B"),
        /// Bytes of a response.
        pub response: Distribution = SIZES.key().required(),
        /// Time from request to response at the server.
        pub server_delay: Distribution = TIMES.key().default("0 s"),
        /// Round-trip time of each connection in addition to that of the network.
        pub extra_rtt: Distribution = TIMES.key().default("0 s"),
    }
    flattened {
        /// Keys that all models of requests have.
        pub connections: ConnectionKeys,
    }
}

words! {
    /// Extra round-trip times that PackMime draws, in addition to the network's.
    pub(crate) enum RoundTrips {
        /// Extra round-trip times of the client's and the server's side.
        Both = "both",
        /// Extra round-trip times of the server's side.
        Server = "server",
        /// No extra round-trip times.
        None = "none",
    }
}

keys! {
    /// The PackMime model (Cao, Cleveland and others, INFOCOM 2004).
    pub(crate) struct PackMimeKeys {
        /// Connections a second.
        pub rate: f64 = Kind::Number(Range::closed(0.01, 1e6)).key().required(),
        /// Random round-trip times that the model adds to that of the network: for the server's and the
        /// client's side (`both`), for the server's side only (`server`), or none.
        pub round_trips: RoundTrips = Kind::Word(RoundTrips::WORDS).key().default("both"),
        /// Time from request to response at the server. `model` draws the inverse of a Weibull
        /// variable, with a median of about 6 ms and a limit of 100 ms.
        pub server_delay: Option<Distribution> =
            Kind::OneOf(&[Kind::Word(&["model"]), Kind::Quantity(TIME), DRAWN_TIMES]).key().default("model"),
    }
    flattened {
        /// Keys that all models of requests have.
        pub connections: ConnectionKeys,
    }
}

keys! {
    /// Connections of requests and responses. The number and the sizes of a connection's requests and responses are
    /// random, drawn from quantiles of a campus network's traffic.
    pub(crate) struct AbtKeys {
        /// Connections a second.
        pub rate: f64 = Kind::Number(Range::closed(1e-6, 1e6)).key().required(),
    }
}

keys! {
    /// Pages and objects (ns-2's WebTraf).
    pub(crate) struct WebKeys {
        /// Pages in the session of each flow.
        pub pages: u64 = Kind::Whole { min: 1, max: 1_000_000_000 }.key().default("1000"),
        /// Time from the end of a page to the beginning of the next.
        pub inter_page: Distribution = TIMES.key().required(),
        /// Objects on a page, rounded up.
        pub objects: Distribution = COUNTS.key().required(),
        /// Time between the requests for two objects of a page.
        pub inter_object: Distribution = TIMES.key().required(),
        /// Bytes of an object.
        pub object: Distribution = SIZES.key().required(),
        /// Bytes of a request; one full segment by default.
        pub request: Option<u64> = Kind::Positive(SIZE).key(),
        /// True to round sizes of objects up to whole segments, as in ns-2.
        pub whole_segments: bool = Kind::Flag.key().default("true"),
        /// True if the server opens a separate connection for each object once the request is
        /// acknowledged, as in ns-2; false if it answers on the request's connection.
        pub connection_per_object: bool = Kind::Flag.key().default("true"),
    }
}

keys! {
    /// A greedy connection that is aborted after a time.
    pub(crate) struct PerturbationKeys {
        /// Lifetime of a greedy connection. Then it is aborted, with data still in flight.
        pub lifetime: Span = Kind::Positive(TIME).key().required(),
    }
}

keys! {
    /// Requests and responses from a table, with their start times.
    pub(crate) struct TraceKeys {
        /// CSV file, relative to this file. Its columns are start_s and bytes for one-way data, or start_s,
        /// request_bytes and response_bytes for exchanges. server_delay_s, the time from request to response at the
        /// server, may be added. Start times must not decrease from line to line.
        pub file: Option<String> = Kind::Text.key(),
        /// Name of the file that `csv` was read from; longhaul writes it into resolved scenarios.
        pub from_file: Option<String> = Kind::Text.key(),
        /// Text of the CSV table.
        pub csv: String = Kind::Text.key(),
    }
}

keys! {
    /// Connections of a Tmix file.
    pub(crate) struct TmixKeys {
        /// File of connection vectors, in the original or the alternate format of ns-2's Tmix. The
        /// path is relative to the scenario file.
        pub file: Option<String> = Kind::Text.key(),
        /// Name of the file that `vectors` was read from; longhaul writes it into resolved scenarios.
        pub from_file: Option<String> = Kind::Text.key(),
        /// Text of the connection vectors.
        pub vectors: String = Kind::Text.key(),
        /// Factor that multiplies the start times of connections; a smaller factor gives more load.
        pub scale: f64 = Kind::Number(Range::above(0.0, 1e9)).key().default("1")
            .source("draft-irtf-iccrg-tcpeval-01 section 2.3.1"),
    }
}

keys! {
    /// Keys of bursts and pauses.
    pub(crate) struct OnOffKeys {
        /// TCP: rate of messages in a burst, headers not counted. For UDP flows, the key `rate` outside
        /// of `traffic` sets the rate.
        pub rate: Option<Rate> = Kind::Positive(RATE).key(),
        /// TCP: bytes of a message. For UDP flows, the key `packet` outside of `traffic` sets the size.
        pub message: Option<u64> = Kind::Positive(SIZE).key(),
        /// TCP: true if each message is sent in whole, full segments, as in ns-2; false (default)
        /// if messages are bytes of one stream.
        pub whole_segments: Option<bool> = Kind::Flag.key(),
    }
    flattened {
        /// Times of bursts and pauses.
        pub bursts: Bursts,
    }
}
