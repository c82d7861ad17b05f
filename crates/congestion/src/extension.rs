//! Calls that serve one, two or three algorithms, separate from the interface of all.

use longhaul_units::Span;

use crate::facts::{Dummies, RouterRequest};
use crate::window::Window;

/// Calls that few algorithms answer: those that return themselves in
/// [`CongestionControl::extension`](crate::CongestionControl::extension). The transport calls none for an acknowledgement
/// that shows no loss, so that algorithms without an extension pay nothing.
///
/// Each has a default, which is what holds for an algorithm without an extension.
pub trait Extension {
    /// Return true if losses are answered now with [`CongestionControl::on_congestion`], given how many segments of the
    /// connection are known to be delivered, and lost, so far. (CUBIC's loss tolerance as in picoquic.)
    ///
    /// The transport asks once when a recovery begins. After a `false` it does not reduce the window, which goes on growing;
    /// recoveries with selective acknowledgements then ask again with each acknowledgement until the answer is `true`.
    /// ns-2's recoveries do not ask.
    ///
    /// [`CongestionControl::on_congestion`]: crate::CongestionControl::on_congestion
    fn answers_losses(&mut self, _delivered: u64, _lost: u64) -> bool {
        true
    }

    /// Return the lower bound of the window in a recovery that halves the rate, as Linux 2.6.22 does whatever
    /// [`CongestionControl::on_congestion`] left as threshold (`tcp_reno_min_cwnd`).
    ///
    /// [`CongestionState`](crate::CongestionState) asks once after each reduction for a loss, with the window as it is then.
    /// `None`: the reduced window holds at once.
    ///
    /// [`CongestionControl::on_congestion`]: crate::CongestionControl::on_congestion
    fn recovery_floor(&self, _window: &Window) -> Option<f64> {
        None
    }

    /// Learn that the last reduction was not needed.
    ///
    /// Called once for a reduction that the transport undoes (`tcp.undo`), after window and threshold have become what
    /// they were before it; not so for [`Phases::All`](crate::Phases::All), whose window stays with the algorithm.
    fn on_undo(&mut self, _window: &mut Window) {}

    /// Return the low-priority segments to send now. (TCP Peach.)
    ///
    /// Called only with [`Needs::dummies`](crate::Needs::dummies): at the start of the connection, after each reduction
    /// and after each timeout. `rtt` is the best estimate of the round-trip time (the handshake's at the start),
    /// `receive_window` the peer's window in segments. `None`: no dummies now; each batch is returned once.
    fn take_dummies(&mut self, _rtt: Span, _receive_window: u64) -> Option<Dummies> {
        None
    }

    /// Learn that one segment of [`Self::take_dummies`] is acknowledged: called once for each, in any phase.
    fn on_dummy_ack(&mut self, _window: &mut Window) {}

    /// Return the request that a data packet which leaves now carries to the routers on its way. (XCP, VCP.)
    ///
    /// Called only with [`Needs::routers`](crate::Needs::routers), for every data packet, retransmissions included. Routers
    /// change the request, the receiver returns it with the acknowledgement, and
    /// [`AckSample::router`](crate::AckSample::router) brings back what is left of it. `srtt` is the smoothed round-trip
    /// time, zero before the first sample. `None`: the packet carries no request.
    fn router_request(&self, _window: &Window, _srtt: Span) -> Option<RouterRequest> {
        None
    }
}
