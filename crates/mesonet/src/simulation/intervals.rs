//! What is looked at when an interval is over, and at the end.

use super::World;
use super::counters::{Flows, Tallies};
use crate::flows::Connections;
use crate::hosts::{Receivers, Sources};
use crate::records::{
    FlowClass, Interval, LongLivedSample, QueueSample, Recorder, RouterSample, Totals,
};

impl World {
    /// Counts a flow in or out at every router that its data packets pass.
    pub(super) fn pass(&mut self, ends: [u16; 2], change: impl Fn(&mut Flows)) {
        let routing = self.env.network.routing();
        let passing = &mut self.tallies.passing;
        for access in ends {
            change(&mut passing.access[access as usize]);
            if let Some(pop) = routing.pop(access) {
                change(&mut passing.pops[pop as usize]);
            }
        }
        let [from, to] = ends.map(|access| routing.domain(access));
        for router in routing.routers_between(from, to) {
            change(&mut passing.backbone[router as usize]);
        }
    }

    /// Reports the interval that ends now, and begins the next one.
    pub(super) fn end_interval(&mut self, recorder: &mut dyn Recorder) {
        self.fold_flows();
        let long_lived = self.sample_long_lived();
        let (backbone, pops, access) = self.sample_routers();
        let network = &self.env.network;
        let entered = (0..self.tallies.entered.len()).map(|link| network.entered(link));
        let entered: Vec<u64> = entered.collect();
        let tallies = &mut self.tallies;
        let before = tallies.entered.iter();
        let links: Vec<u64> = entered
            .iter()
            .zip(before)
            .map(|(now, before)| now - before)
            .collect();
        recorder.interval(&Interval {
            number: self.interval,
            end: network.now,
            packets_in: self.env.packets_in - tallies.packets_in,
            packets_out: tallies.all_out(),
            classes: &tallies.classes,
            long_lived: &long_lived,
            backbone: &backbone,
            pops: &pops,
            access: &access,
            edges: &tallies.edges,
            links: &links,
        });
        tallies.entered = entered;
        tallies.begin_interval(self.env.packets_in);
        let last = network.now == self.end;
        let report = &mut |batch: &_| recorder.batch(batch);
        self.batches.report(self.interval, last, report);
        self.interval += 1;
        self.interval_end = (self.interval_end + self.measure.every).min(self.end);
    }

    /// Routers of the backbone, points of presence, and access routers.
    fn sample_routers(&self) -> (Vec<RouterSample>, Vec<RouterSample>, Vec<RouterSample>) {
        let network = &self.env.network;
        let passing = &self.tallies.passing;
        let samples = |routers: &[Flows], queues: &dyn Fn(usize) -> (QueueSample, QueueSample)| {
            let routers = routers.iter().enumerate().map(|(at, flows)| {
                let (up, down) = queues(at);
                RouterSample {
                    up,
                    down,
                    active_flows: flows.active,
                    completed_flows: flows.completed,
                }
            });
            routers.collect()
        };
        (
            samples(&passing.backbone, &|at| {
                (network.sample_backbone(at), QueueSample::default())
            }),
            samples(&passing.pops, &|at| network.sample_pop(at)),
            samples(&passing.access, &|at| network.sample_access(at)),
        )
    }

    /// Adds what every flow is and what happened to it.
    fn fold_flows(&mut self) {
        let Self {
            connections,
            tallies,
            env,
            ..
        } = self;
        let now = env.network.now;
        for class in FlowClass::ALL {
            tallies.classes[class as usize].packets_out = tallies.out(Tallies::of_class(class));
        }
        for (sender, about) in connections.sending.iter_mut().zip(&connections.about) {
            let events = std::mem::take(&mut sender.interval);
            let class = &mut tallies.classes[about.class as usize];
            if sender.is_connecting() {
                class.connecting += 1;
                continue;
            }
            if !sender.is_active() {
                continue;
            }
            for access in about.ends {
                tallies.edges[access as usize].active += 1;
            }
            if let Some(number) = about.long_lived {
                tallies.long_lived[number as usize] = events;
                tallies.note_at(about.ends, events);
                continue;
            }
            class.active += 1;
            if sender.in_initial_slow_start() {
                class.in_initial_slow_start += 1;
            } else if sender.congestion().departs_from_standard(now) {
                class.above_threshold += 1;
            } else {
                class.in_normal_mode += 1;
            }
            class.srtt_sum_s += sender.srtt().as_secs_f64();
            class.cwnd_sum += sender.congestion().window.cwnd();
            tallies.note(about.class, about.ends, events);
        }
    }

    fn sample_long_lived(&self) -> Vec<LongLivedSample> {
        let now = self.env.network.now;
        let samples = self
            .connections
            .long_lived
            .iter()
            .enumerate()
            .map(|(number, flow)| {
                let sender = flow.map(|flow| &self.connections.sending[flow.place as usize]);
                let active = sender.filter(|sender| sender.is_active());
                let window = active.map(|sender| &sender.congestion().window);
                let events = self.tallies.long_lived[number];
                LongLivedSample {
                    active: active.is_some(),
                    in_initial_slow_start: active
                        .is_some_and(|sender| sender.in_initial_slow_start()),
                    above_threshold: active.is_some_and(|sender| {
                        !sender.in_initial_slow_start()
                            && sender.congestion().departs_from_standard(now)
                    }),
                    cwnd: window.map_or(0.0, |window| window.cwnd()),
                    ssthresh: window.map_or(0.0, |window| window.ssthresh()),
                    srtt: active.map_or(longhaul_units::Span::ZERO, |sender| sender.srtt()),
                    fast_alpha: active.and_then(|sender| {
                        let mut alpha = None;
                        sender.congestion().probe(&mut |name, value| {
                            if name == "alpha" {
                                alpha = Some(value);
                            }
                        });
                        alpha
                    }),
                    packets_out: self.tallies.out(Tallies::of_long_lived(number)),
                    naks: events.naks.into(),
                    timeouts: events.timeouts.into(),
                    increases: events.increases.into(),
                }
            });
        samples.collect()
    }

    /// The run as a whole.
    pub(super) fn totals(&self, stopped: bool) -> Totals {
        Totals {
            end: self.env.network.now,
            stopped,
            packets_in: self.env.packets_in,
            packets_out: self.tallies.packets_out,
            events: self.env.network.events,
            classes: self.tallies.totals,
            trace_full: self.tracing.as_ref().and_then(|tracing| tracing.full),
            most_flows: self.connections.most(),
            bytes_per_flow: Connections::bytes_each() as u64,
            bytes_per_host: (Sources::bytes_each() as u64, Receivers::bytes_each() as u64),
        }
    }
}
