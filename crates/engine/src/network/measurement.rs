//! Measurements of links.

use longhaul_units::{Rate, Time};

use super::Network;
use super::link::{FlowDrops, Link};
use crate::config::{self, ServiceCurve, Work};
use crate::measure::{DelayHistogram, LinkCounters, LinkSample};

/// Capacity of a link: the amount of data that it could transmit.
#[derive(Debug)]
pub(super) struct LinkCapacity {
    line: ServiceCurve,
    /// Smallest rate of the link's token buckets, if it is below the link's rate at the beginning of the run.
    bucket: Option<Rate>,
}

impl LinkCapacity {
    pub(super) fn of(link: &config::Link) -> Self {
        let slowest = link.capacity();
        Self {
            line: ServiceCurve::of(link),
            bucket: (slowest < link.rate).then_some(slowest),
        }
    }

    fn of_line(&self, now: Time) -> Work {
        self.line.work_by(now)
    }

    /// Returns the amount of data that can leave the link up to `now` at the rate of its token buckets. Their initial
    /// contents do not count. Without token buckets, the rate of the link applies.
    fn of_buckets(&self, now: Time) -> Work {
        match self.bucket {
            Some(rate) => Work::of_rate(rate, now.since(Time::ZERO)),
            None => self.of_line(now),
        }
    }
}

impl Network {
    /// Updates the counters of all links to the current time.
    fn catch_up(&mut self) {
        for link in &mut self.links {
            link.catch_up(self.now, &mut self.options);
        }
        self.catch_up_access();
    }

    /// Returns the counters of every link up to now.
    pub(crate) fn counters(&mut self) -> Vec<LinkCounters> {
        self.catch_up();
        let now = self.now;
        let counters = self.links.iter_mut().map(|link| link.counters(now));
        let mut counters: Vec<LinkCounters> = counters.collect();
        self.access.count(now, &mut counters);
        for (counters, capacity) in counters.iter_mut().zip(&self.capacities) {
            counters.bucket_capacity = capacity.of_buckets(now);
            counters.line_capacity = capacity.of_line(now);
        }
        for (link, duplicated_pkts) in self.duplicated() {
            counters[link].duplicated_pkts = duplicated_pkts;
        }
        counters
    }

    /// Begins to count drops and marks of data packets for each of the first `connections` connections.
    pub(crate) fn track(&mut self, connections: u32) {
        for link in &mut self.links {
            link.track(connections);
        }
    }

    /// Returns the drops and marks of data packets on all links, for each of the first
    /// `connections` connections.
    pub(crate) fn flow_drops(&mut self, connections: usize) -> Vec<FlowDrops> {
        self.catch_up();
        let mut all = vec![FlowDrops::default(); connections];
        for link in &self.links {
            link.add_flow_drops(&mut all);
        }
        all
    }

    /// Returns the drops and marks of datagrams from sending endpoints of foreign stacks' connections and from real
    /// programs, by the number in the packets. The list ends with the last number that has a drop or a mark.
    pub(crate) fn datagram_drops(&mut self) -> Vec<FlowDrops> {
        self.catch_up();
        let mut all = Vec::new();
        for link in &self.links {
            link.add_datagram_drops(&mut all);
        }
        all
    }

    /// Returns a pair for each link with measured queueing delays: the link's number and the delays. Ends the
    /// measurement.
    pub(crate) fn waits(&mut self) -> Vec<(usize, DelayHistogram)> {
        self.catch_up();
        let links = self.links.iter_mut().enumerate();
        links
            .filter_map(|(link, each)| Some((link, each.take_waits()?)))
            .collect()
    }

    /// Discards the queueing delays measured so far.
    pub(crate) fn restart_waits(&mut self) {
        self.catch_up();
        self.links.iter_mut().for_each(Link::restart_waits);
    }

    /// Returns the maximum queue length of each link so far, and begins new maxima.
    pub(crate) fn restart_maxima(&mut self) -> Vec<u64> {
        self.catch_up();
        let now = self.now;
        let maxima = self.links.iter_mut();
        let mut maxima: Vec<u64> = maxima.map(|link| link.restart_maximum(now)).collect();
        self.access.restart_maxima(now, &mut maxima);
        maxima
    }

    /// Returns the number of the link that holds the most packets, and the number of these packets; `None` if
    /// there is no link.
    pub(crate) fn fullest_link(&self) -> Option<(usize, u64)> {
        let held = self.links.iter().map(Link::packets_held).enumerate();
        held.max_by_key(|&(_, packets)| packets)
    }

    /// Returns the state of each link that is sampled.
    pub(crate) fn samples(&mut self) -> impl Iterator<Item = LinkSample> {
        self.catch_up();
        let now = self.now;
        self.links
            .iter_mut()
            .zip(&self.capacities)
            .filter(|(link, _)| link.sampled)
            .map(move |(link, capacity)| LinkSample {
                capacity_bytes: Some(capacity.of_buckets(now).whole_bytes().0),
                ..link.sample(now)
            })
    }
}
