//! What a simulation reports: a record per interval, others as events happen.
//!
//! NIST SP 500-282, tables 3-4 to 3-8. Records hold counts and sums; means, rates and shares follow
//! from them. What is counted over an interval belongs to that interval alone unless a field says
//! otherwise.

mod trace;

pub use self::trace::{
    Direction, FlowEvent, FlowPhase, FlowState, PacketEvent, PacketKind, PacketTraceRecord,
    RouterId, TracedFlow,
};

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::config::{FileType, PathClass};
pub use longhaul_kernel::{Control, DataPackets};

/// Receives the records of a simulation. Never called per packet, except for traced flows.
pub trait Recorder {
    /// An interval is over.
    fn interval(&mut self, interval: &Interval<'_>);
    /// Enough flows of a group were completed, or the simulation is over.
    fn batch(&mut self, batch: &GoodputBatch);
    /// A flow was completed, or could not be connected. Only if the configuration asks for it.
    fn flow(&mut self, flow: &FlowRecord);
    /// A traced flow has changed.
    fn flow_state(&mut self, _state: &FlowState) {}
    /// An event of a packet of a traced flow; sorted by time, at the end of an interval.
    fn packet(&mut self, _record: &PacketTraceRecord) {}
    /// Called a few thousand times in a run with the simulated time and data packets so far; the
    /// result can stop the simulation.
    fn progress(&mut self, now: Time, data_packets: DataPackets<'_>) -> Control;
    /// Called between two intervals: `state` makes the bytes that [`crate::resume`] takes, at the cost
    /// of some thousands of packets. Algorithms written in Python cannot be stored.
    fn checkpoint(&mut self, _state: &dyn Fn() -> Vec<u8>) {}
}

/// The classes of flows by the access routers of their ends, in the order of the published tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FlowClass {
    /// Direct and direct.
    Dd,
    /// Direct and fast.
    Df,
    /// Direct and normal.
    Dn,
    /// Fast and fast.
    Ff,
    /// Fast and normal.
    Fn,
    /// Normal and normal.
    Nn,
}

impl FlowClass {
    /// All classes.
    pub const ALL: [Self; 6] = [Self::Dd, Self::Df, Self::Dn, Self::Ff, Self::Fn, Self::Nn];

    /// The class of the path.
    pub const fn path(self) -> PathClass {
        match self {
            Self::Dd => PathClass::VeryFast,
            Self::Df | Self::Ff => PathClass::Fast,
            Self::Dn | Self::Fn | Self::Nn => PathClass::Typical,
        }
    }
}

/// The network at the end of an interval.
#[derive(Clone, Copy, Debug)]
pub struct Interval<'a> {
    /// Its number, from one.
    pub number: u64,
    /// When it ended.
    pub end: Time,
    /// Data packets that sources sent, long-lived flows included.
    pub packets_in: u64,
    /// Data packets that reached the access routers of their receivers, long-lived flows included.
    pub packets_out: u64,
    /// Flows by class, in the order of [`FlowClass::ALL`], without long-lived ones.
    pub classes: &'a [ClassSample; 6],
    /// Long-lived flows in the order of the configuration.
    pub long_lived: &'a [LongLivedSample],
    /// Routers of the backbone.
    pub backbone: &'a [RouterSample],
    /// Points of presence.
    pub pops: &'a [RouterSample],
    /// Access routers.
    pub access: &'a [RouterSample],
    /// Events of flows from and to the hosts of each access router.
    pub edges: &'a [EdgeSample],
    /// Packets of any kind that entered each link of the backbone.
    pub links: &'a [u64],
    /// Flows with documents, with service packs and with movies at the end of the interval, those that
    /// are connecting included: what limits on their numbers count.
    pub large_files: [u64; 3],
}

/// Flows of a class at the end of an interval, and what happened to them in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassSample {
    /// Flows that transfer data.
    pub active: u64,
    /// Flows that are connecting.
    pub connecting: u64,
    /// Active ones in initial slow start.
    pub in_initial_slow_start: u64,
    /// Active ones beyond it that behave like standard TCP.
    pub in_normal_mode: u64,
    /// Active ones in the regime of their alternate algorithm.
    pub above_threshold: u64,
    /// Sum of the smoothed round-trip times of active ones, in seconds.
    pub srtt_sum_s: f64,
    /// Sum of the congestion windows of active ones, in packets.
    pub cwnd_sum: f64,
    /// Flows completed.
    pub completed: u64,
    /// Flows that could not be connected.
    pub failed: u64,
    /// Sum of the retransmission rates of completed flows: packets sent beyond the file size, over the
    /// size.
    pub retransmission_sum: f64,
    /// Data packets that reached the access routers of their receivers.
    pub packets_out: u64,
    /// Negative acknowledgements received.
    pub naks: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Acknowledgements that enlarged a congestion window.
    pub increases: u64,
    /// By how much these enlarged windows, in packets.
    pub growth_sum: f64,
}

/// A long-lived flow at the end of an interval, and what happened to it in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LongLivedSample {
    /// Whether it has started and not been stopped.
    pub active: bool,
    /// Whether it is in initial slow start.
    pub in_initial_slow_start: bool,
    /// Whether it is in the regime of its alternate algorithm.
    pub above_threshold: bool,
    /// Congestion window in packets.
    pub cwnd: f64,
    /// Slow start threshold in packets.
    pub ssthresh: f64,
    /// Smoothed round-trip time.
    pub srtt: Span,
    /// FAST's alpha, if it has one.
    pub fast_alpha: Option<f64>,
    /// Data packets that reached the receiver's access router.
    pub packets_out: u64,
    /// Negative acknowledgements received.
    pub naks: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Acknowledgements that enlarged the congestion window.
    pub increases: u64,
    /// By how much these enlarged it, in packets.
    pub growth: f64,
}

/// A router at the end of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouterSample {
    /// The queue towards the backbone; the only one of a backbone router.
    pub up: QueueSample,
    /// The queue towards the hosts.
    pub down: QueueSample,
    /// Connected flows whose data packets pass it, long-lived ones included.
    pub active_flows: u64,
    /// Flows completed whose data packets passed it, since the beginning.
    pub completed_flows: u64,
}

/// A queue at the end of an interval. Counters are cumulative from the start of the run, so that
/// what arrived was forwarded, dropped, or waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSample {
    /// Packets in it, the one in service included.
    pub waiting: u64,
    /// Packets that have arrived.
    pub arrived: u64,
    /// Packets that have left for the next element.
    pub forwarded: u64,
    /// Packets that found it full.
    pub dropped: u64,
}

/// Events in an interval of flows from and to the hosts of an access router. A flow counts at both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeSample {
    /// Active flows, at the end of the interval.
    pub active: u64,
    /// Flows that could not be connected.
    pub failed: u64,
    /// Times that no receiver below this router was idle.
    pub no_receivers: u64,
    /// First SYNs of connections.
    pub first_syns: u64,
    /// SYNs.
    pub syns: u64,
    /// Negative acknowledgements.
    pub naks: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Acknowledgements that enlarged a congestion window.
    pub increases: u64,
}

/// What flows have in common whose goodput is compared (NIST SP 500-282, table 8-6): one of 24 groups,
/// and whether the source has standard TCP or the alternate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FlowGroup {
    /// Type of the file.
    pub file: FileType,
    /// Class of the path.
    pub path: PathClass,
    /// Whether both hosts are fast.
    pub fast_interface: bool,
    /// Whether the source has the alternate algorithm.
    pub alternate: bool,
}

impl FlowGroup {
    /// How many there are.
    pub const COUNT: usize = 48;

    /// Position: twice its published number less one, movies first, plus one for the alternate.
    pub const fn index(self) -> usize {
        let file = FileType::Movie as usize - self.file as usize;
        let group = file * 6 + self.path as usize * 2 + (!self.fast_interface) as usize;
        group * 2 + self.alternate as usize
    }

    /// Its number in the published tables, from 1 to 24.
    pub const fn number(self) -> usize {
        self.index() / 2 + 1
    }
}

/// Goodput of flows of a group that were completed one after the other: packets of the file over the
/// time from connection to the last acknowledgement, in packets per second.
#[derive(Clone, Debug, PartialEq)]
pub struct GoodputBatch {
    /// The group.
    pub group: FlowGroup,
    /// Number of the interval at whose end it is reported, or in which the run was stopped.
    pub interval: u64,
    /// Flows.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation of the sample; zero for one flow.
    pub deviation: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// The 10th to 90th percentiles: of n flows in order, the one at rank `ceil(n p)`.
    pub deciles: [f64; 9],
}

/// A completed or failed flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowRecord {
    /// Number of the source, in order of access routers.
    pub source: u32,
    /// Number of the receiver, in order of access routers.
    pub receiver: u32,
    /// Access router of the source.
    pub from: u32,
    /// Access router of the receiver.
    pub to: u32,
    /// Its class.
    pub class: FlowClass,
    /// Its group.
    pub group: FlowGroup,
    /// Position of its algorithm in the configuration.
    pub algorithm: u32,
    /// When the source asked for the file.
    pub start: Time,
    /// When it was connected; none if it never was.
    pub connected: Option<Time>,
    /// When its last packet was acknowledged, or the source gave up.
    pub end: Time,
    /// Packets of the file.
    pub size_pkts: u64,
    /// Data packets sent.
    pub sent_pkts: u64,
    /// SYNs sent.
    pub syns: u64,
    /// Negative acknowledgements received.
    pub naks: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

/// A run as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// When the simulation ended.
    pub end: Time,
    /// Whether the recorder stopped it.
    pub stopped: bool,
    /// Data packets that sources sent.
    pub packets_in: u64,
    /// Data packets that reached the access routers of their receivers.
    pub packets_out: u64,
    /// Packets of any kind taken from one element to another.
    pub events: u64,
    /// Flows by class, in the order of [`FlowClass::ALL`], without long-lived ones.
    pub classes: [ClassTotals; 6],
    /// When the maximum of trace records was reached, if it was.
    pub trace_full: Option<Time>,
    /// Most simultaneous flows, those connecting included.
    pub max_flows: u64,
    /// Bytes of state that a flow takes while it is connected.
    pub bytes_per_flow: u64,
    /// Bytes of state per source, active or not, and per receiver.
    pub bytes_per_host: (u64, u64),
}

/// Flows of a class over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassTotals {
    /// Flows connected.
    pub connected: u64,
    /// Flows completed.
    pub completed: u64,
    /// Flows that could not be connected.
    pub failed: u64,
    /// Sum over completed flows of their goodput in packets per second.
    pub goodput_sum: f64,
    /// SYNs sent for flows that were connected.
    pub syns: u64,
}

/// A recorder that keeps nothing.
#[derive(Debug, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {
    fn interval(&mut self, _: &Interval<'_>) {}
    fn batch(&mut self, _: &GoodputBatch) {}
    fn flow(&mut self, _: &FlowRecord) {}
    fn progress(&mut self, _: Time, _: DataPackets<'_>) -> Control {
        Control::Continue
    }
}
