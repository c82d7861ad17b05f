//! Linux congestion control modules, compiled to shared objects by `longhaul module build`: the
//! kernel's modules, and users' modules for the same interface.
//!
//! Each simulation loads one copy of the object for each entry of `flows`. Flows of one entry share
//! the module's global variables, as flows of one machine do. Different entries or simulations
//! share no variables.

mod controller;
mod description;
mod interface;
mod library;
mod object;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use longhaul_congestion::{CongestionControl, Factory};

use controller::{Controller, Shared};
pub use description::{Description, Parameter, Value};
use object::Object;

/// A Linux module with its parameter values. It creates instances of its congestion control
/// algorithm.
#[derive(Debug)]
pub struct Module {
    contents: Vec<u8>,
    parameters: Vec<(String, Value)>,
    description: Description,
}

impl Module {
    /// Loads a shared object from its bytes `contents`, sets its parameters, and checks both. The
    /// error is the reason why the object or a parameter is refused.
    pub fn open(contents: Vec<u8>, parameters: Vec<(String, Value)>) -> Result<Self, String> {
        let (_, description) = Object::load(&contents, &parameters)?;
        Ok(Self {
            contents,
            parameters,
            description,
        })
    }

    /// Returns the module's name, parameters and needs.
    pub fn description(&self) -> &Description {
        &self.description
    }
}

impl Factory for Module {
    /// Loads a copy of the module's shared object for one simulation, so that simulations share no state.
    ///
    /// # Panics
    ///
    /// Panics if the copy cannot be loaded, for example because the directory for temporary files is
    /// full.
    fn make(&self) -> Box<dyn CongestionControl> {
        let (object, _) = Object::load(&self.contents, &self.parameters)
            .unwrap_or_else(|reason| panic!("a module that was loaded before: {reason}"));
        Box::new(Controller::new(Arc::new(Shared {
            object: Arc::new(object),
            flows: AtomicU64::new(0),
        })))
    }
}
