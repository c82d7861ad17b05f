//! Proxies: defaults, checks of consistency, and the engine's configuration.

mod assign;
pub(crate) mod keys;

use std::sync::Arc;

use longhaul_congestion::ControllerSpec;
use longhaul_engine::config::{Proxy, ProxyChange, Tcp};
use longhaul_engine::queue::{DISCIPLINES, DropTail, LinkContext};
use longhaul_keys::{Field, KIND};
use longhaul_units::{Bytes, Quantity, Rate, Span, Time};

pub(crate) use self::assign::assign;
use self::keys::{ChangeKeys, PROXY, ProxyKeys};
use crate::document::{Table, Value, fill, join};
use crate::error::Diagnostic;
use crate::flow::{self, SharedSettings};
use crate::link::Context;
use crate::model::flow::Stack;
use crate::queue;
use crate::topology::{Core, find_node};

/// Location of a proxy in the network, and its congestion control.
pub(crate) struct Site {
    pub start: usize,
    pub end: usize,
    /// Rate of the route from the start node to the end node.
    rate: Rate,
    pub congestion: ControllerSpec,
}

/// Sets defaults of a proxy, and checks the rules that declarations of keys cannot express.
pub(crate) fn resolve(
    proxy: &mut Table,
    path: &str,
    shared: &SharedSettings<'_>,
    out: &mut Vec<Diagnostic>,
) -> Option<Site> {
    let before = out.len();
    let (start, end) = nodes(proxy, path, shared.core, out)?;
    let route = shared.core.route(start, end)?;
    let (rate, delay) = (route.rate, route.delay);
    fill_defaults(proxy, shared.context);
    let packet = proxy.read(ProxyKeys::packet);
    let queues = route.links.iter().map(|core| &core.queue);
    let held: f64 = queues
        .map(|queue| queue::capacity_packets(queue, packet))
        .sum();
    let bdp = rate.bdp(delay * 2).0 as f64 / packet.0 as f64;
    let congestion = flow::resolve_tcp(proxy, path, shared, bdp + held, out);
    if out.len() > before {
        return None;
    }
    let payload = flow::payload(proxy.sub(Stack::tcp), packet)?;
    resolve_credit(proxy, Proxy::credit_bytes, path, payload, out);
    let link = LinkContext::new(rate, delay, shared.context.packet);
    resolve_queue(proxy, ProxyKeys::queue, path, &link, out);
    resolve_changes(proxy, path, payload, &link, shared, out);
    Some(Site {
        start,
        end,
        rate,
        congestion: congestion?,
    })
}

/// Sets the defaults of all keys of a proxy except transport options. `flow::resolve_tcp` sets those later, since the
/// scenario's table `[tcp]` takes precedence over their defaults.
fn fill_defaults(proxy: &mut Table, context: Context) {
    let tcp = proxy.remove(Stack::tcp);
    // The initial local queue has the same default limit with any discipline.
    let mut keys = PROXY.iter();
    let queue = keys.find(|key| key.name == ProxyKeys::queue.name());
    let queue = queue.and_then(|key| key.default_node(context.profile));
    let mut lower = Table::new();
    lower.insert(ProxyKeys::queue, queue.expect("it has a default"));
    fill(proxy, &lower);
    proxy.fill(PROXY, context.profile);
    if let Some(tcp) = tcp {
        proxy.insert(Stack::tcp, tcp);
    }
    if !proxy.has(ProxyKeys::packet) {
        let packet = Value::Quantity(Quantity::Bytes(context.packet));
        proxy.derive(ProxyKeys::packet, packet, "the largest packet of a flow");
    }
}

/// Returns the indices of the proxy's two nodes; `None` after an error, such as a missing route. Also
/// sets the default name of the proxy.
fn nodes(
    proxy: &mut Table,
    path: &str,
    core: &Core,
    out: &mut Vec<Diagnostic>,
) -> Option<(usize, usize)> {
    let start = find_node(&core.nodes, proxy, ProxyKeys::start, path, out);
    let end = find_node(&core.nodes, proxy, ProxyKeys::end, path, out);
    let (start, end) = (start?, end?);
    let mut refuse = |message: String| {
        out.push(Diagnostic::at(proxy, ProxyKeys::end, path, message));
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
    if !proxy.has(Proxy::name) {
        let name = format!("{}-{}", core.nodes[start], core.nodes[end]);
        proxy.derive(Proxy::name, Value::Text(name), "START-END");
    }
    Some((start, end))
}

/// Converts a proxy's credit to bytes of payload if it is given in packets. Refuses a credit of less than a full
/// segment, since no segment would ever be forwarded.
fn resolve_credit<T>(
    table: &mut Table,
    key: Field<T>,
    path: &str,
    payload: u64,
    out: &mut Vec<Diagnostic>,
) {
    let Some(credit) = table.read(key.seen_as::<Option<Quantity>>()) else {
        return;
    };
    let bytes = match credit {
        Quantity::Packets(packets) => (packets * payload as f64) as u64,
        Quantity::Bytes(bytes) => bytes.0,
        other => unreachable!("credit is {other:?}"),
    };
    if bytes < payload {
        let message = format!(
            "{} is less than the {payload} B of one packet, so that no data would be forwarded",
            Bytes(bytes)
        );
        return out.push(Diagnostic::at(table, key, path, message));
    }
    if let Quantity::Packets(packets) = credit {
        let origin = &table.node(key).origin;
        let rule = format!("{packets} packets ({origin}) x {payload} B");
        let bytes = Value::Quantity(Quantity::Bytes(Bytes(bytes)));
        table.derive(key, bytes, rule);
    }
}

/// Resolves the local queue of a proxy, initial or new. Refuses drop-tail that drops from the head.
fn resolve_queue(
    table: &mut Table,
    key: Field<Table>,
    path: &str,
    link: &LinkContext,
    out: &mut Vec<Diagnostic>,
) {
    let path = join(path, key.name());
    let queue = table.sub_mut(key);
    queue::resolve(queue, &path, link, out);
    if queue.is_word(DropTail::drop, "head") {
        let message = "a local queue drops the packet that arrives; write drop = \"tail\", or leave \
                       it out";
        out.push(Diagnostic::at(queue, DropTail::drop, &path, message));
    }
}

fn resolve_changes(
    proxy: &mut Table,
    path: &str,
    payload: u64,
    link: &LinkContext,
    shared: &SharedSettings<'_>,
    out: &mut Vec<Diagnostic>,
) {
    let path = join(path, ProxyKeys::changes.name());
    let mut earliest = Time::ZERO;
    let kind = proxy.sub(ProxyKeys::queue).word(KIND);
    let is_replaceable = DISCIPLINES
        .iter()
        .any(|discipline| discipline.kind == kind && discipline.on_arrival);
    for (index, change) in proxy.tables_mut(ProxyKeys::changes).enumerate() {
        let path = join(&path, &index.to_string());
        let time = change.read(ProxyChange::at);
        let [at, before, end] =
            [time, earliest, shared.duration].map(|time| time.since(Time::ZERO));
        let mut refuse = |message: String| {
            out.push(Diagnostic::at(change, ProxyChange::at, &path, message));
        };
        if time >= shared.duration {
            refuse(format!("{at} is not before the end of the run at {end}"));
        }
        if time < earliest {
            refuse(format!(
                "{at} is before {before}; expected changes in order of time"
            ));
        }
        if change.entries.len() == 1 {
            refuse("the entry changes nothing; give credit, interval or queue".to_string());
        }
        earliest = time;
        resolve_credit(change, ProxyChange::credit_bytes, &path, payload, out);
        if change.has(ChangeKeys::queue) {
            if !is_replaceable {
                let message = "the discipline of the local queue holds its packets and cannot be \
                               replaced; only drop-tail and RED can";
                let (path, origin) = (
                    join(&path, ChangeKeys::queue.name()),
                    &change.node(ProxyChange::at).origin,
                );
                out.push(Diagnostic::new(&path, origin, message));
            }
            resolve_queue(change, ChangeKeys::queue, &path, link, out);
        }
    }
}

impl Site {
    /// Returns the number of bytes that the route between the nodes carries in `interval`.
    pub(crate) fn bytes_between(&self, interval: Span) -> u64 {
        self.rate.bdp(interval).0
    }

    /// Returns the engine's configuration of a resolved proxy.
    pub(crate) fn config(
        &self,
        proxy: &Table,
        tcp: impl Fn(&Table, Bytes, ControllerSpec) -> Tcp,
    ) -> Proxy {
        let queue = |queue: &Table| queue::config(queue, self.rate);
        let change = |change: &Table| {
            let given = change.table(ChangeKeys::queue).map(queue);
            ProxyChange::of(change, given)
        };
        let packet = proxy.read(ProxyKeys::packet);
        Proxy::of(
            proxy,
            self.start,
            self.end,
            Arc::new(tcp(proxy, packet, self.congestion.clone())),
            queue(proxy.sub(ProxyKeys::queue)),
            proxy.tables(ProxyKeys::changes).map(change).collect(),
        )
    }
}
