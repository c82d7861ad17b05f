//! What is measured of links.

use super::Network;
use super::link::FlowDrops;
use crate::measure::{LinkCounters, LinkSample};

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
            .filter(|link| link.sampled)
            .map(move |link| link.sample(now))
    }
}
