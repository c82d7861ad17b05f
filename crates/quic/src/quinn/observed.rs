//! A congestion controller that forwards all calls to another one, and records those that report acknowledgements,
//! losses, marks and the MTU.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Bbr, Controller, ControllerFactory, ControllerMetrics};

use crate::connection::{CongestionEvent, ControllerState, SharedObservation};

/// Factory of the congestion controllers of connections.
pub type ControllerSource = Arc<dyn ControllerFactory + Send + Sync>;

/// Factory of controllers whose calls are recorded in `shared`.
pub(super) struct Observing {
    pub(super) source: ControllerSource,
    pub(super) shared: SharedObservation,
}

impl ControllerFactory for Observing {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.source).build(now, mtu);
        self.shared.lock().begin(now, mtu, inner.window());
        Box::new(ObservedController {
            draws: inner.clone_box().into_any().is::<Bbr>(),
            inner,
            shared: self.shared.clone(),
        })
    }
}

/// A controller whose calls are recorded in `shared`.
struct ObservedController {
    inner: Box<dyn Controller>,
    /// True for quinn's BBR, whose pacing rate is not reported. BBR draws the phase of its gain
    /// cycle without a seed, so its pacing rate would make records and logs differ from run to run.
    draws: bool,
    shared: SharedObservation,
}

impl Controller for ObservedController {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.shared.lock().note_rtt(now - sent);
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_acked: Option<u64>,
    ) {
        self.inner
            .on_end_acks(now, in_flight, app_limited, largest_acked);
        let metrics = self.metrics();
        let state = ControllerState {
            window: self.inner.window(),
            ssthresh: metrics.ssthresh,
            pacing_bps: metrics.pacing_rate,
        };
        self.shared.lock().note_ack(now, in_flight, state);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let before = self.inner.window();
        self.inner
            .on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
        let event = CongestionEvent {
            before,
            after: self.inner.window(),
            ssthresh: self.inner.metrics().ssthresh,
            is_persistent: is_persistent_congestion,
            is_ecn: lost_bytes == 0,
        };
        self.shared.lock().note_congestion(now, event);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
        self.shared.lock().note_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = self.inner.metrics();
        if self.draws {
            metrics.pacing_rate = None;
        }
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
            draws: self.draws,
            shared: self.shared.clone(),
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
