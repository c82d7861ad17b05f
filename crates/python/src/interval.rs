//! An interval of MesoNet, as the user's measuring functions get it.

use std::sync::Arc;

use longhaul_mesonet::config::{Config, Router};
use longhaul_mesonet::records::{
    self, ClassSample, EdgeSample, FlowState, LongLivedSample, PacketTraceRecord, QueueSample,
    RouterId, RouterSample,
};
use longhaul_units::Time;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Names of flow classes, in the order of the records.
const CLASSES: [&str; 6] = ["DD", "DF", "DN", "FF", "FN", "NN"];

/// Events of traced flows and of their packets in one interval.
#[derive(Default)]
pub(crate) struct TracedEvents {
    pub(crate) flows: Vec<FlowState>,
    pub(crate) packets: Vec<PacketTraceRecord>,
}

/// Names of routers, links and long-lived flows, and the length of an interval.
pub(crate) struct Names {
    long_lived: Vec<String>,
    backbone: Vec<String>,
    pops: Vec<String>,
    access: Vec<String>,
    links: Vec<String>,
    interval_s: f64,
}

impl Names {
    pub(crate) fn of(config: &Config) -> Self {
        let topology = &config.topology;
        let name = |router: &Router| router.name.clone();
        Self {
            long_lived: config
                .long_lived
                .iter()
                .map(|flow| flow.label.clone())
                .collect(),
            backbone: topology.backbone.iter().map(name).collect(),
            pops: topology.pops.iter().map(|pop| name(&pop.router)).collect(),
            access: topology
                .access
                .iter()
                .map(|one| name(&one.router))
                .collect(),
            links: topology
                .links
                .iter()
                .map(|link| link.name.clone())
                .collect(),
            interval_s: config.measure.every.as_secs_f64(),
        }
    }
}

/// An interval of MesoNet, as the user's measuring functions and `Latest` get it. The interval of
/// `Latest` has no traced events.
#[pyclass(frozen, module = "longhaul.mesonet")]
pub(crate) struct Interval {
    names: Arc<Names>,
    number: u64,
    end: Time,
    in_pkts: u64,
    out_pkts: u64,
    classes: [ClassSample; 6],
    long_lived: Vec<LongLivedSample>,
    backbone: Vec<RouterSample>,
    pops: Vec<RouterSample>,
    access: Vec<RouterSample>,
    edges: Vec<EdgeSample>,
    links: Vec<u64>,
    traced: TracedEvents,
}

impl Interval {
    pub(crate) fn of(
        interval: &records::Interval<'_>,
        traced: TracedEvents,
        names: Arc<Names>,
    ) -> Self {
        Self {
            names,
            traced,
            number: interval.number,
            end: interval.end,
            in_pkts: interval.packets_in,
            out_pkts: interval.packets_out,
            classes: *interval.classes,
            long_lived: interval.long_lived.to_vec(),
            backbone: interval.backbone.to_vec(),
            pops: interval.pops.to_vec(),
            access: interval.access.to_vec(),
            edges: interval.edges.to_vec(),
            links: interval.links.to_vec(),
        }
    }
}

#[pymethods]
impl Interval {
    #[getter]
    fn number(&self) -> u64 {
        self.number
    }

    #[getter]
    fn t_s(&self) -> f64 {
        self.end.as_secs_f64()
    }

    #[getter]
    fn length_s(&self) -> f64 {
        self.names.interval_s
    }

    #[getter]
    fn in_pkts(&self) -> u64 {
        self.in_pkts
    }

    #[getter]
    fn out_pkts(&self) -> u64 {
        self.out_pkts
    }

    #[getter]
    fn classes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, &CLASSES, &self.classes, class)
    }

    #[getter]
    fn long_lived<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, &self.names.long_lived, &self.long_lived, long_lived)
    }

    #[getter]
    fn backbone<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, &self.names.backbone, &self.backbone, router)
    }

    #[getter]
    fn pops<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, &self.names.pops, &self.pops, router)
    }

    #[getter]
    fn access<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, &self.names.access, &self.access, router)
    }

    #[getter]
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, &self.names.access, &self.edges, edge)
    }

    #[getter]
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, pkts) in self.names.links.iter().zip(&self.links) {
            dict.set_item(name, pkts)?;
        }
        Ok(dict)
    }

    #[getter]
    fn packets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (names, rows) = (&self.names, &self.traced.packets);
        let router = |router| match router {
            RouterId::Backbone(at) => names.backbone[at as usize].as_str(),
            RouterId::Pop(at) => names.pops[at as usize].as_str(),
            RouterId::Access(at) => names.access[at as usize].as_str(),
        };
        let dict = PyDict::new(py);
        dict.set_item("t_s", column(rows, |row| row.time.as_secs_f64()))?;
        dict.set_item("flow", column(rows, |row| row.flow))?;
        dict.set_item("kind", column(rows, |row| row.kind.name()))?;
        dict.set_item("number", column(rows, |row| row.number))?;
        dict.set_item(
            "to",
            column(rows, |row| names.access[row.to as usize].as_str()),
        )?;
        dict.set_item("event", column(rows, |row| row.event.name()))?;
        let of_queue = column(rows, |row| row.event.queue().map(|(at, _)| router(at)));
        dict.set_item("router", of_queue)?;
        let side = column(rows, |row| row.event.queue().map(|(_, side)| side.name()));
        dict.set_item("queue", side)?;
        Ok(dict)
    }

    #[getter]
    fn flow_events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (names, rows) = (&self.names, &self.traced.flows);
        let access = |at: u32| names.access[at as usize].as_str();
        let dict = PyDict::new(py);
        dict.set_item("t_s", column(rows, |row| row.time.as_secs_f64()))?;
        dict.set_item("flow", column(rows, |row| row.flow.number))?;
        dict.set_item("event", column(rows, |row| row.event.name()))?;
        dict.set_item(
            "class",
            column(rows, |row| CLASSES[row.flow.class as usize]),
        )?;
        dict.set_item("from", column(rows, |row| access(row.flow.from)))?;
        dict.set_item("to", column(rows, |row| access(row.flow.to)))?;
        dict.set_item("cwnd_pkts", column(rows, |row| row.cwnd))?;
        dict.set_item("ssthresh_pkts", column(rows, |row| row.ssthresh))?;
        dict.set_item("sent_pkts", column(rows, |row| row.sent_pkts))?;
        dict.set_item("undelivered_pkts", column(rows, |row| row.undelivered_pkts))?;
        dict.set_item("srtt_s", column(rows, |row| row.srtt.as_secs_f64()))?;
        Ok(dict)
    }
}

/// Returns the value of each row.
fn column<T, V>(rows: &[T], value: impl FnMut(&T) -> V) -> Vec<V> {
    rows.iter().map(value).collect()
}

/// Returns a dictionary from names to samples. Each sample is a dictionary of values, which `fill`
/// sets.
fn by_name<'py, T>(
    py: Python<'py>,
    names: &[impl AsRef<str>],
    samples: &[T],
    fill: fn(&T, &Bound<'py, PyDict>) -> PyResult<()>,
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (name, sample) in names.iter().zip(samples) {
        let one = PyDict::new(py);
        fill(sample, &one)?;
        all.set_item(name.as_ref(), one)?;
    }
    Ok(all)
}

fn class(sample: &ClassSample, dict: &Bound<'_, PyDict>) -> PyResult<()> {
    dict.set_item("active_flows", sample.active)?;
    dict.set_item("connecting_flows", sample.connecting)?;
    dict.set_item("initial_slow_start_flows", sample.in_initial_slow_start)?;
    dict.set_item("normal_mode_flows", sample.in_normal_mode)?;
    dict.set_item("above_threshold_flows", sample.above_threshold)?;
    dict.set_item("completed_flows", sample.completed)?;
    dict.set_item("failed_flows", sample.failed)?;
    dict.set_item("srtt_sum_s", sample.srtt_sum_s)?;
    dict.set_item("cwnd_sum_pkts", sample.cwnd_sum)?;
    dict.set_item("retransmission_sum", sample.retransmission_sum)?;
    dict.set_item("out_pkts", sample.packets_out)?;
    dict.set_item("naks", sample.naks)?;
    dict.set_item("timeouts", sample.timeouts)?;
    dict.set_item("increases", sample.increases)?;
    dict.set_item("growth_sum_pkts", sample.growth_sum)
}

fn long_lived(sample: &LongLivedSample, dict: &Bound<'_, PyDict>) -> PyResult<()> {
    dict.set_item("active", sample.active)?;
    dict.set_item("in_initial_slow_start", sample.in_initial_slow_start)?;
    dict.set_item("above_threshold", sample.above_threshold)?;
    dict.set_item("cwnd_pkts", sample.cwnd)?;
    dict.set_item("ssthresh_pkts", sample.ssthresh)?;
    dict.set_item("srtt_s", sample.srtt.as_secs_f64())?;
    dict.set_item("fast_alpha_pkts", sample.fast_alpha)?;
    dict.set_item("out_pkts", sample.packets_out)?;
    dict.set_item("naks", sample.naks)?;
    dict.set_item("timeouts", sample.timeouts)?;
    dict.set_item("increases", sample.increases)?;
    dict.set_item("growth_pkts", sample.growth)
}

fn router(sample: &RouterSample, dict: &Bound<'_, PyDict>) -> PyResult<()> {
    for (side, queue) in [("up", &sample.up), ("down", &sample.down)] {
        let QueueSample {
            waiting,
            arrived,
            forwarded,
            dropped,
        } = queue;
        dict.set_item(format!("queue_{side}_pkts"), waiting)?;
        dict.set_item(format!("arrived_{side}_pkts"), arrived)?;
        dict.set_item(format!("forwarded_{side}_pkts"), forwarded)?;
        dict.set_item(format!("dropped_{side}_pkts"), dropped)?;
    }
    dict.set_item("active_flows", sample.active_flows)?;
    dict.set_item("completed_flows", sample.completed_flows)
}

fn edge(sample: &EdgeSample, dict: &Bound<'_, PyDict>) -> PyResult<()> {
    dict.set_item("active_flows", sample.active)?;
    dict.set_item("failed_flows", sample.failed)?;
    dict.set_item("no_receivers", sample.no_receivers)?;
    dict.set_item("first_syns", sample.first_syns)?;
    dict.set_item("syns", sample.syns)?;
    dict.set_item("naks", sample.naks)?;
    dict.set_item("timeouts", sample.timeouts)?;
    dict.set_item("increases", sample.increases)
}
