//! The topology of a chain of routers.

use longhaul_keys::{Kind, keys, together};
use longhaul_units::Span;

use super::{AccessLinks, Core, Layout, Topology};
use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::link::{LINK, round_trip};

pub(super) const PARKING_LOT: Topology = Topology {
    name: "parking-lot",
    help: "A chain of routers, `router-0` and so on, joined by the links `hop-0` and so on.",
    keys: together!(ParkingLot::KEYS, AccessLinks::KEYS),
    flow_keys: FlowPlace::KEYS,
    lay_out,
    endpoints,
};

keys! {
    /// Keys of the parking lot.
    struct ParkingLot {}
    apart {
        /// The links of the chain, in order. Each entry applies to both directions.
        hops: Vec<Table> = Kind::List(&Kind::Table(LINK)).key().required(),
    }
}

keys! {
    /// Keys that determine the route of a group of flows in a parking lot.
    struct FlowPlace {
        /// Parking lot: numbers of the first and the last router on the flows' route; by default, the route is the
        /// whole chain.
        path: Vec<u64> = Kind::List(&Kind::Whole { min: 0, max: 100_000 }).key(),
    }
}

fn lay_out(table: &mut Table, path: &str, layout: &mut Layout<'_>) -> Vec<String> {
    let key = ParkingLot::hops;
    let count = table.list(key).len();
    if count == 0 {
        let message = "a parking lot needs at least one hop";
        layout.out.push(Diagnostic::at(table, key, path, message));
    }
    let round_trips = table.tables(key).map(round_trip);
    let rtt = round_trips.fold(Span::ZERO, |sum, rtt| sum + rtt);
    let path = join(path, key.name());
    for (index, hop) in table.tables_mut(key).enumerate() {
        let (name, path) = (format!("hop-{index}"), join(&path, &index.to_string()));
        layout.both_ways(&name, (index, index + 1), hop, &path, rtt);
    }
    let routers = 0..=count;
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
    flow.or_default(FlowPlace::path, whole);
    let routers = flow.read(FlowPlace::path);
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
    out.push(Diagnostic::at(flow, FlowPlace::path, path, message));
    None
}
