//! network.parquet and classes.parquet: numbers of flows in each state and of flows' events. Each
//! row is for an interval, or for one class in an interval (NIST SP 500-282, tables 3-4 and 3-5).

use longhaul_mesonet::records::{ClassSample, FlowClass, Interval, LongLivedSample};
use longhaul_units::Span;

use super::{Stamp, stamp_columns};
use crate::counters::ratio;
use crate::declared::columns_of;
use crate::table::{Cell, Column, Kind};

pub(crate) const NETWORK: &str = "network.parquet";
pub(crate) const CLASSES: &str = "classes.parquet";

/// Returns the name of a flow class in tables.
pub(crate) const fn class_name(class: FlowClass) -> &'static str {
    match class {
        FlowClass::Dd => "DD",
        FlowClass::Df => "DF",
        FlowClass::Dn => "DN",
        FlowClass::Ff => "FF",
        FlowClass::Fn => "FN",
        FlowClass::Nn => "NN",
    }
}

/// The row of all flows in an interval, including long-lived ones.
pub(crate) struct NetworkRow {
    stamp: Stamp,
    flows: ClassSample,
    in_pkts: u64,
    out_pkts: u64,
    no_receivers: u64,
    large_files: [u64; 3],
}

impl NetworkRow {
    pub(crate) fn of(interval: &Interval<'_>) -> Self {
        let mut flows = ClassSample::default();
        interval
            .classes
            .iter()
            .for_each(|class| add(&mut flows, class));
        interval
            .long_lived
            .iter()
            .for_each(|flow| add(&mut flows, &as_class(flow)));
        Self {
            stamp: Stamp::of(interval),
            flows,
            in_pkts: interval.packets_in,
            out_pkts: interval.packets_out,
            no_receivers: interval.edges.iter().map(|edge| edge.no_receivers).sum(),
            large_files: interval.large_files,
        }
    }
}

fn add(sum: &mut ClassSample, one: &ClassSample) {
    sum.active += one.active;
    sum.connecting += one.connecting;
    sum.in_initial_slow_start += one.in_initial_slow_start;
    sum.in_normal_mode += one.in_normal_mode;
    sum.above_threshold += one.above_threshold;
    sum.srtt_sum_s += one.srtt_sum_s;
    sum.cwnd_sum += one.cwnd_sum;
    sum.completed += one.completed;
    sum.failed += one.failed;
    sum.retransmission_sum += one.retransmission_sum;
    sum.packets_out += one.packets_out;
    sum.naks += one.naks;
    sum.timeouts += one.timeouts;
    sum.increases += one.increases;
    sum.growth_sum += one.growth_sum;
}

/// Returns the sample of a class that consists of `flow` alone.
fn as_class(flow: &LongLivedSample) -> ClassSample {
    let counts = ClassSample {
        packets_out: flow.packets_out,
        naks: flow.naks,
        timeouts: flow.timeouts,
        increases: flow.increases,
        growth_sum: flow.growth,
        ..ClassSample::default()
    };
    if !flow.active {
        return counts;
    }
    let beyond = !flow.in_initial_slow_start;
    ClassSample {
        active: 1,
        in_initial_slow_start: flow.in_initial_slow_start.into(),
        in_normal_mode: (beyond && !flow.above_threshold).into(),
        above_threshold: (beyond && flow.above_threshold).into(),
        srtt_sum_s: flow.srtt.as_secs_f64(),
        cwnd_sum: flow.cwnd,
        ..counts
    }
}

/// Row for a class of flows in an interval. Long-lived flows are not counted in classes.
pub(crate) struct ClassRow {
    stamp: Stamp,
    class: FlowClass,
    flows: ClassSample,
    length: Span,
}

impl ClassRow {
    pub(crate) fn all(interval: &Interval<'_>, length: Span) -> impl Iterator<Item = Self> {
        let stamp = Stamp::of(interval);
        let classes = FlowClass::ALL.into_iter().zip(interval.classes);
        classes.map(move |(class, flows)| Self {
            stamp,
            class,
            flows: *flows,
            length,
        })
    }

    /// Returns the throughput per flow in packets per second. A flow completed in the interval counts as half a flow;
    /// NIST SP 500-282 does not specify this.
    fn throughput(&self) -> Cell<'static> {
        let flows = self.flows.active as f64 + self.flows.completed as f64 / 2.0;
        ratio(
            self.flows.packets_out as f64,
            flows * self.length.as_secs_f64(),
        )
    }
}

pub(crate) fn network_columns() -> Vec<Column<NetworkRow>> {
    let mut columns = stamp_columns(|row: &NetworkRow| &row.stamp);
    columns.extend(columns_of(
        |row: &NetworkRow| Some(&row.flows),
        ClassSample::columns,
    ));
    columns.extend([
        Column::new(
            "in_pkts",
            Kind::Count,
            "pkts",
            "data packets that sources sent in the interval",
            |row: &NetworkRow| Cell::Count(row.in_pkts),
        ),
        Column::new(
            "out_pkts",
            Kind::Count,
            "pkts",
            "data packets that passed the access routers of their receivers in the interval",
            |row: &NetworkRow| Cell::Count(row.out_pkts),
        ),
        Column::new(
            "loss_rate",
            Kind::Real,
            "",
            "data packets sent less those that arrived, as part of those sent; below zero if more arrived, since \
                packets sent before the interval count as arrived",
            |row: &NetworkRow| ratio(row.in_pkts as f64 - row.out_pkts as f64, row.in_pkts as f64),
        ),
        Column::new(
            "no_receivers",
            Kind::Count,
            "",
            "number of times that a source chose an access router below which no receiver was idle",
            |row: &NetworkRow| Cell::Count(row.no_receivers),
        ),
    ]);
    let large = [
        ("document_flows", "documents"),
        ("service_pack_flows", "service packs"),
        ("movie_flows", "movies"),
    ];
    columns.extend(large.into_iter().enumerate().map(|(at, (name, title))| {
        Column::new(
            name,
            Kind::Count,
            "",
            format!("flows with {title} at the end of the interval, those connecting included"),
            move |row: &NetworkRow| Cell::Count(row.large_files[at]),
        )
    }));
    columns
}

pub(crate) fn class_columns() -> Vec<Column<ClassRow>> {
    let mut columns = stamp_columns(|row: &ClassRow| &row.stamp);
    columns.push(Column::new(
        "class",
        Kind::Text,
        "",
        "classes of the access routers of source and receiver: D direct, F fast, N normal",
        |row: &ClassRow| Cell::Text(class_name(row.class)),
    ));
    columns.extend(columns_of(
        |row: &ClassRow| Some(&row.flows),
        ClassSample::columns,
    ));
    columns.extend([
        Column::new(
            "out_pkts",
            Kind::Count,
            "pkts",
            "data packets that passed the access routers of their receivers in the interval",
            |row: &ClassRow| Cell::Count(row.flows.packets_out),
        ),
        Column::new(
            "throughput_pps",
            Kind::Real,
            "pps",
            "packets per second of a flow of the class, those completed in the interval counted half",
            |row: &ClassRow| row.throughput(),
        ),
    ]);
    columns
}
