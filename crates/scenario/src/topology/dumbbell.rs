//! The topology of two routers with a link between them.

use longhaul_keys::{Kind, Table, keys, together, words};

use super::{AccessLinks, Topology};
use crate::document::{Value, join};
use crate::link::{LINK, round_trip};

pub(super) const DUMBBELL: Topology = Topology {
    name: "dumbbell",
    help: "Two routers, `left` and `right`, and the `bottleneck` between them.",
    keys: together!(Dumbbell::KEYS, AccessLinks::KEYS),
    flow_keys: FlowPlace::KEYS,
    lay_out: |table, path, layout| {
        let (key, link) = (Dumbbell::bottleneck, table.sub_mut(Dumbbell::bottleneck));
        let (path, rtt) = (join(path, key.name()), round_trip(link));
        layout.both_ways("bottleneck", (0, 1), link, &path, rtt);
        ["left", "right"].map(str::to_string).to_vec()
    },
    endpoints: |flow, _, _, _| {
        flow.or_default(FlowPlace::direction, Value::text("forward"));
        Some(match flow.read(FlowPlace::direction) {
            Direction::Forward => (0, 1),
            Direction::Reverse => (1, 0),
        })
    },
};

keys! {
    /// Keys of the dumbbell.
    struct Dumbbell {}
    apart {
        /// The link between the routers, in both directions.
        bottleneck: Table = Kind::Table(LINK).key().required(),
    }
}

keys! {
    /// Keys of a group of flows in a dumbbell that determine its route.
    struct FlowPlace {
        /// Dumbbell: direction of the flows, from left to right (default) or back.
        direction: Direction = Kind::Word(Direction::WORDS).key(),
    }
}

words! {
    /// Direction of the flows of a group.
    enum Direction {
        /// From left to right.
        Forward = "forward",
        /// From right to left.
        Reverse = "reverse",
    }
}
