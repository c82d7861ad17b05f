//! What a simulation reports: totals at its end, and records while it runs.

mod columns;
mod recorder;
mod ticker;
mod totals;

pub(crate) use columns::smaller;
pub use columns::{Columns, Figure, Value};
pub use recorder::{
    AckTrace, CapturedPacket, Control, DataPackets, Event, EventKind, Exchange, FlowSample,
    LinkSample, NoRecorder, ProxySample, Recorder,
};
pub use ticker::Ticker;
pub use totals::{
    FlowCounters, FlowTotals, LimitTimes, LinkCounters, LinkTotals, ProxyCounters, ProxyTotals,
    Totals,
};
