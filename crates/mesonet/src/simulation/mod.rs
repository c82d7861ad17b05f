//! The event loop: packets, timers, measurement intervals.

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
use self::counters::Counters;
use self::goodput::Batches;
use self::tracing::Tracing;
use crate::config::{Config, Jumbo, LongLived, Measure};
use crate::flows::{Env, FlowTable, Timer, TimerOutcome};
use crate::hosts::{ActiveLargeFiles, FileChooser, Receivers, Sources};
use crate::network::{HostEvent, Kind, Packet};
use crate::records::{Recorder, Totals};

/// Why a configuration cannot be simulated.
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
/// Backbone routers with hosts and no route between them, or congestion control that does not exist.
pub fn run(config: &Config, recorder: &mut dyn Recorder) -> Result<Totals, SetupError> {
    let mut world = World::new(config)?;
    let stopped = world.run(recorder);
    Ok(world.totals(stopped))
}

/// The whole state, as plain data: a stored copy resumes like the original.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct World {
    env: Env,
    flows: FlowTable,
    sources: Sources,
    receivers: Receivers,
    files: FileChooser,
    large_files: ActiveLargeFiles,
    jumbo: Option<Jumbo>,
    long_lived: Vec<LongLived>,
    /// Algorithm and speed of each long-lived flow.
    algorithms: Vec<u8>,
    speeds: Vec<u16>,
    counters: Counters,
    batches: Batches,
    measure: Measure,
    tracing: Option<Tracing>,
    end: Time,
    /// When the current interval ends, and its number.
    interval_end: Time,
    interval: u64,
}

/// Longest simulated time between two calls of [`Recorder::progress`].
const MAX_STEP: Span = Span::from_secs(1);

impl World {
    /// Processes events until the end; returns whether the recorder stopped the run before it.
    #[inline(never)]
    fn run(&mut self, recorder: &mut dyn Recorder) -> bool {
        loop {
            let leap = self.env.network.now + MAX_STEP;
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
                // The unfinished interval is not recorded.
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

    /// Compiled twice, so that the loop without traces has no test for them. Inlining is forced where
    /// the compiler would not inline into two copies.
    #[inline(always)]
    fn run_until<const TRACED: bool>(&mut self, until: Time, recorder: &mut dyn Recorder) {
        loop {
            let timer = self.env.timers.first();
            match self.env.network.next::<TRACED>(timer.min(until)) {
                Some(HostEvent::Delivered(packet)) if TRACED => {
                    self.deliver_traced(&packet, recorder);
                }
                Some(HostEvent::Delivered(packet)) => self.deliver(&packet, recorder),
                Some(HostEvent::AckReady(ack)) => {
                    self.flows.on_ack_ready(ack, &mut self.env);
                }
                Some(HostEvent::MaySend(flow)) => self.flows.on_pace(flow, &mut self.env),
                None if timer <= until => self.on_timer(recorder),
                None => return,
            }
        }
    }

    /// A packet has passed the access router of its host.
    #[inline(always)]
    fn deliver(&mut self, packet: &Packet, recorder: &mut dyn Recorder) {
        if let Some(next) = self.env.network.next_delivery(packet.to) {
            self.flows.prefetch_for(next);
        }
        match packet.kind() {
            Kind::Data => {
                let counter = self.flows.on_data(packet, &mut self.env);
                self.counters.count_out(counter);
            }
            Kind::Ack | Kind::Nak => {
                if self.flows.on_ack(packet, &mut self.env) {
                    self.complete(packet.flow(), recorder);
                }
            }
            Kind::Syn => self.flows.on_syn(packet, &mut self.env),
            Kind::SynAck => self.start_transfer(packet.flow()),
        }
    }

    #[cold]
    fn on_timer(&mut self, recorder: &mut dyn Recorder) {
        let (now, timer) = self.env.timers.take();
        self.env.network.now = now;
        match timer {
            Timer::Expiry(flow) => {
                let before = self.marks_of(flow);
                match self.flows.on_timer_expired(flow, &mut self.env) {
                    TimerOutcome::Continue => self.report_timeout(flow, before, recorder),
                    TimerOutcome::SynRetransmitted => self.count_syn_retransmission(flow),
                    TimerOutcome::Failed => self.fail(flow, recorder),
                }
            }
            Timer::Pace(flow) => self.flows.on_pace(flow, &mut self.env),
            Timer::Request(source) => self.request_file(source),
            Timer::Start(number) => self.start_long_lived(number, recorder),
            Timer::Stop(number) => self.stop_long_lived(number, recorder),
        }
    }
}
