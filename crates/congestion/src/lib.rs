//! Congestion control without packets or networks: facts in, a clamped window out.
//!
//! A transport tells [`CongestionState`] what happened (an acknowledgement, a congestion signal, a
//! timeout); the state's [`SlowStart`] and [`Controller`] move its [`Window`]. One file per
//! algorithm; [`registry`] lists them with their parameters, defaults, units and sources.

mod bic;
mod binomial;
mod constant_rate;
mod controller;
mod cubic;
mod facts;
mod gaimd;
mod hstcp;
mod htcp;
mod illinois;
mod increase_by_k;
mod parameter;
mod queue_estimate;
pub mod registry;
mod reno;
mod response_table;
pub mod rounds;
mod scalable;
mod slow_start;
mod state;
mod sync;
mod vegas;
mod veno;
mod window;

pub use controller::{CloneBox, CongestionControl, Controller, Phases};
pub use facts::{AckSample, Cause, Congestion, Limit, Timeout};
pub use parameter::{DefaultValue, Parameter, Range, Settings, SpecError, Variant};
pub use registry::{ControllerSpec, SlowStartSpec};
pub use slow_start::SlowStart;
pub use state::CongestionState;
pub use window::{Change, Rounding, Window};
