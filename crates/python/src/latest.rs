//! The latest samples of a run, for code that watches the run in progress.

use std::sync::{Arc, Mutex, MutexGuard};

use longhaul_engine::config::Config;
use longhaul_engine::measure::{
    AckTrace, CapturedPacket, Control, DataPackets, Event, Exchange, FlowSample, LinkSample,
    ProxySample, Recorder, Ticker,
};
use longhaul_units::Time;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::interval::Interval;

/// Latest samples of a run.
#[derive(Default)]
struct Samples {
    flow_names: Vec<String>,
    link_names: Vec<String>,
    flows: Vec<Option<FlowSample>>,
    links: Vec<Option<LinkSample>>,
    interval: Option<Py<Interval>>,
}

/// Object with the latest samples of a run. A caller passes it to the run, which fills it.
#[pyclass(frozen, module = "longhaul")]
#[derive(Clone, Default)]
pub(crate) struct Latest(Arc<Mutex<Samples>>);

#[pymethods]
impl Latest {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Returns the last sample of each flow, by flow name.
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let samples = self.lock();
        let all = PyDict::new(py);
        for sample in samples.flows.iter().flatten() {
            let one = PyDict::new(py);
            one.set_item("t_s", sample.time.as_secs_f64())?;
            one.set_item("cwnd_pkts", sample.cwnd)?;
            one.set_item("srtt_s", sample.srtt.as_secs_f64())?;
            one.set_item("retransmitted_pkts", sample.retransmitted_pkts)?;
            one.set_item("delivered_bytes", sample.delivered_bytes)?;
            all.set_item(&samples.flow_names[sample.flow as usize], one)?;
        }
        Ok(all)
    }

    /// Returns the last sample of each link, by link name.
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let samples = self.lock();
        let all = PyDict::new(py);
        for sample in samples.links.iter().flatten() {
            let one = PyDict::new(py);
            one.set_item("t_s", sample.time.as_secs_f64())?;
            one.set_item("queue_pkts", sample.queue_pkts)?;
            one.set_item("transmitted_bytes", sample.transmitted_bytes)?;
            one.set_item("dropped_pkts", sample.dropped_pkts)?;
            one.set_item("marked_pkts", sample.marked_pkts)?;
            all.set_item(&samples.link_names[sample.link as usize], one)?;
        }
        Ok(all)
    }

    /// Returns the last interval of a run of MesoNet; `None` before the first one.
    fn interval(&self, py: Python<'_>) -> Option<Py<Interval>> {
        self.lock().interval.as_ref().map(|one| one.clone_ref(py))
    }
}

impl Latest {
    fn lock(&self) -> MutexGuard<'_, Samples> {
        self.0
            .lock()
            .expect("no thread panics while it holds the lock")
    }

    /// Stores the names of the flows and links of a run that begins.
    fn begin(&self, config: &Config) {
        let mut samples = self.lock();
        samples.flow_names = config.flows.iter().map(|flow| flow.name.clone()).collect();
        samples.link_names = config.links.iter().map(|link| link.name.clone()).collect();
    }

    /// Stores the last interval of MesoNet.
    pub(crate) fn keep_interval(&self, interval: Interval) -> PyResult<()> {
        let kept = Python::attach(|py| Py::new(py, interval))?;
        // The previous interval is dropped after the lock is released, because dropping it may need
        // the interpreter.
        let before = self.lock().interval.replace(kept);
        drop(before);
        Ok(())
    }
}

fn keep<T>(all: &mut Vec<Option<T>>, at: u32, sample: T) {
    let at = at as usize;
    if all.len() <= at {
        all.resize_with(at + 1, || None);
    }
    all[at] = Some(sample);
}

/// Recorder that forwards the records of a run to another recorder, of type `R`, and stores the
/// latest samples.
pub(crate) struct WatchedRecorder<'a, R> {
    recorder: &'a mut R,
    latest: &'a Latest,
}

impl<'a, R> WatchedRecorder<'a, R> {
    pub(crate) fn new(recorder: &'a mut R, latest: &'a Latest, config: &Config) -> Self {
        latest.begin(config);
        Self { recorder, latest }
    }
}

impl<R: Recorder> Recorder for WatchedRecorder<'_, R> {
    fn flow_sample(&mut self, sample: &FlowSample) {
        keep(&mut self.latest.lock().flows, sample.flow, *sample);
        self.recorder.flow_sample(sample);
    }

    fn link_sample(&mut self, sample: &LinkSample) {
        keep(&mut self.latest.lock().links, sample.link, *sample);
        self.recorder.link_sample(sample);
    }

    fn proxy_sample(&mut self, sample: &ProxySample) {
        self.recorder.proxy_sample(sample);
    }

    fn event(&mut self, event: &Event) {
        self.recorder.event(event);
    }

    fn trace(&mut self, sample: &AckTrace) {
        self.recorder.trace(sample);
    }

    fn exchange(&mut self, exchange: &Exchange) {
        self.recorder.exchange(exchange);
    }

    fn packet(&mut self, packet: &CapturedPacket) {
        self.recorder.packet(packet);
    }

    fn stack_log(&mut self, flow: u32, text: &[u8]) {
        self.recorder.stack_log(flow, text);
    }

    fn progress(&mut self, now: Time, data_packets: DataPackets<'_>) -> Control {
        self.recorder.progress(now, data_packets)
    }

    fn ticker(&self) -> Ticker {
        self.recorder.ticker()
    }
}
