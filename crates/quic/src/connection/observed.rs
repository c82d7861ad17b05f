//! A controller that passes on what it is told, and notes it for records.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use longhaul_congestion::Cause;
use longhaul_engine::stack::StackNote;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

/// Makes the controllers of a connection.
pub(crate) type ControllerSource = Arc<dyn ControllerFactory + Send + Sync>;

/// What a controller has been told, and what it did.
#[derive(Debug, Default)]
pub(super) struct Observation {
    pub(super) rtt_samples: u64,
    pub(super) rtt_sum: Duration,
    pub(super) rtt_min: Option<Duration>,
    pub(super) rtt_max: Duration,
    /// Bytes in flight after the last acknowledgement.
    pub(super) in_flight: u64,
    pub(super) cuts_loss: u64,
    pub(super) cuts_ecn: u64,
    pub(super) persistent_congestions: u64,
    /// Integral of the window over time: packet seconds.
    pub(super) window_integral: f64,
    /// The window since when: packets.
    pub(super) window: Option<(Instant, f64)>,
    pub(super) notes: Vec<StackNote>,
    pub(super) traced: bool,
    mtu: u64,
}

/// An observation shared by a controller and its connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared(Arc<Mutex<Observation>>);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Observation> {
        self.0.lock().expect("no holder of the lock panics")
    }
}

impl Observation {
    /// Bytes as packets of the path's MTU.
    pub(super) fn packets(&self, bytes: u64) -> f64 {
        bytes as f64 / self.mtu.max(1) as f64
    }

    /// The integral of the window up to now.
    pub(super) fn integral_at(&self, now: Instant) -> f64 {
        let since = |(from, window): (Instant, f64)| (now - from).as_secs_f64() * window;
        self.window_integral + self.window.map_or(0.0, since)
    }

    /// Notes a window that may be new.
    fn note_window(&mut self, now: Instant, bytes: u64) {
        let window = self.packets(bytes);
        if self.window.is_none_or(|(_, before)| before != window) {
            self.window_integral = self.integral_at(now);
            self.window = Some((now, window));
        }
    }

    fn note_rtt(&mut self, rtt: Duration) {
        self.rtt_samples += 1;
        self.rtt_sum += rtt;
        self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        self.rtt_max = self.rtt_max.max(rtt);
    }

    fn trace(&mut self, metrics: &ControllerMetrics) {
        let mut note = |quantity, value| self.notes.push(StackNote::Trace(quantity, value));
        let packets = |bytes: u64| bytes as f64 / self.mtu.max(1) as f64;
        note("cwnd", packets(metrics.congestion_window));
        if let Some(ssthresh) = finite(metrics.ssthresh) {
            note("ssthresh", packets(ssthresh));
        }
        note("in_flight", packets(self.in_flight));
        if let Some(rate) = metrics.pacing_rate {
            note("pacing_rate_bps", rate as f64);
        }
    }
}

/// A threshold, unless it stands for none.
pub(super) fn finite(ssthresh: Option<u64>) -> Option<u64> {
    ssthresh.filter(|&bytes| bytes < u64::MAX)
}

/// Makes observed controllers.
pub(super) struct Observing {
    pub(super) source: ControllerSource,
    pub(super) shared: Shared,
}

impl ControllerFactory for Observing {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.source).build(now, mtu);
        let mut observation = self.shared.lock();
        observation.mtu = mtu.into();
        observation.note_window(now, inner.window());
        drop(observation);
        Box::new(Observed {
            inner,
            shared: self.shared.clone(),
        })
    }
}

/// A controller that is observed.
struct Observed {
    inner: Box<dyn Controller>,
    shared: Shared,
}

impl Controller for Observed {
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
        let mut observation = self.shared.lock();
        observation.in_flight = in_flight;
        observation.note_window(now, self.inner.window());
        if observation.traced {
            observation.trace(&self.inner.metrics());
        }
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
        let after = self.inner.window();
        let mut observation = self.shared.lock();
        observation.note_window(now, after);
        // Events of a round trip in which the window is reduced already change nothing.
        if after >= before && !is_persistent_congestion {
            return;
        }
        let cause = match (is_persistent_congestion, lost_bytes) {
            (true, _) => None,
            (false, 0) => Some(Cause::Ecn),
            (false, _) => Some(Cause::Loss),
        };
        match cause {
            None => observation.persistent_congestions += 1,
            Some(Cause::Ecn) => observation.cuts_ecn += 1,
            Some(_) => observation.cuts_loss += 1,
        }
        let ssthresh = finite(self.inner.metrics().ssthresh).unwrap_or(after);
        let note = StackNote::Reduction {
            cause,
            cwnd_before: observation.packets(before),
            cwnd_after: observation.packets(after),
            ssthresh_after: observation.packets(ssthresh),
            in_flight: observation.packets(observation.in_flight).round() as u64,
        };
        observation.notes.push(note);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
        self.shared.lock().mtu = new_mtu.into();
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
