//! A directory that gets its name only when it is complete.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::digest::{Digests, NewFile};
use crate::error::OutputError;

/// Name of the file that makes a directory a run directory.
pub(crate) const RUN_JSON: &str = "run.json";

/// Beginning of the suffix for a directory that is being written: `<target>.partial-<process id>`.
const PARTIAL: &str = "partial-";
/// Suffix for the directory of a stopped run, which must not replace a finished one.
const STOPPED: &str = "stopped";

/// A directory with a temporary path. It is removed when dropped, unless it was published or is from
/// [`Self::lasting`].
#[derive(Debug)]
pub(crate) struct PartialDirectory {
    temporary: PathBuf,
    target: PathBuf,
    overwrite: bool,
    /// True if the temporary directory stays when the run does not complete.
    kept: bool,
    digests: Digests,
    /// Lock on the directory while it is written: other processes must not remove it as stale. `None` where directories
    /// cannot be locked.
    _lock: Option<File>,
}

impl PartialDirectory {
    /// Creates `<target>.partial-<process id>` and missing parents. Removes such directories of killed processes of the
    /// same run. An existing run is replaced only with `overwrite`.
    pub(crate) fn create(target: &Path, overwrite: bool) -> Result<Self, OutputError> {
        let target = free_target(target, overwrite)?;
        remove_stale(&target);
        for attempt in 0_u32.. {
            let temporary = own_sibling(&target, attempt);
            match fs::create_dir(&temporary) {
                Ok(()) => {
                    let Some(lock) = lock(&temporary) else {
                        // Another process removed the directory before it was locked.
                        continue;
                    };
                    return Ok(Self {
                        temporary,
                        target,
                        overwrite,
                        kept: false,
                        digests: Digests::default(),
                        _lock: lock,
                    });
                }
                // The directory belongs to another thread, or is stale on a system without locks.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(OutputError::io("create", &temporary)(error)),
            }
        }
        unreachable!("four billion directories of the same name")
    }

    /// Opens a directory that remains if the process ends early, so that another process can resume the run. `open`
    /// gets the final path, creates or reopens the directory at a temporary path, and returns this path and a result.
    /// The result is returned with the directory.
    pub(crate) fn lasting<T>(
        target: &Path,
        overwrite: bool,
        open: impl FnOnce(&Path) -> Result<(PathBuf, T), OutputError>,
    ) -> Result<(Self, T), OutputError> {
        let target = free_target(target, overwrite)?;
        let (temporary, found) = open(&target)?;
        let directory = Self {
            temporary,
            target,
            overwrite,
            kept: true,
            digests: Digests::default(),
            _lock: None,
        };
        Ok((directory, found))
    }

    /// Returns the absolute path that the directory will have.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Returns a new file in the directory, to be written.
    pub(crate) fn file(&self, name: &str) -> NewFile {
        NewFile::new(self.temporary.join(name), self.digests.clone())
    }

    /// Returns the SHA-256 of those files from [`Self::file`] that are complete.
    pub(crate) fn digests(&self) -> &Digests {
        &self.digests
    }

    /// Writes a complete file to the disk. Its SHA-256 is not recorded.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<(), OutputError> {
        let path = self.temporary.join(name);
        File::create(&path)
            .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
            .map_err(OutputError::io("write", &path))
    }

    /// Renames the directory to its final name, and returns the path. An older run of this name is replaced if
    /// `overwrite` is set, and is an error otherwise. If `stopped` is true and the older run is complete, the new run
    /// is named `<target>.stopped` instead, and replaces an older run of that name.
    pub(crate) fn publish(self, stopped: bool) -> Result<PathBuf, OutputError> {
        let replaces = self.overwrite && self.target.exists() && !is_stopped(&self.target);
        let (target, overwrite) = if stopped && replaces {
            (sibling(&self.target, STOPPED), true)
        } else {
            (self.target.clone(), self.overwrite)
        };
        check_target(&target, overwrite)?;
        sync_directory(&self.temporary)?;
        if self.kept && target.exists() {
            // The replaced run must not be at the path from which a killed process's checkpoint
            // would be resumed.
            let aside = sibling(&target, &format!("new-{}", process::id()));
            rename(&self.temporary, &aside)?;
            if let Err(error) = put_in_place(&aside, &target) {
                rename(&aside, &self.temporary)?;
                return Err(error);
            }
            let _ = fs::remove_dir_all(&aside);
        } else {
            put_in_place(&self.temporary, &target)?;
        }
        if let Some(parent) = target.parent() {
            sync_directory(parent)?;
        }
        Ok(target)
    }
}

impl Drop for PartialDirectory {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // After publishing, only the replaced run is left to remove; an error here cannot be reported.
        let _ = fs::remove_dir_all(&self.temporary);
    }
}

/// Renames `temporary` to `target`. If `target` exists, the two exchange their names in one step, and the caller has to
/// remove the old directory. Where names cannot be exchanged, the old directory is removed here.
fn put_in_place(temporary: &Path, target: &Path) -> Result<(), OutputError> {
    if !target.exists() {
        return rename(temporary, target);
    }
    match exchange(temporary, target) {
        Ok(()) => Ok(()),
        // Some systems and file systems cannot exchange names: for a moment, neither run has the
        // name.
        Err(_) => {
            let replaced = sibling(target, &format!("replaced-{}", process::id()));
            rename(target, &replaced)?;
            if let Err(error) = rename(temporary, target) {
                rename(&replaced, target)?;
                return Err(error);
            }
            fs::remove_dir_all(&replaced).map_err(OutputError::io("remove", &replaced))
        }
    }
}

#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Locks a new directory, so that other processes do not remove it as stale. Returns `None` if
/// another process has removed or locked it, and `Some(None)` where directories cannot be locked.
fn lock(path: &Path) -> Option<Option<File>> {
    let Ok(file) = File::open(path) else {
        return path.exists().then_some(None);
    };
    let locked = file.try_lock();
    if !path.exists() {
        return None;
    }
    match locked {
        Ok(()) => Some(Some(file)),
        Err(TryLockError::WouldBlock) => None,
        Err(TryLockError::Error(_)) => Some(None),
    }
}

/// Removes the temporary directories of run `target` that ended processes have left. A failure is
/// not an error.
fn remove_stale(target: &Path) {
    let prefix = sibling(target, PARTIAL);
    let (Some(parent), Some(prefix)) = (target.parent(), prefix.file_name()) else {
        return;
    };
    let prefix = prefix.as_encoded_bytes();
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(prefix)
            && let Ok(directory) = File::open(entry.path())
            && directory.try_lock().is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Removes the files that this process has written for the unfinished run `target`, except those of a checkpoint.
/// Called before the process ends. A failure is not an error: the next run of that name removes the files.
pub fn discard_unfinished(target: &Path) {
    let Ok(target) = std::path::absolute(target) else {
        return;
    };
    let mut attempts = (0..).map(|attempt| own_sibling(&target, attempt));
    while let Some(temporary) = attempts.next().filter(|path| path.exists()) {
        let _ = fs::remove_dir_all(temporary);
    }
}

/// Checks that a run may be written to `target`, creates the parent directory, and returns the
/// absolute path. An existing run is refused without `overwrite`.
fn free_target(target: &Path, overwrite: bool) -> Result<PathBuf, OutputError> {
    check_target(target, overwrite)?;
    // A sibling of `.` needs the real name of the directory. A `..` at the end of a path remains.
    let target = std::path::absolute(target).map_err(OutputError::io("find", target))?;
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent).map_err(OutputError::io("create", parent))?;
    }
    Ok(target)
}

fn check_target(target: &Path, overwrite: bool) -> Result<(), OutputError> {
    if !target.exists() {
        Ok(())
    } else if !overwrite {
        Err(OutputError::Exists(target.to_path_buf()))
    } else if target.join(RUN_JSON).is_file() {
        Ok(())
    } else {
        Err(OutputError::NotARun(target.to_path_buf()))
    }
}

/// Returns true if the run was stopped before its end.
fn is_stopped(target: &Path) -> bool {
    let text = fs::read(target.join(RUN_JSON)).unwrap_or_default();
    let run: Result<serde_json::Value, _> = serde_json::from_slice(&text);
    run.is_ok_and(|run| run["stopped"] == true)
}

/// Returns `<target>.<what>`.
pub(crate) fn sibling(target: &Path, what: &str) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{what}"));
    target.with_file_name(name)
}

/// Returns the temporary path next to `target` for this process and this attempt.
fn own_sibling(target: &Path, attempt: u32) -> PathBuf {
    let id = process::id();
    match attempt {
        0 => sibling(target, &format!("{PARTIAL}{id}")),
        _ => sibling(target, &format!("{PARTIAL}{id}-{attempt}")),
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), OutputError> {
    fs::rename(from, to).map_err(OutputError::io("rename", from))
}

/// Syncs a directory to disk, so that the names of its files are durable. Does nothing on systems other than Unix; they
/// cannot open directories.
pub(crate) fn sync_directory(path: &Path) -> Result<(), OutputError> {
    if cfg!(unix) {
        File::open(path)
            .and_then(|directory| directory.sync_all())
            .map_err(OutputError::io("write", path))?;
    }
    Ok(())
}
