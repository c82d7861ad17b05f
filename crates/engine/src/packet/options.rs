//! Options that packets have in addition to their fields: SACK blocks, headers for routers, and bytes of datagrams.

use super::datagrams::DatagramStore;
use super::{SackBlocks, SackHandle, SackOption, SackStore, number_of_slot};
use crate::stack::Datagram;

/// XCP's congestion header (draft-falk-xcp-spec-03 section 3). In an acknowledgement, only the field `change` is used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct XcpHeader {
    /// The sender's smoothed round-trip time in seconds; zero before the first sample.
    pub(crate) rtt_s: f64,
    /// Time between two packets of the sender, `rtt / cwnd`, in seconds.
    pub(crate) spacing_s: f64,
    /// Requested or granted change of the throughput, in bytes per second.
    pub(crate) change: f64,
    /// True if a router has set `change`; false if `change` is still the sender's request.
    pub(crate) granted: bool,
}

/// An XCP header, with the SACK blocks of the same packet.
#[derive(Clone, Copy, Debug)]
struct Slot {
    header: XcpHeader,
    sack: SackHandle,
}

/// Options of the packets in flight. Their memory is reused when a packet is consumed or dropped.
#[derive(Debug, Default)]
pub(crate) struct OptionStore {
    sack: SackStore,
    headers: Vec<Slot>,
    free: Vec<u32>,
    datagrams: DatagramStore,
}

impl OptionStore {
    /// Stores the SACK blocks of the acknowledgement with number `next`; returns their handle.
    #[inline]
    pub(crate) fn put(&mut self, blocks: &SackBlocks, next: u64) -> SackHandle {
        self.sack.put(blocks, next)
    }

    /// Stores an XCP header together with the same packet's SACK blocks (handle `sack`). Returns the handle of both.
    pub(crate) fn put_header(&mut self, header: XcpHeader, sack: SackHandle) -> SackHandle {
        let slot = Slot { header, sack };
        let number = if let Some(number) = self.free.pop() {
            self.headers[number as usize] = slot;
            number
        } else {
            self.headers.push(slot);
            number_of_slot(self.headers.len() - 1)
        };
        SackHandle(number | SackHandle::HEADER)
    }

    /// Stores the bytes of a datagram; returns their handle.
    pub(crate) fn put_datagram(&mut self, bytes: &[u8]) -> SackHandle {
        self.datagrams.put(bytes)
    }

    /// Exchanges the bytes of two datagrams.
    pub(crate) fn swap_datagrams(&mut self, one: SackHandle, other: SackHandle) {
        self.datagrams.swap(one, other);
    }

    /// Returns a datagram of length `len`.
    pub(crate) fn datagram(&self, handle: SackHandle, len: usize) -> Datagram<'_> {
        self.datagrams.get(handle, len)
    }

    /// Returns a mutable reference to the XCP header of a packet, if the packet has one.
    pub(crate) fn header_mut(&mut self, handle: SackHandle) -> Option<&mut XcpHeader> {
        let slot = number_of_header(handle)?;
        Some(&mut self.headers[slot as usize].header)
    }

    /// Removes and returns the header of a packet, if it has one. Also returns the handle of the packet's SACK blocks.
    pub(crate) fn take_header(&mut self, handle: SackHandle) -> (Option<XcpHeader>, SackHandle) {
        let Some(number) = number_of_header(handle) else {
            return (None, handle);
        };
        self.free.push(number);
        let Slot { header, sack } = self.headers[number as usize];
        (Some(header), sack)
    }

    /// Returns the SACK blocks of a packet without removing them.
    pub(crate) fn get(&self, handle: SackHandle) -> SackOption {
        match number_of_header(handle) {
            Some(number) => self.sack.get(self.headers[number as usize].sack),
            None => self.sack.get(handle),
        }
    }

    /// Removes and returns the SACK blocks of a packet. The packet's header for routers must already have been removed.
    #[inline]
    pub(crate) fn take(&mut self, handle: SackHandle) -> SackOption {
        self.sack.take(handle)
    }

    /// Prefetches the SACK blocks of a packet that has no header for routers.
    #[inline]
    pub(crate) fn prefetch(&self, handle: SackHandle) {
        self.sack.prefetch(handle);
    }

    /// Makes a copy of all options of a packet; returns the handle of the copy.
    pub(crate) fn copy(&mut self, handle: SackHandle) -> SackHandle {
        if handle.has_datagram() {
            return self.datagrams.copy(handle);
        }
        let Some(number) = number_of_header(handle) else {
            return self.sack.copy(handle);
        };
        let Slot { header, sack } = self.headers[number as usize];
        let sack = self.sack.copy(sack);
        self.put_header(header, sack)
    }

    /// Removes all options of a packet.
    #[inline]
    pub(crate) fn forget(&mut self, handle: SackHandle) {
        if !handle.is_by_value() {
            self.forget_some(handle);
        }
    }

    /// Removes the options of a packet that has at least one. Marked cold, since most dropped packets are data packets
    /// without options.
    #[cold]
    fn forget_some(&mut self, handle: SackHandle) {
        if handle.has_header() {
            let (_, sack) = self.take_header(handle);
            self.sack.forget(sack);
        } else if handle.has_datagram() {
            self.datagrams.forget(handle);
        } else {
            self.sack.forget(handle);
        }
    }
}

fn number_of_header(handle: SackHandle) -> Option<u32> {
    (handle.has_header()).then_some(handle.0 & !SackHandle::HEADER)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: XcpHeader = XcpHeader {
        rtt_s: 0.1,
        spacing_s: 0.01,
        change: 3e4,
        granted: false,
    };

    #[test]
    fn a_header_travels_beside_blocks() {
        let mut store = OptionStore::default();
        let mut blocks = SackBlocks::NONE;
        blocks.push((12, 15));
        let sack = store.put(&blocks, 10);
        let both = store.put_header(HEADER, sack);
        assert!(store.header_mut(sack).is_none());
        store.header_mut(both).expect("it is there").change = -1.0;
        assert!(store.get(both).blocks(10).eq([(12, 15)]));
        let (header, rest) = store.take_header(both);
        assert_eq!(header.map(|header| header.change), Some(-1.0));
        assert!(store.take(rest).blocks(10).eq([(12, 15)]));
    }

    #[test]
    fn a_copy_has_both_and_stays_when_the_first_goes() {
        let mut store = OptionStore::default();
        let mut blocks = SackBlocks::NONE;
        blocks.push((12, 15));
        let sack = store.put(&blocks, 10);
        let first = store.put_header(HEADER, sack);
        let second = store.copy(first);
        store.forget(first);
        assert!(store.get(second).blocks(10).eq([(12, 15)]));
        assert_eq!(store.take_header(second).0, Some(HEADER));
        assert_eq!(store.copy(SackHandle::NONE), SackHandle::NONE);
    }

    #[test]
    fn what_is_forgotten_is_used_again() {
        let mut store = OptionStore::default();
        let mut blocks = SackBlocks::NONE;
        blocks.push((12, 15));
        for _ in 0..3 {
            let sack = store.put(&blocks, 10);
            let both = store.put_header(HEADER, sack);
            let alone = store.put_header(HEADER, SackHandle::NONE);
            assert_eq!(store.take_header(alone), (Some(HEADER), SackHandle::NONE));
            store.forget(both);
            store.forget(SackHandle::NONE);
        }
        assert_eq!((store.headers.len(), store.sack.slots.len()), (2, 1));
    }
}
