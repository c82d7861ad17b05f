//! From a checked document to one in which every value is present: given, from the profile,
//! default, or derived from others.

use std::collections::HashSet;

use longhaul_keys::Profile;
use longhaul_units::{Bytes, Span, Time};

use crate::check::unknown;
use crate::custom::{self, Algorithms};
use crate::defaults;
use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::flow::{self, Path, Shared};
use crate::link::Context;
use crate::model;
use crate::proxy::{self, Site};
use crate::topology::{self, Core};
use crate::typed::{Typed, text_of};

/// Everything that the engine's configuration is built from.
pub(crate) struct Resolved {
    /// The document, complete.
    pub root: Table,
    pub core: Core,
    /// Where each group of flows runs, and its congestion control.
    pub paths: Vec<Path>,
    /// Where each proxy is.
    pub sites: Vec<Site>,
}

/// Completes a checked document, or reports what is inconsistent.
pub(crate) fn resolve(
    mut root: Table,
    algorithms: &dyn Algorithms,
) -> Result<Resolved, Vec<Diagnostic>> {
    let mut out = Vec::new();
    let named = root.get("profile").map(text_of).and_then(Profile::find);
    let profile = named.unwrap_or(Profile::ALL[0]);
    // Transport options of a flow override those of the file, which override the profile's.
    let tcp = root.remove("tcp");
    let mut flows = take(&mut root, "flows");
    let mut topology = take(&mut root, "topology");
    let proxies = root.remove("proxies");
    defaults::fill(&mut root, model::SCENARIO, profile);
    root.extend(proxies.map(|node| ("proxies".to_string(), node)));
    check_seed(&root, &mut out);
    let duration = root.read::<Time>("duration");
    check_measure(&root, duration, &mut out);

    let groups = items(&mut flows);
    if groups.is_empty() {
        out.push(Diagnostic::new(
            "flows",
            &flows.origin,
            "there are no flows; add [[flows]]",
        ));
        return Err(out);
    }
    for (index, group) in groups.iter_mut().filter_map(Node::table_mut).enumerate() {
        flow::resolve_basics(group, &path_of(index), profile, &mut out);
    }
    name_groups(groups, &mut out);
    resolve_stop(&mut root, groups, &mut out);
    let packets = groups
        .iter()
        .filter_map(Node::table)
        .map(|group| group.read::<Bytes>("packet"));
    let packet = packets.max().unwrap_or(Bytes(1));

    let origin = topology.origin.clone();
    let table = topology.table_mut().expect("the topology is a table");
    let context = Context { packet, profile };
    let core = topology::resolve(table, &origin, context, &mut out);
    let Some(core) = core.filter(|_| out.is_empty()) else {
        return Err(out);
    };
    // From here on each group has its own access links and transport options.
    let access = table
        .values_mut()
        .find_map(|node| node.table_mut()?.remove("access"));
    let empty = Table::new();
    let shared = Shared {
        core: &core,
        context,
        tcp: tcp.as_ref().and_then(Node::table).unwrap_or(&empty),
        access: access.as_ref().and_then(Node::table),
        duration,
        algorithms,
    };
    let mut paths = Vec::new();
    for (index, group) in groups.iter_mut().filter_map(Node::table_mut).enumerate() {
        paths.extend(flow::resolve(group, &path_of(index), &shared, &mut out));
    }
    if out.is_empty() {
        check_capture(&root, &core, groups, &mut out);
    }
    let mut sites = Vec::new();
    if let Some(Value::List(proxies)) = root.get_mut("proxies").map(|node| &mut node.value) {
        for (index, table) in proxies.iter_mut().filter_map(Node::table_mut).enumerate() {
            let path = join("proxies", &index.to_string());
            sites.extend(proxy::resolve(table, &path, &shared, &mut out));
        }
        if out.is_empty() {
            proxy::assign(proxies, &sites, groups, &mut paths, &core, &mut out);
        }
    }
    if !out.is_empty() {
        return Err(out);
    }
    root.insert("flows".to_string(), flows);
    root.insert("topology".to_string(), topology);
    Ok(Resolved {
        root,
        core,
        paths,
        sites,
    })
}

fn path_of(index: usize) -> String {
    join("flows", &index.to_string())
}

fn take(root: &mut Table, key: &str) -> Node {
    root.remove(key)
        .unwrap_or_else(|| unreachable!("the checker requires {key}"))
}

fn items(node: &mut Node) -> &mut Vec<Node> {
    match &mut node.value {
        Value::List(items) => items,
        other => unreachable!("{other:?} is no list"),
    }
}

fn check_measure(root: &Table, duration: Time, out: &mut Vec<Diagnostic>) {
    let from = root.sub("measure").node("from");
    if from.read::<Time>() >= duration {
        let (from_span, end) = (from.read::<Span>(), duration.since(Time::ZERO));
        let message = format!("{from_span} is not before the end of the run at {end}");
        out.push(Diagnostic::new("measure.from", &from.origin, message));
    }
}

/// The flows that a stop rule counts, by label: those with exchanges.
fn resolve_stop(root: &mut Table, groups: &[Node], out: &mut Vec<Diagnostic>) {
    let measure = root.sub_mut("measure");
    let Some(stop) = measure.get_mut("stop").and_then(Node::table_mut) else {
        return;
    };
    let opens = |group: &&Table| {
        let traffic = group.get("traffic").and_then(Node::table);
        traffic.is_some_and(|traffic| traffic.word("kind") != "on-off")
    };
    let tables = groups.iter().filter_map(Node::table);
    let labels: Vec<&str> = tables
        .filter(opens)
        .map(|group| group.word("label"))
        .collect();
    let all = labels
        .iter()
        .map(|label| Node::text(label, Origin::Default));
    stop.default("of", Value::List(all.collect()), Origin::Default);
    if labels.is_empty() {
        let message = "no flow has exchanges to count; give one `traffic`";
        let origin = &stop.node("exchanges").origin;
        out.push(Diagnostic::new("measure.stop", origin, message));
        return;
    }
    for (index, label) in stop.list("of").iter().enumerate() {
        if !labels.contains(&text_of(label)) {
            let message = unknown(
                "label of flows with exchanges",
                text_of(label),
                labels.clone(),
            );
            let path = format!("measure.stop.of.{index}");
            out.push(Diagnostic::new(&path, &label.origin, message));
        }
    }
}

/// ns-2's generator takes seeds of 31 bits.
fn check_seed(root: &Table, out: &mut Vec<Diagnostic>) {
    const NS2_MAX: u64 = (1 << 31) - 2;
    let (seed, replication) = (root.read::<u64>("seed"), root.read::<u64>("replication"));
    let sum = seed.saturating_add(replication);
    if root.word("random") == "ns2" && !(1..=NS2_MAX).contains(&sum) {
        let message = format!(
            "with ns-2's random numbers the seed, the replication added, is from 1 to {NS2_MAX}, \
             not {sum}; change it, or set random = \"streams\""
        );
        out.push(Diagnostic::new("seed", &root.node("seed").origin, message));
    }
}

/// Links that a message lists before it says that there are more.
const LISTED: usize = 20;

/// Refuses captures of links that do not exist, access links included.
fn check_capture(root: &Table, core: &Core, groups: &[Node], out: &mut Vec<Diagnostic>) {
    let captured = root.sub("measure").list("capture");
    if captured.is_empty() {
        return;
    }
    let mut names: Vec<String> = core
        .links
        .iter()
        .map(|core| core.link.name.clone())
        .collect();
    for group in groups.iter().filter_map(Node::table) {
        names.extend(flow::access_link_names(group));
    }
    let known: HashSet<&str> = names.iter().map(String::as_str).collect();
    for (index, node) in captured.iter().enumerate() {
        if !known.contains(text_of(node)) {
            let path = format!("measure.capture.{index}");
            let listed = names.iter().map(String::as_str).take(LISTED);
            let mut message = unknown("link", text_of(node), listed);
            if names.len() > LISTED {
                message += &format!(", and {} access links of flows", names.len() - LISTED);
            }
            out.push(Diagnostic::new(&path, &node.origin, message));
        }
    }
}

/// Gives every group a unique label, by which results are grouped.
fn name_groups(groups: &mut [Node], out: &mut Vec<Diagnostic>) {
    let mut labels: Vec<String> = Vec::new();
    let given = |group: &Node| -> Option<String> {
        Some(group.table()?.get("label").map(text_of)?.to_string())
    };
    let all_given: Vec<String> = groups.iter().filter_map(given).collect();
    for (index, group) in groups.iter_mut().filter_map(Node::table_mut).enumerate() {
        if let Some(label) = group.get("label") {
            let text = text_of(label).to_string();
            if labels.contains(&text) || text.is_empty() {
                let message =
                    format!("the label `{text}` is empty or already used; give each group its own");
                out.push(Diagnostic::new(
                    &join(&path_of(index), "label"),
                    &label.origin,
                    message,
                ));
            }
            labels.push(text);
            continue;
        }
        let base = default_label(group);
        let taken = |label: &String| labels.contains(label) || all_given.contains(label);
        let numbered = (2..).map(|number| format!("{base}-group-{number}"));
        let label = std::iter::once(base.clone())
            .chain(numbered)
            .find(|label| !taken(label));
        let label = label.unwrap_or(base);
        labels.push(label.clone());
        group.derive("label", Value::Text(label), "what the flows run");
    }
}

fn default_label(group: &Table) -> String {
    if group.word("protocol") == "udp" {
        return "udp".to_string();
    }
    let congestion = group.get("congestion").and_then(Node::table);
    if let Some(traffic) = group.get("traffic").and_then(Node::table) {
        return traffic.word("kind").to_string();
    }
    let python = congestion.and_then(|table| table.get("python"));
    if let Some(python) = python {
        return custom::class(text_of(python)).to_string();
    }
    let kind = congestion.and_then(|table| table.get("kind")).map(text_of);
    kind.unwrap_or(crate::check::DEFAULT_CONGESTION).to_string()
}
