//! Congestion control without packets or networks: it processes facts, and returns a bounded window.
//!
//! A transport reports events (an acknowledgement, a congestion signal, a timeout) to [`CongestionState`]. The
//! [`SlowStart`] and the [`Controller`] of the state change its [`Window`]. Each algorithm has a module; [`registry`]
//! lists all with their parameters, defaults, units and sources.

mod ack_ratio;
mod algorithms;
mod backoff;
mod congestion_control;
mod controller;
mod custom;
mod delay_history;
mod entry;
mod extension;
mod facts;
mod marked_share;
mod needs;
mod parameter;
mod peak_rate;
mod periodic;
mod quantity;
mod queue_estimate;
mod rate_halving;
mod rate_sample;
mod recent_rtts;
pub mod registry;
mod response_table;
pub mod rounds;
mod slow_start;
mod smallest_rtts;
mod split_mix;
mod state;
mod whole_windows;
mod window;
mod windowed_max;

pub use algorithms::Controller;
pub use congestion_control::{CloneBox, CongestionControl, Phases, restart};
pub use custom::{Custom, Factory};
pub use entry::{Entry, OwnBursts, PathNeeds, QueueNeed, Signal};
pub use extension::Extension;
pub use facts::{
    AckSample, Cause, Congestion, Dummies, Idle, Limit, Load, Phase, RouterFeedback, RouterRequest,
    Timeout,
};
pub use needs::Needs;
pub use parameter::{DefaultValue, Parameter, Point, Range, Settings, SpecError, Variant};
pub use quantity::Quantity;
pub use rate_sample::RateSample;
pub use registry::{ControllerSpec, SlowStartSpec};
pub use response_table::ResponseTable;
pub use slow_start::{HybridSlowStart, Hystart, PicoquicSlowStart, SlowStart};
pub use state::CongestionState;
pub use window::{MinCwnd, Rounding, Window};
