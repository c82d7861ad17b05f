//! The ends of all flows, and what else is known of them.

use longhaul_congestion::CongestionState;
use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::{Backlog, Endpoints, Env, Expired, Place, ReceivingEnd, SendingEnd};
use crate::config::{AccessClass, Cell, FileType};
use crate::network::{FlowId, Kind, Packet};
use crate::records::{FlowClass, FlowGroup};
use longhaul_engine::prefetch;

/// Number under which data packets of no known flow are counted: they came too late.
pub(crate) const LATE: u16 = 0;

/// What is known of a flow beside its two ends.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) source: u32,
    pub(crate) receiver: u32,
    /// Its number, if it is a long-lived one, whose hosts have none.
    pub(crate) long_lived: Option<u16>,
    /// Access routers of both ends.
    pub(crate) ends: [u16; 2],
    pub(crate) class: FlowClass,
    pub(crate) file: FileType,
    pub(crate) fast_interface: bool,
    pub(crate) algorithm: u8,
    pub(crate) alternate: bool,
    /// In packets, before it may become a jumbo.
    pub(crate) size: u64,
    pub(crate) start: Time,
}

impl About {
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
pub(crate) struct Transports {
    pub(crate) fresh: Vec<CongestionState>,
    pub(crate) alternate: Vec<bool>,
    pub(crate) classes: Vec<AccessClass>,
    pub(crate) round_trips: Vec<Span>,
    pub(crate) routers: usize,
    pub(crate) allowance: Span,
    pub(crate) long_lived: usize,
}

/// The ends of all flows. Places of those that are over are used again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Connections {
    pub(crate) sending: Vec<SendingEnd>,
    receiving: Vec<ReceivingEnd>,
    pub(crate) about: Vec<About>,
    free: Vec<FlowId>,
    backlog: Backlog,
    /// Congestion control that no flow has used, of each algorithm.
    #[serde(skip)]
    fresh: Vec<CongestionState>,
    /// Whether flow groups count an algorithm as the alternate.
    pub(crate) alternate: Vec<bool>,
    pub(crate) classes: Vec<AccessClass>,
    /// Propagation delay both ways between backbone routers: `round_trips[from * routers + to]`.
    round_trips: Vec<Span>,
    routers: usize,
    allowance: Span,
    /// Long-lived flows, once they have started.
    pub(crate) long_lived: Vec<Option<FlowId>>,
}

impl Connections {
    pub(crate) fn new(setup: Transports) -> Self {
        Self {
            sending: Vec::new(),
            receiving: Vec::new(),
            about: Vec::new(),
            free: Vec::new(),
            backlog: Backlog::new(),
            fresh: setup.fresh,
            alternate: setup.alternate,
            classes: setup.classes,
            round_trips: setup.round_trips,
            routers: setup.routers,
            allowance: setup.allowance,
            long_lived: vec![None; setup.long_lived],
        }
    }

    /// What is not stored: `fresh` congestion control, and the tables that flows share with it.
    pub(crate) fn complete(&mut self, fresh: Vec<CongestionState>) {
        for (sender, about) in self.sending.iter_mut().zip(&self.about) {
            sender.share_tables(&fresh[about.algorithm as usize]);
        }
        self.fresh = fresh;
    }

    /// The flow's sending end, unless the flow is over.
    #[inline]
    fn sender(&mut self, flow: FlowId) -> Option<&mut SendingEnd> {
        let end = &mut self.sending[flow.place as usize];
        end.is_of(flow).then_some(end)
    }

    /// Asks for the memory of the end that a packet will come to.
    #[inline]
    pub(crate) fn expect(&self, packet: &Packet) {
        let place = packet.flow().place as usize;
        match packet.kind() {
            Kind::Syn | Kind::Data => prefetch(&self.receiving[place]),
            Kind::SynAck | Kind::Ack | Kind::Nak => self.sending[place].expect_answer(),
        }
    }

    #[inline]
    pub(crate) fn on_pace(&mut self, flow: FlowId, env: &mut Env) {
        if let Some(sender) = self.sender(flow) {
            sender.on_pace(env);
        }
    }

    pub(crate) fn on_expiry(&mut self, flow: FlowId, env: &mut Env) -> Expired {
        let sender = self.sender(flow);
        sender.map_or(Expired::No, |sender| sender.on_expiry(env))
    }

    /// An acknowledgement; whether it was the last one that the flow needed.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, packet: &Packet, env: &mut Env) -> bool {
        match self.sender(packet.flow()) {
            Some(sender) if sender.is_active() => sender.on_answer(packet, env),
            _ => false,
        }
    }

    /// A data packet; under which number it counts.
    #[inline]
    pub(crate) fn on_data(&mut self, packet: &Packet, env: &mut Env) -> u16 {
        let end = &mut self.receiving[packet.flow().place as usize];
        if !end.is_of(packet.flow()) {
            return LATE;
        }
        end.on_packet(packet, &mut self.backlog, &mut env.network);
        end.tally
    }

    pub(crate) fn on_syn(&mut self, packet: &Packet, env: &mut Env) {
        let end = &mut self.receiving[packet.flow().place as usize];
        if end.is_of(packet.flow()) {
            end.on_packet(packet, &mut self.backlog, &mut env.network);
        }
    }

    /// A receiver has made an answer.
    #[inline]
    pub(crate) fn on_answer(&mut self, answer: Packet, env: &mut Env) {
        let end = &mut self.receiving[answer.flow().place as usize];
        if end.is_of(answer.flow()) {
            end.on_answer(answer, &mut self.backlog, &mut env.network);
        }
    }

    /// Takes a place for a flow.
    pub(crate) fn open(&mut self, about: About, ends: &Endpoints, place: Place) -> FlowId {
        let fresh = self.fresh[about.algorithm as usize].clone();
        if let Some(flow) = self.free.pop() {
            let at = flow.place as usize;
            self.sending[at] = SendingEnd::new(flow, ends, fresh);
            self.receiving[at] = ReceivingEnd::new(flow, place);
            self.about[at] = about;
            return flow;
        }
        let flow = FlowId {
            place: self.sending.len() as u32,
            life: 0,
        };
        self.sending.push(SendingEnd::new(flow, ends, fresh));
        self.receiving.push(ReceivingEnd::new(flow, place));
        self.about.push(about);
        flow
    }

    /// Gives the place of a flow back: from now on it is not that flow's any more.
    pub(crate) fn close(&mut self, flow: FlowId) {
        let next = FlowId {
            place: flow.place,
            life: flow.life.wrapping_add(1),
        };
        self.sending[flow.place as usize].close(next);
        self.receiving[flow.place as usize].close(next, &mut self.backlog);
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

    pub(crate) fn endpoints(&self, ends: [u16; 2], speed: u16, env: &Env) -> Endpoints {
        let [from, to] = ends.map(|access| env.network.routing().domain(access) as usize);
        Endpoints {
            access: ends[0],
            receiver_access: ends[1],
            speed,
            propagation: self.round_trips[from * self.routers + to],
            allowance: self.allowance,
        }
    }

    /// Most flows that there were at once.
    pub(crate) fn most(&self) -> u64 {
        self.sending.len() as u64
    }

    /// Bytes of state per flow while it lasts.
    pub(crate) fn bytes_each() -> usize {
        size_of::<SendingEnd>() + size_of::<ReceivingEnd>() + size_of::<About>()
    }
}
