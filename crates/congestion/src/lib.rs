//! Congestion control without packets or networks: facts in, a clamped window out.
//!
//! A transport tells [`CongestionState`] what happened (an acknowledgement, a congestion signal, a
//! timeout); the state's [`SlowStart`] and [`Controller`] move its [`Window`]. One file per
//! algorithm; [`registry`] lists them with their parameters, defaults, units and sources.

mod controller;
mod facts;
mod hstcp;
mod reno;
mod response_table;
pub mod registry;
mod slow_start;
mod state;
mod window;

pub use controller::{Controller, CongestionControl};
pub use facts::{AckSample, Cause, Congestion, Limit, Timeout};
pub use registry::{ControllerSpec, Variant};
pub use slow_start::SlowStart;
pub use state::CongestionState;
pub use window::{Change, Rounding, Window};
