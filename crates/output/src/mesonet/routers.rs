//! routers.parquet: a row for each interval and router (NIST SP 500-282, tables 3-7 and 3-8).
//! Counters are for the interval, except `completed_flows`, which counts from the start of the run.
//! topology.parquet: a row for each router.

use longhaul_mesonet::config::{AccessClass, Config, Parent, Router};
use longhaul_mesonet::records::{Interval, QueueSample, RouterSample};

use super::{Stamp, stamp_columns};
use crate::counters::ratio;
use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "routers.parquet";
pub(crate) const TOPOLOGY: &str = "topology.parquet";

const BACKBONE: &str = "backbone";
const POP: &str = "pop";
const ACCESS: &str = "access";

/// Returns all routers in order, each with the name of its tier: backbone, points of presence,
/// access.
fn all(config: &Config) -> impl Iterator<Item = (&'static str, &Router)> {
    let topology = &config.topology;
    let backbone = topology.backbone.iter().map(|router| (BACKBONE, router));
    let pops = topology.pops.iter().map(|pop| (POP, &pop.router));
    let access = topology
        .access
        .iter()
        .map(|access| (ACCESS, &access.router));
    backbone.chain(pops).chain(access)
}

/// Samples of all routers at the end of the previous interval.
pub(crate) struct Routers {
    known: Vec<Known>,
}

struct Known {
    tier: &'static str,
    name: Name,
    /// Number of packets that one server of the router can forward in an interval.
    capacity: f64,
    /// Number of packets that fit into the router's queues together.
    room: u64,
    before: RouterSample,
}

impl Routers {
    pub(crate) fn new(config: &Config) -> Self {
        let interval_s = config.measure.every.as_secs_f64();
        let known = |(tier, router): (&'static str, &Router)| {
            let one_buffer = tier == BACKBONE || config.topology.shared_buffer;
            Known {
                tier,
                name: Name::from(router.name.as_str()),
                capacity: router.capacity.as_per_s() * interval_s,
                room: router.buffer * if one_buffer { 1 } else { 2 },
                before: RouterSample::default(),
            }
        };
        Self {
            known: all(config).map(known).collect(),
        }
    }

    /// Sets the samples to those in a checkpoint.
    pub(crate) fn restore(&mut self, samples: &[RouterSample]) {
        for (known, sample) in self.known.iter_mut().zip(samples) {
            known.before = *sample;
        }
    }

    /// Returns the samples at the end of the previous interval.
    pub(crate) fn samples(&self) -> Vec<RouterSample> {
        self.known.iter().map(|known| known.before).collect()
    }

    pub(crate) fn advance(&mut self, interval: &Interval<'_>) -> impl Iterator<Item = RouterRow> {
        let stamp = Stamp::of(interval);
        let samples = interval
            .backbone
            .iter()
            .chain(interval.pops)
            .chain(interval.access);
        self.known
            .iter_mut()
            .zip(samples)
            .map(move |(known, sample)| {
                let row = RouterRow {
                    stamp,
                    tier: known.tier,
                    name: known.name.clone(),
                    capacity: known.capacity,
                    room: known.room,
                    up: since(&sample.up, &known.before.up),
                    down: (known.tier != BACKBONE).then(|| since(&sample.down, &known.before.down)),
                    active_flows: sample.active_flows,
                    completed_flows: sample.completed_flows,
                };
                known.before = *sample;
                row
            })
    }
}

/// Returns the counters of a queue between the samples `before` and `now`; `waiting` is that of
/// `now`.
fn since(now: &QueueSample, before: &QueueSample) -> QueueSample {
    QueueSample {
        waiting: now.waiting,
        arrived: now.arrived - before.arrived,
        forwarded: now.forwarded - before.forwarded,
        dropped: now.dropped - before.dropped,
    }
}

/// The row of a router in an interval.
pub(crate) struct RouterRow {
    stamp: Stamp,
    tier: &'static str,
    name: Name,
    capacity: f64,
    room: u64,
    up: QueueSample,
    /// Sample of the queue towards the hosts; `None` for backbone routers, which have no such queue.
    down: Option<QueueSample>,
    active_flows: u64,
    completed_flows: u64,
}

impl RouterRow {
    fn sum(&self, value: fn(&QueueSample) -> u64) -> u64 {
        value(&self.up) + self.down.as_ref().map_or(0, value)
    }

    fn queue_share(&self) -> Cell<'static> {
        ratio(self.sum(|queue| queue.waiting) as f64, self.room as f64)
    }
}

/// Name, description and value of a counter of a queue.
type QueueFigure = (&'static str, &'static str, fn(&QueueSample) -> u64);

const QUEUE_FIGURES: [QueueFigure; 4] = [
    (
        "queue",
        "packets waiting at the end of the interval",
        |queue| queue.waiting,
    ),
    ("arrived", "packets that arrived", |queue| queue.arrived),
    (
        "forwarded",
        "packets that left for the next element",
        |queue| queue.forwarded,
    ),
    ("dropped", "packets that found the queue full", |queue| {
        queue.dropped
    }),
];

pub(crate) fn columns() -> Vec<Column<RouterRow>> {
    use Kind::{Count, Real, Text};
    let mut columns = stamp_columns(|row: &RouterRow| &row.stamp);
    columns.extend([
        Column::new(
            "tier",
            Text,
            "",
            "backbone, pop or access",
            |row: &RouterRow| Cell::Text(row.tier),
        ),
        Column::new(
            "router",
            Text,
            "",
            "name of the router",
            |row: &RouterRow| Cell::Name(row.name.clone()),
        ),
    ]);
    for (name, description, value) in QUEUE_FIGURES {
        columns.push(Column::new(
            format!("{name}_up_pkts"),
            Count,
            "pkts",
            format!("{description}, towards the backbone; the only queue of a backbone router"),
            move |row: &RouterRow| Cell::Count(value(&row.up)),
        ));
        columns.push(Column::new(
            format!("{name}_down_pkts"),
            Count,
            "pkts",
            format!("{description}, towards the hosts"),
            move |row: &RouterRow| {
                let count = row.down.as_ref().map(value);
                count.map_or(Cell::Null, Cell::Count)
            },
        ));
    }
    columns.extend([
        Column::new(
            "queue_share",
            Real,
            "",
            "packets waiting, as part of the queues' capacity",
            |row: &RouterRow| row.queue_share(),
        ),
        Column::new(
            "utilisation",
            Real,
            "",
            "packets forwarded divided by capacity; with two queues at full capacity the value can exceed 1",
            |row: &RouterRow| ratio(row.sum(|queue| queue.forwarded) as f64, row.capacity),
        ),
        Column::new(
            "active_flows",
            Count,
            "",
            "connected flows whose data packets pass the router",
            |row: &RouterRow| Cell::Count(row.active_flows),
        ),
        Column::new(
            "completed_flows",
            Count,
            "",
            "flows completed since the start of the run whose data packets passed the router",
            |row: &RouterRow| Cell::Count(row.completed_flows),
        ),
    ]);
    columns
}

/// The row of a router in topology.parquet.
pub(crate) struct TopologyRow {
    tier: &'static str,
    router: Router,
    class: Option<&'static str>,
    above: Option<String>,
    hosts: Option<(u32, u32)>,
}

impl TopologyRow {
    pub(crate) fn all(config: &Config) -> Vec<Self> {
        let topology = &config.topology;
        let mut rows: Vec<Self> = all(config)
            .map(|(tier, router)| Self {
                tier,
                router: router.clone(),
                class: None,
                above: None,
                hosts: None,
            })
            .collect();
        let (_, below) = rows.split_at_mut(topology.backbone.len());
        let (pops, access) = below.split_at_mut(topology.pops.len());
        let backbone = |index: usize| Some(topology.backbone[index].name.clone());
        for (row, pop) in pops.iter_mut().zip(&topology.pops) {
            row.above = backbone(pop.backbone);
        }
        for (row, access) in access.iter_mut().zip(&topology.access) {
            row.above = match access.parent {
                Parent::Pop(pop) => Some(topology.pops[pop].router.name.clone()),
                Parent::Backbone(index) => backbone(index),
            };
            row.class = Some(match access.class {
                AccessClass::Direct => "direct",
                AccessClass::Fast => "fast",
                AccessClass::Normal => "normal",
            });
            row.hosts = Some((access.sources, access.receivers));
        }
        rows
    }
}

pub(crate) fn topology_columns() -> Vec<Column<TopologyRow>> {
    use Kind::{Count, Real, Text};
    let hosts = |hosts: Option<u32>| hosts.map_or(Cell::Null, |hosts| Cell::Count(hosts.into()));
    vec![
        Column::new(
            "tier",
            Text,
            "",
            "backbone, pop or access",
            |row: &TopologyRow| Cell::Text(row.tier),
        ),
        Column::new(
            "router",
            Text,
            "",
            "name of the router",
            |row: &TopologyRow| Cell::Text(&row.router.name),
        ),
        Column::new(
            "class",
            Text,
            "",
            "of an access router: direct, fast or normal",
            |row: &TopologyRow| row.class.into(),
        ),
        Column::new("above", Text, "", "router above it", |row: &TopologyRow| {
            row.above.as_deref().into()
        }),
        Column::new(
            "capacity_pps",
            Real,
            "pps",
            "packets per second that it forwards",
            |row: &TopologyRow| Cell::Real(row.router.capacity.as_per_s()),
        ),
        Column::new(
            "buffer_pkts",
            Count,
            "pkts",
            "packets that each of its queues holds, or both together if they share a buffer",
            |row: &TopologyRow| Cell::Count(row.router.buffer),
        ),
        Column::new(
            "sources",
            Count,
            "",
            "sources below it",
            move |row: &TopologyRow| hosts(row.hosts.map(|(sources, _)| sources)),
        ),
        Column::new(
            "receivers",
            Count,
            "",
            "receivers below it",
            move |row: &TopologyRow| hosts(row.hosts.map(|(_, receivers)| receivers)),
        ),
    ]
}
