//! run.json: where a run's tables come from and what it took to make them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use longhaul_engine::RESULTS_VERSION;
use longhaul_engine::config::mesonet::MesoNet;
use longhaul_engine::measure::{MesoNetTotals, Totals};
use longhaul_units::Time;
use serde::Serialize;

use crate::digest::{self, Digests};
use crate::run_writer::RunMeta;

/// The document, with rows of type `R`. Keys appear in this order.
#[derive(Debug, Serialize)]
pub(crate) struct RunJson<'a, R> {
    version: &'a str,
    results_version: u32,
    seed: u64,
    replication: u64,
    simulated_s: f64,
    /// How long the scenario is.
    duration_s: f64,
    /// Whether the run was stopped before the end of the scenario.
    stopped: bool,
    /// By what.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_by: Option<String>,
    measured_from_s: f64,
    data_packets: u64,
    events: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    events_pending_max: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mesonet: Option<MesoNetFigures>,
    warnings: Vec<Cow<'a, str>>,
    rows: R,
    scenario_hash: &'a str,
    scenario: &'a serde_json::Value,
    #[serde(skip)]
    machine: Machine,
}

/// Digests of the other files, by name.
#[derive(Serialize)]
struct Files {
    sha256: BTreeMap<String, String>,
}

/// The digest of what stands above it.
#[derive(Serialize)]
struct Own<'a> {
    #[serde(rename = "sha256_above")]
    sha256: &'a str,
}

#[derive(Serialize)]
struct OfMachine<'a> {
    machine: &'a Machine,
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

/// What only simulations of MesoNet have.
#[derive(Debug, Serialize)]
struct MesoNetFigures {
    /// Data packets that reached the access routers of their receivers.
    delivered_packets: u64,
    flows_max: u64,
    bytes_per_flow: u64,
    bytes_per_source: u64,
    bytes_per_receiver: u64,
}

impl<'a> RunJson<'a, Rows> {
    pub(crate) fn new(
        meta: &'a RunMeta,
        totals: &'a Totals,
        rows: Rows,
        wall: Duration,
        peak_memory_bytes: u64,
    ) -> Self {
        let config = &meta.config;
        let machine = Machine::new(totals.data_packets, wall, peak_memory_bytes);
        Self {
            seed: config.seed,
            replication: config.replication,
            simulated_s: totals.end.as_secs_f64(),
            stopped: totals.stopped,
            measured_from_s: config.measure.from.as_secs_f64(),
            data_packets: totals.data_packets,
            events: totals.events,
            events_pending_max: Some(totals.events_pending_max),
            mesonet: None,
            warnings: meta
                .warnings
                .iter()
                .chain(&totals.shortcomings)
                .map(Cow::from)
                .collect(),
            ..Self::of(meta, rows, machine)
        }
    }
}

impl<'a, R> RunJson<'a, R> {
    /// Of a simulation of MesoNet, which is measured from its start.
    pub(crate) fn of_mesonet(
        meta: &'a RunMeta<MesoNet>,
        totals: &MesoNetTotals,
        rows: R,
        wall: Duration,
        peak_memory_bytes: u64,
    ) -> Self {
        let config = &meta.config;
        let machine = Machine::new(totals.packets_in, wall, peak_memory_bytes);
        Self {
            seed: config.seed,
            replication: config.replication,
            simulated_s: totals.end.as_secs_f64(),
            stopped: totals.stopped,
            data_packets: totals.packets_in,
            warnings: (meta.warnings.iter().map(Cow::from))
                .chain(totals.trace_full.map(trace_full))
                .collect(),
            events: totals.events,
            mesonet: Some(MesoNetFigures {
                delivered_packets: totals.packets_out,
                flows_max: totals.most_flows,
                bytes_per_flow: totals.bytes_per_flow,
                bytes_per_source: totals.bytes_per_host.0,
                bytes_per_receiver: totals.bytes_per_host.1,
            }),
            ..Self::of(meta, rows, machine)
        }
    }

    /// What all runs have in common.
    fn of<C>(meta: &'a RunMeta<C>, rows: R, machine: Machine) -> Self {
        Self {
            version: &meta.version,
            results_version: RESULTS_VERSION,
            seed: 0,
            replication: 0,
            simulated_s: 0.0,
            duration_s: meta.duration.as_secs_f64(),
            stopped: false,
            stopped_by: None,
            measured_from_s: 0.0,
            data_packets: 0,
            events: 0,
            events_pending_max: None,
            mesonet: None,
            warnings: meta.warnings.iter().map(Cow::from).collect(),
            rows,
            scenario_hash: &meta.scenario_hash,
            scenario: &meta.resolved_scenario,
            machine,
        }
    }
}

fn trace_full(time: Time) -> Cow<'static, str> {
    let seconds = time.as_secs_f64();
    format!(
        "the trace ended at {seconds:.3} s, with as many rows as mesonet.measure.trace.most allows"
    )
    .into()
}

impl Machine {
    fn new(data_packets: u64, wall: Duration, peak_memory_bytes: u64) -> Self {
        let wall_s = wall.as_secs_f64();
        Self {
            wall_s,
            packets_per_s: data_packets as f64 / wall_s.max(f64::MIN_POSITIVE),
            peak_memory_bytes,
        }
    }
}

impl<R: Serialize> RunJson<'_, R> {
    /// The same run, stopped by something.
    pub(crate) fn stopped_by(self, stopped_by: Option<String>) -> Self {
        Self { stopped_by, ..self }
    }

    /// As a text file: the document, then the SHA-256 of each other file and of all text up to its own, and
    /// at last what depends on the machine.
    pub(crate) fn to_bytes(&self, files: &Digests) -> Vec<u8> {
        const EXPECT: &str = "numbers, names and JSON";
        let mut text = serde_json::to_string_pretty(self).expect(EXPECT);
        let files = Files {
            sha256: files.all(),
        };
        let mut add = |value: String| {
            // Both are objects: the end of one and the beginning of the other go.
            text.truncate(text.trim_end().len() - "\n}".len());
            text.push(',');
            text.push_str(&value["{".len()..]);
            text.push('\n');
            digest::of_text(&text[..text.trim_end().len() - "\n}".len()])
        };
        let sha256 = add(serde_json::to_string_pretty(&files).expect(EXPECT));
        add(serde_json::to_string_pretty(&Own { sha256: &sha256 }).expect(EXPECT));
        let machine = OfMachine {
            machine: &self.machine,
        };
        add(serde_json::to_string_pretty(&machine).expect(EXPECT));
        text.into_bytes()
    }
}
