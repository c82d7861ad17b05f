//! Tests of the windows of algorithms, round trip by round trip and without a network. Expected values are from RFCs,
//! response functions and ns-2.

mod any_sequence;
mod avoidance;
mod bandwidth;
mod bbr;
mod beginnings;
mod c4;
mod copa;
mod fast;
mod gentle;
mod laws;
mod ledbat;
mod low_priority;
mod marks;
mod marks_and_delays;
mod needs;
mod nist;
mod pipe;
mod recorded;
mod response_functions;
mod restated;
mod routers;
mod satellite;
mod sender;
mod short_queues;
mod slow_starts;
mod state;
mod sync;
mod table;
mod vivace;

use longhaul_congestion::rounds::Flow;
use longhaul_congestion::{
    CongestionState, ControllerSpec, Rounding, SlowStart, SlowStartSpec, Variant, Window,
};

/// Converts pairs of name and value to the parameters of a [`ControllerSpec`].
fn parameters(given: &[(&str, f64)]) -> Vec<(String, f64)> {
    given
        .iter()
        .map(|&(name, value)| (name.to_string(), value))
        .collect()
}

/// Returns the congestion control algorithm `kind` in a variant, with parameters.
fn controller(kind: &str, variant: Variant, given: &[(&str, f64)]) -> ControllerSpec {
    ControllerSpec {
        kind: kind.to_string(),
        variant,
        parameters: parameters(given),
        ..ControllerSpec::default()
    }
}

/// Returns the slow start `kind`, with `max_ssthresh` if it is given.
fn slow_start(kind: &str, max_ssthresh: Option<f64>) -> SlowStart {
    let given = max_ssthresh.map(|value| ("max_ssthresh".to_string(), value));
    SlowStartSpec {
        kind: kind.to_string(),
        parameters: given.into_iter().collect(),
    }
    .build()
    .unwrap()
}

/// Returns a flow that starts with `cwnd` and `ssthresh`; `slow_start` may lower `ssthresh`.
fn flow(spec: &ControllerSpec, slow_start: SlowStart, cwnd: f64, ssthresh: f64) -> Flow {
    let threshold = slow_start.initial_ssthresh(ssthresh);
    let window = Window::new(cwnd, threshold, 1e7, Rounding::Real);
    Flow::new(CongestionState::new(
        window,
        slow_start,
        spec.build().unwrap(),
    ))
}
