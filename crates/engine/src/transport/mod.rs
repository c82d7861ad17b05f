//! The two ends of a flow. A transport knows one connection, not the topology.

pub(crate) mod tcp;
pub(crate) mod udp;

use crate::measure::{AckTrace, Event, Recorder};
use crate::network::Network;

/// What the ends of flows act on.
#[derive(Debug)]
pub(crate) struct Env {
    pub(crate) network: Network,
    pub(crate) log: EventLog,
}

/// Congestion events on their way to the recorder.
#[derive(Debug)]
pub(crate) struct EventLog {
    pub(crate) enabled: bool,
    pub(crate) pending: Vec<Event>,
    /// What flows that are traced report.
    pub(crate) traced: Vec<AckTrace>,
}

impl EventLog {
    /// Stands for the flow of a connection whose events are not recorded.
    pub(crate) const UNRECORDED: u32 = u32::MAX;

    /// Hands events on in order of time. To be called when nothing earlier can follow.
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

    pub(crate) fn push(&mut self, event: Event) {
        if self.enabled && event.flow != Self::UNRECORDED {
            self.pending.push(event);
        }
    }
}
