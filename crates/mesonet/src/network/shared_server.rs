//! Routers that serve both of their queues with one server, which alternates between them (NIST SP
//! 500-282, chapter 3).
//!
//! Which packet is next depends on arrivals at the other queue, so that departures are not known in
//! advance: packets wait in FIFOs of their own, and each end of a service is an event.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::Network;
use super::routing::AccessParent;
use crate::config::Router;
use crate::records::{Direction, QueueSample};

/// A router with one server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SharedServer {
    service: Span,
    /// Packets that each queue can hold, the one in service included.
    buffer: u64,
    /// Of both directions; `forwarded` is not counted, as it follows from the rest.
    queues: [QueueSample; 2],
    serving: Option<Direction>,
    /// Whether it idles for one service time when the queue whose turn it is holds no packet.
    strict: bool,
}

impl SharedServer {
    pub(super) fn new(router: &Router, strict: bool) -> Self {
        Self {
            service: Span::from_secs_f64(1.0 / router.capacity.as_per_s()),
            buffer: router.buffer,
            queues: [QueueSample::default(); 2],
            serving: None,
            strict,
        }
    }

    /// Samples of its queues: up and down.
    pub(super) fn sample(&self) -> (QueueSample, QueueSample) {
        let sample = |queue: QueueSample| QueueSample {
            forwarded: queue.arrived - queue.dropped - queue.waiting,
            ..queue
        };
        (sample(self.queues[0]), sample(self.queues[1]))
    }
}

/// Routers are numbered from points of presence to access routers.
impl Network {
    /// The packet at index `at` arrives at a router.
    pub(super) fn enqueue_shared<const TRACED: bool>(
        &mut self,
        router: usize,
        direction: Direction,
        at: usize,
    ) {
        let shared = &mut self.shared[router];
        let queue = &mut shared.queues[direction as usize];
        queue.arrived += 1;
        let accepted = queue.waiting < shared.buffer;
        if accepted {
            queue.waiting += 1;
        } else {
            queue.dropped += 1;
        }
        let idle = shared.serving.is_none();
        if TRACED {
            self.record_shared(router, direction, at, accepted);
        }
        if !accepted {
            return;
        }
        if idle {
            self.start_service(router, direction, at, self.now);
        } else {
            let fifo = self.routing.waiting(router, direction as usize);
            // Not in the event list: it waits for the server, not for a time.
            self.fifos.forward(fifo, self.now, at);
        }
    }

    /// The packet at index `at` has been served and is forwarded; the next service starts.
    pub(super) fn end_service<const TRACED: bool>(&mut self, router: usize, at: usize) {
        let shared = &mut self.shared[router];
        let direction = shared.serving.expect("a service ends");
        shared.queues[direction as usize].waiting -= 1;
        self.forward_served::<TRACED>(router, direction, at);
        let directions = [direction.other(), direction];
        let waits = |direction: &Direction| {
            !self
                .fifos
                .is_empty(self.routing.waiting(router, *direction as usize))
        };
        match directions.into_iter().find(waits) {
            Some(next) => {
                let fifo = self.routing.waiting(router, next as usize);
                let (at, _) = self.fifos.pop(fifo);
                let shared = &self.shared[router];
                let start = if shared.strict && next == direction {
                    self.now + shared.service
                } else {
                    self.now
                };
                self.start_service(router, next, at, start);
            }
            None => self.shared[router].serving = None,
        }
    }

    fn start_service(&mut self, router: usize, direction: Direction, at: usize, start: Time) {
        let shared = &mut self.shared[router];
        shared.serving = Some(direction);
        let end = start + shared.service;
        self.forward(self.routing.served(router), end, at);
    }

    fn forward_served<const TRACED: bool>(
        &mut self,
        router: usize,
        direction: Direction,
        at: usize,
    ) {
        let now = self.now;
        let to = self.fifos.packet(at).to;
        match (self.routing.access_of(router), direction) {
            (Some(access), Direction::Up) => match self.routing.above(access) {
                AccessParent::Pop(pop) => self.arrive_at_pop::<TRACED>(pop, at),
                AccessParent::Backbone => {
                    self.arrive_at_backbone::<TRACED>(self.routing.domain(access), at)
                }
            },
            (Some(access), Direction::Down) => self.forward(self.routing.to_hosts(access), now, at),
            (None, Direction::Up) => {
                self.arrive_at_backbone::<TRACED>(self.routing.parent(router as u16), at)
            }
            (None, Direction::Down) => self.arrive_at_access::<TRACED>(now, to, at),
        }
    }
}
