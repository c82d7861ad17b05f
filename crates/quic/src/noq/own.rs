//! An algorithm of Longhaul as a congestion controller of noq.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use longhaul_scenario::OwnAlgorithm;
use longhaul_units::Bytes;
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use crate::own::OwnController;

/// Factory of controllers that run an algorithm of Longhaul.
#[derive(Debug)]
pub(super) struct OwnFactory {
    pub(super) algorithm: OwnAlgorithm,
    pub(super) initial_window: Option<Bytes>,
}

impl ControllerFactory for OwnFactory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let (algorithm, window) = (&self.algorithm, self.initial_window);
        Box::new(OwnController::new(algorithm, window, now, mtu))
    }
}

impl Controller for OwnController {
    fn on_sent(&mut self, now: Instant, bytes: u64, _: u64) {
        self.on_sent(now, bytes);
    }

    fn on_ack(
        &mut self,
        _: Instant,
        sent: Instant,
        bytes: u64,
        _: u64,
        _: bool,
        rtt: &RttEstimator,
    ) {
        self.on_ack(sent, bytes, rtt.get(), rtt.min());
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        self.on_end_acks(now, in_flight, app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        is_ecn: bool,
        lost: u64,
        _: u64,
    ) {
        let lost = if is_ecn { 0 } else { lost };
        self.on_congestion_event(now, sent, persistent, lost);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window();
        metrics.ssthresh = self.ssthresh();
        metrics.pacing_rate = self.pacing_bps().map(|bits| bits / 8);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
