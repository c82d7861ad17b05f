//! The user's measuring functions in simulations of MesoNet: Python functions that are called after
//! each interval.

use std::sync::Arc;

use longhaul_mesonet::config::Config;
use longhaul_mesonet::records::{
    self, Control, DataPackets, FlowRecord, FlowState, GoodputBatch, PacketTraceRecord, Recorder,
};
use longhaul_output::MesoNetWriter;
use longhaul_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::interval::{Interval, Names, TracedEvents};
use crate::latest::Latest;
use crate::watch::{Stop, StoppedBy};

/// Recorder that writes a run directory, and also calls the user's functions for each interval.
pub(crate) struct Measuring {
    pub(crate) writer: MesoNetWriter,
    functions: Vec<Py<PyAny>>,
    /// The user's object for the latest samples, which also stores the latest interval; `None` if
    /// the user passed none.
    latest: Option<Latest>,
    /// Names of the values that the user's `functions` returned for the first interval.
    columns: Vec<String>,
    names: Arc<Names>,
    stopped_by: StoppedBy,
    failed: bool,
    /// Records of traced flows since the last interval.
    traced: TracedEvents,
}

impl Measuring {
    pub(crate) fn new(
        writer: MesoNetWriter,
        functions: Vec<Py<PyAny>>,
        latest: Option<Latest>,
        config: &Config,
        stopped_by: StoppedBy,
    ) -> Self {
        Self {
            columns: writer.measured_names().to_vec(),
            writer,
            functions,
            latest,
            names: Arc::new(Names::of(config)),
            stopped_by,
            failed: false,
            traced: TracedEvents::default(),
        }
    }

    /// Stops the run because of a Python exception.
    fn fail(&mut self, error: PyErr) {
        self.failed = true;
        let mut stopped_by = self
            .stopped_by
            .lock()
            .expect("no thread panics while it holds the lock");
        stopped_by.get_or_insert(Stop::Raised(error));
    }

    /// Calls the user's functions with an interval, and returns their values in the order of the columns.
    fn measure(&mut self, interval: &records::Interval<'_>) -> PyResult<Vec<Option<f64>>> {
        let traced = std::mem::take(&mut self.traced);
        Python::attach(|py| {
            let seen = Bound::new(py, Interval::of(interval, traced, self.names.clone()))?;
            let mut values = vec![None; self.columns.len()];
            for function in &self.functions {
                let said = function.bind(py).call1((&seen,))?;
                for entry in said.cast::<PyMapping>()?.items()? {
                    let (name, value): (String, f64) = entry.extract()?;
                    let known = self.columns.iter().position(|column| *column == name);
                    match known {
                        Some(place) => values[place] = Some(value),
                        None if interval.number == 1 => {
                            self.columns.push(name);
                            values.push(Some(value));
                        }
                        None => {
                            let number = interval.number;
                            return Err(PyValueError::new_err(format!(
                                "`{name}` is measured in interval {number}, but not in the first; \
                                 measures have the same names in all intervals"
                            )));
                        }
                    }
                }
            }
            Ok(values)
        })
    }
}

impl Recorder for Measuring {
    fn interval(&mut self, interval: &records::Interval<'_>) {
        self.writer.interval(interval);
        if let Some(latest) = &self.latest {
            let seen = Interval::of(interval, TracedEvents::default(), self.names.clone());
            if let Err(error) = latest.keep_interval(seen) {
                self.fail(error);
            }
        }
        if self.functions.is_empty() || self.failed {
            return;
        }
        match self.measure(interval) {
            Ok(values) => self.writer.measured(interval, &self.columns, values),
            Err(error) => self.fail(error),
        }
    }

    fn batch(&mut self, batch: &GoodputBatch) {
        self.writer.batch(batch);
    }

    fn flow(&mut self, flow: &FlowRecord) {
        self.writer.flow(flow);
    }

    fn flow_state(&mut self, state: &FlowState) {
        self.writer.flow_state(state);
        if !self.functions.is_empty() {
            self.traced.flows.push(*state);
        }
    }

    fn packet(&mut self, passage: &PacketTraceRecord) {
        self.writer.packet(passage);
        if !self.functions.is_empty() {
            self.traced.packets.push(*passage);
        }
    }

    fn progress(&mut self, now: Time, data_packets: DataPackets<'_>) -> Control {
        if self.failed {
            return Control::Stop;
        }
        self.writer.progress(now, data_packets)
    }

    fn checkpoint(&mut self, state: &dyn Fn() -> Vec<u8>) {
        self.writer.checkpoint(state);
    }
}
