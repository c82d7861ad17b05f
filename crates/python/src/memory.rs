//! How much memory a simulation took, as the system counts it: resident pages, from Linux's `/proc`.
//!
//! Elsewhere nothing is known, and nothing is reported. Simulations in other threads of the process
//! are counted too.

use std::fs;

/// The memory in use before a simulation.
pub(crate) struct Baseline {
    resident_bytes: Option<u64>,
}

impl Baseline {
    /// Notes what is in use now, and has the system forget earlier peaks.
    pub(crate) fn take() -> Self {
        // Refused in some containers: the peak of the whole process is reported then.
        let _ = fs::write("/proc/self/clear_refs", "5");
        Self {
            resident_bytes: status_bytes("VmRSS:"),
        }
    }

    /// The most bytes in use since then, beyond what was in use.
    pub(crate) fn growth_bytes(&self) -> Option<u64> {
        Some(status_bytes("VmHWM:")?.saturating_sub(self.resident_bytes?))
    }
}

/// A size from `/proc/self/status`, which gives it in units of 1024 bytes.
fn status_bytes(key: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}
