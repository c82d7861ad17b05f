//! Routers, links, and their capacities (NIST SP 500-282, chapter 3).

use longhaul_keys::words;
use longhaul_units::Span;
use serde::{Deserialize, Serialize};

/// Routers, and the links between backbone routers.
#[derive(Clone, Debug)]
pub struct Topology {
    /// Backbone routers; other fields refer to them by their index.
    pub backbone: Vec<Router>,
    /// One-way links between backbone routers.
    pub links: Vec<BackboneLink>,
    /// Routing table of the backbone. `next_link[at][to]` is the index of the link for packets from router `at` to
    /// router `to`; `None` without a route, and if `at` equals `to`.
    pub next_link: Vec<Vec<Option<usize>>>,
    /// Points of presence. Each is connected to one backbone router.
    pub pops: Vec<Pop>,
    /// Access routers, each at a point of presence or at a backbone router.
    pub access: Vec<AccessRouter>,
    /// Service of the two queues of each point of presence and access router. A backbone router has one queue.
    pub service: Service,
    /// True if the two queues of a router with one server share the router's buffer. If false, each queue has a
    /// separate buffer of the router's size.
    pub shared_buffer: bool,
}

impl Topology {
    /// Returns the index of a backbone router: `parent` itself, or the one above if `parent` is a point of presence.
    pub fn backbone_above(&self, parent: Parent) -> usize {
        match parent {
            Parent::Pop(pop) => self.pops[pop].backbone,
            Parent::Backbone(router) => router,
        }
    }

    /// Returns true if a backbone router has access routers below it. If false, it only forwards
    /// packets between other backbone routers.
    pub fn has_access(&self, router: usize) -> bool {
        self.access
            .iter()
            .any(|access| self.backbone_above(access.parent) == router)
    }

    /// Returns the mean round-trip propagation delay, in seconds, over all pairs of different backbone routers with
    /// access routers below them; `None` without such a pair.
    pub fn mean_round_trip_s(&self) -> Option<f64> {
        let domains: Vec<usize> = (0..self.backbone.len())
            .filter(|&at| self.has_access(at))
            .collect();
        let ways = domains.iter().flat_map(|&from| {
            let others = domains.iter().filter(move |&&to| to != from);
            others.map(move |&to| self.way_s(from, to))
        });
        let ways: Vec<f64> = ways.collect();
        // A pair has two directions, which together are its round trip.
        (!ways.is_empty()).then(|| 2.0 * ways.iter().sum::<f64>() / ways.len() as f64)
    }

    /// Returns the total delay in seconds of the links on the route between two backbone routers.
    fn way_s(&self, from: usize, to: usize) -> f64 {
        let links = std::iter::successors(self.next_link[from][to], |&link| {
            self.next_link[self.links[link].to][to]
        });
        links.map(|link| self.links[link].delay.as_secs_f64()).sum()
    }
}

/// The properties of a router of any kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Router {
    /// Name of the router.
    pub name: String,
    /// Forwarding rate of the router.
    pub capacity: PacketRate,
    /// Maximum number of packets, including those in service, in each of the router's queues, or in both together if
    /// they share a buffer; at least one.
    pub buffer: u64,
}

/// A one-way link between backbone routers, which only has a delay.
#[derive(Clone, Debug, PartialEq)]
pub struct BackboneLink {
    /// Name of the link.
    pub name: String,
    /// Index of the backbone router at the link's beginning.
    pub from: usize,
    /// Index of the backbone router at the link's end.
    pub to: usize,
    /// Propagation delay.
    pub delay: Span,
}

/// A point of presence: a router between a backbone router and access routers.
#[derive(Clone, Debug, PartialEq)]
pub struct Pop {
    /// Name, rate and buffer of the point of presence.
    pub router: Router,
    /// Index of the backbone router of the point of presence.
    pub backbone: usize,
}

/// An access router with its hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessRouter {
    /// Name, rate and buffer of the access router.
    pub router: Router,
    /// Speed class of the router.
    pub class: AccessClass,
    /// The router above the access router.
    pub parent: Parent,
    /// Number of sources below the router, without the hosts of long-lived flows.
    pub sources: u32,
    /// Number of receivers below the router, without the hosts of long-lived flows.
    pub receivers: u32,
}

/// The speed class of an access router; the classes at both ends determine the class of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AccessClass {
    /// Directly connected to a backbone router (D).
    Direct,
    /// Of high speed, below a point of presence (F).
    Fast,
    /// Of normal speed, below a point of presence (N).
    Normal,
}

/// The router above an access router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    /// Index of a point of presence.
    Pop(usize),
    /// Index of a backbone router.
    Backbone(usize),
}

words! {
    /// Number of servers of a router, and the order in which they serve its two queues: the one towards the backbone and
    /// the one towards the hosts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Service {
        /// One server for both queues. It alternates while both queues hold packets, and is never idle while either
        /// queue holds packets.
        Shared = "shared",
        /// One server for both queues. It alternates strictly: if the next queue is empty, it idles for one service
        /// time.
        Alternating = "alternating",
        /// A server of the router's full capacity for each queue. The figures of NIST SP 500-282, chapter 5,
        /// require this service.
        Dual = "dual",
    }
}

/// A rate in packets per second.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct PacketRate(f64);

impl PacketRate {
    /// Returns the rate of `packets` in every `period`.
    pub fn per(packets: f64, period: Span) -> Self {
        Self(packets / period.as_secs_f64())
    }

    /// Returns the rate of `packets` in every millisecond, the unit of the published studies.
    pub fn per_ms(packets: f64) -> Self {
        Self(packets * 1000.0)
    }

    /// Returns the rate in packets per second.
    pub fn as_per_s(self) -> f64 {
        self.0
    }
}
