//! Routers with one server for two queues. It alternates between them (NIST SP 500-282, chapter 3).
//!
//! The next packet to serve depends on arrivals at the other queue, so departures are not known in
//! advance. Packets wait in FIFOs, and each end of a service is an event.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::Network;
use super::fifo::Fifo;
use super::packet::Packet;
use crate::config::{Router, Service, Topology};
use crate::records::{Direction, QueueSample};

/// The state of a router with one server, which serves its queues by turns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SharedServer {
    packet: Packet,
    /// End of the service; [`Time::NEVER`] if the server is idle.
    end: Time,
    service: Span,
    /// The queue of the packet in service.
    serving: Direction,
    queues: [ServerQueue; 2],
    /// Maximum number of packets, including the one in service, in each queue or, if the queues
    /// share a buffer, in both together.
    buffer: usize,
    shared_buffer: bool,
    /// True if the server idles for one service time when it is the turn of an empty queue and the
    /// other queue holds packets.
    strict: bool,
}

/// One of the two queues of a router with one server.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct ServerQueue {
    /// Packets that wait for the server.
    packets: Fifo<Packet>,
    arrived: u64,
    dropped: u64,
}

impl SharedServer {
    pub(super) fn new(router: &Router, topology: &Topology) -> Self {
        let buffer = usize::try_from(router.buffer).unwrap_or(usize::MAX);
        let shared_buffer = topology.shared_buffer;
        Self {
            packet: Packet::FILLER,
            end: Time::NEVER,
            service: Span::from_secs_f64(1.0 / router.capacity.as_per_s()),
            serving: Direction::Up,
            queues: Default::default(),
            buffer,
            shared_buffer,
            strict: topology.service == Service::Alternating,
        }
    }

    /// Returns the end of the current service; [`Time::NEVER`] if there is none.
    #[inline]
    pub(super) fn end_of_service(&self) -> Time {
        self.end
    }

    #[inline]
    fn is_idle(&self) -> bool {
        self.end == Time::NEVER
    }

    /// Queues a packet while the server is busy. Returns true if the queue had room.
    #[inline]
    fn enqueue(&mut self, direction: Direction, packet: Packet, now: Time) -> bool {
        let accepted = self.has_room(direction, now);
        let queue = &mut self.queues[direction as usize];
        if accepted {
            queue.packets.push(packet);
        } else {
            queue.dropped += 1;
        }
        accepted
    }

    /// Returns true if the queue of `direction` has room for a packet that arrives while the server is busy.
    #[inline]
    fn has_room(&self, direction: Direction, now: Time) -> bool {
        let waiting = self.waiting(direction);
        // With fewer waiting packets, one more fits even if a packet is in service.
        waiting + 1 < self.buffer || waiting + self.in_service(direction, now) < self.buffer
    }

    /// Returns the number of waiting packets in the buffer of a queue. A shared buffer holds those of both queues.
    #[inline]
    fn waiting(&self, direction: Direction) -> usize {
        let waiting = |queue: Direction| self.queues[queue as usize].packets.len();
        let others = if self.shared_buffer {
            waiting(direction.other())
        } else {
            0
        };
        waiting(direction) + others
    }

    /// Returns the number of packets in service, 0 or 1, that take up room in the buffer of the queue for `direction`.
    /// A packet that departs at `now` takes up no room.
    fn in_service(&self, direction: Direction, now: Time) -> usize {
        let counts = self.shared_buffer || self.serving == direction;
        usize::from(counts && self.end > now)
    }

    #[inline]
    fn start_service(&mut self, direction: Direction, packet: Packet, start: Time) {
        self.packet = packet;
        self.serving = direction;
        self.end = start + self.service;
    }

    /// Starts to serve the next packet, or becomes idle, when a service ends at `now`.
    #[inline]
    fn serve_next(&mut self, now: Time) {
        let (served, other) = (self.serving, self.serving.other());
        let waiting = |queue: Direction| self.queues[queue as usize].packets.len();
        if waiting(served) + waiting(other) == 0 {
            self.end = Time::NEVER;
            return;
        }
        let alternates = waiting(other) > 0;
        let next = if alternates { other } else { served };
        let start = if self.strict && !alternates {
            now + self.service
        } else {
            now
        };
        if let Some(packet) = self.queues[next as usize].packets.pop() {
            self.start_service(next, packet, start);
        }
    }

    /// Returns samples of both queues: up and down.
    pub(super) fn sample(&self) -> (QueueSample, QueueSample) {
        let sample = |direction: Direction| {
            let queue = &self.queues[direction as usize];
            let in_service = !self.is_idle() && self.serving == direction;
            let waiting = (queue.packets.len() + usize::from(in_service)) as u64;
            QueueSample {
                waiting,
                arrived: queue.arrived,
                forwarded: queue.arrived - queue.dropped - waiting,
                dropped: queue.dropped,
            }
        };
        (sample(Direction::Up), sample(Direction::Down))
    }
}

/// Functions of routers with one server. These routers are numbered from 0: first the points of presence, then the
/// access routers.
impl Network {
    /// Queues a packet at router `router`, or starts to serve it if the router's server is idle.
    #[inline(always)]
    pub(super) fn enqueue_shared<const TRACED: bool>(
        &mut self,
        router: usize,
        direction: Direction,
        packet: Packet,
    ) {
        let now = self.now;
        let server = &mut self.shared[router];
        server.queues[direction as usize].arrived += 1;
        // An idle router is empty, and every buffer holds at least one packet.
        let accepted = if server.is_idle() {
            server.start_service(direction, packet, now);
            let end = server.end;
            self.event_list.set(self.layout.server(router), end);
            true
        } else {
            server.enqueue(direction, packet, now)
        };
        if TRACED {
            self.record_shared(router, direction, &packet, accepted);
        }
    }

    /// Ends the current service of a router, and starts the next one. Returns the packet that
    /// leaves, and the direction of its queue.
    #[inline(always)]
    pub(super) fn end_service(&mut self, router: usize) -> (Packet, Direction) {
        let server = &mut self.shared[router];
        let (now, packet, served) = (server.end, server.packet, server.serving);
        server.serve_next(now);
        let end = server.end;
        self.now = now;
        self.event_list.set(self.layout.server(router), end);
        (packet, served)
    }
}
