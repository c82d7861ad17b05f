//! Tests of QUIC flows in scenarios: runs repeat byte for byte, packets are lost on links only, and
//! users get error messages and warnings.

mod conservation;
mod determinism;
mod failures;
#[cfg(feature = "noq")]
mod noq;
mod scenarios;

use std::collections::BTreeMap;
use std::sync::Arc;

use longhaul_congestion::Factory;
use longhaul_engine::measure::{
    AckTrace, CapturedPacket, Control, DataPackets, Event, Exchange, FlowCounters, FlowSample,
    LinkSample, ProxySample, Recorder, Totals,
};
use longhaul_engine::simulation;
use longhaul_scenario::{
    Algorithms, CustomAlgorithm, FoundStack, OwnAlgorithm, QuicStack, Scenario, ScenarioError,
    StackError, parse_with,
};
use longhaul_units::Time;

/// A program that provides the QUIC stacks of this crate.
struct Program;

impl Algorithms for Program {
    fn make(&self, _: &CustomAlgorithm<'_>) -> Result<(Arc<dyn Factory>, String), String> {
        Err("no algorithms in Python here".to_string())
    }

    fn stack(
        &self,
        settings: &QuicStack,
        own: Option<&OwnAlgorithm>,
    ) -> Result<FoundStack, StackError> {
        longhaul_quic::find(settings, own)
    }
}

/// A scenario that tests change with overrides: a dumbbell of 10 Mbit/s, a base round trip of 40
/// ms, and one QUIC flow.
const BASE: &str = r#"
duration = "10 s"
measure = { events = true }

[topology.dumbbell]
bottleneck = { rate = "10 Mbps", delay = "20 ms", queue = { kind = "droptail", limit = "1 BDP" } }

[[flows]]
protocol = "quic"
"#;

fn try_with(overrides: &[&str]) -> Result<Scenario, ScenarioError> {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    parse_with(BASE, "base.toml", None, &overrides, &Program)
}

/// Reads [`BASE`] with overrides.
fn with(overrides: &[&str]) -> Scenario {
    try_with(overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the error message for [`BASE`] with invalid overrides.
fn refusal(overrides: &[&str]) -> String {
    match try_with(overrides) {
        Ok(_) => panic!("accepted: {overrides:?}"),
        Err(error) => error.to_string(),
    }
}

/// A recorder that stores samples, events, traces and packets, and the log of each flow's stack.
#[derive(Debug, Default, PartialEq)]
struct Records {
    flows: Vec<FlowSample>,
    links: Vec<LinkSample>,
    events: Vec<Event>,
    traces: Vec<AckTrace>,
    packets: Vec<CapturedPacket>,
    logs: BTreeMap<u32, Vec<u8>>,
}

impl Recorder for Records {
    fn flow_sample(&mut self, sample: &FlowSample) {
        self.flows.push(*sample);
    }
    fn link_sample(&mut self, sample: &LinkSample) {
        self.links.push(*sample);
    }
    fn proxy_sample(&mut self, _: &ProxySample) {}
    fn event(&mut self, event: &Event) {
        self.events.push(*event);
    }
    fn trace(&mut self, sample: &AckTrace) {
        self.traces.push(*sample);
    }
    fn exchange(&mut self, _: &Exchange) {}
    fn packet(&mut self, packet: &CapturedPacket) {
        self.packets.push(*packet);
    }
    fn stack_log(&mut self, flow: u32, text: &[u8]) {
        self.logs.entry(flow).or_default().extend_from_slice(text);
    }
    fn progress(&mut self, _: Time, _: DataPackets<'_>) -> Control {
        Control::Continue
    }
}

fn run(scenario: &Scenario) -> (Totals, Records) {
    let mut records = Records::default();
    let totals = simulation::run(scenario.config(), &mut records);
    (totals.expect("the scenario is sound"), records)
}

/// Returns the counters of the first flow over the whole run.
fn first_flow(totals: &Totals) -> &FlowCounters {
    &totals.flows[0].total
}
