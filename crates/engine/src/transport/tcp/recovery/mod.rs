//! Loss recovery: detection of losses, choice of the next segment to send, and count of the segments in flight. One
//! file per algorithm; all algorithms work on the control block.

mod fack;
mod ns2_sack;
mod ns2_window;
mod prr;
mod rack;
mod sack;
mod tail_probe;
mod transmissions;
mod undo;
mod window;

use ns2_sack::Ns2Sack;
use ns2_window::Ns2Window;
use rack::Rack;
use sack::Sack;
use window::WindowRecovery;

use longhaul_units::Time;

use super::ack::Ack;
use super::control_block::ControlBlock;
use crate::config::Recovery;
use crate::transport::Environment;

/// A loss recovery algorithm of a connection. Methods with the parameter `REGULAR` are compiled a second time for the
/// fast path ([`super::regular`]), which is taken only while [`Self::is_open`] is true.
pub(super) trait LossRecovery {
    /// Returns true during fast recovery.
    fn in_recovery(&self, tcb: &ControlBlock) -> bool;

    /// Returns true if no segment is known to be lost, selectively acknowledged or retransmitted. If an algorithm
    /// always returns false, no acknowledgement takes the fast path.
    fn is_open(&self) -> bool;

    /// Returns the number of segments estimated to be in the network.
    fn in_flight(&self, tcb: &ControlBlock) -> u64;

    /// Returns the next segment to send, if there is room for one.
    fn next<const REGULAR: bool>(&mut self, tcb: &mut ControlBlock) -> Option<u64>;

    /// Records a segment that has been sent.
    fn on_sent<const REGULAR: bool>(
        &mut self,
        tcb: &mut ControlBlock,
        segment: u64,
        env: &mut impl Environment,
    );

    /// Sets timers once all segments that may leave now have been sent. `_moves` is true if new segments were sent, or
    /// if the call follows an acknowledgement on the fast path of a connection whose segments leave freely.
    fn after_sending<const REGULAR: bool>(
        &mut self,
        _tcb: &mut ControlBlock,
        _moves: bool,
        _env: &mut impl Environment,
    ) {
    }

    /// Records that the window has been reduced for a mark; `_window` is the former window in segments.
    fn on_reduction_for_mark(&mut self, _tcb: &mut ControlBlock, _window: u64) {}

    /// Processes the expiry of the retransmission timer.
    fn on_timeout(&mut self, tcb: &mut ControlBlock, now: Time);

    /// Processes an acknowledgement. Returns the maximum number of segments that may be sent now; `None` if no segment
    /// may be sent.
    fn on_ack<const REGULAR: bool>(
        &mut self,
        tcb: &mut ControlBlock,
        ack: Ack,
        env: &mut impl Environment,
    ) -> Option<u32>;
}

/// A connection's loss recovery algorithm. The tag is a separate byte: it is faster to read than a tag hidden in the
/// variants' contents. Variants with a fixed order of fields begin with those that in-order acknowledgements need, so
/// that these fields share a cache line with the tag.
#[derive(Debug)]
#[repr(u8, align(64))]
pub(super) enum RecoveryAlgorithm {
    Window(WindowRecovery),
    Sack(Sack),
    Rack(Rack),
    Ns2Window(Ns2Window),
    Ns2Sack(Ns2Sack),
}

impl RecoveryAlgorithm {
    pub(super) fn new(recovery: Recovery) -> Self {
        match recovery {
            Recovery::Tahoe | Recovery::Reno | Recovery::NewReno => {
                Self::Window(WindowRecovery::new(recovery))
            }
            Recovery::Sack | Recovery::SackPrr | Recovery::Fack => Self::Sack(Sack::new(recovery)),
            Recovery::RackTlp => Self::Rack(Rack::new(false)),
            Recovery::RackTlpPrr => Self::Rack(Rack::new(true)),
            Recovery::Ns2Reno => Self::Ns2Window(Ns2Window::reno()),
            Recovery::Ns2NewReno => Self::Ns2Window(Ns2Window::newreno()),
            Recovery::Ns2Sack => Self::Ns2Sack(Ns2Sack::default()),
        }
    }
}

/// The congestion avoidance state of a connection with selective acknowledgements (Linux, `icsk_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CaState {
    /// No loss is known.
    Open,
    /// After a mark, while the flight shrinks to the reduced window.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a timeout: lost segments are retransmitted in slow start. These are all segments not selectively
    /// acknowledged (RFC 6675 section 5.1), or with RACK-TLP those sent long enough ago (RFC 8985 section 6.3).
    Loss,
}

/// Calls a method of the recovery algorithm of `$holder`, whichever it is.
macro_rules! with_recovery {
    ($holder:expr, $recovery:ident => $call:expr) => {
        match &mut $holder.recovery {
            RecoveryAlgorithm::Window($recovery) => $call,
            RecoveryAlgorithm::Sack($recovery) => $call,
            RecoveryAlgorithm::Rack($recovery) => $call,
            RecoveryAlgorithm::Ns2Window($recovery) => $call,
            RecoveryAlgorithm::Ns2Sack($recovery) => $call,
        }
    };
}

pub(super) use with_recovery;
