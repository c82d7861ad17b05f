//! run.json: the origin of a run's tables, and the resources used to compute them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use longhaul_engine::measure::Totals;
use longhaul_engine::{Config, RESULTS_VERSION};
use longhaul_units::Time;
use serde::Serialize;

use crate::digest::{self, Digests};
use crate::run_meta::RunMeta;

/// The content of run.json, with keys in the order of the fields. `R` has the row counts of the
/// tables; `O` has the keys that only one kind of simulation writes.
#[derive(Debug, Serialize)]
pub(crate) struct RunJson<'a, R, O> {
    version: &'a str,
    results_version: u32,
    seed: u64,
    replication: u64,
    simulated_s: f64,
    /// [`RunMeta::duration`] in seconds.
    duration_s: f64,
    /// True if the run was stopped before the end of the scenario; a stop rule of the scenario does
    /// not count.
    stopped: bool,
    /// Cause that stopped the run; `None` if it was not stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_by: Option<String>,
    measured_from_s: f64,
    data_packets: u64,
    events: u64,
    #[serde(flatten)]
    own: O,
    warnings: Vec<Cow<'a, str>>,
    rows: R,
    scenario_hash: &'a str,
    scenario: &'a serde_json::Value,
    #[serde(skip)]
    machine: Machine,
}

/// SHA-256 of each other file of the run directory, by name.
#[derive(Serialize)]
struct Files {
    sha256: BTreeMap<String, String>,
}

/// SHA-256 of the text of run.json before this key and the comma in front of it.
#[derive(Serialize)]
struct OwnDigest<'a> {
    #[serde(rename = "sha256_above")]
    sha256: &'a str,
}

#[derive(Serialize)]
struct MachinePart<'a> {
    machine: &'a Machine,
}

/// Number of rows of each table, and number of packets in the capture; `None` for files that the run
/// does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rows {
    /// Rows of flows.parquet.
    pub flows: u64,
    /// Rows of links.parquet.
    pub links: u64,
    /// Rows of proxies.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxies: Option<u64>,
    /// Rows of delays.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delays: Option<u64>,
    /// Rows of series.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<u64>,
    /// Rows of events.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// Rows of acks.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acks: Option<u64>,
    /// Rows of exchanges.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<u64>,
    /// Packets in packets.pcapng.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
}

/// Values that may differ between two runs of the same scenario.
#[derive(Debug, Serialize)]
struct Machine {
    wall_s: f64,
    packets_per_s: f64,
    peak_memory_bytes: u64,
}

/// Results of a run that all kinds of simulation report. `own`, of type `O`, has the results that
/// only one kind reports.
pub(crate) struct Figures<O> {
    pub(crate) seed: u64,
    pub(crate) replication: u64,
    pub(crate) end: Time,
    pub(crate) stopped: bool,
    pub(crate) measured_from: Time,
    pub(crate) data_packets: u64,
    pub(crate) events: u64,
    /// Warnings in addition to those of the scenario.
    pub(crate) warnings: Vec<String>,
    pub(crate) own: O,
}

/// Part of run.json that only simulations of links and connections have.
#[derive(Debug, Serialize)]
pub(crate) struct EnginePart {
    events_pending_max: u64,
    /// Facts about an emulation: hosts, programs, lateness; `None` for a simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    emulation: Option<serde_json::Value>,
}

impl Figures<EnginePart> {
    pub(crate) fn new(
        config: &Config,
        totals: &Totals,
        emulation: Option<serde_json::Value>,
    ) -> Self {
        Self {
            seed: config.seed,
            replication: config.replication,
            end: totals.end,
            stopped: totals.stopped,
            measured_from: config.measure.from,
            data_packets: totals.data_packets,
            events: totals.events,
            warnings: totals.run_warnings.clone(),
            own: EnginePart {
                events_pending_max: totals.events_pending_max,
                emulation,
            },
        }
    }
}

impl<'a, R, O> RunJson<'a, R, O> {
    pub(crate) fn new<C>(
        meta: &'a RunMeta<C>,
        figures: Figures<O>,
        rows: R,
        wall: Duration,
        peak_memory_bytes: u64,
    ) -> Self {
        let own_warnings = figures.warnings.into_iter().map(Cow::from);
        Self {
            version: &meta.version,
            results_version: RESULTS_VERSION,
            seed: figures.seed,
            replication: figures.replication,
            simulated_s: figures.end.as_secs_f64(),
            duration_s: meta.duration.as_secs_f64(),
            stopped: figures.stopped,
            stopped_by: None,
            measured_from_s: figures.measured_from.as_secs_f64(),
            data_packets: figures.data_packets,
            events: figures.events,
            own: figures.own,
            warnings: (meta.warnings.iter().map(Cow::from))
                .chain(own_warnings)
                .collect(),
            rows,
            scenario_hash: &meta.scenario_hash,
            scenario: &meta.resolved_scenario,
            machine: Machine::new(figures.data_packets, wall, peak_memory_bytes),
        }
    }
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

impl<R: Serialize, O: Serialize> RunJson<'_, R, O> {
    /// Returns the document with `stopped_by`, the cause that stopped the run.
    pub(crate) fn stopped_by(self, stopped_by: Option<String>) -> Self {
        Self { stopped_by, ..self }
    }

    /// Returns the contents of run.json: first the results, then the SHA-256 of each other file, then the SHA-256 of
    /// the preceding contents, and at the end the values that depend on the machine.
    pub(crate) fn to_bytes(&self, files: &Digests) -> Vec<u8> {
        const EXPECT: &str = "numbers, names and JSON";
        let mut text = serde_json::to_string_pretty(self).expect(EXPECT);
        let files = Files {
            sha256: files.all(),
        };
        let mut add = |value: String| {
            // Both texts are objects: the end of the first and the beginning of the second are
            // removed.
            text.truncate(text.trim_end().len() - "\n}".len());
            text.push(',');
            text.push_str(&value["{".len()..]);
            text.push('\n');
            digest::of_text(&text[..text.trim_end().len() - "\n}".len()])
        };
        let sha256 = add(serde_json::to_string_pretty(&files).expect(EXPECT));
        add(serde_json::to_string_pretty(&OwnDigest { sha256: &sha256 }).expect(EXPECT));
        let machine = MachinePart {
            machine: &self.machine,
        };
        add(serde_json::to_string_pretty(&machine).expect(EXPECT));
        text.into_bytes()
    }
}
