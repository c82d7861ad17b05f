//! Extra round-trip time of a connection, in addition to that of the network. Packets are delayed
//! by half of it at each end point (a link's delay box and ns-2's DelayBox do the same inside the
//! network).

use std::collections::VecDeque;

use longhaul_units::{Span, Time};

use super::connection_slab::{ConnectionId, Side};
use crate::packet::Packet;
use crate::prefetch::prefetch;
use crate::schedule::{Event, Schedule};

/// Packets with their release times, at the end of each direction.
type Queues = [VecDeque<(Time, Packet)>; 2];

/// Delayed packets of one connection, by half of the round trip each way.
#[derive(Debug)]
pub(super) struct ExtraDelay {
    delay: Span,
    queues: Queues,
}

/// Queues of closed connections, whose memory is reused.
#[derive(Debug, Default)]
pub(super) struct QueuePool(Vec<Queues>);

impl QueuePool {
    /// Stores the empty queues of a closed connection.
    pub(super) fn keep(&mut self, hold: ExtraDelay) {
        self.0.push(hold.queues);
    }
}

impl ExtraDelay {
    /// Creates the queues; none for a round trip of zero.
    pub(super) fn new(round_trip: Span, spare: &mut QueuePool) -> Option<Self> {
        (round_trip > Span::ZERO).then(|| Self {
            delay: round_trip / 2,
            queues: spare.0.pop().unwrap_or_default(),
        })
    }

    /// Prefetches the next packet at an end point.
    pub(super) fn prefetch(&self, end: Side) {
        if let Some(first) = self.queues[end as usize].front() {
            prefetch(first);
        }
    }

    /// Adds a packet that reaches the far end of a direction at `comes`.
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

    /// Returns the next packet at an end, if it is due.
    pub(super) fn pop(&mut self, end: Side, now: Time) -> Option<Packet> {
        let queue = &mut self.queues[end as usize];
        let &(due, packet) = queue.front()?;
        (due <= now).then(|| {
            queue.pop_front();
            packet
        })
    }

    /// Schedules the event of the packet that is due next at an end, if there is one.
    pub(super) fn arm(&self, end: ConnectionId, schedule: &mut Schedule) {
        if let Some(&(due, _)) = self.queues[end.side() as usize].front() {
            schedule.push_timer(due, Event::Held(end.index()));
        }
    }

    /// Removes the packets that are still delayed when the connection is closed.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Packet> {
        let queues = self.queues.iter_mut();
        queues.flat_map(|queue| queue.drain(..).map(|(_, packet)| packet))
    }
}
