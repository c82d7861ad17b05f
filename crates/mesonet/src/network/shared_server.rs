//! Routers that serve both of their queues with one server, alternating while both hold packets.
//!
//! The wording of NIST SP 500-282 (spec 004a B.3.3): an option, because published figures need a server
//! for each queue. Which packet is next depends on what the other queue will hold, so that departures
//! cannot be known ahead: packets wait on lines of their own, and each service ends with an event.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::Network;
use super::routing::Above;
use crate::config::Router;
use crate::records::QueueSample;

/// The way of a packet through a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Way {
    Up,
    Down,
}

impl Way {
    fn other(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

/// A router with one server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SharedRouter {
    service: Span,
    /// Packets that each queue can hold, the one in service included.
    buffer: u64,
    /// Of both ways; what has been forwarded is left out, and follows.
    queues: [QueueSample; 2],
    serving: Option<Way>,
}

impl SharedRouter {
    pub(super) fn new(router: &Router) -> Self {
        Self {
            service: Span::from_secs_f64(1.0 / router.capacity.as_per_s()),
            buffer: router.buffer,
            queues: [QueueSample::default(); 2],
            serving: None,
        }
    }

    /// Its queues: up and down.
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
    /// The packet at `at` comes to a router.
    pub(super) fn offer_shared<const TRACED: bool>(&mut self, router: usize, way: Way, at: usize) {
        let shared = &mut self.shared[router];
        let queue = &mut shared.queues[way as usize];
        queue.arrived += 1;
        let taken = queue.waiting < shared.buffer;
        if taken {
            queue.waiting += 1;
        } else {
            queue.dropped += 1;
        }
        let idle = shared.serving.is_none();
        if TRACED {
            self.note_shared(router, way, at, taken);
        }
        if !taken {
            return;
        }
        if idle {
            self.serve(router, way, at);
        } else {
            let line = self.routing.waiting(router, way as usize);
            // Not one of the tournament's: it waits for the server, not for a time.
            self.lines.forward(line, self.now, at);
        }
    }

    /// The packet at `at` has been served: it goes on, and the next one is served.
    pub(super) fn finish<const TRACED: bool>(&mut self, router: usize, at: usize) {
        let shared = &mut self.shared[router];
        let way = shared.serving.expect("a service ends");
        shared.queues[way as usize].waiting -= 1;
        self.leave::<TRACED>(router, way, at);
        let ways = [way.other(), way];
        let waits = |way: &Way| {
            !self
                .lines
                .is_empty(self.routing.waiting(router, *way as usize))
        };
        match ways.into_iter().find(waits) {
            Some(next) => {
                let line = self.routing.waiting(router, next as usize);
                let (at, _) = self.lines.take(line);
                self.serve(router, next, at);
            }
            None => self.shared[router].serving = None,
        }
    }

    fn serve(&mut self, router: usize, way: Way, at: usize) {
        let shared = &mut self.shared[router];
        shared.serving = Some(way);
        let end: Time = self.now + shared.service;
        self.forward(self.routing.served(router), end, at);
    }

    fn leave<const TRACED: bool>(&mut self, router: usize, way: Way, at: usize) {
        let now = self.now;
        let to = self.lines.packet(at).to;
        match (self.routing.access_of(router), way) {
            (Some(access), Way::Up) => match self.routing.above(access) {
                Above::Pop(pop) => self.climb::<TRACED>(pop, at),
                Above::Backbone => self.cross::<TRACED>(self.routing.domain(access), at),
            },
            (Some(access), Way::Down) => self.forward(self.routing.to_hosts(access), now, at),
            (None, Way::Up) => self.cross::<TRACED>(self.routing.parent(router as u16), at),
            (None, Way::Down) => self.arrive::<TRACED>(now, to, at),
        }
    }
}
