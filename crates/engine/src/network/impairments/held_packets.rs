//! Packets that impairments hold back, each until its release time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use longhaul_kernel::Key;
use longhaul_units::Time;

use crate::packet::Packet;
use crate::schedule::{key_of, time_of};

/// Packets in the order of their release times; packets with equal release times are in the order of their arrival.
#[derive(Debug, Default)]
pub(super) struct HeldPackets {
    /// Release time and slot of each packet. A binary heap is fast here, since packets are mostly released in the order
    /// in which they were held back.
    due: BinaryHeap<Reverse<Key>>,
    slots: Vec<Held>,
    free: Vec<u32>,
    held: u64,
    /// Slots of packets that have the same release time as the packet just released, the next one at the end.
    simultaneous: Vec<u32>,
}

/// A packet that is held back, with the keys that define its place in the order of arrival.
#[derive(Clone, Copy, Debug)]
struct Held {
    packet: Packet,
    /// Key of the packet's arrival in the event list.
    came: Key,
    /// Serial number of the packet, in the order in which packets were added. This order can differ from that of the
    /// arrivals, since a packet may be added before it arrives.
    number: u64,
}

impl HeldPackets {
    /// Holds back a packet until `until`. `came` is the key of its arrival in the event list.
    pub(super) fn hold(&mut self, until: Time, packet: Packet, came: Key) {
        let held = Held {
            packet,
            came,
            number: self.held,
        };
        let slot = if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = held;
            slot
        } else {
            self.slots.push(held);
            let slot = self.slots.len() - 1;
            u32::try_from(slot).expect("more than 4e9 packets held back")
        };
        self.due.push(Reverse(entry(until, slot)));
        self.held += 1;
    }

    /// Returns the release time of the next packet; `None` if there is none. Packets in `simultaneous` do not count.
    pub(super) fn next(&self) -> Option<Time> {
        let Reverse(first) = *self.due.peek()?;
        Some(time_of(first))
    }

    /// Removes and returns the next packet with a release time of `now` or before.
    pub(super) fn release(&mut self, now: Time) -> Option<Packet> {
        let slot = match self.simultaneous.pop() {
            Some(slot) => slot,
            None => self.take_first(now)?,
        };
        self.free.push(slot);
        Some(self.slots[slot as usize].packet)
    }

    /// Removes the first packet with a release time of `now` or before from the heap, and returns its slot. Moves other
    /// packets with the same release time to `simultaneous`.
    fn take_first(&mut self, now: Time) -> Option<u32> {
        let time = self.next().filter(|&time| time <= now)?;
        let Reverse(first) = self.due.pop()?;
        if self.next() != Some(time) {
            return Some(first as u32);
        }
        self.simultaneous.push(first as u32);
        while self.next() == Some(time)
            && let Some(Reverse(next)) = self.due.pop()
        {
            self.simultaneous.push(next as u32);
        }
        let order = |slot: &u32| {
            let held = &self.slots[*slot as usize];
            (held.came, held.number)
        };
        self.simultaneous
            .sort_unstable_by_key(|slot| Reverse(order(slot)));
        self.simultaneous.pop()
    }

    /// Cancels the delay of packets that arrive after `event` and for which `concerns` returns true: their release time
    /// becomes the time of their arrival.
    pub(super) fn let_pass(&mut self, event: Key, concerns: impl Fn(&Packet) -> bool) {
        let all = std::mem::take(&mut self.due).into_vec();
        let entries = all.into_iter().map(|Reverse(due)| {
            let slot = due as u32;
            let Held { packet, came, .. } = &self.slots[slot as usize];
            let passes = *came > event && concerns(packet);
            Reverse(entry(time_of(if passes { *came } else { due }), slot))
        });
        self.due = entries.collect();
    }
}

/// Returns the heap's entry for the packet in `slot`, which is released at `until`.
fn entry(until: Time, slot: u32) -> Key {
    key_of(until, slot.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(seq: u64) -> Packet {
        Packet {
            seq,
            ..Packet::NONE
        }
    }

    fn came(time: u64, tie_break: u64) -> Key {
        Key::from(time) << 64 | Key::from(tie_break)
    }

    fn released(held: &mut HeldPackets, now: u64) -> Vec<u64> {
        let now = Time::from_ps(now);
        std::iter::from_fn(|| held.release(now))
            .map(|packet| packet.seq)
            .collect()
    }

    /// Packets with the same release time are released in the order of their arrival, even if they were held back in
    /// another order.
    #[test]
    fn those_of_one_time_go_on_as_they_came() {
        let mut held = HeldPackets::default();
        let at = Time::from_ps;
        for (seq, until, time, tie_break) in [
            (0, 50, 30, 0),
            (1, 90, 10, 2),
            (2, 90, 20, 0),
            (3, 90, 10, 1),
            (4, 90, 10, 2),
            (5, 91, 5, 0),
        ] {
            held.hold(at(until), packet(seq), came(time, tie_break));
        }
        assert_eq!(held.next(), Some(at(50)));
        assert_eq!(released(&mut held, 49), []);
        assert_eq!(released(&mut held, 90), [0, 3, 1, 4, 2]);
        assert_eq!(released(&mut held, 91), [5]);
        assert_eq!(held.next(), None);
    }

    #[test]
    fn what_comes_when_its_flow_is_over_passes() {
        let mut held = HeldPackets::default();
        let at = Time::from_ps;
        for (seq, until, time) in [(0, 60, 10), (1, 60, 30), (2, 70, 40), (3, 80, 40)] {
            held.hold(at(until), packet(seq), came(time, 0));
        }
        held.let_pass(came(30, 0), |packet| packet.seq != 3);
        assert_eq!(released(&mut held, 59), [2]);
        assert_eq!(released(&mut held, 99), [0, 1, 3]);
    }
}
