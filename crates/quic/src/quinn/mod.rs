//! quinn (quinn-proto 0.11.19).
//!
//! quinn and its fork noq share the source files that make the same calls to both; `dialect` has
//! the calls that differ, and `observed`, `own` and `session` implement traits that differ.

mod application;
mod chance;
mod dialect;
mod end;
mod factory;
mod observed;
mod own;
mod session;
mod setup;

use std::sync::Arc;

use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};

pub(crate) use self::factory::find;
pub use self::observed::ControllerSource;
pub(crate) use self::setup::connection;
use crate::own::StackTraits;

/// Name and version of the stack, as in the lock file.
const VERSION: &str = "quinn-proto 0.11.19";

/// Names of the stack's controllers; the first is the default.
const CONTROLLERS: [&str; 3] = ["cubic", "newreno", "bbr"];

const TRAITS: StackTraits = StackTraits {
    name: "quinn",
    uses_pacing_rate: false,
    writes_qlog: true,
};

/// Returns the factory of quinn's controller `name`. `initial_window` is in bytes; `None` selects
/// the default.
fn controller(name: &str, initial_window: Option<u64>) -> ControllerSource {
    macro_rules! configured {
        ($config:ty) => {{
            let mut config = <$config>::default();
            initial_window.map(|window| config.initial_window(window));
            Arc::new(config)
        }};
    }
    match name {
        "bbr" => configured!(BbrConfig),
        "newreno" => configured!(NewRenoConfig),
        _ => configured!(CubicConfig),
    }
}

/// Returns `None`, since no controller of quinn needs a warning to users. BBR draws the phase of
/// its gain cycle from a generator without a seed, but quinn's pacer does not use that phase.
fn warning(_: &str) -> Option<&'static str> {
    None
}
