//! Losses of links: what a table of `loss` holds, and the engine's form.

use longhaul_engine::{GilbertElliott, Loss};

use super::only;
use crate::document::{Node, Origin, Table, Value};
use crate::error::Diagnostic;
use crate::read::join;
use crate::typed::{Typed, whole_of};

/// Checks the loss in a table, if there is one, and fills in what it leaves out.
pub(super) fn resolve(holder: &mut Table, path: &str, out: &mut Vec<Diagnostic>) {
    let Some(Node {
        value: Value::Table(loss),
        origin,
        ..
    }) = holder.get_mut("loss")
    else {
        return;
    };
    let path = join(path, "loss");
    if loss.len() != 1 {
        let message = "give one of `bernoulli`, `bursts`, `gilbert_elliott` and `packets`";
        return out.push(Diagnostic::new(&path, origin, message));
    }
    if let Some(channel) = loss.get_mut("gilbert_elliott").and_then(Node::table_mut) {
        channel.default("good_loss", Value::Number(0.0), Origin::Default);
        channel.default("bad_loss", Value::Number(1.0), Origin::Default);
    }
    let (key, node) = only(loss);
    let path = join(&path, key);
    match &node.value {
        Value::List(packets) => check_packets(packets, &node.origin, &path, out),
        Value::Table(bursts) if key == "bursts" => check_bursts(bursts, &path, out),
        _ => {}
    }
}

fn check_packets(packets: &[Node], origin: &Origin, path: &str, out: &mut Vec<Diagnostic>) {
    if !packets.is_sorted_by(|a, b| whole_of(a) < whole_of(b)) {
        let message = "write the packets' numbers in ascending order, each once";
        out.push(Diagnostic::new(path, origin, message));
    }
}

/// Between two bursts there is at least one packet.
fn check_bursts(bursts: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let (rate, length) = (bursts.number("loss_rate"), bursts.number("mean_length"));
    let most = length / (1.0 + length);
    if rate > most {
        let message = format!(
            "bursts of {length} packets, with one packet or more between them, lose at most {most:.3} \
             of all: write a lower loss_rate or a larger mean_length"
        );
        let origin = &bursts.node("loss_rate").origin;
        out.push(Diagnostic::new(&join(path, "loss_rate"), origin, message));
    }
}

/// The engine's form of a resolved loss: a table, or a probability.
pub(super) fn config(node: &Node) -> Loss {
    match &node.value {
        Value::Number(probability) => Loss::Bernoulli(*probability),
        Value::Table(loss) => of_table(loss),
        other => unreachable!("a loss is {other:?}"),
    }
}

fn of_table(loss: &Table) -> Loss {
    let (key, node) = only(loss);
    match &node.value {
        Value::Number(probability) => Loss::Bernoulli(*probability),
        Value::List(packets) => Loss::List(packets.iter().map(whole_of).collect()),
        Value::Table(table) if key == "bursts" => {
            let (rate, length) = (table.number("loss_rate"), table.number("mean_length"));
            Loss::GilbertElliott(GilbertElliott::of_bursts(rate, length))
        }
        Value::Table(table) => Loss::GilbertElliott(GilbertElliott {
            to_bad: table.number("p"),
            to_good: table.number("r"),
            good_loss: table.number("good_loss"),
            bad_loss: table.number("bad_loss"),
        }),
        other => unreachable!("{key} is {other:?}"),
    }
}
