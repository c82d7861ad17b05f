//! Assignment of flows to the proxies that split their connections.

use longhaul_engine::config::{Proxy, ProxyChange};
use longhaul_units::Bytes;

use super::Site;
use super::keys::ProxyKeys;
use crate::document::{Node, Table, join};
use crate::error::Diagnostic;
use crate::flow::{self, Path};
use crate::link::{AccessEnds, AccessKeys};
use crate::model::Scenario;
use crate::model::flow::{AnyFlow, FlowAccess, Stack};
use crate::model::protocol::Protocol;
use crate::topology::Core;
use crate::traffic::{self, Traffic};

/// Determines the proxy that splits the connections of each group of flows, in each direction that
/// carries data. Refuses proxies that split no flow. `groups` and `paths` have the same order.
pub(crate) fn assign(
    proxies: &[Node],
    sites: &[Site],
    groups: &[Node],
    paths: &mut [Path],
    core: &Core,
    out: &mut Vec<Diagnostic>,
) {
    check_names(proxies, out);
    let mut used = vec![false; sites.len()];
    for (group, (index, path)) in groups.iter().zip(paths.iter_mut().enumerate()) {
        let group = group.table().expect("a group is a table");
        if group.read(AnyFlow::protocol) != Protocol::Tcp {
            continue;
        }
        let mut of_route = |route: Route| {
            let passed: Vec<usize> = (0..sites.len())
                .filter(|&number| route.is_split_by(&sites[number], core))
                .collect();
            passed.iter().for_each(|&number| used[number] = true);
            if passed.len() > 1 {
                refuse_several(proxies, &passed, group, index, out);
            }
            let via = passed.first().copied();
            if let Some(number) = via {
                check_segment(&proxies[number], number, group, out);
            }
            via
        };
        let there = Route::of(group, path);
        path.via_back = traffic_comes_back(group)
            .then(|| of_route(there.back()))
            .flatten();
        path.via = of_route(there);
    }
    for (number, node) in proxies
        .iter()
        .enumerate()
        .filter(|(number, _)| !used[*number])
    {
        let table = node.table().expect("a proxy is a table");
        let message = format!(
            "no TCP flow begins before `{}` and ends behind `{}`; flows that sit on these nodes need \
             access links",
            table.word(ProxyKeys::start),
            table.word(ProxyKeys::end)
        );
        let origin = &table.node(ProxyKeys::start).origin;
        let path = join(Scenario::proxies.name(), &number.to_string());
        out.push(Diagnostic::new(&path, origin, message));
    }
}

/// Returns true if the connections of a group carry data in both directions.
fn traffic_comes_back(group: &Table) -> bool {
    let Some(traffic) = group.read(AnyFlow::traffic) else {
        return false;
    };
    match traffic {
        Traffic::OnOff(_) | Traffic::Perturbation(_) => false,
        Traffic::Trace(keys) => traffic::parse_trace(&keys.csv).is_ok_and(|exchanges| {
            let mut responses = exchanges.iter().map(|exchange| exchange.response_bytes);
            responses.any(|bytes| bytes.is_some())
        }),
        Traffic::Requests(_)
        | Traffic::PackMime(_)
        | Traffic::Abt(_)
        | Traffic::Web(_)
        | Traffic::Tmix(_) => true,
    }
}

fn refuse_several(
    proxies: &[Node],
    passed: &[usize],
    group: &Table,
    index: usize,
    out: &mut Vec<Diagnostic>,
) {
    let names = passed.iter().map(|&number| name(&proxies[number]));
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let message = format!(
        "the path of these flows has the proxies {}; only one may split them",
        names.join(" and ")
    );
    let path = join(Scenario::flows.name(), &index.to_string());
    let origin = &group.node(AnyFlow::label).origin;
    out.push(Diagnostic::new(&path, origin, message));
}

/// Refuses a credit of a proxy that is less than one segment of a flow: the proxy would never
/// forward the first segment.
fn check_segment(proxy: &Node, number: usize, group: &Table, out: &mut Vec<Diagnostic>) {
    let proxy = proxy.table().expect("a proxy is a table");
    let changes = proxy.tables(ProxyKeys::changes);
    let credits = changes.filter_map(|change| change.read(ProxyChange::credit_bytes));
    let payload = flow::payload(group.sub(Stack::tcp), group.read(AnyFlow::packet));
    for credit in credits.chain([proxy.read(Proxy::credit_bytes)]) {
        if payload.is_some_and(|payload| credit < payload) {
            let message = format!(
                "{} is less than a segment of the flows `{}`, which would never be forwarded",
                Bytes(credit),
                group.word(AnyFlow::label)
            );
            let path = join(Scenario::proxies.name(), &format!("{number}.credit"));
            // The origin of a credit that was given in packets no longer has its line.
            let origin = &proxy.node(ProxyKeys::start).origin;
            out.push(Diagnostic::new(&path, origin, message));
        }
    }
}

fn name(proxy: &Node) -> &str {
    let proxy = proxy.table().expect("a proxy is a table");
    proxy.word(Proxy::name)
}

fn check_names(proxies: &[Node], out: &mut Vec<Diagnostic>) {
    for (number, proxy) in proxies.iter().enumerate() {
        let taken = proxies[..number]
            .iter()
            .any(|other| name(other) == name(proxy));
        if taken || name(proxy).is_empty() {
            let message = format!(
                "the name `{}` is empty or already used; give each proxy its own",
                name(proxy)
            );
            let path = join(Scenario::proxies.name(), &number.to_string());
            let proxy = proxy.table().expect("a proxy is a table");
            out.push(Diagnostic::at(proxy, Proxy::name, &path, message));
        }
    }
}

/// The route of a group's data in one direction.
#[derive(Clone, Copy)]
struct Route {
    from: usize,
    to: usize,
    /// True if the route has access links before its first node.
    before: bool,
    /// True if the route has access links behind its last node.
    behind: bool,
}

impl Route {
    fn of(group: &Table, path: &Path) -> Self {
        let ends = group.table(FlowAccess::access);
        let ends = ends.map(|access| access.read(AccessKeys::at));
        Self {
            from: path.from,
            to: path.to,
            before: ends.is_some(),
            behind: ends == Some(AccessEnds::Both),
        }
    }

    fn back(self) -> Self {
        Self {
            from: self.to,
            to: self.from,
            before: self.behind,
            behind: self.before,
        }
    }

    /// Returns true if the route begins before a proxy's start node, and ends behind its end node.
    fn is_split_by(self, site: &Site, core: &Core) -> bool {
        let Some(route) = core.route(self.from, self.to) else {
            return false;
        };
        let mut nodes = vec![self.from];
        nodes.extend(route.links.iter().map(|core| core.link.to));
        let at = |node| nodes.iter().position(|&passed| passed == node);
        match (at(site.start), at(site.end)) {
            (Some(start), Some(end)) => {
                let begins_before = start > 0 || self.before;
                let ends_behind = end + 1 < nodes.len() || self.behind;
                start < end && begins_before && ends_behind
            }
            _ => false,
        }
    }
}
