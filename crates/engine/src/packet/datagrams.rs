//! Storage of the contents of datagrams in flight.

use super::{SackHandle, number_of_slot};
use crate::stack::Datagram;

/// Contents of datagrams in flight, without blocks of zeros at the end ([`trimmed_len`]). Stacks without encryption
/// send zeros as data; their datagrams take little space. Slots and buffers are reused.
#[derive(Debug, Default)]
pub(super) struct DatagramStore {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Buffers of long datagrams that have been removed, for reuse.
    spare: Vec<Vec<u8>>,
}

/// Maximum number of bytes that are stored within a slot.
const SHORT: usize = 62;

/// Bytes of one datagram. Up to `SHORT` bytes, enough for most acknowledgements, are stored in one cache line. A longer
/// datagram is stored in a separate buffer.
#[derive(Debug)]
#[repr(align(64))]
enum Slot {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(Vec<u8>),
}

impl Slot {
    /// Creates the slot of a datagram with the bytes `kept`. More bytes than fit into a slot are stored in a buffer
    /// from `spare`.
    fn of(kept: &[u8], spare: &mut Vec<Vec<u8>>) -> Self {
        if kept.len() <= SHORT {
            let mut bytes = [0; SHORT];
            bytes[..kept.len()].copy_from_slice(kept);
            let len = kept.len() as u8;
            return Self::Short { len, bytes };
        }
        let mut buffer = spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(kept);
        Self::Long(buffer)
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Short { len, bytes } => &bytes[..usize::from(*len)],
            Self::Long(buffer) => buffer,
        }
    }
}

impl DatagramStore {
    /// Stores the bytes of a datagram; returns their handle.
    pub(super) fn put(&mut self, bytes: &[u8]) -> SackHandle {
        let slot = Slot::of(&bytes[..trimmed_len(bytes)], &mut self.spare);
        self.insert(slot)
    }

    fn insert(&mut self, slot: Slot) -> SackHandle {
        let number = match self.free.pop() {
            Some(number) => {
                self.slots[number as usize] = slot;
                number
            }
            None => {
                self.slots.push(slot);
                number_of_slot(self.slots.len() - 1)
            }
        };
        SackHandle(number | SackHandle::DATAGRAM)
    }

    /// Returns a datagram of length `len`.
    pub(super) fn get(&self, handle: SackHandle, len: usize) -> Datagram<'_> {
        let bytes = self.slots[number_of(handle) as usize].bytes();
        Datagram {
            bytes,
            zeros: len - bytes.len(),
        }
    }

    /// Makes a copy of a datagram; returns the handle of the copy.
    pub(super) fn copy(&mut self, handle: SackHandle) -> SackHandle {
        let kept = self.slots[number_of(handle) as usize].bytes();
        let slot = Slot::of(kept, &mut self.spare);
        self.insert(slot)
    }

    /// Exchanges the bytes of two datagrams.
    pub(super) fn swap(&mut self, one: SackHandle, other: SackHandle) {
        let [one, other] = [one, other].map(|handle| number_of(handle) as usize);
        self.slots.swap(one, other);
    }

    /// Removes a datagram.
    pub(super) fn forget(&mut self, handle: SackHandle) {
        let number = number_of(handle);
        if let Slot::Long(buffer) = &mut self.slots[number as usize] {
            self.spare.push(std::mem::take(buffer));
        }
        self.free.push(number);
    }
}

fn number_of(handle: SackHandle) -> u32 {
    debug_assert!(handle.has_datagram());
    handle.0 & !SackHandle::DATAGRAM
}

/// Returns the length of `bytes` without the blocks of `STEP` zeros at the end.
fn trimmed_len(bytes: &[u8]) -> usize {
    // The compiler knows the size of a block, so that all of its bytes are read without a branch, sixteen at a time.
    const STEP: usize = 128;
    let (_, blocks) = bytes.as_rchunks::<STEP>();
    let zeros = blocks.iter().rev();
    let zeros = zeros.take_while(|block| block.iter().fold(0, |any, byte| any | byte) == 0);
    bytes.len() - zeros.count() * STEP
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Datagrams are read as they were written, even if any of them are copied and dropped in flight.
        #[test]
        fn datagrams_come_out_as_they_went_in(
            steps in prop::collection::vec((0usize..4, 0usize..200, 0usize..1500), 1..60),
        ) {
            let mut store = DatagramStore::default();
            let mut known: Vec<(SackHandle, Vec<u8>)> = Vec::new();
            for (number, (act, filled, zeros)) in steps.into_iter().enumerate() {
                match act {
                    0 | 1 => {
                        let mut bytes = vec![number as u8; filled];
                        bytes.resize(filled + zeros, 0);
                        known.push((store.put(&bytes), bytes));
                    }
                    2 if !known.is_empty() => {
                        let (handle, bytes) = known[filled % known.len()].clone();
                        known.push((store.copy(handle), bytes));
                    }
                    _ if !known.is_empty() => {
                        let (handle, _) = known.swap_remove(filled % known.len());
                        store.forget(handle);
                    }
                    _ => {}
                }
            }
            for (handle, bytes) in &known {
                let mut out = Vec::new();
                store.get(*handle, bytes.len()).append_to(&mut out);
                prop_assert_eq!(&out, bytes);
            }
            prop_assert_eq!(store.slots.len(), known.len() + store.free.len());
        }
    }

    #[test]
    fn zeros_take_no_room() {
        let mut store = DatagramStore::default();
        let mut bytes = vec![7; 40];
        bytes.resize(1452, 0);
        store.put(&bytes);
        assert!(matches!(store.slots[0], Slot::Short { .. }));
        assert_eq!(size_of::<Slot>(), 64);
    }
}
