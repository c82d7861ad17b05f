//! One direction of a connection: a sender on one side, and a receiver on the other. If a proxy splits the direction,
//! it has two legs: one to the proxy's start node, and one from the proxy's end node.

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
    /// The receiver at the sender's peer or, if a proxy splits the direction, at the proxy's start node.
    pub(super) receiver: Receiver,
    /// Second leg of this direction of the connection, from the end node of a proxy to the receiver; `None` without a
    /// proxy. The proxy passes data on segment by segment, so segments have the same numbers on both legs.
    pub(super) second_leg: Option<Box<Direction>>,
    pub(super) echoes: Echoes,
}

/// Timestamps of this direction that segments of the other direction echo. A segment echoes the value that TS.Recent
/// had at the segment's departure (RFC 7323 section 4.3).
#[derive(Debug, Default)]
pub(super) struct Echoes {
    /// Timestamp that the other direction's first segments echo.
    first: Time,
    /// Timestamps that are echoed after `first`, as pairs: the time from which a timestamp is echoed, and the
    /// timestamp. Usually empty.
    later: Vec<(Time, Time)>,
}

impl Echoes {
    /// Records that the other direction begins to send. Its segments echo `stamp`, a timestamp of this direction.
    fn begin(&mut self, stamp: Time) {
        self.first = stamp;
        self.later.clear();
    }

    /// Records that segments sent from `now` on echo the timestamp `stamp`.
    fn note(&mut self, stamp: Time, now: Time) {
        let last = self.later.last().map_or(self.first, |&(_, stamp)| stamp);
        if stamp != last {
            self.later.push((now, stamp));
        }
    }

    /// Returns the timestamp that a segment sent at the time `left` echoes.
    fn at(&self, left: Time) -> Time {
        let known = self.later.iter().rev().find(|(since, _)| *since <= left);
        known.map_or(self.first, |&(_, stamp)| stamp)
    }
}

impl Direction {
    /// Returns a reference to the leg with this id.
    pub(super) fn leg(&self, id: ConnectionId) -> Option<&Self> {
        if id.is_second_leg() {
            self.second_leg.as_deref()
        } else {
            Some(self)
        }
    }

    /// Returns a mutable reference to the leg with this id.
    pub(super) fn leg_mut(&mut self, id: ConnectionId) -> Option<&mut Self> {
        if id.is_second_leg() {
            self.second_leg.as_deref_mut()
        } else {
            Some(self)
        }
    }

    /// Prefetches the fields of a `Direction` that a sample of the time series reads. The `Direction` begins at byte
    /// `offset` of the value in `place`.
    pub(super) fn prefetch_for_sample<T>(place: &Option<T>, offset: usize) {
        let sender = offset + offset_of!(Self, sender);
        prefetch_within::<5, _>(place, sender + Sender::SAMPLED);
        prefetch_within::<4, _>(place, sender + Sender::COUNTED);
        prefetch_within::<1, _>(place, offset + offset_of!(Self, receiver));
    }

    /// Returns the second leg if a proxy splits the direction, otherwise the direction itself.
    pub(super) fn last(&self) -> &Self {
        self.second_leg.as_deref().unwrap_or(self)
    }

    /// Returns a mutable reference to the receiver of the direction's last leg.
    pub(super) fn last_receiver(&mut self) -> &mut Receiver {
        match &mut self.second_leg {
            Some(second_leg) => &mut second_leg.receiver,
            None => &mut self.receiver,
        }
    }

    /// Sends `bytes` of the application's data. If `fin` is given, closes the direction after them, if this rule allows
    /// it at once; otherwise, [`Self::on_packet_before_fin`] closes it. Returns the range of segments of these bytes:
    /// the first, and one past the last.
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

    /// Processes an acknowledgement of this direction's data, and sends the FIN if the rule `fin` now allows this.
    /// Returns true if the FIN has been sent, or is on the last segment, which is still to be sent.
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

    /// Returns true if the FIN has arrived, and all data before it.
    pub(super) fn has_fin_arrived(&self) -> bool {
        self.sender.has_fin_below(self.receiver.next())
    }

    /// Returns true if the FIN is acknowledged.
    pub(super) fn is_closed(&self) -> bool {
        self.sender.has_fin_below(self.sender.acknowledged())
    }

    /// Returns true if the segments below `end` have arrived on the other side.
    pub(super) fn has_arrived(&self, end: u64) -> bool {
        self.last().receiver.next() >= end
    }

    /// Returns true if all segments given to the sender so far are acknowledged. With a proxy, this is the sender of
    /// the leg from the proxy to the destination.
    pub(super) fn is_all_acknowledged(&self) -> bool {
        let sender = &self.last().sender;
        sender.acknowledged() >= sender.end()
    }

    /// Sets the end of the stream at the receiver: one past the last segment, which has the FIN.
    pub(super) fn expect_fin_before(&mut self, end: u64) {
        self.receiver.expect_end(end);
        if let Some(second_leg) = &mut self.second_leg {
            second_leg.receiver.expect_end(end);
        }
    }

    /// Returns the counters up to `now`: of packets sent by the first leg's sender, and of packets that arrived at the
    /// last leg's receiver.
    pub(super) fn counters(&mut self, now: Time) -> FlowCounters {
        let last = self.last();
        let received = Received::of(&last.sender, &last.receiver);
        received.counted_in(self.sender.counters(now))
    }

    /// Returns the number of data packets sent, without those of the second leg.
    pub(super) fn sent_pkts(&self) -> u64 {
        self.sender.sent_pkts()
    }

    /// Cancels the receiver's delayed acknowledgement, which the data of the other direction now carries.
    /// Restarts the record of timestamps that this data echoes.
    pub(super) fn acknowledged_by_data(&mut self, env: &mut Env) {
        self.receiver.acknowledged_by_data(env);
        self.begin_echoes();
    }

    /// Stores the receiver's TS.Recent when the other direction begins to send: segments of that direction echo it.
    pub(super) fn begin_echoes(&mut self) {
        self.echoes.begin(self.receiver.stamp());
    }

    /// Processes a segment of this direction that arrives on the other side of the connection. `echoed` is true if
    /// segments in flight in the other direction echo timestamps of this direction.
    pub(super) fn on_segment(&mut self, packet: &Packet, echoed: bool, env: &mut Env) {
        self.last_receiver().on_segment(packet, env);
        if echoed {
            self.echoes.note(self.receiver.stamp(), env.network.now);
        }
    }

    /// Acknowledges everything sent in this direction. The acknowledgement is a segment of the other direction that
    /// left at the time `left`.
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
