//! Losses of links: whether a table of `loss` is consistent.

use longhaul_engine::config::LossBursts;

use crate::defaults;
use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;

/// Checks the loss in a table, if there is one.
pub(super) fn check(holder: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let Some(Node {
        value: Value::Table(loss),
        origin,
        ..
    }) = holder.get("loss")
    else {
        return;
    };
    let path = join(path, "loss");
    let (Some((key, node)), 1) = (loss.iter().next(), loss.len()) else {
        let message = "give one of `bernoulli`, `bursts`, `gilbert_elliott` and `packets`";
        return out.push(Diagnostic::new(&path, origin, message));
    };
    let path = join(&path, key);
    match &node.value {
        Value::List(packets) => check_packets(packets, &node.origin, &path, out),
        Value::Table(bursts) if key == "bursts" => check_bursts(bursts, &path, out),
        _ => {}
    }
}

fn check_packets(packets: &[Node], origin: &Origin, path: &str, out: &mut Vec<Diagnostic>) {
    if !packets.is_sorted_by(|a, b| a.read::<u64>() < b.read::<u64>()) {
        let message = "expected packet numbers in ascending order, each once";
        out.push(Diagnostic::new(path, origin, message));
    }
}

/// Between two bursts there is at least one packet.
fn check_bursts(bursts: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let LossBursts {
        loss_rate,
        mean_length: length,
    } = LossBursts::of(&defaults::values(bursts));
    let most = length / (1.0 + length);
    if loss_rate > most {
        let message = format!(
            "bursts of {length} packets, with one packet or more between them, lose at most {most:.3} \
             of all; expected a lower loss_rate or a larger mean_length"
        );
        let origin = &bursts["loss_rate"].origin;
        out.push(Diagnostic::new(&join(path, "loss_rate"), origin, message));
    }
}
