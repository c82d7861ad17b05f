//! Congestion control written in Python: found in a file or handed over as a class, and called for
//! each flow from the simulation's thread, which holds the interpreter's lock only meanwhile.
//!
//! `longhaul.algorithm` finds and checks the class; here it becomes a controller like any other.

use std::cell::{Cell, OnceCell, RefCell};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use longhaul_congestion as congestion;
use longhaul_congestion::{CongestionControl, Factory, Idle, Needs, Phase, Phases};
use longhaul_external::{External, PATIENCE, Program};
use longhaul_modules::{Module, Parameter, Value};
use longhaul_scenario::{Algorithms, CustomAlgorithm, LinuxModule, MadeModule, ModuleValue};
#[cfg(feature = "quic")]
use longhaul_scenario::{FoundStack, OwnAlgorithm, QuicStack, StackError};
use longhaul_units::{Rate, Time};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::AlgorithmError;
use crate::facts::{Ack, Congestion, MAX_CWND, Timeout, Window};
use crate::limit::TimeLimit;

/// The Python half.
const HELPER: &str = "longhaul.algorithm";

thread_local! {
    /// Error that ended the run in this thread. A simulation stays in the thread that it began in.
    static FAILURE: RefCell<Option<PyErr>> = const { RefCell::new(None) };
    static LIMIT: RefCell<Option<TimeLimit>> = const { RefCell::new(None) };
    static CALLS: Arc<Calls> = Arc::default();
}

/// The calls of algorithms by one thread, as others may look at them.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// Odd within a call.
    number: AtomicU64,
    files: Mutex<Vec<String>>,
}

impl Calls {
    /// Returns the calls of this thread.
    pub(crate) fn of_this_thread() -> Arc<Self> {
        CALLS.with(Arc::clone)
    }

    /// Returns the number of the call that the thread is in; none outside calls.
    pub(crate) fn current(&self) -> Option<u64> {
        let number = self.number.load(Ordering::Relaxed);
        (number % 2 == 1).then_some(number)
    }

    /// Returns the files of the algorithms of this thread.
    pub(crate) fn files(&self) -> Vec<String> {
        let files = self.files.lock();
        files
            .expect("no thread panics while it holds the lock")
            .clone()
    }

    fn note_file(&self, file: &str) {
        let files = self.files.lock();
        let mut files = files.expect("no thread panics while it holds the lock");
        if !files.iter().any(|known| known == file) {
            files.push(file.to_string());
        }
    }

    /// Counts the beginning or the end of a call.
    fn count(&self) {
        // Only its own thread writes it.
        let number = self.number.load(Ordering::Relaxed);
        self.number.store(number + 1, Ordering::Relaxed);
    }
}

/// Runs a function that counts as a call of an algorithm.
fn called<T>(act: impl FnOnce() -> T) -> T {
    CALLS.with(|calls| calls.count());
    let done = act();
    CALLS.with(|calls| calls.count());
    done
}

/// Ends the call that a thread of Python is in. To be called with the interpreter's lock, so that the thread is not
/// about to leave it.
pub(crate) fn interrupt(py: Python<'_>, thread: &Py<PyAny>) -> PyResult<()> {
    py.import(HELPER)?.call_method1("interrupt", (thread,))?;
    Ok(())
}

/// Takes back an interruption that came too late.
pub(crate) fn forget_interruption(py: Python<'_>, thread: &Py<PyAny>) -> PyResult<()> {
    py.import(HELPER)?
        .call_method1("forget_interruption", (thread,))?;
    Ok(())
}

/// Ends the run of this thread with an error, unless it ends with an earlier one.
fn fail(error: PyErr) {
    FAILURE.with_borrow_mut(|failure| {
        failure.get_or_insert(error);
    });
}

/// Takes the exception that an algorithm in Python raised in this thread.
pub(crate) fn take_failure() -> Option<PyErr> {
    FAILURE.with_borrow_mut(Option::take)
}

/// Returns true if an algorithm in Python has raised an exception in this thread.
pub(crate) fn has_failed() -> bool {
    FAILURE.with_borrow(Option::is_some)
}

/// Methods that a class may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
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
const METHODS: [&str; 8] = [
    "on_ack",
    "observe",
    "on_congestion",
    "on_timeout",
    "on_recovery_exit",
    "on_round",
    "on_idle",
    "pacing_rate",
];

/// Loader of classes for a scenario that is being read.
pub(crate) struct Loader {
    /// Classes handed over by the program, by name.
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
                CALLS.with(|calls| calls.note_file(file));
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

/// Returns the default of a parameter, unless it is larger than numbers of scenarios.
fn default_of(parameter: &Parameter) -> Option<ModuleValue> {
    Some(match parameter.default {
        Value::Flag(flag) => ModuleValue::Flag(flag),
        Value::Whole(number) => ModuleValue::Whole(number.try_into().ok()?),
        Value::Real(number) => ModuleValue::Real(number),
    })
}

/// Describes an object of `longhaul module build`: its name, its parameters with types and defaults, its hooks and needs.
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

/// Refuses an address without a controller, or with one that does not know the protocol.
#[pyfunction]
pub(crate) fn check_controller(py: Python<'_>, address: &str) -> PyResult<()> {
    let checked = py.detach(|| longhaul_external::check(&address.parse()?, PROGRAM));
    checked.map_err(|what| take_failure().unwrap_or_else(|| AlgorithmError::new_err(what)))
}

/// Reactions of a run to a controller in another process that fails or does not answer.
const PROGRAM: Program = Program {
    failed: |message| fail(AlgorithmError::new_err(message)),
    stops_waiting: || {
        let limit_is_over =
            LIMIT.with_borrow(|limit| limit.as_ref().is_some_and(TimeLimit::is_over));
        let interrupted = Python::attach(|py| py.check_signals());
        if let Err(error) = interrupted {
            fail(error);
        } else if limit_is_over {
            let message =
                "a controller in another process had not answered when the time limit was reached";
            fail(AlgorithmError::new_err(message));
        } else {
            return false;
        }
        true
    },
    patience: PATIENCE,
};

/// Notes the limit of the run that this thread does, for controllers in other processes.
pub(crate) fn note_limit(limit: Option<TimeLimit>) {
    LIMIT.set(limit);
}

/// Description of an algorithm's class by the Python half.
#[derive(FromPyObject)]
struct ClassDescription<'py> {
    name: String,
    make: Bound<'py, PyAny>,
    parameters: Bound<'py, PyDict>,
    methods: Vec<String>,
    phases: String,
    file: String,
    source: String,
}

/// A class, with the arguments of its constructor.
#[derive(Debug)]
struct Algorithm {
    name: String,
    class: Py<PyAny>,
    parameters: Py<PyDict>,
    /// True for those of [`METHODS`] that the class defines itself.
    has: [bool; METHODS.len()],
    phases: Phases,
    /// File of its source, for messages.
    file: String,
}

impl Algorithm {
    fn new(found: ClassDescription<'_>) -> PyResult<Self> {
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

    /// Creates a flow's own object.
    fn begin(&self, py: Python<'_>) -> PyResult<Instance> {
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

#[derive(Debug)]
struct SharedAlgorithm(Arc<Algorithm>);

impl Factory for SharedAlgorithm {
    fn make(&self) -> Box<dyn CongestionControl> {
        Box::new(Controller::new(Arc::clone(&self.0)))
    }
}

/// Object of one flow: its methods, and their arguments, filled anew for each call.
#[derive(Debug)]
struct Instance {
    methods: [Option<Py<PyAny>>; METHODS.len()],
    ack: OnceCell<Py<Ack>>,
    window: OnceCell<Py<Window>>,
}

/// An algorithm in Python as the simulation sees it.
#[derive(Debug)]
struct Controller {
    algorithm: Arc<Algorithm>,
    /// The instance, created at the first call.
    instance: OnceCell<Instance>,
    /// Time of the last call.
    now: Time,
    /// Segments per round trip, for an algorithm that is asked once a round trip.
    increase: f64,
    /// True once the algorithm has raised an exception: it is not called again, and the run ends.
    failed: Cell<bool>,
}

impl Clone for Controller {
    /// Creates a new controller: flows start from copies of a controller that has had no call, and make their objects
    /// themselves.
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.algorithm))
    }
}

/// Arguments of a method other than the window.
enum Fact<'a> {
    Ack(&'a congestion::AckSample, Phase),
    Congestion(&'a congestion::Congestion),
    Timeout(&'a congestion::Timeout),
    Seconds(f64),
}

impl Controller {
    fn new(algorithm: Arc<Algorithm>) -> Self {
        Self {
            algorithm,
            instance: OnceCell::new(),
            now: Time::ZERO,
            increase: 0.0,
            failed: Cell::new(false),
        }
    }

    #[inline]
    fn has(&self, method: Method) -> bool {
        self.algorithm.has[method as usize]
    }

    /// Returns true if the algorithm moves the window in this phase.
    fn moves_window(&self, phase: Phase) -> bool {
        match self.algorithm.phases {
            Phases::Avoidance => phase == Phase::Avoidance,
            Phases::SlowStart => phase.may_grow(),
            Phases::All => true,
        }
    }

    /// Processes an acknowledgement in one of the algorithm's phases.
    fn grow(&mut self, ack: &congestion::AckSample, phase: Phase, window: &mut congestion::Window) {
        if self.has(Method::OnAck) {
            self.tell(Method::OnAck, &Fact::Ack(ack, phase), window);
        } else if self.increase != 0.0 {
            let increment = self.increase * ack.credit / window.cwnd();
            if window.cwnd() + increment <= MAX_CWND {
                window.grow(increment);
            } else {
                let wrong =
                    PyValueError::new_err("the window is not finite, or above 1e12 segments");
                self.attached::<()>(Method::OnRound, |_| Err(wrong));
            }
        }
    }

    /// Processes the first acknowledgement of a round trip.
    fn on_round(
        &mut self,
        ack: &congestion::AckSample,
        phase: Phase,
        window: &mut congestion::Window,
    ) {
        if !self.has(Method::OnRound) {
            return;
        }
        let Some(increase) = self.tell(Method::OnRound, &Fact::Ack(ack, phase), window) else {
            return;
        };
        let wrong = if increase.is_some() && self.has(Method::OnAck) {
            Some(PyTypeError::new_err(
                "on_round returns an increase, but on_ack moves the window",
            ))
        } else if increase.is_some_and(|increase| !increase.is_finite()) {
            Some(PyValueError::new_err(
                "expected a finite number from on_round",
            ))
        } else if increase.is_some_and(|increase| window.cwnd() + increase < 0.0) {
            Some(PyValueError::new_err(format!(
                "on_round takes {} segments off a window of {}",
                -increase.unwrap_or(0.0),
                window.cwnd()
            )))
        } else {
            None
        };
        if let Some(wrong) = wrong {
            self.attached::<()>(Method::OnRound, |_| Err(wrong));
        } else {
            self.increase = increase.unwrap_or(0.0);
        }
    }

    fn instance(&self, py: Python<'_>) -> PyResult<&Instance> {
        if let Some(instance) = self.instance.get() {
            return Ok(instance);
        }
        let instance = self.algorithm.begin(py)?;
        Ok(self.instance.get_or_init(|| instance))
    }

    /// Calls a method with a fact and the window, which it may move unless it only observes.
    fn tell(
        &self,
        method: Method,
        fact: &Fact<'_>,
        window: &mut congestion::Window,
    ) -> Option<Option<f64>> {
        self.attached(method, |py| {
            let instance = self.instance(py)?;
            let movable = method != Method::Observe;
            let lent = lend(py, instance, window, movable)?;
            let fact = instance.fact(py, fact)?;
            let returned = bound(instance, method).call1(py, (fact, lent))?;
            if movable {
                *window = lent.borrow(py).inner;
            }
            // Only this one has an answer.
            if method == Method::OnRound {
                returned.extract(py)
            } else {
                Ok(None)
            }
        })
    }

    /// Does something with Python, unless the algorithm has failed; if it fails now, the run ends.
    fn attached<T>(
        &self,
        method: Method,
        act: impl FnOnce(Python<'_>) -> PyResult<T>,
    ) -> Option<T> {
        if self.failed.get() {
            return None;
        }
        Python::attach(|py| match called(|| act(py)) {
            Ok(value) => Some(value),
            Err(error) => {
                self.failed.set(true);
                fail(self.explained(py, error, method));
                None
            }
        })
    }

    /// Returns the exception with file, line and simulated time in its message. The user's interruption stays one.
    fn explained(&self, py: Python<'_>, error: PyErr, method: Method) -> PyErr {
        let place = format!("{}.{}", self.algorithm.name, METHODS[method as usize]);
        let (file, now) = (&self.algorithm.file, self.now.as_secs_f64());
        // Unlike `value`, this gives the exception its traceback.
        let raised = error.clone_ref(py).into_value(py);
        let text = py
            .import(HELPER)
            .and_then(|helper| helper.call_method1("explain", (raised, file, place, now)))
            .and_then(|text| text.extract::<String>());
        let explained = match text {
            Ok(text) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
                PyErr::from_type(error.get_type(py), text)
            }
            Ok(text) => AlgorithmError::new_err(text),
            Err(other) => other,
        };
        explained.set_cause(py, Some(error));
        explained
    }
}

/// Lends the window to Python.
fn lend<'a>(
    py: Python<'_>,
    instance: &'a Instance,
    window: &congestion::Window,
    movable: bool,
) -> PyResult<&'a Py<Window>> {
    if let Some(lent) = instance.window.get() {
        let mut lent = lent.borrow_mut(py);
        lent.inner = *window;
        lent.movable = movable;
    } else {
        let inner = *window;
        let fresh = Py::new(py, Window { inner, movable })?;
        let _ = instance.window.set(fresh);
    }
    Ok(instance.window.get().expect("set above"))
}

fn bound(instance: &Instance, method: Method) -> &Py<PyAny> {
    let bound = instance.methods[method as usize].as_ref();
    bound.expect("only methods that the class has are called")
}

impl Instance {
    fn fact<'py>(&self, py: Python<'py>, fact: &Fact<'_>) -> PyResult<Bound<'py, PyAny>> {
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
}

impl CongestionControl for Controller {
    fn phases(&self) -> Phases {
        self.algorithm.phases
    }

    fn on_ack(
        &mut self,
        ack: &congestion::AckSample,
        phase: Phase,
        window: &mut congestion::Window,
    ) {
        self.now = ack.now;
        if ack.round_start {
            self.on_round(ack, phase, window);
        }
        if self.has(Method::Observe) && self.algorithm.phases != Phases::All {
            let mut copy = *window;
            self.tell(Method::Observe, &Fact::Ack(ack, phase), &mut copy);
        }
        if self.moves_window(phase) {
            self.grow(ack, phase, window);
        }
    }

    fn on_handshake(&mut self, ack: &congestion::AckSample, window: &mut congestion::Window) {
        self.now = ack.now;
        self.on_round(ack, Phase::NoGrowth, window);
    }

    fn on_congestion(&mut self, event: &congestion::Congestion, window: &mut congestion::Window) {
        self.now = event.now;
        if self.has(Method::OnCongestion) {
            self.tell(Method::OnCongestion, &Fact::Congestion(event), window);
        } else {
            window.reduce_to(event.base / 2.0);
        }
    }

    fn on_timeout(&mut self, event: &congestion::Timeout, window: &mut congestion::Window) {
        self.now = event.now;
        if self.has(Method::OnTimeout) {
            self.tell(Method::OnTimeout, &Fact::Timeout(event), window);
        } else {
            congestion::restart(event, window);
        }
    }

    fn on_recovery_exit(&mut self, now: Time, window: &mut congestion::Window) {
        self.now = now;
        if self.has(Method::OnRecoveryExit) {
            let fact = Fact::Seconds(now.as_secs_f64());
            self.tell(Method::OnRecoveryExit, &fact, window);
        }
    }

    fn on_idle(&mut self, idle: &Idle, window: &mut congestion::Window) {
        if self.has(Method::OnIdle) {
            let fact = Fact::Seconds(idle.time.as_secs_f64());
            self.tell(Method::OnIdle, &fact, window);
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            delivery_rate: true,
            ..Needs::RTT
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        if !self.has(Method::PacingRate) {
            return None;
        }
        self.attached(Method::PacingRate, |py| {
            let instance = self.instance(py)?;
            let rate: Option<f64> = bound(instance, Method::PacingRate).call0(py)?.extract(py)?;
            match rate {
                Some(bps) if !(1.0..1e18).contains(&bps) => Err(PyValueError::new_err(format!(
                    "expected a pacing rate of 1 to 1e18 bit/s or None, found {bps}"
                ))),
                rate => Ok(rate.map(|bps| Rate::from_bps(bps as u64))),
            }
        })?
    }
}
