//! Routers that take part in congestion control: they measure what arrives at a link and write into
//! the headers of the packets that leave. Which packet leaves and what is dropped is the queue
//! discipline's.

mod vcp;

use longhaul_units::{Rate, Span};

use self::vcp::Vcp;
pub use self::vcp::VcpConfig;
use super::queue::QueueConfig;
use crate::packet::{Flags, Packet};

/// A router's part at one link.
#[derive(Debug)]
pub(in crate::network) enum Router {
    Vcp(Vcp),
}

impl Router {
    /// The router that goes with a queue in front of a link of this rate, if one does.
    pub(super) fn new(queue: &QueueConfig, rate: Rate) -> Option<Box<Self>> {
        match queue {
            QueueConfig::Vcp(config) => Some(Box::new(Self::Vcp(Vcp::new(*config, rate)))),
            _ => None,
        }
    }

    /// A packet arrives, be it accepted or not.
    pub(super) fn on_arrival(&mut self, packet: &Packet) {
        match self {
            Self::Vcp(vcp) => vcp.on_arrival(packet.bytes),
        }
    }

    /// A packet begins service. Acknowledgements carry answers, and are left alone.
    pub(super) fn on_departure(&mut self, packet: &mut Packet) {
        if packet.flags.has(Flags::ACK) {
            return;
        }
        match self {
            Self::Vcp(vcp) => vcp.on_departure(packet),
        }
    }

    /// Time until the next call of [`Self::update`].
    pub(super) fn period(&self) -> Span {
        match self {
            Self::Vcp(vcp) => vcp.period(),
        }
    }

    /// A period is over; so many bytes wait.
    pub(super) fn update(&mut self, waiting_bytes: u64) {
        match self {
            Self::Vcp(vcp) => vcp.update(waiting_bytes),
        }
    }
}
