//! A flow's window per round trip, without a network.

use longhaul_congestion::rounds::{Flow, Loss, Path};
use longhaul_congestion::{CongestionControl, CongestionState, Window};
use longhaul_engine::config::{Tcp, Transport};
use longhaul_units::Span;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::algorithm;
use crate::error::ScenarioError;

/// Largest window in segments, which no experiment reaches.
const CEILING: f64 = 1e9;
/// Number of round trips between two checks for a user's interruption.
const SIGNALS_EVERY: usize = 64;

/// The path of a flow, and its initial window.
pub(crate) struct Experiment {
    pub(crate) rounds: usize,
    pub(crate) rtt_s: f64,
    pub(crate) loss: Loss,
    /// Initial window in segments of a flow that starts in congestion avoidance; `None`: the flow
    /// starts in slow start.
    pub(crate) cwnd: Option<f64>,
}

/// Runs a flow without a network, round by round. Returns columns with one row per round trip, and the mean window that
/// the algorithm's response function gives for the loss probability; `None` for an algorithm without such a function.
pub(crate) fn run<'py>(
    py: Python<'py>,
    transport: &Transport,
    experiment: &Experiment,
) -> PyResult<(Bound<'py, PyDict>, Option<f64>)> {
    let refuse = |reason: &str| ScenarioError::new_err(reason.to_string());
    let Transport::Tcp(tcp) = transport else {
        return Err(refuse(
            "only a TCP flow has a window to follow without a network",
        ));
    };
    let controller = tcp.congestion.build();
    let controller = controller.map_err(|error| refuse(&error.to_string()))?;
    let rtt = Span::from_secs_f64(experiment.rtt_s);
    let loss = match experiment.loss {
        Loss::Never => 0.0,
        Loss::Every(n) => 1.0 / n as f64,
        Loss::Random { p, .. } => p,
    };
    let response = controller.response(loss, rtt);
    let window = start(tcp, experiment.cwnd);
    let mut flow = Flow::new(CongestionState::new(
        window,
        tcp.slow_start.clone(),
        controller,
    ));
    let path = Path {
        loss: experiment.loss,
        ..Path::clean(rtt)
    };
    let mut rounds = Vec::with_capacity(experiment.rounds);
    for round in flow.rounds(&path).take(experiment.rounds) {
        rounds.push(round);
        if let Some(error) = algorithm::take_failure() {
            return Err(error);
        }
        if rounds.len() % SIGNALS_EVERY == 0 {
            py.check_signals()?;
        }
    }
    let columns = PyDict::new(py);
    let starts: Vec<f64> = rounds.iter().map(|r| r.start.as_secs_f64()).collect();
    columns.set_item("start_s", starts)?;
    let cwnds: Vec<f64> = rounds.iter().map(|r| r.cwnd).collect();
    columns.set_item("cwnd_pkts", cwnds)?;
    let thresholds: Vec<f64> = rounds.iter().map(|r| r.ssthresh).collect();
    columns.set_item("ssthresh_pkts", thresholds)?;
    let sent: Vec<u64> = rounds.iter().map(|r| r.sent).collect();
    columns.set_item("sent_pkts", sent)?;
    let cuts: Vec<bool> = rounds.iter().map(|r| r.congestion).collect();
    columns.set_item("congestion", cuts)?;
    Ok((columns, response))
}

fn start(tcp: &Tcp, cwnd: Option<f64>) -> Window {
    match cwnd {
        Some(cwnd) => Window::new(cwnd, cwnd, CEILING, tcp.rounding),
        None => {
            let ssthresh = tcp.slow_start.initial_ssthresh(CEILING);
            Window::new(tcp.initial_window, ssthresh, CEILING, tcp.rounding)
        }
    }
}
