//! The simulation: regions of the network, their shared state, and measurement intervals.
//!
//! Time is divided into windows of equal length. A window begins when all regions have been simulated to the end of the
//! window before. Each end of a measurement interval within a window divides the window into steps. Results do not
//! depend on the number of threads.

mod agenda;
mod checkpoint;
mod coordinator;
mod counters;
mod crew;
mod ended;
mod flow_lifecycle;
mod goodput;
mod intervals;
mod mail;
mod region;
mod setup;
mod tracing;

use std::sync::{Mutex, MutexGuard};

use longhaul_kernel::Control;
use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::coordinator::Coordinator;
use self::crew::Crew;
use self::mail::Mail;
use self::region::{Region, Step};
use crate::config::{Config, Jumbo, Measure, Trace};
use crate::network::Routes;
use crate::records::{Recorder, Totals};

/// Reason why a configuration cannot be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SetupError {
    /// The routing table has no path, or a loop, between two backbone routers with access routers.
    #[error("backbone: there is no path from router `{from}` to router `{to}`")]
    NoPath {
        /// Name of the router at the path's beginning.
        from: String,
        /// Name of the router at the path's end.
        to: String,
    },
    /// A link between backbone routers has no delay.
    #[error(
        "backbone: link `{link}` has no delay; what happens at one of its routers would reach the other at once, and \
         come back without an end"
    )]
    NoDelay {
        /// Name of the link.
        link: String,
    },
    /// A congestion control is refused.
    #[error("algorithm `{label}`: {reason}")]
    Congestion {
        /// Label of the algorithm in tables.
        label: String,
        /// Reason why the algorithm is refused.
        reason: String,
    },
    /// The state to resume from cannot be read: it is damaged, or of another version.
    #[error("the checkpoint is damaged: {0}")]
    Checkpoint(String),
}

/// Simulates `config` in one thread, reporting to `recorder`.
///
/// # Errors
///
/// Fails in the same cases as [`simulate`].
pub fn run(config: &Config, recorder: &mut dyn Recorder) -> Result<Totals, SetupError> {
    simulate(config, None, 1, recorder)
}

/// Resumes a simulation of `config` in one thread from a `state` that [`Recorder::checkpoint`] has
/// provided.
///
/// # Errors
///
/// Fails in the same cases as [`simulate`].
pub fn resume(
    config: &Config,
    state: &[u8],
    recorder: &mut dyn Recorder,
) -> Result<Totals, SetupError> {
    simulate(config, Some(state), 1, recorder)
}

/// Simulates `config` from its beginning, or from a `state` that [`Recorder::checkpoint`] has
/// provided, in `threads` threads. The number of threads does not affect the results.
///
/// # Errors
///
/// Fails if there is no route between backbone routers with access routers, a link between backbone
/// routers has no delay, a congestion control is refused, or the state is not a checkpoint.
pub fn simulate(
    config: &Config,
    state: Option<&[u8]>,
    threads: usize,
    recorder: &mut dyn Recorder,
) -> Result<Totals, SetupError> {
    let mut world = match state {
        Some(state) => World::from_bytes(config, state)?,
        None => World::new(config)?,
    };
    let stopped = world.run(threads, recorder);
    Ok(world.totals(stopped))
}

/// The whole state of a simulation as plain data; a run that resumes from a stored copy has the
/// same results.
#[derive(Debug, Serialize, Deserialize)]
struct World {
    common: Common,
    places: Places,
    mail: Mail,
    coordinator: Coordinator,
    clock: Clock,
}

/// Data of a simulation that does not change.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Common {
    routes: Routes,
    /// Delay of each link of the backbone.
    delays: Vec<Span>,
    jumbo: Option<Jumbo>,
    trace: Option<Trace>,
    flow_log: bool,
}

/// All regions. A region is used by one thread at a time.
#[derive(Debug, Serialize, Deserialize)]
struct Places {
    regions: Vec<Mutex<Region>>,
}

impl Places {
    fn region(&self, number: usize) -> MutexGuard<'_, Region> {
        locked(&self.regions[number])
    }

    fn regions(&self) -> impl Iterator<Item = MutexGuard<'_, Region>> {
        self.regions.iter().map(locked)
    }

    /// Returns the number of data packets that sources have sent.
    fn packets_in(&self) -> u64 {
        self.regions().map(|region| region.env.packets_in).sum()
    }
}

/// Locks a mutex. If a thread has panicked while it held the lock, the run ends.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("a thread of the simulation panicked")
}

/// Progress of the simulation: current window, interval and counters.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Clock {
    now: Time,
    end: Time,
    /// Number of the current window, from one.
    window: u64,
    window_end: Time,
    window_length: Span,
    interval_end: Time,
    interval: u64,
    measure: Measure,
    /// Number of data packets sent by the end of the previous interval.
    packets_in: u64,
    /// Number of packets that had entered each link by the end of the previous interval.
    entered: Vec<u64>,
    /// Time of the last report of progress.
    reported: Time,
}

/// Simulated time after which [`Recorder::progress`] is called again, at the end of the current window of simulated
/// time.
const MAX_STEP: Span = Span::from_secs(1);

impl World {
    /// Processes events until the end of the simulation. Returns true if the recorder stopped the
    /// run before the end.
    fn run(&mut self, threads: usize, recorder: &mut dyn Recorder) -> bool {
        let Self {
            common,
            places,
            mail,
            coordinator,
            clock,
        } = self;
        let order = coordinator.most_sources_first();
        let mut run = Run {
            common,
            places,
            mail,
            coordinator,
            clock,
        };
        Crew::new(threads, order).lead(
            |region, step| places.region(region).advance(common, mail, step),
            |advance| loop {
                if let Some(stopped) = run.step(advance, recorder) {
                    return stopped;
                }
            },
        )
    }
}

/// A run. Several threads may use its regions.
struct Run<'a> {
    common: &'a Common,
    places: &'a Places,
    mail: &'a Mail,
    coordinator: &'a mut Coordinator,
    clock: &'a mut Clock,
}

impl Run<'_> {
    /// Advances the simulation to the end of the current window of time or of the current interval,
    /// whichever is earlier. Returns `None` while the run continues; at its end, true if the recorder
    /// stopped it.
    fn step(&mut self, advance: &dyn Fn(Step), recorder: &mut dyn Recorder) -> Option<bool> {
        let (common, places) = (self.common, self.places);
        let Clock {
            now,
            window,
            window_end,
            interval_end,
            ..
        } = *self.clock;
        let begins = now + self.clock.window_length == window_end;
        if begins {
            self.coordinator.begin_window(common, places, now);
        }
        let until = window_end.min(interval_end);
        advance(Step {
            window,
            window_end,
            begins,
            until,
            traced: self.coordinator.tracing.is_on(common, now, interval_end),
        });
        self.clock.now = until;
        self.coordinator.report_ended(common, places, recorder);
        if until == window_end {
            self.coordinator.end_window(places);
            self.clock.window += 1;
            self.clock.window_end = until + self.clock.window_length;
        }
        if until == interval_end {
            return self.finish_interval(recorder);
        }
        if until.since(self.clock.reported) < MAX_STEP {
            return None;
        }
        // If the run is stopped, the unfinished interval is not recorded.
        let stopped = self.progress(recorder) == Control::Stop;
        stopped.then(|| self.stop(self.clock.interval, recorder))
    }

    fn progress(&mut self, recorder: &mut dyn Recorder) -> Control {
        self.clock.reported = self.clock.now;
        recorder.progress(self.clock.now, &mut || self.places.packets_in())
    }

    fn finish_interval(&mut self, recorder: &mut dyn Recorder) -> Option<bool> {
        self.coordinator
            .tracing
            .report(self.common, self.places, recorder);
        self.end_interval(recorder);
        let control = self.progress(recorder);
        if self.clock.now == self.clock.end {
            return Some(false);
        }
        if control == Control::Stop {
            return Some(self.stop(self.clock.interval - 1, recorder));
        }
        recorder.checkpoint(&|| self.to_bytes());
        None
    }

    /// Reports those goodputs of completed flows that have not been reported yet. Called after the recorder has stopped
    /// the run in `interval`. Returns true.
    fn stop(&mut self, interval: u64, recorder: &mut dyn Recorder) -> bool {
        let report = &mut |batch: &_| recorder.batch(batch);
        self.coordinator.batches.report(interval, true, report);
        true
    }
}
