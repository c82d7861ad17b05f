//! The parameters of MesoNet under their original names (NIST SP 500-282: 56 in chapter 3, four of the
//! types of files in tables 8-3 and 8-4). They may be given in `[mesonet]` itself, with the values of a
//! configuration file of MesoNet, and are translated to keys.

use crate::check::DEFAULT_CONGESTION;
use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;

/// What an original parameter is translated to.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// This key of `[mesonet]`, with the same value.
    Key(&'static str),
    /// This key; codes from 1 become these words, other numbers stay as they are.
    Coded(&'static str, &'static [&'static str]),
    /// This key of the root table.
    Root(&'static str),
    /// This key of the entries of `long_lived`, a value for each.
    LongLived(&'static str),
    /// The share of the algorithm of this label, which is added if it is not there.
    Share(&'static str),
    /// The number of entries of `long_lived`.
    Count,
    /// The maximum number of entries of `long_lived`.
    Maximum,
}

/// An original parameter.
pub(crate) struct Original {
    pub name: &'static str,
    pub place: Place,
}

const fn original(name: &'static str, place: Place) -> Original {
    Original { name, place }
}

/// Algorithms in the order of their codes from 1 (table 3-3); labels are kinds of the registry.
const ALGORITHMS: &[&str] = &[
    "reno",
    "hstcp",
    "ctcp-nist",
    "scalable",
    "fast",
    "htcp",
    "bic",
];

/// All of them, in the order of the original file.
pub(crate) const ORIGINALS: &[Original] = &[
    original("M", Place::Key("interval")),
    original("MI", Place::Key("intervals")),
    original("basicTimeUnit", Place::Key("step")),
    original("MB", Place::Key("flush_every")),
    original("exID", Place::Key("run")),
    original("RandOffset", Place::Root("replication")),
    original("lambdaOFF", Place::Key("users.think")),
    original("lambdaON", Place::Key("files.mean")),
    original("alpha", Place::Key("files.shape")),
    original("Fp", Place::Key("files.documents.probability")),
    original("Fx", Place::Key("files.documents.factor")),
    original("Jon", Place::Key("files.jumbo.from")),
    original("Joff", Place::Key("files.jumbo.until")),
    original("Jx", Place::Key("files.jumbo.factor")),
    original("deltaX", Place::Key("network.delay_factor")),
    original("R1", Place::Key("network.backbone_rate")),
    original("BBspeedup", Place::Key("network.backbone_speedup")),
    original("R2", Place::Key("network.pop_divisor")),
    original("R3", Place::Key("network.access_divisor")),
    original("Bfast", Place::Key("network.fast_factor")),
    original("Bdirect", Place::Key("network.direct_factor")),
    original(
        "QszAlg",
        Place::Coded("network.buffer", super::keys::SIZINGS),
    ),
    original("Qfactor", Place::Key("network.buffer_factor")),
    original("baseSources", Place::Key("hosts.sources")),
    original("deltaU", Place::Key("hosts.scale")),
    original("probNs", Place::Key("hosts.source_shares.normal")),
    original("probNsf", Place::Key("hosts.source_shares.fast")),
    original("probNsd", Place::Key("hosts.source_shares.direct")),
    original("probNr", Place::Key("hosts.receiver_shares.normal")),
    original("probNrf", Place::Key("hosts.receiver_shares.fast")),
    original("probNrd", Place::Key("hosts.receiver_shares.direct")),
    original("Hbase", Place::Key("hosts.base_rate")),
    original("Hfast", Place::Key("hosts.fast_rate")),
    original("FastHostProb", Place::Key("hosts.fast_share")),
    original("prTCP", Place::Share("reno")),
    original("prBICTCP", Place::Share("bic")),
    original("prCTCP", Place::Share("ctcp-nist")),
    original("prFAST", Place::Share("fast")),
    original("prHSTCP", Place::Share("hstcp")),
    original("prHTCP", Place::Share("htcp")),
    original("prSCALABLE", Place::Share("scalable")),
    original("prON", Place::Key("users.start.at_once")),
    original("prONsecond", Place::Key("users.start.second")),
    original("prONthird", Place::Key("users.start.third")),
    original("LL_FLOW_SOURCES", Place::LongLived("from")),
    original("LL_FLOW_RECEIVERS", Place::LongLived("to")),
    original("LLon", Place::LongLived("start")),
    original("SOURCE_TYPE", Place::LongLived("algorithm")),
    original("maxLongLivedFlows", Place::Maximum),
    original("LL_FLOWS", Place::Count),
    original("INITIAL_TCP_CWND", Place::Key("transport.initial_cwnd")),
    original(
        "INITIAL_TCP_SS_THRESHOLD",
        Place::Key("transport.initial_ssthresh"),
    ),
    original("MAX_SS_THRESHOLD", Place::Key("transport.max_ssthresh")),
    original("BB_LINK_TO_MONITOR", Place::Key("measure.backbone_link")),
    original("POP_LINK_TO_MONITOR", Place::Key("measure.pop")),
    original("ACCESS_LINK_TO_MONITOR", Place::Key("measure.access")),
    original("Sp", Place::Key("files.service_packs.probability")),
    original("Sx", Place::Key("files.service_packs.factor")),
    original("Mp", Place::Key("files.movies.probability")),
    original("Mx", Place::Key("files.movies.factor")),
];

/// Moves values given under original names to their keys; the checker does the rest.
pub(crate) fn translate(root: &mut Table) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for original in ORIGINALS {
        let Some(mesonet) = root.get_mut("mesonet").and_then(Node::table_mut) else {
            return out;
        };
        let Some(node) = mesonet.remove(original.name) else {
            continue;
        };
        let origin = node.origin.clone();
        let moved = match original.place {
            Place::Key(key) => put(mesonet, key, node),
            Place::Coded(key, words) => put(mesonet, key, coded(node, words)),
            Place::Root(key) => put(root, key, node),
            Place::LongLived(key) => put_each(mesonet, key, node),
            Place::Share(label) => put_share(mesonet, label, node),
            Place::Count => count(mesonet, &node, |given, found| given == found),
            Place::Maximum => count(mesonet, &node, |given, found| given >= found),
        };
        if let Err(message) = moved {
            let path = join("mesonet", original.name);
            out.push(Diagnostic::new(&path, &origin, message));
        }
    }
    out
}

/// Puts a value at a dotted path. `--set` takes precedence over the file.
fn put(table: &mut Table, path: &str, node: Node) -> Result<(), String> {
    put_below(table, path, path, node)
}

/// The same at the end of the path `whole`.
fn put_below(table: &mut Table, path: &str, whole: &str, mut node: Node) -> Result<(), String> {
    let (key, rest) = path
        .split_once('.')
        .map_or((path, None), |(key, rest)| (key, Some(rest)));
    if let Some(rest) = rest {
        let below = || Node::new(Value::Table(Table::new()), node.origin.clone());
        let next = table.entry(key.to_string()).or_insert_with(below);
        return match next.table_mut() {
            Some(next) => put_below(next, rest, whole, node),
            // The checker reports the wrong type.
            None => Ok(()),
        };
    }
    let is_set = |node: &Node| matches!(node.origin, Origin::Set(_));
    node.key = None;
    match table.get(key) {
        Some(there) if is_set(there) && !is_set(&node) => {}
        Some(there) if is_set(there) == is_set(&node) => {
            return Err(format!(
                "this is `{whole}` under its original name, which is given too ({}); leave one out, or \
                 change that one",
                there.origin
            ));
        }
        _ => drop(table.insert(key.to_string(), node)),
    }
    Ok(())
}

fn coded(mut node: Node, words: &[&str]) -> Node {
    if let Some(word) = code(&node).and_then(|code| words.get(code)) {
        node.value = Value::Text((*word).to_string());
    }
    node
}

/// A code from 1 as a position.
fn code(node: &Node) -> Option<usize> {
    match node.value {
        Value::Whole(code) => usize::try_from(code).ok()?.checked_sub(1),
        _ => None,
    }
}

/// The entries of a list of tables, which is made if it is not there.
fn entries<'a>(mesonet: &'a mut Table, key: &str, origin: &Origin) -> Option<&'a mut Vec<Node>> {
    let empty = || Node::new(Value::List(Vec::new()), origin.clone());
    match &mut mesonet.entry(key.to_string()).or_insert_with(empty).value {
        Value::List(entries) => Some(entries),
        _ => None,
    }
}

fn put_each(mesonet: &mut Table, key: &str, node: Node) -> Result<(), String> {
    let Value::List(values) = node.value else {
        return Err("write a list, with a value for each long-lived flow".to_string());
    };
    for (index, mut value) in values.into_iter().enumerate() {
        if key == "algorithm" {
            // Any other code means that the algorithm is drawn.
            let Some(label) = code(&value).and_then(|code| ALGORITHMS.get(code)) else {
                continue;
            };
            value.value = Value::Text((*label).to_string());
            let unused = Node::new(Value::Whole(0), Origin::Default);
            if let Some((entry, true)) = add_algorithm(mesonet, label, &value.origin) {
                entry.insert("share".to_string(), unused);
            }
        }
        let Some(flows) = entries(mesonet, "long_lived", &node.origin) else {
            return Ok(());
        };
        if flows.len() == index {
            flows.push(Node::new(Value::Table(Table::new()), value.origin.clone()));
        }
        if let Some(flow) = flows[index].table_mut() {
            put(flow, key, value)?;
        }
    }
    Ok(())
}

/// Puts the share of an algorithm of the original seven.
fn put_share(mesonet: &mut Table, label: &str, node: Node) -> Result<(), String> {
    let origin = node.origin.clone();
    match add_algorithm(mesonet, label, &origin) {
        Some((entry, _)) => put(entry, "share", node),
        None => Ok(()),
    }
}

/// The algorithm of that label, and whether it has been added because it was not there.
fn add_algorithm<'a>(
    mesonet: &'a mut Table,
    label: &str,
    origin: &Origin,
) -> Option<(&'a mut Table, bool)> {
    // The default without a list is Reno alone, which sources keep.
    let alone = !mesonet.contains_key("algorithms") && label != ALGORITHMS[0];
    let entries = entries(mesonet, "algorithms", origin)?;
    if alone {
        entries.push(algorithm(ALGORITHMS[0], &Origin::Default));
    }
    // By its label, given or by default.
    let is_it = |node: &Node| {
        let table = node.table()?;
        let congestion = table.get("congestion").and_then(Node::table);
        let kind = congestion.and_then(|congestion| congestion.get("kind"));
        let name = table.get("label").or(kind).map(|node| &node.value);
        Some(match name {
            Some(name) => *name == Value::Text(label.to_string()),
            None => label == DEFAULT_CONGESTION,
        })
    };
    let found = entries.iter().position(|node| is_it(node) == Some(true));
    if found.is_none() {
        entries.push(algorithm(label, origin));
    }
    let index = found.unwrap_or(entries.len() - 1);
    Some((entries[index].table_mut()?, found.is_none()))
}

fn algorithm(kind: &str, origin: &Origin) -> Node {
    let table = |entries: [(String, Node); 1]| {
        Node::new(Value::Table(Table::from(entries)), origin.clone())
    };
    let congestion = table([("kind".to_string(), Node::text(kind, origin.clone()))]);
    table([("congestion".to_string(), congestion)])
}

/// Compares a number with how many long-lived flows there are.
fn count(mesonet: &Table, node: &Node, fits: fn(usize, usize) -> bool) -> Result<(), String> {
    let flows = mesonet.get("long_lived").map(|node| &node.value);
    let found = match flows {
        Some(Value::List(flows)) => flows.len(),
        _ => 0,
    };
    let given = match node.value {
        Value::Whole(given) => usize::try_from(given).ok(),
        _ => None,
    };
    match given {
        Some(given) if fits(given, found) => Ok(()),
        _ => Err(format!(
            "this does not fit the {found} long-lived flows that are given; change one of them"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_fifty_six_and_four_with_different_names() {
        assert_eq!(ORIGINALS.len(), 56 + 4);
        for (index, one) in ORIGINALS.iter().enumerate() {
            assert!(
                ORIGINALS[..index]
                    .iter()
                    .all(|other| other.name != one.name)
            );
        }
    }
}
