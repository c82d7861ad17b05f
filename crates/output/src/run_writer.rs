//! [`RunWriter`]: takes what a simulation records and leaves a run directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use longhaul_engine::config::Transport;
use longhaul_engine::measure::{
    CapturedPacket, Control, DataPackets, Event, Exchange, FlowSample, LinkSample, ProxySample,
    Recorder, Ticker, Totals,
};
use longhaul_engine::{CapacityMeter, Config};
use longhaul_units::Time;

use crate::capture::{self, Capture};
use crate::digest::NewFile;
use crate::directory::{PartialDirectory, RUN_JSON};
use crate::error::OutputError;
use crate::events::{self, EventRow};
use crate::exchanges::{self, ExchangeRow};
use crate::flows::{self, FlowRow};
use crate::links::{self, LinkRow};
use crate::proxies::{self, ProxyRow};
use crate::run_json::{Figures, Rows, RunJson};
use crate::series::{self, Names, Sample};
use crate::table::{Column, Name, Table};

/// Called with the simulated time, and with what says how many data packets there were so far; the
/// answer can stop the run.
pub type Progress = Box<dyn FnMut(Time, DataPackets<'_>) -> Control + Send>;

/// What a run directory says about its run beyond what was simulated.
#[derive(Clone, Debug)]
pub struct RunMeta<C = Config> {
    /// The scenario with every default filled in, as run.json keeps it.
    pub resolved_scenario: serde_json::Value,
    /// What identifies that scenario and the version of its results.
    pub scenario_hash: String,
    /// What is simulated: names, seed, measurement window.
    pub config: Arc<C>,
    /// Version of Longhaul.
    pub version: String,
    /// What the user should know before trusting the results.
    pub warnings: Vec<String>,
    /// Whether an older run of the same name is replaced.
    pub overwrite: bool,
    /// The duration of the scenario.
    pub duration: Time,
}

/// A run that is complete on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary<R = Rows> {
    /// Its directory.
    pub directory: PathBuf,
    /// How much there is in its files.
    pub rows: R,
}

/// Writes the directory of one run, under a temporary name until [`RunWriter::finish`]. Dropped
/// before that, it leaves nothing.
pub struct RunWriter {
    // Tables close their files before the directory goes.
    series: Option<Table<Sample>>,
    events: Option<Table<EventRow>>,
    exchanges: Option<Table<ExchangeRow>>,
    capture: Option<Capture>,
    directory: PartialDirectory,
    meta: RunMeta,
    /// Those of proxies' connections come behind those of flows.
    flow_names: Vec<Name>,
    /// By link.
    capacities: Vec<CapacityMeter>,
    progress: Progress,
    ticker: Ticker,
    /// What stopped the run.
    stopped_by: Option<String>,
    /// The first thing that went wrong while recording.
    error: Option<OutputError>,
}

impl RunWriter {
    /// Refuses an `out` that exists, unless `meta.overwrite` says otherwise and it is a run.
    pub fn create(out: &Path, meta: RunMeta, progress: Progress) -> Result<Self, OutputError> {
        let directory = PartialDirectory::create(out, meta.overwrite)?;
        let config = &meta.config;
        let series = config
            .measure
            .every
            .map(|_| {
                let columns = series::columns(Names::of(config));
                Table::create_of_runs(directory.file(series::FILE), columns, Sample::is_like)
            })
            .transpose()?;
        let events = config
            .measure
            .events
            .then(|| Table::create(directory.file(events::FILE), events::columns()))
            .transpose()?;
        let opens = |transport: &Transport| matches!(transport, Transport::Traffic(..));
        let exchanges = config
            .flows
            .iter()
            .any(|flow| opens(&flow.transport))
            .then(|| Table::create(directory.file(exchanges::FILE), exchanges::columns()))
            .transpose()?;
        let captures = config.links.iter().any(|link| link.captured);
        let capture = captures
            .then(|| Capture::create(&directory.file(capture::FILE), config))
            .transpose()?;
        let flow_names = config.flows.iter().map(|flow| flow.name.as_str());
        let proxy_names = config.proxies.iter().map(|proxy| proxy.name.as_str());
        let flow_names = flow_names.chain(proxy_names).map(Name::from).collect();
        let capacities = vec![CapacityMeter::default(); config.links.len()];
        Ok(Self {
            series,
            events,
            exchanges,
            capture,
            directory,
            meta,
            flow_names,
            capacities,
            progress,
            ticker: Ticker::default(),
            stopped_by: None,
            error: None,
        })
    }

    /// The same, asked for reports of progress by a ticker.
    #[must_use]
    pub fn with_ticker(self, ticker: Ticker) -> Self {
        Self { ticker, ..self }
    }

    /// Records what has stopped the run.
    pub fn note_stop(&mut self, by: &str) {
        self.stopped_by = Some(by.to_string());
    }

    /// Writes what is known at the end and gives the directory its name. `wall` is the time that
    /// the simulation took, `peak_memory_bytes` what the engine needed.
    pub fn finish(
        self,
        totals: &Totals,
        wall: Duration,
        peak_memory_bytes: u64,
    ) -> Result<RunSummary, OutputError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let Self {
            directory, meta, ..
        } = self;
        let config = &meta.config;
        let rows = Rows {
            flows: write_table(
                directory.file(flows::FILE),
                flows::columns(),
                FlowRow::all(config, &totals.flows, totals.end),
            )?,
            links: write_table(
                directory.file(links::FILE),
                links::columns(),
                LinkRow::all(config, &totals.links, totals.end),
            )?,
            proxies: (!config.proxies.is_empty())
                .then(|| {
                    let file = directory.file(proxies::FILE);
                    write_table(
                        file,
                        proxies::columns(),
                        ProxyRow::all(config, &totals.proxies, totals.end),
                    )
                })
                .transpose()?,
            series: self.series.map(Table::finish).transpose()?,
            events: self.events.map(Table::finish).transpose()?,
            exchanges: self.exchanges.map(Table::finish).transpose()?,
            packets: self.capture.map(Capture::finish).transpose()?,
        };
        let run = RunJson::new(
            &meta,
            Figures::new(&meta.config, totals),
            rows,
            wall,
            peak_memory_bytes,
        );
        let run = run.stopped_by(self.stopped_by);
        directory.write(RUN_JSON, &run.to_bytes(directory.digests()))?;
        Ok(RunSummary {
            directory: directory.publish(totals.stopped)?,
            rows,
        })
    }

    /// Keeps the first error for the end; `progress` then stops the simulation.
    #[inline]
    fn keep(&mut self, result: Result<(), OutputError>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }

    #[inline]
    fn sample(&mut self, sample: Sample) {
        if self.error.is_none()
            && let Some(series) = &mut self.series
        {
            let result = series.push(sample);
            self.keep(result);
        }
    }
}

impl Recorder for RunWriter {
    fn flow_sample(&mut self, sample: &FlowSample) {
        self.sample(Sample::Flow(*sample));
    }

    fn link_sample(&mut self, sample: &LinkSample) {
        let id = sample.link as usize;
        let link = &self.meta.config.links[id];
        let capacity = self.capacities[id].advance(link, sample.time);
        self.sample(Sample::Link(*sample, capacity));
    }

    fn proxy_sample(&mut self, sample: &ProxySample) {
        self.sample(Sample::Proxy(Box::new(*sample)));
    }

    fn event(&mut self, event: &Event) {
        if self.error.is_none()
            && let Some(events) = &mut self.events
        {
            let name = self.flow_names[event.flow as usize].clone();
            let result = events.push(EventRow {
                name,
                event: *event,
            });
            self.keep(result);
        }
    }

    fn exchange(&mut self, exchange: &Exchange) {
        if self.error.is_none()
            && let Some(exchanges) = &mut self.exchanges
        {
            let name = self.flow_names[exchange.flow as usize].clone();
            let result = exchanges.push(ExchangeRow {
                name,
                exchange: *exchange,
            });
            self.keep(result);
        }
    }

    fn packet(&mut self, packet: &CapturedPacket) {
        if self.error.is_none()
            && let Some(capture) = &mut self.capture
        {
            let result = capture.push(packet);
            self.keep(result);
        }
    }

    fn progress(&mut self, now: Time, data_packets: DataPackets<'_>) -> Control {
        match self.error {
            Some(_) => Control::Stop,
            None => (self.progress)(now, data_packets),
        }
    }

    fn ticker(&self) -> Ticker {
        self.ticker.clone()
    }
}

impl std::fmt::Debug for RunWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunWriter")
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

pub(crate) fn write_table<R>(
    file: NewFile,
    columns: Vec<Column<R>>,
    rows: Vec<R>,
) -> Result<u64, OutputError> {
    let mut table = Table::create(file, columns)?;
    for row in rows {
        table.push(row)?;
    }
    table.finish()
}
