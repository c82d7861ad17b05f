//! ACK filtering, with any discipline: in the queue, a newer cumulative acknowledgement replaces an older one of the
//! same connection (RFC 3449, section 5.2.1).
//!
//! The newer acknowledgement takes the older one's position, as with `replace_head_` of ns-2
//! (`queue/semantic-packetqueue.cc`). In Linux (`cake_ack_filter` of `net/sched/sch_cake.c`), the newer one goes to the
//! tail. With Linux's queue per flow, both rules have the same effect. In a shared queue, however, Linux's rule would
//! starve a connection with frequent acknowledgements: each new one would move it back to the tail.
//!
//! Only a connection's last acknowledgement in the queue is replaced; acknowledgements thus keep their order. The newer
//! one must acknowledge more, and must not echo an earlier timestamp (as in Linux). Acknowledgements of real programs
//! must also have the same length. Packets with other information ([`Packet::is_pure_ack`]) and duplicates are not
//! replaced. Duplicates are recognised while any acknowledgement of the connection waits: only such connections have
//! state (section 5.2.1).
//!
//! In place of a pure acknowledgement, the discipline contains a placeholder. The acknowledgement's content is stored
//! here until the placeholder leaves. A replacement changes only this content, without a search in the discipline.

#[cfg(test)]
mod tests;

use longhaul_units::{Span, Time};

use super::flow::FlowNumbers;
use super::{AqmState, Arrival, BufferedQueue, DropReason, Effects, PacketQueue};
use crate::measure::ClassCounters;
use crate::packet::{Flags, OptionStore, Packet, SackHandle};

/// A discipline, with a filter of acknowledgements in front.
#[derive(Clone, Debug)]
pub(crate) struct AckFilter {
    discipline: BufferedQueue,
    /// Numbers of the connections with waiting pure acknowledgements.
    connections: FlowNumbers,
    /// Waiting acknowledgements of each connection in `connections`, indexed by the connection's number.
    waiting: Vec<Waiting>,
    /// Contents of waiting acknowledgements. Each placeholder in `discipline` contains an index into this list.
    contents: Vec<Content>,
    free: Vec<u64>,
    /// Handle of the bytes of the acknowledgement that was replaced last.
    replaced: SackHandle,
}

/// State of one connection while pure acknowledgements of it wait.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    pkts: u32,
    /// Highest number of the pure acknowledgements that have arrived since pure acknowledgements of the
    /// connection began to wait.
    newest: u64,
    /// Index in [`AckFilter::contents`] of the acknowledgement that a newer one may replace: the connection's last.
    /// `None` if the last one is a duplicate, or if another packet of the connection has followed it.
    replaceable: Option<u64>,
}

/// Content of an acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Content {
    connection: u32,
    seq: u64,
    stamp: Time,
    /// Handle of the bytes of an acknowledgement from a real program; [`SackHandle::NONE`] for others.
    sack: SackHandle,
    /// Bytes of the acknowledgement on the wire. Compared only if a real program has sent it.
    bytes: u16,
}

impl AckFilter {
    pub(super) fn new(discipline: BufferedQueue) -> Self {
        Self {
            discipline,
            connections: FlowNumbers::default(),
            waiting: Vec::new(),
            contents: Vec::new(),
            free: Vec::new(),
            replaced: SackHandle::NONE,
        }
    }

    /// Lets `ack` replace the waiting acknowledgement of its connection, if the rules allow it. Returns true if `ack`
    /// has replaced one.
    fn replace(&mut self, ack: &Packet) -> bool {
        let Some(connection) = self.connections.known(ack) else {
            return false;
        };
        let waiting = &mut self.waiting[connection as usize];
        let Some(place) = waiting.replaceable else {
            return false;
        };
        let content = &mut self.contents[place as usize];
        let of_one_length = ack.bytes == content.bytes || !ack.sack.has_datagram();
        if ack.seq <= content.seq || ack.stamp < content.stamp || !of_one_length {
            return false;
        }
        self.replaced = content.sack;
        (content.seq, content.stamp) = (ack.seq, ack.stamp);
        waiting.newest = ack.seq;
        true
    }

    /// Stores the content of an acknowledgement. Returns a placeholder, which the discipline queues instead.
    fn place(&mut self, ack: Packet) -> Packet {
        let connection = self.connections.number(&ack);
        let content = Content {
            connection,
            seq: ack.seq,
            stamp: ack.stamp,
            sack: ack.sack,
            bytes: ack.bytes,
        };
        let place = self.free.pop().unwrap_or(self.contents.len() as u64);
        if place < self.contents.len() as u64 {
            self.contents[place as usize] = content;
        } else {
            self.contents.push(content);
        }
        self.waiting
            .resize(self.connections.len(), Waiting::default());
        let waiting = &mut self.waiting[connection as usize];
        waiting.pkts += 1;
        waiting.replaceable = (ack.seq > waiting.newest).then_some(place);
        waiting.newest = waiting.newest.max(ack.seq);
        Packet {
            seq: place,
            flags: ack.flags.with(Flags::PLACE),
            ..ack
        }
    }

    /// Turns a placeholder back into its acknowledgement, after the discipline has released or refused the placeholder.
    /// Marks set by the discipline are kept. Other packets do not change.
    fn fill(&mut self, packet: &mut Packet) {
        if !packet.flags.has(Flags::PLACE) {
            return;
        }
        let place = packet.seq;
        let content = self.contents[place as usize];
        self.free.push(place);
        let waiting = &mut self.waiting[content.connection as usize];
        waiting.pkts -= 1;
        if waiting.pkts == 0 {
            *waiting = Waiting::default();
            self.connections.release(content.connection);
        } else if waiting.replaceable == Some(place) {
            waiting.replaceable = None;
        }
        packet.flags = packet.flags.without(Flags::PLACE);
        (packet.seq, packet.stamp) = (content.seq, content.stamp);
    }

    /// Protects a connection's last waiting ACK from replacement, since `packet` of this connection has arrived after
    /// the ACK. Called for all packets other than pure ACKs, even if the discipline then drops them.
    fn keep_order(&mut self, packet: &Packet) {
        if let Some(connection) = self.connections.known(packet) {
            self.waiting[connection as usize].replaceable = None;
        }
    }

    fn fill_dropped(&mut self, effects: &mut Effects) {
        for (packet, _) in &mut effects.dropped {
            self.fill(packet);
        }
    }
}

impl PacketQueue for AckFilter {
    fn observe_arrival(&mut self, packet: &Packet, options: &mut OptionStore) {
        self.discipline.observe_arrival(packet, options);
    }

    #[inline(never)]
    fn enqueue(
        &mut self,
        packet: Packet,
        arrival: &Arrival,
        effects: &mut Effects,
    ) -> Result<(), DropReason> {
        let mut packet = packet;
        if !packet.is_pure_ack() {
            self.keep_order(&packet);
        } else if self.replace(&packet) {
            return Err(DropReason::Filtered);
        } else {
            packet = self.place(packet);
        }
        let taken = self.discipline.enqueue(packet, arrival, effects);
        if taken.is_err() {
            self.fill(&mut packet);
        }
        self.fill_dropped(effects);
        taken
    }

    fn note_filtered(&mut self, packet: &Packet, options: &mut OptionStore) {
        if packet.sack.has_datagram() {
            options.swap_datagrams(self.replaced, packet.sack);
        }
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet> {
        let mut next = self.discipline.dequeue(now, effects);
        self.fill_dropped(effects);
        if let Some(packet) = &mut next {
            self.fill(packet);
        }
        next
    }

    fn stamp_departure(&mut self, packet: &mut Packet, options: &mut OptionStore) {
        self.discipline.stamp_departure(packet, options);
    }

    fn waiting(&self) -> (u64, u64) {
        self.discipline.waiting()
    }

    fn update_interval(&self) -> Option<Span> {
        self.discipline.update_interval()
    }

    fn update(&mut self, now: Time) {
        self.discipline.update(now);
    }

    fn state(&self) -> AqmState {
        self.discipline.state()
    }

    fn classes(&self) -> Option<[ClassCounters; 2]> {
        self.discipline.classes()
    }
}
