//! Keys of a group of flows.

use longhaul_engine::config::{Recovery, Tcp};
use longhaul_keys::{Key, Kind, Profile, RATE, Range, SIZE, TIME, count, joined, key, required};

use crate::link::ACCESS;
use crate::topology::FLOW_PLACES;
use crate::traffic::TRAFFIC;

/// Flows of one group.
const MAX_FLOWS: i64 = 100_000;
/// Parallel connections of one flow.
const MAX_STREAMS: i64 = 1_000;

/// Keys of one entry of `[[flows]]`.
pub(crate) const FLOW: &[Key] = &joined::<{ count(FLOW_LISTS) }>(FLOW_LISTS);
const FLOW_LISTS: &[&[Key]] = &[ANY_FLOW, TCP_FLOW, UDP_FLOW, FLOW_PLACES, FLOW_ACCESS];

/// Keys of all flows.
pub(crate) const ANY_FLOW: &[Key] = &[
    key(
        "label",
        Kind::Text,
        "Name of the group; its congestion control by default.",
    )
    .derived("what the flows run"),
    key(
        "count",
        Kind::Whole {
            min: 1,
            max: MAX_FLOWS,
        },
        "Number of flows in the group.",
    )
    .default("1"),
    key(
        "protocol",
        Kind::Word(&["tcp", "udp"]),
        "`tcp`, or datagrams at a constant rate.",
    )
    .default("tcp"),
    PACKET,
    key(
        "start",
        START,
        "When the flows start: a time, an interval to draw from, or a list, one each.",
    )
    .default("0 s"),
    key(
        "stop",
        Kind::Positive(TIME),
        "When the application stops sending; the end of the run by default.",
    ),
    key(
        "traffic",
        TRAFFIC,
        "What the application does, if it does not send from start to end: opens connections as it \
         goes (TCP; servers are at the first node), or sends in bursts.",
    ),
];

/// Bytes of an Ethernet packet.
pub(super) const PACKET: Key = key(
    "packet",
    Kind::Positive(SIZE),
    "Bytes of a full packet on the wire.",
)
.default("1500 B")
.source("Ethernet");

/// Keys of the TCP implementation at both ends of a connection.
pub(crate) const TCP_STACK: &[Key] = &[
    key(
        "congestion",
        Kind::Congestion,
        "Congestion control: `kind` (reno by default), `variant`, parameters; or `python`, file and \
         class of one of your own (`my_cc.py:MyCC`), and what its constructor takes.",
    )
    .in_profile(Profile::Linux, "{ kind = cubic }")
    .source("Linux: tcp_congestion_control, RFC 9438"),
    key(
        "slow_start",
        Kind::SlowStart,
        "Slow start; `max_ssthresh` alone chooses the profile's limited form, 0 none.",
    ),
    key(
        "recovery",
        Kind::Word(Recovery::WORDS),
        "How losses are detected and retransmitted.",
    )
    .default("sack")
    .in_profile(Profile::Linux, "rack-tlp-prr")
    .in_ns2("ns2-sack")
    .source("RFC 6675; Linux: tcp_recovery"),
    key(
        "tcp",
        Kind::Table(Tcp::KEYS),
        "Transport options, over those of the file and the profile.",
    ),
];

/// Keys that only TCP flows have.
pub(crate) const TCP_FLOW: &[Key] = &joined::<{ count(TCP_FLOW_LISTS) }>(TCP_FLOW_LISTS);
const TCP_FLOW_LISTS: &[&[Key]] = &[
    &[
        key(
            "streams",
            Kind::Whole {
                min: 1,
                max: MAX_STREAMS,
            },
            "TCP: parallel connections between the same hosts that share each flow's transfer and count \
             as one flow.",
        )
        .default("1"),
        key(
            "transfer",
            Kind::Positive(SIZE),
            "Payload to send; unlimited by default.",
        ),
        key(
            "clock_error",
            Kind::Table(&[
                key(
                    "offset",
                    Kind::Quantity(TIME),
                    "How far it is ahead at the beginning of the run.",
                )
                .default("0 s"),
                key(
                    "drift",
                    Kind::Number(Range::closed(-0.01, 0.01)),
                    "What it gains, or loses, in a second.",
                )
                .default("0")
                .unit("s/s"),
            ]),
            "How the clock of the flow's second node differs from that of the first, where transit times of data \
             are reported (`tcp.timestamps = \"one-way\"`); they agree by default.",
        ),
        key(
            "trace_acks",
            Kind::OneOf(&[
                Kind::Flag,
                Kind::List(&Kind::Whole {
                    min: 0,
                    max: i64::MAX,
                }),
            ]),
            "Whether the state of the sender and of its congestion control is recorded at each ACK; of traffic, \
             of which connections of each source, by their number in the table of exchanges.",
        ),
    ],
    TCP_STACK,
];

/// Keys that only UDP flows have.
pub(crate) const UDP_FLOW: &[Key] = &[
    key("rate", Kind::Positive(RATE), "UDP: rate on the wire."),
    key(
        "spacing",
        Kind::OneOf(&[
            Kind::Word(&["even", "poisson"]),
            Kind::Table(&[required(
                "jitter",
                Kind::Number(Range::closed(0.0, 1.0)),
                "How much later than evenly a datagram may leave, as a part of the interval: drawn uniformly.",
            )]),
        ]),
        "UDP: how datagrams follow one another at this rate: `even` by default, `poisson`, or evenly with \
         jitter.",
    ),
];

const FLOW_ACCESS: &[Key] = &[
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
