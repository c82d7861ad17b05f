//! The packet-level simulation engine.
//!
//! A [`Config`] describes the network, the transports and the measurements. All defaults are filled in, and all units
//! are converted. [`simulation::run`] simulates it and returns [`measure::Totals`]. Samples, events and captured
//! packets go to a [`measure::Recorder`] as they happen: memory does not grow with simulated time. There is no global
//! state: any number of simulations may run in parallel threads.

pub mod config;
pub mod emulation;
pub mod measure;
mod network;
mod packet;
mod proxy;
pub mod queue;
mod schedule;
pub mod simulation;
pub mod stack;
mod traffic;
mod transport;

pub use longhaul_kernel::memory;
use longhaul_kernel::{prefetch, random};

/// Version of the results: it changes whenever an unchanged configuration gives different numbers.
pub const RESULTS_VERSION: u32 = 24;

pub use config::Config;
pub use config::{Change, DelayBox, GilbertElliott, Loss, Reordering};
pub use network::graph::Graph;
