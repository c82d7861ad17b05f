//! Capture of packets on links and at nodes.
//!
//! On a link, packets are recorded when they reach its near end, before its queue and impairments. Packets dropped
//! there are included, as in a capture on the host or router at the near end. At a node, packets are recorded when its
//! end systems send or receive them, as in a capture on a host.

use longhaul_units::Time;

use super::{End, Hop, Network};
use crate::config::Config;
use crate::packet::{Packet, SackOption};

/// An event of a packet for the capture.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PacketNote {
    /// An endpoint has sent the packet with these SACK blocks. The blocks are a copy, since they are discarded if the
    /// packet is dropped.
    Sent(Packet, SackOption),
    /// The packet has reached a captured link or node.
    Entered(InterfaceEntry),
}

/// Arrival of a packet at the near end of a captured link, or at a captured node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InterfaceEntry {
    /// Number of the interface. Links are numbered first, then nodes ([`Config::interface_of_node`]).
    pub(crate) interface: u32,
    pub(crate) time: Time,
    pub(crate) packet: Packet,
    /// True if the link dropped the packet on its arrival.
    pub(crate) dropped: bool,
}

/// Returns the interfaces of the nodes at the near and far end of each link; `None` for nodes without capture.
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
            noted.push_back(PacketNote::Sent(packet, blocks));
        }
        if let Some(link) = self.link_at(packet.route)
            && let [Some(interface), _] = self.host_interfaces[link as usize]
        {
            self.note_at(interface, packet);
        }
        self.note_entrance(packet, packet.route);
    }

    /// Records that the next packet of `link` enters the following link of its route. Does nothing if the packet is
    /// still on its way over `link`, or if the following link is not captured.
    pub(crate) fn note_transfer(&mut self, link: u32) {
        let due = |packet: &&Packet| packet.time <= self.now;
        if let Some(&packet) = self.links[link as usize].next().filter(due) {
            self.note_entrance(packet, packet.route + 1);
        }
    }

    /// Records that a packet is about to enter the link at `position` in the route table.
    fn note_entrance(&mut self, packet: Packet, position: u32) {
        if let Some(link) = self.link_at(position)
            && self.links[link as usize].captured
        {
            self.note_at(link, packet);
        }
    }

    /// Returns the link that a packet enters at `position` in the route table.
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
            noted.push_back(PacketNote::Entered(InterfaceEntry {
                interface,
                time,
                packet,
                dropped: false,
            }));
        }
    }

    /// Returns the record of a packet that has reached the end of its route, at the far end of a link. Returns `None`
    /// if the node at the far end is not captured.
    pub(crate) fn arrived(&self, link: u32, packet: Packet) -> Option<InterfaceEntry> {
        let [_, interface] = self.host_interfaces[link as usize];
        Some(InterfaceEntry {
            interface: interface?,
            time: self.now,
            packet,
            dropped: false,
        })
    }

    /// Records that `link` has just dropped an arriving packet. The packet's record, if there is one, is the last.
    pub(super) fn note_drop(&mut self, link: u32) {
        if let Some(noted) = &mut self.noted
            && let Some(PacketNote::Entered(entered)) = noted.back_mut()
            && (entered.interface, entered.time) == (link, self.now)
        {
            entered.dropped = true;
        }
    }

    /// Returns true if packets of any link or node are recorded.
    pub(crate) fn is_captured(&self) -> bool {
        self.noted.is_some()
    }

    /// Removes and returns the earliest event that has not been recorded; `None` if there is none.
    pub(crate) fn next_noted(&mut self) -> Option<PacketNote> {
        self.noted.as_mut()?.pop_front()
    }

    /// Returns the kind of receiver at the end of a packet's route.
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
