//! Proxies: defaults, consistency, and the engine's configuration.

mod assign;
mod keys;

use std::sync::Arc;

use longhaul_congestion::ControllerSpec;
use longhaul_engine::config::{Proxy, ProxyChange, Tcp};
use longhaul_engine::queue::{DISCIPLINES, LinkContext};
use longhaul_keys::Profile;
use longhaul_units::{Bytes, Quantity, Rate, Span, Time};

pub(crate) use self::assign::assign;
pub(crate) use self::keys::PROXY;
use self::keys::QUEUE;
use crate::defaults;
use crate::document::{Node, Table, Value, fill, join};
use crate::error::Diagnostic;
use crate::flow::{self, Shared};
use crate::link::Context;
use crate::queue;
use crate::topology::{Core, find_node};
use crate::typed::{Typed, text_of};

/// Where a proxy is, and its congestion control.
pub(crate) struct Site {
    pub start: usize,
    pub end: usize,
    /// Rate of the route between its nodes.
    rate: Rate,
    pub congestion: ControllerSpec,
}

/// Fills in defaults and checks what the declarations of keys cannot.
pub(crate) fn resolve(
    proxy: &mut Table,
    path: &str,
    shared: &Shared<'_>,
    out: &mut Vec<Diagnostic>,
) -> Option<Site> {
    let before = out.len();
    let (start, end) = nodes(proxy, path, shared.core, out)?;
    let route = shared.core.route(start, end)?;
    let (rate, delay) = (route.rate, route.delay);
    fill_defaults(proxy, shared.context);
    let packet = proxy.read::<Bytes>("packet");
    let queues = route.links.iter().map(|core| &core.queue);
    let held: f64 = queues
        .map(|queue| queue::capacity_packets(queue, packet))
        .sum();
    let bdp = rate.bdp(delay * 2).0 as f64 / packet.0 as f64;
    let congestion = flow::resolve_tcp(proxy, path, shared, bdp + held, out);
    if out.len() > before {
        return None;
    }
    let payload = flow::payload(proxy.sub("tcp"), packet)?;
    resolve_credit(proxy, path, payload, out);
    let link = LinkContext {
        rate,
        delay,
        rtt: delay * 2,
        packet: shared.context.packet,
        taken_over: false,
    };
    resolve_queue(proxy, path, &link, shared.context.profile, out);
    resolve_changes(proxy, path, payload, &link, shared, out);
    Some(Site {
        start,
        end,
        rate,
        congestion: congestion?,
    })
}

/// Fills in defaults, but not those of transport options, which `[tcp]` of the file comes before.
fn fill_defaults(proxy: &mut Table, context: Context) {
    let tcp = proxy.remove("tcp");
    // A local queue of any discipline has the same limit if it gives none.
    let queue = defaults::default(&QUEUE, context.profile).expect("it has a default");
    fill(proxy, &Table::from([(QUEUE.name.to_string(), queue)]));
    defaults::fill(proxy, PROXY, context.profile);
    proxy.extend(tcp.map(|node| ("tcp".to_string(), node)));
    if !proxy.contains_key("packet") {
        let packet = Value::Quantity(Quantity::Bytes(context.packet));
        proxy.derive("packet", packet, "the largest packet of a flow");
    }
}

/// The two nodes, with routes in both directions.
fn nodes(
    proxy: &mut Table,
    path: &str,
    core: &Core,
    out: &mut Vec<Diagnostic>,
) -> Option<(usize, usize)> {
    let start = find_node(&core.nodes, proxy, "start", path, out);
    let end = find_node(&core.nodes, proxy, "end", path, out);
    let (start, end) = (start?, end?);
    let mut refuse = |message: String| {
        let origin = &proxy.node("end").origin;
        out.push(Diagnostic::new(&join(path, "end"), origin, message));
    };
    if start == end {
        refuse("a proxy needs two different nodes".to_string());
        return None;
    }
    for (from, to) in [(start, end), (end, start)] {
        if core.route(from, to).is_none() {
            let (from, to) = (&core.nodes[from], &core.nodes[to]);
            refuse(format!("no route leads from `{from}` to `{to}`"));
            return None;
        }
    }
    if !proxy.contains_key("name") {
        let name = format!("{}-{}", core.nodes[start], core.nodes[end]);
        proxy.derive("name", Value::Text(name), "START-END");
    }
    Some((start, end))
}

/// Credit in bytes of payload, for a full segment at least: with less, no segment would ever be forwarded.
fn resolve_credit(table: &mut Table, path: &str, payload: u64, out: &mut Vec<Diagnostic>) {
    let Some(node) = table.get("credit") else {
        return;
    };
    let bytes = match node.value {
        Value::Quantity(Quantity::Packets(packets)) => (packets * payload as f64) as u64,
        Value::Quantity(Quantity::Bytes(bytes)) => bytes.0,
        ref other => unreachable!("credit is {other:?}"),
    };
    if bytes < payload {
        let message = format!(
            "{} is less than the {payload} B of one packet, so that no data would be forwarded",
            Bytes(bytes)
        );
        return out.push(Diagnostic::new(
            &join(path, "credit"),
            &node.origin,
            message,
        ));
    }
    if let Value::Quantity(Quantity::Packets(packets)) = node.value {
        let rule = format!("{packets} packets ({}) x {payload} B", node.origin);
        table.derive(
            "credit",
            Value::Quantity(Quantity::Bytes(Bytes(bytes))),
            &rule,
        );
    }
}

/// Resolves a local queue.
fn resolve_queue(
    table: &mut Table,
    path: &str,
    link: &LinkContext,
    profile: Profile,
    out: &mut Vec<Diagnostic>,
) {
    let path = join(path, "queue");
    let queue = table.sub_mut("queue");
    queue::resolve(queue, &path, link, profile, out);
    if let Some(drop) = queue.get("drop").filter(|node| text_of(node) == "head") {
        let message = "a local queue drops the packet that arrives; write drop = \"tail\", or leave \
                       it out";
        out.push(Diagnostic::new(&join(&path, "drop"), &drop.origin, message));
    }
}

fn resolve_changes(
    proxy: &mut Table,
    path: &str,
    payload: u64,
    link: &LinkContext,
    shared: &Shared<'_>,
    out: &mut Vec<Diagnostic>,
) {
    let path = join(path, "changes");
    let mut earliest = Span::ZERO;
    let kind = proxy.sub("queue").word("kind");
    let is_replaceable = DISCIPLINES
        .iter()
        .any(|discipline| discipline.kind == kind && discipline.on_arrival);
    let changes = proxy.get_mut("changes").map(|node| &mut node.value);
    let Some(Value::List(changes)) = changes else {
        unreachable!("changes is a list");
    };
    for (index, change) in changes.iter_mut().filter_map(Node::table_mut).enumerate() {
        let path = join(&path, &index.to_string());
        let (at, origin) = (change.read::<Span>("at"), change.node("at").origin.clone());
        let mut refuse = |message| out.push(Diagnostic::new(&join(&path, "at"), &origin, message));
        if Time::ZERO + at >= shared.duration {
            let end = shared.duration.since(Time::ZERO);
            refuse(format!("{at} is not before the end of the run at {end}"));
        }
        if at < earliest {
            refuse(format!(
                "{at} is before {earliest}; expected changes in order of time"
            ));
        }
        if change.len() == 1 {
            refuse("the entry changes nothing; give credit, interval or queue".to_string());
        }
        earliest = at;
        resolve_credit(change, &path, payload, out);
        if change.contains_key("queue") {
            if !is_replaceable {
                let message = "the discipline of the local queue holds its packets and cannot be \
                               replaced; only drop-tail and RED can";
                out.push(Diagnostic::new(&join(&path, "queue"), &origin, message));
            }
            resolve_queue(change, &path, link, shared.context.profile, out);
        }
    }
}

impl Site {
    /// Bytes that the route between the nodes carries from one check to the next.
    pub(crate) fn bytes_between(&self, interval: Span) -> u64 {
        self.rate.bdp(interval).0
    }

    /// The engine's configuration of a resolved proxy.
    pub(crate) fn config(
        &self,
        proxy: &Table,
        tcp: impl Fn(&Table, Bytes, ControllerSpec) -> Tcp,
    ) -> Proxy {
        let queue = |table: &Table| queue::config(table.sub("queue"), self.rate);
        let change = |change: &Table| {
            let given = change.contains_key("queue").then(|| queue(change));
            ProxyChange::of(&defaults::values(change), given)
        };
        let changes = proxy.list("changes").iter().filter_map(Node::table);
        let tcp = tcp(
            proxy,
            proxy.read::<Bytes>("packet"),
            self.congestion.clone(),
        );
        Proxy::of(
            &defaults::values(proxy),
            self.start,
            self.end,
            Arc::new(tcp),
            queue(proxy),
            changes.map(change).collect(),
        )
    }
}
