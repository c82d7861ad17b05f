//! Every key of a scenario: its allowed values and its meaning.
//!
//! These tables are the only declaration of keys. The checker refuses keys that they do not list. The JSON Schema for
//! editors and the help are made from them.

use longhaul_engine::config::{Clock, Measure, Randomness, StopRule, Tcp};
use longhaul_keys::{Key, Kind, Profile, TIME, Table, keys, together};
use longhaul_units::Time;

pub(crate) mod flow;
pub(crate) mod protocol;
pub(crate) mod queue;
pub(crate) mod quic;

use self::flow::{AnyFlow, FlowAccess, TcpFlow, UdpFlow};
use self::quic::QuicFlow;
use crate::mesonet::keys::MesoNet;
use crate::proxy::keys::PROXY;
use crate::topology::{FLOW_PLACES, TOPOLOGY};

/// All keys of a scenario file for links and flows, and the key `mesonet`, which selects the other kind of simulation.
pub(crate) const SCENARIO: &[Key] =
    together!(About::KEYS, Length::KEYS, Seeds::KEYS, Scenario::KEYS);

/// All keys of a scenario file with a simulation of MesoNet.
pub(crate) const MESONET_SCENARIO: &[Key] =
    together!(About::KEYS, Seeds::KEYS, MesoNetScenario::KEYS);

/// All keys of one entry of `[[flows]]`.
const FLOW: &[Key] = together!(
    AnyFlow::KEYS,
    TcpFlow::KEYS,
    UdpFlow::KEYS,
    QuicFlow::KEYS,
    FLOW_PLACES,
    FlowAccess::KEYS,
);

const MESONET: Kind = Kind::Table(MesoNet::KEYS);
const NATURAL: Kind = Kind::Whole {
    min: 0,
    max: i64::MAX,
};

keys! {
    /// Keys of the title and the description of a scenario, and of the file that it extends.
    pub(crate) struct About {
        /// Subject of the scenario, in a few words.
        pub title: Option<String> = Kind::Name.key(),
    }
    apart {
        /// Purpose of the scenario, and its interesting results.
        pub description: String = Kind::Text.key(),
        /// Another scenario file that this one changes; relative to this file.
        pub extends: String = Kind::Text.key(),
    }
}

keys! {
    /// Keys of the profile and the duration.
    pub(crate) struct Length {
        /// Set of defaults that later versions do not change: `rfc`, `linux` for a current kernel, `ns2-2.35`, or
        /// `ns2-2003` for older studies.
        pub profile: Profile = Kind::Word(Profile::NAMES).key().default("rfc"),
        /// Simulated time.
        pub duration: Time = Kind::Positive(TIME).key().required(),
    }
}

keys! {
    /// Keys of the random numbers.
    pub(crate) struct Seeds {
        /// Seed of all random streams.
        pub seed: u64 = NATURAL.key().default("1"),
        /// Number of the replication; each replication draws other random numbers.
        pub replication: u64 = NATURAL.key().default("0"),
    }
}

keys! {
    /// Keys of a simulation of links and flows.
    pub(crate) struct Scenario {
        /// Timing of links: `exact`, or `ns2` with the rounding errors of ns-2's floating-point times.
        /// These errors decide the order of simultaneous arrivals and departures.
        pub clock: Clock = Kind::Word(Clock::WORDS).key().default("exact").in_ns2("ns2"),
        /// Source of random numbers: `streams`, with one stream per component, or `ns2`, with
        /// ns-2's single generator for all components, as after `ns-random SEED`.
        pub random: Randomness = Kind::Word(Randomness::WORDS).key().default("streams").in_ns2("ns2"),
    }
    apart {
        /// Measurements, and their times.
        pub measure: Table = Kind::Table(MEASURE).key().default("{}"),
        /// Transport options of all TCP flows; they override those of the profile.
        pub tcp: Table = Kind::Table(Tcp::KEYS).key(),
        /// The network: a table of one kind of topology.
        pub topology: Table = Kind::Table(TOPOLOGY).key().required(),
        /// Groups of equal flows.
        pub flows: Vec<Table> = Kind::List(&Kind::Table(FLOW)).key().required(),
        /// Proxies: pairs of nodes. One connection between the two carries the data of all TCP flows that pass them.
        pub proxies: Vec<Table> = Kind::List(&Kind::Table(PROXY)).key(),
        /// A simulation of MesoNet, in place of `topology` and `flows`.
        pub mesonet: Table = MESONET.key(),
    }
}

keys! {
    /// Keys of a simulation of MesoNet.
    pub(crate) struct MesoNetScenario {}
    apart {
        /// A simulation of MesoNet, in place of `topology` and `flows`.
        pub mesonet: Table = MESONET.key().required(),
    }
}

const MEASURE: &[Key] = together!(Measure::KEYS, MoreMeasures::KEYS);

keys! {
    /// Keys of measurements that refer to flows and links by name.
    pub(crate) struct MoreMeasures {
        /// Rule that ends the run before its duration.
        pub stop: Option<CountedFlows> = Kind::Table(STOP).key(),
        /// Names of captured links and nodes. Packets are recorded when they reach such a link, before the queue. At
        /// such a node, they are recorded when they are sent from it and when they reach it as their destination.
        /// Access links and their hosts are included, such as `reno-0-sender-up` and `reno-0-sender`.
        pub capture: Vec<String> = Kind::List(&Kind::Name).key().default("[]"),
    }
}

const STOP: &[Key] = together!(StopRule::KEYS, CountedFlows::KEYS);

keys! {
    /// Keys that select the flows that a stop rule counts.
    pub(crate) struct CountedFlows {
        /// Labels of the flows whose exchanges the rule counts; by default all flows with exchanges.
        pub labels as "of": Vec<String> = Kind::List(&Kind::Name).key(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_all(keys: &[Key], path: &str) -> usize {
        let of = |key: &Key| {
            let path = format!("{path}.{}", key.name);
            for profile in Profile::ALL {
                if let Some(text) = key.default_in(profile) {
                    assert!(key.kind.parse(text).is_some(), "{path} cannot be {text}");
                }
            }
            usize::from(key.default_in(Profile::Rfc).is_some()) + below(&key.kind, &path)
        };
        keys.iter().map(of).sum()
    }

    fn below(kind: &Kind, path: &str) -> usize {
        match kind {
            Kind::Table(keys) => check_all(keys, path),
            Kind::Tagged(kinds) => kinds.iter().map(|(_, keys)| check_all(keys, path)).sum(),
            Kind::List(item) => below(item, path),
            Kind::OneOf(kinds) => kinds.iter().map(|kind| below(kind, path)).sum(),
            _ => 0,
        }
    }

    /// Every default is a value that its key allows. Otherwise the program would stop only when the
    /// default is used.
    #[test]
    fn every_default_is_allowed_by_its_key() {
        assert!(check_all(SCENARIO, "") > 100);
    }
}
