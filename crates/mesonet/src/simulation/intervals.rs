//! Samples of flows and routers at the end of each interval and of the run.

use super::counters::Counters;
use super::region::Region;
use super::{Places, Run, World};
use crate::flows::FlowTable;
use crate::hosts::{Receivers, Sources};
use crate::records::{
    FlowClass, Interval, LongLivedSample, QueueSample, Recorder, RouterSample, Totals,
};

impl Run<'_> {
    /// Reports the interval that ends now, and begins the next one.
    pub(super) fn end_interval(&mut self, recorder: &mut dyn Recorder) {
        for mut region in self.places.regions() {
            region.sample_flows();
        }
        let counters = self.take_counters();
        let long_lived = self.sample_long_lived(&counters);
        let (backbone, pops, access) = self.sample_routers(&counters);
        let (entered, packets_in) = (self.entered(), self.places.packets_in());
        let clock = &mut *self.clock;
        let before = entered.iter().zip(&clock.entered);
        let links: Vec<u64> = before.map(|(now, before)| now - before).collect();
        recorder.interval(&Interval {
            number: clock.interval,
            end: clock.now,
            packets_in: packets_in - clock.packets_in,
            packets_out: counters.all_out(),
            classes: &counters.classes,
            long_lived: &long_lived,
            backbone: &backbone,
            pops: &pops,
            access: &access,
            edges: &counters.edges,
            links: &links,
            large_files: self.coordinator.large_files.all(),
        });
        (clock.entered, clock.packets_in) = (entered, packets_in);
        let last = clock.now == clock.end;
        let report = &mut |batch: &_| recorder.batch(batch);
        self.coordinator
            .batches
            .report(clock.interval, last, report);
        clock.interval += 1;
        clock.interval_end = (clock.interval_end + clock.measure.every).min(clock.end);
    }

    /// Returns the sum of all regions' counters, and sets the counters of the interval to zero in each region.
    fn take_counters(&mut self) -> Counters {
        let mut sum = self.places.counters();
        for mut region in self.places.regions() {
            region.counters.begin_interval();
        }
        let no_receivers = &mut self.coordinator.no_receivers;
        for (edge, count) in sum.edges.iter_mut().zip(no_receivers) {
            edge.no_receivers += std::mem::take(count);
        }
        sum
    }

    /// Returns samples of backbone routers, points of presence, and access routers.
    fn sample_routers(
        &self,
        counters: &Counters,
    ) -> (Vec<RouterSample>, Vec<RouterSample>, Vec<RouterSample>) {
        let samples = |flows: &[super::counters::Flows]| {
            let samples = flows.iter().map(|flows| RouterSample {
                active_flows: flows.active,
                completed_flows: flows.completed,
                ..RouterSample::default()
            });
            samples.collect::<Vec<_>>()
        };
        let flows = &counters.flows_by_router;
        let mut backbone = samples(&flows.backbone);
        let (mut pops, mut access) = (samples(&flows.pops), samples(&flows.access));
        let set =
            |samples: &mut [RouterSample], at: u16, (up, down): (QueueSample, QueueSample)| {
                let sample = &mut samples[at as usize];
                (sample.up, sample.down) = (up, down);
            };
        for region in self.places.regions() {
            let network = &region.env.network;
            for (at, queue) in network.sample_backbone() {
                set(&mut backbone, at, (queue, QueueSample::default()));
            }
            network
                .sample_pops()
                .for_each(|(at, queues)| set(&mut pops, at, queues));
            network
                .sample_access()
                .for_each(|(at, queues)| set(&mut access, at, queues));
        }
        (backbone, pops, access)
    }

    /// Returns the number of packets that have entered each link since the beginning of the run. A
    /// packet enters a link when it departs from the router.
    fn entered(&self) -> Vec<u64> {
        let mut sent = vec![0; self.clock.entered.len()];
        let mut late = vec![0; sent.len()];
        for region in self.places.regions() {
            let network = &region.env.network;
            network
                .entered()
                .for_each(|(link, count)| sent[link as usize] = count);
            for &(router, at, link) in &region.links_in {
                // Some packets that have been handed over have not departed.
                let departed = self.clock.now + self.common.delays[link as usize];
                let unreceived = self.mail.sent(link, self.clock.window - 1);
                late[link as usize] =
                    network.later_than(router, at, departed) + unreceived.later_than(departed);
            }
        }
        let entered = sent.iter().zip(late);
        entered.map(|(sent, late)| sent - late as u64).collect()
    }

    fn sample_long_lived(&self, counters: &Counters) -> Vec<LongLivedSample> {
        let now = self.clock.now;
        let opened = self.coordinator.opened.iter().enumerate();
        let samples = opened.map(|(number, opened)| {
            let Some((region, flow)) = *opened else {
                return LongLivedSample::default();
            };
            let region = self.places.region(region.into());
            let sender = &region.flows.sending[flow.slot as usize];
            let events = counters.long_lived[number];
            let sample = LongLivedSample {
                packets_out: counters.out(Counters::of_long_lived(number)),
                naks: events.naks.into(),
                timeouts: events.timeouts.into(),
                increases: events.increases.into(),
                growth: events.growth,
                ..LongLivedSample::default()
            };
            if !sender.is_active() {
                return sample;
            }
            let (congestion, window) = (sender.congestion(), &sender.congestion().window);
            let mut fast_alpha = None;
            congestion.probe(&mut |name, value| {
                if name == "alpha" {
                    fast_alpha = Some(value);
                }
            });
            LongLivedSample {
                active: true,
                in_initial_slow_start: sender.in_initial_slow_start(),
                above_threshold: !sender.in_initial_slow_start()
                    && congestion.departs_from_standard(now),
                cwnd: window.cwnd(),
                ssthresh: window.ssthresh(),
                srtt: sender.srtt(),
                fast_alpha,
                ..sample
            }
        });
        samples.collect()
    }
}

impl Region {
    /// Adds the states and the events of all flows to the samples of their access routers. Flows of
    /// sources are also added to the samples of their classes.
    pub(super) fn sample_flows(&mut self) {
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
            if let Some(number) = about.long_lived {
                // The counts of a long-lived flow are reported even if it stopped in the interval.
                counters.long_lived[number as usize] = events;
                counters.add_at(about.ends, events);
            }
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
            if about.long_lived.is_some() {
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
}

impl Places {
    /// Returns the sums of the regions' counters.
    fn counters(&self) -> Counters {
        let mut regions = self.regions();
        let mut sum = regions.next().expect("a region").counters.clone();
        regions.for_each(|region| sum.add_region(&region.counters));
        sum
    }
}

impl World {
    pub(super) fn totals(&self, stopped: bool) -> Totals {
        let counters = self.places.counters();
        Totals {
            end: self.clock.now,
            stopped,
            packets_in: self.places.packets_in(),
            packets_out: counters.packets_out + counters.all_out(),
            events: self
                .places
                .regions()
                .map(|region| region.env.network.events)
                .sum(),
            classes: counters.totals,
            trace_full: self.coordinator.tracing.full,
            max_flows: self.coordinator.max_open,
            bytes_per_flow: FlowTable::bytes_per_flow() as u64,
            bytes_per_host: (Sources::bytes_each() as u64, Receivers::bytes_each() as u64),
        }
    }
}
