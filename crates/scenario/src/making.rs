//! Algorithms and stacks that are not built in: their description in a scenario, and the interface
//! to the program that makes them. This crate depends neither on the language in which they are
//! written nor on native code.

use std::path::Path;
use std::sync::Arc;

use longhaul_congestion::{ControllerSpec, Factory, SlowStart};
use longhaul_engine::stack::StackFactory;
use longhaul_keys::KIND;

use crate::model::quic::QuicStack;

/// A custom algorithm, as given in a scenario.
#[derive(Debug)]
pub struct CustomAlgorithm<'a> {
    /// Name of its class.
    pub class: &'a str,
    /// The name of the file, for messages, and its text; none if the program passed the class itself.
    pub file: Option<(&'a str, &'a str)>,
    /// Arguments of its constructor: a JSON object.
    pub parameters: serde_json::Value,
}

/// Maker of custom algorithms. It makes this crate independent of the language in which they are
/// written.
pub trait Algorithms {
    /// Returns the algorithm and its source code, or an error message.
    fn make(&self, algorithm: &CustomAlgorithm<'_>) -> Result<(Arc<dyn Factory>, String), String>;

    /// Returns a module of Linux and the name under which it registers, or an error message.
    fn module(&self, _module: LinuxModule<'_>) -> Result<MadeModule, String> {
        Err("modules of Linux run from Python only".to_string())
    }

    /// Returns the controller of another process that listens at an address, or an error message.
    fn external(&self, _address: &str) -> Result<Arc<dyn Factory>, String> {
        Err("controllers in another process run from Python only".to_string())
    }

    /// Returns the QUIC stack with these settings. If an algorithm of Longhaul is given, it
    /// replaces the stack's algorithm.
    fn stack(
        &self,
        _settings: &QuicStack,
        _own: Option<&OwnAlgorithm>,
    ) -> Result<FoundStack, StackError> {
        Err(StackError {
            key: KIND.name(),
            message: "this program was built without QUIC stacks".to_string(),
        })
    }
}

/// Maker for programs that cannot load custom algorithms.
pub(crate) struct NoAlgorithms;

impl Algorithms for NoAlgorithms {
    fn make(&self, _: &CustomAlgorithm<'_>) -> Result<(Arc<dyn Factory>, String), String> {
        Err("algorithms written in Python run from Python only".to_string())
    }
}

/// A module, as given in a scenario.
#[derive(Debug)]
pub struct LinuxModule<'a> {
    /// The object file, for messages.
    pub file: &'a Path,
    /// Contents of the file.
    pub object: Vec<u8>,
    /// Names and values of the module's parameters.
    pub parameters: Vec<(String, ModuleValue)>,
}

/// The value of a module's parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ModuleValue {
    /// A truth value.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// Another number, which no parameter accepts.
    Real(f64),
}

/// A module that a program has loaded.
#[derive(Debug)]
pub struct MadeModule {
    /// The algorithm.
    pub factory: Arc<dyn Factory>,
    /// The name under which the module registers.
    pub name: String,
    /// Parameters of the module, with their default values.
    pub defaults: Vec<(String, ModuleValue)>,
}

/// An algorithm of Longhaul that runs in a stack.
#[derive(Clone, Debug)]
pub struct OwnAlgorithm {
    /// Congestion control.
    pub controller: ControllerSpec,
    /// Slow start, for algorithms that do not replace it.
    pub slow_start: SlowStart,
}

/// A QUIC stack that a program provides.
#[derive(Clone, Debug)]
pub struct FoundStack {
    /// Factory of the connections.
    pub factory: Arc<dyn StackFactory>,
    /// Name of its congestion control, as the stack calls it.
    pub congestion: String,
    /// Name and version of the stack, which are part of the hash of the results.
    pub version: String,
    /// Warnings for the user about the results.
    pub warnings: Vec<String>,
}

/// A setting of a QUIC stack that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackError {
    /// Name of the key.
    pub key: &'static str,
    /// Fault of the value, and the allowed values.
    pub message: String,
}
