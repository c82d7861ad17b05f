//! Traces of the packets of selected flows, from element to element.
//!
//! The event loop is compiled twice, and only the copy for traces records packets (`Network::next` with `TRACED`).
//! During a trace, hosts send packets through [`Network::send_traced`]. Each region records its events. Since some
//! arrivals are processed early or late, records are sorted by time at the end of an interval.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use super::{FlowId, Kind, Network, Packet, Regions};
use crate::records::{Direction, PacketEvent, PacketTraceRecord, RouterId};

/// One of the two ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowEnd {
    Sender,
    Receiver,
}

/// State of a traced flow.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct TraceState {
    generation: u16,
    pub(crate) number: u64,
    /// Next sequence number at the last detected loss.
    pub(crate) last_nak: u64,
    /// Next sequence number at the last timeout.
    pub(crate) last_timeout: u64,
}

/// The traced flows of the network, and the recorded events of packets in one region.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PacketTrace {
    /// States of the traced flows; `None` for other flows. There are two lists for each region, one for each end of
    /// flows ([`FlowEnd`]). The list `2 * region + end` contains the flows whose end `end` is in the region. A flow's
    /// index in its list is its slot.
    flows: Vec<Vec<Option<TraceState>>>,
    regions: Regions,
    records: Vec<PacketTraceRecord>,
    /// Beginning and end of the trace.
    span: (Time, Time),
    /// Maximum number of records that are stored at a time.
    max: u64,
    /// Simulated time when the first record was left out, since `max` records were stored; `None` if none was. Records
    /// of earlier times are complete, except for arrivals that are processed late.
    truncated_at: Option<Time>,
}

/// Number of records stored beyond the maximum, as room for arrivals that are processed and recorded ahead of their
/// time.
const SLACK: u64 = 1 << 16;

impl PacketTrace {
    /// Returns a trace over `span`, from its beginning to its end, both included. `max` is the maximum number of
    /// records that the run reports; a region stores up to [`SLACK`] more.
    pub(crate) fn new(span: (Time, Time), max: u64, regions: &Regions) -> Self {
        Self {
            flows: vec![Vec::new(); 2 * regions.count],
            regions: regions.clone(),
            records: Vec::new(),
            span,
            max: max.saturating_add(SLACK),
            truncated_at: None,
        }
    }

    /// Traces a flow from now on, under the number `number`. `flow` is the flow's id at the end
    /// `end`, which is in `region`.
    pub(crate) fn track(&mut self, region: usize, end: FlowEnd, flow: FlowId, number: u64) {
        let (flows, slot) = (
            &mut self.flows[2 * region + end as usize],
            flow.slot as usize,
        );
        if flows.len() <= slot {
            flows.resize(slot + 1, None);
        }
        flows[slot] = Some(TraceState {
            generation: flow.generation,
            number,
            last_nak: 0,
            last_timeout: 0,
        });
    }

    /// Returns the trace state of a flow; `None` if the flow is not traced. `flow` is the flow's id
    /// at its end `end`, which is in `region`.
    pub(crate) fn find(
        &mut self,
        region: usize,
        end: FlowEnd,
        flow: FlowId,
    ) -> Option<&mut TraceState> {
        let flows = &mut self.flows[2 * region + end as usize];
        let found = flows.get_mut(flow.slot as usize)?.as_mut();
        found.filter(|state| state.generation == flow.generation)
    }

    /// Returns the trace number of a packet's flow; `None` if the flow is not traced.
    fn number_of(&mut self, packet: &Packet) -> Option<u64> {
        let end = match packet.kind() {
            Kind::Syn | Kind::Data => FlowEnd::Receiver,
            Kind::SynAck | Kind::Ack | Kind::Nak => FlowEnd::Sender,
        };
        let region = self.regions.of_access(packet.to());
        self.find(region, end, packet.flow())
            .map(|state| state.number)
    }

    /// Records an event of a packet at `time`. The simulated time `now` is earlier than `time` if an arrival is
    /// processed early, and later if it is processed late.
    fn record(&mut self, now: Time, time: Time, packet: &Packet, event: PacketEvent) {
        let Some(flow) = self.number_of(packet) else {
            return;
        };
        if time < self.span.0 || time > self.span.1 {
            return;
        }
        if self.records.len() as u64 >= self.max {
            self.truncated_at.get_or_insert(now);
            return;
        }
        self.records.push(PacketTraceRecord {
            time,
            flow,
            kind: packet.kind(),
            number: packet.number(),
            to: packet.to().into(),
            event,
        });
    }

    /// Removes and returns the records, unsorted. Also returns the simulated time when the first
    /// record was left out; `None` if none was.
    pub(crate) fn take_records(&mut self) -> (Vec<PacketTraceRecord>, Option<Time>) {
        (std::mem::take(&mut self.records), self.truncated_at)
    }
}

impl Network {
    /// Sets the region's trace, to which flows are added later; `None` for a run without a trace. The trace is switched
    /// on separately, by [`Self::set_traced`].
    pub(crate) fn set_packet_trace(&mut self, trace: Option<PacketTrace>) {
        self.packet_trace = trace.map(Box::new);
    }

    pub(crate) fn packet_trace(&mut self) -> Option<&mut PacketTrace> {
        self.packet_trace.as_deref_mut()
    }

    /// Switches the packet trace on or off.
    pub(crate) fn set_traced(&mut self, traced: bool) {
        self.traced = traced;
        self.fast_send = !traced;
    }

    /// Sends a packet of a host, and records this event and the packet's arrival at the access router. Called by
    /// [`Self::send`] during a trace. `access` is the access router's number in the region.
    #[inline(never)]
    pub(super) fn send_traced(&mut self, access: u16, packet: Packet) {
        let now = self.now;
        self.record(now, &packet, PacketEvent::Sent);
        if !self.shared.is_empty() {
            let router = self.layout.access_server(access);
            return self.enqueue_shared::<true>(router, Direction::Up, packet);
        }
        let departure = self.access[access as usize].up.enqueue(now);
        let router = RouterId::Access(self.layout.access[access as usize].into());
        self.record_enqueue(now, &packet, router, Direction::Up, departure);
        if let Some(departure) = departure {
            self.push(self.layout.out_of_access(access), departure, packet);
        }
    }

    /// Records an event of a packet at `time`, if the packet's flow is traced.
    pub(crate) fn record(&mut self, time: Time, packet: &Packet, event: PacketEvent) {
        if let Some(trace) = &mut self.packet_trace {
            trace.record(self.now, time, packet, event);
        }
    }

    /// Records the arrival of a packet at a queue with known departure times.
    pub(super) fn record_enqueue(
        &mut self,
        time: Time,
        packet: &Packet,
        router: RouterId,
        direction: Direction,
        departure: Option<Time>,
    ) {
        self.record(time, packet, queue_event(router, direction, departure));
    }

    /// Records the arrival of a packet at a router whose two queues share one server. The packet's
    /// departure time is not known yet.
    pub(super) fn record_shared(
        &mut self,
        router: usize,
        direction: Direction,
        packet: &Packet,
        accepted: bool,
    ) {
        let pops = &self.layout.pops;
        let router = match router.checked_sub(pops.len()) {
            Some(access) => RouterId::Access(self.layout.access[access].into()),
            None => RouterId::Pop(pops[router].into()),
        };
        let event = match accepted {
            false => PacketEvent::Dropped { router, direction },
            true => PacketEvent::Queued {
                router,
                direction,
                leaves: None,
            },
        };
        self.record(self.now, packet, event);
    }
}

/// Returns the event of a packet's arrival at a queue: `Dropped` if `departure` is `None`, otherwise `Queued`.
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
