//! The simulation of the hybrid model in fixed steps: sending, service, delivery, windows.

use crate::config::{Config, Flow, SetupError};
use crate::random::Random;

/// Measurements of a flow over an interval. In means over time, the time before the flow's start counts as zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowSample {
    /// Packets per second that passed all queues of the flow's data path.
    pub throughput: f64,
    /// Round-trip time in seconds, as a mean over time.
    pub rtt: f64,
    /// Congestion window in packets, as a mean over time.
    pub window: f64,
    /// Number of window reductions, one for each loss event.
    pub reductions: u32,
}

/// Measurements of a queue over an interval. All are zero for a queue whose capacity is at least the sum of the
/// `host_rate` of its flows: it is not simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueSample {
    /// Number of waiting packets, as a mean over time.
    pub waiting: f64,
    /// Packets served per second.
    pub served: f64,
    /// Packets dropped per second.
    pub dropped: f64,
}

/// Measurements of all flows and queues over an interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Measurements of each flow.
    pub flows: Vec<FlowSample>,
    /// Measurements of each queue.
    pub queues: Vec<QueueSample>,
}

/// Packets of one flow at one queue of its path.
struct Place {
    queue: usize,
    data: bool,
    /// True at the last queue of the data path: data that leave the queue are delivered.
    delivers: bool,
    /// Number of the flow's packets that wait in the queue.
    waiting: f64,
    /// Number of the flow's packets that arrive in this step.
    arriving: f64,
    /// Number of the flow's packets that left the queue in the previous step.
    leaving: f64,
}

struct FlowState {
    /// Range of the flow's entries in the list of all [`Place`]s.
    places: std::ops::Range<usize>,
    window: f64,
    ssthresh: f64,
    rate: f64,
    rtt: f64,
    /// Time at which a drop will reduce the window; `None` if no reduction is pending.
    reduces_at: Option<f64>,
    sum: FlowSample,
}

#[derive(Clone, Copy)]
struct QueueState {
    waiting: f64,
    arriving: f64,
    /// Fraction of the waiting and arriving packets that leave in this step.
    leaving: f64,
    /// Fraction of the arriving packets that are dropped.
    dropping: f64,
    sum: QueueSample,
}

/// A simulation in progress.
pub struct Simulation {
    config: Config,
    steps: u64,
    places: Vec<Place>,
    flows: Vec<FlowState>,
    queues: Vec<QueueState>,
    random: Random,
}

impl Simulation {
    /// Creates a simulation at time zero.
    pub fn new(config: Config) -> Result<Self, SetupError> {
        config.check()?;
        let followed = config.overloadable();
        let mut places = Vec::new();
        let flows = config.flows.iter().map(|flow| {
            let from = places.len();
            let visits = flow.visits.iter().filter(|visit| followed[visit.queue]);
            places.extend(visits.map(|visit| Place {
                queue: visit.queue,
                data: visit.data,
                delivers: false,
                waiting: 0.0,
                arriving: 0.0,
                leaving: 0.0,
            }));
            let own = &mut places[from..];
            if let Some(last) = own.iter_mut().rfind(|place| place.data) {
                last.delivers = true;
            }
            FlowState {
                places: from..places.len(),
                window: config.initial_window,
                ssthresh: config.initial_ssthresh,
                rate: 0.0,
                rtt: flow.rtt,
                reduces_at: None,
                sum: FlowSample::default(),
            }
        });
        let flows = flows.collect();
        let empty = QueueState {
            waiting: 0.0,
            arriving: 0.0,
            leaving: 0.0,
            dropping: 0.0,
            sum: QueueSample::default(),
        };
        Ok(Self {
            steps: 0,
            places,
            flows,
            queues: vec![empty; config.queues.len()],
            random: Random::new(config.seed),
            config,
        })
    }

    /// Advances the simulation by one interval, and returns the measurements.
    pub fn interval(&mut self) -> Interval {
        for _ in 0..self.config.steps_per_interval {
            let now = self.steps as f64 * self.config.step;
            self.send(now);
            self.serve();
            self.deliver(now);
            self.steps += 1;
        }
        let steps = self.config.steps_per_interval as f64;
        let seconds = steps * self.config.step;
        let flows = self.flows.iter_mut().map(|flow| {
            let sum = std::mem::take(&mut flow.sum);
            FlowSample {
                throughput: sum.throughput / seconds,
                rtt: sum.rtt / steps,
                window: sum.window / steps,
                reductions: sum.reductions,
            }
        });
        let queues = self.queues.iter_mut().map(|queue| {
            let sum = std::mem::take(&mut queue.sum);
            QueueSample {
                waiting: sum.waiting / steps,
                served: sum.served / seconds,
                dropped: sum.dropped / seconds,
            }
        });
        Interval {
            flows: flows.collect(),
            queues: queues.collect(),
        }
    }

    /// Sends packets: computes round-trip times from the queues, and rates from windows and
    /// round-trip times.
    fn send(&mut self, now: f64) {
        let step = self.config.step;
        for (flow, about) in self.flows.iter_mut().zip(&self.config.flows) {
            if now < about.start {
                continue;
            }
            let places = &mut self.places[flow.places.clone()];
            let queueing = places.iter().map(|place| {
                self.queues[place.queue].waiting / self.config.queues[place.queue].capacity
            });
            flow.rtt = about.rtt + queueing.sum::<f64>();
            flow.rate = (flow.window / flow.rtt).min(about.host_rate);
            flow.sum.rtt += flow.rtt;
            flow.sum.window += flow.window;
            let mut arriving = flow.rate * step;
            for place in places {
                // Packets that left the previous place in the last step arrive at this place.
                place.arriving = arriving;
                arriving = place.leaving;
                self.queues[place.queue].arriving += place.arriving;
            }
        }
    }

    /// Serves each queue at its capacity for one step, and drops arrivals that its buffer cannot hold.
    fn serve(&mut self) {
        for (queue, about) in self.queues.iter_mut().zip(&self.config.queues) {
            let work = queue.waiting + queue.arriving;
            if work == 0.0 {
                continue;
            }
            let served = work.min(about.capacity * self.config.step);
            let dropped = (work - served - about.buffer).max(0.0);
            queue.leaving = served / work;
            queue.dropping = if dropped > 0.0 {
                dropped / queue.arriving
            } else {
                0.0
            };
            queue.arriving = 0.0;
            queue.sum.waiting += queue.waiting;
            queue.sum.served += served;
            queue.sum.dropped += dropped;
            // The sum over the flows' places is computed anew, so that rounding errors do not
            // accumulate.
            queue.waiting = 0.0;
        }
    }

    /// Delivers packets, and updates the windows. A flow's share of a queue's service is in
    /// proportion to its packets in the queue. Its share of the drops is in proportion to its
    /// arrivals.
    fn deliver(&mut self, now: f64) {
        for (flow, about) in self.flows.iter_mut().zip(&self.config.flows) {
            if now < about.start {
                continue;
            }
            let mut lost = 0.0;
            // If no queue on its data path is simulated, the flow delivers as much as it sends.
            let mut delivered = flow.rate * self.config.step;
            for place in &mut self.places[flow.places.clone()] {
                let queue = &mut self.queues[place.queue];
                let work = place.waiting + place.arriving;
                let dropped = place.arriving * queue.dropping;
                place.leaving = work * queue.leaving;
                place.waiting = work - place.leaving - dropped;
                queue.waiting += place.waiting;
                if place.data {
                    lost += dropped;
                }
                if place.delivers {
                    delivered = place.leaving;
                }
            }
            flow.sum.throughput += delivered;
            // Drops of single packets are a Poisson process with the rate of the fluid's drops.
            let hit = lost > 0.0 && self.random.fraction() < -libm::expm1(-lost);
            flow.follow(hit, now, self.config.step, self.config.max_ssthresh, about);
        }
    }
}

impl FlowState {
    /// Updates the window of a flow for one step. `hit` is true if a packet of the flow was dropped
    /// in the step; `about` is the flow's configuration.
    fn follow(&mut self, hit: bool, now: f64, step: f64, max_ssthresh: f64, about: &Flow) {
        // Drops within one round trip, before the sender learns of the first one, belong to the
        // same loss event.
        if hit && self.reduces_at.is_none() {
            self.reduces_at = Some(now + self.rtt);
        }
        if self.reduces_at.is_some_and(|at| at <= now) {
            self.reduces_at = None;
            self.window = (self.window * (1.0 - about.decrease)).max(1.0);
            self.ssthresh = self.window;
            self.sum.reductions += 1;
            return;
        }
        let acked = self.rate * step;
        self.window += if self.window >= self.ssthresh {
            about.increase * acked / self.window
        } else if self.window <= max_ssthresh {
            acked
        } else {
            acked * max_ssthresh / 2.0 / self.window
        };
    }
}
