//! Facts that a Python algorithm gets, and the window that it changes: the classes of
//! `longhaul.congestion`.

use longhaul_congestion as congestion;
use longhaul_congestion::{Cause, Limit, Phase};
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;

/// An acknowledgement. Each flow has one such object, which each call fills with new values.
#[pyclass(module = "longhaul.congestion")]
pub(crate) struct Ack {
    pub(crate) sample: congestion::AckSample,
    pub(crate) phase: Phase,
}

#[pymethods]
impl Ack {
    #[getter]
    fn now_s(&self) -> f64 {
        self.sample.now.as_secs_f64()
    }

    #[getter]
    fn acked(&self) -> u64 {
        self.sample.acked
    }

    #[getter]
    fn credit(&self) -> f64 {
        self.sample.credit
    }

    #[getter]
    fn delivered(&self) -> u64 {
        self.sample.delivered
    }

    #[getter]
    fn lost(&self) -> u64 {
        self.sample.lost
    }

    #[getter]
    fn in_recovery(&self) -> bool {
        self.phase == Phase::Recovery
    }

    #[getter]
    fn may_grow(&self) -> bool {
        self.phase.may_grow()
    }

    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.sample.rtt.map(|rtt| rtt.as_secs_f64())
    }

    #[getter]
    fn srtt_s(&self) -> f64 {
        self.sample.srtt.as_secs_f64()
    }

    #[getter]
    fn min_rtt_s(&self) -> f64 {
        self.sample.min_rtt.as_secs_f64()
    }

    #[getter]
    fn one_way_delay_s(&self) -> Option<f64> {
        self.sample.one_way_delay.map(|delay| delay.as_secs_f64())
    }

    #[getter]
    fn ecn_echo(&self) -> bool {
        self.sample.ecn_echo
    }

    #[getter]
    fn in_flight(&self) -> u64 {
        self.sample.in_flight
    }

    #[getter]
    fn delivery_rate(&self) -> Option<f64> {
        self.sample.delivery_rate.map(|rate| rate.per_second())
    }

    #[getter]
    fn segment_bytes(&self) -> u64 {
        self.sample.segment_bytes
    }

    #[getter]
    fn limit(&self) -> &'static str {
        match self.sample.limit {
            Limit::Network => "network",
            Limit::ReceiveWindow => "receive window",
            Limit::Application => "application",
        }
    }

    #[getter]
    fn round(&self) -> u64 {
        self.sample.round
    }
}

/// A congestion signal.
#[pyclass(frozen, module = "longhaul.congestion")]
pub(crate) struct Congestion(pub(crate) congestion::Congestion);

#[pymethods]
impl Congestion {
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    #[getter]
    fn cause(&self) -> &'static str {
        match self.0.cause {
            Cause::Loss => "loss",
            Cause::Nak => "nak",
            Cause::Ecn => "ecn",
        }
    }

    #[getter]
    fn base(&self) -> f64 {
        self.0.base
    }

    #[getter]
    fn in_flight(&self) -> u64 {
        self.0.in_flight
    }

    #[getter]
    fn in_slow_start(&self) -> bool {
        self.0.in_slow_start
    }

    #[getter]
    fn first(&self) -> bool {
        self.0.first
    }
}

/// A retransmission timeout.
#[pyclass(frozen, module = "longhaul.congestion")]
pub(crate) struct Timeout(pub(crate) congestion::Timeout);

#[pymethods]
impl Timeout {
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    #[getter]
    fn base(&self) -> f64 {
        self.0.base
    }

    #[getter]
    fn keep_ssthresh(&self) -> bool {
        self.0.keep_ssthresh
    }
}

/// Window of a flow in Python: a copy that an algorithm may change during a call. The engine reads
/// the copy after the call.
#[pyclass(module = "longhaul.congestion")]
pub(crate) struct Window {
    pub(crate) inner: congestion::Window,
    /// True if the window may be changed in this call.
    pub(crate) movable: bool,
}

#[pymethods]
impl Window {
    #[getter]
    fn cwnd(&self) -> f64 {
        self.inner.cwnd()
    }

    #[setter]
    fn set_cwnd(&mut self, segments: f64) -> PyResult<()> {
        self.check(segments)?;
        self.inner.set_cwnd(segments);
        Ok(())
    }

    #[getter]
    fn ssthresh(&self) -> f64 {
        self.inner.ssthresh()
    }

    #[setter]
    fn set_ssthresh(&mut self, segments: f64) -> PyResult<()> {
        self.check(segments)?;
        self.inner.set_ssthresh(segments);
        Ok(())
    }

    #[getter]
    fn in_slow_start(&self) -> bool {
        self.inner.in_slow_start()
    }

    fn grow(&mut self, segments: f64) -> PyResult<()> {
        // The sum may be infinite although both numbers are finite.
        self.check(self.inner.cwnd() + segments)?;
        self.inner.grow(segments);
        Ok(())
    }

    fn reduce_to(&mut self, segments: f64) -> PyResult<()> {
        self.check(segments)?;
        self.inner.reduce_to(segments);
        Ok(())
    }

    fn restart(&mut self) -> PyResult<()> {
        self.check(1.0)?;
        self.inner.restart();
        Ok(())
    }

    fn exit_slow_start(&mut self) -> PyResult<()> {
        self.check(self.inner.cwnd())?;
        self.inner.exit_slow_start();
        Ok(())
    }
}

/// Largest window in segments that an algorithm may set. A larger number is treated as a mistake.
pub(crate) const MAX_CWND: f64 = 1e12;

impl Window {
    /// Checks a window or threshold that an algorithm sets. Refuses a number that is not finite, a
    /// number below 0 or above [`MAX_CWND`], and any change if the algorithm only observes. A
    /// number below the flow's lower bound is no error: [`congestion::Window`] raises it.
    fn check(&self, segments: f64) -> PyResult<()> {
        if segments.is_nan() {
            return Err(PyValueError::new_err("the window is not a number"));
        }
        if segments.is_infinite() {
            return Err(PyValueError::new_err("the window is not finite"));
        }
        if segments > MAX_CWND {
            let message = format!("a window of {segments:e} segments is above {MAX_CWND:e}");
            return Err(PyValueError::new_err(message));
        }
        if segments < 0.0 {
            let message = format!("a window of {segments} segments is below 0");
            return Err(PyValueError::new_err(message));
        }
        if !self.movable {
            let message = "`observe` may not move the window";
            return Err(PyAttributeError::new_err(message));
        }
        Ok(())
    }
}
