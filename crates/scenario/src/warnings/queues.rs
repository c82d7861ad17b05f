//! Warnings about unsuitable queue disciplines on links.

use longhaul_engine::config::{Config, Link, Transport};
use longhaul_engine::queue::{DelayEstimate, QueueConfig};
use longhaul_keys::KIND;
use longhaul_units::{Bytes, Rate, Span};

use super::packet_bytes;
use crate::link::CoreLink;
use crate::model::Scenario;
use crate::model::flow::AnyFlow;
use crate::queue;
use crate::resolve::ResolvedDocument;

/// Warns about the first link with a CoDel target that is shorter than the transmission of the
/// largest packet: the wait for one packet would count as a standing queue. RFC 8290 section 5.2.2
/// requires a target of at least the time of one packet.
pub(super) fn warn_of_targets(config: &Config, out: &mut Vec<String>) {
    let Some(packet) = largest_packet(config) else {
        return;
    };
    let short = config.links.iter().find_map(|link| {
        let target = codel_target(&link.queue)?;
        let (time, _) = slowest(link).transmission(packet.into());
        (target < time).then_some((link, target, time))
    });
    if let Some((link, target, time)) = short {
        out.push(format!(
            "the queue of `{}` has a target of {target}, and a packet of {packet} B takes {time} there: every packet \
             that waits behind another one exceeds it, so that standing drops or marks are certain; write a target of \
             {time} or more (RFC 8290 section 5.2.2)",
            link.name
        ));
    }
}

/// Warns about the first queue that cannot mark, because its threshold is too close to its limit. Thresholds that the user
/// sets are refused instead, unless the queue is taken over from the opposite direction.
pub(super) fn warn_of_thresholds(config: &Config, out: &mut Vec<String>) {
    let Some(packet) = largest_packet(config) else {
        return;
    };
    let idle = config.links.iter().find(|link| {
        matches!(&link.queue, QueueConfig::Threshold(queue) if !queue.can_mark(Bytes(packet.into())))
    });
    if let Some(link) = idle {
        out.push(format!(
            "the queue of `{}` marks nothing: its threshold is not more than one packet below its limit; write another \
             threshold (`auto` is 1 BDP / 7) or limit",
            link.name
        ));
    }
}

/// Returns the size of the largest packet of all flows in bytes; `None` without flows.
fn largest_packet(config: &Config) -> Option<u32> {
    let sizes = (config.flows.iter()).map(|flow| packet_bytes(&flow.transport));
    sizes.max()
}

fn codel_target(queue: &QueueConfig) -> Option<Span> {
    match queue {
        QueueConfig::CoDel(codel) => Some(codel.control.target),
        QueueConfig::FqCoDel(codel) => Some(codel.control.target),
        QueueConfig::Cobalt(cobalt) => Some(cobalt.control.target),
        QueueConfig::Cake(cake) => Some(cake.control.target),
        _ => None,
    }
}

/// Returns the smaller of [`Link::queue_rate`], at the start of a run, and the lowest rate of `changes`, except outages.
fn slowest(link: &Link) -> Rate {
    let changes = link.changes.iter().filter_map(|change| change.rate);
    let rates = changes.filter(|rate| rate.as_bps() > 0);
    rates.fold(link.queue_rate(), Rate::min)
}

/// Warns about links with a varying rate and a queue that uses only the initial rate.
pub(super) fn warn_of_stale_rates(config: &Config, out: &mut Vec<String>) {
    for link in &config.links {
        if !link.rate_varies() {
            continue;
        }
        let effect = match &link.queue {
            QueueConfig::Rem(_) => {
                "its price follows the excess over that rate (as in rem.cc of ns-2)"
            }
            QueueConfig::Vcp(_) => {
                "its load factor is relative to that rate (SIGCOMM 2005, section 3.1)"
            }
            QueueConfig::Xcp(_) => {
                "it grants the spare part of that rate (SIGCOMM 2002, section 3.5)"
            }
            QueueConfig::Pie(pie) if pie.delay_estimate == DelayEstimate::Rate => {
                "it computes the delay as the waiting bytes over that rate; delay_estimate = \"timestamps\" measures \
                    it"
            }
            _ => continue,
        };
        out.push(format!(
            "the queue of `{}` uses the initial rate of its link, {}, but the rate varies during the run: {effect}",
            link.name, link.rate
        ));
    }
}

/// Warns about ACK filtering in a queue that data fills. Only one acknowledgement of a connection then passes per
/// queueing delay, and the connection sends its window in one burst.
pub(super) fn warn_of_shared_ack_filters(
    resolved: &ResolvedDocument,
    config: &Config,
    out: &mut Vec<String>,
) {
    let carried = carried_by_data(resolved, config);
    let mut shared = carried
        .iter()
        .filter(|core| core.link.direction.filters_acks());
    if let Some(core) = shared.find(|core| !queue::is_per_flow(&core.queue)) {
        out.push(format!(
            "`{}` filters acknowledgements in a queue that data shares (`{}`): each connection gets one acknowledgement \
             through each time that the queue turns over, and sends its window in one burst then; write a queue for each \
             flow, such as \"fq-codel\" or \"cake\"",
            core.link.name,
            core.queue.word(KIND)
        ));
    }
}

/// Returns the links on the paths of UDP flows and of TCP flows without `traffic`, in the direction of their data.
fn carried_by_data<'a>(resolved: &'a ResolvedDocument, config: &Config) -> Vec<&'a CoreLink> {
    let groups = resolved.root.tables(Scenario::flows);
    let mut carried = Vec::new();
    for (group, path) in groups.zip(&resolved.paths) {
        let label = group.word(AnyFlow::label);
        let mut flows = config.flows.iter().filter(|flow| flow.label == label);
        let is_bulk =
            flows.any(|flow| matches!(flow.transport, Transport::Tcp(_) | Transport::Udp(_)));
        let route = resolved.core.route(path.from, path.to);
        carried.extend(
            route
                .filter(|_| is_bulk)
                .into_iter()
                .flat_map(|route| route.links),
        );
    }
    carried
}
