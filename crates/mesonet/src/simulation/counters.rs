//! Counters of the current interval and of the run.

use serde::{Deserialize, Serialize};

use crate::flows::{Interval, STALE};
use crate::records::{ClassSample, ClassTotals, EdgeSample, FlowClass};

/// The counters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Counters {
    /// Data packets that reached receivers' access routers in the interval: stale ones, those of each
    /// class, those of each long-lived flow.
    out: Vec<u64>,
    pub(super) classes: [ClassSample; 6],
    pub(super) edges: Vec<EdgeSample>,
    /// Events of long-lived flows.
    pub(super) long_lived: Vec<Interval>,
    pub(super) totals: [ClassTotals; 6],
    /// Flows that pass each router: of the backbone, points of presence, access.
    pub(super) flows_by_router: FlowsByRouter,
    /// Data packets before the current interval.
    pub(super) packets_in: u64,
    pub(super) packets_out: u64,
    /// Packets that had entered each link before the current interval.
    pub(super) entered: Vec<u64>,
}

/// Flows that pass routers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct FlowsByRouter {
    pub(super) backbone: Vec<Flows>,
    pub(super) pops: Vec<Flows>,
    pub(super) access: Vec<Flows>,
}

/// Flows that pass a router.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Flows {
    pub(super) active: u64,
    pub(super) completed: u64,
}

impl Counters {
    pub(super) fn new(long_lived: usize, flows_by_router: FlowsByRouter, links: usize) -> Self {
        Self {
            out: vec![0; STALE as usize + 1 + FlowClass::ALL.len() + long_lived],
            classes: [ClassSample::default(); 6],
            edges: vec![EdgeSample::default(); flows_by_router.access.len()],
            long_lived: vec![Interval::default(); long_lived],
            totals: [ClassTotals::default(); 6],
            flows_by_router,
            packets_in: 0,
            packets_out: 0,
            entered: vec![0; links],
        }
    }

    /// Index of the counter of a class in `out`.
    pub(super) fn of_class(class: FlowClass) -> u16 {
        1 + class as u16
    }

    /// Index of the counter of a long-lived flow.
    pub(super) fn of_long_lived(number: usize) -> u16 {
        (1 + FlowClass::ALL.len() + number) as u16
    }

    /// A data packet has reached its receiver's access router.
    #[inline]
    pub(super) fn count_out(&mut self, counter: u16) {
        self.out[counter as usize] += 1;
    }

    /// Data packets of a counter in this interval.
    pub(super) fn out(&self, counter: u16) -> u64 {
        self.out[counter as usize]
    }

    /// Data packets in this interval.
    pub(super) fn all_out(&self) -> u64 {
        self.out.iter().sum()
    }

    /// Adds events of a flow of a class between two access routers.
    pub(super) fn add(&mut self, class: FlowClass, ends: [u16; 2], interval: Interval) {
        let sample = &mut self.classes[class as usize];
        sample.naks += u64::from(interval.naks);
        sample.timeouts += u64::from(interval.timeouts);
        sample.increases += u64::from(interval.increases);
        self.add_at(ends, interval);
    }

    /// Adds events of a long-lived flow.
    pub(super) fn add_at(&mut self, ends: [u16; 2], interval: Interval) {
        for access in ends {
            let edge = &mut self.edges[access as usize];
            edge.naks += u64::from(interval.naks);
            edge.timeouts += u64::from(interval.timeouts);
            edge.increases += u64::from(interval.increases);
        }
    }

    /// A new interval begins.
    pub(super) fn begin_interval(&mut self, packets_in: u64) {
        self.packets_in = packets_in;
        self.packets_out += self.all_out();
        self.out.fill(0);
        self.classes = [ClassSample::default(); 6];
        self.edges.fill(EdgeSample::default());
        self.long_lived.fill(Interval::default());
    }
}
