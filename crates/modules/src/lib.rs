//! Congestion control modules of Linux, which `longhaul module build` compiles to shared objects: the kernel's own, and
//! those that users write after its interface.
//!
//! A simulation has a copy of the object for each entry of `flows`: flows of an entry share the variables of the module's
//! file, as those of a machine do, and neither other parameters nor other threads meet them.

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

/// A module with its parameters: an algorithm.
#[derive(Debug)]
pub struct Module {
    contents: Vec<u8>,
    parameters: Vec<(String, Value)>,
    description: Description,
}

impl Module {
    /// Loads an object of these contents with these parameters, and checks them. An error is a sentence about the object.
    pub fn open(contents: Vec<u8>, parameters: Vec<(String, Value)>) -> Result<Self, String> {
        let (_, description) = Object::load(&contents, &parameters)?;
        Ok(Self {
            contents,
            parameters,
            description,
        })
    }

    /// Returns the description of the module.
    pub fn description(&self) -> &Description {
        &self.description
    }
}

impl Factory for Module {
    /// Loads a copy of the object for a simulation.
    ///
    /// # Panics
    ///
    /// If there is no room for the copy any more where temporary files are.
    fn make(&self) -> Box<dyn CongestionControl> {
        let (object, _) = Object::load(&self.contents, &self.parameters)
            .unwrap_or_else(|reason| panic!("a module that was loaded before: {reason}"));
        Box::new(Controller::new(Arc::new(Shared {
            object: Arc::new(object),
            flows: AtomicU64::new(0),
        })))
    }
}
