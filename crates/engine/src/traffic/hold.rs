//! The part of a round trip that is not the network's: packets of one connection, held back at both of
//! its ends (DelayBox does the same on a router, spec 001b B.8).

use std::collections::VecDeque;

use longhaul_units::{Span, Time};

use super::slab::{Name, Side};
use crate::packet::Packet;
use crate::prefetch::prefetch;
use crate::schedule::{Event, Schedule};

/// Packets with the times at which they are due, at the end of each direction.
type Queues = [VecDeque<(Time, Packet)>; 2];

/// What is held back of a connection: half of the round trip each way.
#[derive(Debug)]
pub(super) struct Hold {
    delay: Span,
    queues: Queues,
}

/// Empty queues that were those of connections, whose memory is the next ones'.
#[derive(Debug, Default)]
pub(super) struct SpareQueues(Vec<Queues>);

impl SpareQueues {
    /// Takes those of a connection that is over, with nothing left in them.
    pub(super) fn keep(&mut self, hold: Hold) {
        self.0.push(hold.queues);
    }
}

impl Hold {
    /// For a round trip; none if that is nothing.
    pub(super) fn new(round_trip: Span, spare: &mut SpareQueues) -> Option<Self> {
        (round_trip > Span::ZERO).then(|| Self {
            delay: round_trip / 2,
            queues: spare.0.pop().unwrap_or_default(),
        })
    }

    /// Has the processor fetch the next packet at that end.
    pub(super) fn prefetch(&self, end: Side) {
        if let Some(first) = self.queues[end as usize].front() {
            prefetch(first);
        }
    }

    /// A packet has come to the far end of a direction.
    pub(super) fn push(&mut self, packet: Packet, end: Name, now: Time, schedule: &mut Schedule) {
        let queue = &mut self.queues[end.side() as usize];
        let due = now + self.delay;
        if queue.is_empty() {
            schedule.push_timer(due, Event::Held(end.index()));
        }
        queue.push_back((due, packet));
    }

    /// The next packet at that end, if it is due.
    pub(super) fn pop(&mut self, end: Side, now: Time) -> Option<Packet> {
        let queue = &mut self.queues[end as usize];
        let &(due, packet) = queue.front()?;
        (due <= now).then(|| {
            queue.pop_front();
            packet
        })
    }

    /// Enters the event of the packet that is due next at that end, if there is one.
    pub(super) fn arm(&self, end: Name, schedule: &mut Schedule) {
        if let Some(&(due, _)) = self.queues[end.side() as usize].front() {
            schedule.push_timer(due, Event::Held(end.index()));
        }
    }

    /// What is still held back when the connection goes.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Packet> {
        let queues = self.queues.iter_mut();
        queues.flat_map(|queue| queue.drain(..).map(|(_, packet)| packet))
    }
}
