//! The checkpoint of a long run: a directory next to the future run directory, `<name>.checkpoint`.
//!
//! The checkpoint's folder `run` contains the growing tables. Its file `state` contains the data
//! needed to resume them. A process may be killed at any moment, so a new state replaces the old
//! one atomically, and rows counted in the state are never changed. When the run has ended, `run`
//! gets its final name, and the rest is removed.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use longhaul_engine::RESULTS_VERSION;
use serde::{Deserialize, Serialize};

use crate::directory::{sibling, sync_directory};
use crate::error::OutputError;

const STATE: &str = "state";
const LOCK: &str = "lock";
const RUN: &str = "run";

/// Version of the format of the state. It changes with the format, even if results stay the same.
const FORMAT: u32 = 4;

/// Identity of the run that wrote a checkpoint, at the beginning of the stored state. Only the same
/// engine version can read the rest of the state.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Owner {
    engine: String,
    scenario_hash: String,
}

impl Owner {
    fn new(version: &str, scenario_hash: &str) -> Self {
        Self {
            engine: format!("{version} (results {RESULTS_VERSION}, checkpoints {FORMAT})"),
            scenario_hash: scenario_hash.to_string(),
        }
    }
}

/// The checkpoint of a run in progress.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    folder: PathBuf,
    owner: Owner,
    every: Duration,
    last: Instant,
    has_state: bool,
    /// Lock on the folder, which is kept as long as this value exists.
    _lock: File,
}

impl Checkpoint {
    /// Returns the folder of the checkpoint of run directory `target`.
    pub(crate) fn folder(target: &Path) -> PathBuf {
        sibling(target, "checkpoint")
    }

    /// Opens the checkpoint of run directory `target`. Returns its state, or `None` if there is
    /// none yet. New states are due at intervals of `every`. Refuses a damaged state, the state of
    /// another run or version, and a checkpoint that is in use.
    pub(crate) fn open(
        target: &Path,
        every: Duration,
        version: &str,
        scenario_hash: &str,
    ) -> Result<(Self, Option<Vec<u8>>), OutputError> {
        let folder = Self::folder(target);
        let (run, state) = (folder.join(RUN), folder.join(STATE));
        fs::create_dir_all(&folder).map_err(OutputError::io("create", &folder))?;
        let lock = folder.join(LOCK);
        let file = File::create(&lock).map_err(OutputError::io("create", &lock))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OutputError::InUse(folder)),
            Err(TryLockError::Error(error)) => return Err(OutputError::io("lock", &lock)(error)),
        }
        if state.exists() && !run.exists() {
            // The run already has its final name, but the process was killed before it removed the
            // rest.
            fs::remove_file(&state).map_err(OutputError::io("remove", &state))?;
        }
        if !state.exists() && run.exists() {
            // A process was killed before its first checkpoint.
            fs::remove_dir_all(&run).map_err(OutputError::io("remove", &run))?;
        }
        fs::create_dir_all(&run).map_err(OutputError::io("create", &run))?;
        let owner = Owner::new(version, scenario_hash);
        let stored = match fs::read(&state) {
            Ok(bytes) => Some(owner.check(&folder, &bytes)?),
            Err(_) if !state.exists() => None,
            Err(error) => return Err(OutputError::io("read", &state)(error)),
        };
        let checkpoint = Self {
            folder,
            owner,
            every,
            last: Instant::now(),
            has_state: stored.is_some(),
            _lock: file,
        };
        Ok((checkpoint, stored))
    }

    pub(crate) fn own_folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the folder of the run's growing files.
    pub(crate) fn run(&self) -> PathBuf {
        self.folder.join(RUN)
    }

    /// Returns true if the next checkpoint is due.
    pub(crate) fn is_due(&self) -> bool {
        self.last.elapsed() >= self.every
    }

    /// Replaces the stored state by the concatenation of `parts`.
    pub(crate) fn write(&mut self, parts: [&[u8]; 2]) -> Result<(), OutputError> {
        let (new, state) = (self.folder.join("state.new"), self.folder.join(STATE));
        let owner = postcard::to_stdvec(&self.owner).expect("plain data");
        let write = || {
            let mut file = File::create(&new)?;
            file.write_all(&owner)?;
            parts
                .into_iter()
                .try_for_each(|part| file.write_all(part))?;
            file.sync_all()?;
            fs::rename(&new, &state)
        };
        write().map_err(OutputError::io("write", &new))?;
        sync_directory(&self.folder)?;
        self.has_state = true;
        self.last = Instant::now();
        Ok(())
    }

    /// Removes the checkpoint after the run's directory has its final name.
    pub(crate) fn remove(mut self) -> Result<(), OutputError> {
        self.has_state = false;
        fs::remove_dir_all(&self.folder).map_err(OutputError::io("remove", &self.folder))
    }
}

/// Removes the folder of a run that ends before its first checkpoint.
impl Drop for Checkpoint {
    fn drop(&mut self) {
        if !self.has_state {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

impl Owner {
    /// Checks that `bytes`, the state stored in `folder`, belongs to this engine version and
    /// scenario. Returns the state without the [`Owner`] at its beginning.
    fn check(&self, folder: &Path, bytes: &[u8]) -> Result<Vec<u8>, OutputError> {
        let damaged = |_| OutputError::DamagedCheckpoint(folder.to_path_buf());
        let (owner, rest): (Self, _) = postcard::take_from_bytes(bytes).map_err(damaged)?;
        if owner.engine != self.engine {
            return Err(OutputError::OtherEngine {
                folder: folder.to_path_buf(),
                found: owner.engine,
                own: self.engine.clone(),
            });
        }
        if owner.scenario_hash != self.scenario_hash {
            return Err(OutputError::OtherScenario(folder.to_path_buf()));
        }
        Ok(rest.to_vec())
    }
}
