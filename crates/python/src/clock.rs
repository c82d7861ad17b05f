//! A clock that ticks in a separate thread.

use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Wall-clock time between two ticks of a [`Clock`].
const INTERVAL: Duration = Duration::from_millis(100);

/// Clock that calls a function at each tick, in a separate thread, until the clock is dropped. The
/// time between two calls of Python code thus does not depend on the speed of the simulation.
pub(crate) struct Clock {
    over: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Clock {
    pub(crate) fn start(mut tick: impl FnMut() + Send + 'static) -> Self {
        let over = Arc::new((Mutex::new(false), Condvar::new()));
        let seen = Arc::clone(&over);
        let ticking = move || {
            let (over, changed) = &*seen;
            let mut over = over
                .lock()
                .expect("no thread panics while it holds the lock");
            while !*over {
                let waited = changed.wait_timeout(over, INTERVAL);
                over = waited.expect("no thread panics while it holds the lock").0;
                tick();
            }
        };
        let thread = thread::Builder::new().name("ticker".into()).spawn(ticking);
        // If the thread cannot be created, the clock does not tick: the run reports no progress,
        // and notices neither its time limit nor an interruption.
        Self {
            over,
            thread: thread.ok(),
        }
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        let (over, changed) = &*self.over;
        *over
            .lock()
            .expect("no thread panics while it holds the lock") = true;
        changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
