//! [`RunWriter`]: the recorder that writes the run directory of a simulation.

use std::path::Path;
use std::time::Duration;

use longhaul_engine::Config;
use longhaul_engine::config::Transport;
use longhaul_engine::measure::{
    AckTrace, CapturedPacket, Control, DataPackets, Event, Exchange, FlowSample, LinkSample,
    ProxySample, Recorder, Ticker, Totals,
};
use longhaul_units::Time;

use crate::capture::{self, Capture};
use crate::delays::DelayRow;
use crate::directory::PartialDirectory;
use crate::error::OutputError;
use crate::flows::{self, FlowRow};
use crate::links::{self, LinkRow};
use crate::named::NamedRecord;
use crate::proxies::{self, ProxyRow};
use crate::run::{Progress, Run, RunSummary, write_table};
use crate::run_json::{Figures, Rows};
use crate::run_meta::RunMeta;
use crate::series::{self, Names, Sample};
use crate::stack_logs::StackLogs;
use crate::table::{Name, Table};
use crate::{acks, delays, events, exchanges};

/// Writer of a run directory, which has a temporary name until [`RunWriter::finish`]. A writer that
/// is dropped earlier leaves no files.
pub struct RunWriter {
    // Tables must be closed before the directory is removed.
    series: Option<Table<Sample>>,
    events: Option<Table<NamedRecord<Event>>>,
    acks: Option<Table<NamedRecord<AckTrace>>>,
    exchanges: Option<Table<NamedRecord<Exchange>>>,
    capture: Option<Capture>,
    logs: StackLogs,
    run: Run<Config>,
    /// Names of flows, and then of the connections of proxies.
    flow_names: Vec<Name>,
    ticker: Ticker,
    /// Facts about an emulation, for run.json; `None` for a simulation.
    emulation: Option<serde_json::Value>,
}

impl RunWriter {
    /// Creates the writer. Refuses an existing `out`, unless it is a run and `meta.overwrite`
    /// allows replacing it.
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
        let traces = config.flows.iter().any(|flow| !flow.traced.is_empty());
        let acks = traces
            .then(|| Table::create(directory.file(acks::FILE), acks::columns()))
            .transpose()?;
        let opens = |transport: &Transport| matches!(transport, Transport::Traffic(..));
        let exchanges = config
            .flows
            .iter()
            .any(|flow| opens(&flow.transport))
            .then(|| Table::create(directory.file(exchanges::FILE), exchanges::columns()))
            .transpose()?;
        let captures = config.captures();
        let capture = captures
            .then(|| Capture::create(&directory.file(capture::FILE), config))
            .transpose()?;
        let flow_names = config.flows.iter().map(|flow| flow.name.as_str());
        let proxy_names = config.proxies.iter().map(|proxy| proxy.name.as_str());
        let flow_names = flow_names.chain(proxy_names).map(Name::from).collect();
        Ok(Self {
            series,
            events,
            acks,
            exchanges,
            capture,
            logs: StackLogs::default(),
            run: Run::new(directory, meta, progress),
            flow_names,
            ticker: Ticker::default(),
            emulation: None,
        })
    }

    /// Returns the writer with a ticker that requests progress reports.
    #[must_use]
    pub fn with_ticker(self, ticker: Ticker) -> Self {
        Self { ticker, ..self }
    }

    /// Returns the writer for an emulation. `circumstances` are facts about it for run.json.
    #[must_use]
    pub fn of_emulation(self, mut circumstances: serde_json::Value) -> Self {
        // Maps keep the order of insertion if any crate of a build, such as quinn's qlog, requests
        // that of `serde_json`. Sorting gives run.json the same order in all builds.
        circumstances.sort_all_objects();
        Self {
            emulation: Some(circumstances),
            ..self
        }
    }

    /// Records the cause that has stopped the run.
    pub fn note_stop(&mut self, by: &str) {
        self.run.note_stop(by);
    }

    /// Writes the tables of the whole run, and renames the directory to its final name. `wall` is
    /// the time that the simulation took, `peak_memory_bytes` the memory that the engine needed.
    /// Fails with the first error while recording, if there was one.
    pub fn finish(
        self,
        totals: &Totals,
        wall: Duration,
        peak_memory_bytes: u64,
    ) -> Result<RunSummary, OutputError> {
        let mut run = self.run;
        run.check()?;
        let (directory, config) = (&run.directory, &run.meta.config);
        let rows = Rows {
            flows: write_table(
                directory.file(flows::FILE),
                flows::columns(),
                FlowRow::all(config, &totals.flows, totals.end),
            )?,
            links: write_table(
                directory.file(links::FILE),
                links::columns_of(config),
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
            delays: totals
                .delays
                .as_ref()
                .map(|measured| {
                    let file = directory.file(delays::FILE);
                    write_table(file, delays::columns(), DelayRow::all(config, measured))
                })
                .transpose()?,
            series: self.series.map(Table::finish).transpose()?,
            events: self.events.map(Table::finish).transpose()?,
            acks: self.acks.map(Table::finish).transpose()?,
            exchanges: self.exchanges.map(Table::finish).transpose()?,
            packets: self.capture.map(Capture::finish).transpose()?,
        };
        self.logs.finish()?;
        let figures = Figures::new(config, totals, self.emulation);
        run.finish(figures, rows, wall, peak_memory_bytes)
    }
}

impl Recorder for RunWriter {
    #[inline]
    fn flow_sample(&mut self, sample: &FlowSample) {
        self.run.push(&mut self.series, || Sample::Flow(*sample));
    }

    #[inline]
    fn link_sample(&mut self, sample: &LinkSample) {
        self.run.push(&mut self.series, || Sample::Link(*sample));
    }

    fn proxy_sample(&mut self, sample: &ProxySample) {
        self.run
            .push(&mut self.series, || Sample::Proxy(Box::new(*sample)));
    }

    fn event(&mut self, event: &Event) {
        self.run.push(&mut self.events, || NamedRecord {
            name: self.flow_names[event.flow as usize].clone(),
            record: *event,
        });
    }

    fn trace(&mut self, sample: &AckTrace) {
        self.run.push(&mut self.acks, || NamedRecord {
            name: self.flow_names[sample.flow as usize].clone(),
            record: *sample,
        });
    }

    fn exchange(&mut self, exchange: &Exchange) {
        self.run.push(&mut self.exchanges, || NamedRecord {
            name: self.flow_names[exchange.flow as usize].clone(),
            record: *exchange,
        });
    }

    fn packet(&mut self, packet: &CapturedPacket) {
        if !self.run.has_failed()
            && let Some(capture) = &mut self.capture
        {
            let result = capture.push(packet);
            self.run.keep(result);
        }
    }

    fn stack_log(&mut self, flow: u32, text: &[u8]) {
        if !self.run.has_failed() {
            let result = self.logs.append(flow, text, &self.run.directory);
            self.run.keep(result);
        }
    }

    fn progress(&mut self, now: Time, data_packets: DataPackets<'_>) -> Control {
        self.run.progress(now, data_packets)
    }

    fn ticker(&self) -> Ticker {
        self.ticker.clone()
    }
}

impl std::fmt::Debug for RunWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunWriter")
            .field("directory", &self.run.directory)
            .finish_non_exhaustive()
    }
}
