//! A user's class: its methods, its parameters, and the objects that flows create from it.

use std::cell::OnceCell;

use longhaul_congestion as congestion;
use longhaul_congestion::{Phase, Phases};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::facts::{Ack, Congestion, Timeout, Window};

/// The methods that a class may define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    OnAck,
    Observe,
    OnCongestion,
    OnTimeout,
    OnRecoveryExit,
    OnRound,
    OnIdle,
    PacingRate,
}

/// Names of the methods, in the order of [`Method`].
pub(super) const METHODS: [&str; 8] = [
    "on_ack",
    "observe",
    "on_congestion",
    "on_timeout",
    "on_recovery_exit",
    "on_round",
    "on_idle",
    "pacing_rate",
];

/// Description of an algorithm's class, as the Python module `longhaul.algorithm` gives it.
#[derive(FromPyObject)]
pub(super) struct ClassDescription<'py> {
    name: String,
    make: Bound<'py, PyAny>,
    parameters: Bound<'py, PyDict>,
    methods: Vec<String>,
    phases: String,
    file: String,
    pub(super) source: String,
}

/// A user's class, with the arguments of its constructor.
#[derive(Debug)]
pub(super) struct Algorithm {
    pub(super) name: String,
    class: Py<PyAny>,
    parameters: Py<PyDict>,
    /// For each entry of [`METHODS`], true if the class or one of its bases overrides this
    /// method of `CongestionControl`.
    pub(super) has: [bool; METHODS.len()],
    pub(super) phases: Phases,
    /// Source file of the class, for messages.
    pub(super) file: String,
}

impl Algorithm {
    pub(super) fn new(found: ClassDescription<'_>) -> PyResult<Self> {
        Ok(Self {
            has: METHODS.map(|name| found.methods.iter().any(|method| method == name)),
            phases: match found.phases.as_str() {
                "slow start" => Phases::SlowStart,
                "all" => Phases::All,
                _ => Phases::Avoidance,
            },
            name: found.name,
            class: found.make.unbind(),
            parameters: found.parameters.unbind(),
            file: found.file,
        })
    }

    /// Creates the Python object of a new flow.
    pub(super) fn begin(&self, py: Python<'_>) -> PyResult<Instance> {
        let object = self
            .class
            .bind(py)
            .call((), Some(self.parameters.bind(py)))?;
        let mut methods = [const { None }; METHODS.len()];
        for ((slot, name), has) in methods.iter_mut().zip(METHODS).zip(self.has) {
            if has {
                *slot = Some(object.getattr(name)?.unbind());
            }
        }
        Ok(Instance {
            methods,
            ack: OnceCell::new(),
            window: OnceCell::new(),
        })
    }
}

/// Algorithm object of one flow: its bound methods, and the objects for acknowledgements and the
/// window, which all calls reuse. Each congestion signal and timeout gets a new object.
#[derive(Debug)]
pub(super) struct Instance {
    methods: [Option<Py<PyAny>>; METHODS.len()],
    ack: OnceCell<Py<Ack>>,
    window: OnceCell<Py<Window>>,
}

/// Argument that a method of the user's algorithm gets in addition to the window.
pub(super) enum Fact<'a> {
    Ack(&'a congestion::AckSample, Phase),
    Congestion(&'a congestion::Congestion),
    Timeout(&'a congestion::Timeout),
    Seconds(f64),
}

impl Instance {
    /// Returns the Python object for a fact.
    pub(super) fn fact<'py>(
        &self,
        py: Python<'py>,
        fact: &Fact<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(match fact {
            &Fact::Ack(&sample, phase) => {
                if let Some(filled) = self.ack.get() {
                    *filled.borrow_mut(py) = Ack { sample, phase };
                } else {
                    let _ = self.ack.set(Py::new(py, Ack { sample, phase })?);
                }
                let filled = self.ack.get().expect("set above");
                filled.bind(py).clone().into_any()
            }
            Fact::Congestion(event) => Bound::new(py, Congestion(**event))?.into_any(),
            Fact::Timeout(event) => Bound::new(py, Timeout(**event))?.into_any(),
            Fact::Seconds(seconds) => seconds.into_pyobject(py)?.into_any(),
        })
    }

    /// Copies `window` into the flow's Python object for the window, and returns this object.
    pub(super) fn lend(
        &self,
        py: Python<'_>,
        window: &congestion::Window,
        movable: bool,
    ) -> PyResult<&Py<Window>> {
        let inner = *window;
        if let Some(lent) = self.window.get() {
            *lent.borrow_mut(py) = Window { inner, movable };
        } else {
            let _ = self.window.set(Py::new(py, Window { inner, movable })?);
        }
        Ok(self.window.get().expect("set above"))
    }

    /// Returns the bound method `method` of the flow's object. The class must define the method.
    pub(super) fn bound(&self, method: Method) -> &Py<PyAny> {
        let bound = self.methods[method as usize].as_ref();
        bound.expect("only methods that the class has are called")
    }
}
