//! Traces of the packets of chosen flows, from element to element.
//!
//! Only the copy of the event loop compiled for it records packets (`Network::next` with `TRACED`);
//! hosts send through [`Network::send_slow_path`] meanwhile. Some arrivals are processed early, so that
//! records are sorted by time at the end of an interval.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use super::{FlowId, Kind, Network, Packet};
use crate::records::{Direction, PacketEvent, PacketKind, PacketTraceRecord, RouterId};

/// What a trace knows of a flow.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct TraceState {
    generation: u16,
    pub(crate) number: u64,
    /// Next sequence numbers at the last detected loss, and at the last timeout.
    pub(crate) last_nak: u64,
    pub(crate) last_timeout: u64,
}

/// The traced flows, and records of their packets.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PacketTrace {
    /// By slot of the flow.
    flows: Vec<Option<TraceState>>,
    /// How many flows were traced.
    count: u64,
    records: Vec<PacketTraceRecord>,
    /// Begin and end of the trace.
    span: (Time, Time),
    /// Records that may still be reported.
    remaining: u64,
    /// When the store was full, if it was: records of earlier times are complete.
    truncated_at: Option<Time>,
}

/// Records that are stored beyond those that may still be reported, since they are not in order.
const SLACK: u64 = 1 << 16;

impl PacketTrace {
    /// A trace from one time to another, of no more than `remaining` records.
    pub(crate) fn new(span: (Time, Time), remaining: u64) -> Self {
        Self {
            span,
            remaining,
            ..Self::default()
        }
    }

    /// Traces `flow` from now on.
    pub(crate) fn track(&mut self, flow: FlowId) {
        let slot = flow.slot as usize;
        if self.flows.len() <= slot {
            self.flows.resize(slot + 1, None);
        }
        self.count += 1;
        self.flows[slot] = Some(TraceState {
            generation: flow.generation,
            number: self.count,
            last_nak: 0,
            last_timeout: 0,
        });
    }

    /// The state of a flow, if it is traced.
    pub(crate) fn find(&mut self, flow: FlowId) -> Option<&mut TraceState> {
        let found = self.flows.get_mut(flow.slot as usize)?.as_mut();
        found.filter(|state| state.generation == flow.generation)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.remaining == 0
    }

    /// Records an event of a packet at `time`, at the simulated time `now`.
    fn record(&mut self, now: Time, time: Time, packet: &Packet, event: PacketEvent) {
        let Some(&mut TraceState { number: flow, .. }) = self.find(packet.flow()) else {
            return;
        };
        if time < self.span.0 || time > self.span.1 {
            return;
        }
        if self.records.len() as u64 >= self.remaining.saturating_add(SLACK) {
            self.truncated_at.get_or_insert(now);
            return;
        }
        self.records.push(PacketTraceRecord {
            time,
            flow,
            kind: match packet.kind() {
                Kind::Syn => PacketKind::Syn,
                Kind::SynAck => PacketKind::SynAck,
                Kind::Data => PacketKind::Data,
                Kind::Ack => PacketKind::Ack,
                Kind::Nak => PacketKind::Nak,
            },
            number: packet.number(),
            to: packet.to.into(),
            event,
        });
    }

    /// Removes the records, sorted by time; the sort is stable.
    pub(crate) fn drain(&mut self) -> Vec<PacketTraceRecord> {
        let mut records = std::mem::take(&mut self.records);
        records.sort_by_key(|record| record.time);
        if let Some(truncated_at) = self.truncated_at {
            records.retain(|record| record.time < truncated_at);
            self.remaining = self.remaining.min(records.len() as u64);
        }
        records.truncate(usize::try_from(self.remaining).unwrap_or(usize::MAX));
        self.remaining -= records.len() as u64;
        records
    }
}

impl Network {
    /// Sets what is traced, once [`Self::set_traced`] switches it on.
    pub(crate) fn set_packet_trace(&mut self, trace: Option<PacketTrace>) {
        self.packet_trace = trace.map(Box::new);
    }

    pub(crate) fn packet_trace(&mut self) -> Option<&mut PacketTrace> {
        self.packet_trace.as_deref_mut()
    }

    /// Switches the trace on or off.
    pub(crate) fn set_traced(&mut self, traced: bool) {
        self.traced = traced;
        self.fast_send = self.shared.is_empty() && !traced;
    }

    /// [`Self::send`] with a shared server or a trace.
    #[inline(never)]
    pub(super) fn send_slow_path(&mut self, access: u16, packet: Packet) {
        let now = self.now;
        if self.traced {
            self.record(now, &packet, PacketEvent::Sent);
        }
        if !self.shared.is_empty() {
            return self.push(access as usize, now, packet);
        }
        let departure = self.access[access as usize].up.enqueue(now);
        self.record(
            now,
            &packet,
            queue_event(RouterId::Access(access.into()), Direction::Up, departure),
        );
        if let Some(departure) = departure {
            self.push(access as usize, departure, packet);
        }
    }

    /// The state of a flow, if it is traced.
    pub(crate) fn trace_state(&mut self, flow: FlowId) -> Option<&mut TraceState> {
        self.packet_trace()?.find(flow)
    }

    /// Records an event of a packet.
    pub(crate) fn record(&mut self, time: Time, packet: &Packet, event: PacketEvent) {
        if let Some(trace) = &mut self.packet_trace {
            trace.record(self.now, time, packet, event);
        }
    }

    /// Records the arrival of the packet at index `at` at a queue.
    pub(super) fn record_enqueue(
        &mut self,
        time: Time,
        at: usize,
        router: RouterId,
        direction: Direction,
        departure: Option<Time>,
    ) {
        let packet = *self.fifos.packet(at);
        self.record(time, &packet, queue_event(router, direction, departure));
    }

    /// Records an arrival at a router with one server; the departure time is not known yet.
    pub(super) fn record_shared(
        &mut self,
        router: usize,
        direction: Direction,
        at: usize,
        accepted: bool,
    ) {
        let router = match self.routing.access_of(router) {
            Some(access) => RouterId::Access(access.into()),
            None => RouterId::Pop(router as u32),
        };
        let event = match accepted {
            false => PacketEvent::Dropped { router, direction },
            true => PacketEvent::Queued {
                router,
                direction,
                leaves: None,
            },
        };
        let packet = *self.fifos.packet(at);
        self.record(self.now, &packet, event);
    }
}

/// What happened to a packet at a queue.
fn queue_event(router: RouterId, direction: Direction, departure: Option<Time>) -> PacketEvent {
    match departure {
        None => PacketEvent::Dropped { router, direction },
        leaves => PacketEvent::Queued {
            router,
            direction,
            leaves,
        },
    }
}
