//! TCP: a sender and a receiver joined by segments and acknowledgements.
//!
//! Segments are numbered, not bytes: the SYN is segment 0, data begins with 1. The sender's window
//! is kept by a congestion controller; loss detection and retransmission are a separate choice, one
//! file per algorithm in `recovery`.

mod accecn;
mod ack;
mod bitmap;
mod connection;
mod control_block;
mod delivery_rate;
mod dummies;
mod extras;
#[cfg(test)]
mod info;
mod pairs;
mod ranges;
mod receiver;
mod recovery;
mod regular;
mod reports;
mod round_trips;
mod rto;
mod segment_ring;
mod send_times;
mod sender;
mod window_usage;
mod wire;

pub(crate) use connection::{Connection, Received};
pub(crate) use receiver::Receiver;
pub(crate) use sender::Sender;

#[cfg(test)]
mod tests;
