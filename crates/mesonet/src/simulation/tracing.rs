//! Traces of chosen flows: which ones, and what is reported of them.
//!
//! A trace is on in the intervals that overlap its span. There a copy of the event loop runs that
//! records every packet; the other copy has no code for traces.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use super::World;
use crate::config::Trace;
use crate::flows::FlowInfo;
use crate::flows::TraceMarks;
use crate::network::{FlowId, Kind, Packet, PacketTrace};
use crate::records::{FlowEvent, PacketEvent, Recorder, TracedFlow};

impl Trace {
    /// Whether a flow is traced.
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
}

/// What is traced, and how much was reported.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Tracing {
    trace: Trace,
    states: u64,
    /// When the maximum of records was reached.
    pub(super) full: Option<Time>,
}

impl Tracing {
    pub(super) fn new(trace: Trace) -> Self {
        Self {
            trace,
            states: 0,
            full: None,
        }
    }

    /// The packets to record.
    pub(super) fn packet_trace(&self) -> PacketTrace {
        PacketTrace::new((self.trace.from, self.trace.until), self.trace.max)
    }
}

impl World {
    /// Switches the trace on or off for the interval; returns which.
    pub(super) fn begin_trace(&mut self) -> bool {
        let now = self.env.network.now;
        let on = self.tracing.as_ref().is_some_and(|tracing| {
            let Trace { from, until, .. } = tracing.trace;
            tracing.full.is_none() && now <= until && from <= self.interval_end
        });
        self.env.network.set_traced(on);
        on
    }

    /// Runs with the trace on, and reports packets.
    #[cold]
    pub(super) fn run_traced(&mut self, until: Time, recorder: &mut dyn Recorder) {
        self.run_until::<true>(until, recorder);
        self.report_packets(recorder);
    }

    fn report_packets(&mut self, recorder: &mut dyn Recorder) {
        let (Some(tracing), Some(trace)) = (&mut self.tracing, self.env.network.packet_trace())
        else {
            return;
        };
        let records = trace.drain();
        for record in &records {
            recorder.packet(record);
        }
        if trace.is_full() {
            let last = records.last().map(|record| record.time);
            tracing.full = tracing.full.or(last);
        }
    }

    /// A flow has been opened: traces it if it is chosen.
    pub(super) fn track(&mut self, flow: FlowId) {
        let about = &self.flows.about[flow.slot as usize];
        if let Some(tracing) = &self.tracing
            && tracing.trace.includes(about)
            && let Some(trace) = self.env.network.packet_trace()
        {
            trace.track(flow);
        }
    }

    /// Delivers a packet while the trace is on.
    pub(super) fn deliver_traced(&mut self, packet: &Packet, recorder: &mut dyn Recorder) {
        let network = &mut self.env.network;
        let now = network.now;
        network.record(now, packet, PacketEvent::Delivered);
        match packet.kind() {
            Kind::Ack | Kind::Nak => self.on_ack_traced(packet, recorder),
            Kind::SynAck => {
                let connected = self.marks_of(packet.flow()).is_some();
                self.start_transfer(packet.flow());
                if !connected && self.marks_of(packet.flow()).is_some() {
                    self.report_state(packet.flow(), FlowEvent::Start, recorder);
                }
            }
            Kind::Syn | Kind::Data => self.deliver(packet, recorder),
        }
    }

    fn on_ack_traced(&mut self, packet: &Packet, recorder: &mut dyn Recorder) {
        let flow = packet.flow();
        let Some(before) = self.marks_of(flow) else {
            return;
        };
        let over = self.flows.on_ack(packet, &mut self.env);
        let sender = &self.flows.sending[flow.slot as usize];
        let after = sender.marks();
        let lost = after.epoch_start != before.epoch_start;
        if lost && let Some(state) = self.env.network.trace_state(flow) {
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
        self.report_state(flow, event, recorder);
        if over {
            self.complete(flow, recorder);
        }
    }

    /// What a trace compares, of a flow that transfers data.
    pub(super) fn marks_of(&self, flow: FlowId) -> Option<TraceMarks> {
        let sender = &self.flows.sending[flow.slot as usize];
        (sender.is_of(flow) && sender.is_active()).then(|| sender.marks())
    }

    /// A flow's timer has expired: reports a timeout, if it was one, since `before`.
    pub(super) fn report_timeout(
        &mut self,
        flow: FlowId,
        before: Option<TraceMarks>,
        recorder: &mut dyn Recorder,
    ) {
        if let (Some(before), Some(after)) = (before, self.marks_of(flow))
            && before.timeouts != after.timeouts
        {
            if let Some(state) = self.env.network.trace_state(flow) {
                state.last_timeout = after.epoch_start;
            }
            self.report_state(flow, FlowEvent::Timeout, recorder);
        }
    }

    /// Reports the state of a flow after an event, if it is traced.
    pub(super) fn report_state(
        &mut self,
        flow: FlowId,
        event: FlowEvent,
        recorder: &mut dyn Recorder,
    ) {
        let Some(tracing) = &mut self.tracing else {
            return;
        };
        let network = &mut self.env.network;
        let (now, &Trace { from, until, .. }) = (network.now, &tracing.trace);
        if tracing.full.is_some() || now < from || now > until {
            return;
        }
        let Some(&mut state) = network.trace_state(flow) else {
            return;
        };
        let at = flow.slot as usize;
        let known = traced(&self.flows.about[at], state.number);
        let sender = &self.flows.sending[at];
        recorder.flow_state(&sender.traced(event, known, &state, network));
        tracing.states += 1;
        if tracing.states == tracing.trace.max {
            tracing.full = Some(now);
        }
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
