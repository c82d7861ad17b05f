//! Loader of the algorithms that a scenario names: Python classes, Linux modules, controllers in
//! other processes, and QUIC stacks.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul_congestion::Factory;
use longhaul_external::External;
use longhaul_modules::{Module, Parameter, Value};
use longhaul_scenario::{Algorithms, CustomAlgorithm, LinuxModule, MadeModule, ModuleValue};
#[cfg(feature = "quic")]
use longhaul_scenario::{FoundStack, OwnAlgorithm, QuicStack, StackError};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::calls::{Calls, called};
use super::class::{Algorithm, ClassDescription};
use super::controller::SharedAlgorithm;
use super::process::PROGRAM;
use super::{FAILURE, HELPER};
use crate::error::AlgorithmError;

/// Loader of the algorithms of the scenario that is being read.
pub(crate) struct Loader {
    /// Classes that the calling program passes, by name; `None` without such classes.
    pub(crate) given: Option<Py<PyDict>>,
}

impl Algorithms for Loader {
    fn make(&self, wanted: &CustomAlgorithm<'_>) -> Result<(Arc<dyn Factory>, String), String> {
        Python::attach(|py| {
            let (file, text) = wanted.file.unzip();
            let parameters = wanted.parameters.to_string();
            let given = self.given.as_ref().map(|given| given.bind(py));
            let helper = py.import(HELPER)?;
            if let Some(file) = file {
                Calls::of_this_thread().note_file(file);
            }
            let arguments = (wanted.class, file, text, parameters, given);
            let found: ClassDescription<'_> =
                called(|| helper.call_method1("load", arguments))?.extract()?;
            let source = found.source.clone();
            let algorithm: Arc<dyn Factory> =
                Arc::new(SharedAlgorithm(Arc::new(Algorithm::new(found)?)));
            Ok((algorithm, source))
        })
        .map_err(|error: PyErr| {
            Python::attach(|py| {
                let text = error.value(py).to_string();
                if error.is_instance_of::<PyKeyboardInterrupt>(py) {
                    FAILURE.set(Some(error));
                }
                text
            })
        })
    }

    fn module(&self, module: LinuxModule<'_>) -> Result<MadeModule, String> {
        let file = module.file.display();
        let parameters = module.parameters.into_iter();
        let parameters = parameters.map(|(name, value)| (name, value_of(value)));
        let loaded = Module::open(module.object, parameters.collect())
            .map_err(|reason| format!("{file}: {reason}"))?;
        let description = loaded.description();
        let defaults = description.parameters.iter();
        let defaults = defaults.filter_map(|known| Some((known.name.clone(), default_of(known)?)));
        Ok(MadeModule {
            name: description.name.clone(),
            defaults: defaults.collect(),
            factory: Arc::new(loaded),
        })
    }

    fn external(&self, address: &str) -> Result<Arc<dyn Factory>, String> {
        Ok(Arc::new(External::new(address.parse()?, PROGRAM)))
    }

    #[cfg(feature = "quic")]
    fn stack(
        &self,
        settings: &QuicStack,
        own: Option<&OwnAlgorithm>,
    ) -> Result<FoundStack, StackError> {
        #[cfg(feature = "own-stack")]
        if let Some(found) = longhaul_quic_stack::find(settings) {
            return Ok(found);
        }
        longhaul_quic::find(settings, own)
    }
}

fn value_of(value: ModuleValue) -> Value {
    match value {
        ModuleValue::Flag(flag) => Value::Flag(flag),
        ModuleValue::Whole(number) => Value::Whole(number.into()),
        ModuleValue::Real(number) => Value::Real(number),
    }
}

/// Returns the default value of a parameter; `None` for a whole number that does not fit in an `i64`.
fn default_of(parameter: &Parameter) -> Option<ModuleValue> {
    Some(match parameter.default {
        Value::Flag(flag) => ModuleValue::Flag(flag),
        Value::Whole(number) => ModuleValue::Whole(number.try_into().ok()?),
        Value::Real(number) => ModuleValue::Real(number),
    })
}

/// Returns a description of the object file `file` that `longhaul module build` made: the
/// algorithm's name, parameters with types and defaults, hooks, needs, and clock ticks per second.
#[pyfunction]
pub(crate) fn describe_module<'py>(py: Python<'py>, file: PathBuf) -> PyResult<Bound<'py, PyDict>> {
    let refuse = |reason: String| AlgorithmError::new_err(format!("{}: {reason}", file.display()));
    let contents = std::fs::read(&file).map_err(|error| refuse(error.to_string()))?;
    let module = Module::open(contents, Vec::new()).map_err(refuse)?;
    let description = module.description();
    let parameters = description.parameters.iter();
    let parameters: Vec<_> = parameters
        .map(|known| (&known.name, known.type_name(), known.default.to_string()))
        .collect();
    let told = PyDict::new(py);
    told.set_item("name", &description.name)?;
    told.set_item("parameters", parameters)?;
    told.set_item("hooks", description.hooks())?;
    told.set_item("needs", description.needs())?;
    told.set_item("hz", description.hz)?;
    Ok(told)
}
