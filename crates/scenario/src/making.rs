//! Algorithms and stacks that are not built in: their description in a scenario, and the interface to the program that
//! makes them. Since the program makes them, this crate depends neither on Python nor on native code.

use std::path::Path;
use std::sync::Arc;

use longhaul_congestion::{ControllerSpec, Factory, SlowStart};
use longhaul_engine::stack::StackFactory;
use longhaul_keys::KIND;

use crate::model::quic::QuicStack;

/// A custom algorithm as a scenario describes it.
#[derive(Debug)]
pub struct CustomAlgorithm<'a> {
    /// Name of the algorithm's class.
    pub class: &'a str,
    /// Name of the file, for messages, and its text; `None` if the scenario names only a class, which the program has.
    pub file: Option<(&'a str, &'a str)>,
    /// Arguments of the class's constructor: a JSON object.
    pub parameters: serde_json::Value,
}

/// Interface to the program that makes algorithms which are not built in.
pub trait Algorithms {
    /// Returns the custom algorithm and its source code, or an error message.
    fn make(&self, algorithm: &CustomAlgorithm<'_>) -> Result<(Arc<dyn Factory>, String), String>;

    /// Loads a compiled congestion control module of Linux. Returns the loaded module, or an error message.
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

/// The maker for programs that cannot make any algorithm.
pub(crate) struct NoAlgorithms;

impl Algorithms for NoAlgorithms {
    fn make(&self, _: &CustomAlgorithm<'_>) -> Result<(Arc<dyn Factory>, String), String> {
        Err("algorithms written in Python run from Python only".to_string())
    }
}

/// A module of Linux as a scenario describes it.
#[derive(Debug)]
pub struct LinuxModule<'a> {
    /// Path of the object file, for messages.
    pub file: &'a Path,
    /// Contents of the object file.
    pub object: Vec<u8>,
    /// Names and values of the module's parameters in the scenario.
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

/// A loaded module of Linux.
#[derive(Debug)]
pub struct MadeModule {
    /// The module's algorithm.
    pub factory: Arc<dyn Factory>,
    /// The registered name of the module.
    pub name: String,
    /// Names and default values of the module's parameters.
    pub defaults: Vec<(String, ModuleValue)>,
}

/// An algorithm of Longhaul that runs in a QUIC stack.
#[derive(Clone, Debug)]
pub struct OwnAlgorithm {
    /// Congestion control algorithm.
    pub controller: ControllerSpec,
    /// Slow start, for algorithms that do not replace it.
    pub slow_start: SlowStart,
}

/// A QUIC stack that a program provides.
#[derive(Clone, Debug)]
pub struct FoundStack {
    /// Factory of the connections.
    pub factory: Arc<dyn StackFactory>,
    /// Name of the stack's own congestion control, even if an algorithm of Longhaul replaces it.
    pub congestion: String,
    /// Name and version of the stack, such as `quinn-proto 0.11.19`; they are part of the scenario's hash.
    pub version: String,
    /// Warnings for the user about results with this stack.
    pub warnings: Vec<String>,
}

/// Reason why a setting of a QUIC stack is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackError {
    /// Name of the setting's key.
    pub key: &'static str,
    /// Message about the wrong value, with the allowed values.
    pub message: String,
}
