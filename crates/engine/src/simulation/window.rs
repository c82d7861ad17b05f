//! The measurement window. Counters at its beginning are subtracted from those at the end of the run.

use longhaul_units::Span;

use crate::measure::{FlowCounters, LinkCounters, ProxyCounters, smaller};

/// Counters at the beginning of the window; empty before, so that the window of a run that ends earlier is the whole
/// run. In all lists of flows and links, the entries of proxies come last.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    pub(super) flows: Vec<FlowCounters>,
    pub(super) links: Vec<LinkCounters>,
    /// Smallest and largest round-trip time of each flow before the window; zero without a sample.
    pub(super) rtt_extremes: Vec<(Span, Span)>,
    /// Maximum queue length of each link before the window, in packets.
    pub(super) queue_maxima: Vec<u64>,
    pub(super) proxies: Vec<ProxyCounters>,
}

impl Baseline {
    /// Returns two sets of counters of a flow: over the whole run, and over the window. `end` contains the counters at
    /// the end of the run, except its smallest and largest round-trip times, which are those of the window.
    pub(super) fn split_flow(&self, id: usize, end: FlowCounters) -> (FlowCounters, FlowCounters) {
        let before = self.flows.get(id).copied().unwrap_or_default();
        let (rtt_min, rtt_max) = self.rtt_extremes.get(id).copied().unwrap_or_default();
        let total = FlowCounters {
            rtt_min: smaller(rtt_min, end.rtt_min),
            rtt_max: rtt_max.max(end.rtt_max),
            ..end
        };
        (total, end.since(&before))
    }

    /// Returns two sets of counters of a link: over the whole run, and over the measurement window. `end` contains the
    /// counters at the end of the run, except the maximum queue length, which is that of the window.
    pub(super) fn split_link(&self, id: usize, end: LinkCounters) -> (LinkCounters, LinkCounters) {
        let before = self.links.get(id).copied().unwrap_or_default();
        let maximum = self.queue_maxima.get(id).copied().unwrap_or_default();
        let total = LinkCounters {
            queue_max_pkts: maximum.max(end.queue_max_pkts),
            ..end
        };
        (total, end.since(&before))
    }

    /// Returns two sets of counters of the proxy `number`: over the whole run, and over the window. `flows` and `links`
    /// are the counts of flows and links without those of proxies. `end` is as for flows and links.
    pub(super) fn split_proxy(
        &self,
        number: usize,
        (flows, links): (usize, usize),
        end: ProxyCounters,
    ) -> (ProxyCounters, ProxyCounters) {
        let (carrier, carrier_in_window) = self.split_flow(flows + number, end.carrier);
        let (queue, queue_in_window) = self.split_link(links + number, end.queue);
        let before = self.proxies.get(number).copied().unwrap_or_default();
        let total = ProxyCounters {
            carrier,
            queue,
            ..end
        };
        let window = ProxyCounters {
            carrier: carrier_in_window,
            queue: queue_in_window,
            ..end.since(&before)
        };
        (total, window)
    }
}
