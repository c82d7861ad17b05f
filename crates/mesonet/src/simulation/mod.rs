//! Runs a simulation of MesoNet: the loop over packets, timers and intervals.
//!
//! It shares time, random streams and congestion control with the simulations of TCP and UDP, and
//! nothing else: see `network/mesonet` for why.

mod checkpoint;
mod counters;
mod flow_lifecycle;
mod goodput;
mod intervals;
mod setup;
mod tracing;

use longhaul_engine::measure::Control;
use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

pub use self::checkpoint::resume;
use self::counters::Tallies;
use self::goodput::Batches;
use self::tracing::Tracing;
use crate::config::{Config, Jumbo, LongLived, Measure};
use crate::flows::{Connections, Env, Expired, Timer};
use crate::hosts::{FileChooser, Receivers, Sources, UnderWay};
use crate::network::{Happening, Kind, Packet};
use crate::records::{Recorder, Totals};

/// What cannot be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SetupError {
    /// Two backbone routers are not connected.
    #[error("backbone: there is no path from router `{from}` to router `{to}`")]
    NoPath {
        /// Name of the router that packets come from.
        from: String,
        /// Name of the router that they go to.
        to: String,
    },
    /// Congestion control that is refused.
    #[error("algorithm `{label}`: {reason}")]
    Congestion {
        /// What tables call it.
        label: String,
        /// What is wrong.
        reason: String,
    },
    /// The state to resume from is not one that this version stored.
    #[error("the checkpoint is damaged: {0}")]
    Checkpoint(String),
}

/// Simulates `config`, reporting to `recorder`.
///
/// # Errors
///
/// Backbone routers that hosts are under and no route leads between, or a congestion control that does
/// not exist.
pub fn run(config: &Config, recorder: &mut dyn Recorder) -> Result<Totals, SetupError> {
    let mut world = World::new(config)?;
    let stopped = world.run(recorder);
    Ok(world.totals(stopped))
}

/// Everything. Plain data: a copy of it goes on like the original, one that was stored and read too.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct World {
    env: Env,
    connections: Connections,
    sources: Sources,
    receivers: Receivers,
    files: FileChooser,
    under_way: UnderWay,
    jumbo: Option<Jumbo>,
    long_lived: Vec<LongLived>,
    /// Algorithm and speed of each long-lived flow.
    algorithms: Vec<u8>,
    speeds: Vec<u16>,
    tallies: Tallies,
    batches: Batches,
    measure: Measure,
    tracing: Option<Tracing>,
    end: Time,
    /// When the current interval ends, and its number.
    interval_end: Time,
    interval: u64,
}

/// Longest time between two looks at the clock, however long intervals are.
const LEAP: Span = Span::from_secs(1);

impl World {
    /// Processes events until the end; returns whether the recorder stopped the run before it.
    #[inline(never)]
    fn run(&mut self, recorder: &mut dyn Recorder) -> bool {
        loop {
            let leap = self.env.network.now + LEAP;
            let until = self.interval_end.min(leap);
            self.env.network.set_horizon(until);
            if self.begin_trace() {
                self.run_traced(until, recorder);
            } else {
                self.run_until::<false>(until, recorder);
            }
            self.env.network.now = until;
            self.env.network.rebase();
            if until < self.interval_end {
                // What was measured of the interval so far is not recorded.
                if recorder.progress(until, &mut || self.env.packets_in) == Control::Stop {
                    return true;
                }
                continue;
            }
            self.end_interval(recorder);
            let control = recorder.progress(until, &mut || self.env.packets_in);
            if until == self.end {
                return false;
            }
            if control == Control::Stop {
                let rest = &mut |batch: &_| recorder.batch(batch);
                self.batches.report(self.interval - 1, true, rest);
                return true;
            }
            recorder.checkpoint(&|| self.to_bytes());
        }
    }

    /// Compiled twice, so that the loop that traces nothing does not ask whether to: what is called in
    /// it once is inlined by order, not by the compiler's choice.
    #[inline(always)]
    fn run_until<const TRACED: bool>(&mut self, until: Time, recorder: &mut dyn Recorder) {
        loop {
            let timer = self.env.timers.first();
            match self.env.network.next::<TRACED>(timer.min(until)) {
                Some(Happening::Delivered(packet)) if TRACED => {
                    self.deliver_traced(&packet, recorder);
                }
                Some(Happening::Delivered(packet)) => self.deliver(&packet, recorder),
                Some(Happening::Answered(answer)) => {
                    self.connections.on_answer(answer, &mut self.env);
                }
                Some(Happening::Paced(flow)) => self.connections.on_pace(flow, &mut self.env),
                None if timer <= until => self.on_timer(recorder),
                None => return,
            }
        }
    }

    /// A packet has passed the access router of its host.
    #[inline(always)]
    fn deliver(&mut self, packet: &Packet, recorder: &mut dyn Recorder) {
        if let Some(next) = self.env.network.upcoming(packet.to) {
            self.connections.expect(next);
        }
        match packet.kind() {
            Kind::Data => {
                let tally = self.connections.on_data(packet, &mut self.env);
                self.tallies.count_out(tally);
            }
            Kind::Ack | Kind::Nak => {
                if self.connections.on_ack(packet, &mut self.env) {
                    self.complete(packet.flow(), recorder);
                }
            }
            Kind::Syn => self.connections.on_syn(packet, &mut self.env),
            Kind::SynAck => self.begin(packet.flow()),
        }
    }

    #[cold]
    fn on_timer(&mut self, recorder: &mut dyn Recorder) {
        let (now, timer) = self.env.timers.take();
        self.env.network.now = now;
        match timer {
            Timer::Expiry(flow) => {
                let before = self.marks_of(flow);
                match self.connections.on_expiry(flow, &mut self.env) {
                    Expired::No => self.report_timeout(flow, before, recorder),
                    Expired::Again => self.note_retry(flow),
                    Expired::Failed => self.fail(flow, recorder),
                }
            }
            Timer::Pace(flow) => self.connections.on_pace(flow, &mut self.env),
            Timer::Ask(source) => self.ask(source),
            Timer::Start(number) => self.start_long_lived(number, recorder),
            Timer::Stop(number) => self.stop_long_lived(number, recorder),
        }
    }
}
