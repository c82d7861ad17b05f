//! Loss repair: when losses are noticed, what is sent next, and what counts as in flight. One file
//! per scheme; all work on the control block.

mod ns2_sack;
mod ns2_window;
mod sack;
mod window;

use ns2_sack::Ns2Sack;
use ns2_window::Ns2Window;
use sack::Sack;
use window::WindowRepair;

use crate::config::Recovery;

/// How losses are found and repaired.
#[derive(Debug)]
pub(super) enum Scheme {
    Window(WindowRepair),
    Sack(Sack),
    Ns2Window(Ns2Window),
    Ns2Sack(Ns2Sack),
}

impl Scheme {
    pub(super) fn new(recovery: Recovery) -> Self {
        match recovery {
            Recovery::Tahoe | Recovery::Reno | Recovery::NewReno => {
                Self::Window(WindowRepair::new(recovery))
            }
            Recovery::Sack => Self::Sack(Sack::default()),
            Recovery::Ns2Reno => Self::Ns2Window(Ns2Window::reno()),
            Recovery::Ns2NewReno => Self::Ns2Window(Ns2Window::newreno()),
            Recovery::Ns2Sack => Self::Ns2Sack(Ns2Sack::default()),
        }
    }
}

/// Calls a method of whichever scheme `$holder` has.
macro_rules! scheme {
    ($holder:expr, $scheme:ident => $call:expr) => {
        match &mut $holder.scheme {
            Scheme::Window($scheme) => $call,
            Scheme::Sack($scheme) => $call,
            Scheme::Ns2Window($scheme) => $call,
            Scheme::Ns2Sack($scheme) => $call,
        }
    };
}

pub(super) use scheme;
