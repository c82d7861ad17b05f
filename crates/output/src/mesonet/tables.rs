//! Tables that grow during a run of MesoNet, and the number of rows of each.

use std::collections::BTreeMap;

use longhaul_mesonet::records::GoodputBatch;
use serde::Serialize;

use super::MesoNetMeta;
use super::edges::{self, EdgeRow, LinkRow};
use super::flow_trace::{self, StateRow};
use super::flows::{self, ClassRow, NetworkRow};
use super::groups;
use super::log::{self, FlowRow};
use super::long_lived::{self, LongLivedRow};
use super::measured::{self, MeasuredRow};
use super::packet_trace::{self, PacketRow};
use super::routers::{self, RouterRow};
use crate::directory::PartialDirectory;
use crate::error::OutputError;
use crate::table::{Column, StoredTable, Table};

/// Number of rows of each table; `None` for tables that the run does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MesoNetRows {
    /// Rows of network.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<u64>,
    /// Rows of classes.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<u64>,
    /// Rows of long_lived.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_lived: Option<u64>,
    /// Rows of routers.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routers: Option<u64>,
    /// Rows of edges.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges: Option<u64>,
    /// Rows of backbone_links.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backbone_links: Option<u64>,
    /// Rows of goodput.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput: Option<u64>,
    /// Rows of flows.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<u64>,
    /// Rows of flow_trace.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_trace: Option<u64>,
    /// Rows of packet_trace.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_trace: Option<u64>,
    /// Rows of measures.parquet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measures: Option<u64>,
    /// Rows of totals.parquet.
    pub totals: u64,
    /// Rows of topology.parquet.
    pub topology: u64,
}

/// Tables that grow during a run; `None` for those that the run does not have.
pub(super) struct Tables {
    pub(super) network: Option<Table<NetworkRow>>,
    pub(super) classes: Option<Table<ClassRow>>,
    pub(super) long_lived: Option<Table<LongLivedRow>>,
    pub(super) routers: Option<Table<RouterRow>>,
    pub(super) edges: Option<Table<EdgeRow>>,
    pub(super) backbone_links: Option<Table<LinkRow>>,
    pub(super) goodput: Option<Table<GoodputBatch>>,
    pub(super) flows: Option<Table<FlowRow>>,
    pub(super) flow_trace: Option<Table<StateRow>>,
    pub(super) packet_trace: Option<Table<PacketRow>>,
    /// Table of the values of measuring functions; `None` before the first interval with such
    /// values.
    pub(super) measures: Option<Table<MeasuredRow>>,
}

/// State of each table, by the name of its file; empty at the beginning of a run.
pub(super) type StoredTables = BTreeMap<String, StoredTable>;

impl Tables {
    /// Creates the tables that `meta` requests, or resumes those in `stored`. `measured` has the
    /// names of the values that the user's measuring functions return.
    pub(super) fn create(
        directory: &PartialDirectory,
        meta: &MesoNetMeta,
        stored: StoredTables,
        measured: Option<&[String]>,
    ) -> Result<Self, OutputError> {
        let config = &meta.run.config;
        let mut of = Creator {
            directory,
            meta,
            stored,
        };
        let topology = &config.topology;
        let routers = topology.backbone.len() + topology.pops.len() + topology.access.len();
        let has_flows = !config.long_lived.is_empty();
        Ok(Self {
            network: of.table("network", flows::NETWORK, flows::network_columns, 1)?,
            classes: of.table("classes", flows::CLASSES, flows::class_columns, 6)?,
            long_lived: if has_flows {
                let flows = config.long_lived.len();
                of.table("long_lived", long_lived::FILE, long_lived::columns, flows)?
            } else {
                None
            },
            routers: of.table("routers", routers::FILE, routers::columns, routers)?,
            edges: of.table("edges", edges::FILE, edges::columns, topology.access.len())?,
            backbone_links: of.table(
                "backbone_links",
                edges::LINKS,
                edges::link_columns,
                topology.links.len(),
            )?,
            goodput: of.table("goodput", groups::FILE, groups::columns, 1)?,
            flows: config
                .measure
                .flow_log
                .then(|| of.open(log::FILE, log::columns()))
                .transpose()?,
            flow_trace: (config.trace.as_ref())
                .map(|_| of.open(flow_trace::FILE, flow_trace::columns()))
                .transpose()?,
            packet_trace: (config.trace.as_ref())
                .map(|_| of.open(packet_trace::FILE, packet_trace::columns()))
                .transpose()?,
            measures: measured
                .map(|names| of.open(measured::FILE, measured::columns(names)))
                .transpose()?,
        })
    }
}

/// Creator of the tables in a run directory. A table with stored state is resumed.
struct Creator<'a> {
    directory: &'a PartialDirectory,
    meta: &'a MesoNetMeta,
    stored: StoredTables,
}

impl Creator<'_> {
    /// Creates or resumes the table `file`.
    fn open<R>(&mut self, file: &str, columns: Vec<Column<R>>) -> Result<Table<R>, OutputError> {
        let path = self.directory.file(file);
        match self.stored.remove(file) {
            Some(stored) => Table::resume(path, columns, stored),
            None => Table::create(path, columns),
        }
    }

    fn table<R>(
        &mut self,
        name: &str,
        file: &str,
        columns: fn() -> Vec<Column<R>>,
        rows_of_an_interval: usize,
    ) -> Result<Option<Table<R>>, OutputError> {
        if !self.meta.tables.iter().any(|wanted| wanted == name) {
            return Ok(None);
        }
        let table = self.open(file, columns())?;
        Ok(Some(match self.meta.flush_every {
            Some(intervals) => {
                table.with_row_groups(intervals.saturating_mul(rows_of_an_interval as u64))
            }
            None => table,
        }))
    }
}

impl Tables {
    /// Syncs all written rows to disk, and returns the state of the tables.
    pub(super) fn store(&mut self) -> Result<StoredTables, OutputError> {
        let mut stored = StoredTables::new();
        store(&mut stored, flows::NETWORK, &mut self.network)?;
        store(&mut stored, flows::CLASSES, &mut self.classes)?;
        store(&mut stored, long_lived::FILE, &mut self.long_lived)?;
        store(&mut stored, routers::FILE, &mut self.routers)?;
        store(&mut stored, edges::FILE, &mut self.edges)?;
        store(&mut stored, edges::LINKS, &mut self.backbone_links)?;
        store(&mut stored, groups::FILE, &mut self.goodput)?;
        store(&mut stored, log::FILE, &mut self.flows)?;
        store(&mut stored, flow_trace::FILE, &mut self.flow_trace)?;
        store(&mut stored, packet_trace::FILE, &mut self.packet_trace)?;
        store(&mut stored, measured::FILE, &mut self.measures)?;
        Ok(stored)
    }

    /// Completes all tables that get rows during the run, and returns their numbers of rows.
    /// totals.parquet and topology.parquet are written elsewhere and count as 0 rows here.
    pub(super) fn finish(self) -> Result<MesoNetRows, OutputError> {
        Ok(MesoNetRows {
            network: self.network.map(Table::finish).transpose()?,
            classes: self.classes.map(Table::finish).transpose()?,
            long_lived: self.long_lived.map(Table::finish).transpose()?,
            routers: self.routers.map(Table::finish).transpose()?,
            edges: self.edges.map(Table::finish).transpose()?,
            backbone_links: self.backbone_links.map(Table::finish).transpose()?,
            goodput: self.goodput.map(Table::finish).transpose()?,
            flows: self.flows.map(Table::finish).transpose()?,
            flow_trace: self.flow_trace.map(Table::finish).transpose()?,
            packet_trace: self.packet_trace.map(Table::finish).transpose()?,
            measures: self.measures.map(Table::finish).transpose()?,
            ..MesoNetRows::default()
        })
    }
}

fn store<R>(
    to: &mut StoredTables,
    file: &str,
    table: &mut Option<Table<R>>,
) -> Result<(), OutputError> {
    if let Some(table) = table {
        to.insert(file.to_string(), table.store()?);
    }
    Ok(())
}

/// Appends rows to a table, if the run has it.
pub(super) fn push_all<R>(
    table: &mut Option<Table<R>>,
    rows: impl IntoIterator<Item = R>,
) -> Result<(), OutputError> {
    let Some(table) = table else {
        return Ok(());
    };
    rows.into_iter().try_for_each(|row| table.push(row))
}
