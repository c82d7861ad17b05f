//! A flag by which other threads request progress reports from the simulation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag for requests of progress reports. Another thread can set it at any time, even if the simulation processes few
/// events. The event loop reads it with one load. It has no effect on results.
#[derive(Clone, Debug, Default)]
pub struct Ticker(Arc<AtomicBool>);

impl Ticker {
    /// Requests a report.
    pub fn tick(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if a report has been requested.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns true if a report has been requested, and clears the request.
    pub fn take(&self) -> bool {
        self.is_due() && self.0.swap(false, Ordering::Relaxed)
    }
}
