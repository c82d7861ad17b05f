//! The two endpoints of a flow. A transport knows one connection, not the topology.

mod bursts;
pub(crate) mod stack;
pub(crate) mod tcp;
pub(crate) mod udp;

use longhaul_units::Time;

pub(crate) use self::bursts::Bursts;
use crate::measure::{AckTrace, DelayHistogram, Event, Recorder};
use crate::network::Network;
use crate::packet::{OptionStore, Packet};
use crate::schedule::Schedule;

/// Interface of the endpoints of connections to the simulation: time, timers, options in flight and links. It has two
/// implementations. [`Env`] contains the whole network. The faster one serves endpoints that all send onto a single
/// link, and contains only this link.
pub(crate) trait Environment {
    fn now(&self) -> Time;

    fn schedule(&mut self) -> &mut Schedule;

    /// Returns a mutable reference to the store of the options of packets in flight.
    fn options(&mut self) -> &mut OptionStore;

    fn log(&mut self) -> &mut EventLog;

    /// Puts a packet on the first link of its route.
    fn send(&mut self, packet: Packet);
}

/// Environment of all endpoints: the network, and the records of flows.
#[derive(Debug)]
pub(crate) struct Env {
    pub(crate) network: Network,
    pub(crate) log: EventLog,
    pub(crate) delays: FlowDelays,
}

/// One-way delays of data packets by flow; empty if they are not measured.
#[derive(Debug, Default)]
pub(crate) struct FlowDelays(pub(crate) Vec<DelayHistogram>);

impl FlowDelays {
    /// Returns true if delays are measured.
    #[inline(always)]
    pub(crate) fn are_measured(&self) -> bool {
        !self.0.is_empty()
    }

    /// Records the delay of a data packet that arrives.
    #[inline(always)]
    pub(crate) fn record(&mut self, flow: u32, packet: &Packet, now: Time) {
        if let Some(histogram) = self.0.get_mut(flow as usize) {
            histogram.record(now.since(packet.stamp));
        }
    }

    /// Discards all delays recorded so far.
    pub(crate) fn restart(&mut self) {
        self.0.fill_with(DelayHistogram::default);
    }
}

impl Environment for Env {
    #[inline(always)]
    fn now(&self) -> Time {
        self.network.now
    }

    #[inline(always)]
    fn schedule(&mut self) -> &mut Schedule {
        &mut self.network.schedule
    }

    #[inline(always)]
    fn options(&mut self) -> &mut OptionStore {
        &mut self.network.options
    }

    #[inline(always)]
    fn log(&mut self) -> &mut EventLog {
        &mut self.log
    }

    #[inline(always)]
    fn send(&mut self, packet: Packet) {
        self.network.send(packet);
    }
}

/// Congestion events that have not been passed to the recorder yet.
#[derive(Debug)]
pub(crate) struct EventLog {
    pub(crate) enabled: bool,
    pub(crate) pending: Vec<Event>,
    /// States of traced connections after acknowledgements.
    pub(crate) traced: Vec<AckTrace>,
}

impl EventLog {
    /// Flow id of connections without recorded events.
    pub(crate) const UNRECORDED: u32 = u32::MAX;

    /// Passes all pending events and states to the recorder, each kind in order of time. Events and states that are
    /// added later must not have earlier times.
    pub(crate) fn flush(&mut self, recorder: &mut dyn Recorder) {
        self.pending.sort_by_key(|event| (event.time, event.flow));
        self.pending
            .drain(..)
            .for_each(|event| recorder.event(&event));
        self.traced.sort_by_key(|sample| (sample.time, sample.flow));
        self.traced
            .drain(..)
            .for_each(|sample| recorder.trace(&sample));
    }

    /// Adds an event, if events are recorded and its flow id is not [`Self::UNRECORDED`].
    pub(crate) fn push(&mut self, event: Event) {
        if self.enabled && event.flow != Self::UNRECORDED {
            self.pending.push(event);
        }
    }
}
