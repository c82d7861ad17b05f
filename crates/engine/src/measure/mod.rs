//! What a simulation reports: totals at its end, and records while it runs.

mod mesonet;
mod recorder;
mod ticker;
mod totals;

pub(crate) use mesonet::Batches;
pub use mesonet::{
    ClassSample, ClassTotals, Direction, EdgeSample, FlowClass, FlowEvent, FlowGroup, FlowPhase,
    FlowRecord, FlowState, GoodputBatch, Interval, LongLivedSample, MesoNetRecorder, MesoNetTotals,
    NoMesoNetRecorder, PacketEvent, PacketKind, Passage, QueueSample, RouterSample, Site,
    TracedFlow,
};
pub use recorder::{
    CapturedPacket, Control, DataPackets, Event, EventKind, Exchange, FlowSample, LinkSample,
    NoRecorder, ProxySample, Recorder,
};
pub use ticker::Ticker;
pub use totals::{
    FlowCounters, FlowTotals, LimitTimes, LinkCounters, LinkTotals, ProxyCounters, ProxyTotals,
    Totals,
};
