//! Tests of connections that open and close on behalf of applications.

#[path = "../common/mod.rs"]
mod common;

mod ahead;
mod delay_boxes;
mod exchanges;
mod sources;

use common::{add_source, drop_tail, dumbbell, tcp};
use longhaul_engine::Config;
use longhaul_engine::config::{
    Binding, Distribution, Process, Recovery, Requests, Source, TraceEntry,
};
use longhaul_units::{Rate, Span, Time};

const RATE: Rate = Rate::from_bps(10_000_000);
const DELAY: Span = Span::from_millis(10);

fn ms(ms: f64) -> Time {
    Time::from_secs_f64(ms / 1000.0)
}

/// Returns the transit time in milliseconds of a packet of `bytes` bytes, for [`RATE`] and [`DELAY`].
fn way(bytes: u64) -> f64 {
    10.0 + bytes as f64 * 8.0 / 10_000.0
}

fn entry(time: Time, request_bytes: u64, response_bytes: Option<u64>) -> TraceEntry {
    TraceEntry {
        after: None,
        time,
        request_bytes,
        response_bytes,
        server_delay: Span::from_millis(3),
    }
}

fn trace(entries: &[TraceEntry]) -> Source {
    Source::Trace(entries.into())
}

/// Returns requests that open a connection every `every_ms` milliseconds on average. Requests are small; responses are
/// from half a segment to many segments.
fn requests(every_ms: f64) -> Requests {
    Requests {
        arrivals: Process::Independent(Distribution::Exponential {
            mean: every_ms / 1000.0,
        }),
        request: Process::Independent(Distribution::Uniform(100.0, 3000.0)),
        response: Process::Independent(Distribution::BoundedPareto {
            min: 700.0,
            max: 200_000.0,
            shape: 1.1,
        }),
        binding: Binding::WithRequest,
        server_delay: Distribution::Uniform(0.0, 0.02),
        round_trip: Process::Independent(Distribution::Constant(0.0)),
        per_connection: Distribution::Constant(1.0),
        think: Distribution::Constant(0.0),
    }
}

fn with(source: Source, seconds: u64) -> Config {
    let mut config = dumbbell(RATE, DELAY, drop_tail(50), seconds);
    add_source(&mut config, "web", source, tcp(Recovery::Sack));
    config
}
