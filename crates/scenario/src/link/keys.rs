//! Keys of links in addition to the options of the engine's [`Link`]: changes, delivery traces,
//! queues, the reverse direction, and access links.

use longhaul_engine::config::{Change, DirectionKeys, Link};
use longhaul_keys::{Key, Kind, RATE, TIME, Table, keys, together, words};
use longhaul_units::{Rate, Span};

use super::delivery_trace::TraceKeys;
use crate::model::queue::QUEUE;

/// Keys that links have in every kind of topology.
pub(crate) const LINK: &[Key] = together!(Link::KEYS, LinkParts::KEYS);
/// All keys in the table `reverse` of a link, for its reverse direction.
const REVERSE: &[Key] = together!(ReverseKeys::KEYS, ReverseParts::KEYS);

keys! {
    /// Keys of a link that are resolved separately from those of [`Link`].
    pub(crate) struct LinkParts {}
    apart {
        /// Changes of the link at given times. Rate and delay change in both directions, unless `reverse` has separate
        /// values; loss changes in the forward direction. The value is a list of tables, a text of comma-separated
        /// values whose columns are the keys of a change, or the path of a file with such a text. The path is relative
        /// to the scenario file.
        pub changes: Vec<Change> = Kind::OneOf(&[Kind::List(&Kind::Table(Change::KEYS)), Kind::Text]).key(),
        /// Delivery opportunities of packets in the forward direction, instead of a rate.
        pub delivery_trace: Table = Kind::Table(TraceKeys::KEYS).key(),
        /// Queue in front of the link. A limit of 1 BDP is the link's rate times the base round-trip time, in whole
        /// packets of the largest size that a flow sends. The base round-trip time is the sum of the delays in both
        /// directions: of the bottleneck of a dumbbell, of all links of a parking lot, or of this link in a graph.
        pub queue: Table = QUEUE.key().default("{ kind = droptail, limit = 1 BDP }"),
        /// Keys of the reverse direction. By default rate, delay and queue are those of the forward
        /// direction. Keys for one direction, such as `loss`, affect the reverse one only if given here.
        pub reverse: Table = Kind::Table(REVERSE).key(),
    }
}

keys! {
    /// Options in the table `reverse` of a link.
    #[derive(Clone, Debug)]
    pub(crate) struct ReverseKeys {
        /// Transmission rate; by default the mean rate of reverse.delivery_trace or, without one, the rate of the
        /// forward direction.
        pub rate: Option<Rate> = Kind::Positive(RATE).key(),
        /// Propagation delay; by default the delay of the forward direction.
        pub delay: Option<Span> = Kind::Quantity(TIME).key(),
    }
    flattened {
        /// Options that are not shared with the forward direction.
        pub direction: DirectionKeys,
    }
}

keys! {
    /// Keys of the table `reverse` that are resolved separately from those of [`ReverseKeys`].
    pub(crate) struct ReverseParts {}
    apart {
        /// Delivery opportunities of packets in this direction, instead of a rate.
        pub delivery_trace: Table = Kind::Table(TraceKeys::KEYS).key(),
        /// Queue of this direction. By default it has the keys of the link's `queue`, with values
        /// derived from the rate of this direction.
        pub queue: Table = QUEUE.key(),
    }
}

keys! {
    /// Access links: links between the hosts of each flow and the routers.
    #[derive(Clone, Debug)]
    pub(crate) struct AccessKeys {
        /// Transmission rate.
        pub rate: Rate = Kind::Positive(RATE).key().derived("ten times the fastest router link"),
        /// Propagation delay of each access link.
        pub delay: Span = Kind::Quantity(TIME).key().default("0 s"),
        /// Ends at which a flow has an access link.
        pub at: AccessEnds = Kind::Word(AccessEnds::WORDS).key().default("both"),
    }
    apart {
        /// Base round trip of the flow, instead of `delay`.
        pub rtt: Span = Kind::Positive(TIME).key(),
        /// Queue of the access links, in both directions.
        pub queue: Table = QUEUE.key().default("{ kind = droptail, limit = 10000 packets }"),
    }
}

words! {
    /// Ends at which a flow has an access link.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum AccessEnds {
        /// Sender and receiver.
        Both = "both",
        /// The sender.
        Sender = "sender",
    }
}
