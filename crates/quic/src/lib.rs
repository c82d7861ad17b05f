//! Real QUIC stacks as the two ends of a flow, in virtual time.
//!
//! A stack without I/O and without its own clock, such as `quinn-proto`, runs unmodified: the
//! engine carries its datagrams and passes it the time. The session encrypts nothing
//! (`connection::handshake`), but packets have the same sizes as with TLS 1.3. All random numbers
//! follow from the flow's seed, except those of quinn's BBR and noq's BBR v3, whose generators take
//! no seed.
//!
//! | | |
//! |---|---|
//! | `quinn` | the crate quinn, its controllers and settings |
//! | `noq` | noq, a fork of quinn with BBR v3, enabled by a feature |
//! | `connection` | the two ends of a connection, and its records |
//! | `own` | Longhaul's algorithms in place of a stack's controllers |

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

/// A QUIC stack: its name in scenarios, and the function that returns it for given settings.
struct Entry {
    kind: &'static str,
    find: fn(&QuicStack, Option<&OwnAlgorithm>) -> Result<FoundStack, StackError>,
}

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

/// Finds the stack that the settings name. If `own` is given, this algorithm of Longhaul replaces
/// the stack's controller.
///
/// # Errors
///
/// Fails if this build does not have the stack, or if the stack does not have the congestion
/// control; the message then lists the available ones. Also fails if the settings ask for a qlog
/// that the stack cannot write, or if `own` needs more than the stack reports.
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

/// Creates a connection of quinn with congestion controllers from the caller's `controllers`.
pub fn quinn_connection(
    settings: &QuicStack,
    setup: &StackSetup,
    controllers: ControllerSource,
) -> Box<dyn Stack> {
    quinn::connection(settings, setup, &controllers)
}
