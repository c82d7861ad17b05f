//! A scenario as a Python object: checked, resolved, ready to run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_congestion::rounds::Loss;
use longhaul_engine::Graph;
use longhaul_engine::config::Flow;
use longhaul_engine::queue::Capacity;
use longhaul_scenario::Simulation;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::algorithm::{self, Loader};
use crate::call_watch::CallWatch;
use crate::emulation;
use crate::error::{EmulationError, ScenarioError};
use crate::latest::Latest;
use crate::limit::TimeLimit;
use crate::rounds::{self, Experiment};
use crate::run::{self, Options};

/// A scenario that has been checked and resolved.
#[pyclass(frozen, module = "longhaul._engine")]
pub(crate) struct Scenario {
    inner: longhaul_scenario::Scenario,
}

#[pymethods]
impl Scenario {
    /// Reads a scenario file with `key=value` overrides. `algorithms` contains the Python classes that
    /// the scenario may name.
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Vec::new(), algorithms = None, limit = None))]
    fn load(
        py: Python<'_>,
        path: &str,
        overrides: Vec<String>,
        algorithms: Option<Py<PyDict>>,
        limit: Option<Py<TimeLimit>>,
    ) -> PyResult<Self> {
        let loader = Loader { given: algorithms };
        Self::checked(py, limit, || {
            longhaul_scenario::load_with(Path::new(path), &overrides, &loader)
        })
    }

    /// Reads scenario text, TOML or JSON; messages show `name` as the name of the file.
    #[staticmethod]
    #[pyo3(signature = (text, name, overrides = Vec::new(), algorithms = None, limit = None))]
    fn parse(
        py: Python<'_>,
        text: &str,
        name: &str,
        overrides: Vec<String>,
        algorithms: Option<Py<PyDict>>,
        limit: Option<Py<TimeLimit>>,
    ) -> PyResult<Self> {
        let loader = Loader { given: algorithms };
        Self::checked(py, limit, || {
            longhaul_scenario::parse_with(text, name, None, &overrides, &loader)
        })
    }

    #[getter]
    fn title(&self) -> String {
        self.inner.title()
    }

    /// Returns the hash that identifies the resolved scenario.
    #[getter]
    fn hash(&self) -> String {
        self.inner.hash()
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.inner.duration().as_secs_f64()
    }

    /// Returns the bytes of time series and captures that the run is expected to write, as far as
    /// this can be predicted; zero for a simulation of MesoNet.
    #[getter]
    fn expected_bytes(&self) -> f64 {
        self.inner.expected_bytes()
    }

    /// Returns the reason why all replications have the same results, and changes that would make
    /// them differ; `None` if anything is drawn at random.
    #[getter]
    fn nothing_drawn(&self) -> Option<&'static str> {
        self.inner.nothing_drawn()
    }

    /// Returns the names of the links; empty for a simulation of MesoNet.
    #[getter]
    fn links(&self) -> Vec<String> {
        match self.inner.simulation() {
            Simulation::Tcp(config) => config.links.iter().map(|link| link.name.clone()).collect(),
            Simulation::MesoNet(_) => Vec::new(),
        }
    }

    /// Returns the limit of each link's queue: a number, and true if it counts packets, false for
    /// bytes. Empty for a simulation of MesoNet.
    #[getter]
    fn buffers(&self) -> Vec<(u64, bool)> {
        let Simulation::Tcp(config) = self.inner.simulation() else {
            return Vec::new();
        };
        let limits = config.links.iter().map(|link| link.queue.limit());
        let buffer = |limit| match limit {
            Capacity::Packets(packets) => (packets, true),
            Capacity::Bytes(bytes) => (bytes, false),
        };
        limits.map(buffer).collect()
    }

    /// Returns the name of each flow, and the indices of the links on the path of its data, in
    /// order. Empty for a simulation of MesoNet.
    #[getter]
    fn routes(&self) -> Vec<(String, Vec<usize>)> {
        let Simulation::Tcp(config) = self.inner.simulation() else {
            return Vec::new();
        };
        let links = config.links.iter();
        let links = links.map(|link| (link.from, link.to, link.delay));
        let graph = Graph::new(config.nodes.len(), links);
        // The path of a proxy's connection is from its first node to its second.
        let route = |flow: &Flow| {
            let mut stops = vec![flow.from];
            if let Some(proxy) = flow.via.map(|proxy| &config.proxies[proxy]) {
                stops.extend([proxy.start, proxy.end]);
            }
            stops.push(flow.to);
            let legs = stops.windows(2).map(|ends| (ends[0], ends[1]));
            let ways = legs.filter_map(|(from, to)| graph.shortest_path(from, to));
            ways.flatten().collect()
        };
        let flows = config.flows.iter();
        flows.map(|flow| (flow.name.clone(), route(flow))).collect()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings().to_vec()
    }

    /// Returns the resolved scenario as JSON, with every default filled in.
    fn resolved_json(&self) -> String {
        self.inner.resolved_json().to_string()
    }

    /// Returns the path, the value and the origin of every value.
    fn explain(&self) -> Vec<(String, String, String)> {
        let rows = self.inner.explain().into_iter();
        rows.map(|row| (row.path, row.value, row.origin)).collect()
    }

    /// Computes the congestion window of the scenario's first flow in each round trip, without a
    /// network. Returns columns with one row per round trip, and the mean window that the algorithm's
    /// response function gives, if any. `loss` is a probability and the seed of random losses.
    #[pyo3(signature = (rounds, *, rtt_s, loss_every = None, loss = None, cwnd = None))]
    fn rounds<'py>(
        &self,
        py: Python<'py>,
        rounds: usize,
        rtt_s: f64,
        loss_every: Option<u64>,
        loss: Option<(f64, u64)>,
        cwnd: Option<f64>,
    ) -> PyResult<(Bound<'py, PyDict>, Option<f64>)> {
        let loss = match (loss_every, loss) {
            (Some(n), _) => Loss::Every(n),
            (None, Some((p, seed))) => Loss::Random { p, seed },
            (None, None) => Loss::Never,
        };
        let experiment = Experiment {
            rounds,
            rtt_s,
            loss,
            cwnd,
        };
        let Simulation::Tcp(config) = self.inner.simulation() else {
            let message = "a scenario of MesoNet has no flow to take rounds of";
            return Err(ScenarioError::new_err(message));
        };
        let flow = &config.flows[0];
        rounds::run(py, &flow.transport, &experiment)
    }

    /// Simulates the scenario, and writes a run directory to `out`. Three arguments are only for
    /// MesoNet: functions `measures` that get each interval; `checkpoint_every_s`, the wall-clock
    /// time between checkpoints, from which the same call resumes; and `threads`, which does not
    /// affect results. Returns the directory, and the exception that stopped the run, if any.
    #[pyo3(signature = (
        out, *, progress = None, measures = Vec::new(), overwrite = false,
        checkpoint_every_s = None, limit = None, memory_bytes = None, latest = None, threads = 1
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of one function in Python"
    )]
    fn run(
        &self,
        py: Python<'_>,
        out: PathBuf,
        progress: Option<Py<PyAny>>,
        measures: Vec<Py<PyAny>>,
        overwrite: bool,
        checkpoint_every_s: Option<f64>,
        limit: Option<Py<TimeLimit>>,
        memory_bytes: Option<u64>,
        latest: Option<Py<Latest>>,
        threads: usize,
    ) -> PyResult<(PathBuf, Option<PyErr>)> {
        let options = Options {
            progress,
            measures,
            overwrite,
            checkpoint_every: duration(checkpoint_every_s, "the time between two checkpoints")?,
            limit: limit.map(|limit| limit.get().clone()),
            memory: memory_bytes,
            latest: latest.map(|latest| latest.get().clone()),
            threads,
        };
        let ended = py.detach(|| run::run(&self.inner, &out, options))?;
        Ok((ended.directory, ended.raised))
    }

    /// Returns the names of the nodes; empty for a simulation of MesoNet.
    #[getter]
    fn nodes(&self) -> Vec<String> {
        match self.inner.simulation() {
            Simulation::Tcp(config) => config.nodes.clone(),
            Simulation::MesoNet(_) => Vec::new(),
        }
    }

    /// Returns the names of the sending and the receiving node of the first flow.
    #[getter]
    fn ends(&self) -> PyResult<(String, String)> {
        let Simulation::Tcp(config) = self.inner.simulation() else {
            let message = "a scenario of MesoNet has no nodes of its own";
            return Err(EmulationError::new_err(message));
        };
        let flow = &config.flows[0];
        let name = |node: usize| config.nodes[node].clone();
        Ok((name(flow.from), name(flow.to)))
    }

    /// Emulates the network between hosts at `nodes`, and runs programs in them. Each program has
    /// the index of its host, its command line, and true if it is in the foreground. Writes a run
    /// directory to `out`. Returns the directory; facts about the emulation as JSON; the error of
    /// writing to `out`, if another directory had to be used; and the exception that stopped the
    /// emulation, if any.
    #[pyo3(signature = (
        out, *, nodes, programs, background = false, sysctls = Vec::new(), pcap = None, overwrite = false
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of one function in Python"
    )]
    fn emulate(
        &self,
        py: Python<'_>,
        out: PathBuf,
        nodes: Vec<String>,
        programs: Vec<(usize, Vec<String>, bool)>,
        background: bool,
        sysctls: Vec<(String, String)>,
        pcap: Option<PathBuf>,
        overwrite: bool,
    ) -> PyResult<(PathBuf, String, Option<String>, Option<PyErr>)> {
        let wanted = emulation::Wanted {
            nodes,
            programs,
            background,
            sysctls,
            pcap,
            overwrite,
        };
        py.detach(|| emulation::run(&self.inner, &out, wanted))
    }
}

fn duration(seconds: Option<f64>, of: &str) -> PyResult<Option<Duration>> {
    let duration = seconds.map(Duration::try_from_secs_f64).transpose();
    duration.map_err(|error| ScenarioError::new_err(format!("{of}: {error}")))
}

impl Scenario {
    /// Reads a scenario with `read`, without the interpreter's lock; Python algorithms take the lock
    /// themselves. A watch interrupts an algorithm that still runs after the time limit.
    fn checked(
        py: Python<'_>,
        limit: Option<Py<TimeLimit>>,
        read: impl FnOnce() -> Result<longhaul_scenario::Scenario, longhaul_scenario::ScenarioError>
        + Send,
    ) -> PyResult<Self> {
        let limit = limit.map(|limit| limit.get().clone());
        let result = py.detach(|| -> PyResult<_> {
            let _watch = limit
                .map(|limit| CallWatch::start(&limit, None))
                .transpose()?;
            Ok(read())
        });
        match result? {
            Ok(inner) => Ok(Self { inner }),
            // The user may have interrupted the execution of an algorithm's file.
            Err(error) => Err(algorithm::take_failure()
                .unwrap_or_else(|| ScenarioError::new_err(error.to_string()))),
        }
    }
}
