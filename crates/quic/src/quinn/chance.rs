//! Sources of chance in a stack, made to follow from a seed: connection identifiers and the time of day. The stack's own
//! generator takes a seed; keys are those of the session, which has none.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::dialect::proto;
use proto::{ConnectionId, ConnectionIdGenerator, TimeSource};

/// Connection identifiers that are counted: the stack's own come from the system's random numbers.
#[derive(Debug)]
pub(super) struct CountedIdentifiers {
    /// Number of the end, which tells the identifiers of both ends apart.
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

/// Returns the identifier that a client gives a server before it knows the server's own.
pub(super) fn initial_identifier() -> ConnectionId {
    ConnectionId::new(&[7; 20])
}

/// A clock that stands still: tokens have no time.
#[derive(Debug)]
pub(super) struct StoppedClock;

impl TimeSource for StoppedClock {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_700_000_000)
    }
}
