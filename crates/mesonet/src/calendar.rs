//! A calendar that sorts entries by the window of simulated time in which they are due.
//!
//! It is a timing wheel (G. Varghese and T. Lauck, *Hashed and Hierarchical Timing Wheels*, SOSP
//! 1987). Its slots are windows.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// A sort key: a time in the upper half, and any value in the lower half.
pub(crate) type Key = u128;

/// Returns the time of a key; [`Time::NEVER`] for the largest key.
#[inline]
pub(crate) fn time_of(key: Key) -> Time {
    Time::from_ps((key >> 64) as u64)
}

/// Timing wheel with a slot for each of the next windows of simulated time. Entries that are due after these windows
/// wait in the last slot. When the window of that slot is taken, these entries are put into slots again, by their due
/// times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Calendar {
    slots: Vec<Vec<Key>>,
    /// Length of a window of simulated time. Window number n, from 1, ends at n times this length, and includes its
    /// end.
    window: Span,
    /// Number of the window that [`Self::take_window`] takes next.
    next: u64,
}

impl Calendar {
    /// Returns a calendar of `slots` windows of length `window`.
    pub(crate) fn new(slots: usize, window: Span) -> Self {
        Self {
            slots: vec![Vec::new(); slots],
            window,
            next: 1,
        }
    }

    /// Returns the end of the next window.
    fn end(&self) -> Time {
        Time::ZERO + self.window * self.next
    }

    /// Adds an entry and returns true. Returns false, without adding the entry, if [`Self::take_window`] has already
    /// taken the window in which the entry is due.
    #[inline]
    pub(crate) fn push(&mut self, key: Key) -> bool {
        let time = time_of(key);
        let window = time.as_ps().saturating_sub(1) / self.window.as_ps() + 1;
        if window < self.next {
            return false;
        }
        let slots = self.slots.len() as u64;
        let slot = window.min(self.next + slots - 1) % slots;
        self.slots[slot as usize].push(key);
        true
    }

    /// Takes the entries that are due in the next window, unsorted.
    pub(crate) fn take_window(&mut self) -> Vec<Key> {
        let (end, slots) = (self.end(), self.slots.len() as u64);
        let mut due = std::mem::take(&mut self.slots[(self.next % slots) as usize]);
        self.next += 1;
        due.retain(|&key| {
            let later = time_of(key) > end;
            if later {
                self.push(key);
            }
            !later
        });
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_taken_in_the_window_in_which_they_are_due() {
        let mut calendar = Calendar::new(4, Span::from_ps(10));
        let key = |time: u64| Key::from(time) << 64 | Key::from(time % 7);
        let times = [0, 1, 10, 11, 20, 39, 40, 41, 95, 100, 1234];
        assert!(times.iter().all(|&time| calendar.push(key(time))));
        let mut taken = Vec::new();
        for window in 1..=130 {
            let mut due = calendar.take_window();
            due.sort_unstable();
            taken.extend(due.iter().map(|&key| (window, time_of(key).as_ps())));
            assert!(due.iter().all(|&due| due == key(time_of(due).as_ps())));
        }
        // The end of a window belongs to it.
        let expected = times.map(|time: u64| (time.div_ceil(10).max(1), time));
        assert_eq!(taken, expected);
        assert!(!calendar.push(key(1300)) && calendar.push(key(1301)));
    }
}
