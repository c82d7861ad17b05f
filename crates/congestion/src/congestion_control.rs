//! The interface of a congestion control algorithm, independent of the algorithms.

use longhaul_units::{Rate, Span, Time};

use crate::extension::Extension;
use crate::facts::{AckSample, Congestion, Idle, Phase, Timeout};
use crate::needs::Needs;
use crate::window::Window;

/// Phases of a connection in which the algorithm itself changes the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phases {
    /// Congestion avoidance only; the slow start is chosen separately for each flow.
    Avoidance,
    /// Slow start and congestion avoidance: the algorithm also changes the window in slow start, in place of the slow
    /// start chosen for the flow.
    SlowStart,
    /// All phases, recovery included: the algorithm always controls the window and the pacing rate.
    All,
}

/// A congestion control algorithm: it processes facts about the connection, and changes the window.
///
/// [`CongestionState`](crate::CongestionState) makes all calls, for a transport that reports events to it. Calls for
/// one connection are in order of time. In TCP, only timeouts of the SYN come before [`Self::on_handshake`] and
/// [`Self::first_window`]. Methods with a default need not be implemented. Methods that only few algorithms need are in
/// [`Extension`].
pub trait CongestionControl: std::fmt::Debug + Send + CloneBox {
    /// Returns the phases in which the algorithm changes the window itself.
    ///
    /// Called often. The result may change during a connection: packet-pair replaces slow start from its first sample
    /// on. [`Phases::All`] is returned always or never.
    #[inline]
    fn phases(&self) -> Phases {
        Phases::Avoidance
    }

    /// Returns the growth of the window for an acknowledgement in congestion avoidance, in segments. It is for
    /// algorithms with a growth that depends only on [`AckSample::credit`] and the window `cwnd`.
    ///
    /// Called once for each acknowledgement of new data in congestion avoidance that needs no [`AckSample`], instead of
    /// [`Self::on_ack`]. Returns `None` if growth depends on more: `on_ack` is then called with a sample.
    #[inline]
    fn increment(&mut self, _credit: f64, _cwnd: f64) -> Option<f64> {
        None
    }

    /// Updates the algorithm's state for an acknowledgement. Also updates the window if `phase` allows it. By default,
    /// adds the result of [`Self::increment`] to the window in congestion avoidance.
    ///
    /// Called before the transport responds to losses that the acknowledgement shows. Algorithms with [`Phases::All`]
    /// are called after the response instead, in [`Phase::Recovery`] or [`Phase::Avoidance`]. They receive duplicate
    /// acknowledgements only in a recovery, at its beginning, and if Linux lets the window grow for them
    /// (`tcp_may_raise_cwnd`).
    ///
    /// Not called if the transport itself has called [`Self::increment`] for the acknowledgement and received a value.
    #[inline]
    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if phase == Phase::Avoidance
            && let Some(increment) = self.increment(ack.credit, window.cwnd())
        {
            window.grow(increment);
        }
    }

    /// Processes the first round-trip time, when the handshake is complete.
    ///
    /// TCP calls it once, on the side that opened the connection, before [`Self::first_window`]. QUIC stacks call it
    /// with the first acknowledgement, and MesoNet never.
    fn on_handshake(&mut self, _ack: &AckSample, _window: &mut Window) {}

    /// Returns the initial window of the connection. The transport's own choice is `initial` segments.
    ///
    /// Called once, after [`Self::on_handshake`], on the side that opened a TCP connection. The other side, QUIC stacks
    /// and MesoNet do not call it.
    fn first_window(&mut self, initial: f64) -> f64 {
        initial
    }

    /// Responds to a congestion signal, which is a loss or a mark. The window that the algorithm sets applies at once,
    /// unless [`Extension::recovery_floor`] returns a bound. The threshold that it sets is an upper bound of the window
    /// at the end of a recovery without SACK.
    ///
    /// Called at most once per recovery, and for marks at most once per round trip. With [`Needs::every_mark`], each
    /// mark is also reported by [`AckSample::ecn_echo`]. A loss that an [`Extension`] tolerates is not a signal.
    fn on_congestion(&mut self, event: &Congestion, window: &mut Window);

    /// Responds to a retransmission timeout. By default, the threshold becomes half of the window, and the window one
    /// segment (RFC 5681 section 3.1).
    ///
    /// Called each time that the timer expires, before anything is retransmitted. With [`Timeout::keep_ssthresh`], the
    /// threshold must not change.
    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        restart(event, window);
    }

    /// Processes the end of a recovery.
    ///
    /// With `sack`, `fack` and `rack-tlp`, also with PRR, a timeout begins a recovery, too. With the others, a timeout
    /// begins none, and ends a recovery without this call. MesoNet makes this call only for [`Phases::All`].
    fn on_recovery_exit(&mut self, _now: Time, _window: &mut Window) {}

    /// Returns true while the algorithm differs from standard TCP in congestion avoidance. Only algorithms that
    /// sometimes behave like standard TCP implement it.
    ///
    /// Called for statistics only (MesoNet), once per sender and measurement interval.
    fn departs_from_standard(&self, _now: Time, _window: &Window) -> bool {
        false
    }

    /// Processes the end of a time in which nothing was in flight.
    ///
    /// Called once when a connection sends again, before the window is restarted (`tcp.idle_restart`).
    fn on_idle(&mut self, _idle: &Idle, _window: &mut Window) {}

    /// Returns the pacing rate in bits per second on the wire.
    ///
    /// Called whenever segments could leave, if the algorithm has [`Needs::paces`] or is a custom one. Returns `None`
    /// if the algorithm does not pace now; the transport then sends as the scenario's `tcp.pacing` says.
    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Returns the number of segments, at least one, that may leave as a burst while the algorithm paces. Pacing then
    /// delays the next segment by the transmission time of the burst at the pacing rate.
    ///
    /// Called with [`Self::pacing_rate`]; only the result at the beginning of a burst counts.
    #[inline]
    fn send_quantum(&self) -> u64 {
        1
    }

    /// Returns the algorithm's requirements on the transport, in addition to those of every flow.
    ///
    /// Called when a scenario is checked, when a connection is set up, and during the connection. The result does not
    /// change during a connection.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Returns the algorithm as an [`Extension`], which has rarely called methods. Returns `None` if the algorithm uses
    /// the defaults of all these methods.
    fn extension(&mut self) -> Option<&mut dyn Extension> {
        None
    }

    /// Returns the mean window in segments under evenly spaced losses of probability `loss`, at a round-trip time of
    /// `rtt`.
    ///
    /// Called by closed forms and tests, never by a transport. Returns `None` if the algorithm has
    /// no such response function.
    fn response(&self, _loss: f64, _rtt: Span) -> Option<f64> {
        None
    }

    /// Replaces the tables that all flows of an algorithm share by those of `like`, a flow of the same algorithm.
    ///
    /// Called once for each state that is read from a checkpoint, since checkpoints do not contain such tables.
    fn share_tables(&mut self, _like: &Self)
    where
        Self: Sized,
    {
    }

    /// Passes names and values of internal state that is worth plotting to `out`, with the same names each time.
    ///
    /// Called for each acknowledgement of flows that are traced.
    fn probe(&self, _window: &Window, _out: &mut dyn FnMut(&'static str, f64)) {}
}

/// Responds to a timeout as standard TCP does.
pub fn restart(event: &Timeout, window: &mut Window) {
    if !event.keep_ssthresh {
        window.set_ssthresh(event.base / 2.0);
    }
    window.restart();
}

/// Cloning of an algorithm behind a trait object; implemented for every algorithm that is `Clone`.
pub trait CloneBox {
    /// Returns a boxed copy of the algorithm.
    fn clone_box(&self) -> Box<dyn CongestionControl>;
}

impl<T: CongestionControl + Clone + 'static> CloneBox for T {
    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn CongestionControl> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}
