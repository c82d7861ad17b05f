//! One flow's congestion control: window, slow start and algorithm together.

use longhaul_units::{Rate, Span, Time};
use serde::{Deserialize, Serialize};

use crate::algorithms::Controller;
use crate::congestion_control::{CongestionControl, Needs, Phases};
use crate::facts::{AckSample, Cause, Congestion, Dummies, RouterRequest, Timeout};
use crate::rate_halving::RateHalving;
use crate::slow_start::{SlowStart, limited_step};
use crate::window::{Change, Window};

/// What a transport holds per connection, in this order in memory: what acknowledgements touch fills
/// one cache line up to the kind of slow start, whose own state most of them do not touch, and the
/// beginning of another with the algorithm.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct CongestionState {
    /// Window and threshold.
    pub window: Window,
    /// The recovery that is going on, if the algorithm has it halve the rate: few do.
    rate_halving: Option<Box<RateHalving>>,
    /// Whether a congestion signal other than a timeout has come: ends ns-2's limited slow start.
    signalled: bool,
    slow_start: SlowStart,
    controller: Controller,
}

impl CongestionState {
    /// [`CongestionControl::share_tables`].
    pub fn share_tables(&mut self, like: &Self) {
        self.controller.share_tables_with(&like.controller);
    }

    /// Puts the three choices together.
    pub fn new(window: Window, slow_start: SlowStart, controller: Controller) -> Self {
        Self {
            window,
            rate_halving: None,
            signalled: false,
            slow_start,
            controller,
        }
    }

    /// The algorithm.
    #[inline]
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Takes note of newly delivered segments, before [`Self::on_ack`].
    #[inline]
    pub fn observe(&mut self, ack: &AckSample) {
        self.controller.observe(ack, &self.window);
    }

    /// Moves the window for an acknowledgement of so much credit outside recovery, if that is all it
    /// takes ([`CongestionControl::step`]). If not, [`Self::observe`] and [`Self::on_ack`] do it.
    #[inline(always)]
    pub fn step(&mut self, credit: f64) -> bool {
        if self.rate_halving.is_some() || self.slow_start.lasts(&self.window) {
            return false;
        }
        let before = self.window.cwnd();
        let Some(step) = self.controller.step(credit, before) else {
            return false;
        };
        self.window.grow(step, Change::Avoidance);
        self.keep_up_with_slow_start(before);
        true
    }

    /// Moves the window for one acknowledgement.
    #[inline]
    pub fn on_ack(&mut self, ack: &AckSample) {
        let phases = self.controller.phases();
        if phases == Phases::All {
            self.on_ack_in_all_phases(ack);
            return;
        }
        if ack.in_recovery {
            if let Some(halving) = &mut self.rate_halving {
                halving.on_ack(ack, &mut self.window);
            }
            return;
        }
        // A recovery that takes no time has no end of its own.
        self.end_rate_halving();
        if phases == Phases::Avoidance && self.slow_start.lasts(&self.window) {
            let left = self.slow_start.on_ack(ack, &mut self.window);
            if left > 0.0 {
                self.on_ack_beyond_slow_start(ack, left);
            }
            return;
        }
        self.on_ack_in_avoidance(ack, phases);
    }

    /// The credit that slow start leaves counts in congestion avoidance.
    #[cold]
    fn on_ack_beyond_slow_start(&mut self, ack: &AckSample, credit: f64) {
        let rest = AckSample { credit, ..*ack };
        self.on_ack_in_avoidance(&rest, Phases::Avoidance);
    }

    #[inline]
    fn on_ack_in_avoidance(&mut self, ack: &AckSample, phases: Phases) {
        let before = self.window.cwnd();
        self.controller.on_ack(ack, &mut self.window);
        if phases == Phases::Avoidance {
            self.keep_up_with_slow_start(before);
        }
    }

    /// The same for an algorithm of [`Phases::All`], if the caller knows that it is one.
    #[inline]
    pub fn on_ack_in_all_phases(&mut self, ack: &AckSample) {
        self.controller.on_ack(ack, &mut self.window);
    }

    /// ns-2's limited slow start goes on beside the algorithm's growth from `before`: the larger counts.
    #[inline]
    fn keep_up_with_slow_start(&mut self, before: f64) {
        if let SlowStart::Ns2Limited { max_ssthresh } = self.slow_start
            && !self.signalled
        {
            let step = limited_step(before, max_ssthresh);
            let grown = self.window.cwnd();
            if (before..before + step).contains(&grown) {
                self.window.set_cwnd(before + step, Change::SlowStart);
            }
        }
    }

    /// Reduces the window for a congestion signal.
    pub fn on_congestion(&mut self, event: &Congestion) {
        self.signalled = true;
        self.slow_start.on_reduction();
        let before = self.window.cwnd();
        self.controller.on_congestion(event, &mut self.window);
        if self.controller.phases() != Phases::All {
            self.window.end_reduction(event.cause);
        }
        // Marks bring no recovery in which the window could go down.
        if event.cause == Cause::Loss
            && let Some(floor) = self.controller.recovery_floor(&self.window)
        {
            let halving = RateHalving::begin(before, floor, &mut self.window);
            self.rate_halving = Some(Box::new(halving));
        }
    }

    /// Restarts after a retransmission timeout.
    pub fn on_timeout(&mut self, event: &Timeout) {
        self.signalled = false;
        self.rate_halving = None;
        self.slow_start.on_reduction();
        self.controller.on_timeout(event, &mut self.window);
    }

    /// Tells the algorithm that recovery is over.
    pub fn on_recovery_exit(&mut self, now: Time) {
        self.end_rate_halving();
        self.controller.on_recovery_exit(now, &mut self.window);
    }

    #[inline]
    fn end_rate_halving(&mut self) {
        if let Some(halving) = self.rate_halving.take() {
            halving.end(&mut self.window);
        }
    }

    /// Tells the algorithm that a round trip is over.
    #[inline]
    pub fn on_round(&mut self, ack: &AckSample) {
        self.controller.on_round(ack, &mut self.window);
    }

    /// Tells the algorithm that the flow was idle.
    pub fn on_idle(&mut self, idle: Span) {
        self.controller.on_idle(idle, &mut self.window);
    }

    /// The rate to pace at, if the algorithm paces.
    #[inline]
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.controller.pacing_rate()
    }

    /// If the algorithm paces, the segments that may leave at once.
    #[inline]
    pub fn send_quantum(&self) -> u64 {
        self.controller.send_quantum()
    }

    /// What algorithm and slow start need of the transport.
    pub fn needs(&self) -> Needs {
        let needs = self.controller.needs();
        Needs {
            rtt: needs.rtt || matches!(self.slow_start, SlowStart::Hystart(_)),
            ..needs
        }
    }

    /// Whether new segments should leave in pairs.
    pub fn sends_pairs(&self) -> bool {
        self.controller.sends_pairs()
    }

    /// Low-priority segments to send now, if any ([`CongestionControl::take_dummies`]).
    pub fn take_dummies(&mut self, rtt: Span, receive_window: u64) -> Option<Dummies> {
        self.controller.take_dummies(rtt, receive_window)
    }

    /// Takes note of the acknowledgement of one of them.
    pub fn on_dummy_ack(&mut self) {
        self.controller.on_dummy_ack(&mut self.window);
    }

    /// What a data packet that leaves now tells the routers
    /// ([`CongestionControl::router_request`]).
    #[inline]
    pub fn router_request(&self, srtt: Span) -> Option<RouterRequest> {
        self.controller.router_request(&self.window, srtt)
    }

    /// Whether the flow is in a regime that only its algorithm has: outside slow start, and where that
    /// is standard TCP at times, not then.
    pub fn departs_from_standard(&self, now: Time) -> bool {
        !self.window.in_slow_start() && self.controller.departs_from_standard(now, &self.window)
    }

    /// Names and values of the algorithm's internal state.
    pub fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.controller.probe(&self.window, out);
    }
}
