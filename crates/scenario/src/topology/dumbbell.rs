//! Two routers and a link between them.

use longhaul_keys::{Key, Kind, key, required};

use super::{ACCESS_LINKS, Topology};
use crate::document::{Origin, Value, join};
use crate::link::{LINK, round_trip};
use crate::typed::Typed;

pub(super) const DUMBBELL: Topology = Topology {
    name: "dumbbell",
    help: "Two routers, `left` and `right`, and the `bottleneck` between them.",
    keys: &[
        required(
            "bottleneck",
            Kind::Table(LINK),
            "The link between the routers, both ways.",
        ),
        ACCESS_LINKS,
    ],
    flow_keys: FLOW_KEYS,
    lay_out: |table, path, layout| {
        let link = table.sub_mut("bottleneck");
        let (path, rtt) = (join(path, "bottleneck"), round_trip(link));
        layout.both_ways("bottleneck", (0, 1), link, &path, rtt);
        ["left", "right"].map(str::to_string).to_vec()
    },
    endpoints: |flow, _, _, _| {
        let forward = Value::Text("forward".to_string());
        flow.default("direction", forward, Origin::Default);
        let reverse = flow.word("direction") == "reverse";
        Some(if reverse { (1, 0) } else { (0, 1) })
    },
};

const FLOW_KEYS: &[Key] = &[key(
    "direction",
    Kind::Word(&["forward", "reverse"]),
    "Dumbbell: from left to right (default), or back.",
)];
