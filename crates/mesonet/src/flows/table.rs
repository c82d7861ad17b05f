//! The table of flows: sender, receiver and description of each.

use longhaul_congestion::CongestionState;
use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::{AckQueues, Env, Receiver, ReceiverSetup, Sender, SenderSetup, TimerOutcome};
use crate::config::{AccessClass, Cell, FileType};
use crate::network::{FlowId, Kind, Packet};
use crate::records::{FlowClass, FlowGroup};
use longhaul_engine::prefetch;

/// Index of the counter of stale data packets, whose flow is closed.
pub(crate) const STALE: u16 = 0;

/// Description of a flow.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct FlowInfo {
    pub(crate) source: u32,
    pub(crate) receiver: u32,
    /// Number of a long-lived flow, whose hosts have no numbers.
    pub(crate) long_lived: Option<u16>,
    /// Access routers of both ends.
    pub(crate) ends: [u16; 2],
    pub(crate) class: FlowClass,
    pub(crate) file: FileType,
    pub(crate) fast_interface: bool,
    pub(crate) algorithm: u8,
    pub(crate) alternate: bool,
    /// In packets, before a jumbo factor.
    pub(crate) size: u64,
    pub(crate) start: Time,
}

impl FlowInfo {
    pub(crate) fn cell(&self) -> Cell {
        Cell {
            path: self.class.path(),
            fast_interface: self.fast_interface,
            alternate: self.alternate,
        }
    }

    pub(crate) fn group(&self) -> FlowGroup {
        FlowGroup {
            file: self.file,
            path: self.class.path(),
            fast_interface: self.fast_interface,
            alternate: self.alternate,
        }
    }
}

/// What the flows of a run have in common.
pub(crate) struct FlowTableSetup {
    pub(crate) initial: Vec<CongestionState>,
    pub(crate) alternate: Vec<bool>,
    pub(crate) classes: Vec<AccessClass>,
    pub(crate) round_trip_delays: Vec<Span>,
    pub(crate) routers: usize,
    pub(crate) allowance: Span,
    pub(crate) long_lived: usize,
}

/// All flows, by slot. Slots of closed flows are reused.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FlowTable {
    pub(crate) sending: Vec<Sender>,
    receiving: Vec<Receiver>,
    pub(crate) about: Vec<FlowInfo>,
    free: Vec<FlowId>,
    ack_queues: AckQueues,
    /// Initial state of congestion control, by algorithm.
    #[serde(skip)]
    initial: Vec<CongestionState>,
    /// Whether flow groups count an algorithm as the alternate.
    pub(crate) alternate: Vec<bool>,
    pub(crate) classes: Vec<AccessClass>,
    /// Round-trip propagation delay between backbone routers: `round_trip_delays[from * routers + to]`.
    round_trip_delays: Vec<Span>,
    routers: usize,
    allowance: Span,
    /// Long-lived flows, once they have started.
    pub(crate) long_lived: Vec<Option<FlowId>>,
}

impl FlowTable {
    pub(crate) fn new(setup: FlowTableSetup) -> Self {
        Self {
            sending: Vec::new(),
            receiving: Vec::new(),
            about: Vec::new(),
            free: Vec::new(),
            ack_queues: AckQueues::new(),
            initial: setup.initial,
            alternate: setup.alternate,
            classes: setup.classes,
            round_trip_delays: setup.round_trip_delays,
            routers: setup.routers,
            allowance: setup.allowance,
            long_lived: vec![None; setup.long_lived],
        }
    }

    /// Restores what checkpoints do not store: the initial states, and the tables that flows share with
    /// them.
    pub(crate) fn restore_shared(&mut self, initial: Vec<CongestionState>) {
        for (sender, about) in self.sending.iter_mut().zip(&self.about) {
            sender.share_tables(&initial[about.algorithm as usize]);
        }
        self.initial = initial;
    }

    /// The sender, unless the flow is closed.
    #[inline]
    fn sender(&mut self, flow: FlowId) -> Option<&mut Sender> {
        let end = &mut self.sending[flow.slot as usize];
        end.is_of(flow).then_some(end)
    }

    /// Prefetches the end that a packet will be delivered to.
    #[inline]
    pub(crate) fn prefetch_for(&self, packet: &Packet) {
        let place = packet.flow().slot as usize;
        match packet.kind() {
            Kind::Syn | Kind::Data => prefetch(&self.receiving[place]),
            Kind::SynAck | Kind::Ack | Kind::Nak => self.sending[place].prefetch_for_ack(),
        }
    }

    #[inline]
    pub(crate) fn on_pace(&mut self, flow: FlowId, env: &mut Env) {
        if let Some(sender) = self.sender(flow) {
            sender.on_pace(env);
        }
    }

    pub(crate) fn on_timer_expired(&mut self, flow: FlowId, env: &mut Env) -> TimerOutcome {
        let sender = self.sender(flow);
        sender.map_or(TimerOutcome::Continue, |sender| {
            sender.on_timer_expired(env)
        })
    }

    /// An acknowledgement; returns whether it completes the flow.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, packet: &Packet, env: &mut Env) -> bool {
        match self.sender(packet.flow()) {
            Some(sender) if sender.is_active() => sender.on_ack(packet, env),
            _ => false,
        }
    }

    /// A data packet; returns the index of its counter.
    #[inline]
    pub(crate) fn on_data(&mut self, packet: &Packet, env: &mut Env) -> u16 {
        let end = &mut self.receiving[packet.flow().slot as usize];
        if !end.is_of(packet.flow()) {
            return STALE;
        }
        end.on_packet(packet, &mut self.ack_queues, &mut env.network);
        end.counter
    }

    pub(crate) fn on_syn(&mut self, packet: &Packet, env: &mut Env) {
        let end = &mut self.receiving[packet.flow().slot as usize];
        if end.is_of(packet.flow()) {
            end.on_packet(packet, &mut self.ack_queues, &mut env.network);
        }
    }

    /// A receiver has generated an acknowledgement.
    #[inline]
    pub(crate) fn on_ack_ready(&mut self, ack: Packet, env: &mut Env) {
        let end = &mut self.receiving[ack.flow().slot as usize];
        if end.is_of(ack.flow()) {
            end.on_ack_ready(ack, &mut self.ack_queues, &mut env.network);
        }
    }

    /// Opens a flow in a free slot.
    pub(crate) fn open(
        &mut self,
        about: FlowInfo,
        ends: &SenderSetup,
        place: ReceiverSetup,
    ) -> FlowId {
        let initial = self.initial[about.algorithm as usize].clone();
        if let Some(flow) = self.free.pop() {
            let at = flow.slot as usize;
            self.sending[at] = Sender::new(flow, ends, initial);
            self.receiving[at] = Receiver::new(flow, place);
            self.about[at] = about;
            return flow;
        }
        let flow = FlowId {
            slot: self.sending.len() as u32,
            generation: 0,
        };
        self.sending.push(Sender::new(flow, ends, initial));
        self.receiving.push(Receiver::new(flow, place));
        self.about.push(about);
        flow
    }

    /// Closes a flow and frees its slot.
    pub(crate) fn close(&mut self, flow: FlowId) {
        let next = FlowId {
            slot: flow.slot,
            generation: flow.generation.wrapping_add(1),
        };
        self.sending[flow.slot as usize].close(next);
        self.receiving[flow.slot as usize].close(next, &mut self.ack_queues);
        self.free.push(next);
    }

    pub(crate) fn class(&self, ends: [u16; 2]) -> FlowClass {
        let mut classes = ends.map(|access| self.classes[access as usize]);
        classes.sort_unstable();
        match classes {
            [AccessClass::Direct, AccessClass::Direct] => FlowClass::Dd,
            [AccessClass::Direct, AccessClass::Fast] => FlowClass::Df,
            [AccessClass::Direct, _] => FlowClass::Dn,
            [AccessClass::Fast, AccessClass::Fast] => FlowClass::Ff,
            [AccessClass::Fast, _] => FlowClass::Fn,
            _ => FlowClass::Nn,
        }
    }

    pub(crate) fn sender_setup(&self, ends: [u16; 2], speed: u16, env: &Env) -> SenderSetup {
        let [from, to] = ends.map(|access| env.network.routing().domain(access) as usize);
        SenderSetup {
            access: ends[0],
            receiver_access: ends[1],
            speed,
            propagation: self.round_trip_delays[from * self.routers + to],
            allowance: self.allowance,
        }
    }

    /// Most simultaneous flows.
    pub(crate) fn max_flows(&self) -> u64 {
        self.sending.len() as u64
    }

    /// Bytes of state per flow while it lasts.
    pub(crate) fn bytes_per_flow() -> usize {
        size_of::<Sender>() + size_of::<Receiver>() + size_of::<FlowInfo>()
    }
}
