//! Both ends of a connection, whichever stack they run, and what is recorded of it.

mod end;
pub(crate) mod handshake;
mod observation;
mod pair;

pub(crate) use self::end::{End, PathState};
pub(crate) use self::observation::{CongestionEvent, ControllerState, Shared};
pub(crate) use self::pair::{Pair, other};
