//! Methods that only one, two or three algorithms need, separate from the interface of all algorithms.

use longhaul_units::Span;

use crate::facts::{Dummies, RouterRequest};
use crate::window::Window;

/// Methods for the few algorithms that return themselves in
/// [`CongestionControl::extension`](crate::CongestionControl::extension). Algorithms that need neither dummies nor
/// routers receive these calls only for losses and for the undoing of reductions. Other acknowledgements thus cost
/// nothing.
///
/// The defaults of the methods apply to algorithms without an extension.
pub trait Extension {
    /// Returns true if the algorithm responds to losses now, in [`CongestionControl::on_congestion`]. The arguments are
    /// the numbers of segments of the connection known to be delivered and lost. (CUBIC's variant picoquic tolerates
    /// some losses.)
    ///
    /// Called once when a recovery begins. If it returns `false`, the transport does not reduce the window, and the
    /// window continues to grow. With selective acknowledgements, each further acknowledgement calls it again until it
    /// returns `true`. ns-2's recoveries do not call it.
    ///
    /// [`CongestionControl::on_congestion`]: crate::CongestionControl::on_congestion
    fn answers_losses(&mut self, _delivered: u64, _lost: u64) -> bool {
        true
    }

    /// Returns the lower bound of the window in a recovery with rate halving. Linux 2.6.22 halves the rate down to this
    /// bound, whatever threshold [`CongestionControl::on_congestion`] has set (`tcp_reno_min_cwnd`).
    ///
    /// Returns `None` if the reduced window applies at once. Called once after each reduction for a loss, with the
    /// reduced window.
    ///
    /// [`CongestionControl::on_congestion`]: crate::CongestionControl::on_congestion
    fn recovery_floor(&self, _window: &Window) -> Option<f64> {
        None
    }

    /// Processes the undoing of the last reduction, which was spurious.
    ///
    /// Called once for each reduction that the transport undoes (`tcp.undo`), after window and threshold have been
    /// restored. With [`Phases::All`](crate::Phases::All), the transport restores neither.
    fn on_undo(&mut self, _window: &mut Window) {}

    /// Returns the low-priority segments to send now (TCP-Peach).
    ///
    /// Called only with [`Needs::dummies`](crate::Needs::dummies): at the start of the connection, after each
    /// reduction, and after each timeout. `rtt` is the smoothed round-trip time (the handshake's at the start), or the
    /// retransmission timeout before the first sample; `receive_window` is the peer's window in segments. Returns each
    /// batch once, and `None` if there is nothing to send now.
    fn take_dummies(&mut self, _rtt: Span, _receive_window: u64) -> Option<Dummies> {
        None
    }

    /// Processes the acknowledgement of one dummy segment, which [`Self::take_dummies`] has requested. Called once for
    /// each dummy segment, in any phase.
    fn on_dummy_ack(&mut self, _window: &mut Window) {}

    /// Returns the request that a data packet carries to the routers on its path (XCP, VCP).
    ///
    /// Called only with [`Needs::routers`](crate::Needs::routers), for every data packet, retransmissions included.
    /// Routers change the request, the receiver returns it with the acknowledgement, and
    /// [`AckSample::router`](crate::AckSample::router) reports the result. `srtt` is the smoothed round-trip time, zero
    /// before the first sample. Returns `None` if the packet carries no request.
    fn router_request(&self, _window: &Window, _srtt: Span) -> Option<RouterRequest> {
        None
    }
}
