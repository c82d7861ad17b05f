//! Access links and base round-trip time of a group of flows.

use longhaul_units::{Quantity, Rate, Span};

use super::SharedSettings;
use crate::document::{Node, Origin, Table, Value, fill, join, span};
use crate::error::Diagnostic;
use crate::link::{self, AccessEnds, AccessKeys};
use crate::model::flow::{AnyFlow, FlowAccess};

/// Resolves a group's access links. The group's keys override those of the topology. The `rtt` of either determines the
/// delay, but the topology's `rtt` only if the group gives no delay.
pub(super) fn resolve_access(
    flow: &mut Table,
    path: &str,
    shared: &SharedSettings<'_>,
    core_rtt: Span,
    out: &mut Vec<Diagnostic>,
) {
    let rtt = flow.remove(FlowAccess::rtt);
    let wanted = rtt.is_some() || flow.has(FlowAccess::access) || shared.access.is_some();
    if !wanted {
        return;
    }
    if !shared.core.kind.has_access() {
        let origin = rtt
            .as_ref()
            .or(flow.get(FlowAccess::access))
            .map_or(&Origin::Default, Node::key_origin);
        let message = "a graph has no access links of its own; give hosts and links in the graph";
        return out.push(Diagnostic::new(path, origin, message));
    }
    let access_path = join(path, FlowAccess::access.name());
    let origin = rtt
        .as_ref()
        .map_or(Origin::Default, |node| node.origin.clone());
    flow.or_insert(FlowAccess::access, Value::Table(Table::new()), origin);
    let access = flow.sub_mut(FlowAccess::access);
    let own_rtt = access.remove(AccessKeys::rtt);
    let own_delay = access.has(AccessKeys::delay);
    let rtts = [
        rtt.map(|node| (join(path, FlowAccess::rtt.name()), node)),
        own_rtt.map(|node| (join(&access_path, AccessKeys::rtt.name()), node)),
    ];
    let mut rtts = rtts.into_iter().flatten();
    let rtt = rtts.next();
    let conflict = rtts.next().or_else(|| rtt.clone().filter(|_| own_delay));
    if let Some((path, node)) = conflict {
        let message = "give one of rtt, access.rtt and access.delay; the others follow";
        out.push(Diagnostic::new(&path, node.key_origin(), message));
    }
    if let Some(topology) = shared.access {
        fill(access, topology);
    }
    let inherited_rtt = access
        .remove(AccessKeys::rtt)
        .map(|node| ("topology.access.rtt".to_string(), node));
    let rtt = rtt.or_else(|| inherited_rtt.filter(|_| !own_delay));
    access.fill(AccessKeys::KEYS, shared.context.profile);
    if let Some((path, node)) = rtt {
        derive_access_delay(access, &path, &node, core_rtt, out);
    }
    complete_access(access, &access_path, shared, out);
}

/// Returns the number of access links that a packet of a flow crosses in each direction.
pub(super) fn links(access: &Table) -> u64 {
    match access.read(AccessKeys::at) {
        AccessEnds::Both => 2,
        AccessEnds::Sender => 1,
    }
}

fn derive_access_delay(
    access: &mut Table,
    path: &str,
    rtt: &Node,
    core_rtt: Span,
    out: &mut Vec<Diagnostic>,
) {
    let (wanted, least) = (rtt.read::<Span>(), core_rtt);
    if wanted < least {
        let message =
            format!("{wanted} is less than the {least} that the routers' path alone takes");
        return out.push(Diagnostic::new(path, &rtt.origin, message));
    }
    let delay = (wanted.saturating_sub(least)) / (2 * links(access));
    let rule = format!("base round trip {wanted} ({})", rtt.origin);
    access.derive(AccessKeys::delay, span(delay), rule);
}

fn complete_access(
    access: &mut Table,
    path: &str,
    shared: &SharedSettings<'_>,
    out: &mut Vec<Diagnostic>,
) {
    let fastest = shared
        .core
        .links
        .iter()
        .map(|core| core.link.rate.as_bps())
        .max()
        .unwrap_or(1);
    if !access.has(AccessKeys::rate) {
        let rate = Quantity::Rate(Rate::from_bps(fastest.saturating_mul(10)));
        let rule = "ten times the fastest router link";
        access.derive(AccessKeys::rate, Value::Quantity(rate), rule);
    }
    link::resolve_access_queue(access, path, shared.context, out);
}

/// Returns the names of the two links between a host and its router: to the router and back.
pub(crate) fn access_links(host: &str) -> [String; 2] {
    ["up", "down"].map(|way| format!("{host}-{way}"))
}

/// Returns the names of a flow's hosts, given the name of the flow and the ends with access links.
pub(crate) fn hosts(bundle: &str, ends: AccessEnds) -> Vec<String> {
    let ends: &[&str] = match ends {
        AccessEnds::Both => &["sender", "receiver"],
        AccessEnds::Sender => &["sender"],
    };
    ends.iter().map(|end| format!("{bundle}-{end}")).collect()
}

/// Returns the names of all access links of a resolved group.
pub(crate) fn access_link_names(group: &Table) -> Vec<String> {
    let hosts = access_hosts(group);
    hosts.iter().flat_map(|host| access_links(host)).collect()
}

/// Returns the names of all hosts behind access links of a resolved group.
pub(crate) fn access_hosts(group: &Table) -> Vec<String> {
    let Some(access) = group.table(FlowAccess::access) else {
        return Vec::new();
    };
    let (label, ends) = (group.word(AnyFlow::label), access.read(AccessKeys::at));
    (0..group.read(AnyFlow::count))
        .flat_map(|index| hosts(&format!("{label}-{index}"), ends))
        .collect()
}
