//! Keys of a group of flows and of its transport.

use longhaul_keys::{COUNT_MAX, Key, Kind, RATE, Range, SIZE, TIME, key, required};

use super::network::ACCESS;
use super::traffic::TRAFFIC;

/// Flows of one group.
const MOST_FLOWS: i64 = 100_000;
/// Parallel connections of one flow.
const MOST_STREAMS: i64 = 1_000;
const SEGMENTS: Kind = Kind::Whole {
    min: 1,
    max: COUNT_MAX,
};
const WINDOW: Kind = Kind::OneOf(&[Kind::Word(&["auto"]), SEGMENTS, Kind::Positive(SIZE)]);

/// Keys of one entry of `[[flows]]`.
pub(crate) const FLOW: &[Key] = &[
    key(
        "label",
        Kind::Text,
        "Name of the group; its congestion control by default.",
    ),
    key(
        "count",
        Kind::Whole {
            min: 1,
            max: MOST_FLOWS,
        },
        "Flows in the group; 1 by default.",
    ),
    key(
        "streams",
        Kind::Whole {
            min: 1,
            max: MOST_STREAMS,
        },
        "TCP: parallel connections between the same hosts that share each flow's transfer and count \
         as one flow; 1 by default.",
    ),
    key(
        "protocol",
        Kind::Word(&["tcp", "udp"]),
        "`tcp` (default), or datagrams at a constant rate.",
    ),
    key(
        "congestion",
        Kind::Congestion,
        "Congestion control: `kind` (reno by default), `variant`, parameters; or `python`, file and \
         class of one of your own (`my_cc.py:MyCC`), and what its constructor takes.",
    ),
    key(
        "slow_start",
        Kind::SlowStart,
        "Slow start; `max_ssthresh` alone chooses the profile's limited form, 0 none.",
    ),
    key(
        "recovery",
        Kind::Word(RECOVERIES),
        "How losses are repaired.",
    ),
    key(
        "packet",
        Kind::Positive(SIZE),
        "Bytes of a full packet on the wire.",
    ),
    key(
        "start",
        START,
        "When the flows start: a time, an interval to draw from, or a list, one each.",
    ),
    key(
        "stop",
        Kind::Positive(TIME),
        "When the application stops sending; the end of the run by default.",
    ),
    key(
        "transfer",
        Kind::Positive(SIZE),
        "Payload to send; without end by default.",
    ),
    key(
        "traffic",
        TRAFFIC,
        "What the application does, if it does not send from start to end: opens connections as it \
         goes (TCP; servers are at the first node), or sends in bursts.",
    ),
    key("rate", Kind::Positive(RATE), "UDP: rate on the wire."),
    key(
        "direction",
        Kind::Word(&["forward", "reverse"]),
        "Dumbbell: from left to right, or back.",
    ),
    key(
        "path",
        Kind::List(&Kind::Whole {
            min: 0,
            max: 100_000,
        }),
        "Parking lot: numbers of the first and the last router.",
    ),
    key("from", Kind::Text, "Graph: sending node."),
    key("to", Kind::Text, "Graph: receiving node."),
    key(
        "access",
        Kind::Table(ACCESS),
        "The group's own access links.",
    ),
    key(
        "rtt",
        Kind::Positive(TIME),
        "Base round trip: the access delay follows from it.",
    ),
    key(
        "tcp",
        Kind::Table(TCP),
        "Transport options, over those of the file and the profile.",
    ),
];

/// Names of [`longhaul_engine::config::Recovery`].
pub(crate) const RECOVERIES: &[&str] = &[
    "tahoe",
    "reno",
    "newreno",
    "sack",
    "sack-prr",
    "fack",
    "rack-tlp",
    "rack-tlp-prr",
    "ns2-reno",
    "ns2-newreno",
    "ns2-sack",
];

const START: Kind = Kind::OneOf(&[
    Kind::Quantity(TIME),
    Kind::Table(&[required(
        "uniform",
        Kind::List(&Kind::Quantity(TIME)),
        "Drawn uniformly between two times.",
    )]),
    Kind::List(&Kind::Quantity(TIME)),
]);

/// Transport options.
pub(crate) const TCP: &[Key] = &[
    key(
        "initial_window",
        Kind::Number(Range::closed(1.0, 1e6)),
        "Initial window in segments.",
    ),
    key(
        "receive_window",
        WINDOW,
        "The receiver's window in segments, or in bytes; `auto`: twice the path's bandwidth-delay \
         product and queues, at least 64 segments: it limits only while a recovery takes longer than \
         a round trip.",
    ),
    key(
        "send_buffer",
        Kind::OneOf(&[Kind::Word(&["unlimited"]), SEGMENTS, Kind::Positive(SIZE)]),
        "The sender's socket buffer in segments, or in bytes.",
    ),
    key(
        "initial_ssthresh",
        Kind::OneOf(&[
            Kind::Word(&["auto"]),
            Kind::Number(Range::closed(2.0, 1e12)),
        ]),
        "Initial slow start threshold in segments; `auto`: the receive window.",
    ),
    key(
        "dupack_threshold",
        Kind::Whole { min: 1, max: 1000 },
        "Duplicate acknowledgements that signal a loss.",
    ),
    key(
        "limited_transmit",
        Kind::Flag,
        "Whether the first duplicates release new segments (RFC 3042).",
    ),
    key(
        "ack_counting",
        Kind::OneOf(&[
            Kind::Word(&["per-ack", "delivered"]),
            Kind::Table(&[required(
                "per_segment",
                Kind::Number(Range::closed(1.0, 1e6)),
                "The limit L of RFC 3465 in slow start, in segments; 1 in that after a timeout.",
            )]),
        ]),
        "What one acknowledgement counts for in growth: one; the segments that it covers, or of these \
         those that were not acknowledged selectively before, without a limit (`delivered`, as Linux).",
    ),
    key(
        "ecn",
        Kind::OneOf(&[Kind::Flag, Kind::Word(&["dctcp"])]),
        "Whether both ends use ECN (RFC 3168); queues mark only if they too do. `dctcp`: the \
         receiver echoes the mark of each segment (RFC 8257).",
    ),
    key(
        "delayed_ack",
        Kind::OneOf(&[Kind::Flag, Kind::Table(DELAYED_ACK)]),
        "Delayed acknowledgements (RFC 5681 section 4.2).",
    ),
    key(
        "timestamps",
        Kind::OneOf(&[Kind::Flag, Kind::Word(&["one-way"])]),
        "Whether segments carry timestamps (RFC 7323); `one-way`: Sync-TCP's option, with which \
         receivers also report how long each data segment was under way.",
    ),
    key(
        "rto",
        Kind::Table(RTO),
        "The retransmission timer (RFC 6298).",
    ),
    key(
        "send_jitter",
        Kind::Quantity(TIME),
        "Random delay before a burst, uniform from zero to this (ns-2's overhead_).",
    ),
    key(
        "max_burst",
        Kind::OneOf(&[
            Kind::Word(&["unlimited"]),
            Kind::Whole {
                min: 1,
                max: 1_000_000,
            },
        ]),
        "Most segments sent for one acknowledgement.",
    ),
    key(
        "pacing",
        Kind::OneOf(&[Kind::Flag, Kind::Table(PACING)]),
        "Whether segments are paced, at the window over the round trip times the profile's factors; \
         algorithms that set a rate pace at it in any case.",
    ),
    key(
        "rounding",
        Kind::Word(&["real", "integer-ssthresh", "integer-both"]),
        "Whether reductions cut the threshold, or threshold and window, to whole segments.",
    ),
    key(
        "min_cwnd",
        Kind::Table(MIN_CWND),
        "Smallest windows that reductions leave; after a timeout it is one segment in any case.",
    ),
    key(
        "header",
        Kind::Positive(SIZE),
        "IP and TCP headers of a data segment, without options.",
    ),
    key(
        "ack_size",
        Kind::Positive(SIZE),
        "A pure acknowledgement, SYN or FIN, without options.",
    ),
    key(
        "timestamp_option",
        Kind::Quantity(SIZE),
        "The timestamp option on the wire; 14 B by default with `one-way`.",
    ),
    key(
        "sack_option",
        Kind::Quantity(SIZE),
        "A SACK option on the wire, without its blocks.",
    ),
    key(
        "sack_block",
        Kind::Quantity(SIZE),
        "Each SACK block on the wire.",
    ),
];

/// Keys of `pacing`.
pub(crate) const PACING: &[Key] = &[
    key(
        "slow_start",
        Kind::Number(Range::closed(1.0, 100.0)),
        "Factor while the window is below half of the slow start threshold.",
    ),
    key(
        "avoidance",
        Kind::Number(Range::closed(1.0, 100.0)),
        "Factor above that.",
    ),
];

const MIN_CWND: &[Key] = &[
    key(
        "loss",
        Kind::Whole { min: 1, max: 100 },
        "After a loss, in segments.",
    ),
    key(
        "ecn",
        Kind::Whole { min: 1, max: 100 },
        "After an ECN mark, in segments.",
    ),
];

/// Keys of `delayed_ack`.
pub(crate) const DELAYED_ACK: &[Key] = &[
    key(
        "timeout",
        Kind::Positive(TIME),
        "An acknowledgement waits at most so long.",
    ),
    key(
        "segments",
        Kind::Whole { min: 1, max: 1000 },
        "... or for so many in-order segments.",
    ),
    key(
        "delays_syn",
        Kind::Flag,
        "Whether the answer to the SYN waits too, as in ns-2.",
    ),
];

const RTO: &[Key] = &[
    key("initial", Kind::Positive(TIME), "Before the first sample."),
    key("min", Kind::Positive(TIME), "Lower bound."),
    key("max", Kind::Positive(TIME), "Upper bound."),
    key(
        "granularity",
        Kind::Positive(TIME),
        "Round trips are exact; this is the G of RFC 6298.",
    ),
    key(
        "tick",
        Kind::Positive(TIME),
        "Round trips are measured in such ticks, as in ns-2.",
    ),
];
