//! Packets of captured links: as they are sent, and as they reach a link's near end, before its queue and
//! impairments. There a capture on the sending host or router sees them, including packets that are dropped then.

use longhaul_units::Time;

use super::{End, Hop, Network};
use crate::packet::{Packet, SackOption};

/// Event of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PacketNote {
    /// An end has sent the packet, with these blocks: if it is dropped, they are gone when it is recorded.
    Sent(Packet, SackOption),
    /// The packet has reached a link.
    Entered(LinkEntry),
}

/// A packet at the near end of a captured link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkEntry {
    pub(crate) link: u32,
    pub(crate) time: Time,
    pub(crate) packet: Packet,
    /// True if the link has dropped the packet at once.
    pub(crate) dropped: bool,
}

impl Network {
    /// Records a packet that is about to be sent.
    #[cold]
    pub(super) fn note_sent(&mut self, packet: Packet) {
        let blocks = self.peek_sack(&packet);
        if let Some(noted) = &mut self.noted {
            noted.push_back(PacketNote::Sent(packet, blocks));
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
        let link = match self.routes.hop(position) {
            Hop::Link(link) => link,
            Hop::Impairments(index, _) => self.impairments[index as usize].link(),
            Hop::Access(_) | Hop::End(_) => return,
        };
        if self.links[link as usize].captured
            && let Some(noted) = &mut self.noted
        {
            noted.push_back(PacketNote::Entered(LinkEntry {
                link,
                time: self.now,
                packet,
                dropped: false,
            }));
        }
    }

    /// Records the drop of the packet that has come last, if its link is captured and it has not been held back.
    pub(super) fn note_drop(&mut self, link: u32) {
        if let Some(noted) = &mut self.noted
            && let Some(PacketNote::Entered(entered)) = noted.back_mut()
            && (entered.link, entered.time) == (link, self.now)
        {
            entered.dropped = true;
        }
    }

    /// Returns true if packets of any link are recorded.
    pub(crate) fn is_captured(&self) -> bool {
        self.noted.is_some()
    }

    /// Takes the next recorded event, if packets are recorded.
    pub(crate) fn next_noted(&mut self) -> Option<PacketNote> {
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
