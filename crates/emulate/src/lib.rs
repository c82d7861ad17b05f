//! Emulation: real programs communicate over the network of a scenario in real time. Linux only.
//!
//! Each host is a network namespace with a TUN device. The namespace has no name and leaves no trace on the system. It
//! exists as long as a file of this process, or a process in it, keeps it open. One thread moves packets between the
//! devices and the engine's links, queue disciplines and impairments ([`longhaul_engine::emulation`]). It also makes
//! the records of a run. Another thread requests the state of sockets from the kernel, if samples are recorded
//! (`measure.every`). Programs run in the hosts, and end with the emulation.
//!
//! Records are kept in memory until the run is over, so that no disk delays a packet.
#![cfg(target_os = "linux")]

mod emulation;
mod flow;
mod forwarder;
mod host;
mod lateness;
mod machine;
mod packet;
mod process;
mod program;
mod records;
mod refusal;
mod sampler;
mod socket_info;
mod system;
mod tap;
mod tun;

pub use emulation::{Emulated, Emulation, Setup};
pub use host::address_of;
pub use lateness::LatenessSummary;
pub use machine::Busy;
pub use program::{EndedProgram, Program};
pub use records::Records;
pub use refusal::Refusal;
pub use tap::TappedPacket;
