//! The state of a flow as a trace reports it (spec 004a B.15).

use super::SendingEnd;
use crate::network::{Network, Watched};
use crate::records::{FlowEvent, FlowPhase, FlowState, TracedFlow};

impl SendingEnd {
    /// The state right after `event`; `flow` is what is known of the flow besides.
    pub(crate) fn traced(
        &self,
        event: FlowEvent,
        flow: TracedFlow,
        watched: &Watched,
        network: &Network,
    ) -> FlowState {
        let window = &self.congestion.window;
        let in_flight = self.next - self.highest;
        let allowed = (window.cwnd() as u64).min(self.left);
        FlowState {
            time: network.now,
            event,
            flow: TracedFlow {
                size_pkts: endless(self.size),
                ..flow
            },
            undelivered_pkts: endless(self.size).map(|_| self.left),
            sent_pkts: self.sent(),
            phase: match (self.initial_slow_start, window.in_slow_start()) {
                (true, _) => FlowPhase::InitialSlowStart,
                (false, true) => FlowPhase::SlowStart,
                (false, false) => FlowPhase::Avoidance,
            },
            cwnd: window.cwnd(),
            ssthresh: window.ssthresh(),
            sendable_pkts: allowed.saturating_sub(in_flight),
            in_flight_pkts: in_flight,
            next: self.next,
            highest: self.highest,
            last_nak: watched.last_nak,
            last_timeout: watched.last_timeout,
            deadline: self.trips.deadline,
            rto: self.trips.rto(),
            srtt: self.trips.srtt,
        }
    }

    /// What tells one state from the next.
    pub(crate) fn marks(&self) -> Marks {
        Marks {
            cwnd: self.congestion.window.cwnd(),
            recover: self.recover,
            timeouts: self.timeouts,
        }
    }
}

/// What events change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    pub(crate) cwnd: f64,
    /// The number from which on answers tell of something new.
    pub(crate) recover: u64,
    pub(crate) timeouts: u64,
}

/// Flows without end have a size of their own.
fn endless(size: u64) -> Option<u64> {
    (size != u64::MAX).then_some(size)
}
