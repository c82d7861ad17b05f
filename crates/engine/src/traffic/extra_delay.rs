//! Extra round-trip time of a connection, added to the network's. Each endpoint adds half of it. (Delay boxes of links,
//! like ns-2's DelayBox, delay packets inside the network instead.)

use std::collections::VecDeque;

use longhaul_units::{Span, Time};

use super::connection_slab::{ConnectionId, Side};
use crate::packet::Packet;
use crate::prefetch::prefetch;
use crate::schedule::{Event, Schedule};

/// Delayed packets with their release times. The queue at the index [`Side::Up`] has the packets for the server, data
/// and acknowledgements; the other queue has those for the client.
type Queues = [VecDeque<(Time, Packet)>; 2];

/// The delayed packets of one connection. The delay in each direction is half of the extra round-trip time.
#[derive(Debug)]
pub(super) struct ExtraDelay {
    delay: Span,
    queues: Queues,
}

/// Empty queues of closed connections, for reuse of their memory.
#[derive(Debug, Default)]
pub(super) struct QueuePool(Vec<Queues>);

impl QueuePool {
    /// Stores the two empty queues of `hold`, which contained delayed packets of a closed connection, for reuse.
    pub(super) fn keep(&mut self, hold: ExtraDelay) {
        self.0.push(hold.queues);
    }
}

impl ExtraDelay {
    /// Creates the queues of delayed packets; `None` for a round-trip time of zero.
    pub(super) fn new(round_trip: Span, spare: &mut QueuePool) -> Option<Self> {
        (round_trip > Span::ZERO).then(|| Self {
            delay: round_trip / 2,
            queues: spare.0.pop().unwrap_or_default(),
        })
    }

    /// Prefetches the next delayed packet for the endpoint `end`.
    pub(super) fn prefetch(&self, end: Side) {
        if let Some(first) = self.queues[end as usize].front() {
            prefetch(first);
        }
    }

    /// Delays a packet that leaves the network at the endpoint `end` at the time `comes`.
    #[inline]
    pub(super) fn push(
        &mut self,
        packet: Packet,
        end: ConnectionId,
        comes: Time,
        schedule: &mut Schedule,
    ) {
        let queue = &mut self.queues[end.side() as usize];
        let due = comes + self.delay;
        if queue.is_empty() {
            schedule.push_timer(due, Event::Held(end.index()));
        }
        queue.push_back((due, packet));
    }

    /// Removes and returns the first delayed packet for the endpoint `end`, if it is due at `now`.
    pub(super) fn pop(&mut self, end: Side, now: Time) -> Option<Packet> {
        let queue = &mut self.queues[end as usize];
        let &(due, packet) = queue.front()?;
        (due <= now).then(|| {
            queue.pop_front();
            packet
        })
    }

    /// Schedules an event for the next packet that is delayed at an endpoint, if any packet is.
    pub(super) fn arm(&self, end: ConnectionId, schedule: &mut Schedule) {
        if let Some(&(due, _)) = self.queues[end.side() as usize].front() {
            schedule.push_timer(due, Event::Held(end.index()));
        }
    }

    /// Removes the packets that are still delayed, when the connection has ended.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Packet> {
        let queues = self.queues.iter_mut();
        queues.flat_map(|queue| queue.drain(..).map(|(_, packet)| packet))
    }
}
