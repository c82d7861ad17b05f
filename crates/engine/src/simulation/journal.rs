//! Journal of what packets in flight contain on the wire, for captures.
//!
//! A segment's acknowledgement number and timestamp echo are known when the segment is sent, but packets in the
//! simulation have no fields for them. The journal stores both until the packet arrives.

use std::collections::{HashMap, VecDeque};

use longhaul_units::{Span, Time};

use crate::measure::CapturedPacket;
use crate::network::End;
use crate::packet::{Packet, SackHandle};

/// Key under which the journal stores a packet in flight. Duplicate acknowledgements without options have equal keys;
/// they are assumed to arrive in the order of sending.
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

/// An endpoint of a connection: the connection's number (for connections that traffic opens, from `Traffic::host`), and
/// true for the endpoint that opened it.
pub(super) type Host = (u32, bool);

/// The state that an endpoint reports to its peer in the next packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndState {
    /// The newest timestamp that the endpoint has received, TS.Recent of RFC 7323 section 4.3; zero before the first.
    pub(super) recent: Time,
    /// Next byte to send, SND.NXT of RFC 9293 section 3.3.1.
    pub(super) next: u64,
    /// True if the endpoint has sent its FIN, which is the last byte below `next`.
    pub(super) fin: bool,
}

impl EndState {
    /// Initial state of an endpoint, before it has received or sent anything. The SYN is byte 0.
    const NEW: Self = Self {
        recent: Time::ZERO,
        next: 1,
        fin: false,
    };
}

/// Store for captures: the wire forms of packets in flight, and the state of the endpoints of their connections.
#[derive(Debug, Default)]
pub(super) struct Journal {
    sent: HashMap<Key, VecDeque<CapturedPacket>>,
    ends: HashMap<Host, EndState>,
    /// When `sent` has this number of keys, but not fewer than [`Self::FEWEST`], keys without packets younger than
    /// [`Self::LIFETIME`] are removed.
    sweep_at: usize,
}

impl Journal {
    const FEWEST: usize = 1 << 14;
    /// Maximum age of a stored packet. Older packets are assumed to have been dropped.
    const LIFETIME: Span = Span::from_secs(60);

    pub(super) fn end(&self, host: Host) -> EndState {
        self.ends.get(&host).copied().unwrap_or(EndState::NEW)
    }

    /// Resets the state of both endpoints of the connection `number` (see [`Host`]), which sends its SYN.
    pub(super) fn begin(&mut self, number: u32) {
        self.ends.remove(&(number, false));
        self.ends.remove(&(number, true));
    }

    /// Stores the wire form of a packet that the endpoint `host` has sent, and updates the endpoint's SND.NXT.
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

    /// Returns the wire form of a packet in flight.
    pub(super) fn get(&self, packet: &Packet, end: End) -> Option<&CapturedPacket> {
        self.sent.get(&Key::of(packet, end))?.front()
    }

    /// Removes the wire form of a packet that has reached the endpoint `host`, and updates the endpoint's TS.Recent.
    pub(super) fn arrive(&mut self, packet: &Packet, end: End, host: Host) {
        let key = Key::of(packet, end);
        let Some(alike) = self.sent.get_mut(&key) else {
            // The packet is a copy of a packet that has arrived, or its wire form was removed because of its age.
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
