//! run.json: where a run's tables come from and what it took to make them.

use std::time::Duration;

use longhaul_engine::RESULTS_VERSION;
use longhaul_engine::measure::Totals;
use serde::Serialize;

use crate::run_writer::RunMeta;

/// The document. Keys appear in this order.
#[derive(Debug, Serialize)]
pub(crate) struct RunJson<'a> {
    version: &'a str,
    results_version: u32,
    seed: u64,
    replication: u64,
    simulated_s: f64,
    /// Whether the run was stopped before the end of the scenario.
    stopped: bool,
    measured_from_s: f64,
    data_packets: u64,
    events: u64,
    events_pending_max: u64,
    warnings: Vec<&'a str>,
    rows: Rows,
    scenario_hash: &'a str,
    scenario: &'a serde_json::Value,
    machine: Machine,
}

/// Rows of each table and packets of the capture; nothing for files that the run does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rows {
    /// Of flows.parquet.
    pub flows: u64,
    /// Of links.parquet.
    pub links: u64,
    /// Of proxies.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxies: Option<u64>,
    /// Of series.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<u64>,
    /// Of events.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// Of exchanges.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<u64>,
    /// In packets.pcapng.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
}

/// All that may differ between two runs of the same scenario.
#[derive(Debug, Serialize)]
struct Machine {
    wall_s: f64,
    packets_per_s: f64,
    peak_memory_bytes: u64,
}

impl<'a> RunJson<'a> {
    pub(crate) fn new(
        meta: &'a RunMeta,
        totals: &'a Totals,
        rows: Rows,
        wall: Duration,
        peak_memory_bytes: u64,
    ) -> Self {
        let config = &meta.config;
        let wall_s = wall.as_secs_f64();
        Self {
            version: &meta.version,
            results_version: RESULTS_VERSION,
            seed: config.seed,
            replication: config.replication,
            simulated_s: totals.end.as_secs_f64(),
            stopped: totals.stopped,
            measured_from_s: config.measure.from.as_secs_f64(),
            data_packets: totals.data_packets,
            events: totals.events,
            events_pending_max: totals.events_pending_max,
            warnings: meta
                .warnings
                .iter()
                .chain(&totals.shortcomings)
                .map(String::as_str)
                .collect(),
            rows,
            scenario_hash: &meta.scenario_hash,
            scenario: &meta.resolved_scenario,
            machine: Machine {
                wall_s,
                packets_per_s: totals.data_packets as f64 / wall_s.max(f64::MIN_POSITIVE),
                peak_memory_bytes,
            },
        }
    }
    /// As a text file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("numbers, names and JSON");
        bytes.push(b'\n');
        bytes
    }
}
