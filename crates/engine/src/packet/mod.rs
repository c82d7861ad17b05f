//! Packets in flight. A packet takes 48 bytes: a window of a hundred thousand packets fits into the cache.

mod datagrams;
mod options;

use std::collections::VecDeque;

use longhaul_congestion::Load;
use longhaul_kernel::memory;
use longhaul_kernel::prefetch::prefetch;
use longhaul_units::{Span, Time};

pub(crate) use options::{OptionStore, XcpHeader};

/// A packet in flight: 48 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// Time at which the packet reaches the far end of its current link. While a queue discipline or a proxy's local
    /// queue stores the packet, its arrival time there.
    pub(crate) time: Time,
    /// Time at which the packet reaches the far end in ns-2's arithmetic, in seconds; see [`crate::config::Clock`].
    pub(crate) ns2_s: f64,
    /// In a data packet, the segment number (the SYN is 0). In an acknowledgement, the next segment expected.
    pub(crate) seq: u64,
    /// In a data packet, its send time. In an acknowledgement, the timestamp that it echoes.
    pub(crate) stamp: Time,
    /// Number of the packet's connection, datagram stream or real program's flow; see [`crate::network::Carrier`].
    pub(crate) flow: u32,
    /// Position of the current hop in the route table.
    pub(crate) route: u32,
    /// Handle of data in the network's option store: SACK blocks and transit time of an acknowledgement, a header for
    /// routers, or the bytes of a datagram.
    pub(crate) sack: SackHandle,
    /// Bytes on the wire.
    pub(crate) bytes: u16,
    /// Header flags.
    pub(crate) flags: Flags,
}

impl Packet {
    /// A placeholder where a packet is required.
    pub(crate) const NONE: Self = Self {
        time: Time::ZERO,
        ns2_s: 0.0,
        seq: 0,
        stamp: Time::ZERO,
        flow: 0,
        route: 0,
        sack: SackHandle::NONE,
        bytes: 0,
        flags: Flags::NONE,
    };

    /// Returns true if the packet is a cumulative acknowledgement without other information: no SACK blocks or other
    /// options, neither SYN nor FIN, no mark, no ECE or CWR flag, no low priority, and no load of VCP. A later one can
    /// replace it (RFC 3449, section 5.2.1).
    pub(crate) fn is_pure_ack(&self) -> bool {
        const OTHERS: Flags = Flags::SYN
            .with(Flags::FIN)
            .with(Flags::CE)
            .with(Flags::ECE)
            .with(Flags::CWR)
            .with(Flags::LOW);
        // A real program's packet stores a datagram, and has the flag `ACK` only if it is a pure acknowledgement.
        self.flags.has(Flags::ACK)
            && (self.sack.is_none() || self.sack.has_datagram())
            && !self.flags.has(OTHERS)
            && self.flags.load().is_none()
    }

    /// Bit in the number of a datagram that the receiving endpoint of a connection has sent.
    pub(crate) const ANSWER: u64 = 1 << 63;

    /// Returns an ECN-capable data packet with this number.
    #[cfg(test)]
    pub(crate) fn data(number: u64, bytes: u16) -> Self {
        Self {
            seq: number,
            bytes,
            flags: Flags::ECT,
            ..Self::NONE
        }
    }
}

/// Header flags of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u16);

impl Flags {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const SYN: Self = Self(1);
    pub(crate) const FIN: Self = Self(2);
    /// An acknowledgement without data.
    pub(crate) const ACK: Self = Self(4);
    /// ECN-capable transport.
    pub(crate) const ECT: Self = Self(8);
    /// Congestion experienced.
    pub(crate) const CE: Self = Self(16);
    /// ECN echo.
    pub(crate) const ECE: Self = Self(32);
    /// Congestion window reduced.
    pub(crate) const CWR: Self = Self(64);
    /// Set in datagrams, which do not belong to a TCP connection.
    pub(crate) const DATAGRAM: Self = Self(128);
    /// Position of the two bits that contain VCP's load plus one. They are zero if the packet requests no load.
    const LOAD_SHIFT: u32 = 8;
    pub(crate) const LOAD: Self = Self(3 << Self::LOAD_SHIFT);
    /// Low priority, for a dummy packet or the answer to one.
    pub(crate) const LOW: Self = Self(1 << 10);
    /// Set in placeholders, which stand for acknowledgements in a queue with ACK filtering; see `queue/ack_filter`.
    pub(crate) const PLACE: Self = Self(1 << 11);
    /// Set together with [`Self::ECT`] for ECT(1), the codepoint of scalable senders for L4S (RFC 9331 section 4.1).
    pub(crate) const ECT1: Self = Self(1 << 12);

    /// Position of the three bits of an acknowledgement's ACE field (RFC 9768 section 3.2.2).
    const ACE_SHIFT: u32 = 13;

    #[inline]
    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    #[inline]
    pub(crate) const fn with_if(self, other: Self, condition: bool) -> Self {
        if condition { self.with(other) } else { self }
    }

    #[inline]
    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns true if no flags are set except some of `these`.
    #[inline]
    pub(crate) const fn only(self, these: Self) -> bool {
        self.0 & !these.0 == 0
    }

    /// Returns the load that routers have written into the packet; `None` if the packet does not request loads.
    pub(crate) fn load(self) -> Option<Load> {
        match (self.0 & Self::LOAD.0) >> Self::LOAD_SHIFT {
            0 => None,
            1 => Some(Load::Low),
            2 => Some(Load::High),
            _ => Some(Load::Over),
        }
    }

    /// Returns the ACE field: 5 plus the number of marked packets that have arrived, modulo 8. Zero without AccECN.
    pub(crate) fn ace(self) -> u8 {
        (self.0 >> Self::ACE_SHIFT) as u8
    }

    /// Returns the flags with the ACE field `ace` modulo 8. The field must be zero before.
    pub(crate) fn with_ace(self, ace: u8) -> Self {
        Self(self.0 | u16::from(ace & 7) << Self::ACE_SHIFT)
    }

    /// Returns the flags with this load.
    pub(crate) fn with_load(self, load: Load) -> Self {
        Self(self.0 & !Self::LOAD.0 | (load as u16 + 1) << Self::LOAD_SHIFT)
    }
}

/// Reports of an acknowledgement: up to three SACK blocks `[left, right)` of segment numbers (RFC 2018), most recent
/// first, and, if the receiver reports them, a time and a number of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SackBlocks {
    blocks: [(u64, u64); SackBlocks::MAX],
    /// Transit time of the last data segment in microseconds, as in Sync-TCP's timestamp option (Weigle, dissertation,
    /// UNC 2003, chapter 3), or the delay at the receiver; `u32::MAX` if no time is reported.
    transit_us: u32,
    /// 5 plus the number of marked packets that have arrived, modulo 2^16, from a receiver that counts them (RFC 9768);
    /// 0 from others.
    marks: u16,
    len: u8,
}

impl Default for SackBlocks {
    fn default() -> Self {
        Self::NONE
    }
}

impl SackBlocks {
    /// No blocks, no transit time and no marks.
    pub(crate) const NONE: Self = Self {
        blocks: [(0, 0); Self::MAX],
        transit_us: Self::NO_TRANSIT,
        marks: 0,
        len: 0,
    };
    /// Maximum number of blocks in a header that also has a timestamp option.
    pub(crate) const MAX: usize = 3;
    const NO_TRANSIT: u32 = u32::MAX;

    /// Sets the reported time (a transit time, or a delay at the receiver), rounded down to microseconds.
    #[inline]
    pub(crate) fn with_transit(self, transit: Span) -> Self {
        let us = transit.as_ps() / Span::from_micros(1).as_ps();
        Self {
            transit_us: us.min(u64::from(Self::NO_TRANSIT - 1)) as u32,
            ..self
        }
    }

    /// Sets the reported number of marks.
    pub(crate) fn with_marks(self, marks: u16) -> Self {
        Self { marks, ..self }
    }

    /// Returns true if this value contains no SACK blocks, no transit time and no count of marks.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0 && self.transit_us == Self::NO_TRANSIT && self.marks == 0
    }

    /// Returns a mutable reference to the most recent block.
    #[inline]
    pub(crate) fn latest_mut(&mut self) -> Option<&mut (u64, u64)> {
        self.blocks[..usize::from(self.len)].first_mut()
    }

    pub(crate) fn push(&mut self, block: (u64, u64)) {
        self.blocks[usize::from(self.len)] = block;
        self.len += 1;
    }

    /// Returns these blocks preceded by `block`; the last one is removed if there are too many.
    pub(crate) fn behind(&self, block: (u64, u64)) -> Self {
        let mut blocks = Self { len: 0, ..*self };
        blocks.push(block);
        let others = self.as_slice().iter().take(Self::MAX - 1);
        others.for_each(|&other| blocks.push(other));
        blocks
    }

    pub(crate) fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.len)]
    }

    pub(crate) fn is_full(&self) -> bool {
        usize::from(self.len) == Self::MAX
    }
}

/// Handle of a packet's options. It has three forms: no options, as for most packets; a position in the option store;
/// or a transit time, if this is the only option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SackHandle(u32);

impl SackHandle {
    pub(crate) const NONE: Self = Self(u32::MAX);
    /// Bit set in the handle of a header for routers. The store keeps the packet's SACK blocks, if any, together with
    /// the header.
    const HEADER: u32 = 1 << 31;
    /// Bit set in a handle of a packet's options that has no entry in the store: no options, or only a transit time.
    const BY_VALUE: u32 = 1 << 30;
    /// Bit that marks a handle of a datagram's bytes in the store.
    const DATAGRAM: u32 = 1 << 29;

    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Returns true if the packet's options include a header for routers.
    #[inline]
    pub(crate) fn has_header(self) -> bool {
        self.0 & (Self::HEADER | Self::BY_VALUE) == Self::HEADER
    }

    /// Returns true if no entry of the [`OptionStore`] is needed: the packet has no options, or only a transit time.
    #[inline]
    pub(crate) fn is_by_value(self) -> bool {
        self.0 & Self::BY_VALUE != 0
    }

    /// Returns true if the handle refers to an entry of the [`SackStore`].
    #[inline]
    fn has_slot(self) -> bool {
        self.0 < Self::DATAGRAM
    }

    /// Returns true if the handle refers to a datagram's bytes.
    #[inline]
    pub(crate) fn has_datagram(self) -> bool {
        self.0 & (Self::HEADER | Self::BY_VALUE | Self::DATAGRAM) == Self::DATAGRAM
    }

    /// Returns a handle that contains a transit time as the only option; `None` if the time is 2^30 µs (almost 18
    /// minutes) or more.
    #[inline]
    fn of_transit(transit_us: u32) -> Option<Self> {
        (transit_us < Self::BY_VALUE).then_some(Self(transit_us | Self::BY_VALUE))
    }

    /// Returns the transit time that the handle contains, in microseconds.
    #[inline]
    fn transit_us(self) -> Option<u32> {
        (self.0 & (Self::HEADER | Self::BY_VALUE) == Self::BY_VALUE)
            .then_some(self.0 & !Self::BY_VALUE)
    }

    /// Returns the transit time, if it is the packet's only option.
    #[inline]
    pub(crate) fn transit(self) -> Option<Span> {
        self.transit_us().map(|us| Span::from_micros(us.into()))
    }
}

/// Reports of an acknowledgement in flight, in 32 bytes: SACK blocks, a transit time and a number of marks. The edges
/// of blocks are stored relative to the acknowledgement number; the difference is always less than 2^31 segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SackOption {
    offsets: [(i32, i32); SackBlocks::MAX],
    transit_us: u32,
    marks: u16,
    len: u8,
}

impl SackOption {
    /// No blocks, no transit time and no marks.
    pub(crate) const NONE: Self = Self {
        offsets: [(0, 0); SackBlocks::MAX],
        transit_us: SackBlocks::NO_TRANSIT,
        marks: 0,
        len: 0,
    };

    #[inline]
    fn new(blocks: &SackBlocks, next: u64) -> Self {
        let offset = |number: u64| number.wrapping_sub(next) as i32;
        Self {
            offsets: blocks
                .blocks
                .map(|(left, right)| (offset(left), offset(right))),
            transit_us: blocks.transit_us,
            marks: blocks.marks,
            len: blocks.len,
        }
    }

    /// Returns the SACK blocks, the most recent first. They are stored relative to the acknowledgement number `next`.
    #[inline]
    pub(crate) fn blocks(&self, next: u64) -> impl Iterator<Item = (u64, u64)> {
        let number = move |offset: i32| next.wrapping_add_signed(offset.into());
        self.offsets[..usize::from(self.len)]
            .iter()
            .map(move |&(left, right)| (number(left), number(right)))
    }

    /// Returns the most recent block, if there is one. Blocks are stored relative to the acknowledgement number `next`.
    #[inline]
    pub(crate) fn first(&self, next: u64) -> Option<(u64, u64)> {
        self.has_blocks().then(|| self.all(next)[0])
    }

    /// Returns the number of SACK blocks.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.into()
    }

    /// Returns the blocks of [`Self::blocks`] as a whole array. Entries after the last block have no meaning.
    #[inline]
    pub(crate) fn all(&self, next: u64) -> [(u64, u64); SackBlocks::MAX] {
        let number = move |offset: i32| next.wrapping_add_signed(offset.into());
        self.offsets
            .map(|(left, right)| (number(left), number(right)))
    }

    /// Returns true if there are any SACK blocks.
    #[inline]
    pub(crate) fn has_blocks(&self) -> bool {
        self.len > 0
    }

    /// Returns the reported count of marks, modulo 2^16; `None` if it is zero, as without a report.
    pub(crate) fn marks(&self) -> Option<u16> {
        (self.marks > 0).then_some(self.marks)
    }

    /// Returns the time that the acknowledgement reports: a transit time, or a delay at the receiver.
    #[inline]
    pub(crate) fn transit(&self) -> Option<Span> {
        (self.transit_us != SackBlocks::NO_TRANSIT)
            .then(|| Span::from_micros(self.transit_us.into()))
    }
}

/// Returns a slot's number as stored in a handle. Panics if the number is too large for its bits in the handle.
fn number_of_slot(slot: usize) -> u32 {
    let number = u32::try_from(slot).ok();
    let number = number.filter(|&number| SackHandle(number).has_slot());
    number.expect("more than 5e8 packets with options in flight")
}

/// SACK blocks of the packets in flight. A slot is freed when its packet is consumed or dropped. Slots are reused in
/// the order in which they were freed. Successive packets therefore usually have neighbouring slots, which processors
/// prefetch.
#[derive(Debug, Default)]
pub(crate) struct SackStore {
    slots: Vec<SackOption>,
    free: VecDeque<u32>,
}

impl SackStore {
    /// Stores the blocks of the acknowledgement with number `next`; returns their handle.
    #[inline(always)]
    pub(crate) fn put(&mut self, blocks: &SackBlocks, next: u64) -> SackHandle {
        if blocks.is_empty() {
            return SackHandle::NONE;
        }
        if blocks.len == 0
            && blocks.marks == 0
            && let Some(handle) = SackHandle::of_transit(blocks.transit_us)
        {
            return handle;
        }
        self.store(SackOption::new(blocks, next))
    }

    #[inline(always)]
    fn store(&mut self, stored: SackOption) -> SackHandle {
        if let Some(slot) = self.free.pop_front() {
            self.slots[slot as usize] = stored;
            return SackHandle(slot);
        }
        let (len, capacity) = (self.slots.len(), self.slots.capacity());
        memory::claim_growth::<SackOption>("options of packets", len, capacity);
        self.slots.push(stored);
        let slot = self.slots.len() - 1;
        SackHandle(number_of_slot(slot))
    }

    /// Returns the options that `handle` refers to, without removing them.
    #[inline]
    pub(crate) fn get(&self, handle: SackHandle) -> SackOption {
        if handle.has_slot() {
            return self.slots[handle.0 as usize];
        }
        SackOption {
            transit_us: handle.transit_us().unwrap_or(SackBlocks::NO_TRANSIT),
            ..SackOption::NONE
        }
    }

    /// Prefetches the SACK blocks of a handle into the processor's caches.
    #[inline]
    pub(crate) fn prefetch(&self, handle: SackHandle) {
        if handle.has_slot() {
            prefetch(&self.slots[handle.0 as usize]);
        }
    }

    /// Copies the SACK blocks of `handle`; returns the handle of the copy.
    pub(crate) fn copy(&mut self, handle: SackHandle) -> SackHandle {
        if !handle.has_slot() {
            return handle;
        }
        self.store(self.slots[handle.0 as usize])
    }

    /// Removes the options that `handle` refers to from the store, and returns them.
    #[inline]
    pub(crate) fn take(&mut self, handle: SackHandle) -> SackOption {
        self.forget(handle);
        self.get(handle)
    }

    /// Removes the options that `handle` refers to from the store.
    #[inline]
    pub(crate) fn forget(&mut self, handle: SackHandle) {
        if handle.has_slot() {
            self.free.push_back(handle.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_stays_small() {
        assert!(size_of::<Packet>() <= 48);
    }

    #[test]
    fn the_load_is_part_of_the_flags() {
        let flags = Flags::ACK.with(Flags::DATAGRAM);
        assert_eq!(flags.load(), None);
        for load in [Load::Over, Load::Low, Load::High] {
            let loaded = flags.with_load(Load::Over).with_load(load);
            assert_eq!(loaded.load(), Some(load));
            assert!(loaded.has(Flags::ACK) && loaded.has(Flags::DATAGRAM));
            assert!(!loaded.has(Flags::CE) && !loaded.has(Flags::CWR));
        }
    }

    #[test]
    fn the_store_reuses_slots() {
        let mut store = SackStore::default();
        let mut blocks = SackBlocks::NONE;
        assert!(store.put(&blocks, 1).is_none());
        blocks.push((1_000_000_000_003, 1_000_000_000_005));
        // This block repeats acknowledged segments (D-SACK, RFC 2883).
        blocks.push((999_999_999_990, 999_999_999_991));
        let next = 1_000_000_000_000;
        let first = store.put(&blocks, next);
        let taken = store.take(first);
        assert!(taken.blocks(next).eq(blocks.as_slice().iter().copied()));
        let second = store.put(&blocks, next);
        assert_eq!(first, second);
        assert_eq!(store.slots.len(), 1);
        assert_eq!(size_of::<SackOption>(), 32);
    }

    /// The store uses no slot for a transit time that is the only option and short enough to be part of the handle.
    #[test]
    fn a_transit_time_alone_is_part_of_the_handle() {
        let longest = Span::from_micros(u64::from(SackHandle::BY_VALUE) - 1);
        let mut store = SackStore::default();
        for (transit, slots) in [
            (Span::ZERO, 0),
            (longest, 0),
            (longest + Span::from_micros(1), 1),
        ] {
            let blocks = SackBlocks::NONE.with_transit(transit);
            let handle = store.put(&blocks, 10);
            assert_eq!(store.slots.len(), slots, "{transit:?}");
            assert_eq!(handle.transit().is_some(), slots == 0, "{transit:?}");
            let copy = store.copy(handle);
            assert_eq!(store.take(handle).transit(), Some(transit));
            assert_eq!(store.take(copy).transit(), Some(transit));
        }
        let mut blocks = SackBlocks::NONE.with_transit(longest);
        blocks.push((12, 15));
        let handle = store.put(&blocks, 10);
        assert!(!handle.is_by_value() && !handle.has_header());
        assert!(store.take(handle).blocks(10).eq([(12, 15)]));
    }
}
