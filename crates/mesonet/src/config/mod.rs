//! MesoNet: what to simulate, fully resolved. The scenario crate builds this from a user's file.
//!
//! NIST SP 500-282 chapter 3 (spec 004a) describes the model; 004b B.24, 004c B and 004d B add to it.
//! Packets have no size, so that capacities are packets per second. Everything here is resolved: link
//! delays are multiplied, capacities and buffers worked out, fractions of the run made times.

use longhaul_congestion::{ControllerSpec, SlowStart};
use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// A complete simulation.
#[derive(Clone, Debug)]
pub struct Config {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Replication number: another one draws other random numbers from the same seed.
    pub replication: u64,
    /// When the simulation ends.
    pub duration: Time,
    /// Routers and links.
    pub topology: Topology,
    /// Interfaces of sources and receivers.
    pub hosts: Hosts,
    /// What every flow has in common.
    pub transport: Transport,
    /// Congestion control of the sources. The probabilities add up to one.
    pub algorithms: Vec<Algorithm>,
    /// When sources ask for files.
    pub users: Users,
    /// How long the files are.
    pub files: Files,
    /// Flows without end, in the order of their numbers.
    pub long_lived: Vec<LongLived>,
    /// What is measured.
    pub measure: Measure,
    /// Flows that are traced, if any are.
    pub trace: Option<Trace>,
}

/// Routers and the links between those of the backbone.
#[derive(Clone, Debug)]
pub struct Topology {
    /// Backbone routers.
    pub backbone: Vec<Router>,
    /// One-way links between them.
    pub links: Vec<BackboneLink>,
    /// The link to take: `next_link[at][to]`, for two different backbone routers.
    pub next_link: Vec<Vec<Option<usize>>>,
    /// Points of presence, each at one backbone router.
    pub pops: Vec<Pop>,
    /// Access routers, each at a point of presence or at a backbone router.
    pub access: Vec<AccessRouter>,
    /// How the two queues of a router share its capacity.
    pub service: Service,
}

/// A router as such.
#[derive(Clone, Debug, PartialEq)]
pub struct Router {
    /// Name.
    pub name: String,
    /// How fast it forwards packets.
    pub capacity: PacketRate,
    /// Packets that each of its queues can hold, the one in service included; at least one.
    pub buffer: u64,
}

/// A one-way link of the backbone: a delay, and nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct BackboneLink {
    /// Name.
    pub name: String,
    /// Backbone router that packets come from.
    pub from: usize,
    /// Backbone router that they go to.
    pub to: usize,
    /// Propagation delay.
    pub delay: Span,
}

/// A point of presence.
#[derive(Clone, Debug, PartialEq)]
pub struct Pop {
    /// The router.
    pub router: Router,
    /// The backbone router above it.
    pub backbone: usize,
}

/// An access router with its hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessRouter {
    /// The router.
    pub router: Router,
    /// Its class.
    pub class: AccessClass,
    /// The router above it.
    pub parent: Parent,
    /// Sources under it, not counting those of long-lived flows.
    pub sources: u32,
    /// Receivers under it, not counting those of long-lived flows.
    pub receivers: u32,
}

/// The class of an access router; those of both ends make the class of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AccessClass {
    /// Directly at a backbone router: D.
    Direct,
    /// Fast: F.
    Fast,
    /// Typical: N.
    Normal,
}

/// The router above an access router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    /// A point of presence.
    Pop(usize),
    /// A backbone router.
    Backbone(usize),
}

/// How a router with two queues, one towards the backbone and one towards the hosts, serves them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Service {
    /// Each at the full capacity: what the published figures need (spec 004a B.3.3).
    Dual,
    /// One packet at a time, alternating while both queues hold some.
    Shared,
}

/// Packets per second.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct PacketRate(f64);

impl PacketRate {
    /// `packets` in every `period`.
    pub fn per(packets: f64, period: Span) -> Self {
        Self(packets / period.as_secs_f64())
    }

    /// `packets` in every millisecond, the unit of the published studies.
    pub fn per_ms(packets: f64) -> Self {
        Self(packets * 1000.0)
    }

    /// Packets per second.
    pub fn as_per_s(self) -> f64 {
        self.0
    }
}

/// Interfaces of sources and receivers: each host draws its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hosts {
    /// Packets that a basic host can send.
    pub base: PacketRate,
    /// Packets that a fast host can send.
    pub fast: PacketRate,
    /// Probability that a host is fast.
    pub fast_share: f64,
}

/// What every flow has in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transport {
    /// Congestion window to start with, and after timeouts.
    pub initial_cwnd: f64,
    /// Slow start threshold to start with.
    pub initial_ssthresh: f64,
    /// How windows open below the threshold.
    pub slow_start: SlowStart,
    /// Largest congestion window.
    pub max_cwnd: f64,
    /// Weight of a new sample in the smoothed round-trip time.
    pub srtt_gain: f64,
    /// What the first smoothed round-trip time has beyond propagation.
    pub srtt_allowance: Span,
}

/// A congestion control that sources may have.
#[derive(Clone, Debug, PartialEq)]
pub struct Algorithm {
    /// What tables call it.
    pub label: String,
    /// The algorithm.
    pub congestion: ControllerSpec,
    /// Probability that a source has it.
    pub share: f64,
    /// Whether flow groups count it as the alternate, and not as standard TCP.
    pub alternate: bool,
}

/// When sources ask for files.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Users {
    /// Mean of the exponential time between two files of a source.
    pub think: Span,
    /// How the first files are spread.
    pub start: StartWaves,
}

/// When sources ask for their first file (spec 004a B.5.1): at once, after an exponential time of a
/// third or of two thirds of the mean between files, or, all others, of that mean itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartWaves {
    /// Probability of starting at once.
    pub at_once: f64,
    /// Probability of the wave of one third.
    pub second: f64,
    /// Probability of the wave of two thirds.
    pub third: f64,
}

/// How long files are: a Pareto number of packets, rounded up, times the factor of the file's type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Files {
    /// Mean of the Pareto distribution in packets.
    pub mean: f64,
    /// Its shape.
    pub shape: f64,
    /// Documents, service packs and films, in the order of [`FileType::LARGE`]; all other files are
    /// Web objects, of factor one.
    pub large: [LargeFile; 3],
    /// How many of the large ones may be under way at once, where that is limited.
    pub admission: Option<Admission>,
    /// When flows between two direct access routers become much longer.
    pub jumbo: Option<Jumbo>,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FileType {
    /// A Web object.
    Web,
    /// A document.
    Document,
    /// A service pack.
    ServicePack,
    /// A film.
    Movie,
}

impl FileType {
    /// The types that multiply the size drawn.
    pub const LARGE: [Self; 3] = [Self::Document, Self::ServicePack, Self::Movie];
    /// All types.
    pub const ALL: [Self; 4] = [Self::Web, Self::Document, Self::ServicePack, Self::Movie];
}

/// A type of large files.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LargeFile {
    /// Probability that a file is of this type.
    pub probability: f64,
    /// What the size drawn is multiplied by.
    pub factor: u64,
}

/// How many large files may and should be under way (spec 004d B.6), counted from the choice of the
/// file to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Admission {
    /// Most files of each large type at once; one drawn beyond them becomes a Web object.
    pub most: [u64; 3],
    /// Fewest files of each large type in each cell: `least[type][cell]`. A flow of a cell that lacks
    /// one becomes one, films first.
    pub least: [[u64; Cell::COUNT]; 3],
}

/// What flows have in common whose large files are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The path's class.
    pub path: PathClass,
    /// Whether both hosts are fast.
    pub fast_interface: bool,
    /// Whether the source has an alternate algorithm.
    pub alternate: bool,
}

impl Cell {
    /// How many cells there are.
    pub const COUNT: usize = 12;

    /// Its position: paths from the fastest, fast interfaces before others, standard TCP first.
    pub const fn index(self) -> usize {
        self.path as usize * 4 + (!self.fast_interface) as usize * 2 + self.alternate as usize
    }
}

/// The class of a path: that of its slower access router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PathClass {
    /// Two direct ones.
    VeryFast,
    /// A fast one, and none that is normal.
    Fast,
    /// A normal one.
    Typical,
}

/// A part of the run in which flows between direct access routers are longer: those that are
/// connected in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Jumbo {
    /// When it begins.
    pub from: Time,
    /// When it is over.
    pub until: Time,
    /// What sizes are multiplied by.
    pub factor: u64,
}

/// A flow without end between hosts of its own, connected from the beginning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LongLived {
    /// Name.
    pub label: String,
    /// Access router of the source.
    pub from: usize,
    /// Access router of the receiver.
    pub to: usize,
    /// When it starts to send.
    pub start: Time,
    /// When it stops.
    pub stop: Time,
    /// Position of its algorithm in [`Config::algorithms`]; drawn like those of sources without it.
    pub algorithm: Option<usize>,
    /// What its hosts can send.
    pub speed: PacketRate,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Length of an interval of the time series, more than zero.
    pub every: Span,
    /// Completed flows of a group after which statistics of their goodput are reported.
    pub batch: usize,
    /// Whether every flow is reported when it ends.
    pub flow_log: bool,
}

/// Flows that are traced: their states, and their packets on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Positions of long-lived flows.
    pub long_lived: Vec<usize>,
    /// First and last number of sources, in order of access routers from 0: all of their flows.
    pub sources: Vec<(u32, u32)>,
    /// When the trace begins.
    pub from: Time,
    /// When it ends.
    pub until: Time,
    /// Most records of each of the two kinds.
    pub most: u64,
}
