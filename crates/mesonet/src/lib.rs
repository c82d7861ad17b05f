//! MesoNet, NIST's model of large networks: hundreds of routers, hundreds of thousands of flows.
//!
//! The model is described in K. Mills et al., *Study of Proposed Internet Congestion Control Mechanisms*, NIST SP
//! 500-282 (2010), chapter 3. Packets have no size, and queues are drop-tail. The state of a queue with its own server
//! is therefore a few numbers, and a packet takes 24 bytes. `longhaul-engine` models links, disciplines and TCP
//! segments, and needs far more memory for a queue or a packet. Both crates share `longhaul-kernel` and congestion
//! control.
//!
//! A [`Config`] is a simulation, fully resolved. [`run`] simulates it and returns [`Totals`]; records of all other
//! results go to a [`Recorder`] during the run. [`resume`] continues from a checkpoint, and [`simulate`] does both in
//! several threads.
//!
//! ```text
//! simulation  regions in windows, and their shared state: flows, intervals, traces, checkpoints, threads
//! flows       both ends of a flow: handshake, window, loss epochs, round trips, acknowledgements
//! network     a region: queues, shared servers, routes, packets in flight
//! calendar    entries by the window in which they are due
//! hosts       sources, receivers, the files they transfer
//! records     reports of a simulation
//! config      configuration of a simulation
//! ```
//!
//! Each module uses only those below it.

mod calendar;
pub mod config;
mod flows;
mod hosts;
mod network;
pub mod records;
mod simulation;

pub use config::Config;
pub use records::{Recorder, Totals};
pub use simulation::{SetupError, resume, run, simulate};
