//! [`MesoNetWriter`]: the recorder that writes the run directory of a simulation of MesoNet.

mod edges;
mod flow_trace;
mod flows;
mod groups;
mod log;
mod long_lived;
mod measured;
mod packet_trace;
mod resume;
mod routers;
mod tables;
mod totals;

use std::path::Path;
use std::time::Duration;

use longhaul_mesonet::Config;
use longhaul_mesonet::records::{
    Control, DataPackets, FlowRecord, FlowState, GoodputBatch, Interval, PacketTraceRecord,
    Recorder, Totals,
};
use longhaul_units::{Span, Time};
use serde::Serialize;

use crate::error::OutputError;
use crate::run::{Progress, Run, RunSummary, write_table};
use crate::run_json::Figures;
use crate::run_meta::RunMeta;
use crate::table::{Cell, Column, Kind, Name, Table};

use edges::{EdgeRow, LinkRow};
use flow_trace::StateRow;
use flows::{ClassRow, NetworkRow};
use log::FlowRow;
use long_lived::LongLivedRow;
use measured::MeasuredRow;
use packet_trace::Sites;
use resume::{OpenedRun, Resumption};
use routers::{Routers, TopologyRow};
use tables::{Tables, push_all};
use totals::TotalsRow;

pub use tables::MesoNetRows;

/// Description of a MesoNet run, and options for writing its tables and checkpoints.
#[derive(Clone, Debug)]
pub struct MesoNetMeta {
    /// Description of the run that all kinds of simulation have.
    pub run: RunMeta<Config>,
    /// Names of the tables to write: fields of [`MesoNetRows`] from `network` to `goodput`. The
    /// other tables do not depend on this list.
    pub tables: Vec<String>,
    /// Number of intervals whose rows are written together to each of these tables, but at most
    /// 8192 rows; `None` to write 8192 rows together.
    pub flush_every: Option<u64>,
    /// Minimum wall-clock time between two checkpoints, which are written at ends of intervals;
    /// `None` for no checkpoints. After this process was killed, a run with checkpoints of the same
    /// scenario, version and directory resumes from the last one. The tables do not depend on this
    /// time.
    pub checkpoint_every: Option<Duration>,
}

/// Number and end time of an interval.
#[derive(Clone, Copy)]
pub(crate) struct Stamp {
    number: u64,
    end: Time,
}

impl Stamp {
    fn of(interval: &Interval<'_>) -> Self {
        Self {
            number: interval.number,
            end: interval.end,
        }
    }
}

fn stamp_columns<R: 'static>(stamp: fn(&R) -> &Stamp) -> Vec<Column<R>> {
    vec![
        Column::new(
            "interval",
            Kind::Count,
            "",
            "number of the interval, from 1",
            move |row: &R| Cell::Count(stamp(row).number),
        ),
        Column::new(
            "t_s",
            Kind::Real,
            "s",
            "end of the interval",
            move |row: &R| Cell::Real(stamp(row).end.as_secs_f64()),
        ),
    ]
}

/// Names of long-lived flows, access routers, links and algorithms, which many rows share.
pub(crate) struct Names {
    long_lived: Vec<Name>,
    access: Vec<Name>,
    links: Vec<Name>,
    algorithms: Vec<Name>,
}

impl Names {
    fn of(config: &Config) -> Self {
        let topology = &config.topology;
        Self {
            long_lived: names(&config.long_lived, |flow| &flow.label),
            access: names(&topology.access, |one| &one.router.name),
            links: names(&topology.links, |link| &link.name),
            algorithms: names(&config.algorithms, |one| &one.label),
        }
    }
}

/// Returns the names of all elements of a list; `name` returns the name of one element.
fn names<T>(all: &[T], name: impl Fn(&T) -> &String) -> Vec<Name> {
    all.iter()
        .map(|one| Name::from(name(one).as_str()))
        .collect()
}

/// Writer of the directory of one run, which has a temporary name until [`MesoNetWriter::finish`].
/// A writer dropped before that leaves nothing but a checkpoint.
pub struct MesoNetWriter {
    // The tables, which are dropped before the directory: their files must be closed first.
    tables: Tables,
    run: Run<Config>,
    names: Names,
    sites: Sites,
    routers: Routers,
    /// Names of the values that the user's measuring functions return; `None` before the first
    /// interval with such values.
    measured: Option<Vec<String>>,
    resumption: Resumption,
}

impl MesoNetWriter {
    /// Creates the writer. Refuses an existing `out`, unless it is a run and `meta.run.overwrite`
    /// is set. Also refuses a checkpoint that cannot be resumed, any existing checkpoint if
    /// `meta.checkpoint_every` is `None`, and algorithms in Python if it is set.
    pub fn create(out: &Path, meta: MesoNetMeta, progress: Progress) -> Result<Self, OutputError> {
        let OpenedRun {
            directory,
            resumption,
            stored,
        } = OpenedRun::new(out, &meta)?;
        let mut routers = Routers::new(&meta.run.config);
        routers.restore(&stored.routers);
        Ok(Self {
            tables: Tables::create(&directory, &meta, stored.tables, stored.measured.as_deref())?,
            names: Names::of(&meta.run.config),
            sites: Sites::of(&meta.run.config),
            routers,
            measured: stored.measured,
            resumption,
            run: Run::new(directory, meta.run, progress),
        })
    }

    /// Records the cause that stopped the run.
    pub fn note_stop(&mut self, by: &str) {
        self.run.note_stop(by);
    }

    /// Completes all tables, gives the directory its final name, and removes the checkpoint. `wall`
    /// is the wall-clock time of the simulation in this process, without that of earlier processes;
    /// `peak_memory_bytes` is the peak memory of the engine. Returns the first error while
    /// recording, if there was one.
    pub fn finish(
        self,
        totals: &Totals,
        wall: Duration,
        peak_memory_bytes: u64,
    ) -> Result<RunSummary<MesoNetRows>, OutputError> {
        let Self {
            tables,
            mut run,
            resumption,
            ..
        } = self;
        run.check()?;
        let wall = resumption.wall(wall);
        let (directory, config) = (&run.directory, &run.meta.config);
        let rows = MesoNetRows {
            totals: write_table(
                directory.file(totals::FILE),
                totals::columns(),
                TotalsRow::all(totals),
            )?,
            topology: write_table(
                directory.file(routers::TOPOLOGY),
                routers::topology_columns(),
                TopologyRow::all(config),
            )?,
            ..tables.finish()?
        };
        let figures = figures(config, totals);
        let summary = run.finish(figures, rows, wall, peak_memory_bytes)?;
        resumption.end()?;
        Ok(summary)
    }

    /// Appends a row to measures.parquet: the `values` of the user's measuring functions in an
    /// interval. Their `names` must be the same in each call.
    pub fn measured(
        &mut self,
        interval: &Interval<'_>,
        names: &[String],
        values: Vec<Option<f64>>,
    ) {
        if self.run.has_failed() {
            return;
        }
        let stamp = Stamp::of(interval);
        if self.tables.measures.is_none() {
            let file = self.run.directory.file(measured::FILE);
            match Table::create(file, measured::columns(names)) {
                Ok(table) => self.tables.measures = Some(table),
                Err(error) => return self.run.keep(Err(error)),
            }
            self.measured = Some(names.to_vec());
        }
        let result = push_all(&mut self.tables.measures, [MeasuredRow { stamp, values }]);
        self.run.keep(result);
    }

    fn write_interval(&mut self, interval: &Interval<'_>) -> Result<(), OutputError> {
        let length = self.run.meta.config.measure.every;
        let Self {
            tables,
            names,
            routers,
            ..
        } = self;
        push_all(&mut tables.network, [NetworkRow::of(interval)])?;
        push_all(&mut tables.classes, ClassRow::all(interval, length))?;
        push_all(&mut tables.routers, routers.advance(interval))?;
        let stamp = Stamp::of(interval);
        push_all(
            &mut tables.long_lived,
            long_lived_rows(interval, names, length),
        )?;
        let edges = names.access.iter().zip(interval.edges);
        let edges = edges.map(|(name, sample)| EdgeRow {
            stamp,
            name: name.clone(),
            sample: *sample,
        });
        push_all(&mut tables.edges, edges)?;
        let links = names.links.iter().zip(interval.links);
        let links = links.map(|(name, &pkts)| LinkRow {
            stamp,
            name: name.clone(),
            pkts,
        });
        push_all(&mut tables.backbone_links, links)
    }
}

/// Part of run.json that only runs of MesoNet have.
#[derive(Debug, Serialize)]
struct MesoNetPart {
    mesonet: MesoNetFigures,
}

#[derive(Debug, Serialize)]
struct MesoNetFigures {
    /// Data packets that passed the access routers of their receivers.
    delivered_packets: u64,
    /// Mean round-trip propagation delay in seconds over pairs of different backbone routers with
    /// access routers below them; `None` without such pairs.
    mean_round_trip_s: Option<f64>,
    flows_max: u64,
    bytes_per_flow: u64,
    bytes_per_source: u64,
    bytes_per_receiver: u64,
}

/// Returns the results of a run for run.json. Its measurement window is the whole run.
fn figures(config: &Config, totals: &Totals) -> Figures<MesoNetPart> {
    Figures {
        seed: config.seed,
        replication: config.replication,
        end: totals.end,
        stopped: totals.stopped,
        measured_from: Time::ZERO,
        data_packets: totals.packets_in,
        events: totals.events,
        warnings: totals.trace_full.map(trace_full).into_iter().collect(),
        own: MesoNetPart {
            mesonet: MesoNetFigures {
                delivered_packets: totals.packets_out,
                mean_round_trip_s: config.topology.mean_round_trip_s(),
                flows_max: totals.max_flows,
                bytes_per_flow: totals.bytes_per_flow,
                bytes_per_source: totals.bytes_per_host.0,
                bytes_per_receiver: totals.bytes_per_host.1,
            },
        },
    }
}

fn trace_full(time: Time) -> String {
    let seconds = time.as_secs_f64();
    format!(
        "the trace ended at {seconds:.3} s, with as many rows as mesonet.measure.trace.max_rows allows"
    )
}

fn long_lived_rows(
    interval: &Interval<'_>,
    names: &Names,
    length: Span,
) -> impl Iterator<Item = LongLivedRow> {
    let stamp = Stamp::of(interval);
    let flows = names.long_lived.iter().zip(interval.long_lived);
    flows.map(move |(name, sample)| LongLivedRow {
        stamp,
        name: name.clone(),
        sample: *sample,
        length,
    })
}

impl Recorder for MesoNetWriter {
    fn interval(&mut self, interval: &Interval<'_>) {
        if !self.run.has_failed() {
            let result = self.write_interval(interval);
            self.run.keep(result);
        }
    }

    fn batch(&mut self, batch: &GoodputBatch) {
        if !self.run.has_failed() {
            let result = push_all(&mut self.tables.goodput, [batch.clone()]);
            self.run.keep(result);
        }
    }

    fn flow(&mut self, flow: &FlowRecord) {
        if !self.run.has_failed() {
            let row = FlowRow {
                record: *flow,
                from: self.names.access[flow.from as usize].clone(),
                to: self.names.access[flow.to as usize].clone(),
                algorithm: self.names.algorithms[flow.algorithm as usize].clone(),
            };
            let result = push_all(&mut self.tables.flows, [row]);
            self.run.keep(result);
        }
    }

    fn flow_state(&mut self, state: &FlowState) {
        if !self.run.has_failed() {
            let row = StateRow::new(state, &self.names);
            let result = push_all(&mut self.tables.flow_trace, [row]);
            self.run.keep(result);
        }
    }

    fn packet(&mut self, passage: &PacketTraceRecord) {
        if !self.run.has_failed() {
            let row = self.sites.row(passage);
            let result = push_all(&mut self.tables.packet_trace, [row]);
            self.run.keep(result);
        }
    }

    fn progress(&mut self, now: Time, data_packets: DataPackets<'_>) -> Control {
        self.run.progress(now, data_packets)
    }

    fn checkpoint(&mut self, state: &dyn Fn() -> Vec<u8>) {
        if !self.run.has_failed() {
            let result = self.write_checkpoint(state);
            self.run.keep(result);
        }
    }
}

impl std::fmt::Debug for MesoNetWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MesoNetWriter")
            .field("directory", &self.run.directory)
            .finish_non_exhaustive()
    }
}
