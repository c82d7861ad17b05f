//! Factory of the stack's connections. Their controller is a controller of the stack, or an
//! algorithm of Longhaul.

use std::sync::Arc;

use longhaul_engine::stack::{Stack, StackFactory, StackSetup};
use longhaul_scenario::{FoundStack, OwnAlgorithm, QuicStack, StackError};

use super::observed::ControllerSource;
use super::own::OwnFactory;
use super::setup::connection;
use super::{CONTROLLERS, TRAITS, VERSION, controller, warning};
use crate::own::check;

/// Returns the QUIC stack with `settings`. `own`, an algorithm of Longhaul, replaces the stack's controller.
pub(crate) fn find(
    settings: &QuicStack,
    own: Option<&OwnAlgorithm>,
) -> Result<FoundStack, StackError> {
    let name = settings.congestion.as_deref().unwrap_or(CONTROLLERS[0]);
    let Some(known) = CONTROLLERS.iter().find(|known| **known == name) else {
        let message = format!(
            "{} has no congestion control `{name}`; allowed: {}",
            TRAITS.name,
            CONTROLLERS.join(", ")
        );
        return Err(StackError {
            key: "congestion",
            message,
        });
    };
    if settings.qlog == Some(true) && !TRAITS.writes_qlog {
        return Err(StackError {
            key: "qlog",
            message: format!("{} writes none here; leave it out", TRAITS.name),
        });
    }
    let warnings = match own {
        Some(own) => check(own, &TRAITS)?,
        None => warning(known).into_iter().map(str::to_string).collect(),
    };
    Ok(FoundStack {
        factory: Arc::new(Connections {
            settings: settings.clone(),
            controller: known,
            own: own.cloned(),
        }),
        congestion: name.to_string(),
        version: VERSION.to_string(),
        warnings,
    })
}

/// Factory of the stack's connections.
#[derive(Debug)]
struct Connections {
    settings: QuicStack,
    controller: &'static str,
    own: Option<OwnAlgorithm>,
}

impl Connections {
    fn controllers(&self) -> ControllerSource {
        let initial_window = self.settings.initial_window;
        match &self.own {
            Some(algorithm) => Arc::new(OwnFactory {
                algorithm: algorithm.clone(),
                initial_window,
            }),
            None => controller(self.controller, initial_window.map(|bytes| bytes.0)),
        }
    }
}

impl StackFactory for Connections {
    fn make(&self, setup: &StackSetup) -> Box<dyn Stack> {
        connection(&self.settings, setup, &self.controllers())
    }
}
