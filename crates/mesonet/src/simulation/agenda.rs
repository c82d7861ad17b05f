//! Start times of flows: requests of sources, and long-lived flows.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::calendar::{Calendar, Key, time_of};

/// Start of a flow. Of simultaneous starts, those of files are processed before those of long-lived flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// A source requests a file.
    File(u32),
    /// A long-lived flow starts.
    LongLived(u32),
}

impl Opening {
    fn key(self, time: Time) -> Key {
        let tag = match self {
            Self::File(source) => u64::from(source),
            Self::LongLived(number) => 1 << 32 | u64::from(number),
        };
        Key::from(time.as_ps()) << 64 | Key::from(tag)
    }

    fn of(key: Key) -> Self {
        let (kind, number) = (key as u64 >> 32, key as u32);
        match kind {
            0 => Self::File(number),
            _ => Self::LongLived(number),
        }
    }
}

/// Flows that have not begun yet, by start time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Agenda {
    calendar: Calendar,
    /// Flows that begin in the current window or before, from the latest to the earliest.
    due: Vec<Key>,
}

/// Number of time windows in the calendar. Together they last some seconds.
const SLOTS: usize = 2048;

impl Agenda {
    pub(super) fn new(window: Span) -> Self {
        Self {
            calendar: Calendar::new(SLOTS, window),
            due: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, time: Time, opening: Opening) {
        let key = opening.key(time);
        if !self.calendar.push(key) {
            let at = self.due.partition_point(|&other| other > key);
            self.due.insert(at, key);
        }
    }

    /// Moves the flows that begin in the next window from the calendar to `due`.
    pub(super) fn begin_window(&mut self) {
        self.due.append(&mut self.calendar.take_window());
        self.due.sort_unstable_by(|one, other| other.cmp(one));
    }

    /// Removes and returns the earliest flow of `due`; `None` if `due` is empty.
    pub(super) fn take(&mut self) -> Option<(Time, Opening)> {
        let key = self.due.pop()?;
        Some((time_of(key), Opening::of(key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_begin_in_order_of_time_then_of_number() {
        let mut agenda = Agenda::new(Span::from_ps(5));
        let at = Time::from_ps;
        for (time, opening) in [
            (5, Opening::LongLived(0)),
            (5, Opening::File(u32::MAX)),
            (7, Opening::File(0)),
            (5, Opening::File(1)),
            (2, Opening::LongLived(3)),
        ] {
            agenda.push(at(time), opening);
        }
        agenda.begin_window();
        let first = agenda.take();
        assert_eq!(first, Some((at(2), Opening::LongLived(3))));
        // This think time ends in the window in which it began.
        agenda.push(at(4), Opening::File(9));
        let order: Vec<_> = std::iter::from_fn(|| agenda.take()).collect();
        let expected = [
            (4, Opening::File(9)),
            (5, Opening::File(1)),
            (5, Opening::File(u32::MAX)),
            (5, Opening::LongLived(0)),
        ];
        assert_eq!(order, expected.map(|(time, opening)| (at(time), opening)));
        // This entry is too late for its window.
        agenda.push(at(3), Opening::File(8));
        agenda.begin_window();
        let order: Vec<_> = std::iter::from_fn(|| agenda.take()).collect();
        let expected = [(3, Opening::File(8)), (7, Opening::File(0))];
        assert_eq!(order, expected.map(|(time, opening)| (at(time), opening)));
    }
}
