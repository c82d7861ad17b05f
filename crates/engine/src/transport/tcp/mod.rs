//! TCP senders and receivers.
//!
//! Sequence numbers count segments, not bytes: the SYN is segment 0, data begins with segment 1. A congestion
//! controller sets the sender's window. Loss detection and retransmission are chosen independently; `recovery` has the
//! algorithms.

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
