//! noq (noq-proto 1.4.0), n0's fork of quinn.

#[path = "../quinn/application.rs"]
mod application;
#[path = "../quinn/chance.rs"]
mod chance;
mod dialect;
#[path = "../quinn/end.rs"]
mod end;
#[path = "../quinn/factory.rs"]
mod factory;
mod observed;
mod own;
mod session;
#[path = "../quinn/setup.rs"]
mod setup;

use std::sync::Arc;

use noq_proto::congestion::{Bbr3Config, CubicConfig, NewRenoConfig};

pub(crate) use self::factory::find;
use self::observed::ControllerSource;
use crate::own::StackTraits;

/// Name and version of the stack, as in the lock file.
const VERSION: &str = "noq-proto 1.4.0";

/// Names of the stack's controllers; the first is the default.
const CONTROLLERS: [&str; 3] = ["cubic", "newreno", "bbr3"];

const TRAITS: StackTraits = StackTraits {
    name: "noq",
    uses_pacing_rate: true,
    writes_qlog: false,
};

/// Returns the factory of the controller `name` of noq; `initial_window` is in bytes, `None` for
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
        "bbr3" => configured!(Bbr3Config),
        "newreno" => configured!(NewRenoConfig),
        _ => configured!(CubicConfig),
    }
}

/// Returns the warning for users of a controller; `None` if there is none.
fn warning(name: &str) -> Option<&'static str> {
    (name == "bbr3")
        .then_some("noq's BBR v3 draws from a generator that has no seed: results do not repeat")
}
