//! Reports of a simulation: a record of each interval, and records of completed flows, of batches of
//! goodputs and of traced flows.
//!
//! The records have the contents of NIST SP 500-282, tables 3-4 to 3-8. Means, rates and shares can be
//! computed from counts and sums. A count is over one interval unless its field states another period.

mod trace;

pub use self::trace::{
    Direction, FlowEvent, FlowPhase, FlowState, PacketEvent, PacketKind, PacketTraceRecord,
    RouterId, TracedFlow,
};

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::config::{FileType, PathClass};
use longhaul_kernel::record;
pub use longhaul_kernel::{Control, DataPackets};

/// Receiver of the records of a simulation. Its methods are not called per packet, except for
/// traced flows.
pub trait Recorder {
    /// Receives the record of an interval that is over.
    fn interval(&mut self, interval: &Interval<'_>);
    /// Receives statistics of goodput: when enough flows of a group have been completed, and at the
    /// end.
    fn batch(&mut self, batch: &GoodputBatch);
    /// Receives the record of a flow that has been completed or could not be connected. Called only
    /// if [`Measure::flow_log`](crate::config::Measure::flow_log) is set.
    fn flow(&mut self, flow: &FlowRecord);
    /// Receives the state of a traced flow after an event. All states of an interval come at its end,
    /// sorted by time.
    fn flow_state(&mut self, _state: &FlowState) {}
    /// Receives an event of a packet of a traced flow. All events of an interval come at its end,
    /// sorted by time.
    fn packet(&mut self, _record: &PacketTraceRecord) {}
    /// Receives the simulated time, and a function that counts the data packets sent so far. Called
    /// at the end of each interval and, within longer intervals, about once in a simulated second.
    /// The result can stop the simulation.
    fn progress(&mut self, now: Time, data_packets: DataPackets<'_>) -> Control;
    /// Stores a checkpoint, if the recorder wants one at the end of this interval. `state` returns the bytes that
    /// [`crate::resume`] takes; a call of `state` costs as much as some thousands of packets. With algorithms written
    /// in Python, which cannot be stored, `state` panics.
    fn checkpoint(&mut self, _state: &dyn Fn() -> Vec<u8>) {}
}

/// The class of a flow: the speed classes of the access routers at its two ends. The classes are in
/// the order of the published tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FlowClass {
    /// Two direct access routers.
    Dd,
    /// A direct and a fast access router.
    Df,
    /// A direct and a normal access router.
    Dn,
    /// Two fast access routers.
    Ff,
    /// A fast and a normal access router.
    Fn,
    /// Two normal access routers.
    Nn,
}

impl FlowClass {
    /// All classes.
    pub const ALL: [Self; 6] = [Self::Dd, Self::Df, Self::Dn, Self::Ff, Self::Fn, Self::Nn];

    /// Returns the class of the path.
    pub const fn path(self) -> PathClass {
        match self {
            Self::Dd => PathClass::VeryFast,
            Self::Df | Self::Ff => PathClass::Fast,
            Self::Dn | Self::Fn | Self::Nn => PathClass::Typical,
        }
    }
}

/// State of the network at the end of an interval, and events in the interval.
#[derive(Clone, Copy, Debug)]
pub struct Interval<'a> {
    /// Number of the interval, from one.
    pub number: u64,
    /// End time of the interval.
    pub end: Time,
    /// Number of data packets that sources sent, long-lived flows included.
    pub packets_in: u64,
    /// Number of data packets that passed the access routers of their receivers, long-lived flows included.
    pub packets_out: u64,
    /// Samples of the flows of each class, in the order of [`FlowClass::ALL`]; long-lived flows are not included.
    pub classes: &'a [ClassSample; 6],
    /// Samples of the long-lived flows in the order of the configuration.
    pub long_lived: &'a [LongLivedSample],
    /// Samples of the queues of backbone routers.
    pub backbone: &'a [RouterSample],
    /// Samples of the queues of points of presence.
    pub pops: &'a [RouterSample],
    /// Samples of the queues of access routers.
    pub access: &'a [RouterSample],
    /// Numbers of active flows, SYNs, timeouts and other events, for the hosts of each access router.
    pub edges: &'a [EdgeSample],
    /// Number of packets of any kind that entered each link of the backbone.
    pub links: &'a [u64],
    /// Numbers of flows with documents, service packs and movies at the end of the interval,
    /// including flows that are connecting. [`crate::config::Admission`] limits these numbers.
    pub large_files: [u64; 3],
}

record! {
    /// Flows of one [`FlowClass`] at the end of an interval, and their events in the interval.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct ClassSample {
        /// Flows that transfer data.
        active: u64 as "active_flows",
        /// Flows that are connecting.
        connecting: u64 as "connecting_flows",
        /// Active flows in initial slow start.
        in_initial_slow_start: u64 as "initial_slow_start_flows",
        /// Active flows after initial slow start that behave as standard TCP.
        in_normal_mode: u64 as "normal_mode_flows",
        /// Active flows after initial slow start that currently differ from standard TCP.
        above_threshold: u64 as "above_threshold_flows",
        /// Sum of the smoothed round-trip times of active flows, in seconds.
        srtt_sum_s: f64,
        /// Sum of the congestion windows of active flows, in packets.
        cwnd_sum: f64,
        /// Flows completed in the interval.
        completed: u64 as "completed_flows",
        /// Flows that could not be connected in the interval.
        failed: u64 as "failed_flows",
        /// Packets sent in excess of the file size, divided by the file size; sum over completed flows.
        retransmission_sum: f64,
        /// Data packets that passed the access routers of their receivers; those of closed flows do not count.
        packets_out: u64,
        /// Negative acknowledgements received.
        naks: u64,
        /// Retransmission timeouts.
        timeouts: u64,
        /// Acknowledgements that enlarged a congestion window.
        increases: u64,
        /// Sum of the increases of congestion windows by acknowledgements, in packets.
        growth_sum: f64,
    }
    columns {
        /// Mean smoothed round-trip time of active flows.
        "srtt_mean_s": Option<f64> = |flows| ratio(flows.srtt_sum_s, flows.active as f64),
        /// Mean congestion window of active flows.
        "cwnd_mean_pkts": Option<f64> = |flows| ratio(flows.cwnd_sum, flows.active as f64),
        /// Packets sent in excess of the file size, divided by the file size; mean over the flows
        /// completed in the interval.
        "retransmission_rate": Option<f64> = |flows| {
            ratio(flows.retransmission_sum, flows.completed as f64)
        },
        /// Negative acknowledgements received in the interval.
        "naks": u64 = |flows| flows.naks,
        /// Retransmission timeouts in the interval.
        "timeouts": u64 = |flows| flows.timeouts,
        /// Acknowledgements that enlarged a congestion window in the interval.
        "increases": u64 = |flows| flows.increases,
        /// Negative acknowledgements divided by active flows.
        "naks_per_flow": Option<f64> = |flows| ratio(flows.naks as f64, flows.active as f64),
        /// Timeouts divided by active flows.
        "timeouts_per_flow": Option<f64> = |flows| ratio(flows.timeouts as f64, flows.active as f64),
        /// Acknowledgements that enlarged a congestion window, divided by active flows.
        "increases_per_flow": Option<f64> = |flows| ratio(flows.increases as f64, flows.active as f64),
        /// Growth of all congestion windows by acknowledgements, in packets, divided by active flows.
        "growth_mean_pkts": Option<f64> = |flows| ratio(flows.growth_sum, flows.active as f64),
    }
}

record! {
    /// State of a long-lived flow at the end of an interval, and counters of its events in the interval.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct LongLivedSample {
        /// True if the flow has started and has not been stopped.
        active: bool,
        /// True if the flow is in initial slow start.
        in_initial_slow_start: bool,
        /// True if initial slow start is over and the algorithm currently differs from standard TCP.
        above_threshold: bool,
        /// Congestion window.
        cwnd: f64 as "cwnd_pkts",
        /// Slow start threshold.
        ssthresh: f64 as "ssthresh_pkts",
        /// Smoothed round-trip time.
        srtt: Span as "srtt_s",
        /// FAST's alpha, if the flow has one.
        fast_alpha: Option<f64> as "fast_alpha_pkts",
        /// Data packets that passed the receiver's access router in the interval.
        packets_out: u64 as "out_pkts",
        /// Negative acknowledgements received in the interval.
        naks: u64 as "naks",
        /// Retransmission timeouts in the interval.
        timeouts: u64 as "timeouts",
        /// Acknowledgements that enlarged the congestion window in the interval.
        increases: u64 as "increases",
        /// Growth of the congestion window by acknowledgements in the interval.
        growth: f64 as "growth_pkts",
    }
}

/// State of a router at the end of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouterSample {
    /// Queue towards the backbone. A backbone router has only this queue.
    pub up: QueueSample,
    /// The queue towards the hosts.
    pub down: QueueSample,
    /// Number of connected flows with data packets through the router, long-lived flows included.
    pub active_flows: u64,
    /// Number of completed flows with data packets through the router, since the beginning.
    pub completed_flows: u64,
}

/// A queue at the end of an interval. Counters are cumulative from the start of the run, so each packet that arrived
/// was forwarded, dropped, or waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSample {
    /// Packets in the queue, including the one in service.
    pub waiting: u64,
    /// Packets that have arrived.
    pub arrived: u64,
    /// Packets that have left for the next element.
    pub forwarded: u64,
    /// Packets dropped because the queue was full.
    pub dropped: u64,
}

record! {
    /// Active flows at the end of an interval, and events of all flows in the interval, from or to hosts of an access
    /// router. Each flow counts at both its routers.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct EdgeSample {
        /// Active flows of the router's hosts; a flow counts at both ends.
        active: u64 as "active_flows",
        /// Flows that could not be connected.
        failed: u64 as "failed_flows",
        /// Number of failed attempts to find an idle receiver below the router.
        no_receivers: u64 as "no_receivers",
        /// First SYNs of connections.
        first_syns: u64 as "first_syns",
        /// All SYNs of connections, first and repeated ones.
        syns: u64 as "syns",
        /// Negative acknowledgements.
        naks: u64 as "naks",
        /// Retransmission timeouts.
        timeouts: u64 as "timeouts",
        /// Acknowledgements that enlarged a congestion window.
        increases: u64 as "increases",
    }
    columns {
        /// Negative acknowledgements divided by active flows.
        "naks_per_flow": Option<f64> = |edge| ratio(edge.naks as f64, edge.active as f64),
        /// Timeouts divided by active flows.
        "timeouts_per_flow": Option<f64> = |edge| ratio(edge.timeouts as f64, edge.active as f64),
        /// Acknowledgements that enlarged a congestion window, divided by active flows.
        "increases_per_flow": Option<f64> = |edge| ratio(edge.increases as f64, edge.active as f64),
        /// SYNs divided by first SYNs.
        "syns_per_first_syn": Option<f64> = |edge| ratio(edge.syns as f64, edge.first_syns as f64),
    }
}

/// Group of flows with a common report of goodput: one of the 24 groups of NIST SP 500-282, table 8-6, divided into
/// flows with standard TCP and flows with the alternate algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FlowGroup {
    /// Type of the file.
    pub file: FileType,
    /// Class of the path.
    pub path: PathClass,
    /// True if both hosts are fast.
    pub fast_interface: bool,
    /// True if the source uses the alternate algorithm.
    pub alternate: bool,
}

impl FlowGroup {
    /// Number of groups of flows.
    pub const COUNT: usize = 48;

    /// Returns the group's index, from 0 to 47. The published group n has the index 2 (n - 1) for
    /// standard TCP, and 2 (n - 1) + 1 for the alternate algorithm. Groups of movies come first.
    pub const fn index(self) -> usize {
        let file = FileType::Movie as usize - self.file as usize;
        let group = file * 6 + self.path as usize * 2 + (!self.fast_interface) as usize;
        group * 2 + self.alternate as usize
    }

    /// Returns the group's number in the published tables, from 1 to 24.
    pub const fn number(self) -> usize {
        self.index() / 2 + 1
    }
}

/// Goodput statistics of a batch: flows of a group that completed in succession. A flow's goodput is its file size
/// divided by the time from connection to the last acknowledgement, in packets per second.
#[derive(Clone, Debug, PartialEq)]
pub struct GoodputBatch {
    /// The group.
    pub group: FlowGroup,
    /// Number of the interval at the end of which the batch is reported; in a stopped run, the interval of the stop.
    pub interval: u64,
    /// Number of flows.
    pub count: u64,
    /// Mean goodput in packets per second.
    pub mean: f64,
    /// Sample standard deviation of goodput in packets per second; zero for a single flow.
    pub deviation: f64,
    /// Smallest goodput in packets per second.
    pub min: f64,
    /// Largest goodput in packets per second.
    pub max: f64,
    /// The 10th, 20th, ..., 90th percentiles of goodput. Percentile P of n flows has the rank `ceil(n P / 100)`.
    pub deciles: [f64; 9],
}

record! {
    /// A completed or failed flow.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    pub struct FlowRecord {
        /// Number of the source, in order of access routers.
        source: u32,
        /// Number of the receiver, in order of access routers.
        receiver: u32,
        /// Access router of the source.
        from: u32,
        /// Access router of the receiver.
        to: u32,
        /// Class of the flow.
        class: FlowClass,
        /// Group of the flow.
        group: FlowGroup,
        /// Index of the flow's algorithm in the configuration.
        algorithm: u32,
        /// Time at which the source requested the file.
        start: Time as "start_s",
        /// Time at which the flow was connected; null if it never was.
        connected: Option<Time> as "connected_s",
        /// Time at which the last packet was acknowledged, or the source gave up.
        end: Time as "end_s",
        /// Packets of the file.
        size_pkts: u64,
        /// Data packets sent.
        sent_pkts: u64,
        /// SYNs sent.
        syns: u64,
        /// Negative acknowledgements received.
        naks: u64,
        /// Retransmission timeouts.
        timeouts: u64,
    }
    columns {
        /// Packets of the file divided by the time from connection to end.
        "goodput_pps": Option<f64> = |flow| flow.connected.and_then(|connected| {
            ratio(flow.size_pkts as f64, flow.end.since(connected).as_secs_f64())
        }),
        /// Packets of the file.
        "size_pkts": u64 = |flow| flow.size_pkts,
        /// Data packets sent.
        "sent_pkts": u64 = |flow| flow.sent_pkts,
        /// SYNs sent.
        "syns": u64 = |flow| flow.syns,
        /// Negative acknowledgements.
        "naks": u64 = |flow| flow.naks,
        /// Retransmission timeouts.
        "timeouts": u64 = |flow| flow.timeouts,
    }
}

/// Results of the run as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// Simulated time at the end of the run, or when it was stopped.
    pub end: Time,
    /// True if the recorder stopped the run.
    pub stopped: bool,
    /// Data packets that sources sent.
    pub packets_in: u64,
    /// Data packets that passed the access routers of their receivers.
    pub packets_out: u64,
    /// Number of events of packets, servers and hosts. Timers do not count, nor do arrivals that are processed early.
    pub events: u64,
    /// Totals of the flows of each class, in the order of [`FlowClass::ALL`]; long-lived flows are not included.
    pub classes: [ClassTotals; 6],
    /// Time when the maximum number of trace records was reached; `None` if it was not.
    pub trace_full: Option<Time>,
    /// Maximum number of simultaneously open flows, including connecting ones. A long-lived flow stays open after its
    /// stop.
    pub max_flows: u64,
    /// Bytes of state of an open flow, without the heap memory to which this state refers.
    pub bytes_per_flow: u64,
    /// Bytes of state per source, whether it transfers a file or not, and per receiver.
    pub bytes_per_host: (u64, u64),
}

record! {
    /// Counts and goodputs of the flows of a class over the whole run.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct ClassTotals {
        /// Flows that were connected.
        connected: u64 as "connected_flows",
        /// Flows completed.
        completed: u64 as "completed_flows",
        /// Flows that could not be connected.
        failed: u64 as "failed_flows",
        /// Sum over completed flows of their goodput in packets per second.
        goodput_sum: f64,
        /// SYNs sent for flows that were connected.
        syns: u64,
    }
    columns {
        /// Mean goodput of completed flows; the time to connect does not count.
        "goodput_mean_pps": Option<f64> = |class| ratio(class.goodput_sum, class.completed as f64),
        /// Number of SYNs of flows that were connected.
        "syns": u64 = |class| class.syns,
        /// Mean number of SYNs of a flow that was connected.
        "syns_per_connection": Option<f64> = |class| ratio(class.syns as f64, class.connected as f64),
    }
}

/// A recorder that ignores all records.
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

/// Returns `value / over`; `None` if `over` is zero.
fn ratio(value: f64, over: f64) -> Option<f64> {
    (over > 0.0).then(|| value / over)
}
