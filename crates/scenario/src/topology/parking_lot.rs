//! A chain of routers.

use longhaul_keys::{Key, Kind, key, required};
use longhaul_units::Span;

use super::{ACCESS_LINKS, Core, Layout, Topology};
use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::link::{LINK, round_trip};
use crate::typed::Typed;

pub(super) const PARKING_LOT: Topology = Topology {
    name: "parking-lot",
    help: "A chain of routers, `router-0` and so on, joined by the links `hop-0` and so on.",
    keys: &[
        required(
            "hops",
            Kind::List(&Kind::Table(LINK)),
            "The links of the chain, both ways.",
        ),
        ACCESS_LINKS,
    ],
    flow_keys: FLOW_KEYS,
    lay_out,
    endpoints,
};

const FLOW_KEYS: &[Key] = &[key(
    "path",
    Kind::List(&Kind::Whole {
        min: 0,
        max: 100_000,
    }),
    "Parking lot: numbers of the first and the last router; those of the chain by default.",
)];

fn lay_out(table: &mut Table, path: &str, layout: &mut Layout<'_>) -> Vec<String> {
    let (path, origin) = (join(path, "hops"), table.node("hops").origin.clone());
    let hops = table.list_mut("hops");
    if hops.is_empty() {
        layout.refuse(&path, &origin, "a parking lot needs at least one hop");
    }
    let tables = hops.iter().filter_map(Node::table);
    let rtt = tables
        .map(round_trip)
        .fold(Span::ZERO, |sum, rtt| sum + rtt);
    for (index, hop) in hops.iter_mut().filter_map(Node::table_mut).enumerate() {
        let (name, path) = (format!("hop-{index}"), join(&path, &index.to_string()));
        layout.both_ways(&name, (index, index + 1), hop, &path, rtt);
    }
    let routers = 0..=hops.len();
    routers.map(|index| format!("router-{index}")).collect()
}

fn endpoints(
    flow: &mut Table,
    path: &str,
    core: &Core,
    out: &mut Vec<Diagnostic>,
) -> Option<(usize, usize)> {
    let last = core.nodes.len() - 1;
    let number = |router: usize| Node::new(Value::Whole(router as i64), Origin::Default);
    let whole = Value::List(vec![number(0), number(last)]);
    flow.default("path", whole, Origin::Default);
    let routers: Vec<u64> = flow.list("path").iter().map(Node::read::<u64>).collect();
    let inside = routers.iter().all(|&router| router <= last as u64);
    if let [from, to] = routers[..]
        && from != to
        && inside
    {
        return Some((from as usize, to as usize));
    }
    let message = if inside {
        "expected the numbers of two different routers, first and last".to_string()
    } else {
        format!("there is no such router; the routers of this parking lot are 0 to {last}")
    };
    let origin = &flow.node("path").origin;
    out.push(Diagnostic::new(&join(path, "path"), origin, message));
    None
}
