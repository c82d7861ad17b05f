//! When flows begin: requests of sources, and long-lived flows.

use longhaul_engine::Heap;
use longhaul_units::Time;
use serde::{Deserialize, Serialize};

/// A flow that begins. Those due at the same time are opened in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// A source requests a file.
    File(u32),
    /// A long-lived flow starts.
    LongLived(u32),
}

/// All that are to come.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Agenda {
    heap: Heap,
}

impl Agenda {
    pub(super) fn push(&mut self, time: Time, opening: Opening) {
        let tag = match opening {
            Opening::File(source) => u64::from(source),
            Opening::LongLived(number) => 1 << 32 | u64::from(number),
        };
        self.heap
            .push(u128::from(time.as_ps()) << 64 | u128::from(tag));
    }

    /// Removes the next one, if it is due by `limit`.
    pub(super) fn take_until(&mut self, limit: Time) -> Option<(Time, Opening)> {
        let key = self.heap.first();
        let (time, tag) = (Time::from_ps((key >> 64) as u64), key as u64);
        if time > limit || key == u128::MAX {
            return None;
        }
        self.heap.remove_first();
        let number = tag as u32;
        let opening = match tag >> 32 {
            0 => Opening::File(number),
            _ => Opening::LongLived(number),
        };
        Some((time, opening))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_begin_in_order_of_time_then_of_number() {
        let mut agenda = Agenda::default();
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
        assert_eq!(agenda.take_until(at(1)), None);
        let order: Vec<_> = std::iter::from_fn(|| agenda.take_until(at(5))).collect();
        let expected = [
            (2, Opening::LongLived(3)),
            (5, Opening::File(1)),
            (5, Opening::File(u32::MAX)),
            (5, Opening::LongLived(0)),
        ];
        assert_eq!(order, expected.map(|(time, opening)| (at(time), opening)));
        assert_eq!(
            agenda.take_until(Time::NEVER),
            Some((at(7), Opening::File(0)))
        );
        assert_eq!(agenda.take_until(Time::NEVER), None);
    }
}
