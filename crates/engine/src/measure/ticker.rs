//! Requests for progress reports from other threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks a simulation for a report of progress from another thread, however much or little happens in it.
/// Looking at it costs the event loop a load; what it finds leaves no trace in results.
#[derive(Clone, Debug, Default)]
pub struct Ticker(Arc<AtomicBool>);

impl Ticker {
    /// Asks for a report.
    pub fn tick(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether one is asked for.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether one is asked for; clears the request.
    pub fn take(&self) -> bool {
        self.is_due() && self.0.swap(false, Ordering::Relaxed)
    }
}
