//! A region: a part of the network, with the ends of flows in it. Each region is simulated alone for a window of time.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use super::Common;
use super::counters::Counters;
use super::ended::EndedFlow;
use super::mail::Mail;
use crate::flows::{Env, FlowTable, Timer, TimerOutcome};
use crate::network::{FlowId, HostEvent, Kind, Packet};
use crate::records::FlowState;

/// The state of a region: one or more backbone routers with all routers and hosts below them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Region {
    pub(super) number: usize,
    /// Links from other regions. Each entry holds the number in the region of the backbone router at the link's end,
    /// the link's index among such links to this router, and the link's number in the network.
    pub(super) links_in: Vec<(u16, usize, u16)>,
    pub(super) env: Env,
    pub(super) flows: FlowTable,
    pub(super) counters: Counters,
    /// Flows of sources in this region that have ended since the coordinator last processed them.
    pub(super) ended: Vec<EndedFlow>,
    /// States of traced flows in the current interval.
    #[serde(skip)]
    pub(super) states: Vec<FlowState>,
}

/// A step of the simulation. A lookahead window is one step, plus one for each end of a measurement interval within the
/// window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) window: u64,
    pub(super) window_end: Time,
    /// True if the step starts at the beginning of its window.
    pub(super) begins: bool,
    pub(super) until: Time,
    pub(super) traced: bool,
}

impl Region {
    /// Processes all events of a step. The only data of other regions that it accesses is the mail: packets handed over
    /// in the previous window, and those handed over for the next one.
    pub(super) fn advance(&mut self, common: &Common, mail: &Mail, step: &Step) {
        if step.begins {
            self.begin_window(mail, step);
        }
        self.env.network.set_horizon(step.until);
        self.env.network.set_traced(step.traced);
        if step.traced {
            self.run_traced(common, step.until);
        } else {
            self.run_until::<false>(common, step.until);
        }
        self.env.network.rebase();
        if step.until == step.window_end {
            let outboxes = self.env.network.outboxes();
            outboxes.for_each(|(link, packets)| mail.send(link, step.window, packets));
        }
    }

    fn begin_window(&mut self, mail: &Mail, step: &Step) {
        let network = &mut self.env.network;
        for &(router, at, link) in &self.links_in {
            network.receive(router, at, &mut mail.sent(link, step.window - 1));
        }
        let staying = network.staying_until(step.window_end);
        staying.for_each(|packet| self.flows.prefetch_for(packet));
        let flows = &mut self.flows;
        self.env.timers.begin_window(|time, flow| {
            let sender = flows.sender(flow);
            sender.map_or(Time::NEVER, |sender| {
                sender.postpone_timer(time, step.window_end)
            })
        });
    }

    #[cold]
    fn run_traced(&mut self, common: &Common, until: Time) {
        self.run_until::<true>(common, until);
    }

    /// Processes events until `until`. The function is compiled twice, so that the loop without
    /// traces does not test for them. Inlining is forced, since the compiler would not inline
    /// functions into two copies.
    #[inline(always)]
    fn run_until<const TRACED: bool>(&mut self, common: &Common, until: Time) {
        loop {
            let timer = self.env.timers.first();
            match self.env.network.next::<TRACED>(timer.min(until)) {
                Some(HostEvent::Delivered(packet)) if TRACED => {
                    self.deliver_traced(common, &packet);
                }
                Some(HostEvent::Delivered(packet)) => self.deliver(common, &packet),
                Some(HostEvent::AckReady(ack)) => {
                    self.flows.on_ack_ready(ack, &mut self.env);
                }
                Some(HostEvent::MaySend(turn)) => self.flows.on_pace(turn.flow(), &mut self.env),
                None if timer <= until => self.on_timer(common),
                None => break,
            }
        }
        self.env.network.finish::<TRACED>(until);
    }

    /// Delivers a packet that has passed the access router of its host.
    #[inline(always)]
    pub(super) fn deliver(&mut self, common: &Common, packet: &Packet) {
        match packet.kind() {
            Kind::Data => {
                let counter = self.flows.on_data(packet, &mut self.env);
                self.counters.count_out(counter);
            }
            Kind::Ack | Kind::Nak => {
                if self.flows.on_ack(packet, &mut self.env) {
                    self.complete(common, packet.flow());
                }
            }
            Kind::Syn => self.flows.on_syn(packet, &mut self.env),
            Kind::SynAck => self.start_transfer(common, packet),
        }
    }

    #[cold]
    fn on_timer(&mut self, common: &Common) {
        let (now, timer, flow) = self.env.timers.take();
        self.env.network.now = now;
        match timer {
            Timer::Expiry => self.on_timer_expired(common, flow),
            Timer::Pace => self.flows.on_pace(flow, &mut self.env),
            Timer::Begin => self.begin_flow(common, flow),
            Timer::Stop => self.stop_flow(common, flow),
        }
    }

    fn on_timer_expired(&mut self, common: &Common, flow: FlowId) {
        let before = self.marks_of(flow);
        match self.flows.on_timer_expired(flow, &mut self.env) {
            TimerOutcome::Continue => self.report_timeout(common, flow, before),
            TimerOutcome::SynRetransmitted => self.count_syn_retransmission(flow),
            TimerOutcome::Failed => self.fail(flow),
        }
    }
}
