//! The interface of a congestion control algorithm. It knows no algorithm.

use longhaul_units::{Rate, Span, Time};

use crate::facts::{AckSample, Congestion, Dummies, Idle, Phase, RouterRequest, Timeout};
use crate::window::Window;

/// In which phases an algorithm moves the window itself.
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
pub trait CongestionControl: std::fmt::Debug + Send + CloneBox {
    /// In which phases it moves the window itself.
    #[inline]
    fn phases(&self) -> Phases {
        Phases::Avoidance
    }

    /// Segments that an acknowledgement of so much [`AckSample::credit`] adds to a window of `cwnd`
    /// segments in congestion avoidance, for algorithms whose growth depends on nothing else. They do
    /// without [`Self::on_ack`], and most of their acknowledgements need no [`AckSample`].
    #[inline]
    fn increment(&mut self, _credit: f64, _cwnd: f64) -> Option<f64> {
        None
    }

    /// An acknowledgement of newly delivered segments, in any phase: updates the algorithm's state,
    /// and the window where the phase allows it. By default it grows by [`Self::increment`] in congestion
    /// avoidance.
    ///
    /// Algorithms of [`Phases::All`] are called after the transport has reacted to losses that the
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

    /// The handshake is complete, on the side that opened the connection: the first round-trip time is
    /// known, and the initial window follows.
    fn on_handshake(&mut self, _ack: &AckSample, _window: &mut Window) {}

    /// The window that the connection begins with, where the transport would begin with `initial` segments; after
    /// [`Self::on_handshake`].
    fn first_window(&mut self, initial: f64) -> f64 {
        initial
    }

    /// Whether losses are answered now ([`Self::on_congestion`]), with so many segments of the connection known to be
    /// delivered, and lost, so far: algorithms that tolerate some wait until there are more.
    ///
    /// The transport asks when a recovery begins. If the answer is no, the window is not reduced and goes on growing, and
    /// recoveries with selective acknowledgements ask again with each acknowledgement, until there is a reduction.
    fn answers_losses(&mut self, _delivered: u64, _lost: u64) -> bool {
        true
    }

    /// A congestion signal, at most one per recovery epoch.
    fn on_congestion(&mut self, event: &Congestion, window: &mut Window);

    /// A retransmission timeout: by default half the window as threshold, and a window of one
    /// segment (RFC 5681 section 3.1).
    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        restart(event, window);
    }

    /// The end of a recovery, that after a timeout too.
    fn on_recovery_exit(&mut self, _now: Time, _window: &mut Window) {}

    /// Lower bound of the window in a recovery of Linux 2.6.22, which halves the rate whatever
    /// [`Self::on_congestion`] left as threshold; none where that is the new window at once.
    fn recovery_floor(&self, _window: &Window) -> Option<f64> {
        None
    }

    /// Whether an algorithm that is standard TCP at times is not now, in congestion avoidance.
    fn departs_from_standard(&self, _now: Time, _window: &Window) -> bool {
        false
    }

    /// The last reduction was not needed; the window is what it was before.
    fn on_undo(&mut self, _window: &mut Window) {}

    /// Nothing was in flight for `idle`.
    fn on_idle(&mut self, _idle: Span, _window: &mut Window) {}

    /// The same, with all that is known of it.
    fn on_restart(&mut self, idle: &Idle, window: &mut Window) {
        self.on_idle(idle.time, window);
    }

    /// The rate to pace at, if the algorithm paces: bits per second on the wire.
    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// If it paces, the segments that may leave at once, at least one, their time being counted
    /// afterwards.
    #[inline]
    fn send_quantum(&self) -> u64 {
        1
    }

    /// What it needs of the transport beyond what every flow has.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Whether new segments should leave two at a time, back to back, so that the transport can
    /// report [`AckSample::pair_spacing`].
    fn sends_pairs(&self) -> bool {
        false
    }

    /// Low-priority segments to send now, if any; each is returned once.
    ///
    /// The transport asks at the start of the connection, after [`Self::on_congestion`] and after
    /// [`Self::on_timeout`]. `rtt` is its best estimate of the round-trip time (the handshake's at
    /// the start), `receive_window` the peer's window in segments.
    fn take_dummies(&mut self, _rtt: Span, _receive_window: u64) -> Option<Dummies> {
        None
    }

    /// The acknowledgement of one segment of [`Self::take_dummies`], in any phase.
    fn on_dummy_ack(&mut self, _window: &mut Window) {}

    /// What a data packet that leaves now tells the routers on its way, if the algorithm works with
    /// them: the transport puts it in the packet's header, routers change it, the receiver returns
    /// it with the acknowledgement, and [`AckSample::router`] brings back what is left of it. `srtt`
    /// is the smoothed round-trip time, zero before the first sample.
    fn router_request(&self, _window: &Window, _srtt: Span) -> Option<RouterRequest> {
        None
    }

    /// Mean window in segments under evenly spaced losses of probability `loss` at a round-trip time
    /// of `rtt`, if the algorithm has such a response function.
    fn response(&self, _loss: f64, _rtt: Span) -> Option<f64> {
        None
    }

    /// Takes the tables that flows of a kind share from `like`, one of the same kind: they are not stored
    /// with each flow's state, and have to be taken before a state that was read is used.
    fn share_tables(&mut self, _like: &Self)
    where
        Self: Sized,
    {
    }

    /// Names and values of internal state worth plotting.
    fn probe(&self, _window: &Window, _out: &mut dyn FnMut(&'static str, f64)) {}
}

/// What an algorithm needs of the transport beyond what every flow has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// [`AckSample::rtt`] of every acknowledgement, for which senders without timestamps have to remember
    /// when each segment left.
    pub rtt: bool,
    /// [`AckSample::delivery_rate`], for which the transport has to remember more of each segment.
    pub delivery_rate: bool,
    /// [`AckSample::one_way_delay`], for which receivers have to report transit times.
    pub one_way_delay: bool,
    /// Dummies ([`CongestionControl::take_dummies`]), and routers that drop them first.
    pub dummies: bool,
    /// [`AckSample::ecn_echo`] for each segment (RFC 8257 section 3.2), not until it is answered.
    pub every_mark: bool,
    /// The same if it uses ECN, which it does not ask for.
    pub exact_marks: bool,
    /// That its segments ask for L4S (ECT(1), RFC 9331), with marks counted exactly (AccECN, RFC 9768).
    pub l4s: bool,
    /// That its segments are not ECN-capable: it does not respond to marks, as those who ask for them
    /// must (RFC 3168 section 6.1.2).
    pub no_ecn: bool,
    /// That retransmissions lost again are noticed before the retransmission timer expires: RACK-TLP
    /// (RFC 8985), with which Linux runs BBR.
    pub rack_tlp: bool,
    /// That segments leave at [`CongestionControl::pacing_rate`], which it gives at times or always.
    pub paces: bool,
}

impl Needs {
    /// Nothing beyond what every flow has.
    pub const NOTHING: Self = Self {
        rtt: false,
        delivery_rate: false,
        one_way_delay: false,
        dummies: false,
        every_mark: false,
        l4s: false,
        exact_marks: false,
        no_ecn: false,
        rack_tlp: false,
        paces: false,
    };

    /// Round-trip samples.
    pub const RTT: Self = Self {
        rtt: true,
        ..Self::NOTHING
    };
}

/// The reaction to a timeout in standard TCP.
pub fn restart(event: &Timeout, window: &mut Window) {
    if !event.keep_ssthresh {
        window.set_ssthresh(event.base / 2.0);
    }
    window.restart();
}

/// Copying an algorithm behind its interface; every algorithm that is `Clone` has it.
pub trait CloneBox {
    /// A copy.
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
