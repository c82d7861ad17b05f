//! Counter of a thread's calls of Python algorithms. Another thread reads it to find and interrupt
//! calls that take too long.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

thread_local! {
    static CALLS: Arc<Calls> = Arc::default();
}

/// Counter of one thread's calls of Python algorithms, readable from other threads.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// Number of beginnings and ends of calls so far; odd during a call.
    number: AtomicU64,
    files: Mutex<Vec<String>>,
}

impl Calls {
    /// Returns the counter of this thread's calls of Python algorithms.
    pub(crate) fn of_this_thread() -> Arc<Self> {
        CALLS.with(Arc::clone)
    }

    /// Returns a number that identifies the call in progress of an algorithm; `None` between calls.
    pub(crate) fn current(&self) -> Option<u64> {
        let number = self.number.load(Ordering::Relaxed);
        (number % 2 == 1).then_some(number)
    }

    /// Returns the source files of algorithms that this thread has loaded. Files of classes that
    /// the calling program passed are not among them.
    pub(crate) fn files(&self) -> Vec<String> {
        let files = self.files.lock();
        files
            .expect("no thread panics while it holds the lock")
            .clone()
    }

    /// Adds the path of an algorithm's source file, for [`Self::files`].
    pub(super) fn note_file(&self, file: &str) {
        let files = self.files.lock();
        let mut files = files.expect("no thread panics while it holds the lock");
        if !files.iter().any(|known| known == file) {
            files.push(file.to_string());
        }
    }

    /// Counts the beginning or the end of a call.
    fn count(&self) {
        // Only the counter's own thread writes it.
        let number = self.number.load(Ordering::Relaxed);
        self.number.store(number + 1, Ordering::Relaxed);
    }
}

/// Runs `act`, which counts as a call of an algorithm.
pub(super) fn called<T>(act: impl FnOnce() -> T) -> T {
    CALLS.with(|calls| calls.count());
    let done = act();
    CALLS.with(|calls| calls.count());
    done
}
