//! series.parquet: flows, links and proxies at the sampling points. Counters are cumulative. A proxy has
//! the columns of a flow for the connection between its nodes, and those of a link for its local queue.

use std::sync::LazyLock;

use longhaul_engine::measure::{FlowSample, LinkSample, ProxySample};
use longhaul_units::{Bytes, Span, Time};

use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "series.parquet";

/// One flow, link or proxy at one point.
pub(crate) struct SeriesRow {
    pub(crate) name: Name,
    pub(crate) sample: Sample,
}

pub(crate) enum Sample {
    Flow(FlowSample),
    /// With what its rate could have transmitted so far.
    Link(LinkSample, Bytes),
    Proxy(Box<ProxySample>),
}

impl Sample {
    /// What it says of a connection.
    fn flow(&self) -> Option<&FlowSample> {
        match self {
            Self::Flow(sample) => Some(sample),
            Self::Proxy(sample) => Some(&sample.carrier),
            Self::Link(..) => None,
        }
    }

    /// What it says of a queue.
    fn link(&self) -> Option<&LinkSample> {
        match self {
            Self::Link(sample, _) => Some(sample),
            Self::Proxy(sample) => Some(&sample.queue),
            Self::Flow(_) => None,
        }
    }
}

impl SeriesRow {
    fn time(&self) -> Time {
        match &self.sample {
            Sample::Flow(sample) => sample.time,
            Sample::Link(sample, _) => sample.time,
            Sample::Proxy(sample) => sample.carrier.time,
        }
    }

    fn kind(&self) -> &'static Name {
        static FLOW: LazyLock<Name> = LazyLock::new(|| "flow".into());
        static LINK: LazyLock<Name> = LazyLock::new(|| "link".into());
        static PROXY: LazyLock<Name> = LazyLock::new(|| "proxy".into());
        match self.sample {
            Sample::Flow(_) => &FLOW,
            Sample::Link(..) => &LINK,
            Sample::Proxy(_) => &PROXY,
        }
    }

    fn id(&self) -> u32 {
        match &self.sample {
            Sample::Flow(sample) => sample.flow,
            Sample::Link(sample, _) => sample.link,
            Sample::Proxy(sample) => sample.carrier.flow,
        }
    }
}

pub(crate) fn columns() -> Vec<Column<SeriesRow>> {
    use Kind::{Count, Real, Text};
    let s = "s";
    vec![
        Column::new("t_s", Real, s, "simulated time", |row: &SeriesRow| {
            Cell::Real(row.time().as_secs_f64())
        }),
        Column::new(
            "kind",
            Text,
            "",
            "flow, link or proxy",
            |row: &SeriesRow| Cell::Name(row.kind()),
        ),
        Column::new(
            "id",
            Count,
            "",
            "number of the flow, link or proxy",
            |row: &SeriesRow| Cell::Count(row.id().into()),
        ),
        Column::new(
            "name",
            Text,
            "",
            "name of the flow, link or proxy",
            |row: &SeriesRow| Cell::Name(&row.name),
        ),
        flow("cwnd_pkts", Real, "pkts", "congestion window", |f| {
            Cell::Real(f.cwnd)
        }),
        flow("ssthresh_pkts", Real, "pkts", "slow start threshold", |f| {
            Cell::Real(f.ssthresh)
        }),
        flow(
            "srtt_s",
            Real,
            s,
            "smoothed round-trip time; none before the first sample",
            |f| (f.srtt > Span::ZERO).then(|| f.srtt.as_secs_f64()).into(),
        ),
        flow("in_flight_pkts", Count, "pkts", "segments in flight", |f| {
            Cell::Count(f.in_flight)
        }),
        flow(
            "sent_pkts",
            Count,
            "pkts",
            "data packets sent, retransmissions included",
            |f| Cell::Count(f.sent_pkts),
        ),
        flow(
            "retransmitted_pkts",
            Count,
            "pkts",
            "packets retransmitted",
            |f| Cell::Count(f.retransmitted_pkts),
        ),
        flow(
            "delivered_bytes",
            Count,
            "bytes",
            "payload delivered in order",
            |f| Cell::Count(f.delivered_bytes),
        ),
        link("queue_pkts", Count, "pkts", "packets waiting", |l| {
            Cell::Count(l.queue_pkts)
        }),
        link("queue_bytes", Count, "bytes", "bytes waiting", |l| {
            Cell::Count(l.queue_bytes)
        }),
        link(
            "queue_avg_pkts",
            Real,
            "pkts",
            "the discipline's average queue",
            |l| l.queue_avg_pkts.into(),
        ),
        link(
            "max_p",
            Real,
            "",
            "the discipline's maximum probability",
            |l| l.max_p.into(),
        ),
        link(
            "drop_p",
            Real,
            "",
            "the discipline's probability of a drop or mark; RED's before it is spread evenly",
            |l| l.drop_p.into(),
        ),
        link(
            "queue_integral_pkt_s",
            Real,
            "pkts s",
            "integral of the waiting packets over time: differences give mean queues",
            |l| Cell::Real(l.queue_integral),
        ),
        link("departed_pkts", Count, "pkts", "packets transmitted", |l| {
            Cell::Count(l.departed_pkts)
        }),
        link("departed_bytes", Count, "bytes", "bytes transmitted", |l| {
            Cell::Count(l.departed_bytes)
        }),
        link(
            "dropped_pkts",
            Count,
            "pkts",
            "packets dropped, any cause",
            |l| Cell::Count(l.dropped_pkts),
        ),
        link("marked_pkts", Count, "pkts", "packets marked", |l| {
            Cell::Count(l.marked_pkts)
        }),
        Column::new(
            "capacity_bytes",
            Count,
            "bytes",
            "what the link's rate could have transmitted",
            |row: &SeriesRow| match row.sample {
                Sample::Link(_, capacity) => Cell::Count(capacity.0),
                Sample::Flow(_) | Sample::Proxy(_) => Cell::Null,
            },
        ),
    ]
}

/// A column that links leave empty.
fn flow(
    name: &str,
    kind: Kind,
    unit: &'static str,
    description: &str,
    value: fn(&FlowSample) -> Cell<'static>,
) -> Column<SeriesRow> {
    Column::new(name, kind, unit, description, move |row: &SeriesRow| {
        row.sample.flow().map_or(Cell::Null, value)
    })
}

/// A column that flows leave empty.
fn link(
    name: &str,
    kind: Kind,
    unit: &'static str,
    description: &str,
    value: fn(&LinkSample) -> Cell<'static>,
) -> Column<SeriesRow> {
    Column::new(name, kind, unit, description, move |row: &SeriesRow| {
        row.sample.link().map_or(Cell::Null, value)
    })
}
