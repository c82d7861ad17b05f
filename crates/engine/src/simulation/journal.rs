//! The wire form of packets in flight, as it was when they were sent.
//!
//! What a segment acknowledges and which time stamp it echoes is known when it is sent, and packets have
//! no room for it. Worlds whose links are captured keep it here until the packet arrives.

use std::collections::{HashMap, VecDeque};

use longhaul_units::{Span, Time};

use crate::measure::CapturedPacket;
use crate::network::End;
use crate::packet::{Packet, SackHandle};

/// Identifies packets in flight. Duplicate acknowledgements without options are identical,
/// and assumed to arrive in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    end: End,
    flow: u32,
    seq: u64,
    stamp: Time,
    sack: SackHandle,
}

impl Key {
    fn of(packet: &Packet, end: End) -> Self {
        Self {
            end,
            flow: packet.flow,
            seq: packet.seq,
            stamp: packet.stamp,
            sack: packet.sack,
        }
    }
}

/// One end of one connection: a number that its packets have in common, and which end.
pub(super) type Host = (u32, bool);

/// What an end knows that its next packet says.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndState {
    /// The newest time stamp that it has received, TS.Recent of RFC 7323 section 4.3; zero before the first.
    pub(super) recent: Time,
    /// SND.NXT of RFC 9293 section 3.3.1.
    pub(super) next: u64,
    /// Whether it has sent its FIN, which is the last byte below `next`.
    pub(super) fin: bool,
}

impl EndState {
    /// Before anything has been received. The SYN is byte 0.
    const NEW: Self = Self {
        recent: Time::ZERO,
        next: 1,
        fin: false,
    };
}

/// Packets on their way, and the state of their connections' ends.
#[derive(Debug, Default)]
pub(super) struct Journal {
    sent: HashMap<Key, VecDeque<CapturedPacket>>,
    ends: HashMap<Host, EndState>,
    /// Number of packets at which it removes those that were dropped.
    sweep_at: usize,
}

impl Journal {
    const FEWEST: usize = 1 << 14;
    /// Age after which packets count as dropped.
    const LIFETIME: Span = Span::from_secs(60);

    pub(super) fn end(&self, host: Host) -> EndState {
        self.ends.get(&host).copied().unwrap_or(EndState::NEW)
    }

    /// A connection is opened whose packets have this number in common.
    pub(super) fn begin(&mut self, number: u32) {
        self.ends.remove(&(number, false));
        self.ends.remove(&(number, true));
    }

    /// An end has sent a packet.
    pub(super) fn put(&mut self, packet: &Packet, end: End, host: Host, wire: CapturedPacket) {
        let after = wire.sequence
            + u64::from(wire.payload_bytes)
            + u64::from(wire.syn)
            + u64::from(wire.fin);
        let state = self.ends.entry(host).or_insert(EndState::NEW);
        state.next = state.next.max(after);
        state.fin |= wire.fin;
        if self.sent.len() >= self.sweep_at.max(Self::FEWEST) {
            self.sweep(wire.time);
        }
        self.sent
            .entry(Key::of(packet, end))
            .or_default()
            .push_back(wire);
    }

    /// A packet on its way, as it was sent.
    pub(super) fn get(&self, packet: &Packet, end: End) -> Option<&CapturedPacket> {
        self.sent.get(&Key::of(packet, end))?.front()
    }

    /// A packet has reached one end of its connection.
    pub(super) fn arrive(&mut self, packet: &Packet, end: End, host: Host) {
        let key = Key::of(packet, end);
        let Some(alike) = self.sent.get_mut(&key) else {
            // A copy of one that has arrived.
            return;
        };
        let stamps = alike.pop_front().and_then(|wire| wire.timestamps);
        if alike.is_empty() {
            self.sent.remove(&key);
        }
        if let Some((value, _)) = stamps {
            let state = self.ends.entry(host).or_insert(EndState::NEW);
            state.recent = value.max(state.recent);
        }
    }

    fn sweep(&mut self, now: Time) {
        let fresh = |wire: &CapturedPacket| now.since(wire.time) < Self::LIFETIME;
        self.sent.retain(|_, alike| alike.back().is_some_and(fresh));
        self.sweep_at = 2 * self.sent.len();
    }
}
