//! series.parquet: flows, links and proxies at each sampling point. Counters are cumulative. In the
//! row of a proxy, the columns of flows describe the connection between the proxy's two nodes, and
//! the columns of links describe its local queue.

use longhaul_engine::Config;
use longhaul_engine::measure::{FlowSample, LinkSample, ProxySample};
use longhaul_units::Time;

use crate::declared::RecordColumns;
use crate::table::{Column, Name};

pub(crate) const FILE: &str = "series.parquet";

/// Names of all flows, then all links, then all proxies: the order of the rows of a sampling point.
pub(crate) struct Names {
    all: Vec<Name>,
    /// Number of names of flows; those of links follow.
    before_links: usize,
    /// Number of names of flows and links; those of proxies follow.
    before_proxies: usize,
}

impl Names {
    /// No flows, links or proxies: sufficient to list the table's columns.
    pub(crate) const NONE: Self = Self {
        all: Vec::new(),
        before_links: 0,
        before_proxies: 0,
    };

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

/// A sample of one flow, link or proxy at one point in time.
pub(crate) enum Sample {
    Flow(FlowSample),
    Link(LinkSample),
    Proxy(Box<ProxySample>),
}

impl Sample {
    const KINDS: [&'static str; 3] = ["flow", "link", "proxy"];

    /// Returns the sample itself, for columns with a value in every sample, such as the time.
    #[expect(clippy::unnecessary_wraps, reason = "like the parts that not all have")]
    fn whole(&self) -> Option<&Self> {
        Some(self)
    }

    /// Returns the connection's values in the sample; `None` for a sample of a link.
    fn flow(&self) -> Option<&FlowSample> {
        match self {
            Self::Flow(sample) => Some(sample),
            Self::Proxy(sample) => Some(&sample.carrier),
            Self::Link(..) => None,
        }
    }

    /// Returns the queue's values in the sample; `None` for a sample of a flow.
    fn link(&self) -> Option<&LinkSample> {
        match self {
            Self::Link(sample) => Some(sample),
            Self::Proxy(sample) => Some(&sample.queue),
            Self::Flow(_) => None,
        }
    }

    fn time(&self) -> Time {
        match self {
            Self::Flow(sample) => sample.time,
            Self::Link(sample) => sample.time,
            Self::Proxy(sample) => sample.carrier.time,
        }
    }

    /// Returns the index of the sample's kind in [`Self::KINDS`].
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
            Self::Link(sample) => sample.link,
            Self::Proxy(sample) => sample.carrier.flow,
        }
    }

    /// Returns true if both samples are of the same kind. They then have the same parts:
    /// [`Self::flow`], [`Self::link`] or both.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

pub(crate) fn columns(names: Names) -> Vec<Column<Sample>> {
    let before = [0, names.before_links, names.before_proxies];
    let mut of_flows = RecordColumns::new(Sample::flow);
    FlowSample::columns(&mut of_flows);
    let mut of_links = RecordColumns::new(Sample::link);
    LinkSample::columns(&mut of_links);
    let mut columns = vec![
        Column::optional_group("t_s", "s", "simulated time", Sample::whole, |row| {
            row.time().as_secs_f64()
        }),
        Column::dictionary("kind", "flow, link or proxy", &Sample::KINDS, Sample::kind),
        Column::optional_group(
            "id",
            "",
            "number of the flow, link or proxy",
            Sample::whole,
            |row| u64::from(row.id()),
        ),
        Column::of_list(
            "name",
            "name of the flow, link or proxy",
            names.all,
            move |row: &Sample| before[row.kind()] + row.id() as usize,
        ),
    ];
    columns.append(&mut of_flows.columns);
    columns.append(&mut of_links.columns);
    columns
}
