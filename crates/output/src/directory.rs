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
}

impl PartialDirectory {
    /// Creates `<target>.partial-<process id>`, and missing parents.
    pub(crate) fn create(target: &Path, overwrite: bool) -> Result<Self, OutputError> {
        check_target(target, overwrite)?;
        // `x/` and `x` are the same directory; a sibling of `..` or `.` needs its real name.
        let target = std::path::absolute(target).map_err(OutputError::io("find", target))?;
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(OutputError::io("create", parent))?;
        }
        for attempt in 0_u32.. {
            let temporary = sibling(&target, "partial", attempt);
            match fs::create_dir(&temporary) {
                Ok(()) => {
                    return Ok(Self {
                        temporary,
                        target,
                        overwrite,
                    });
                }
                // Another thread's, or left over by a killed process of the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(OutputError::io("create", &temporary)(error)),
            }
        }
        unreachable!("four thousand million directories of the same name")
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
        let replaced = sibling(&self.target, "replaced", 0);
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
        // Published, there is nothing left to remove; and an error here has nobody to go to.
        let _ = fs::remove_dir_all(&self.temporary);
    }
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

fn sibling(target: &Path, what: &str, attempt: u32) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{what}-{}", process::id()));
    if attempt > 0 {
        name.push(format!("-{attempt}"));
    }
    target.with_file_name(name)
}

fn rename(from: &Path, to: &Path) -> Result<(), OutputError> {
    fs::rename(from, to).map_err(OutputError::io("rename", from))
}

/// Makes the names in a directory last. Only Unix opens directories.
fn sync_directory(path: &Path) -> Result<(), OutputError> {
    if cfg!(unix) {
        File::open(path)
            .and_then(|directory| directory.sync_all())
            .map_err(OutputError::io("write", path))?;
    }
    Ok(())
}
