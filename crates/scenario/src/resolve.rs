//! Resolution of a checked document. Every value is set: from the profile, from a default, or
//! derived from other values.

use std::collections::HashSet;

use longhaul_engine::config::{Measure, Randomness, StopRule};
use longhaul_keys::{Field, KIND, Profile};
use longhaul_units::{Bytes, Time};

use crate::algorithm;
use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::flow::{self, Path, SharedSettings};
use crate::link::{AccessKeys, Context};
use crate::making::Algorithms;
use crate::model::flow::{AnyFlow, Stack};
use crate::model::protocol::Protocol;
use crate::model::{self, CountedFlows, Length, MoreMeasures, Scenario, Seeds};
use crate::proxy::{self, Site};
use crate::topology::{self, AccessLinks, Core};
use crate::unknown_names::unknown_name;

/// A complete document, with the parts of the engine's configuration that are computed along with it.
pub(crate) struct ResolvedDocument {
    /// Root table of the document, with every value filled in.
    pub root: Table,
    pub core: Core,
    /// Route and congestion control of each group of flows.
    pub paths: Vec<Path>,
    /// Location and congestion control of each proxy.
    pub sites: Vec<Site>,
}

/// Completes a checked document, or reports values that contradict each other.
pub(crate) fn resolve(
    mut root: Table,
    algorithms: &dyn Algorithms,
) -> Result<ResolvedDocument, Vec<Diagnostic>> {
    let mut out = Vec::new();
    let named: Option<Profile> = root.get(Length::profile).map(Node::read);
    let profile = named.unwrap_or(Profile::ALL[0]);
    // Transport options of a flow override those of the file, which override the profile's.
    let tcp = root.remove(Scenario::tcp);
    let mut flows = take(&mut root, Scenario::flows);
    let mut topology = take(&mut root, Scenario::topology);
    let proxies = root.remove(Scenario::proxies);
    root.fill(model::SCENARIO, profile);
    if let Some(proxies) = proxies {
        root.insert(Scenario::proxies, proxies);
    }
    check_seed(&root, &mut out);
    let duration = root.read(Length::duration);
    check_measure(&root, duration, &mut out);

    let groups = items(&mut flows);
    if groups.is_empty() {
        let message = "there are no flows; add [[flows]]";
        let path = Scenario::flows.name();
        out.push(Diagnostic::new(path, &flows.origin, message));
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
        .map(|group| group.read(AnyFlow::packet));
    let packet = packets.max().unwrap_or(Bytes(1));

    let origin = topology.origin.clone();
    let table = topology.table_mut().expect("the topology is a table");
    let context = Context { packet, profile };
    let core = topology::resolve(table, &origin, context, &mut out);
    let Some(core) = core.filter(|_| out.is_empty()) else {
        return Err(out);
    };
    // From here on each group has its own access links and transport options.
    let mut networks = table.entries.values_mut().filter_map(Node::table_mut);
    let access = networks.find_map(|network| network.remove(AccessLinks::access));
    refuse_two_delays(access.as_ref().and_then(Node::table), &mut out);
    let empty = Table::new();
    let shared = SharedSettings {
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
    for (index, table) in root.tables_mut(Scenario::proxies).enumerate() {
        let path = join(Scenario::proxies.name(), &index.to_string());
        sites.extend(proxy::resolve(table, &path, &shared, &mut out));
    }
    if out.is_empty() && root.has(Scenario::proxies) {
        let proxies = root.list(Scenario::proxies);
        proxy::assign(proxies, &sites, groups, &mut paths, &core, &mut out);
    }
    if !out.is_empty() {
        return Err(out);
    }
    root.insert(Scenario::flows, flows);
    root.insert(Scenario::topology, topology);
    Ok(ResolvedDocument {
        root,
        core,
        paths,
        sites,
    })
}

/// Refuses access links of the topology with both a round-trip time and a delay.
fn refuse_two_delays(access: Option<&Table>, out: &mut Vec<Diagnostic>) {
    let both = |table: &&Table| table.has(AccessKeys::rtt) && table.has(AccessKeys::delay);
    if let Some(access) = access.filter(both) {
        let message = "give either rtt or delay; the other follows";
        out.push(Diagnostic::of_key(
            access,
            AccessKeys::delay,
            "topology.access",
            message,
        ));
    }
}

fn path_of(index: usize) -> String {
    join(Scenario::flows.name(), &index.to_string())
}

fn take<T>(root: &mut Table, key: Field<T>) -> Node {
    let node = root.remove(key);
    node.unwrap_or_else(|| unreachable!("the checker requires {key}"))
}

fn items(node: &mut Node) -> &mut Vec<Node> {
    match &mut node.value {
        Value::List(items) => items,
        other => unreachable!("{other:?} is no list"),
    }
}

fn check_measure(root: &Table, duration: Time, out: &mut Vec<Diagnostic>) {
    let measure = root.sub(Scenario::measure);
    let from = measure.read(Measure::from);
    if from >= duration {
        let [from, end] = [from, duration].map(|time| time.since(Time::ZERO));
        let message = format!("{from} is not before the end of the run at {end}");
        let path = Scenario::measure.name();
        out.push(Diagnostic::at(measure, Measure::from, path, message));
    }
}

/// Resolves the labels of the flows whose exchanges a stop rule counts; by default, of all flows with exchanges.
fn resolve_stop(root: &mut Table, groups: &[Node], out: &mut Vec<Diagnostic>) {
    let measure = root.sub_mut(Scenario::measure);
    let Some(stop) = measure.table_mut(MoreMeasures::stop) else {
        return;
    };
    let opens = |group: &&Table| {
        let traffic = group.table(AnyFlow::traffic);
        traffic.is_some_and(|traffic| traffic.word(KIND) != "on-off")
    };
    let tables = groups.iter().filter_map(Node::table);
    let labels: Vec<&str> = tables
        .filter(opens)
        .map(|group| group.word(AnyFlow::label))
        .collect();
    let all = labels
        .iter()
        .map(|label| Node::text(label, Origin::Default));
    stop.or_default(CountedFlows::labels, Value::List(all.collect()));
    if labels.is_empty() {
        let message = "no flow has exchanges to count; give one `traffic`";
        let origin = &stop.node(StopRule::exchanges).origin;
        out.push(Diagnostic::new("measure.stop", origin, message));
        return;
    }
    for (index, label) in stop.list(CountedFlows::labels).iter().enumerate() {
        if !labels.contains(&label.word()) {
            let what = "label of flows with exchanges";
            let message = unknown_name(what, label.word(), labels.clone());
            let path = format!("measure.stop.of.{index}");
            out.push(Diagnostic::new(&path, &label.origin, message));
        }
    }
}

/// Checks the sum of seed and replication, which is the seed of ns-2's generator. Other random numbers need no check.
fn check_seed(root: &Table, out: &mut Vec<Diagnostic>) {
    const NS2_MAX: u64 = (1 << 31) - 2;
    let Seeds { seed, replication } = Seeds::of(root);
    let sum = seed.saturating_add(replication);
    let ns2 = root.read(Scenario::random) == Randomness::Ns2;
    if ns2 && !(1..=NS2_MAX).contains(&sum) {
        let message = format!(
            "with ns-2's random numbers the seed, the replication added, is from 1 to {NS2_MAX}, \
             not {sum}; change it, or set random = \"streams\""
        );
        out.push(Diagnostic::at(root, Seeds::seed, "", message));
    }
}

/// Maximum number of links and nodes among which a message searches for a similar name.
const LISTED: usize = 1000;

/// Refuses captures at unknown links and nodes. Access links and their hosts are allowed.
fn check_capture(root: &Table, core: &Core, groups: &[Node], out: &mut Vec<Diagnostic>) {
    let captured = root.sub(Scenario::measure).list(MoreMeasures::capture);
    if captured.is_empty() {
        return;
    }
    let links = core.links.iter().map(|core| &core.link.name);
    let mut names: Vec<String> = links.chain(&core.nodes).cloned().collect();
    for group in groups.iter().filter_map(Node::table) {
        names.extend(flow::access_hosts(group));
        names.extend(flow::access_link_names(group));
    }
    let known: HashSet<&str> = names.iter().map(String::as_str).collect();
    for (index, node) in captured.iter().enumerate() {
        if !known.contains(node.word()) {
            let path = format!("measure.capture.{index}");
            let known = names.iter().map(String::as_str).take(LISTED);
            let message = unknown_name("link or node", node.word(), known);
            out.push(Diagnostic::new(&path, &node.origin, message));
        }
    }
}

/// Gives every group without a label one that no other group has. Refuses given labels that are empty or used twice.
/// Results are grouped by label.
fn name_groups(groups: &mut [Node], out: &mut Vec<Diagnostic>) {
    let mut labels: Vec<String> = Vec::new();
    let given =
        |group: &Node| -> Option<String> { Some(group.table()?.get(AnyFlow::label)?.read()) };
    let all_given: Vec<String> = groups.iter().filter_map(given).collect();
    for (index, group) in groups.iter_mut().filter_map(Node::table_mut).enumerate() {
        if let Some(label) = group.get(AnyFlow::label) {
            let text: String = label.read();
            if labels.contains(&text) || text.is_empty() || text == "all" {
                let message = format!(
                    "the label `{text}` is empty, already used, or that of all flows together; give each group its own"
                );
                let path = path_of(index);
                out.push(Diagnostic::at(group, AnyFlow::label, &path, message));
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
        group.derive(
            AnyFlow::label,
            Value::Text(label),
            "name of the flows' congestion control, traffic, QUIC stack or protocol",
        );
    }
}

fn default_label(group: &Table) -> String {
    match group.read(AnyFlow::protocol) {
        Protocol::Udp => return "udp".to_string(),
        Protocol::Quic => return flow::quic::label(group),
        Protocol::Tcp => {}
    }
    if let Some(traffic) = group.table(AnyFlow::traffic) {
        return traffic.read(KIND);
    }
    algorithm::name(group.table(Stack::congestion)).to_string()
}
