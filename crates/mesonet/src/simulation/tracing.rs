//! Traces of selected flows, and the reports of their states.
//!
//! A trace is on from the beginning of the measurement interval in which its span of time begins, to the end of the
//! span. Then, the copy of the event loop that records packets is run; otherwise, a copy without code for traces.
//! Each region stores its records, which are reported at the end of the interval.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use super::region::Region;
use super::{Common, Places};
use crate::config::Trace;
use crate::flows::FlowInfo;
use crate::flows::TraceMarks;
use crate::network::{FlowEnd, FlowId, Kind, Packet, PacketTrace, Regions};
use crate::records::{FlowEvent, PacketEvent, Recorder, TracedFlow};

impl Trace {
    /// Returns true if the flow that `about` describes is traced.
    fn includes(&self, about: &FlowInfo) -> bool {
        match about.long_lived {
            Some(number) => self.long_lived.contains(&number.into()),
            None => {
                let source = about.source;
                let within = |&(first, last): &(u32, u32)| first <= source && source <= last;
                self.sources.iter().any(within)
            }
        }
    }

    pub(super) fn packet_trace(&self, regions: &Regions) -> PacketTrace {
        PacketTrace::new((self.from, self.until), self.max, regions)
    }
}

/// Counts of traced flows and of reported records, for runs with a trace.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Tracing {
    flows: u64,
    /// Number of flow states reported.
    states: u64,
    /// Number of packet events reported.
    packets: u64,
    /// Time when the maximum number of states or of packet events was reached; `None` if it was not.
    pub(super) full: Option<Time>,
}

impl Tracing {
    /// Returns true if the trace is on in the step that starts at `now`: its span overlaps the time from `now` to
    /// `interval_end`, and it is not full.
    pub(super) fn is_on(&self, common: &Common, now: Time, interval_end: Time) -> bool {
        let within = |trace: &Trace| now <= trace.until && trace.from <= interval_end;
        self.full.is_none() && common.trace.as_ref().is_some_and(within)
    }

    /// Traces a flow that has been opened at both ends, if the flow is selected.
    pub(super) fn track(
        &mut self,
        common: &Common,
        places: &Places,
        about: &FlowInfo,
        ends: [(usize, FlowId); 2],
    ) {
        let Some(trace) = &common.trace else {
            return;
        };
        if !trace.includes(about) {
            return;
        }
        self.flows += 1;
        for mut region in places.regions() {
            let Some(known) = region.env.network.packet_trace() else {
                continue;
            };
            for ((at, flow), end) in ends.iter().zip([FlowEnd::Sender, FlowEnd::Receiver]) {
                known.track(*at, end, *flow, self.flows);
            }
        }
    }

    /// Reports the records of all regions in order of time, up to the maximum numbers. Simultaneous records are in
    /// order of their regions.
    pub(super) fn report(&mut self, common: &Common, places: &Places, recorder: &mut dyn Recorder) {
        let Some(trace) = &common.trace else {
            return;
        };
        let (mut states, mut packets) = (Vec::new(), Vec::new());
        let mut complete_until: Option<Time> = None;
        for mut region in places.regions() {
            states.append(&mut region.states);
            if let Some(known) = region.env.network.packet_trace() {
                let (mut records, truncated_at) = known.take_records();
                packets.append(&mut records);
                complete_until = match (complete_until, truncated_at) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
            }
        }
        states.sort_by_key(|state| state.time);
        packets.sort_by_key(|packet| packet.time);
        if self.full.is_some() {
            return;
        }
        let room = |reported: u64| usize::try_from(trace.max - reported).unwrap_or(usize::MAX);
        let mut full = None;
        states.truncate(room(self.states));
        for state in &states {
            recorder.flow_state(state);
        }
        self.states += states.len() as u64;
        if self.states == trace.max {
            full = states.last().map(|state| state.time);
        }
        let incomplete = complete_until.is_some();
        if let Some(until) = complete_until {
            packets.retain(|packet| packet.time < until);
        }
        packets.truncate(room(self.packets));
        for packet in &packets {
            recorder.packet(packet);
        }
        self.packets += packets.len() as u64;
        if incomplete || self.packets == trace.max {
            let last = packets.last().map(|packet| packet.time);
            full = full.or(last);
        }
        self.full = full;
    }
}

impl Region {
    /// Delivers a packet to its host, and reports the delivery to the trace.
    pub(super) fn deliver_traced(&mut self, common: &Common, packet: &Packet) {
        let network = &mut self.env.network;
        let now = network.now;
        network.record(now, packet, PacketEvent::Delivered);
        match packet.kind() {
            Kind::Ack | Kind::Nak => self.on_ack_traced(common, packet),
            Kind::SynAck => {
                let connected = self.marks_of(packet.flow()).is_some();
                self.start_transfer(common, packet);
                if !connected && self.marks_of(packet.flow()).is_some() {
                    self.report_state(common, packet.flow(), FlowEvent::Start);
                }
            }
            Kind::Syn | Kind::Data => self.deliver(common, packet),
        }
    }

    fn on_ack_traced(&mut self, common: &Common, packet: &Packet) {
        let flow = packet.flow();
        let Some(before) = self.marks_of(flow) else {
            return;
        };
        let over = self.flows.on_ack(packet, &mut self.env);
        let sender = &self.flows.sending[flow.slot as usize];
        let after = sender.marks();
        let lost = after.epoch_start != before.epoch_start;
        let number = self.number;
        if lost
            && let Some(trace) = self.env.network.packet_trace()
            && let Some(state) = trace.find(number, FlowEnd::Sender, flow)
        {
            state.last_nak = after.epoch_start;
        }
        let event = if over {
            FlowEvent::End
        } else if lost || after.cwnd < before.cwnd {
            FlowEvent::Decrease
        } else if after.cwnd > before.cwnd {
            FlowEvent::Increase
        } else {
            FlowEvent::Ack
        };
        self.report_state(common, flow, event);
        if over {
            self.complete(common, flow);
        }
    }

    /// Returns the state that a trace compares before and after an event; `None` if the flow
    /// transfers no data.
    pub(super) fn marks_of(&self, flow: FlowId) -> Option<TraceMarks> {
        let sender = &self.flows.sending[flow.slot as usize];
        (sender.is_of(flow) && sender.is_active()).then(|| sender.marks())
    }

    /// Reports a timeout of a traced flow if its number of timeouts has changed. `before` holds the flow's state before
    /// its timer expired.
    pub(super) fn report_timeout(
        &mut self,
        common: &Common,
        flow: FlowId,
        before: Option<TraceMarks>,
    ) {
        if let (Some(before), Some(after)) = (before, self.marks_of(flow))
            && before.timeouts != after.timeouts
        {
            let number = self.number;
            if let Some(trace) = self.env.network.packet_trace()
                && let Some(state) = trace.find(number, FlowEnd::Sender, flow)
            {
                state.last_timeout = after.epoch_start;
            }
            self.report_state(common, flow, FlowEvent::Timeout);
        }
    }

    /// Stores the state of a traced flow after `event`, to report it at the end of the interval. Does nothing for other
    /// flows, and outside the span of the trace.
    pub(super) fn report_state(&mut self, common: &Common, flow: FlowId, event: FlowEvent) {
        let Some(trace) = &common.trace else {
            return;
        };
        let (number, network) = (self.number, &mut self.env.network);
        if network.now < trace.from || network.now > trace.until {
            return;
        }
        let known = network.packet_trace();
        let state = known.and_then(|known| known.find(number, FlowEnd::Sender, flow));
        let Some(&mut state) = state else {
            return;
        };
        let at = flow.slot as usize;
        let known = traced(&self.flows.about[at], state.number);
        let sender = &self.flows.sending[at];
        self.states
            .push(sender.traced(event, known, &state, network));
    }
}

fn traced(about: &FlowInfo, number: u64) -> TracedFlow {
    let host = |number: u32| about.long_lived.is_none().then_some(number);
    TracedFlow {
        number,
        long_lived: about.long_lived.map(u32::from),
        source: host(about.source),
        receiver: host(about.receiver),
        from: about.ends[0].into(),
        to: about.ends[1].into(),
        class: about.class,
        algorithm: about.algorithm.into(),
        start: about.start,
        size_pkts: None,
    }
}
