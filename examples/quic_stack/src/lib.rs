//! A template: the QUIC stack quinn with your own congestion controller. Scenarios select it as stack `mine`.
//!
//! ```toml
//! [[flows]]
//! protocol = "quic"
//! stack    = { kind = "mine" }
//! ```
//!
//! `make build FEATURES=own-stack` builds Longhaul with this stack. Change [`Aimd`], or put another `Controller` in its
//! place. For a stack other than quinn, implement `longhaul_engine::stack::Stack`: both ends of a connection, without a
//! clock and without I/O.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use longhaul_engine::stack::{Stack, StackFactory, StackSetup};
use longhaul_scenario::{FoundStack, QuicStack};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

/// Name of the stack in scenarios.
const KIND: &str = "mine";

/// Version of your controller, part of the hash of results: change it with the controller. Otherwise campaigns reuse
/// runs of the older version.
const VERSION: &str = "mine 1";

/// Returns your stack if a scenario selects it.
pub fn find(settings: &QuicStack) -> Option<FoundStack> {
    (settings.kind == KIND).then(|| FoundStack {
        factory: Arc::new(Mine(settings.clone())),
        congestion: "aimd".to_string(),
        version: VERSION.to_string(),
        warnings: Vec::new(),
    })
}

/// Factory of quinn connections with your controller at the sending end.
#[derive(Debug)]
struct Mine(QuicStack);

impl StackFactory for Mine {
    fn make(&self, setup: &StackSetup) -> Box<dyn Stack> {
        longhaul_quic::quinn_connection(&self.0, setup, Arc::new(Aimd::default()))
    }
}

/// Fraction of the window that is kept after a loss or a mark.
const KEPT: f64 = 0.7;

/// Additive increase, multiplicative decrease, after slow start.
#[derive(Clone, Debug)]
struct Aimd {
    window: u64,
    ssthresh: u64,
    mtu: u64,
    /// Time of the last reduction: losses of packets sent before it cause no further reduction.
    reduced_at: Option<Instant>,
    /// Bytes acknowledged since the window last grew.
    credit: u64,
}

impl Default for Aimd {
    fn default() -> Self {
        Self {
            window: 12_000,
            ssthresh: u64::MAX,
            mtu: 1_200,
            reduced_at: None,
            credit: 0,
        }
    }
}

impl ControllerFactory for Aimd {
    fn build(self: Arc<Self>, _: Instant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Self {
            mtu: mtu.into(),
            ..Self::clone(&self)
        })
    }
}

impl Controller for Aimd {
    fn on_ack(
        &mut self,
        _now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        if app_limited || self.reduced_at.is_some_and(|at| sent <= at) {
            return;
        }
        if self.window < self.ssthresh {
            self.window += bytes;
            return;
        }
        self.credit += bytes;
        if self.credit >= self.window {
            self.credit -= self.window;
            self.window += self.mtu;
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        _lost_bytes: u64,
    ) {
        let least = 2 * self.mtu;
        if self.reduced_at.is_none_or(|at| sent > at) {
            self.reduced_at = Some(now);
            self.window = ((self.window as f64 * KEPT) as u64).max(least);
            self.ssthresh = self.window;
            self.credit = 0;
        }
        if is_persistent_congestion {
            self.window = least;
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu.into();
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window;
        metrics.ssthresh = Some(self.ssthresh);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        Self::default().window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
