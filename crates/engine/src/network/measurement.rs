//! What is measured of links.

use longhaul_units::Time;

use super::Network;
use super::link::FlowDrops;
use crate::config::{Link, ServiceCurve, Work};
use crate::measure::{LinkCounters, LinkSample};

/// What a link could transmit.
#[derive(Debug)]
pub(super) struct LinkCapacity {
    line: ServiceCurve,
    /// With its token buckets, in the long run.
    long_run: Option<ServiceCurve>,
}

impl LinkCapacity {
    pub(super) fn of(link: &Link) -> Self {
        Self {
            line: ServiceCurve::of(link),
            long_run: (link.capacity() < link.rate)
                .then(|| ServiceCurve::limited(link, link.capacity())),
        }
    }

    fn long_run_by(&self, now: Time) -> Work {
        self.long_run.as_ref().unwrap_or(&self.line).work_by(now)
    }
}

impl Network {
    /// Brings all links up to now.
    fn catch_up(&mut self) {
        for link in &mut self.links {
            link.catch_up(self.now, &mut self.options);
        }
    }

    /// Counters of every link up to now.
    pub(crate) fn counters(&mut self) -> Vec<LinkCounters> {
        self.catch_up();
        let now = self.now;
        let counters = self.links.iter_mut().map(|link| link.counters(now));
        let mut counters: Vec<LinkCounters> = counters.collect();
        for (counters, capacity) in counters.iter_mut().zip(&self.capacities) {
            counters.capacity = capacity.long_run_by(now);
            counters.line_capacity = capacity.line.work_by(now);
        }
        for (link, duplicated_pkts) in self.duplicated() {
            counters[link].duplicated_pkts = duplicated_pkts;
        }
        counters
    }

    /// Counts drops and marks of the data packets of each of so many connections.
    pub(crate) fn track(&mut self, connections: u32) {
        for link in &mut self.links {
            link.track(connections);
        }
    }

    /// Drops and marks of the data packets of each of so many connections, on all links.
    pub(crate) fn flow_drops(&mut self, connections: usize) -> Vec<FlowDrops> {
        self.catch_up();
        let mut all = vec![FlowDrops::default(); connections];
        for link in &self.links {
            link.add_flow_drops(&mut all);
        }
        all
    }

    /// Restarts the record of largest queues; returns those so far.
    pub(crate) fn restart_maxima(&mut self) -> Vec<u64> {
        self.catch_up();
        let now = self.now;
        self.links
            .iter_mut()
            .map(|link| link.restart_maximum(now))
            .collect()
    }

    /// Samples of the links that are sampled.
    pub(crate) fn samples(&mut self) -> impl Iterator<Item = LinkSample> {
        self.catch_up();
        let now = self.now;
        self.links
            .iter_mut()
            .zip(&self.capacities)
            .filter(|(link, _)| link.sampled)
            .map(move |(link, capacity)| LinkSample {
                capacity_bytes: Some(capacity.long_run_by(now).whole_bytes().0),
                ..link.sample(now)
            })
    }
}
