//! Routers that take part in congestion control: they measure what arrives at a link and write into
//! the headers of the packets that leave. Which packet leaves and what is dropped is the queue
//! discipline's.

mod vcp;
mod xcp;

use longhaul_units::{Rate, Span};

use self::vcp::Vcp;
pub use self::vcp::VcpConfig;
use self::xcp::Xcp;
pub use self::xcp::XcpConfig;
use super::queue::QueueConfig;
use crate::packet::{Flags, OptionStore, Packet, XcpHeader};

/// A router's part at one link.
#[derive(Debug)]
pub(in crate::network) enum Router {
    Vcp(Vcp),
    Xcp(Xcp),
}

impl Router {
    /// The router that goes with a queue in front of a link of this rate, if one does.
    pub(super) fn new(queue: &QueueConfig, rate: Rate) -> Option<Box<Self>> {
        match queue {
            QueueConfig::Vcp(config) => Some(Box::new(Self::Vcp(Vcp::new(*config, rate)))),
            QueueConfig::Xcp(config) => Some(Box::new(Self::Xcp(Xcp::new(*config, rate)))),
            _ => None,
        }
    }

    /// A packet arrives, be it accepted or not.
    pub(super) fn on_arrival(&mut self, packet: &Packet, options: &mut OptionStore) {
        match self {
            Self::Vcp(vcp) => vcp.on_arrival(packet.bytes),
            Self::Xcp(xcp) => {
                let header = request(packet, options);
                xcp.on_arrival(packet.bytes, header.as_deref());
            }
        }
    }

    /// A packet begins service while so many bytes wait behind it.
    pub(super) fn on_departure(
        &mut self,
        packet: &mut Packet,
        waiting_bytes: u64,
        options: &mut OptionStore,
    ) {
        match self {
            Self::Vcp(vcp) => vcp.on_departure(packet),
            Self::Xcp(xcp) => {
                let header = request(packet, options);
                xcp.on_departure(packet.bytes, header, waiting_bytes);
            }
        }
    }

    /// Time until the next call of [`Self::update`].
    pub(super) fn period(&self) -> Span {
        match self {
            Self::Vcp(vcp) => vcp.period(),
            Self::Xcp(xcp) => xcp.period(),
        }
    }

    /// A period is over; so many bytes wait.
    pub(super) fn update(&mut self, waiting_bytes: u64) {
        match self {
            Self::Vcp(vcp) => vcp.update(waiting_bytes),
            Self::Xcp(xcp) => xcp.update(waiting_bytes),
        }
    }
}

/// The header in which a data packet asks. Acknowledgements carry answers.
fn request<'a>(packet: &Packet, options: &'a mut OptionStore) -> Option<&'a mut XcpHeader> {
    if packet.flags.has(Flags::ACK) {
        return None;
    }
    options.header_mut(packet.sack)
}
