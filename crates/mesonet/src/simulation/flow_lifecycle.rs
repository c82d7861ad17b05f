//! Flows from their beginning to their end, in the region of their source.

use longhaul_units::Time;

use super::Common;
use super::counters::Flows;
use super::ended::EndedFlow;
use super::region::Region;
use crate::config::FileType;
use crate::flows::{FlowInfo, Sender};
use crate::network::{FlowId, Packet};
use crate::records::{FlowClass, FlowEvent, FlowRecord};

impl Region {
    /// Begins a flow that has been opened: connects it or, if it is long-lived, starts to send at
    /// once.
    pub(super) fn begin_flow(&mut self, common: &Common, flow: FlowId) {
        let at = flow.slot as usize;
        let about = self.flows.about[at];
        let sender = &mut self.flows.sending[at];
        if about.long_lived.is_some() {
            sender.begin(u64::MAX, &mut self.env);
            self.report_state(common, flow, FlowEvent::Start);
            self.for_each_router(common, about.ends, |flows| flows.active += 1);
            return;
        }
        sender.connect(&mut self.env);
        for access in about.ends {
            let edge = &mut self.counters.edges[access as usize];
            edge.first_syns += 1;
            edge.syns += 1;
        }
    }

    /// Counts a SYN of the flow that was sent again.
    pub(super) fn count_syn_retransmission(&mut self, flow: FlowId) {
        for access in self.flows.about[flow.slot as usize].ends {
            self.counters.edges[access as usize].syns += 1;
        }
    }

    /// Starts the transfer after a SYN-ACK has arrived.
    pub(super) fn start_transfer(&mut self, common: &Common, syn_ack: &Packet) {
        let flow = syn_ack.flow();
        let at = flow.slot as usize;
        let sender = &mut self.flows.sending[at];
        if !sender.is_of(flow) || !sender.is_connecting() {
            return;
        }
        let about = &self.flows.about[at];
        let now = self.env.network.now;
        let jumbo = common
            .jumbo
            .filter(|jumbo| about.class == FlowClass::Dd && jumbo.from <= now && now < jumbo.until);
        let factor = jumbo.map_or(1, |jumbo| match about.file {
            FileType::Web => jumbo.web_factor,
            _ => jumbo.factor,
        });
        let size = about.size.saturating_mul(factor);
        sender.on_syn_ack(syn_ack, size, &mut self.env);
        let totals = &mut self.counters.totals[about.class as usize];
        totals.connected += 1;
        totals.syns += sender.syns();
        self.for_each_router(common, about.ends, |flows| flows.active += 1);
    }

    /// Completes a flow after the delivery of its file.
    pub(super) fn complete(&mut self, common: &Common, flow: FlowId) {
        let at = flow.slot as usize;
        let (sender, about) = (&self.flows.sending[at], self.flows.about[at]);
        let (size, sent) = (sender.size() as f64, sender.sent() as f64);
        let duration = self.env.network.now.since(sender.connected).as_secs_f64();
        let goodput = size / duration;
        let class = &mut self.counters.classes[about.class as usize];
        class.completed += 1;
        class.retransmission_sum += (sent - size) / size;
        let totals = &mut self.counters.totals[about.class as usize];
        totals.completed += 1;
        totals.goodput_sum += goodput;
        self.for_each_router(common, about.ends, |flows| {
            flows.active -= 1;
            flows.completed += 1;
        });
        self.end(flow, Some(goodput));
    }

    /// Ends a flow that could not be connected.
    pub(super) fn fail(&mut self, flow: FlowId) {
        let about = self.flows.about[flow.slot as usize];
        self.counters.classes[about.class as usize].failed += 1;
        self.counters.totals[about.class as usize].failed += 1;
        for access in about.ends {
            self.counters.edges[access as usize].failed += 1;
        }
        self.end(flow, None);
    }

    /// Closes the sender of a flow, and reports its end to the coordinator. `goodput` is in packets
    /// per second, `None` for a flow that could not be connected.
    fn end(&mut self, flow: FlowId, goodput: Option<f64>) {
        let at = flow.slot as usize;
        let (sender, about) = (&mut self.flows.sending[at], self.flows.about[at]);
        let interval = std::mem::take(&mut sender.interval);
        self.counters.add(about.class, about.ends, interval);
        let now = self.env.network.now;
        self.ended.push(EndedFlow {
            time: now,
            about,
            receiver: sender.receiver(),
            goodput,
            record: record(&about, sender, now),
        });
        self.flows.close_sender(flow);
    }

    /// Stops a long-lived flow. Its slot is not freed, so that its last counters are reported.
    pub(super) fn stop_flow(&mut self, common: &Common, flow: FlowId) {
        let at = flow.slot as usize;
        self.flows.sending[at].stop();
        self.report_state(common, flow, FlowEvent::End);
        let ends = self.flows.about[at].ends;
        self.for_each_router(common, ends, |flows| flows.active -= 1);
    }

    /// Applies `change` to the flow counts of every router on the path of a flow's data packets.
    fn for_each_router(&mut self, common: &Common, ends: [u16; 2], change: impl Fn(&mut Flows)) {
        let (routes, routers) = (&common.routes, &mut self.counters.flows_by_router);
        for access in ends {
            change(&mut routers.access[access as usize]);
            if let Some(pop) = routes.pop(access) {
                change(&mut routers.pops[pop as usize]);
            }
        }
        let [from, to] = ends.map(|access| routes.domain(access));
        for router in routes.routers_between(from, to) {
            change(&mut routers.backbone[router as usize]);
        }
    }
}

fn record(about: &FlowInfo, sender: &Sender, now: Time) -> FlowRecord {
    let (naks, timeouts) = sender.signals();
    let connected = (!sender.is_connecting()).then_some(sender.connected);
    FlowRecord {
        source: about.source,
        receiver: about.receiver,
        from: about.ends[0].into(),
        to: about.ends[1].into(),
        class: about.class,
        group: about.group(),
        algorithm: about.algorithm.into(),
        start: about.start,
        connected,
        end: now,
        size_pkts: connected.map_or(about.size, |_| sender.size()),
        sent_pkts: sender.sent(),
        syns: sender.syns(),
        naks,
        timeouts,
    }
}
