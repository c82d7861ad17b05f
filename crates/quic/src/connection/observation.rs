//! Observation of a stack's congestion controller: its inputs and outputs, for the records of a
//! run.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use longhaul_congestion::Cause;
use longhaul_engine::stack::StackNote;

/// A congestion event, and the controller's response to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CongestionEvent {
    /// Congestion window in bytes before the event.
    pub(crate) before: u64,
    /// Congestion window in bytes after the event.
    pub(crate) after: u64,
    /// Slow start threshold in bytes after the event; `None` if the controller does not report it.
    pub(crate) ssthresh: Option<u64>,
    pub(crate) is_persistent: bool,
    /// True if an ECN mark caused the event.
    pub(crate) is_ecn: bool,
}

/// State of a controller after an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControllerState {
    /// Congestion window in bytes.
    pub(crate) window: u64,
    /// Slow start threshold in bytes; `None` if the controller does not report it.
    pub(crate) ssthresh: Option<u64>,
    pub(crate) pacing_bps: Option<u64>,
}

/// Inputs and outputs of a controller up to now.
#[derive(Debug, Default)]
pub(crate) struct Observation {
    pub(super) rtt_samples: u64,
    pub(super) rtt_sum: Duration,
    /// Smallest sample since the last `Stack::restart_extremes`; `None` if there is none.
    pub(super) rtt_min: Option<Duration>,
    /// Largest sample since the last `Stack::restart_extremes`; zero if there is none.
    pub(super) rtt_max: Duration,
    /// Bytes in flight after the last acknowledgement.
    pub(super) in_flight: u64,
    pub(super) cuts_loss: u64,
    pub(super) cuts_ecn: u64,
    pub(super) persistent_congestions: u64,
    /// Number of packets declared lost; 0 if the stack itself counts lost packets.
    pub(super) lost_packets: u64,
    /// Integral of the window over time, in packets times seconds, up to the last change of the
    /// window.
    window_integral: f64,
    /// Time of the last change of the window, and the window in packets since then; `None` before
    /// the first.
    window: Option<(Instant, f64)>,
    pub(super) notes: Vec<StackNote>,
    pub(super) traced: bool,
    mtu: u64,
}

/// An observation that a controller shares with its connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedObservation(Arc<Mutex<Observation>>);

impl SharedObservation {
    /// Creates the observation of the sending end's controller. `traced` is true if each
    /// acknowledgement gets a record.
    pub(crate) fn of_sender(traced: bool) -> Self {
        let shared = Self::default();
        shared.lock().traced = traced;
        shared
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Observation> {
        self.0.lock().expect("no holder of the lock panics")
    }
}

impl Observation {
    /// Converts a number of bytes to packets of the path's MTU.
    pub(super) fn packets(&self, bytes: u64) -> f64 {
        bytes as f64 / self.mtu.max(1) as f64
    }

    /// Returns the integral of the window over time up to `now`.
    pub(super) fn integral_at(&self, now: Instant) -> f64 {
        let since = |(from, window): (Instant, f64)| (now - from).as_secs_f64() * window;
        self.window_integral + self.window.map_or(0.0, since)
    }

    /// Notes the creation of the controller.
    pub(crate) fn begin(&mut self, now: Instant, mtu: u16, window: u64) {
        self.mtu = mtu.into();
        self.note_window(now, window);
    }

    /// Notes a change of the path's MTU.
    pub(crate) fn note_mtu(&mut self, mtu: u16) {
        self.mtu = mtu.into();
    }

    /// Notes the current window, which may have changed.
    fn note_window(&mut self, now: Instant, bytes: u64) {
        let window = self.packets(bytes);
        if self.window.is_none_or(|(_, before)| before != window) {
            self.window_integral = self.integral_at(now);
            self.window = Some((now, window));
        }
    }

    /// Notes the round-trip time of an acknowledged packet.
    pub(crate) fn note_rtt(&mut self, rtt: Duration) {
        self.rtt_samples += 1;
        self.rtt_sum += rtt;
        self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        self.rtt_max = self.rtt_max.max(rtt);
    }

    /// Notes a packet declared lost.
    #[cfg(feature = "noq")]
    pub(crate) fn note_loss(&mut self) {
        self.lost_packets += 1;
    }

    /// Notes an acknowledgement that has been processed.
    pub(crate) fn note_ack(&mut self, now: Instant, in_flight: u64, state: ControllerState) {
        self.in_flight = in_flight;
        self.note_window(now, state.window);
        if self.traced {
            self.trace(state);
        }
    }

    fn trace(&mut self, state: ControllerState) {
        let ssthresh = finite(state.ssthresh).map(|bytes| self.packets(bytes));
        let values = [
            ("cwnd", Some(self.packets(state.window))),
            ("ssthresh", ssthresh),
            ("in_flight", Some(self.packets(self.in_flight))),
            ("pacing_rate_bps", state.pacing_bps.map(|rate| rate as f64)),
        ];
        let known = values.into_iter();
        let known = known.filter_map(|(quantity, value)| Some((quantity, value?)));
        let notes = known.map(|(quantity, value)| StackNote::Trace(quantity, value));
        self.notes.extend(notes);
    }

    /// Notes a congestion event and the controller's response to it. An event that does not reduce
    /// the window, such as a second event in the same round trip, is not counted, unless it is
    /// persistent congestion.
    pub(crate) fn note_congestion(&mut self, now: Instant, event: CongestionEvent) {
        self.note_window(now, event.after);
        if event.after >= event.before && !event.is_persistent {
            return;
        }
        let (cause, count) = if event.is_persistent {
            (None, &mut self.persistent_congestions)
        } else if event.is_ecn {
            (Some(Cause::Ecn), &mut self.cuts_ecn)
        } else {
            (Some(Cause::Loss), &mut self.cuts_loss)
        };
        *count += 1;
        let ssthresh = finite(event.ssthresh).unwrap_or(event.after);
        self.notes.push(StackNote::Reduction {
            cause,
            cwnd_before: self.packets(event.before),
            cwnd_after: self.packets(event.after),
            ssthresh_after: self.packets(ssthresh),
            in_flight: self.packets(self.in_flight).round() as u64,
        });
    }
}

/// Returns a slow start threshold; `None` for the value that means no threshold.
pub(super) fn finite(ssthresh: Option<u64>) -> Option<u64> {
    ssthresh.filter(|&bytes| bytes < u64::MAX)
}
