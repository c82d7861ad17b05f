//! The interface of a congestion control algorithm. It knows no algorithm.

use longhaul_units::{Rate, Span, Time};

use crate::extension::Extension;
use crate::facts::{AckSample, Congestion, Idle, Phase, Timeout};
use crate::needs::Needs;
use crate::window::Window;

/// Phases in which an algorithm moves the window itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phases {
    /// Congestion avoidance. Slow start is the flow's choice.
    Avoidance,
    /// Slow start too: the algorithm has its own.
    SlowStart,
    /// Recovery too: the algorithm controls window and pacing rate at all times.
    All,
}

/// A congestion control algorithm: it gets facts and moves the window.
///
/// [`CongestionState`](crate::CongestionState) makes all calls, for a transport that tells it what happened. All of one
/// connection come in order of time, [`Self::on_handshake`] and [`Self::first_window`] first. A call that has a default
/// may be left out. Calls for the few algorithms that do something else are in [`Extension`].
pub trait CongestionControl: std::fmt::Debug + Send + CloneBox {
    /// Return in which phases the algorithm moves the window itself.
    ///
    /// Asked with every acknowledgement and signal. The answer may become another in the life of a connection (packet-pair
    /// takes slow start over with its first sample), but [`Phases::All`] holds from the beginning or never.
    #[inline]
    fn phases(&self) -> Phases {
        Phases::Avoidance
    }

    /// Return the segments that an acknowledgement of so much [`AckSample::credit`] adds to a window of `cwnd` segments in
    /// congestion avoidance, for algorithms whose growth depends on nothing else.
    ///
    /// Called once for each acknowledgement of new data in congestion avoidance that needs no [`AckSample`]; the
    /// algorithm then does without [`Self::on_ack`]. `None`: growth depends on more, and `on_ack` is called with a sample.
    #[inline]
    fn increment(&mut self, _credit: f64, _cwnd: f64) -> Option<f64> {
        None
    }

    /// Update the algorithm's state for an acknowledgement of newly delivered segments, in any phase, and the window where
    /// the phase allows it. By default the window grows by [`Self::increment`] in congestion avoidance.
    ///
    /// Called once for each such acknowledgement, except those that [`Self::increment`] has answered. Algorithms of
    /// [`Phases::All`] are called after the transport has reacted to losses that the
    /// acknowledgement shows, in [`Phase::Recovery`] or else [`Phase::Avoidance`], and not for duplicates
    /// that begin no recovery; the others are called before.
    #[inline]
    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if phase == Phase::Avoidance
            && let Some(increment) = self.increment(ack.credit, window.cwnd())
        {
            window.grow(increment);
        }
    }

    /// Learn the first round-trip time: the handshake is complete.
    ///
    /// Called once, on the side that opened the connection, before [`Self::first_window`].
    fn on_handshake(&mut self, _ack: &AckSample, _window: &mut Window) {}

    /// Return the window that the connection begins with, where the transport would begin with `initial` segments.
    ///
    /// Called once, after [`Self::on_handshake`] where there is one.
    fn first_window(&mut self, initial: f64) -> f64 {
        initial
    }

    /// Answer a congestion signal, a loss or a mark: the window that the algorithm leaves holds at once, and its threshold
    /// for the recovery.
    ///
    /// Called at most once per recovery epoch, which is a round trip for marks; with [`Needs::every_mark`] marks come
    /// through [`AckSample::ecn_echo`] instead. A loss that an [`Extension`] tolerates is no signal.
    fn on_congestion(&mut self, event: &Congestion, window: &mut Window);

    /// Answer a retransmission timeout: by default half the window as threshold, and a window of one segment (RFC 5681
    /// section 3.1).
    ///
    /// Called each time that the timer expires, before anything is sent again; [`Timeout::keep_ssthresh`] says that the
    /// threshold stays.
    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        restart(event, window);
    }

    /// Learn that a recovery is over, that after a timeout too. Called once for each.
    fn on_recovery_exit(&mut self, _now: Time, _window: &mut Window) {}

    /// Return true if an algorithm that is standard TCP at times is not now, in congestion avoidance.
    ///
    /// Asked for statistics alone (MesoNet), once a sender and measurement interval.
    fn departs_from_standard(&self, _now: Time, _window: &Window) -> bool {
        false
    }

    /// Learn that nothing was in flight for a time.
    ///
    /// Called once when a connection sends again, before the window is restarted (`tcp.idle_restart`).
    fn on_idle(&mut self, _idle: &Idle, _window: &mut Window) {}

    /// Return the rate to pace at: bits per second on the wire.
    ///
    /// Asked whenever segments could leave, of connections whose algorithm has [`Needs::paces`] or is a user's own. `None`:
    /// the algorithm does not pace now, and the transport sends as `tcp.pacing` says.
    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Return the segments that may leave at once where the algorithm paces, at least one; their time is counted
    /// afterwards.
    ///
    /// Asked with [`Self::pacing_rate`], at the beginning of each burst.
    #[inline]
    fn send_quantum(&self) -> u64 {
        1
    }

    /// Return the algorithm's requirements on the transport beyond what every flow has.
    ///
    /// Asked when a connection is set up, by checks of scenarios, and at marks; the answer does not change in the life of
    /// a connection.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Return the algorithm as an [`Extension`].
    ///
    /// Asked at the rare calls of that trait. `None`: the defaults of the trait hold.
    fn extension(&mut self) -> Option<&mut dyn Extension> {
        None
    }

    /// Return the mean window in segments under evenly spaced losses of probability `loss` at a round-trip time of `rtt`.
    ///
    /// Asked by closed forms and tests, never by a transport. `None`: the algorithm has no such response function.
    fn response(&self, _loss: f64, _rtt: Span) -> Option<f64> {
        None
    }

    /// Take the tables that flows of a kind share from `like`, one of the same kind: they are not stored
    /// with each flow's state, and have to be taken before a state that was read is used.
    ///
    /// Called once for each state that is read.
    fn share_tables(&mut self, _like: &Self)
    where
        Self: Sized,
    {
    }

    /// Give names and values of internal state worth plotting to `out`, the same names each time.
    ///
    /// Called for each acknowledgement of flows that are traced.
    fn probe(&self, _window: &Window, _out: &mut dyn FnMut(&'static str, f64)) {}
}

/// Reacts to a timeout as standard TCP does.
pub fn restart(event: &Timeout, window: &mut Window) {
    if !event.keep_ssthresh {
        window.set_ssthresh(event.base / 2.0);
    }
    window.restart();
}

/// Copying of an algorithm behind its interface; implemented for every algorithm that is `Clone`.
pub trait CloneBox {
    /// Returns a copy.
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
