//! Deterministic connection identifiers and time of day for a stack, in place of random or real
//! ones. The endpoint's random generator is not replaced, since it takes a seed. Those of quinn's
//! BBR and noq's BBR v3 take none.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::dialect::proto;
use proto::{ConnectionId, ConnectionIdGenerator, TimeSource};

/// Generator of connection identifiers that count upwards, in place of the stack's random ones.
#[derive(Debug)]
pub(super) struct CountedIdentifiers {
    /// Number of the end, 0 or 1: it makes the identifiers of the two ends differ.
    end: u8,
    next: u64,
}

impl CountedIdentifiers {
    pub(super) fn of_end(end: u8) -> Self {
        Self { end, next: 0 }
    }
}

impl ConnectionIdGenerator for CountedIdentifiers {
    fn generate_cid(&mut self) -> ConnectionId {
        self.next += 1;
        let mut bytes = self.next.to_be_bytes();
        bytes[0] = self.end;
        ConnectionId::new(&bytes)
    }

    fn cid_len(&self) -> usize {
        size_of::<u64>()
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// Returns the identifier that a client uses for the server until it knows the server's choice.
pub(super) fn initial_identifier() -> ConnectionId {
    ConnectionId::new(&[7; 20])
}

/// A clock that always shows the same time, so that address validation tokens never expire.
#[derive(Debug)]
pub(super) struct StoppedClock;

impl TimeSource for StoppedClock {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_700_000_000)
    }
}
