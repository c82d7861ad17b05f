//! The parameters of MesoNet under their original names (NIST SP 500-282: 56 in chapter 3, and four for types of files
//! in tables 8-3 and 8-4). The table `[mesonet]` may contain them, with values as in a configuration file of MesoNet.
//! They are translated to Longhaul's keys.

use longhaul_keys::{Field, KIND};

use super::keys::{
    AlgorithmKeys, FileKeys, HostKeys, JumboKeys, LargeFiles, LongLivedKeys, MeasureKeys, MesoNet,
    NetworkKeys, ReceiverShares, Sizing, SourceShares, StartKeys, TransportKeys, UserKeys,
};
use crate::algorithm::DEFAULT_CONGESTION;
use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::model::{MesoNetScenario, Seeds};

/// Names of the keys on the way from a table down to a value in it.
type Path = &'static [&'static str];

/// Makes a [`Path`] from declared keys.
macro_rules! path {
    ($($Keys:ident::$key:ident),+) => {
        const { &[$($Keys::$key.name()),+] as Path }
    };
}

/// Place in a scenario where the value of an original parameter is used.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// A key of `[mesonet]`, which takes the parameter's value unchanged.
    Key(Path),
    /// A key of `[mesonet]` with words as values: code 1 becomes the first word, and so on. Other numbers stay as is.
    Coded(Path, &'static [&'static str]),
    /// A key of the root table.
    Root(Path),
    /// The key with this path in each entry of `long_lived`. The parameter of the original MesoNet is a list with one
    /// value for each entry. Missing entries are added.
    LongLived(Path),
    /// The key `share` of the algorithm with this label. The algorithm is added to the list if it is missing.
    Share(&'static str),
    /// No key. The parameter is only checked: it must equal the number of entries of `long_lived`.
    Count,
    /// No key. The parameter is only checked: it must be at least the number of entries of `long_lived`.
    Maximum,
}

/// A parameter of the original MesoNet: its name, and the place of its value in a scenario.
pub(crate) struct Original {
    pub name: &'static str,
    pub place: Place,
}

const fn original(name: &'static str, place: Place) -> Original {
    Original { name, place }
}

/// Labels of the algorithms with the codes 1 to 7 (table 3-3). An algorithm's label is also its `kind`.
const ALGORITHMS: &[&str] = &["reno", "hstcp", "ctcp", "scalable", "fast", "htcp", "bic"];

/// All parameters of the original MesoNet, in the order of its configuration file. They are translated in this order:
/// first the shares of algorithms, then the lists of long-lived flows, then the number of these flows.
pub(crate) const ORIGINALS: &[Original] = &[
    original("M", Place::Key(path!(MesoNet::interval))),
    original("MI", Place::Key(path!(MesoNet::intervals))),
    original("basicTimeUnit", Place::Key(path!(MesoNet::step))),
    original("MB", Place::Key(path!(MesoNet::flush_every))),
    original("exID", Place::Key(path!(MesoNet::run))),
    original("RandOffset", Place::Root(path!(Seeds::replication))),
    original(
        "lambdaOFF",
        Place::Key(path!(MesoNet::users, UserKeys::think)),
    ),
    original(
        "lambdaON",
        Place::Key(path!(MesoNet::files, FileKeys::mean)),
    ),
    original("alpha", Place::Key(path!(MesoNet::files, FileKeys::shape))),
    original(
        "Fp",
        Place::Key(path!(
            MesoNet::files,
            FileKeys::documents,
            LargeFiles::probability
        )),
    ),
    original(
        "Fx",
        Place::Key(path!(
            MesoNet::files,
            FileKeys::documents,
            LargeFiles::factor
        )),
    ),
    original(
        "Jon",
        Place::Key(path!(MesoNet::files, FileKeys::jumbo, JumboKeys::from)),
    ),
    original(
        "Joff",
        Place::Key(path!(MesoNet::files, FileKeys::jumbo, JumboKeys::until)),
    ),
    original(
        "Jx",
        Place::Key(path!(MesoNet::files, FileKeys::jumbo, JumboKeys::factor)),
    ),
    original(
        "deltaX",
        Place::Key(path!(MesoNet::network, NetworkKeys::delay_factor)),
    ),
    original(
        "R1",
        Place::Key(path!(MesoNet::network, NetworkKeys::backbone_rate)),
    ),
    original(
        "BBspeedup",
        Place::Key(path!(MesoNet::network, NetworkKeys::backbone_speedup)),
    ),
    original(
        "R2",
        Place::Key(path!(MesoNet::network, NetworkKeys::pop_divisor)),
    ),
    original(
        "R3",
        Place::Key(path!(MesoNet::network, NetworkKeys::access_divisor)),
    ),
    original(
        "Bfast",
        Place::Key(path!(MesoNet::network, NetworkKeys::fast_factor)),
    ),
    original(
        "Bdirect",
        Place::Key(path!(MesoNet::network, NetworkKeys::direct_factor)),
    ),
    original(
        "QszAlg",
        Place::Coded(path!(MesoNet::network, NetworkKeys::buffer), Sizing::WORDS),
    ),
    original(
        "Qfactor",
        Place::Key(path!(MesoNet::network, NetworkKeys::buffer_factor)),
    ),
    original(
        "baseSources",
        Place::Key(path!(MesoNet::hosts, HostKeys::sources)),
    ),
    original("deltaU", Place::Key(path!(MesoNet::hosts, HostKeys::scale))),
    original(
        "probNs",
        Place::Key(path!(
            MesoNet::hosts,
            HostKeys::source_shares,
            SourceShares::normal
        )),
    ),
    original(
        "probNsf",
        Place::Key(path!(
            MesoNet::hosts,
            HostKeys::source_shares,
            SourceShares::fast
        )),
    ),
    original(
        "probNsd",
        Place::Key(path!(
            MesoNet::hosts,
            HostKeys::source_shares,
            SourceShares::direct
        )),
    ),
    original(
        "probNr",
        Place::Key(path!(
            MesoNet::hosts,
            HostKeys::receiver_shares,
            ReceiverShares::normal
        )),
    ),
    original(
        "probNrf",
        Place::Key(path!(
            MesoNet::hosts,
            HostKeys::receiver_shares,
            ReceiverShares::fast
        )),
    ),
    original(
        "probNrd",
        Place::Key(path!(
            MesoNet::hosts,
            HostKeys::receiver_shares,
            ReceiverShares::direct
        )),
    ),
    original(
        "Hbase",
        Place::Key(path!(MesoNet::hosts, HostKeys::base_rate)),
    ),
    original(
        "Hfast",
        Place::Key(path!(MesoNet::hosts, HostKeys::fast_rate)),
    ),
    original(
        "FastHostProb",
        Place::Key(path!(MesoNet::hosts, HostKeys::fast_share)),
    ),
    original("prTCP", Place::Share("reno")),
    original("prBICTCP", Place::Share("bic")),
    original("prCTCP", Place::Share("ctcp")),
    original("prFAST", Place::Share("fast")),
    original("prHSTCP", Place::Share("hstcp")),
    original("prHTCP", Place::Share("htcp")),
    original("prSCALABLE", Place::Share("scalable")),
    original(
        "prON",
        Place::Key(path!(MesoNet::users, UserKeys::start, StartKeys::at_once)),
    ),
    original(
        "prONsecond",
        Place::Key(path!(MesoNet::users, UserKeys::start, StartKeys::second)),
    ),
    original(
        "prONthird",
        Place::Key(path!(MesoNet::users, UserKeys::start, StartKeys::third)),
    ),
    original(
        "LL_FLOW_SOURCES",
        Place::LongLived(path!(LongLivedKeys::from)),
    ),
    original(
        "LL_FLOW_RECEIVERS",
        Place::LongLived(path!(LongLivedKeys::to)),
    ),
    original("LLon", Place::LongLived(path!(LongLivedKeys::start))),
    original(
        "SOURCE_TYPE",
        Place::LongLived(path!(LongLivedKeys::algorithm)),
    ),
    original("maxLongLivedFlows", Place::Maximum),
    original("LL_FLOWS", Place::Count),
    original(
        "INITIAL_TCP_CWND",
        Place::Key(path!(MesoNet::transport, TransportKeys::initial_cwnd)),
    ),
    original(
        "INITIAL_TCP_SS_THRESHOLD",
        Place::Key(path!(MesoNet::transport, TransportKeys::initial_ssthresh)),
    ),
    original(
        "MAX_SS_THRESHOLD",
        Place::Key(path!(MesoNet::transport, TransportKeys::max_ssthresh)),
    ),
    original(
        "BB_LINK_TO_MONITOR",
        Place::Key(path!(MesoNet::measure, MeasureKeys::backbone_link)),
    ),
    original(
        "POP_LINK_TO_MONITOR",
        Place::Key(path!(MesoNet::measure, MeasureKeys::pop)),
    ),
    original(
        "ACCESS_LINK_TO_MONITOR",
        Place::Key(path!(MesoNet::measure, MeasureKeys::access)),
    ),
    original(
        "Sp",
        Place::Key(path!(
            MesoNet::files,
            FileKeys::service_packs,
            LargeFiles::probability
        )),
    ),
    original(
        "Sx",
        Place::Key(path!(
            MesoNet::files,
            FileKeys::service_packs,
            LargeFiles::factor
        )),
    ),
    original(
        "Mp",
        Place::Key(path!(
            MesoNet::files,
            FileKeys::movies,
            LargeFiles::probability
        )),
    ),
    original(
        "Mx",
        Place::Key(path!(MesoNet::files, FileKeys::movies, LargeFiles::factor)),
    ),
];

/// Moves values that are given under parameter names of the original MesoNet to the corresponding
/// keys. The checker then checks these keys.
pub(crate) fn translate(root: &mut Table) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for original in ORIGINALS {
        let Some(mesonet) = root.table_mut(MesoNetScenario::mesonet) else {
            return out;
        };
        let Some(node) = mesonet.entries.remove(original.name) else {
            continue;
        };
        let origin = node.origin.clone();
        let moved = match original.place {
            Place::Key(key) => put(mesonet, key, node),
            Place::Coded(key, words) => put(mesonet, key, coded(node, words)),
            Place::Root(key) => put(root, key, node),
            Place::LongLived(key) => put_each(mesonet, key, node),
            Place::Share(label) => put_share(mesonet, label, node),
            Place::Count => count(mesonet, &node, |given, count| given == count),
            Place::Maximum => count(mesonet, &node, |given, count| given >= count),
        };
        if let Err(message) = moved {
            let path = join("mesonet", original.name);
            out.push(Diagnostic::new(&path, &origin, message));
        }
    }
    out
}

/// Sets a value at the end of a path. A value from `--set` takes precedence over one from the file. Two values from
/// `--set`, or two from the file, are an error.
fn put(table: &mut Table, path: Path, node: Node) -> Result<(), String> {
    put_below(table, path, path, node)
}

/// Sets the value at `path`, relative to `table`. Messages contain `whole`, the path relative to the table of the
/// first call.
fn put_below(table: &mut Table, path: Path, whole: Path, mut node: Node) -> Result<(), String> {
    let [key, rest @ ..] = path else {
        return Ok(());
    };
    if !rest.is_empty() {
        let below = || Node::new(Value::Table(Table::new()), node.origin.clone());
        let next = table.entries.entry((*key).to_string());
        return match next.or_insert_with(below).table_mut() {
            Some(next) => put_below(next, rest, whole, node),
            // The checker reports the wrong type.
            None => Ok(()),
        };
    }
    let is_set = |node: &Node| matches!(node.origin, Origin::Set(_));
    node.key = None;
    match table.entries.get(*key) {
        Some(there) if is_set(there) && !is_set(&node) => {}
        Some(there) if is_set(there) == is_set(&node) => {
            return Err(format!(
                "this is `{}` under its original name, which is given too ({}); leave one out, or \
                 change that one",
                whole.join("."),
                there.origin
            ));
        }
        _ => drop(table.entries.insert((*key).to_string(), node)),
    }
    Ok(())
}

fn coded(mut node: Node, words: &[&str]) -> Node {
    if let Some(word) = code(&node).and_then(|code| words.get(code)) {
        node.value = Value::text(word);
    }
    node
}

/// Returns the index (from 0) that belongs to a code (from 1); `None` if `node` is not a positive whole number.
fn code(node: &Node) -> Option<usize> {
    match node.value {
        Value::Whole(code) => usize::try_from(code).ok()?.checked_sub(1),
        _ => None,
    }
}

/// Returns the entries of the list `key`, created if it is missing; `None` if the value is not a list.
fn entries<'a>(
    mesonet: &'a mut Table,
    key: Field<Vec<Table>>,
    origin: &Origin,
) -> Option<&'a mut Vec<Node>> {
    mesonet.or_insert(key, Value::List(Vec::new()), origin.clone());
    match &mut mesonet.get_mut(key)?.value {
        Value::List(entries) => Some(entries),
        _ => None,
    }
}

fn put_each(mesonet: &mut Table, key: Path, node: Node) -> Result<(), String> {
    let Value::List(values) = node.value else {
        return Err("write a list, with a value for each long-lived flow".to_string());
    };
    for (index, mut value) in values.into_iter().enumerate() {
        if key == path!(LongLivedKeys::algorithm) {
            // Any other code means that the algorithm is drawn.
            let Some(label) = code(&value).and_then(|code| ALGORITHMS.get(code)) else {
                continue;
            };
            value.value = Value::text(label);
            let unused = Node::new(Value::Whole(0), Origin::Default);
            if let Some((entry, true)) = add_algorithm(mesonet, label, &value.origin) {
                entry.insert(AlgorithmKeys::share, unused);
            }
        }
        let Some(flows) = entries(mesonet, MesoNet::long_lived, &node.origin) else {
            return Ok(());
        };
        // A code that was left out before has no entry yet.
        while flows.len() <= index {
            flows.push(Node::new(Value::Table(Table::new()), value.origin.clone()));
        }
        if let Some(flow) = flows[index].table_mut() {
            put(flow, key, value)?;
        }
    }
    Ok(())
}

/// Sets the share of the algorithm with the label `label`. A missing algorithm is added to the list.
fn put_share(mesonet: &mut Table, label: &str, node: Node) -> Result<(), String> {
    let origin = node.origin.clone();
    match add_algorithm(mesonet, label, &origin) {
        Some((entry, _)) => put(entry, path!(AlgorithmKeys::share), node),
        None => Ok(()),
    }
}

/// Finds the algorithm with the label `label`, or adds it if it is missing. Returns the algorithm's table, and true if
/// the algorithm was added; `None` if the value of `algorithms` is not a list.
fn add_algorithm<'a>(
    mesonet: &'a mut Table,
    label: &str,
    origin: &Origin,
) -> Option<(&'a mut Table, bool)> {
    // Without a list, Reno is the only algorithm. It stays in the list, with the remaining share.
    let alone = !mesonet.has(MesoNet::algorithms) && label != ALGORITHMS[0];
    let entries = entries(mesonet, MesoNet::algorithms, origin)?;
    if alone {
        entries.push(algorithm(ALGORITHMS[0], &Origin::Default));
    }
    // The entry is found by its label, which is given or the default.
    let is_it = |node: &Node| {
        let table = node.table()?;
        let congestion = table.table(AlgorithmKeys::congestion);
        let kind = congestion.and_then(|congestion| congestion.get(KIND));
        let name = table.get(AlgorithmKeys::label).or(kind);
        Some(match name {
            Some(name) => name.value.as_text() == Some(label),
            None => label == DEFAULT_CONGESTION,
        })
    };
    let known = entries.iter().position(|node| is_it(node) == Some(true));
    if known.is_none() {
        entries.push(algorithm(label, origin));
    }
    let index = known.unwrap_or(entries.len() - 1);
    Some((entries[index].table_mut()?, known.is_none()))
}

fn algorithm(kind: &str, origin: &Origin) -> Node {
    let (mut congestion, mut entry) = (Table::new(), Table::new());
    congestion.insert(KIND, Node::text(kind, origin.clone()));
    let congestion = Node::new(Value::Table(congestion), origin.clone());
    entry.insert(AlgorithmKeys::congestion, congestion);
    Node::new(Value::Table(entry), origin.clone())
}

/// Checks that the number in `node` fits the number of long-lived flows; `fits` compares the two.
fn count(mesonet: &Table, node: &Node, fits: fn(usize, usize) -> bool) -> Result<(), String> {
    let flows = mesonet.get(MesoNet::long_lived).map(|node| &node.value);
    let count = match flows {
        Some(Value::List(flows)) => flows.len(),
        _ => 0,
    };
    let given = match node.value {
        Value::Whole(given) => usize::try_from(given).ok(),
        _ => None,
    };
    match given {
        Some(given) if fits(given, count) => Ok(()),
        _ => Err(format!(
            "this does not fit the {count} long-lived flows that are given; change one of them"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_fifty_six_and_four_with_different_names() {
        assert_eq!(ORIGINALS.len(), 56 + 4);
        for (index, original) in ORIGINALS.iter().enumerate() {
            let mut before = ORIGINALS[..index].iter();
            assert!(before.all(|other| other.name != original.name));
        }
    }
}
