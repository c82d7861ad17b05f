//! The flows of a region of the network: their senders, receivers and descriptions.

use longhaul_congestion::CongestionState;
use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use super::{AckQueues, Env, Receiver, ReceiverSetup, Sender, SenderSetup, TimerOutcome};
use crate::config::{Cell, FileType};
use crate::network::{FlowId, Kind, Packet};
use crate::records::{FlowClass, FlowGroup};
use longhaul_kernel::prefetch::prefetch;

/// Index of the counter of stale data packets, that is, data packets of closed flows.
pub(crate) const STALE: u16 = 0;

/// Description of a flow, which does not change.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct FlowInfo {
    pub(crate) source: u32,
    pub(crate) receiver: u32,
    /// Number of a long-lived flow; `None` for flows of sources. For a long-lived flow, `source` and `receiver` are
    /// `u32::MAX`.
    pub(crate) long_lived: Option<u16>,
    /// Access routers of the source and of the receiver.
    pub(crate) ends: [u16; 2],
    pub(crate) class: FlowClass,
    pub(crate) file: FileType,
    pub(crate) fast_interface: bool,
    pub(crate) algorithm: u8,
    pub(crate) alternate: bool,
    /// Size in packets, before the factor of jumbo files is applied.
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

/// Senders and receivers in a region, each by its own slot. The two ends of a flow may be in different regions.
/// Slots of closed flows are reused.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FlowTable {
    pub(crate) sending: Vec<Sender>,
    /// Descriptions of the flows, by slot of the sender.
    pub(crate) about: Vec<FlowInfo>,
    free_senders: Vec<FlowId>,
    receiving: Vec<Receiver>,
    free_receivers: Vec<FlowId>,
    ack_queues: AckQueues,
}

impl FlowTable {
    pub(crate) fn new() -> Self {
        Self {
            sending: Vec::new(),
            about: Vec::new(),
            free_senders: Vec::new(),
            receiving: Vec::new(),
            free_receivers: Vec::new(),
            ack_queues: AckQueues::new(),
        }
    }

    /// Restores the lookup tables of all flows' algorithms after a checkpoint is read. Checkpoints do not contain
    /// these tables; the initial states of the algorithms, `initial`, do.
    pub(crate) fn restore_shared(&mut self, initial: &[CongestionState]) {
        for (sender, about) in self.sending.iter_mut().zip(&self.about) {
            sender.share_tables(&initial[about.algorithm as usize]);
        }
    }

    /// Returns the sender of a flow; `None` if the flow is closed.
    #[inline]
    pub(crate) fn sender(&mut self, flow: FlowId) -> Option<&mut Sender> {
        let end = &mut self.sending[flow.slot as usize];
        end.is_of(flow).then_some(end)
    }

    /// Prefetches the sender or receiver of a packet, if it is in this region.
    #[inline]
    pub(crate) fn prefetch_for(&self, packet: &Packet) {
        let place = packet.flow().slot as usize;
        match packet.kind() {
            Kind::Syn | Kind::Data => {
                if let Some(receiver) = self.receiving.get(place) {
                    prefetch(receiver);
                }
            }
            Kind::SynAck | Kind::Ack | Kind::Nak => {
                if let Some(sender) = self.sending.get(place) {
                    sender.prefetch_for_ack();
                }
            }
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

    /// Processes an acknowledgement; returns true if it completes the flow's file.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, packet: &Packet, env: &mut Env) -> bool {
        match self.sender(packet.flow()) {
            Some(sender) if sender.is_active() => sender.on_ack(packet, env),
            _ => false,
        }
    }

    /// Processes a data packet; returns the index of its counter.
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

    /// Sends an acknowledgement after the receiver's host has processed the packet.
    #[inline]
    pub(crate) fn on_ack_ready(&mut self, ack: Packet, env: &mut Env) {
        let end = &mut self.receiving[ack.flow().slot as usize];
        if end.is_of(ack.flow()) {
            end.on_ack_ready(ack, &mut self.ack_queues, &mut env.network);
        }
    }

    /// Returns the identifier of the sender that will be opened next.
    pub(crate) fn next_sender(&self) -> FlowId {
        next_slot(&self.free_senders, self.sending.len())
    }

    pub(crate) fn open_sender(
        &mut self,
        about: FlowInfo,
        setup: &SenderSetup,
        initial: CongestionState,
    ) -> FlowId {
        let flow = self.next_sender();
        let sender = Sender::new(flow, setup, initial);
        if self.free_senders.pop().is_some() {
            self.sending[flow.slot as usize] = sender;
            self.about[flow.slot as usize] = about;
        } else {
            self.sending.push(sender);
            self.about.push(about);
        }
        flow
    }

    pub(crate) fn open_receiver(&mut self, place: ReceiverSetup) -> FlowId {
        let flow = next_slot(&self.free_receivers, self.receiving.len());
        let receiver = Receiver::new(flow, place);
        if self.free_receivers.pop().is_some() {
            self.receiving[flow.slot as usize] = receiver;
        } else {
            self.receiving.push(receiver);
        }
        flow
    }

    /// Closes the sender of a flow and frees its slot.
    pub(crate) fn close_sender(&mut self, flow: FlowId) {
        let next = flow.next_generation();
        self.sending[flow.slot as usize].close(next);
        self.free_senders.push(next);
    }

    /// Closes the receiver of a flow and frees its slot.
    pub(crate) fn close_receiver(&mut self, flow: FlowId) {
        let next = flow.next_generation();
        self.receiving[flow.slot as usize].close(next, &mut self.ack_queues);
        self.free_receivers.push(next);
    }

    /// Returns the number of bytes of state that an open flow needs, without heap memory.
    pub(crate) fn bytes_per_flow() -> usize {
        size_of::<Sender>() + size_of::<Receiver>() + size_of::<FlowInfo>()
    }
}

/// Returns the slot that was freed last, or a new one. `slots` is the number of slots.
fn next_slot(free: &[FlowId], slots: usize) -> FlowId {
    free.last().copied().unwrap_or(FlowId {
        slot: slots as u32,
        generation: 0,
    })
}
