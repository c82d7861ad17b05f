//! The congestion controller of flows with an algorithm written in Python.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use longhaul_congestion as congestion;
use longhaul_congestion::{CongestionControl, Factory, Idle, Needs, Phase, Phases};
use longhaul_units::{Rate, Time};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::calls::called;
use super::class::{Algorithm, Fact, Instance, METHODS, Method};
use super::{HELPER, fail};
use crate::error::AlgorithmError;
use crate::facts::MAX_CWND;

/// Factory of the controllers that run a user's Python class.
#[derive(Debug)]
pub(super) struct SharedAlgorithm(pub(super) Arc<Algorithm>);

impl Factory for SharedAlgorithm {
    fn make(&self) -> Box<dyn CongestionControl> {
        Box::new(Controller::new(Arc::clone(&self.0)))
    }
}

/// Congestion controller of one flow, which calls the algorithm in Python.
#[derive(Debug)]
struct Controller {
    algorithm: Arc<Algorithm>,
    /// The flow's Python object, created at the first call.
    instance: OnceCell<Instance>,
    /// Simulated time of the last event, for messages. `on_idle` and `pacing_rate` do not set it.
    now: Time,
    /// Growth of the window in segments per round trip, for an algorithm that is called once per round trip.
    increase: f64,
    /// True after the algorithm raised an exception: it is not called again, and the run ends.
    failed: Cell<bool>,
}

impl Clone for Controller {
    /// Creates a controller of the same algorithm, without an object of the user's class. Each flow
    /// creates its own object later.
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.algorithm))
    }
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

    /// Returns true if an acknowledgement in `phase` may change the window, by `on_ack` or by the
    /// increase that `on_round` returned. `on_round` itself may change the window in all phases.
    fn moves_window(&self, phase: Phase) -> bool {
        match self.algorithm.phases {
            Phases::Avoidance => phase == Phase::Avoidance,
            Phases::SlowStart => phase.may_grow(),
            Phases::All => true,
        }
    }

    /// Processes an acknowledgement that may change the window.
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

    /// Calls `on_round` for the first acknowledgement of a round trip or for the handshake's, and
    /// stores the increase that it returns. An invalid increase ends the run.
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

    /// Calls the Python method `method` with the arguments `fact` and `window`. Every method except
    /// `observe` may change the window. Returns `None` if the algorithm has failed, otherwise the
    /// increase that `on_round` returned (`Some(None)` without an increase).
    fn tell(
        &self,
        method: Method,
        fact: &Fact<'_>,
        window: &mut congestion::Window,
    ) -> Option<Option<f64>> {
        self.attached(method, |py| {
            let instance = self.instance(py)?;
            let movable = method != Method::Observe;
            let lent = instance.lend(py, window, movable)?;
            let fact = instance.fact(py, fact)?;
            let returned = instance.bound(method).call1(py, (fact, lent))?;
            if movable {
                *window = lent.borrow(py).inner;
            }
            // Only this method returns a value.
            if method == Method::OnRound {
                returned.extract(py)
            } else {
                Ok(None)
            }
        })
    }

    /// Calls `act` with the interpreter's lock and returns its result. If `act` raises an exception,
    /// the run ends; this call and all later ones return `None`.
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

    /// Returns an exception with the file, the line and the simulated time in its message, caused
    /// by `error`. It is an `AlgorithmError`, or a `KeyboardInterrupt` if the user interrupted.
    fn explained(&self, py: Python<'_>, error: PyErr, method: Method) -> PyErr {
        let place = format!("{}.{}", self.algorithm.name, METHODS[method as usize]);
        let (file, now) = (&self.algorithm.file, self.now.as_secs_f64());
        // Unlike `value`, this call adds the traceback to the exception.
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
        self.now = idle.now;
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
            let rate: Option<f64> = instance.bound(Method::PacingRate).call0(py)?.extract(py)?;
            match rate {
                Some(bps) if !(1.0..1e18).contains(&bps) => Err(PyValueError::new_err(format!(
                    "expected a pacing rate of 1 to 1e18 bit/s or None, found {bps}"
                ))),
                rate => Ok(rate.map(|bps| Rate::from_bps(bps as u64))),
            }
        })?
    }
}
