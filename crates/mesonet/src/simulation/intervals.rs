//! Samples at the end of an interval and of the run.

use super::World;
use super::counters::{Counters, Flows};
use crate::flows::FlowTable;
use crate::hosts::{Receivers, Sources};
use crate::records::{
    FlowClass, Interval, LongLivedSample, QueueSample, Recorder, RouterSample, Totals,
};

impl World {
    /// Changes the flow counts of every router on the path of a flow's data.
    pub(super) fn for_each_router(&mut self, ends: [u16; 2], change: impl Fn(&mut Flows)) {
        let routing = self.env.network.routing();
        let flows_by_router = &mut self.counters.flows_by_router;
        for access in ends {
            change(&mut flows_by_router.access[access as usize]);
            if let Some(pop) = routing.pop(access) {
                change(&mut flows_by_router.pops[pop as usize]);
            }
        }
        let [from, to] = ends.map(|access| routing.domain(access));
        for router in routing.routers_between(from, to) {
            change(&mut flows_by_router.backbone[router as usize]);
        }
    }

    /// Reports the interval that ends now, and begins the next one.
    pub(super) fn end_interval(&mut self, recorder: &mut dyn Recorder) {
        self.sample_flows();
        let long_lived = self.sample_long_lived();
        let (backbone, pops, access) = self.sample_routers();
        let network = &self.env.network;
        let entered = (0..self.counters.entered.len()).map(|link| network.entered(link));
        let entered: Vec<u64> = entered.collect();
        let counters = &mut self.counters;
        let before = counters.entered.iter();
        let links: Vec<u64> = entered
            .iter()
            .zip(before)
            .map(|(now, before)| now - before)
            .collect();
        recorder.interval(&Interval {
            number: self.interval,
            end: network.now,
            packets_in: self.env.packets_in - counters.packets_in,
            packets_out: counters.all_out(),
            classes: &counters.classes,
            long_lived: &long_lived,
            backbone: &backbone,
            pops: &pops,
            access: &access,
            edges: &counters.edges,
            links: &links,
            large_files: self.large_files.all(),
        });
        counters.entered = entered;
        counters.begin_interval(self.env.packets_in);
        let last = network.now == self.end;
        let report = &mut |batch: &_| recorder.batch(batch);
        self.batches.report(self.interval, last, report);
        self.interval += 1;
        self.interval_end = (self.interval_end + self.measure.every).min(self.end);
    }

    /// Routers of the backbone, points of presence, and access routers.
    fn sample_routers(&self) -> (Vec<RouterSample>, Vec<RouterSample>, Vec<RouterSample>) {
        let network = &self.env.network;
        let flows_by_router = &self.counters.flows_by_router;
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
            samples(&flows_by_router.backbone, &|at| {
                (network.sample_backbone(at), QueueSample::default())
            }),
            samples(&flows_by_router.pops, &|at| network.sample_pop(at)),
            samples(&flows_by_router.access, &|at| network.sample_access(at)),
        )
    }

    /// Adds up states and events of all flows.
    fn sample_flows(&mut self) {
        let Self {
            flows,
            counters,
            env,
            ..
        } = self;
        let now = env.network.now;
        for class in FlowClass::ALL {
            counters.classes[class as usize].packets_out = counters.out(Counters::of_class(class));
        }
        for (sender, about) in flows.sending.iter_mut().zip(&flows.about) {
            let events = std::mem::take(&mut sender.interval);
            let class = &mut counters.classes[about.class as usize];
            if sender.is_connecting() {
                class.connecting += 1;
                continue;
            }
            if !sender.is_active() {
                continue;
            }
            for access in about.ends {
                counters.edges[access as usize].active += 1;
            }
            if let Some(number) = about.long_lived {
                counters.long_lived[number as usize] = events;
                counters.add_at(about.ends, events);
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
            counters.add(about.class, about.ends, events);
        }
    }

    fn sample_long_lived(&self) -> Vec<LongLivedSample> {
        let now = self.env.network.now;
        let samples = self
            .flows
            .long_lived
            .iter()
            .enumerate()
            .map(|(number, flow)| {
                let sender = flow.map(|flow| &self.flows.sending[flow.slot as usize]);
                let active = sender.filter(|sender| sender.is_active());
                let window = active.map(|sender| &sender.congestion().window);
                let events = self.counters.long_lived[number];
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
                    packets_out: self.counters.out(Counters::of_long_lived(number)),
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
            packets_out: self.counters.packets_out,
            events: self.env.network.events,
            classes: self.counters.totals,
            trace_full: self.tracing.as_ref().and_then(|tracing| tracing.full),
            max_flows: self.flows.max_flows(),
            bytes_per_flow: FlowTable::bytes_per_flow() as u64,
            bytes_per_host: (Sources::bytes_each() as u64, Receivers::bytes_each() as u64),
        }
    }
}
