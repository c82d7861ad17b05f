//! Keys of links: the same for a link of the topology and for access links, as far as both have them.

use longhaul_engine::config::{
    Change, Distribution, Loss, PROBABILITIES, RATES, Reordering, Shaper, TIMES,
};
use longhaul_keys::{Key, Kind, PROBABILITY, RATE, TIME, count, joined, key, keys};
use longhaul_units::{Rate, Span};

use super::delivery_trace::DELIVERY_TRACE;
use crate::model::queue::QUEUE;

keys! {
    /// A link of the topology.
    #[derive(Clone, Debug)]
    pub(crate) struct LinkKeys {
        /// Transmission rate.
        pub rate: Rate = Kind::Positive(RATE).key().derived("the mean rate of delivery_trace, without which it is required"),
        /// Propagation delay, one way.
        pub delay: Span = Kind::Quantity(TIME).key().required(),
        /// Token bucket between the queue and the link, forward direction only. What depends on the link's rate,
        /// such as 1 BDP, counts with the bucket's.
        pub shaper: Option<Shaper> = Kind::Table(Shaper::KEYS).key(),
        /// Packets lost before they reach the queue, forward direction only.
        pub loss: Loss = Kind::Table(Loss::KEYS).key(),
        /// Time after which all of `changes` happen again, and again.
        pub changes_period: Option<Span> = Kind::Positive(TIME).key(),
        /// Delay, loss and rate of its own for every flow, both ways, before packets reach the queue.
        pub delay_box: Option<DelayBoxKeys> = Kind::Table(DelayBoxKeys::KEYS).key()
            .source("ns-2: DelayBox; Weigle 2003, appendix A"),
        /// Probability that a packet is followed by a copy of itself, forward direction only.
        pub duplication: Option<f64> = PROBABILITY.key(),
        /// Packets held back before they reach the queue, behind those that follow, forward direction only.
        pub reordering: Option<Reordering> = Kind::Table(Reordering::KEYS).key(),
        /// Time that hosts take to process an ACK, drawn anew for each: ACKs are delayed by it, both ways, before
        /// they reach the queue.
        pub host_processing_delay: Option<Distribution> = TIMES.key(),
        /// Period of the timer whose ticks release packets at the far end, both ways, as in dummynet.
        pub tick: Option<Span> = Kind::Positive(TIME).key(),
    }
}

keys! {
    /// What is drawn once for every flow.
    #[derive(Clone, Debug)]
    pub(crate) struct DelayBoxKeys {
        /// Delay, each way; none by default.
        pub delay: Option<Distribution> = TIMES.key(),
        /// Probability of the loss of a packet; 0 by default.
        pub loss: Option<Distribution> = PROBABILITIES.key(),
        /// Rate of a bottleneck for this flow alone; none by default.
        pub rate: Option<Distribution> = RATES.key(),
        /// Whether a flow has the same values both ways, or others drawn for its way back.
        pub symmetric: bool = Kind::Flag.key().default("true"),
    }
}

keys! {
    /// Links between each flow's own hosts and the routers.
    #[derive(Clone, Debug)]
    pub(crate) struct AccessKeys {
        /// Transmission rate.
        pub rate: Rate = Kind::Positive(RATE).key().derived("ten times the fastest router link"),
        /// Propagation delay of each access link.
        pub delay: Span = Kind::Quantity(TIME).key().default("0 s"),
        /// Which ends have an access link.
        pub at: String = Kind::Word(&["both", "sender"]).key().default("both"),
    }
}

/// All keys of a link of the topology.
pub(crate) const LINK: &[Key] = &joined::<{ count(LINK_LISTS) }>(LINK_LISTS);
const LINK_LISTS: &[&[Key]] = &[LinkKeys::KEYS, IN_TIME, QUEUES];

const IN_TIME: &[Key] = &[
    key(
        "changes",
        Kind::OneOf(&[Kind::List(&Kind::Table(Change::KEYS)), Kind::Text]),
        "What the link is from given times on: rate and delay, both ways, and loss, forward direction only. Or a table of \
         comma-separated values with these columns: the path of its file, relative to this file, or its text.",
    ),
    key(
        "delivery_trace",
        Kind::Table(DELIVERY_TRACE),
        "Times at which packets leave in the forward direction, instead of a rate.",
    ),
];

const QUEUES: &[Key] = &[
    key(
        "queue",
        QUEUE,
        "Queue in front of the link. 1 BDP is the rate times the base round trip of the routers' path (twice \
         the delay of the bottleneck, of the whole chain of a parking lot, of the link itself in a graph), in \
         whole packets of the largest size that a flow sends.",
    )
    .default("{ kind = droptail, limit = 1 BDP }"),
    key(
        "reverse_queue",
        QUEUE,
        "Queue of the other direction; the same as `queue` by default.",
    ),
];

/// All keys of access links.
pub(crate) const ACCESS: &[Key] = &joined::<{ count(ACCESS_LISTS) }>(ACCESS_LISTS);
const ACCESS_LISTS: &[&[Key]] = &[
    AccessKeys::KEYS,
    &[
        key(
            "rtt",
            Kind::Positive(TIME),
            "Base round trip of the flow, instead of `delay`.",
        ),
        key("queue", QUEUE, "Queue, both ways.")
            .default("{ kind = droptail, limit = 10000 packets }"),
    ],
];
