//! Keys of applications that open connections as they go, or send in bursts.

use longhaul_keys::{Key, Kind, RATE, Range, SIZE, TIME, key, required};

use super::distribution::{COUNTS, DRAWN_TIMES, SIZES, TIMES};

const PER_CONNECTION: Kind = Kind::Whole {
    min: 1,
    max: 100_000,
};
const BINDING_HELP: &str = "When the size of a response is drawn: `with-request` (default), so that the \
    same seed gives the same pairs, or `on-arrival` of the request.";
const PER_CONNECTION_HELP: &str = "Exchanges on one connection; 1 by default.";
const THINK_HELP: &str = "From the end of a response to the next request on its connection.";

/// Keys of `traffic` of a flow.
pub(crate) const TRAFFIC: Kind = Kind::Tagged(&[
    ("requests", REQUESTS),
    ("packmime", PACKMIME),
    ("web", WEB),
    ("perturbation", PERTURBATION),
    ("trace", TRACE),
    ("on-off", ON_OFF),
]);

const REQUESTS: &[Key] = &[
    required(
        "interval",
        TIMES,
        "Between the beginnings of two connections.",
    ),
    key("request", SIZES, "Bytes of a request; 400 B by default."),
    required("response", SIZES, "Bytes of a response."),
    key(
        "server_delay",
        TIMES,
        "From request to response at the server; 0 s by default.",
    ),
    key(
        "extra_rtt",
        TIMES,
        "Round trip of each connection beyond that of the network; 0 s by default.",
    ),
    key("per_connection", PER_CONNECTION, PER_CONNECTION_HELP),
    key("think", TIMES, THINK_HELP),
    key(
        "binding",
        Kind::Word(&["with-request", "on-arrival"]),
        BINDING_HELP,
    ),
];

const WEB: &[Key] = &[
    key(
        "pages",
        Kind::Whole {
            min: 1,
            max: 1_000_000_000,
        },
        "Pages in the session of each flow; 1000 by default.",
    ),
    required("inter_page", TIMES, "From the end of a page to the next."),
    required("objects", COUNTS, "Objects on a page, rounded up."),
    required(
        "inter_object",
        TIMES,
        "Between the requests for two objects of a page.",
    ),
    required("object", SIZES, "Bytes of an object."),
    key(
        "request",
        Kind::Positive(SIZE),
        "Bytes of a request; one full segment by default.",
    ),
    key(
        "whole_segments",
        Kind::Flag,
        "Whether sizes of objects are rounded up to whole segments, as in ns-2; true by default.",
    ),
    key(
        "separate",
        Kind::Flag,
        "Whether the server opens a connection of its own for each object, once the request is \
         acknowledged, as in ns-2 (default), or answers on the request's.",
    ),
];

const PERTURBATION: &[Key] = &[required(
    "lifetime",
    Kind::Positive(TIME),
    "A greedy connection is cut off after this, with what is under way on it.",
)];

const PACKMIME: &[Key] = &[
    required(
        "rate",
        Kind::Number(Range::closed(0.01, 1e6)),
        "Connections a second.",
    ),
    key(
        "round_trips",
        Kind::Word(&["both", "server", "none"]),
        "Round trips beyond the network's, as the model has them: of both sides (default), of the \
         server's side, or none.",
    ),
    key(
        "server_delay",
        Kind::OneOf(&[Kind::Word(&["model"]), Kind::Quantity(TIME), DRAWN_TIMES]),
        "From request to response at the server; `model` (default): one over a Weibull number, mean \
         about 6 ms.",
    ),
    key("per_connection", PER_CONNECTION, PER_CONNECTION_HELP),
    key("think", TIMES, THINK_HELP),
    key(
        "binding",
        Kind::Word(&["with-request", "on-arrival"]),
        BINDING_HELP,
    ),
];

const TRACE: &[Key] = &[
    key(
        "file",
        Kind::Text,
        "CSV file, relative to this one: start_s and bytes, for data one way, or start_s, \
         request_bytes and response_bytes; server_delay_s if there are delays.",
    ),
    key("csv", Kind::Text, "The same table as text."),
];

const ON_OFF: &[Key] = &[
    required("on", TIMES, "Lengths of bursts."),
    required(
        "off",
        TIMES,
        "Lengths of pauses; the first burst comes after one.",
    ),
    key(
        "rate",
        Kind::Positive(RATE),
        "TCP: rate of messages in a burst, headers not counted. UDP flows have `rate` beside \
         `traffic`.",
    ),
    key(
        "message",
        Kind::Positive(SIZE),
        "TCP: bytes of a message. UDP: a packet.",
    ),
    key(
        "whole_segments",
        Kind::Flag,
        "TCP: whether each message takes whole segments, all full, as in ns-2; false by default: bytes \
         of one stream.",
    ),
];
