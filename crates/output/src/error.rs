//! Errors in writing a run.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use thiserror::Error;

/// Reason why a run directory could not be written.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The directory exists already.
    #[error("{} already exists; choose another output directory or allow overwriting", .0.display())]
    Exists(PathBuf),
    /// The directory to be overwritten is not a run directory.
    #[error("{} is not a run directory (it has no run.json), so it is not overwritten; choose another output directory", .0.display())]
    NotARun(PathBuf),
    /// The run has a checkpoint, but was started without the option to resume from it.
    #[error(
        "{} holds the checkpoint of an unfinished run: add --checkpoint-every to resume it, or \
         remove the directory to start again", .0.display()
    )]
    HasCheckpoint(PathBuf),
    /// Another process writes to the directory.
    #[error("{} is in use: another process is writing this run", .0.display())]
    InUse(PathBuf),
    /// A checkpoint that cannot be read.
    #[error("{}: the checkpoint is damaged; remove the directory to start again", .0.display())]
    DamagedCheckpoint(PathBuf),
    /// The checkpoint was written by another version.
    #[error(
        "{} holds a checkpoint of Longhaul {found}, and this is {own}: resume with the version that wrote \
         it, or remove the directory to start again", .folder.display()
    )]
    OtherEngine {
        /// Folder of the checkpoint.
        folder: PathBuf,
        /// Version that wrote the checkpoint.
        found: String,
        /// The version of this program.
        own: String,
    },
    /// The checkpoint is of another scenario.
    #[error(
        "{} holds a checkpoint of another scenario, or of this one with other values: choose another \
         output directory, or remove that one to start again", .0.display()
    )]
    OtherScenario(PathBuf),
    /// The run has measuring functions but its checkpoint was begun without them, or vice versa.
    #[error("{}: the run was started {begun} measuring functions: resume it {begun} them", .folder.display())]
    OtherMeasures {
        /// Folder of the checkpoint.
        folder: PathBuf,
        /// Word for the message: `with` if the run was begun with measuring functions, else
        /// `without`.
        begun: &'static str,
    },
    /// The state of an algorithm cannot be stored.
    #[error(
        "algorithm `{0}` is not one of the program's own: its state cannot be stored in a checkpoint"
    )]
    CannotStore(String),
    /// The operating system refused an action on a file or directory.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// Action that failed, as text.
        action: &'static str,
        /// File or directory that the action concerns.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A table could not be written.
    #[error("cannot write {}: {source}", .path.display())]
    Table {
        /// File of the table.
        path: PathBuf,
        /// Error of the Parquet writer.
        source: ParquetError,
    },
}

impl OutputError {
    /// Returns a function for `map_err` that adds the failed `action` and its `path` to an error.
    pub(crate) fn io<'a>(
        action: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io {
            action,
            path: path.to_path_buf(),
            source,
        }
    }

    /// Returns a function for `map_err` that adds `path`, the file of the table, to an error.
    pub(crate) fn table(path: &Path) -> impl FnOnce(ParquetError) -> Self + '_ {
        move |source| Self::Table {
            path: path.to_path_buf(),
            source,
        }
    }
}
