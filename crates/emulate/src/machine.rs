//! Use of the machine's processors during an emulation.

use std::fs;

use serde::Serialize;

/// Clock ticks of all processors together, by their use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Busy {
    /// Ticks of busy processors.
    pub used: u64,
    /// Ticks of idle processors.
    pub idle: u64,
    /// Ticks that a hypervisor gave to other machines.
    pub stolen: u64,
}

impl Busy {
    /// Returns the ticks since the machine started.
    pub(crate) fn begin() -> Self {
        let text = fs::read_to_string("/proc/stat").unwrap_or_default();
        let words = text.lines().next().unwrap_or_default().split_whitespace();
        // user nice system idle iowait irq softirq steal
        let ticks: Vec<u64> = words.skip(1).flat_map(str::parse).collect();
        let of = |places: &[usize]| places.iter().filter_map(|&at| ticks.get(at)).sum();
        Self {
            used: of(&[0, 1, 2, 5, 6]),
            idle: of(&[3, 4]),
            stolen: of(&[7]),
        }
    }

    /// Returns the ticks since `self` was taken.
    pub(crate) fn end(self) -> Self {
        let now = Self::begin();
        Self {
            used: now.used.saturating_sub(self.used),
            idle: now.idle.saturating_sub(self.idle),
            stolen: now.stolen.saturating_sub(self.stolen),
        }
    }
}
