//! FIFOs of packets.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// A FIFO. While it is short it stays in the same few cache lines, however long it has been.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fifo<T> {
    entries: VecDeque<T>,
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self {
            entries: VecDeque::new(),
        }
    }
}

impl<T: Copy> Fifo<T> {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    pub(super) fn first(&self) -> Option<&T> {
        self.entries.front()
    }

    #[inline]
    pub(super) fn push(&mut self, entry: T) {
        self.entries.push_back(entry);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        let first = self.entries.pop_front();
        if self.entries.is_empty() {
            // Begins at the beginning of its memory again.
            self.entries.clear();
        }
        first
    }

    #[inline]
    pub(super) fn iter(&self) -> std::collections::vec_deque::Iter<'_, T> {
        self.entries.iter()
    }
}
