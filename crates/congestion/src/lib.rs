//! Congestion control without packets or networks: facts in, a clamped window out.
//!
//! A transport tells [`CongestionState`] what happened (an acknowledgement, a congestion signal, a
//! timeout); the state's [`SlowStart`] and [`Controller`] move its [`Window`]. One file per
//! algorithm; [`registry`] lists them with their parameters, defaults, units and sources.

mod ack_ratio;
mod bbr;
mod bic;
mod bic_nist;
mod binomial;
mod constant_rate;
mod controller;
mod ctcp;
mod ctcp_nist;
mod cubic;
mod custom;
mod dctcp;
mod decbit;
mod delay_gradient;
mod facts;
mod fast;
mod fast_at;
mod gaimd;
mod ghstcp;
mod hstcp;
mod htcp;
mod hybla;
mod illinois;
mod increase_by_k;
mod ledbat;
mod lp;
mod multcp;
mod packet_pair;
mod parameter;
mod peach;
mod periodic;
mod queue_estimate;
mod rate_halving;
mod rate_sample;
pub mod registry;
mod reno;
mod response_table;
pub mod rounds;
mod santa_cruz;
mod scalable;
mod slow_start;
mod split_mix;
mod state;
mod sync;
mod table;
mod vcp;
mod vegas;
mod veno;
mod westwood;
mod window;
mod windowed_max;
mod xcp;
mod yeah;

pub use controller::{CloneBox, CongestionControl, Controller, Needs, Phases, restart};
pub use custom::{Custom, Factory};
pub use facts::{
    AckSample, Cause, Congestion, Dummies, Limit, Load, RouterFeedback, RouterRequest, Timeout,
};
pub use parameter::{DefaultValue, Parameter, Point, Range, Settings, SpecError, Variant};
pub use rate_sample::RateSample;
pub use registry::{ControllerSpec, SlowStartSpec};
pub use response_table::ResponseTable;
pub use slow_start::{Hystart, SlowStart};
pub use state::CongestionState;
pub use window::{Change, MinCwnd, Rounding, Window};
