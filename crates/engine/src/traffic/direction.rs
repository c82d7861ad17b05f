//! One direction of a connection: a sender on one side, a receiver on the other. Where a proxy splits it,
//! there are two legs, to the proxy's start node and on from its end node.

use std::mem::offset_of;

use longhaul_units::Time;

use super::connection_slab::ConnectionId;
use crate::config::Fin;
use crate::measure::FlowCounters;
use crate::packet::{Flags, Packet, SackHandle};
use crate::prefetch::prefetch_within;
use crate::transport::Env;
use crate::transport::tcp::{Received, Receiver, Sender};

/// One direction of a connection, or a leg of it.
#[derive(Debug)]
pub(super) struct Direction {
    pub(super) sender: Sender,
    /// On the other side, or at the start node of a proxy.
    pub(super) receiver: Receiver,
    /// From that proxy's end node to the other side. It gets data segment by segment, so that segments
    /// have the same numbers on both legs.
    pub(super) second_leg: Option<Box<Direction>>,
    pub(super) echoes: Echoes,
}

/// The time stamps of a direction that segments of the other one echo while they acknowledge it: each the
/// one that its receiver had when the segment left (TS.Recent, RFC 7323 section 4.3). Segments that come a
/// second time change it while others are under way.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    /// When the other direction began to send.
    first: Time,
    /// Later ones, and since when: none, unless segments come again.
    later: Vec<(Time, Time)>,
}

impl Echoes {
    /// The other direction begins to send.
    fn begin(&mut self, stamp: Time) {
        self.first = stamp;
        self.later.clear();
    }

    /// A segment has come, after which the receiver has this stamp.
    fn note(&mut self, stamp: Time, now: Time) {
        let last = self.later.last().map_or(self.first, |&(_, stamp)| stamp);
        if stamp != last {
            self.later.push((now, stamp));
        }
    }

    /// What a segment echoes that left at this time.
    fn at(&self, left: Time) -> Time {
        let known = self.later.iter().rev().find(|(since, _)| *since <= left);
        known.map_or(self.first, |&(_, stamp)| stamp)
    }
}

impl Direction {
    /// The leg with this id.
    pub(super) fn leg(&self, id: ConnectionId) -> Option<&Self> {
        if id.is_second_leg() {
            self.second_leg.as_deref()
        } else {
            Some(self)
        }
    }

    /// The same, mutable.
    pub(super) fn leg_mut(&mut self, id: ConnectionId) -> Option<&mut Self> {
        if id.is_second_leg() {
            self.second_leg.as_deref_mut()
        } else {
            Some(self)
        }
    }

    /// Prefetches what a sample reads of a direction that lies `offset` bytes behind `place`.
    pub(super) fn prefetch_for_sample<T>(place: &Option<T>, offset: usize) {
        let sender = offset + offset_of!(Self, sender);
        prefetch_within::<5, _>(place, sender + Sender::SAMPLED);
        prefetch_within::<4, _>(place, sender + Sender::COUNTED);
        prefetch_within::<1, _>(place, offset + offset_of!(Self, receiver));
    }

    /// The leg that leads to the other side.
    pub(super) fn last(&self) -> &Self {
        self.second_leg.as_deref().unwrap_or(self)
    }

    /// The receiver on the other side.
    pub(super) fn last_receiver(&mut self) -> &mut Receiver {
        match &mut self.second_leg {
            Some(second_leg) => &mut second_leg.receiver,
            None => &mut self.receiver,
        }
    }

    /// The application has `bytes` more to send, and closes if it says when its FIN leaves. Returns the first of
    /// their segments, and one past the last.
    pub(super) fn send(&mut self, bytes: u64, fin: Option<Fin>, env: &mut Env) -> (u64, u64) {
        let begin = self.sender.end();
        let quiet = self.sender.outstanding() == 0 && self.sender.fits_one_segment(bytes);
        let end = match fin {
            Some(Fin::WithData) => self.sender.append_last(bytes, env),
            Some(Fin::WhenQuiet) if quiet => self.sender.append_last(bytes, env),
            Some(Fin::WhenQuiet | Fin::Alone) | None => self.sender.append(bytes, env),
        };
        (begin, end)
    }

    /// An acknowledgement of its segments arrives, while its FIN waits until nothing is in flight. Returns whether it
    /// has left.
    pub(super) fn on_packet_before_fin(
        &mut self,
        packet: &Packet,
        fin: Fin,
        env: &mut Env,
    ) -> bool {
        if fin == Fin::WhenQuiet && self.sender.only_last_is_left(packet.seq) {
            self.sender.put_fin_on_last();
        }
        self.sender.on_packet(packet, env);
        if !self.sender.has_closed() && self.sender.outstanding() == 0 && self.is_all_acknowledged()
        {
            self.sender.close(env);
            self.sender.send_fin(env);
        }
        self.sender.has_closed()
    }

    /// Whether its FIN has arrived, and all data before it.
    pub(super) fn has_fin_arrived(&self) -> bool {
        self.sender.has_fin_below(self.receiver.next())
    }

    /// Whether its FIN is acknowledged.
    pub(super) fn is_closed(&self) -> bool {
        self.sender.has_fin_below(self.sender.acknowledged())
    }

    /// Whether the segments below `end` have arrived on the other side.
    pub(super) fn has_arrived(&self, end: u64) -> bool {
        self.last().receiver.next() >= end
    }

    /// Whether the sender of the last leg has everything acknowledged.
    pub(super) fn is_all_acknowledged(&self) -> bool {
        let sender = &self.last().sender;
        sender.acknowledged() >= sender.end()
    }

    /// One past the last segment of all.
    pub(super) fn expect_fin_before(&mut self, end: u64) {
        self.receiver.expect_end(end);
        if let Some(second_leg) = &mut self.second_leg {
            second_leg.receiver.expect_end(end);
        }
    }

    /// Counters up to `now`: what its sender sends, and what arrives on the other side.
    pub(super) fn counters(&mut self, now: Time) -> FlowCounters {
        let last = self.last();
        let received = Received::of(&last.sender, &last.receiver);
        received.counted_in(self.sender.counters(now))
    }

    /// Data packets sent.
    pub(super) fn sent_pkts(&self) -> u64 {
        self.sender.sent_pkts()
    }

    /// The other direction begins to send, which acknowledges what has arrived.
    pub(super) fn acknowledged_by_data(&mut self, env: &mut Env) {
        self.receiver.acknowledged_by_data(env);
        self.begin_echoes();
    }

    /// The other direction begins to send.
    pub(super) fn begin_echoes(&mut self) {
        self.echoes.begin(self.receiver.stamp());
    }

    /// A segment reaches the other side, `echoed` by segments of the other direction, if any are under way.
    pub(super) fn on_segment(&mut self, packet: &Packet, echoed: bool, env: &mut Env) {
        self.last_receiver().on_segment(packet, env);
        if echoed {
            self.echoes.note(self.receiver.stamp(), env.network.now);
        }
    }

    /// A segment of the other direction, which `left` then, says that all of this one has arrived.
    pub(super) fn acknowledge_all(&mut self, left: Time, env: &mut Env) {
        if self.sender.outstanding() == 0 {
            return;
        }
        let packet = Packet {
            time: env.network.now,
            ns2_s: 0.0,
            seq: self.sender.end(),
            stamp: self.echoes.at(left),
            flow: 0,
            route: 0,
            sack: SackHandle::NONE,
            bytes: 0,
            flags: Flags::ACK,
        };
        self.sender.on_packet(&packet, env);
    }
}
