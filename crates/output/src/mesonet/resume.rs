//! Resuming a run from its checkpoint, which contains the state of the tables and of the
//! simulation.

use std::path::Path;
use std::time::{Duration, Instant};

use longhaul_mesonet::records::RouterSample;
use serde::{Deserialize, Serialize};

use super::tables::StoredTables;
use super::{MesoNetMeta, MesoNetWriter};
use crate::checkpoint::Checkpoint;
use crate::directory::PartialDirectory;
use crate::error::OutputError;

/// Part of a checkpoint from which the writer resumes: wall-clock time, state of the tables, and
/// values for later rows.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct StoredState {
    /// Wall-clock time that the run has taken so far.
    wall: Duration,
    pub(super) tables: StoredTables,
    pub(super) routers: Vec<RouterSample>,
    /// Names of the values of the user's measuring functions; `None` without such functions.
    pub(super) measured: Option<Vec<String>>,
}

/// A run directory to write to, which is new or resumed.
pub(super) struct OpenedRun {
    pub(super) directory: PartialDirectory,
    pub(super) resumption: Resumption,
    /// State of the tables from the checkpoint; empty for a new run.
    pub(super) stored: StoredState,
}

/// Checkpoint that a run writes, and the state from which the run resumes.
#[derive(Debug)]
pub(super) struct Resumption {
    checkpoint: Option<Checkpoint>,
    /// State for resuming the simulation; `None` for a new run, and after
    /// [`MesoNetWriter::take_state`].
    state: Option<Vec<u8>>,
    /// Wall-clock time that earlier processes took for the run, up to the checkpoint.
    wall: Duration,
    began: Instant,
}

impl OpenedRun {
    pub(super) fn new(out: &Path, meta: &MesoNetMeta) -> Result<Self, OutputError> {
        let run = &meta.run;
        let mut resumption = Resumption {
            checkpoint: None,
            state: None,
            wall: Duration::ZERO,
            began: Instant::now(),
        };
        let Some(every) = meta.checkpoint_every else {
            let directory = PartialDirectory::create(out, run.overwrite)?;
            let folder = Checkpoint::folder(directory.target());
            if folder.exists() {
                return Err(OutputError::HasCheckpoint(folder));
            }
            return Ok(Self {
                directory,
                resumption,
                stored: StoredState::default(),
            });
        };
        let of_user = |algorithm: &&_| of_user(algorithm);
        if let Some(algorithm) = run.config.algorithms.iter().find(of_user) {
            return Err(OutputError::CannotStore(algorithm.label.clone()));
        }
        let (directory, (checkpoint, bytes)) =
            PartialDirectory::lasting(out, run.overwrite, |target| {
                let found = Checkpoint::open(target, every, &run.version, &run.scenario_hash)?;
                Ok((found.0.run(), found))
            })?;
        let mut stored = StoredState::default();
        if let Some(bytes) = bytes {
            let (found, state) = postcard::take_from_bytes(&bytes)
                .map_err(|_| OutputError::DamagedCheckpoint(Checkpoint::folder(out)))?;
            stored = found;
            resumption.state = Some(state.to_vec());
            resumption.wall = stored.wall;
        }
        resumption.checkpoint = Some(checkpoint);
        Ok(Self {
            directory,
            resumption,
            stored,
        })
    }
}

/// Returns true if the algorithm is not built in, and its state therefore cannot be stored: a class
/// in Python, a controller in another process, or a module of Linux.
fn of_user(algorithm: &longhaul_mesonet::config::Algorithm) -> bool {
    algorithm.congestion.custom.is_some()
}

impl Resumption {
    /// Returns the wall-clock time of the whole run: `wall`, the time of this process, plus the
    /// time of earlier processes.
    pub(super) fn wall(&self, wall: Duration) -> Duration {
        self.wall + wall
    }

    /// Removes the checkpoint. The run's directory already has its final name.
    pub(super) fn end(self) -> Result<(), OutputError> {
        self.checkpoint.map_or(Ok(()), Checkpoint::remove)
    }
}

impl MesoNetWriter {
    /// Takes the state for resuming the simulation; `None` for a new run, and after the first call. `measures` is true
    /// if the user has measuring functions.
    ///
    /// # Errors
    ///
    /// Fails if the run was begun with measuring functions and there are none now, or vice versa.
    pub fn take_state(&mut self, measures: bool) -> Result<Option<Vec<u8>>, OutputError> {
        let state = self.resumption.state.take();
        let begun = self.measured.is_some();
        match &self.resumption.checkpoint {
            Some(checkpoint) if state.is_some() && begun != measures => {
                Err(OutputError::OtherMeasures {
                    folder: checkpoint.own_folder().to_path_buf(),
                    begun: if begun { "with" } else { "without" },
                })
            }
            _ => Ok(state),
        }
    }

    /// Returns the names of the values that the user's measuring functions return; empty without such
    /// functions, and in a new run before their first call.
    pub fn measured_names(&self) -> &[String] {
        self.measured.as_deref().unwrap_or_default()
    }

    pub(super) fn write_checkpoint(
        &mut self,
        state: &dyn Fn() -> Vec<u8>,
    ) -> Result<(), OutputError> {
        let Resumption {
            checkpoint: Some(checkpoint),
            wall,
            began,
            ..
        } = &mut self.resumption
        else {
            return Ok(());
        };
        if !checkpoint.is_due() {
            return Ok(());
        }
        let stored = StoredState {
            wall: *wall + began.elapsed(),
            tables: self.tables.store()?,
            routers: self.routers.samples(),
            measured: self.measured.clone(),
        };
        let stored = postcard::to_stdvec(&stored).expect("plain data");
        checkpoint.write([&stored, &state()])
    }
}
