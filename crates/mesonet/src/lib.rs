//! MesoNet, NIST's model of large networks: hundreds of routers, hundreds of thousands of flows.
//!
//! Described in K. Mills et al., *Study of Proposed Internet Congestion Control Mechanisms*, NIST SP
//! 500-282 (2010), chapter 3. Packets have no size and queues are drop-tail, so that a queue is a few
//! numbers and a packet 24 bytes; `longhaul-engine`, which models links, disciplines and TCP segments,
//! needs far more of both. Parts that both need besides congestion control are in `longhaul-kernel`.
//!
//! A [`Config`] is a simulation, fully resolved. [`run`] simulates it and returns [`Totals`];
//! everything else goes to a [`Recorder`] as it happens. [`resume`] continues from a checkpoint, and
//! [`simulate`] does both in several threads.
//!
//! ```text
//! simulation   regions in windows, and what spans them: flows, intervals, traces, checkpoints, threads
//! flows        both ends of a flow: handshake, window, loss epochs, round trips, acknowledgements
//! network      a region: queues, shared servers, routes, packets in flight
//! calendar     what is due by windows
//! hosts        sources, receivers, the files they transfer
//! records      what is reported
//! config       what is simulated
//! ```
//!
//! Each uses only those below it.

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
