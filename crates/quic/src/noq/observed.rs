//! A congestion controller that forwards all calls to another one, and records those that report
//! acknowledgements, losses, marks and the MTU.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use crate::connection::{CongestionEvent, ControllerState, SharedObservation};

/// Factory of the congestion controllers of connections.
pub(super) type ControllerSource = Arc<dyn ControllerFactory + Send + Sync>;

/// Factory of controllers whose calls are recorded.
pub(super) struct Observing {
    pub(super) source: ControllerSource,
    pub(super) shared: SharedObservation,
}

impl ControllerFactory for Observing {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.source).build(now, mtu);
        self.shared.lock().begin(now, mtu, inner.window());
        Box::new(ObservedController {
            inner,
            shared: self.shared.clone(),
        })
    }
}

/// A controller that passes all calls on to `inner`, and records some of them in `shared`.
#[derive(Debug)]
struct ObservedController {
    inner: Box<dyn Controller>,
    shared: SharedObservation,
}

impl Controller for ObservedController {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest_pn: u64) {
        self.inner.on_sent(now, bytes, largest_pn);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.inner.on_packet_sent(now, bytes, pn);
    }

    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.shared.lock().note_loss();
        self.inner.on_packet_lost(lost_bytes, pn, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, max_ack_delay: Duration) {
        self.inner.on_ack_frequency_update(threshold, max_ack_delay);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.shared.lock().note_rtt(now - sent);
        self.inner.on_ack(now, sent, bytes, pn, app_limited, rtt);
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
        let metrics = self.inner.metrics();
        let state = ControllerState {
            window: self.inner.window(),
            ssthresh: metrics.ssthresh,
            pacing_bps: metrics.pacing_rate.map(|bytes| 8 * bytes),
        };
        self.shared.lock().note_ack(now, in_flight, state);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost_pn: u64,
    ) {
        let before = self.inner.window();
        self.inner.on_congestion_event(
            now,
            sent,
            is_persistent_congestion,
            is_ecn,
            lost_bytes,
            largest_lost_pn,
        );
        let event = CongestionEvent {
            before,
            after: self.inner.window(),
            ssthresh: self.inner.metrics().ssthresh,
            is_persistent: is_persistent_congestion,
            is_ecn,
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
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
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
