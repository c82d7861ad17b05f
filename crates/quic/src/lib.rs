//! Real QUIC stacks as the two ends of a flow, in virtual time.
//!
//! A stack without I/O and without a clock of its own, such as `quinn-proto`, runs unmodified: the engine carries its
//! datagrams and tells it the time. Its session encrypts nothing ([`connection::session`]), but packets have the sizes
//! that they have with TLS 1.3. Everything that is random follows from the flow's seed.
//!
//! | | |
//! |---|---|
//! | `quinn` | the crate, its controllers, its settings |
//! | `noq` | its fork, as a feature: BBR v3 |
//! | `connection` | both ends of a connection, its records |
//! | `own` | algorithms of Longhaul in the place of a stack's own |

#![cfg_attr(
    feature = "noq",
    expect(
        clippy::duplicate_mod,
        reason = "noq is a fork of quinn: where their calls are the same, their modules have one source"
    )
)]

mod connection;
#[cfg(feature = "noq")]
mod noq;
mod own;
mod quinn;

use longhaul_engine::stack::{Stack, StackSetup};
use longhaul_scenario::{FoundStack, OwnAlgorithm, QuicStack, StackError};

pub use quinn::ControllerSource;

/// A stack: its name in scenarios, and the function that makes its connections.
struct Entry {
    kind: &'static str,
    find: fn(&QuicStack, Option<&OwnAlgorithm>) -> Result<FoundStack, StackError>,
}

/// Every stack of this build.
const STACKS: &[Entry] = &[
    Entry {
        kind: "quinn",
        find: quinn::find,
    },
    #[cfg(feature = "noq")]
    Entry {
        kind: "noq",
        find: noq::find,
    },
];

/// Finds the stack of these settings, with an algorithm of Longhaul in place of its own if one is given.
///
/// # Errors
///
/// A stack or a congestion control that this build does not have, with those that it has.
pub fn find(settings: &QuicStack, own: Option<&OwnAlgorithm>) -> Result<FoundStack, StackError> {
    let stack = STACKS.iter().find(|stack| stack.kind == settings.kind);
    let Some(stack) = stack else {
        let known: Vec<&str> = STACKS.iter().map(|stack| stack.kind).collect();
        let message = format!(
            "unknown QUIC stack `{}`; this build has {}",
            settings.kind,
            known.join(", ")
        );
        return Err(StackError {
            key: "kind",
            message,
        });
    };
    (stack.find)(settings, own)
}

/// Creates a connection of quinn with these settings and a controller of the caller's.
pub fn quinn_connection(
    settings: &QuicStack,
    setup: &StackSetup,
    controllers: ControllerSource,
) -> Box<dyn Stack> {
    quinn::connection(settings, setup, &controllers)
}
