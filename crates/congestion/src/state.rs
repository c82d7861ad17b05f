//! Congestion control of one flow: window, slow start and algorithm together.

use longhaul_units::{Rate, Span, Time};
use serde::{Deserialize, Serialize};

use crate::algorithms::Controller;
use crate::congestion_control::{CongestionControl, Phases};
use crate::facts::{AckSample, Cause, Congestion, Dummies, Idle, Phase, RouterRequest, Timeout};
use crate::needs::Needs;
use crate::rate_halving::RateHalving;
use crate::slow_start::{SlowStart, limited_step, may_end};
use crate::window::Window;

/// Congestion control of one connection, laid out for cache locality. Acknowledgements in congestion avoidance use two
/// cache lines: the first one, with the fields up to the kind of slow start, and the one in which the algorithm begins.
/// The state of slow start is between them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct CongestionState {
    /// Congestion window and slow start threshold.
    pub window: Window,
    /// State of the current recovery, if it halves the rate; few algorithms do so.
    rate_halving: Option<Box<RateHalving>>,
    /// True after a congestion signal, until a timeout. In the meantime, ns-2's limited slow start is inactive.
    signalled: bool,
    slow_start: SlowStart,
    controller: Controller,
}

impl CongestionState {
    /// Takes the algorithm's tables from `like` ([`CongestionControl::share_tables`]).
    pub fn share_tables(&mut self, like: &Self) {
        self.controller.share_tables_with(&like.controller);
    }

    /// Creates the congestion control of a connection from a window, a slow start and an algorithm.
    #[inline]
    pub fn new(window: Window, slow_start: SlowStart, controller: Controller) -> Self {
        Self {
            window,
            rate_halving: None,
            signalled: false,
            slow_start,
            controller,
        }
    }

    /// Returns the algorithm.
    #[inline]
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Grows the window by [`CongestionControl::increment`] for an acknowledgement of `credit` segments in congestion
    /// avoidance. Returns false, without growth, in slow start, in a recovery with rate halving, or if growth depends
    /// on more: [`Self::on_ack`] then has to be called.
    #[inline(always)]
    pub fn increment(&mut self, credit: f64) -> bool {
        if self.rate_halving.is_some() || self.slow_start.watches(&self.window) {
            return false;
        }
        let before = self.window.cwnd();
        let Some(increment) = self.controller.increment(credit, before) else {
            return false;
        };
        self.window.grow(increment);
        self.grow_as_slow_start(before);
        true
    }

    /// Processes an acknowledgement of new data outside recovery, which may enlarge the window.
    #[inline]
    pub fn on_ack(&mut self, ack: &AckSample) {
        // Nothing else ends a recovery of zero duration.
        self.end_rate_halving();
        if self.slow_start.watches(&self.window) {
            self.on_ack_in_slow_start(ack);
        } else {
            self.on_ack_in_avoidance(ack);
        }
    }

    fn on_ack_in_slow_start(&mut self, ack: &AckSample) {
        if self.ends_watched(ack) {
            return self.on_ack_in_avoidance(ack);
        }
        if may_end(ack.credit, &self.window) && self.ends_slow_start(ack) {
            return;
        }
        let window = &mut self.window;
        self.controller.on_ack(ack, Phase::SlowStart, window);
        if self.controller.phases() == Phases::Avoidance && self.slow_start.lasts(window) {
            self.slow_start.on_ack(ack, window);
        }
    }

    /// Returns true if the flow's slow start, and not the algorithm, processes acknowledgements now.
    #[inline]
    fn watches(&self) -> bool {
        self.controller.phases() == Phases::Avoidance && self.slow_start.watches(&self.window)
    }

    /// Passes an acknowledgement of new data to the flow's slow start. Returns true if slow start ends before the
    /// window grows for the acknowledgement.
    #[inline(always)]
    fn ends_watched(&mut self, ack: &AckSample) -> bool {
        if self.controller.phases() != Phases::Avoidance {
            return false;
        }
        self.slow_start.watch(ack, &mut self.window);
        !self.slow_start.lasts(&self.window)
    }

    /// Processes an acknowledgement if only some of its segments are needed to end slow start; the other segments count
    /// in congestion avoidance. Otherwise does nothing and returns false.
    #[cold]
    fn ends_slow_start(&mut self, ack: &AckSample) -> bool {
        let (mut slow_start, mut window) = (self.slow_start.clone(), self.window);
        let credit = slow_start.on_ack(ack, &mut window);
        let ends = credit > 0.0 && self.controller.phases() == Phases::Avoidance;
        if ends {
            (self.slow_start, self.window) = (slow_start, window);
            self.on_ack_in_avoidance(&AckSample { credit, ..*ack });
        }
        ends
    }

    #[inline]
    fn on_ack_in_avoidance(&mut self, ack: &AckSample) {
        let before = self.window.cwnd();
        self.controller
            .on_ack(ack, Phase::Avoidance, &mut self.window);
        if self.controller.phases() == Phases::Avoidance {
            self.grow_as_slow_start(before);
        }
    }

    /// Processes an acknowledgement in recovery, or while the window must not grow. For an algorithm with
    /// [`Phases::All`], this method is called in every phase, and the algorithm may enlarge the window.
    #[inline]
    pub fn on_ack_in(&mut self, ack: &AckSample, phase: Phase) {
        if phase == Phase::NoGrowth && self.watches() {
            self.slow_start.watch_without_growth(ack, &mut self.window);
        }
        if phase == Phase::Recovery {
            self.slow_start.on_ack_in_recovery(ack, &mut self.window);
        }
        self.controller.on_ack(ack, phase, &mut self.window);
    }

    /// Reduces the window for an acknowledgement, if there is a recovery with rate halving.
    #[inline]
    pub fn halve_rate(&mut self, ack: &AckSample) {
        if let Some(halving) = &mut self.rate_halving {
            halving.on_ack(ack, &mut self.window);
        }
    }

    /// Passes the handshake's round-trip time, the first one, to the algorithm.
    pub fn on_handshake(&mut self, ack: &AckSample) {
        self.controller.on_handshake(ack, &mut self.window);
    }

    /// Sets the initial window: `initial` segments, unless the algorithm chooses its own.
    pub fn open_window(&mut self, initial: f64) {
        let first = self.controller.first_window(initial);
        self.window.set_cwnd(first);
    }

    /// Raises the window if the algorithm has enlarged it, in congestion avoidance, by less than ns-2's limited slow
    /// start does. `before` is the window before the algorithm's growth.
    #[inline]
    fn grow_as_slow_start(&mut self, before: f64) {
        if let SlowStart::Ns2Limited { max_ssthresh } = self.slow_start
            && !self.signalled
        {
            let step = limited_step(before, max_ssthresh);
            let grown = self.window.cwnd();
            if (before..before + step).contains(&grown) {
                self.window.set_cwnd(before + step);
            }
        }
    }

    /// Returns true if the algorithm responds to losses now ([`answers_losses`](crate::Extension::answers_losses)).
    pub fn answers_losses(&mut self, delivered: u64, lost: u64) -> bool {
        let extension = self.controller.extension();
        extension.is_none_or(|extension| extension.answers_losses(delivered, lost))
    }

    /// Reduces the window for a congestion signal.
    pub fn on_congestion(&mut self, event: &Congestion) {
        self.signalled = true;
        let before = self.window.cwnd();
        self.controller.on_congestion(event, &mut self.window);
        if self.controller.phases() != Phases::All {
            self.window.end_reduction(event.cause);
            self.slow_start
                .on_reduction(event, before, &mut self.window);
        }
        // Marks do not cause a recovery, in which the window could be reduced gradually.
        if event.cause == Cause::Loss
            && let Some(extension) = self.controller.extension()
            && let Some(floor) = extension.recovery_floor(&self.window)
        {
            let halving = RateHalving::begin(before, floor, &mut self.window);
            self.rate_halving = Some(Box::new(halving));
        }
    }

    /// Restarts the window after a retransmission timeout.
    pub fn on_timeout(&mut self, event: &Timeout) {
        self.signalled = false;
        self.rate_halving = None;
        self.slow_start.on_timeout(event);
        self.controller.on_timeout(event, &mut self.window);
    }

    /// Ends rate halving, and notifies the algorithm and the slow start that recovery is over.
    pub fn on_recovery_exit(&mut self, now: Time) {
        self.end_rate_halving();
        self.controller.on_recovery_exit(now, &mut self.window);
        self.slow_start.on_recovery_exit(&mut self.window);
    }

    #[inline]
    fn end_rate_halving(&mut self) {
        if let Some(halving) = self.rate_halving.take() {
            halving.end(&mut self.window);
        }
    }

    /// Undoes the last reduction, which was spurious. Raises the window and the threshold to their values before the
    /// reduction, `cwnd` and `ssthresh`, and notifies the algorithm. With [`Phases::All`], only notifies the algorithm,
    /// which sets the window itself.
    pub fn undo(&mut self, cwnd: f64, ssthresh: f64) {
        let window = &mut self.window;
        if self.controller.phases() != Phases::All {
            window.set_ssthresh(ssthresh.max(window.ssthresh()));
            window.set_cwnd(cwnd.max(window.cwnd()));
        }
        if let Some(extension) = self.controller.extension() {
            extension.on_undo(window);
        }
    }

    /// Restarts the window at `cwnd` segments, because nothing was sent for the length of a retransmission timeout.
    pub fn restart_after_idle(&mut self, cwnd: f64) {
        self.window.set_cwnd(cwnd);
        self.slow_start.on_idle_restart();
    }

    /// Notifies the algorithm that the flow was idle.
    pub fn on_idle(&mut self, idle: &Idle) {
        self.controller.on_idle(idle, &mut self.window);
    }

    /// Returns the pacing rate; `None` if the algorithm does not pace.
    #[inline]
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.controller.pacing_rate()
    }

    /// Returns true if the algorithm paces, always or at times; always true for custom algorithms.
    pub fn may_pace(&self) -> bool {
        matches!(self.controller, Controller::Custom(_)) || self.needs().paces
    }

    /// Returns the number of segments that may leave together, if the algorithm paces.
    #[inline]
    pub fn send_quantum(&self) -> u64 {
        self.controller.send_quantum()
    }

    /// Returns the requirements that the algorithm and the slow start together have on the transport.
    pub fn needs(&self) -> Needs {
        let needs = self.controller.needs();
        Needs {
            rtt: needs.rtt || self.slow_start.needs_rtt(),
            ..needs
        }
    }

    /// Returns the low-priority segments to send now, if there are any
    /// ([`take_dummies`](crate::Extension::take_dummies)).
    pub fn take_dummies(&mut self, rtt: Span, receive_window: u64) -> Option<Dummies> {
        let extension = self.controller.extension()?;
        extension.take_dummies(rtt, receive_window)
    }

    /// Processes the acknowledgement of a dummy segment.
    pub fn on_dummy_ack(&mut self) {
        if let Some(extension) = self.controller.extension() {
            extension.on_dummy_ack(&mut self.window);
        }
    }

    /// Returns the request to the routers that a data packet carries
    /// ([`router_request`](crate::Extension::router_request)).
    #[inline]
    pub fn router_request(&mut self, srtt: Span) -> Option<RouterRequest> {
        let extension = self.controller.extension()?;
        extension.router_request(&self.window, srtt)
    }

    /// Returns true if the flow is not in slow start, and its algorithm behaves differently from standard TCP at the
    /// present window.
    pub fn departs_from_standard(&self, now: Time) -> bool {
        !self.window.in_slow_start() && self.controller.departs_from_standard(now, &self.window)
    }

    /// Passes names and values of the algorithm's internal state to `out`.
    pub fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.controller.probe(&self.window, out);
    }
}
