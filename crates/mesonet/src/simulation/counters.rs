//! Counters of the current interval and of the run.

use serde::{Deserialize, Serialize};

use crate::flows::{Interval, STALE};
use crate::records::{ClassSample, ClassTotals, EdgeSample, FlowClass};

/// The counters of a region, or the sums of the counters over regions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Counters {
    /// Numbers of data packets that passed the access routers of their receivers in the interval:
    /// first of stale packets, those of closed flows; then of each class of flows; then of each
    /// long-lived flow.
    out: Vec<u64>,
    pub(super) classes: [ClassSample; 6],
    pub(super) edges: Vec<EdgeSample>,
    /// Events of each long-lived flow in the interval.
    pub(super) long_lived: Vec<Interval>,
    pub(super) totals: [ClassTotals; 6],
    /// Numbers of flows through each backbone router, point of presence and access router.
    pub(super) flows_by_router: FlowsByRouter,
    /// Number of data packets that passed receivers' access routers before the current interval.
    pub(super) packets_out: u64,
}

/// Numbers of flows through routers, by tier.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct FlowsByRouter {
    pub(super) backbone: Vec<Flows>,
    pub(super) pops: Vec<Flows>,
    pub(super) access: Vec<Flows>,
}

/// Numbers of flows through a router.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Flows {
    pub(super) active: u64,
    pub(super) completed: u64,
}

impl Counters {
    /// Returns counters that are zero, for `long_lived` long-lived flows and a network with these
    /// numbers of routers by tier.
    pub(super) fn new(long_lived: usize, topology: [usize; 3]) -> Self {
        let [backbone, pops, access] = topology.map(|count| vec![Flows::default(); count]);
        Self {
            out: vec![0; STALE as usize + 1 + FlowClass::ALL.len() + long_lived],
            classes: [ClassSample::default(); 6],
            edges: vec![EdgeSample::default(); access.len()],
            long_lived: vec![Interval::default(); long_lived],
            totals: [ClassTotals::default(); 6],
            flows_by_router: FlowsByRouter {
                backbone,
                pops,
                access,
            },
            packets_out: 0,
        }
    }

    /// Returns the index in `out` of the counter of a class of flows.
    pub(super) fn of_class(class: FlowClass) -> u16 {
        1 + class as u16
    }

    /// Returns the index in `out` of the counter of a long-lived flow.
    pub(super) fn of_long_lived(number: usize) -> u16 {
        (1 + FlowClass::ALL.len() + number) as u16
    }

    /// Counts a data packet that has passed its receiver's access router.
    #[inline]
    pub(super) fn count_out(&mut self, counter: u16) {
        self.out[counter as usize] += 1;
    }

    /// Returns the number of data packets in this interval that were counted under the index `counter`.
    pub(super) fn out(&self, counter: u16) -> u64 {
        self.out[counter as usize]
    }

    /// Returns the number of data packets that passed their receivers' access routers in this interval.
    pub(super) fn all_out(&self) -> u64 {
        self.out.iter().sum()
    }

    /// Adds the events of a flow to the samples of its `class` and of the access routers `ends`.
    pub(super) fn add(&mut self, class: FlowClass, ends: [u16; 2], interval: Interval) {
        let sample = &mut self.classes[class as usize];
        sample.naks += u64::from(interval.naks);
        sample.timeouts += u64::from(interval.timeouts);
        sample.increases += u64::from(interval.increases);
        sample.growth_sum += interval.growth;
        self.add_at(ends, interval);
    }

    /// Adds a flow's counters to the samples of the access routers `ends`, at both ends of the flow's path.
    pub(super) fn add_at(&mut self, ends: [u16; 2], interval: Interval) {
        for access in ends {
            let edge = &mut self.edges[access as usize];
            edge.naks += u64::from(interval.naks);
            edge.timeouts += u64::from(interval.timeouts);
            edge.increases += u64::from(interval.increases);
        }
    }

    /// Adds the interval's data packets to `packets_out`, and sets the counters of the interval to zero.
    pub(super) fn begin_interval(&mut self) {
        self.packets_out += self.all_out();
        self.out.fill(0);
        self.classes = [ClassSample::default(); 6];
        self.edges.fill(EdgeSample::default());
        self.long_lived.fill(Interval::default());
    }

    /// Adds the counters of another region.
    pub(super) fn add_region(&mut self, other: &Self) {
        add_each(&mut self.out, &other.out, |sum, one| *sum += one);
        add_each(&mut self.classes, &other.classes, ClassSample::add);
        add_each(&mut self.edges, &other.edges, EdgeSample::add);
        add_each(&mut self.long_lived, &other.long_lived, |sum, one| {
            sum.naks += one.naks;
            sum.timeouts += one.timeouts;
            sum.increases += one.increases;
            sum.growth += one.growth;
        });
        add_each(&mut self.totals, &other.totals, ClassTotals::add);
        let (sum, one) = (&mut self.flows_by_router, &other.flows_by_router);
        add_each(&mut sum.backbone, &one.backbone, Flows::add);
        add_each(&mut sum.pops, &one.pops, Flows::add);
        add_each(&mut sum.access, &one.access, Flows::add);
        self.packets_out += other.packets_out;
    }
}

fn add_each<T>(sums: &mut [T], ones: &[T], add: impl Fn(&mut T, &T)) {
    for (sum, one) in sums.iter_mut().zip(ones) {
        add(sum, one);
    }
}

impl Flows {
    fn add(&mut self, other: &Self) {
        self.active += other.active;
        self.completed += other.completed;
    }
}

/// Adds one record to another, field by field.
macro_rules! add_fields {
    ($($Record:ident { $($field:ident),+ $(,)? })+) => {
        $(impl $Record {
            fn add(&mut self, other: &Self) {
                let Self { $($field),+ } = other;
                $(self.$field += $field;)+
            }
        })+
    };
}

add_fields! {
    ClassSample {
        active,
        connecting,
        in_initial_slow_start,
        in_normal_mode,
        above_threshold,
        srtt_sum_s,
        cwnd_sum,
        completed,
        failed,
        retransmission_sum,
        packets_out,
        naks,
        timeouts,
        increases,
        growth_sum,
    }
    EdgeSample {
        active,
        failed,
        no_receivers,
        first_syns,
        syns,
        naks,
        timeouts,
        increases,
    }
    ClassTotals {
        connected,
        completed,
        failed,
        goodput_sum,
        syns,
    }
}
