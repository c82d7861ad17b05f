//! Keys of links: the same for a link of the topology and for access links, as far as both have them.

use longhaul_engine::config::{
    AckThinning, Change, Distribution, Loss, LossKeys, PROBABILITIES, Policer, RATES, Reordering,
    Shaper, TIMES,
};
use longhaul_keys::{Kind, PROBABILITY, RATE, TIME, Table, keys, words};
use longhaul_units::{Rate, Span};

use super::delivery_trace::TraceKeys;
use crate::model::queue::QUEUE;

keys! {
    /// A link of the topology.
    #[derive(Clone, Debug)]
    pub(crate) struct LinkKeys {
        /// Transmission rate.
        pub rate: Rate = Kind::Positive(RATE).key().derived("the mean rate of delivery_trace, without which it is required"),
        /// Propagation delay, one way.
        pub delay: Span = Kind::Quantity(TIME).key().required(),
        /// Time after which all of `changes` happen again, and again.
        pub changes_period: Option<Span> = Kind::Positive(TIME).key(),
        /// Delay, loss and rate of its own for every flow, both ways, before packets reach the queue.
        pub delay_box: Option<DelayBoxKeys> = Kind::Table(DelayBoxKeys::KEYS).key()
            .source("ns-2: DelayBox; Weigle 2003, appendix A"),
        /// Time that hosts take to process an ACK, drawn anew for each: ACKs are delayed by it, both ways, before
        /// they reach the queue.
        pub host_processing_delay: Option<Distribution> = TIMES.key(),
        /// Period of the timer whose ticks release packets at the far end, both ways, as in dummynet.
        pub tick: Option<Span> = Kind::Positive(TIME).key(),
    }
    flattened {
        /// What the forward direction alone has.
        pub own: DirectionKeys,
    }
    apart {
        /// What the link is from given times on: rate and delay, both ways, unless `reverse` has its own, and loss, forward
        /// direction only. Or a table of comma-separated values with these columns: the path of its file, relative to this
        /// file, or its text.
        pub changes: Vec<Change> = Kind::OneOf(&[Kind::List(&Kind::Table(Change::KEYS)), Kind::Text]).key(),
        /// Times at which packets leave, instead of a rate, forward direction only.
        pub delivery_trace: Table = Kind::Table(TraceKeys::KEYS).key(),
        /// Queue in front of the link. 1 BDP is the rate times the base round trip of the routers' path (twice
        /// the delay of the bottleneck, of the whole chain of a parking lot, of the link itself in a graph; there and
        /// back where `reverse` has a delay of its own), in
        /// whole packets of the largest size that a flow sends.
        pub queue: Table = QUEUE.key().default("{ kind = droptail, limit = 1 BDP }"),
        /// The other direction, as far as it differs: rate, delay and queue are those of the forward direction by default,
        /// and whatever is of the forward direction only can be given here for this one.
        pub reverse: Table = Kind::Table(ReverseKeys::KEYS).key(),
    }
}

keys! {
    /// What one direction of a link has for itself: written at the link, of the forward direction.
    #[derive(Clone, Debug)]
    pub(crate) struct DirectionKeys {
        /// Token bucket between the queue and the link, forward direction only. What depends on the link's rate,
        /// such as 1 BDP, counts with the bucket's.
        pub shaper: Option<Shaper> = Kind::Table(Shaper::KEYS).key(),
        /// Token bucket before the queue that drops what exceeds it, forward direction only.
        pub policer: Option<Policer> = Kind::Table(Policer::KEYS).key()
            .source("RFC 2697; Linux: tc-police"),
        /// Packets lost before they reach the queue, forward direction only.
        pub loss: Loss = Kind::Table(LossKeys::KEYS).key(),
        /// Probability that a packet is followed by a copy of itself, forward direction only.
        pub duplication: Option<f64> = PROBABILITY.key(),
        /// Packets held back before they reach the queue, behind those that follow, forward direction only.
        pub reordering: Option<Reordering> = Kind::Table(Reordering::KEYS).key(),
        /// Added to the propagation delay of each packet, drawn anew for each, forward direction only; packets keep
        /// their order.
        pub jitter: Option<Distribution> = TIMES.key(),
        /// ACKs of a connection dropped for newer ones before they reach the queue, forward direction only: the ACKs
        /// of forward flows go back.
        pub ack_thinning: Option<AckThinning> = Kind::Table(AckThinning::KEYS).key()
            .source("RFC 3449 section 5.2"),
        /// Whether a newer ACK of a connection takes the place of an older one that waits in the queue, forward
        /// direction only: the ACKs of forward flows go back.
        pub ack_filtering: Option<bool> = Kind::Flag.key()
            .source("RFC 3449 section 5.2.1; ns-2: SemanticPacketQueue with replace_head_"),
    }
}

keys! {
    /// What the other direction of a link has instead.
    #[derive(Clone, Debug)]
    pub(crate) struct ReverseKeys {
        /// Transmission rate; that of the forward direction by default.
        pub rate: Option<Rate> = Kind::Positive(RATE).key(),
        /// Propagation delay; that of the forward direction by default.
        pub delay: Option<Span> = Kind::Quantity(TIME).key(),
    }
    flattened {
        /// What it has for itself.
        pub own: DirectionKeys,
    }
    apart {
        /// Times at which packets leave, instead of a rate, forward direction only.
        pub delivery_trace: Table = Kind::Table(TraceKeys::KEYS).key(),
        /// Queue of this direction; the same as `queue` of the link by default, with what is derived from this rate.
        pub queue: Table = QUEUE.key(),
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
        pub at: AccessEnds = Kind::Word(AccessEnds::WORDS).key().default("both"),
    }
    apart {
        /// Base round trip of the flow, instead of `delay`.
        pub rtt: Span = Kind::Positive(TIME).key(),
        /// Queue, both ways.
        pub queue: Table = QUEUE.key().default("{ kind = droptail, limit = 10000 packets }"),
    }
}

words! {
    /// Which ends of flows have an access link.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum AccessEnds {
        /// Sender and receiver.
        Both = "both",
        /// The sender.
        Sender = "sender",
    }
}
