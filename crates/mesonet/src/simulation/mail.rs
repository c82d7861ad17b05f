//! Packets that are handed over from one region to another between two windows of simulated time.

use std::sync::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};

use super::locked;
use crate::network::Crossing;

/// Packets on the links between regions. Each link has two boxes. In each window of simulated time, the sending region
/// fills one box, and the receiving region empties the other, which was filled in the window before.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Mail {
    boxes: Vec<[Mutex<Crossing>; 2]>,
}

impl Mail {
    pub(super) fn new(links: usize) -> Self {
        Self {
            boxes: (0..links).map(|_| Default::default()).collect(),
        }
    }

    fn of(&self, link: u16, window: u64) -> &Mutex<Crossing> {
        &self.boxes[link as usize][(window % 2) as usize]
    }

    /// Stores the packets that a region has put on link `link` during window `window`, which has ended.
    pub(super) fn send(&self, link: u16, window: u64, packets: &mut Crossing) {
        let mut sent = locked(self.of(link, window));
        debug_assert!(sent.is_empty(), "received in the window before");
        std::mem::swap(&mut *sent, packets);
    }

    /// Returns the packets put on link `link` during window `window`. They are received in the next window.
    pub(super) fn sent(&self, link: u16, window: u64) -> MutexGuard<'_, Crossing> {
        locked(self.of(link, window))
    }
}
