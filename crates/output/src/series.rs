//! series.parquet: flows, links and proxies at the sampling points. Counters are cumulative. A proxy has
//! the columns of a flow for the connection between its nodes, and those of a link for its local queue.

use longhaul_engine::Config;
use longhaul_engine::measure::{FlowSample, LinkSample, ProxySample};
use longhaul_units::{Bytes, Span, Time};

use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "series.parquet";

/// Names of flows, links and proxies, in the order in which they are sampled, so that those of all rows
/// of one point are neighbours.
pub(crate) struct Names {
    all: Vec<Name>,
    /// How many of them are before those of links.
    before_links: usize,
    /// How many of them are before those of proxies.
    before_proxies: usize,
}

impl Names {
    pub(crate) fn of(config: &Config) -> Self {
        let flows = config.flows.iter().map(|flow| flow.name.as_str());
        let links = config.links.iter().map(|link| link.name.as_str());
        let proxies = config.proxies.iter().map(|proxy| proxy.name.as_str());
        let before_links = flows.len();
        Self {
            before_links,
            before_proxies: before_links + links.len(),
            all: flows.chain(links).chain(proxies).map(Name::from).collect(),
        }
    }
}

/// One flow, link or proxy at one point.
pub(crate) enum Sample {
    Flow(FlowSample),
    /// With what its rate could have transmitted so far.
    Link(LinkSample, Bytes),
    Proxy(Box<ProxySample>),
}

impl Sample {
    const KINDS: [&'static str; 3] = ["flow", "link", "proxy"];

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

    fn time(&self) -> Time {
        match self {
            Self::Flow(sample) => sample.time,
            Self::Link(sample, _) => sample.time,
            Self::Proxy(sample) => sample.carrier.time,
        }
    }

    /// Its place among [`Self::KINDS`].
    fn kind(&self) -> usize {
        match self {
            Self::Flow(_) => 0,
            Self::Link(..) => 1,
            Self::Proxy(_) => 2,
        }
    }

    fn id(&self) -> u32 {
        match self {
            Self::Flow(sample) => sample.flow,
            Self::Link(sample, _) => sample.link,
            Self::Proxy(sample) => sample.carrier.flow,
        }
    }

    /// Whether both are of the same kind, and so say something in the same columns.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

pub(crate) fn columns(names: Names) -> Vec<Column<Sample>> {
    use Kind::{Count, Real};
    let s = "s";
    let before = [0, names.before_links, names.before_proxies];
    vec![
        Column::new("t_s", Real, s, "simulated time", |row: &Sample| {
            Cell::Real(row.time().as_secs_f64())
        }),
        Column::of_few("kind", "flow, link or proxy", &Sample::KINDS, Sample::kind),
        Column::new(
            "id",
            Count,
            "",
            "number of the flow, link or proxy",
            |row: &Sample| Cell::Count(row.id().into()),
        ),
        Column::of_list(
            "name",
            "name of the flow, link or proxy",
            names.all,
            move |row: &Sample| before[row.kind()] + row.id() as usize,
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
            |row: &Sample| match row {
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
    value: impl Fn(&FlowSample) -> Cell<'static> + Send + 'static,
) -> Column<Sample> {
    Column::of_part(name, kind, unit, description, Sample::flow, value)
}

/// A column that flows leave empty.
fn link(
    name: &str,
    kind: Kind,
    unit: &'static str,
    description: &str,
    value: impl Fn(&LinkSample) -> Cell<'static> + Send + 'static,
) -> Column<Sample> {
    Column::of_part(name, kind, unit, description, Sample::link, value)
}
