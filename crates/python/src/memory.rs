//! Memory of a simulation, read as resident pages from Linux's `/proc`.
//!
//! On other systems memory is neither reported nor limited. The memory of simulations in other
//! threads of the process is counted as well.

use std::fs;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;

/// The memory in use before a simulation.
#[derive(Clone, Copy)]
pub(crate) struct Baseline {
    resident_bytes: Option<u64>,
}

impl Baseline {
    /// Reads the memory in use now, and resets the system's record of the peak.
    pub(crate) fn take() -> Self {
        // Some containers refuse the reset; then the peak of the whole process is reported.
        let _ = fs::write("/proc/self/clear_refs", "5");
        Self {
            resident_bytes: status_bytes("VmRSS:"),
        }
    }

    /// Returns the peak memory in use since the baseline, minus the baseline, in bytes; `None` if
    /// the system does not report it.
    pub(crate) fn growth_bytes(&self) -> Option<u64> {
        Some(status_bytes("VmHWM:")?.saturating_sub(self.resident_bytes?))
    }
}

/// Limit on the memory that a run may take in addition to its baseline.
#[derive(Clone, Copy)]
pub(crate) struct MemoryLimit {
    pub(crate) bytes: u64,
    resident_before: u64,
}

impl MemoryLimit {
    /// Default memory limit, as a fraction of the memory available when the run begins.
    const SHARE: f64 = 0.9;

    /// Returns the limit: `given` bytes or, if `given` is `None`, nine tenths of the available
    /// memory. The result is `None` if the system does not report the memory of the process or,
    /// without `given`, the available memory.
    pub(crate) fn new(given: Option<u64>, baseline: Baseline) -> Option<Self> {
        let default = || Some((available_bytes()? as f64 * Self::SHARE) as u64);
        Some(Self {
            bytes: given.or_else(default)?,
            resident_before: baseline.resident_bytes?,
        })
    }

    /// Returns true if the run may allocate `more` bytes.
    pub(crate) fn allows(&self, more: u64) -> bool {
        let resident = status_bytes("VmRSS:").unwrap_or(0);
        resident.saturating_add(more) <= self.resident_before.saturating_add(self.bytes)
    }
}

/// Returns the size with the given key in `/proc/self/status`, in bytes; `None` if there is none.
fn status_bytes(key: &str) -> Option<u64> {
    kibibytes("/proc/self/status", key)
}

/// Returns the size with the given key in a file with lines such as `MemAvailable: 1024 kB`, in
/// bytes.
fn kibibytes(file: &str, key: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Returns the bytes of memory that the process can take without swapping: the memory available on
/// the machine, or less if a control group limits the process.
fn available_bytes() -> Option<u64> {
    let machine = kibibytes("/proc/meminfo", "MemAvailable:");
    let groups = control_groups()
        .into_iter()
        .filter_map(|group| left_in(&group));
    machine.into_iter().chain(groups).min()
}

/// Returns the directories of the process's control groups and of their ancestors, of version 2 and
/// version 1 (Linux, `Documentation/admin-guide/cgroup-v2.rst` and `cgroup-v1/memory.rst`).
fn control_groups() -> Vec<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let directories = own.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let root = match controllers {
            "" => "/sys/fs/cgroup",
            _ if controllers.split(',').any(|one| one == "memory") => "/sys/fs/cgroup/memory",
            _ => return None,
        };
        let own = Path::new(root).join(path.trim_start_matches('/'));
        Some(
            own.ancestors()
                .take_while(|above| above.starts_with(root))
                .map(Path::to_path_buf)
                .collect::<Vec<_>>(),
        )
    });
    directories.flatten().collect()
}

/// Returns the bytes that a control group can still use below its limit. Inactive cached files do not
/// count as used: the kernel can drop them.
fn left_in(group: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let limit = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    let used = number("memory.current").or_else(|| number("memory.usage_in_bytes"))?;
    let stat = read("memory.stat").unwrap_or_default();
    // In version 1 of control groups, the totals include the groups below, as the usage does.
    let cached = ["total_inactive_file ", "inactive_file "]
        .iter()
        .find_map(|key| {
            stat.lines()
                .find_map(|line| line.strip_prefix(key)?.parse::<u64>().ok())
        });
    Some(limit.saturating_sub(used.saturating_sub(cached.unwrap_or(0))))
}

/// Formats a number of bytes with three digits and a suitable unit.
#[pyfunction]
pub(crate) fn byte_count(bytes: f64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let unit = units.into_iter().find(|(size, _)| bytes >= 0.9995 * size);
    let Some((size, unit)) = unit else {
        return format!("{bytes:.0} B");
    };
    let value = bytes / size;
    let digits = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {unit}")
}
