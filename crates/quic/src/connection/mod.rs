//! Parts of a QUIC connection that all stacks share: its two ends, its handshake and its records.

mod end;
pub(crate) mod handshake;
mod log;
mod observation;
mod pair;
pub(crate) mod protection;

pub(crate) use self::end::{End, PathState};
pub(crate) use self::log::SharedLog;
pub(crate) use self::observation::{CongestionEvent, ControllerState, SharedObservation};
pub(crate) use self::pair::{Pair, other, zero};
