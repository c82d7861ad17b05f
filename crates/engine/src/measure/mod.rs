//! What a simulation reports: totals at its end, and records while it runs.

mod mesonet;
mod recorder;
mod totals;

pub(crate) use mesonet::Batches;
pub use mesonet::{
    ClassSample, ClassTotals, EdgeSample, FlowClass, FlowGroup, FlowRecord, GoodputBatch, Interval,
    LongLivedSample, MesoNetRecorder, MesoNetTotals, NoMesoNetRecorder, QueueSample, RouterSample,
};
pub use recorder::{
    CapturedPacket, Control, Event, EventKind, Exchange, FlowSample, LinkSample, NoRecorder,
    ProxySample, Recorder,
};
pub use totals::{
    FlowCounters, FlowTotals, LimitTimes, LinkCounters, LinkTotals, ProxyCounters, ProxyTotals,
    Totals,
};
