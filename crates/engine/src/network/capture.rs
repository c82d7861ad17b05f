//! Packets of captured links and nodes.
//!
//! Those of a link are recorded as they reach its near end, before its queue and impairments. There a capture on the
//! sending host or router sees them, including packets that are dropped then. Those of a node are recorded as its end
//! systems send them, and as they reach its end systems: a capture on a host sees both.

use longhaul_units::Time;

use super::{End, Hop, Network};
use crate::config::Config;
use crate::packet::{Packet, SackOption};

/// Event of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Noted {
    /// An end has sent the packet, with these blocks: if it is dropped, they are gone when it is recorded.
    Sent(Packet, SackOption),
    /// The packet is at an interface.
    Entered(Entered),
}

/// A packet at the near end of a captured link, or at a captured node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entered {
    /// Number of the link, or of the node behind all links ([`Config::interface_of_node`]).
    pub(crate) interface: u32,
    pub(crate) time: Time,
    pub(crate) packet: Packet,
    /// True if the link has dropped the packet at once.
    pub(crate) dropped: bool,
}

/// Returns the interfaces of the nodes at both ends of each link.
pub(super) fn host_interfaces(config: &Config) -> Vec<[Option<u32>; 2]> {
    let interface = |node: usize| {
        let captured = config.captured_nodes.contains(&node);
        captured.then(|| config.interface_of_node(node) as u32)
    };
    let links = config.links.iter();
    links
        .map(|link| [link.from, link.to].map(interface))
        .collect()
}

impl Network {
    /// Records a packet that is about to be sent.
    #[cold]
    pub(super) fn note_sent(&mut self, packet: Packet) {
        let blocks = self.peek_sack(&packet);
        if let Some(noted) = &mut self.noted {
            noted.push_back(Noted::Sent(packet, blocks));
        }
        if let Some(link) = self.link_at(packet.route)
            && let [Some(interface), _] = self.host_interfaces[link as usize]
        {
            self.note_at(interface, packet);
        }
        self.note_entrance(packet, packet.route);
    }

    /// Records that the next packet at the far end of a link is about to enter another, if it is due and that link
    /// is captured.
    pub(crate) fn note_transfer(&mut self, link: u32) {
        let due = |packet: &&Packet| packet.time <= self.now;
        if let Some(&packet) = self.links[link as usize].next().filter(due) {
            self.note_entrance(packet, packet.route + 1);
        }
    }

    /// Records that a packet is about to enter the link at this position in the route table.
    fn note_entrance(&mut self, packet: Packet, position: u32) {
        if let Some(link) = self.link_at(position)
            && self.links[link as usize].captured
        {
            self.note_at(link, packet);
        }
    }

    /// Returns the link that a packet enters at this position in the route table.
    fn link_at(&self, position: u32) -> Option<u32> {
        match self.routes.hop(position) {
            Hop::Link(link) => Some(link),
            Hop::Impairments(index, _) => Some(self.impairments[index as usize].link()),
            Hop::Access(_) | Hop::End(_) => None,
        }
    }

    fn note_at(&mut self, interface: u32, packet: Packet) {
        let time = self.now;
        if let Some(noted) = &mut self.noted {
            noted.push_back(Noted::Entered(Entered {
                interface,
                time,
                packet,
                dropped: false,
            }));
        }
    }

    /// Returns the record of a packet that has reached its end at the far end of a link, if that node is captured.
    pub(crate) fn arrived(&self, link: u32, packet: Packet) -> Option<Entered> {
        let [_, interface] = self.host_interfaces[link as usize];
        Some(Entered {
            interface: interface?,
            time: self.now,
            packet,
            dropped: false,
        })
    }

    /// Records the drop of the packet that has come last, if its link is captured and it has not been held back.
    pub(super) fn note_drop(&mut self, link: u32) {
        if let Some(noted) = &mut self.noted
            && let Some(Noted::Entered(entered)) = noted.back_mut()
            && (entered.interface, entered.time) == (link, self.now)
        {
            entered.dropped = true;
        }
    }

    /// Returns true if packets of any link or node are recorded.
    pub(crate) fn is_captured(&self) -> bool {
        self.noted.is_some()
    }

    /// Takes the next recorded event, if packets are recorded.
    pub(crate) fn next_noted(&mut self) -> Option<Noted> {
        self.noted.as_mut()?.pop_front()
    }

    /// Returns the end of a packet's route.
    pub(crate) fn destination(&self, packet: &Packet) -> End {
        let mut position = packet.route;
        loop {
            match self.routes.hop(position) {
                Hop::Link(_) | Hop::Impairments(..) | Hop::Access(_) => position += 1,
                Hop::End(end) => return end,
            }
        }
    }
}
