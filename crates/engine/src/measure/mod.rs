//! Results of a simulation: totals at its end, and records during the run.

mod columns;
mod delays;
mod recorder;
mod ticker;
mod totals;

pub use longhaul_kernel::{Columns, Control, DataPackets, Figure, Value};

pub(crate) use columns::smaller;
pub use delays::{DelayHistogram, DelaySummary, Delays};
pub use recorder::{
    AckTrace, CapturedPacket, Event, EventKind, Exchange, FlowSample, LinkSample, NoRecorder,
    ProxySample, Recorder,
};
pub use ticker::Ticker;
pub use totals::{
    ClassCounters, FlowCounters, FlowTotals, LimitTimes, LinkCounters, LinkTotals, OutOfMemory,
    ProxyCounters, ProxyTotals, Totals,
};
