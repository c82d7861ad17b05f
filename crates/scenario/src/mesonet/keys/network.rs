//! Keys of `[mesonet.network]` and `[mesonet.hosts]`, and of topology files.

use longhaul_keys::{COUNT_MAX, Kind, PROBABILITY, Range, Read, Table, Value, keys, words};
use longhaul_mesonet::config::Service;

use super::{FACTOR, STEPS, Written};

/// Allowed values of a key: a rate in packets per time step.
const RATE: Kind = Kind::Number(Range::above(0.0, 1e9));
const BUFFER: Kind = Kind::Whole {
    min: 1,
    max: COUNT_MAX,
};
const MAX_ROUTERS: i64 = 100_000;
const MAX_HOSTS: i64 = 100_000_000;
const HOSTS_BELOW: Kind = Kind::Whole {
    min: 0,
    max: MAX_HOSTS,
};

/// Allowed values of a key for access routers of a class: the number of routers, or a table for each router.
const ACCESS_ROUTERS: Kind = Kind::OneOf(&[
    Kind::Whole {
        min: 0,
        max: MAX_ROUTERS,
    },
    Kind::List(&Kind::Table(AccessKeys::KEYS)),
]);

words! {
    /// Rules for the sizes of buffers, in the order of their codes in the original MesoNet (1 to
    /// 3).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Sizing {
        /// Round-trip time times capacity.
        RttCapacity = "rtt-capacity",
        /// Round-trip time times capacity, divided by the square root of half the hosts.
        OverRoot = "rtt-capacity/sqrt-n",
        /// Mean of the sizes by the rules `rtt-capacity` and `rtt-capacity/sqrt-n`.
        Mean = "mean",
    }
}

/// Size of a router's buffer, as given in the scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Buffer {
    /// A number of packets.
    Packets(u64),
    /// A rule that gives the size.
    Sized(Sizing),
}

impl Read for Buffer {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::Text(_) => Read::read(value).map(Self::Sized),
            _ => Read::read(value).map(Self::Packets),
        }
    }
}

/// Value of a key for the access routers of a class below a router: their number, or a list of them.
pub(crate) enum Routers {
    /// A number of equal routers.
    Number(u64),
    /// A list of routers, each with its keys.
    Each,
}

impl Read for Routers {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value {
            None => Some(Self::Number(0)),
            Some(Value::List(_)) => Some(Self::Each),
            _ => Read::read(value).map(Self::Number),
        }
    }
}

keys! {
    /// Keys of routers and links.
    pub(crate) struct NetworkKeys {
        /// `abilene` (default), the published network with 11, 22 and 139 routers in three tiers; `dumbbell`, that of
        /// the published verification; the path of a topology file, relative to the scenario; or the file's contents.
        pub topology: Table = Kind::OneOf(&[Kind::Text, Kind::Table(TopologyFile::KEYS)]).key(),
        /// Factor that multiplies the delays of all links (deltaX); 1 by default. The products are rounded to time
        /// steps, halves to even.
        pub delay_factor: f64 = FACTOR.key(),
        /// Rate from which the capacities of all routers are computed, in packets per time step (R1); 1200 by default.
        pub backbone_rate: f64 = RATE.key(),
        /// Capacity of backbone routers, as a multiple of backbone_rate (BBspeedup); 2 by default.
        pub backbone_speedup: f64 = FACTOR.key(),
        /// Ratio of backbone_rate to the capacity of points of presence (R2); 4 by default.
        pub pop_divisor: f64 = FACTOR.key(),
        /// Ratio of the capacity of points of presence to that of normal access routers (R3); 10 by default.
        pub access_divisor: f64 = FACTOR.key(),
        /// Ratio of the speed of fast access routers to that of normal ones (Bfast); 2 by default.
        pub fast_factor: f64 = FACTOR.key(),
        /// Ratio of the speed of direct access routers to that of normal ones (Bdirect); 10 by default.
        pub direct_factor: f64 = FACTOR.key(),
        /// Packets that each buffer holds: a number, or a rule. `rtt-capacity` (default; QszAlg 1): the mean round-trip
        /// time of the topology times the router's capacity. `rtt-capacity/sqrt-n` (2): this product divided by the
        /// square root of half the number of hosts below. `mean` (3): the mean of the two other rules.
        pub buffer: Buffer = Kind::OneOf(&[Kind::Word(Sizing::WORDS), BUFFER]).key(),
        /// Factor that multiplies all buffers (Qfactor), except those of routers with their own `buffer`; 1 by default.
        pub buffer_factor: f64 = FACTOR.key(),
        /// Servers of the two queues of an access router or a point of presence. `shared` (default): one server that
        /// alternates while both queues hold packets. `alternating`: one server that always alternates, and idles if
        /// the next queue is empty. `dual`: a server of the router's rate for each queue.
        pub service: Service = Kind::Word(Service::WORDS).key(),
        /// True if the two queues of an access router or a point of presence share one buffer instead of having one
        /// each; true by default with `shared` and `alternating` service, and impossible with `dual`.
        pub shared_buffer: bool = Kind::Flag.key(),
    }
}

keys! {
    /// Keys of the numbers and speeds of sources and receivers.
    pub(crate) struct HostKeys {
        /// Sources below an access router, on average over the three classes; receivers are four times as many
        /// (baseSources); 100 by default.
        pub sources: f64 = Kind::Number(Range::closed(0.0, 1e9)).key(),
        /// Factor that multiplies the numbers of sources and receivers (deltaU); 2 by default.
        pub scale: f64 = FACTOR.key(),
        /// Shares of the sources by class of access router; a third each by default. A single missing share is the
        /// remainder.
        pub source_shares: SourceShares = Kind::Table(SourceShares::KEYS).key(),
        /// Shares of the receivers by class of access router; 0.6, 0.2 and 0.2 by default. A single missing share is
        /// the remainder.
        pub receiver_shares: ReceiverShares = Kind::Table(ReceiverShares::KEYS).key(),
        /// Packets per time step that a basic host can send (Hbase); 8 by default.
        pub base_rate: f64 = RATE.key(),
        /// Packets per time step that a fast host can send (Hfast); 80 by default.
        pub fast_rate: f64 = RATE.key(),
        /// Probability that a host is fast (FastHostProb); 0.4 by default.
        pub fast_share: f64 = PROBABILITY.key(),
    }
}

keys! {
    /// Shares of the sources by class of access router.
    pub(crate) struct SourceShares {
        /// Fraction of the sources below normal access routers (probNs).
        pub normal: f64 = PROBABILITY.key(),
        /// Fraction of the sources below fast access routers (probNsf).
        pub fast: f64 = PROBABILITY.key(),
        /// Fraction of the sources below direct access routers (probNsd).
        pub direct: f64 = PROBABILITY.key(),
    }
}

keys! {
    /// Shares of the receivers by class of access router.
    pub(crate) struct ReceiverShares {
        /// Fraction of the receivers below normal access routers (probNr).
        pub normal: f64 = PROBABILITY.key(),
        /// Fraction of the receivers below fast access routers (probNrf).
        pub fast: f64 = PROBABILITY.key(),
        /// Fraction of the receivers below direct access routers (probNrd).
        pub direct: f64 = PROBABILITY.key(),
    }
}

keys! {
    /// Keys of a topology file.
    pub(crate) struct TopologyFile {}
    apart {
        /// Title of the network.
        pub title: Option<String> = Kind::Name.key(),
        /// Backbone routers, with everything below them.
        pub backbone: Vec<Table> = Kind::List(&Kind::Table(BackboneKeys::KEYS)).key().required(),
        /// Links between backbone routers, numbered from 1 in this order.
        pub links: Vec<Table> = Kind::List(&Kind::Table(LinkKeys::KEYS)).key().required(),
        /// Next routers on paths. Without an entry, packets take the path with the shortest delay.
        pub routes: Vec<Table> = Kind::List(&Kind::Table(RouteKeys::KEYS)).key(),
    }
}

keys! {
    /// Keys of a backbone router.
    pub(crate) struct BackboneKeys {
        /// Name of the router.
        pub name: String = Kind::Name.key().required(),
        /// Capacity in packets per time step, instead of that of the router's class.
        pub rate: Option<f64> = RATE.key(),
        /// Packets that each buffer of the router holds, instead of network.buffer x network.buffer_factor.
        pub buffer: Option<u64> = BUFFER.key(),
    }
    apart {
        /// Direct access routers below the router: their number, or a table for each; named X0a and
        /// so on below X.
        pub direct: Routers = ACCESS_ROUTERS.key(),
        /// Points of presence below the router; named X1 and so on below X.
        pub pops: Vec<Table> = Kind::List(&Kind::Table(PopKeys::KEYS)).key(),
    }
}

keys! {
    /// Keys of a point of presence.
    pub(crate) struct PopKeys {
        /// Name of the point of presence.
        pub name: Option<String> = Kind::Name.key(),
        /// Capacity in packets per time step, instead of that of the router's class.
        pub rate: Option<f64> = RATE.key(),
        /// Packets that each buffer of the router holds, instead of network.buffer x network.buffer_factor.
        pub buffer: Option<u64> = BUFFER.key(),
    }
    apart {
        /// Normal access routers below the point of presence: their number, or a table for each. Below X1, they are
        /// named X1a, X1b and so on by default.
        pub normal: Routers = ACCESS_ROUTERS.key(),
        /// Fast access routers below the point of presence: their number, or a table for each. By default, the letters
        /// in their names continue those of normal access routers.
        pub fast: Routers = ACCESS_ROUTERS.key(),
    }
}

keys! {
    /// Keys of an access router.
    pub(crate) struct AccessKeys {
        /// Name of the access router.
        pub name: Option<String> = Kind::Name.key(),
        /// Capacity in packets per time step, instead of that of the router's class.
        pub rate: Option<f64> = RATE.key(),
        /// Packets that each buffer of the router holds, instead of network.buffer x network.buffer_factor.
        pub buffer: Option<u64> = BUFFER.key(),
        /// Number of sources below the router, instead of the number given by hosts.source_shares.
        pub sources: Option<u32> = HOSTS_BELOW.key(),
        /// Number of receivers below the router, instead of the number given by
        /// hosts.receiver_shares.
        pub receivers: Option<u32> = HOSTS_BELOW.key(),
    }
}

keys! {
    /// Keys of a link of the backbone.
    pub(crate) struct LinkKeys {
        /// Backbone router where the link begins.
        pub from: String = Kind::Name.key().required(),
        /// Backbone router where the link ends.
        pub to: String = Kind::Name.key().required(),
        /// Propagation delay, one way: a time, or time steps.
        pub delay: Written = STEPS.key().required(),
        /// True to add a link in the opposite direction, which gets the next number; true by default.
        pub both: bool = Kind::Flag.key(),
    }
}

keys! {
    /// Keys of a route: the next backbone router towards some destinations.
    pub(crate) struct RouteKeys {
        /// Backbone router that forwards the packets.
        pub at: String = Kind::Name.key().required(),
        /// Next backbone router; a link has to lead to it.
        pub next: String = Kind::Name.key().required(),
        /// Backbone routers of the packets' destinations.
        pub to: Vec<String> = Kind::List(&Kind::Name).key().required(),
    }
}
