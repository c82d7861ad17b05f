//! Congestion control algorithms of sources, and long-lived flows.

use longhaul_mesonet::config::{Algorithm, LongLived};

use super::clock::Clock;
use super::keys::{AlgorithmKeys, HostKeys, LongLivedKeys as Keys, MesoNet};
use super::layout::{Layout, find};
use crate::algorithm::{self, DEFAULT_CONGESTION};
use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::flow::resolve_congestion;
use crate::making::Algorithms;
use crate::unknown_names::unknown_name;

/// Default variant of all algorithms that have a variant of this name (NIST SP 500-282, chapter 5).
const VARIANT: &str = "nist";

/// Name of the algorithm whose [`LOSS_THRESHOLD`] is checked.
const TOLERANT: &str = "cubic";
/// Name of CUBIC's parameter for the fraction of losses that it tolerates. MesoNet allows only 0.
/// BBR has another parameter with this name, which may have any value.
const LOSS_THRESHOLD: &str = "loss_threshold";

/// Allowed deviation from 1 of the sum of the algorithms' shares.
const SHARE_TOLERANCE: f64 = 1e-6;

/// Resolves the list of algorithms in place; without a list, Reno is the only algorithm.
pub(crate) fn algorithms(
    mesonet: &mut Table,
    makers: &dyn Algorithms,
    out: &mut Vec<Diagnostic>,
) -> Vec<Algorithm> {
    let key = MesoNet::algorithms;
    let alone = Node::new(Value::Table(Table::new()), Origin::Default);
    mesonet.or_default(key, Value::List(vec![alone]));
    fill_shares(mesonet);
    let variant = Node::text(VARIANT, Origin::Default);
    let mut algorithms: Vec<Algorithm> = Vec::new();
    for (index, table) in mesonet.tables_mut(key).enumerate() {
        let path = format!("mesonet.algorithms.{index}");
        let spec = resolve_congestion(table, &path, &variant, makers, out);
        refuse_tolerated_losses(table, &path, out);
        resolve_entry(table);
        let AlgorithmKeys {
            label,
            share,
            alternate,
            ..
        } = AlgorithmKeys::of(table);
        if algorithms.iter().any(|other| other.label == label) {
            let message = format!("there are two algorithms `{label}`; give them labels");
            out.push(Diagnostic::at(table, AlgorithmKeys::label, &path, message));
        }
        algorithms.extend(spec.map(|congestion| Algorithm {
            label,
            congestion,
            share,
            alternate,
        }));
    }
    let shares = mesonet.tables(key);
    let sum: f64 = shares.map(|table| table.read(AlgorithmKeys::share)).sum();
    if (sum - 1.0).abs() > SHARE_TOLERANCE {
        let message =
            format!("the shares of the algorithms add up to {sum}; they have to add up to 1");
        out.push(Diagnostic::at(mesonet, key, "mesonet", message));
    }
    for algorithm in &mut algorithms {
        algorithm.share /= sum;
    }
    algorithms
}

/// Refuses parameters that make an algorithm tolerate losses, since MesoNet's transport responds to
/// every loss.
fn refuse_tolerated_losses(table: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let congestion = table.table(AlgorithmKeys::congestion);
    let tolerant = congestion.filter(|_| algorithm::name(congestion) == TOLERANT);
    let Some(node) = tolerant.and_then(|keys| keys.entries.get(LOSS_THRESHOLD)) else {
        return;
    };
    if let Value::Number(found) = node.value
        && found > 0.0
    {
        let path = join(path, &format!("congestion.{LOSS_THRESHOLD}"));
        let message = format!("expected 0 in MesoNet, which answers every loss, found {found}");
        out.push(Diagnostic::new(&path, &node.origin, message));
    }
}

/// Divides the rest of the probability, 1 minus all given shares, equally among the algorithms without a share.
fn fill_shares(mesonet: &mut Table) {
    let (key, share) = (MesoNet::algorithms, AlgorithmKeys::share);
    let shares = mesonet.tables(key).map(|table| table.get(share));
    let without = shares.clone().filter(Option::is_none).count();
    let given: f64 = shares.flatten().map(Node::read::<f64>).sum();
    let part = Value::Number((1.0 - given).max(0.0) / without.max(1) as f64);
    let rule = "an equal part of the remainder";
    for table in mesonet.tables_mut(key).filter(|table| !table.has(share)) {
        table.derive(share, part.clone(), rule);
    }
}

/// Sets the label of an algorithm, and its role: alternate or standard.
fn resolve_entry(table: &mut Table) {
    let name = algorithm::name(table.table(AlgorithmKeys::congestion)).to_string();
    let alternate = Value::Flag(name != DEFAULT_CONGESTION);
    if !table.has(AlgorithmKeys::label) {
        table.derive(
            AlgorithmKeys::label,
            Value::Text(name),
            "the algorithm's name",
        );
    }
    if !table.has(AlgorithmKeys::alternate) {
        table.derive(AlgorithmKeys::alternate, alternate, "all but Reno");
    }
}

/// Resolves the list of long-lived flows and returns their configurations.
pub(crate) fn long_lived(
    mesonet: &mut Table,
    layout: &Layout,
    algorithms: &[Algorithm],
    clock: &Clock,
    out: &mut Vec<Diagnostic>,
) -> Vec<LongLived> {
    let rate = mesonet.sub(MesoNet::hosts).read(HostKeys::fast_rate);
    mesonet.or_default(MesoNet::long_lived, Value::List(Vec::new()));
    let labels: Vec<&str> = algorithms
        .iter()
        .map(|known| known.label.as_str())
        .collect();
    let names = layout.access.iter();
    let names = names.map(|access| access.router.name.as_str());
    let mut flows: Vec<LongLived> = Vec::new();
    for (index, table) in mesonet.tables_mut(MesoNet::long_lived).enumerate() {
        let path = format!("mesonet.long_lived.{index}");
        if !table.has(Keys::label) {
            let label = Value::Text(format!("L{}", index + 1));
            table.derive(Keys::label, label, "its number");
        }
        table.or_default(Keys::start, Value::Number(0.0));
        table.or_default(Keys::stop, Value::Number(1.0));
        if !table.has(Keys::rate) {
            table.derive(Keys::rate, Value::Number(rate), "hosts.fast_rate");
        }
        let keys = Keys::of(table);
        let (start, stop) = (clock.moment(keys.start), clock.moment(keys.stop));
        if flows.iter().any(|other| other.label == keys.label) {
            let message = format!("there are two long-lived flows `{}`", keys.label);
            out.push(Diagnostic::at(table, Keys::label, &path, message));
        }
        // The stop time of a flow that never starts is irrelevant.
        if stop <= start && start < clock.end() {
            let message = "the flow stops before it starts; write a later time";
            out.push(Diagnostic::at(table, Keys::stop, &path, message));
        }
        let ends = [Keys::from, Keys::to].map(|key| {
            let path = join(&path, key.name());
            find(table.node(key), "access router", names.clone(), &path, out)
        });
        let above = |end: usize| layout.access[end].backbone(layout);
        if let [Some(from), Some(to)] = ends
            && above(from) == above(to)
        {
            let same = if from == to { "access" } else { "backbone" };
            let message = format!("source and receiver are below the same {same} router");
            out.push(Diagnostic::at(table, Keys::to, &path, message));
        }
        let algorithm = keys.algorithm.map(|wanted| {
            let position = labels.iter().position(|label| *label == wanted);
            if position.is_none() {
                let message = unknown_name("algorithm", &wanted, labels.iter().copied());
                out.push(Diagnostic::at(table, Keys::algorithm, &path, message));
            }
            position.unwrap_or(0)
        });
        flows.push(LongLived {
            label: keys.label,
            from: ends[0].unwrap_or(0),
            to: ends[1].unwrap_or(0),
            start,
            stop,
            algorithm,
            speed: clock.rate(keys.rate),
        });
    }
    flows
}
