//! What can go wrong when a run is written.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use thiserror::Error;

/// Why a run directory could not be written.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The directory is there already.
    #[error("{} exists already; choose another output directory or allow overwriting", .0.display())]
    Exists(PathBuf),
    /// Overwriting is allowed, but for run directories only.
    #[error("{} is not a run directory (it has no run.json), so it is not overwritten; choose another output directory", .0.display())]
    NotARun(PathBuf),
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// Its answer.
        source: io::Error,
    },
    /// A table could not be written.
    #[error("cannot write {}: {source}", .path.display())]
    Table {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: ParquetError,
    },
}

impl OutputError {
    /// For `map_err`: adds what was tried on which path.
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

    /// For `map_err`: adds the path of the table.
    pub(crate) fn table(path: &Path) -> impl FnOnce(ParquetError) -> Self + '_ {
        move |source| Self::Table {
            path: path.to_path_buf(),
            source,
        }
    }
}
