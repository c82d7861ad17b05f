//! The token bucket between a link's queue and its transmitter.

use longhaul_engine::config::Shaper;
use longhaul_units::Bytes;

use crate::document::{Node, Table};
use crate::error::Diagnostic;
use crate::read::join;
use crate::typed::Typed;

/// The token bucket of a link, if it has one that lets packets of the size through and does
/// something.
pub(crate) fn shaper(
    link: &Table,
    path: &str,
    packet: Bytes,
    out: &mut Vec<Diagnostic>,
) -> Option<Shaper> {
    let table = link.get("shaper").and_then(Node::table)?;
    let (path, rate) = (join(path, "shaper"), link.rate("rate"));
    let shaper = Shaper {
        rate: table.rate("rate"),
        burst: table.bytes("burst"),
    };
    let mut refuse = |key: &str, message: String| {
        let origin = &table.node(key).origin;
        out.push(Diagnostic::new(&join(&path, key), origin, message));
    };
    if shaper.rate >= rate {
        let message = format!("{} is not below the link's {rate}", shaper.rate);
        refuse("rate", message);
    }
    if shaper.burst < packet {
        let burst = shaper.burst;
        let message =
            format!("{burst} never are enough for a packet of {packet}; write at least {packet}");
        refuse("burst", message);
    }
    Some(shaper)
}
