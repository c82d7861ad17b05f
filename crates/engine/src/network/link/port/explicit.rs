//! The port of a link with explicit service: the discipline stores the packets, and the port counts them.

use longhaul_units::{Span, Time};

use super::Port;
use crate::measure::ClassCounters;
use crate::packet::{Flags, OptionStore, Packet};
use crate::queue::{Arrival, DropReason, Effects, PacketQueue, Queue};

impl Port {
    /// Returns true if a packet that reaches the near end of an idle link bypasses the discipline and enters service at
    /// once, as most acknowledgements do. Such a packet is counted as accepted.
    #[inline]
    pub(in crate::network::link) fn pass(&mut self, bytes: u16) -> bool {
        if self.waiting_pkts > 0 || self.loss.is_to_decide() || !self.queue.as_buffered().passes() {
            return false;
        }
        let lost = self.loss.loses();
        debug_assert!(!lost, "there was nothing to decide");
        self.counters.accepted_bytes += u64::from(bytes);
        true
    }

    /// Processes a packet that reaches the near end at `now`. `idle_since` is the time since which the link has been
    /// idle; `None` if it is busy. Returns true if the packet is accepted.
    pub(in crate::network::link) fn enqueue(
        &mut self,
        packet: Packet,
        now: Time,
        idle_since: Option<Time>,
        effects: &mut Effects,
        options: &mut OptionStore,
    ) -> bool {
        let bytes = packet.bytes;
        self.counters.found_waiting += self.waiting_pkts;
        let arrival = Arrival {
            now,
            bytes: u32::from(bytes),
            ecn_capable: packet.flags.has(Flags::ECT),
            low_priority: packet.flags.has(Flags::LOW),
            waiting_pkts: self.waiting_pkts,
            waiting_bytes: self.waiting_bytes,
            idle_since,
        };
        let taken = if self.loss.loses() {
            Err(DropReason::Loss)
        } else if arrival.low_priority && self.waiting_pkts > 0 {
            // The rule is the same as with service on arrival.
            Err(DropReason::Early)
        } else {
            let packet = Packet {
                time: now,
                ..packet
            };
            let discipline = self.queue.as_buffered();
            discipline.enqueue(packet, &arrival, effects)
        };
        if let Err(reason) = taken {
            if reason == DropReason::Filtered {
                self.queue.as_buffered().note_filtered(&packet, options);
            }
            self.count_drop(reason, &packet);
            return false;
        }
        self.counters.accepted_bytes += u64::from(bytes);
        self.waiting_pkts += 1;
        self.waiting_bytes += u64::from(bytes);
        self.counters.starts_ahead += u128::from(now.as_ps());
        self.settle(now, effects, options);
        true
    }

    /// Removes and returns the packet whose service begins at `now`, if there is one.
    pub(in crate::network::link) fn dequeue(
        &mut self,
        now: Time,
        effects: &mut Effects,
        options: &mut OptionStore,
    ) -> Option<Packet> {
        let next = self.queue.as_buffered().dequeue(now, effects);
        if let Some(packet) = &next {
            self.note_end_of_wait(packet, now);
            let wait = now.since(packet.time);
            if wait > Span::ZERO
                && let Some(waits) = &mut self.waits
            {
                waits.timed.record(wait);
            }
        }
        self.settle(now, effects, options);
        next
    }

    /// Records that a packet leaves the discipline's queue, because it begins service or is dropped.
    fn note_end_of_wait(&mut self, packet: &Packet, now: Time) {
        self.note_start(packet.bytes);
        self.note_wait(now.since(packet.time));
        self.counters.starts_ahead -= u128::from(packet.time.as_ps());
    }

    /// Counts the discipline's drops and marks of packets that it had accepted; usually there are none.
    #[inline(always)]
    fn settle(&mut self, now: Time, effects: &mut Effects, options: &mut OptionStore) {
        if !effects.is_empty() {
            self.count_effects(now, effects, options);
        }
        debug_assert_eq!(
            self.queue.as_buffered().waiting(),
            self.waiting(),
            "packets are conserved"
        );
    }

    #[inline(never)]
    fn count_effects(&mut self, now: Time, effects: &mut Effects, options: &mut OptionStore) {
        while let Some(packet) = effects.marked.pop() {
            self.count_mark(&packet);
        }
        while let Some((packet, reason)) = effects.dropped.pop() {
            self.note_end_of_wait(&packet, now);
            self.counters.accepted_bytes -= u64::from(packet.bytes);
            self.count_drop(reason, &packet);
            options.forget(packet.sack);
        }
    }

    /// Updates the maximum queue length after an arrival.
    pub(in crate::network::link) fn note_maximum(&mut self) {
        self.counters.queue_max = self.counters.queue_max.max(self.waiting_pkts);
    }

    /// Appends to the ring a packet that has begun service. Returns true if all earlier packets have been forwarded.
    pub(in crate::network::link) fn append_in_service(&mut self, packet: Packet) -> bool {
        self.ring.push(packet, self.ring.accepted())
    }

    /// Returns the counters of L4S and of classic packets, if the discipline distinguishes them.
    pub(in crate::network::link) fn classes(&self) -> Option<[ClassCounters; 2]> {
        match &self.queue {
            Queue::Buffered(discipline) => discipline.classes(),
            Queue::DropTail(_) | Queue::Red(_) | Queue::Prioritised(_) => None,
        }
    }

    /// Returns the sum of the times that the packets in the queue have waited so far, in picoseconds.
    pub(in crate::network::link) fn waited(&self, now: Time) -> u128 {
        self.waiting_ps(now) - self.counters.starts_ahead
    }
}
