//! The hybrid model of `longhaul-hybrid`, for `longhaul.models.hybrid`.

use longhaul_hybrid::{
    Config, Flow, FlowSample, Interval, Queue, QueueSample, SetupError, Simulation, Visit,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::ScenarioError;

/// Queues, each given by its capacity in packets per second and its buffer in packets.
type Queues = Vec<(f64, f64)>;
/// Flows, each given by its round-trip time (s), host rate (packets/s), start (s), increase (packets), decrease
/// (fraction), and path: indices of queues, with true if data pass the queue and false if acknowledgements pass it.
type Flows = Vec<(f64, f64, f64, f64, f64, Vec<(usize, bool)>)>;

/// Runs the hybrid model. Returns measurements by interval and flow, and by interval and queue.
#[pyfunction]
#[pyo3(signature = (queues, flows, *, step_s, steps_per_interval, intervals, initial_window,
    initial_ssthresh, max_ssthresh, seed))]
#[allow(clippy::too_many_arguments)] // named, from one place in Python
pub(crate) fn hybrid<'py>(
    py: Python<'py>,
    queues: Queues,
    flows: Flows,
    step_s: f64,
    steps_per_interval: u64,
    intervals: usize,
    initial_window: f64,
    initial_ssthresh: f64,
    max_ssthresh: f64,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let queues = queues
        .into_iter()
        .map(|(capacity, buffer)| Queue { capacity, buffer });
    let flows = flows
        .into_iter()
        .map(|(rtt, host_rate, start, increase, decrease, visits)| Flow {
            rtt,
            host_rate,
            start,
            increase,
            decrease,
            visits: visits
                .into_iter()
                .map(|(queue, data)| Visit { queue, data })
                .collect(),
        });
    let config = Config {
        queues: queues.collect(),
        flows: flows.collect(),
        step: step_s,
        steps_per_interval,
        initial_window,
        initial_ssthresh,
        max_ssthresh,
        seed,
    };
    let refuse = |error: SetupError| ScenarioError::new_err(error.to_string());
    let mut simulation = Simulation::new(config).map_err(refuse)?;
    let mut found = Vec::with_capacity(intervals);
    for _ in 0..intervals {
        found.push(py.detach(|| simulation.interval()));
        py.check_signals()?;
    }
    columns(py, &found)
}

/// Name of a column, and the function that reads the column's value from a sample of type `T`.
type Column<T> = (&'static str, fn(&T) -> f64);

fn columns<'py>(py: Python<'py>, found: &[Interval]) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let flows: [Column<FlowSample>; 4] = [
        ("throughput_pps", |flow| flow.throughput),
        ("rtt_s", |flow| flow.rtt),
        ("window_pkts", |flow| flow.window),
        ("reductions", |flow| f64::from(flow.reductions)),
    ];
    for (name, value) in flows {
        out.set_item(name, rows(found, |one| &one.flows, value))?;
    }
    let queues: [Column<QueueSample>; 3] = [
        ("queue_pkts", |queue| queue.waiting),
        ("served_pps", |queue| queue.served),
        ("dropped_pps", |queue| queue.dropped),
    ];
    for (name, value) in queues {
        out.set_item(name, rows(found, |one| &one.queues, value))?;
    }
    Ok(out)
}

/// Returns one measurement as an array with a row for each interval and a column for each flow or queue. `part` selects
/// flows or queues; `value` selects the measurement.
fn rows<T>(
    found: &[Interval],
    part: fn(&Interval) -> &Vec<T>,
    value: fn(&T) -> f64,
) -> Vec<Vec<f64>> {
    let row = |one| part(one).iter().map(value).collect();
    found.iter().map(row).collect()
}
