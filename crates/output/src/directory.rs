//! A directory that appears under its name only when it is complete.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::error::OutputError;

/// The file that makes a directory a run directory.
pub(crate) const RUN_JSON: &str = "run.json";

/// A directory under a temporary name beside its future one; removed unless published.
#[derive(Debug)]
pub(crate) struct PartialDirectory {
    temporary: PathBuf,
    target: PathBuf,
    overwrite: bool,
    /// Whether the temporary directory stays when the run is not complete.
    kept: bool,
}

impl PartialDirectory {
    /// Creates `<target>.partial-<process id>`, and missing parents.
    pub(crate) fn create(target: &Path, overwrite: bool) -> Result<Self, OutputError> {
        let target = free_target(target, overwrite)?;
        for attempt in 0_u32.. {
            let temporary = own_sibling(&target, "partial", attempt);
            match fs::create_dir(&temporary) {
                Ok(()) => {
                    return Ok(Self {
                        temporary,
                        target,
                        overwrite,
                        kept: false,
                    });
                }
                // Another thread's, or left over by a killed process of the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(OutputError::io("create", &temporary)(error)),
            }
        }
        unreachable!("four thousand million directories of the same name")
    }

    /// The same under a temporary name that lasts, to be gone on with by another process: `open` says
    /// which, given the target.
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
        };
        Ok((directory, found))
    }

    /// The absolute path that the directory will have.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// The path of a file in the directory.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.temporary.join(name)
    }

    /// Writes a whole file to the disk.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<(), OutputError> {
        let path = self.file(name);
        File::create(&path)
            .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
            .map_err(OutputError::io("write", &path))
    }

    /// Gives the directory its name. An older run of that name goes only now.
    pub(crate) fn publish(self) -> Result<PathBuf, OutputError> {
        check_target(&self.target, self.overwrite)?;
        sync_directory(&self.temporary)?;
        let replaced = own_sibling(&self.target, "replaced", 0);
        let replaces = self.target.exists();
        if replaces {
            rename(&self.target, &replaced)?;
        }
        if let Err(error) = rename(&self.temporary, &self.target) {
            if replaces {
                rename(&replaced, &self.target)?;
            }
            return Err(error);
        }
        if replaces {
            fs::remove_dir_all(&replaced).map_err(OutputError::io("remove", &replaced))?;
        }
        if let Some(parent) = self.target.parent() {
            sync_directory(parent)?;
        }
        Ok(self.target.clone())
    }
}

impl Drop for PartialDirectory {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // Published, there is nothing left to remove; and an error here has nobody to go to.
        let _ = fs::remove_dir_all(&self.temporary);
    }
}

/// The absolute path of a run that may be written, in a directory that exists.
fn free_target(target: &Path, overwrite: bool) -> Result<PathBuf, OutputError> {
    check_target(target, overwrite)?;
    // `x/` and `x` are the same directory; a sibling of `..` or `.` needs its real name.
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

/// `<target>.<what>`.
pub(crate) fn sibling(target: &Path, what: &str) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{what}"));
    target.with_file_name(name)
}

/// One that no other process has.
fn own_sibling(target: &Path, what: &str, attempt: u32) -> PathBuf {
    let id = process::id();
    match attempt {
        0 => sibling(target, &format!("{what}-{id}")),
        _ => sibling(target, &format!("{what}-{id}-{attempt}")),
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), OutputError> {
    fs::rename(from, to).map_err(OutputError::io("rename", from))
}

/// Makes the names in a directory last. Only Unix opens directories.
pub(crate) fn sync_directory(path: &Path) -> Result<(), OutputError> {
    if cfg!(unix) {
        File::open(path)
            .and_then(|directory| directory.sync_all())
            .map_err(OutputError::io("write", path))?;
    }
    Ok(())
}
