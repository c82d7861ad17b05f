//! Emulation: the network of a scenario between real programs, at the pace of the wall clock. Linux only.
//!
//! Each host is a network namespace with a TUN device, without a name and without any trace outside: it exists as long
//! as a file of this process or a process in it holds it. A thread of its own moves packets between the devices and
//! the engine's links, queue disciplines and impairments ([`longhaul_engine::emulation`]), and makes the records of a
//! run; another asks the kernel for the state of sockets. Programs run in the hosts, and end with the emulation.
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
