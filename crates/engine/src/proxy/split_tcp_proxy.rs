//! A split TCP proxy: its start node, its end node, and the connection between them, called the carrier.
//!
//! A segment from a sender waits in the local queue, unacknowledged. Periodically, the proxy takes as many segments
//! from the queue as its credit allows. Receivers at the start node acknowledge these segments, and pass data in order
//! to the carrier. The carrier's receiver at the end node passes the data to the senders of the last leg.
//!
//! Credit limits the payload that waits unsent in the carrier's sender. Data given to the carrier costs credit, which
//! is returned when the data is sent. Segments after a gap cost no credit until the gap is filled. If they did, as in
//! the thesis (`proxy/mod.rs`), a deadlock could occur: no credit might be left for the missing segments.

use std::collections::VecDeque;

use longhaul_units::{Span, Time};

use super::endpoints::Endpoints;
use super::local_queue::LocalQueue;
use crate::config;
use crate::measure::{FlowSample, ProxyCounters, ProxySample};
use crate::packet::Packet;
use crate::queue::{Queue, QueueConfig};
use crate::random::Streams;
use crate::schedule::Event;
use crate::traffic::Legs;
use crate::transport::Env;
use crate::transport::tcp::Connection;

/// A split-TCP proxy: the connection between its nodes (the carrier), its local queue, its settings and their changes.
#[derive(Debug)]
pub(super) struct SplitTcpProxy {
    number: u32,
    /// Index of the carrier, the connection between the proxy's nodes.
    pub(super) carrier: usize,
    pub(super) queue: LocalQueue,
    settings: Settings,
    changes: VecDeque<Change>,
    /// Number of payload bytes given so far to the connection between the proxy's nodes.
    admitted_bytes: u64,
    /// Messages that the carrier has not delivered yet, in the order of the carrier's stream.
    in_transit: VecDeque<Message>,
    forwarded_pkts: u64,
    forwarded_bytes: u64,
}

/// Parameters that may change during the run.
#[derive(Clone, Copy, Debug)]
struct Settings {
    credit_bytes: u64,
    credit_for_retransmissions: bool,
    check_interval: Span,
}

#[derive(Debug)]
struct Change {
    at: Time,
    credit_bytes: Option<u64>,
    check_interval: Option<Span>,
    discipline: Option<Queue>,
}

/// Payload of one segment, while the connection between the proxy's nodes (the carrier) transports it. The payload is
/// identified by its position in the carrier's stream.
#[derive(Clone, Copy, Debug)]
struct Message {
    /// Number of the first segment after this payload in the carrier's stream.
    end: u64,
    /// Index of the connection that sent the payload.
    from: u32,
    bytes: u32,
    /// True if the connection sends nothing after this payload.
    last: bool,
}

impl SplitTcpProxy {
    pub(super) fn new(
        config: &config::Proxy,
        number: u32,
        carrier: usize,
        streams: &Streams,
    ) -> Self {
        let path = format!("proxies/{}", config.name);
        let queue = |config: &QueueConfig, part: &str| {
            Queue::new(config, streams.component(&format!("{path}/{part}")))
        };
        let change = |(index, change): (usize, &config::ProxyChange)| Change {
            at: change.at,
            credit_bytes: change.credit_bytes,
            check_interval: change.check_interval,
            discipline: change
                .queue
                .as_ref()
                .map(|config| queue(config, &format!("queue-{}", index + 2))),
        };
        Self {
            number,
            carrier,
            queue: LocalQueue::new(queue(&config.queue, "queue")),
            settings: Settings {
                credit_bytes: config.credit_bytes,
                credit_for_retransmissions: config.credit_for_retransmissions,
                check_interval: config.check_interval,
            },
            changes: config.changes.iter().enumerate().map(change).collect(),
            admitted_bytes: 0,
            in_transit: VecDeque::new(),
            forwarded_pkts: 0,
            forwarded_bytes: 0,
        }
    }

    /// Applies the changes of parameters that are due by `now`.
    fn settle(&mut self, now: Time) {
        while self.changes.front().is_some_and(|change| change.at <= now)
            && let Some(change) = self.changes.pop_front()
        {
            let settings = &mut self.settings;
            settings.credit_bytes = change.credit_bytes.unwrap_or(settings.credit_bytes);
            settings.check_interval = change.check_interval.unwrap_or(settings.check_interval);
            if let Some(discipline) = change.discipline {
                self.queue.replace_discipline(discipline);
            }
        }
    }

    /// Schedules the next check of the local queue.
    pub(super) fn arm(&self, env: &mut Env) {
        let next = env.network.now + self.settings.check_interval;
        let check = Event::Check(self.number);
        env.network.schedule.push_timer(next, check);
    }

    /// Processes a sender's segment at the start node: the local queue accepts or drops it.
    pub(super) fn on_start(&mut self, packet: &Packet, env: &mut Env) {
        self.settle(packet.time);
        if !self.queue.push(*packet) {
            env.network.forget_options(packet);
        }
        self.forget_dropped(env);
    }

    /// Passes segments from the local queue to the carrier connection, as far as the credit in payload bytes allows.
    pub(super) fn on_check(&mut self, endpoints: &mut Endpoints<'_>, env: &mut Env) {
        let now = env.network.now;
        self.settle(now);
        while let Some(first) = self.queue.first(now) {
            let payload = endpoints
                .legs(first.flow)
                .map_or(0, |legs| legs.sender.payload_bytes(first.seq));
            if payload > self.credit(&endpoints.tcp[self.carrier]) {
                break;
            }
            if let Some(packet) = self.queue.pop(now) {
                self.admit(&packet, endpoints, env);
            }
        }
        self.forget_dropped(env);
        self.arm(env);
    }

    /// Discards the options of packets that the local queue has dropped after accepting them.
    fn forget_dropped(&mut self, env: &mut Env) {
        for packet in self.queue.dropped() {
            env.network.forget_options(&packet);
        }
    }

    /// Returns the number of payload bytes that may go to the carrier now.
    fn credit(&self, carrier: &Connection) -> u64 {
        let sender = &carrier.sender;
        let returned = if self.settings.credit_for_retransmissions {
            sender.sent_bytes()
        } else {
            sender.sent_once_bytes()
        };
        (self.settings.credit_bytes + returned).saturating_sub(self.admitted_bytes)
    }

    /// Passes a segment to its receiver at the proxy's start node, which acknowledges the segment. All data that is
    /// then in order goes to the connection between the proxy's nodes. Segments of closed connections are ignored.
    fn admit(&mut self, packet: &Packet, endpoints: &mut Endpoints<'_>, env: &mut Env) {
        let Some(legs) = endpoints.legs(packet.flow) else {
            return env.network.forget_options(packet);
        };
        // The SYN, which is segment 0, has no data and is not forwarded. (The thesis does not say so; if it counted as
        // data, it would use credit and never arrive.)
        let before = legs.receiver.next().max(1);
        legs.receiver.on_segment(packet, env);
        let after = legs.receiver.next();
        for segment in before..after {
            let Legs { sender, .. } = endpoints.legs(packet.flow).expect("it has just answered");
            let (bytes, last) = (sender.payload_bytes(segment), sender.is_last(segment));
            self.admitted_bytes += bytes;
            let carrier = &mut endpoints.tcp[self.carrier].sender;
            let end = carrier.append(bytes, env);
            if !carrier.has_started() {
                carrier.start(env);
            }
            self.in_transit.push_back(Message {
                end,
                from: packet.flow,
                bytes: bytes as u32,
                last,
            });
        }
    }

    /// Processes a segment that the proxy's start node has sent to its end node. Passes data that is now in order to
    /// the senders of the second legs.
    pub(super) fn on_end(&mut self, packet: &Packet, endpoints: &mut Endpoints<'_>, env: &mut Env) {
        let receiver = &mut endpoints.tcp[self.carrier].receiver;
        receiver.on_segment(packet, env);
        let next = receiver.next();
        while let Some(&message) = self.in_transit.front()
            && message.end <= next
        {
            self.in_transit.pop_front();
            self.forwarded_pkts += 1;
            self.forwarded_bytes += u64::from(message.bytes);
            let Some(Legs { second_leg, .. }) = endpoints.legs(message.from) else {
                // The connection has been aborted in the meantime.
                continue;
            };
            if message.last {
                second_leg.append_last(message.bytes.into(), env);
            } else {
                second_leg.append(message.bytes.into(), env);
            }
            if !second_leg.has_started() {
                second_leg.start(env);
            }
        }
    }

    /// Makes the connection from the proxy onwards close after its last data. Called when the application of connection
    /// `from`, which leads to the proxy, has stopped: this connection sends no new data.
    pub(super) fn on_stop(&mut self, from: u32, endpoints: &mut Endpoints<'_>, env: &mut Env) {
        let Some(Legs {
            sender,
            receiver,
            second_leg,
        }) = endpoints.legs(from)
        else {
            return;
        };
        if receiver.next() < sender.end() {
            // The last segment has not been taken from the queue yet, or has not reached it.
            return;
        }
        let mut in_transit = self.in_transit.iter_mut().rev();
        match in_transit.find(|message| message.from == from) {
            Some(message) => message.last = true,
            None => second_leg.close(env),
        }
    }

    /// Returns the counters up to `now`.
    pub(super) fn counters(&self, now: Time, connections: &mut [Connection]) -> ProxyCounters {
        ProxyCounters {
            queue: self.queue.counters(now),
            carrier: connections[self.carrier].counters(now),
            admitted_bytes: self.admitted_bytes,
            forwarded_pkts: self.forwarded_pkts,
            forwarded_bytes: self.forwarded_bytes,
        }
    }

    /// Returns the proxy's state at `now` for the time series.
    pub(super) fn sample(&self, now: Time, connections: &mut [Connection]) -> ProxySample {
        ProxySample {
            queue: self.queue.sample(self.number, now),
            carrier: FlowSample {
                flow: self.number,
                ..connections[self.carrier].sample(now)
            },
        }
    }
}
