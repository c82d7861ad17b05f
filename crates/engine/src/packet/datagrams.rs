//! Bytes of datagrams in flight.

use super::{SackHandle, number_of_slot};
use crate::stack::Datagram;

/// Bytes of datagrams in flight, without the zeros at their ends: a stack that encrypts nothing sends zeros as
/// data, and a window of them then takes less memory than a processor's cache. Buffers are reused.
#[derive(Debug, Default)]
pub(super) struct DatagramStore {
    buffers: Vec<Vec<u8>>,
    free: Vec<u32>,
}

impl DatagramStore {
    /// Stores the bytes of a datagram.
    pub(super) fn put(&mut self, bytes: &[u8]) -> SackHandle {
        let kept = &bytes[..trimmed_len(bytes)];
        let number = self.free.pop().unwrap_or_else(|| {
            self.buffers.push(Vec::new());
            number_of_slot(self.buffers.len() - 1)
        });
        let buffer = &mut self.buffers[number as usize];
        buffer.clear();
        buffer.extend_from_slice(kept);
        SackHandle(number | SackHandle::DATAGRAM)
    }

    /// Returns a datagram of length `len`.
    pub(super) fn get(&self, handle: SackHandle, len: usize) -> Datagram<'_> {
        let bytes = &self.buffers[number_of(handle) as usize][..];
        Datagram {
            bytes,
            zeros: len - bytes.len(),
        }
    }

    /// Makes a second copy of a datagram.
    pub(super) fn copy(&mut self, handle: SackHandle) -> SackHandle {
        let number = number_of(handle) as usize;
        let bytes = std::mem::take(&mut self.buffers[number]);
        let copy = self.put(&bytes);
        self.buffers[number] = bytes;
        copy
    }

    /// Exchanges the bytes of two datagrams.
    pub(super) fn swap(&mut self, one: SackHandle, other: SackHandle) {
        let [one, other] = [one, other].map(|handle| number_of(handle) as usize);
        self.buffers.swap(one, other);
    }

    /// Forgets a datagram.
    pub(super) fn forget(&mut self, handle: SackHandle) {
        self.free.push(number_of(handle));
    }
}

fn number_of(handle: SackHandle) -> u32 {
    debug_assert!(handle.has_datagram());
    handle.0 & !SackHandle::DATAGRAM
}

/// Returns the length without the zeros at the end, rounded up to a multiple of a step from there.
fn trimmed_len(bytes: &[u8]) -> usize {
    // Blocks of one size, known to the compiler, are compared sixteen bytes at a time.
    const STEP: usize = 128;
    let (_, blocks) = bytes.as_rchunks::<STEP>();
    let zeros = blocks.iter().rev();
    let zeros = zeros.take_while(|block| **block == [0; STEP]).count();
    bytes.len() - zeros * STEP
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Datagrams are read as they were stored, for any mix of datagrams that are copied and dropped in flight.
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
            prop_assert_eq!(store.buffers.len(), known.len() + store.free.len());
        }
    }

    #[test]
    fn zeros_take_no_room() {
        let mut store = DatagramStore::default();
        let mut bytes = vec![7; 40];
        bytes.resize(1452, 0);
        store.put(&bytes);
        assert!(store.buffers[0].len() < 128);
    }
}
