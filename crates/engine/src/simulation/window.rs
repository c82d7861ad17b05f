//! The measurement window: counters at its opening, and what is left after taking them off.

use longhaul_units::Span;

use crate::measure::{FlowCounters, LimitTimes, LinkCounters, ProxyCounters};

/// Counters at the opening of the window. Empty if it opens with the run. What proxies have of a flow
/// and of a link comes behind the flows and links.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    pub(super) flows: Vec<FlowCounters>,
    pub(super) links: Vec<LinkCounters>,
    /// Smallest and largest round trip of each flow before the window (zero without a sample).
    pub(super) rtt_extremes: Vec<(Span, Span)>,
    /// Largest queue of each link before the window.
    pub(super) queue_maxima: Vec<u64>,
    pub(super) proxies: Vec<ProxyCounters>,
}

impl Baseline {
    /// Counters of a flow over the whole run and over the window, from those at the end, whose
    /// extremes are the window's.
    pub(super) fn split_flow(&self, id: usize, end: FlowCounters) -> (FlowCounters, FlowCounters) {
        let before = self.flows.get(id).copied().unwrap_or_default();
        let (rtt_min, rtt_max) = self.rtt_extremes.get(id).copied().unwrap_or_default();
        let smallest = if rtt_min == Span::ZERO || end.rtt_min == Span::ZERO {
            rtt_min.max(end.rtt_min)
        } else {
            rtt_min.min(end.rtt_min)
        };
        let total = FlowCounters {
            rtt_min: smallest,
            rtt_max: rtt_max.max(end.rtt_max),
            ..end
        };
        let window = FlowCounters {
            sent_pkts: end.sent_pkts - before.sent_pkts,
            sent_bytes: end.sent_bytes - before.sent_bytes,
            retransmitted_pkts: end.retransmitted_pkts - before.retransmitted_pkts,
            delivered_pkts: end.delivered_pkts - before.delivered_pkts,
            delivered_bytes: end.delivered_bytes - before.delivered_bytes,
            in_order_pkts: end.in_order_pkts - before.in_order_pkts,
            in_order_bytes: end.in_order_bytes - before.in_order_bytes,
            dropped_pkts: end.dropped_pkts - before.dropped_pkts,
            marked_pkts: end.marked_pkts - before.marked_pkts,
            cuts_loss: end.cuts_loss - before.cuts_loss,
            cuts_ecn: end.cuts_ecn - before.cuts_ecn,
            timeouts: end.timeouts - before.timeouts,
            rtt_samples: end.rtt_samples - before.rtt_samples,
            rtt_sum: end.rtt_sum.saturating_sub(before.rtt_sum),
            rtt_min: end.rtt_min,
            rtt_max: end.rtt_max,
            cwnd_integral: end.cwnd_integral - before.cwnd_integral,
            limited: LimitTimes {
                network: end.limited.network.saturating_sub(before.limited.network),
                receive_window: end
                    .limited
                    .receive_window
                    .saturating_sub(before.limited.receive_window),
                application: end
                    .limited
                    .application
                    .saturating_sub(before.limited.application),
            },
            connections: end.connections - before.connections,
            exchanges: end.exchanges - before.exchanges,
        };
        (total, window)
    }

    /// The same for a link.
    pub(super) fn split_link(&self, id: usize, end: LinkCounters) -> (LinkCounters, LinkCounters) {
        let before = self.links.get(id).copied().unwrap_or_default();
        let maximum = self.queue_maxima.get(id).copied().unwrap_or_default();
        let total = LinkCounters {
            queue_max_pkts: maximum.max(end.queue_max_pkts),
            ..end
        };
        let window = LinkCounters {
            arrived_pkts: end.arrived_pkts - before.arrived_pkts,
            arrived_bytes: end.arrived_bytes - before.arrived_bytes,
            departed_pkts: end.departed_pkts - before.departed_pkts,
            departed_bytes: end.departed_bytes - before.departed_bytes,
            transmitted_bytes: end.transmitted_bytes - before.transmitted_bytes,
            dropped_loss_pkts: end.dropped_loss_pkts - before.dropped_loss_pkts,
            dropped_overflow_pkts: end.dropped_overflow_pkts - before.dropped_overflow_pkts,
            dropped_early_pkts: end.dropped_early_pkts - before.dropped_early_pkts,
            dropped_forced_pkts: end.dropped_forced_pkts - before.dropped_forced_pkts,
            marked_pkts: end.marked_pkts - before.marked_pkts,
            duplicated_pkts: end.duplicated_pkts - before.duplicated_pkts,
            queue_integral: end.queue_integral - before.queue_integral,
            queue_max_pkts: end.queue_max_pkts,
        };
        (total, window)
    }

    /// The same for a proxy, where there are so many flows and links.
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
            admitted_bytes: end.admitted_bytes - before.admitted_bytes,
            forwarded_pkts: end.forwarded_pkts - before.forwarded_pkts,
            forwarded_bytes: end.forwarded_bytes - before.forwarded_bytes,
        };
        (total, window)
    }
}
