//! Traces of chosen flows: which ones, and what is reported of them.
//!
//! A trace is on in the intervals that overlap its span. In these, a copy of the event loop runs that
//! looks at every packet; the other one knows nothing of traces.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use super::World;
use crate::config::Trace;
use crate::flows::About;
use crate::flows::Marks;
use crate::network::{FlowId, Kind, Packet, Watch};
use crate::records::{FlowEvent, PacketEvent, Recorder, TracedFlow};

impl Trace {
    /// Whether a flow is one of those that are traced.
    fn has(&self, about: &About) -> bool {
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

/// What is traced, and how much of it was reported.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Tracing {
    trace: Trace,
    states: u64,
    /// When there was as much of something as is allowed.
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

    /// The packets that are noted for it.
    pub(super) fn watch(&self) -> Watch {
        Watch::new((self.trace.from, self.trace.until), self.trace.most)
    }
}

impl World {
    /// Sees to it that packets are followed, or not, until the end of the interval; returns which.
    pub(super) fn begin_trace(&mut self) -> bool {
        let now = self.env.network.now;
        let on = self.tracing.as_ref().is_some_and(|tracing| {
            let Trace { from, until, .. } = tracing.trace;
            tracing.full.is_none() && now <= until && from <= self.interval_end
        });
        self.env.network.set_traced(on);
        on
    }

    /// Runs with the trace on, and reports what packets went through.
    #[cold]
    pub(super) fn run_traced(&mut self, until: Time, recorder: &mut dyn Recorder) {
        self.run_until::<true>(until, recorder);
        self.report_passages(recorder);
    }

    fn report_passages(&mut self, recorder: &mut dyn Recorder) {
        let (Some(tracing), Some(watch)) = (&mut self.tracing, self.env.network.watch()) else {
            return;
        };
        let passages = watch.take();
        for passage in &passages {
            recorder.passage(passage);
        }
        if watch.is_full() {
            let last = passages.last().map(|passage| passage.time);
            tracing.full = tracing.full.or(last);
        }
    }

    /// A flow has been given its place: it is followed from now on if it is to be.
    pub(super) fn follow(&mut self, flow: FlowId) {
        let about = &self.connections.about[flow.place as usize];
        if let Some(tracing) = &self.tracing
            && tracing.trace.has(about)
            && let Some(watch) = self.env.network.watch()
        {
            watch.follow(flow);
        }
    }

    /// A packet that was delivered while the trace is on. An answer changes its flow's state.
    pub(super) fn deliver_traced(&mut self, packet: &Packet, recorder: &mut dyn Recorder) {
        let network = &mut self.env.network;
        let now = network.now;
        network.note(now, packet, PacketEvent::Delivered);
        match packet.kind() {
            Kind::Ack | Kind::Nak => self.answer_traced(packet, recorder),
            Kind::SynAck => {
                let connected = self.marks_of(packet.flow()).is_some();
                self.begin(packet.flow());
                if !connected && self.marks_of(packet.flow()).is_some() {
                    self.report_state(packet.flow(), FlowEvent::Start, recorder);
                }
            }
            Kind::Syn | Kind::Data => self.deliver(packet, recorder),
        }
    }

    fn answer_traced(&mut self, packet: &Packet, recorder: &mut dyn Recorder) {
        let flow = packet.flow();
        let Some(before) = self.marks_of(flow) else {
            return;
        };
        let over = self.connections.on_ack(packet, &mut self.env);
        let sender = &self.connections.sending[flow.place as usize];
        let after = sender.marks();
        let lost = after.recover != before.recover;
        if lost && let Some(watched) = self.env.network.watched(flow) {
            watched.last_nak = after.recover;
        }
        let event = if over {
            FlowEvent::End
        } else if lost || after.cwnd < before.cwnd {
            FlowEvent::Decrease
        } else if after.cwnd > before.cwnd {
            FlowEvent::Increase
        } else {
            FlowEvent::Answer
        };
        self.report_state(flow, event, recorder);
        if over {
            self.complete(flow, recorder);
        }
    }

    /// What events change, of a flow that transfers data.
    pub(super) fn marks_of(&self, flow: FlowId) -> Option<Marks> {
        let sender = &self.connections.sending[flow.place as usize];
        (sender.is_of(flow) && sender.is_active()).then(|| sender.marks())
    }

    /// A flow's timer came up, and a timeout may have come of it since `before`.
    pub(super) fn report_timeout(
        &mut self,
        flow: FlowId,
        before: Option<Marks>,
        recorder: &mut dyn Recorder,
    ) {
        if let (Some(before), Some(after)) = (before, self.marks_of(flow))
            && before.timeouts != after.timeouts
        {
            if let Some(watched) = self.env.network.watched(flow) {
                watched.last_timeout = after.recover;
            }
            self.report_state(flow, FlowEvent::Timeout, recorder);
        }
    }

    /// Reports the state of a flow after an event, if it is traced now.
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
        let Some(&mut watched) = network.watched(flow) else {
            return;
        };
        let at = flow.place as usize;
        let known = traced(&self.connections.about[at], watched.number);
        let sender = &self.connections.sending[at];
        recorder.flow_state(&sender.traced(event, known, &watched, network));
        tracing.states += 1;
        if tracing.states == tracing.trace.most {
            tracing.full = Some(now);
        }
    }
}

fn traced(about: &About, number: u64) -> TracedFlow {
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
