//! The state of a flow as traces record it (NIST SP 500-282, chapter 3: `TCPstate`).

use super::Sender;
use crate::network::{Network, TraceState};
use crate::records::{FlowEvent, FlowPhase, FlowState, TracedFlow};

impl Sender {
    /// Returns the state of this flow right after `event`; `flow` identifies the flow in the trace.
    pub(crate) fn traced(
        &self,
        event: FlowEvent,
        flow: TracedFlow,
        state: &TraceState,
        network: &Network,
    ) -> FlowState {
        let window = &self.congestion.window;
        let in_flight = self.next - self.highest;
        let allowed = (window.cwnd() as u64).min(self.remaining);
        FlowState {
            time: network.now,
            event,
            flow: TracedFlow {
                size_pkts: finite(self.size),
                ..flow
            },
            undelivered_pkts: finite(self.size).map(|_| self.remaining),
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
            last_nak: state.last_nak,
            last_timeout: state.last_timeout,
            deadline: self.rtt.deadline,
            rto: self.rtt.rto(),
            srtt: self.rtt.srtt,
        }
    }

    /// Returns the state that a trace compares before and after an event.
    pub(crate) fn marks(&self) -> TraceMarks {
        TraceMarks {
            cwnd: self.congestion.window.cwnd(),
            epoch_start: self.epoch_start,
            timeouts: self.timeouts,
        }
    }
}

/// State that a trace compares before and after an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TraceMarks {
    pub(crate) cwnd: f64,
    /// Next sequence number at the last loss or timeout.
    pub(crate) epoch_start: u64,
    pub(crate) timeouts: u64,
}

/// Returns the size of a flow in packets; `None` if it is unlimited.
fn finite(size: u64) -> Option<u64> {
    (size != u64::MAX).then_some(size)
}
