//! State common to the writers of all kinds of runs: the unfinished directory, the cause that
//! stopped the run, and the first error.

use std::path::PathBuf;
use std::time::Duration;

use longhaul_engine::measure::{Control, DataPackets};
use longhaul_units::Time;
use serde::Serialize;

use crate::digest::NewFile;
use crate::directory::{PartialDirectory, RUN_JSON};
use crate::error::OutputError;
use crate::run_json::{Figures, Rows, RunJson};
use crate::run_meta::RunMeta;
use crate::table::{Column, Table};

/// Callback that gets the simulated time and a function that counts the data packets so far. Its
/// return value can stop the run.
pub type Progress = Box<dyn FnMut(Time, DataPackets<'_>) -> Control + Send>;

/// Directory of a completely written run, and the row counts (of type `R`) of its tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary<R = Rows> {
    /// Directory of the run.
    pub directory: PathBuf,
    /// Number of rows of each table in the directory.
    pub rows: R,
}

/// State that the writers of all kinds of simulation have. `C` is the type of the simulation's
/// configuration.
pub(crate) struct Run<C> {
    pub(crate) directory: PartialDirectory,
    pub(crate) meta: RunMeta<C>,
    progress: Progress,
    /// Cause that stopped the run; `None` if it was not stopped.
    stopped_by: Option<String>,
    /// The first error while recording; `None` if there was none.
    error: Option<OutputError>,
}

impl<C> Run<C> {
    pub(crate) const fn new(
        directory: PartialDirectory,
        meta: RunMeta<C>,
        progress: Progress,
    ) -> Self {
        Self {
            directory,
            meta,
            progress,
            stopped_by: None,
            error: None,
        }
    }

    pub(crate) fn note_stop(&mut self, by: &str) {
        self.stopped_by = Some(by.to_string());
    }

    /// Returns true if an error has ended the recording.
    #[inline]
    pub(crate) const fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Stores the error in `result`, unless an earlier one is stored. After an error, `progress` stops the simulation.
    #[inline]
    pub(crate) fn keep(&mut self, result: Result<(), OutputError>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }

    /// Appends a row to a table. Does nothing if the run does not have the table, or has failed.
    #[inline]
    pub(crate) fn push<R>(&mut self, table: &mut Option<Table<R>>, row: impl FnOnce() -> R) {
        if self.error.is_none()
            && let Some(table) = table
        {
            let result = table.push(row());
            self.keep(result);
        }
    }

    pub(crate) fn progress(&mut self, now: Time, data_packets: DataPackets<'_>) -> Control {
        match self.error {
            Some(_) => Control::Stop,
            None => (self.progress)(now, data_packets),
        }
    }

    /// Takes the first error while recording, if there was one, and fails with it.
    pub(crate) fn check(&mut self) -> Result<(), OutputError> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// Writes run.json, and renames the directory to its final name. `wall` is the time that the
    /// simulation took, `peak_memory_bytes` the memory that the engine needed.
    pub(crate) fn finish<R: Serialize + Copy, O: Serialize>(
        self,
        figures: Figures<O>,
        rows: R,
        wall: Duration,
        peak_memory_bytes: u64,
    ) -> Result<RunSummary<R>, OutputError> {
        let stopped = figures.stopped;
        let json = RunJson::new(&self.meta, figures, rows, wall, peak_memory_bytes);
        let json = json.stopped_by(self.stopped_by);
        let bytes = json.to_bytes(self.directory.digests());
        self.directory.write(RUN_JSON, &bytes)?;
        Ok(RunSummary {
            directory: self.directory.publish(stopped)?,
            rows,
        })
    }
}

/// Writes `rows` to a new table, and returns their number.
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
