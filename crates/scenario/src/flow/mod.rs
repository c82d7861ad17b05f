//! Groups of flows: where they run, when they start, and every option of their transport.

mod access;
mod transport;

use longhaul_congestion::ControllerSpec;
use longhaul_keys::Profile;
use longhaul_units::{Bytes, Rate, Span, Time};

use crate::custom::Algorithms;
use crate::defaults;
use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::link::Context;
use crate::model::flow::{ANY_FLOW, TCP_FLOW, UDP_FLOW};
use crate::queue;
use crate::topology::{Core, FLOW_PLACES};
use crate::traffic;
use crate::typed::Typed;
use access::links;

pub(crate) use access::{access_link_names, access_links, hosts};
pub(crate) use transport::{payload, resolve_congestion, resolve_tcp, slow_start};

/// What the flows of all groups share.
pub(crate) struct Shared<'a> {
    pub core: &'a Core,
    pub context: Context,
    /// The file's own transport options.
    pub tcp: &'a Table,
    /// The topology's access links.
    pub access: Option<&'a Table>,
    pub duration: Time,
    /// Makes the users' own algorithms.
    pub algorithms: &'a dyn Algorithms,
}

/// Where a group's flows run, and their congestion control.
pub(crate) struct Path {
    pub from: usize,
    pub to: usize,
    /// Base round trip, access links included.
    pub rtt: Span,
    /// The slowest link's rate, access links included.
    pub rate: Rate,
    /// None without TCP.
    pub congestion: Option<ControllerSpec>,
    /// Number of the proxy that splits the connections, for what goes from first to second node.
    pub via: Option<usize>,
    /// The same for what comes back, if data does.
    pub via_back: Option<usize>,
}

/// Largest IPv4 packet (RFC 791).
const LARGEST_PACKET: Bytes = Bytes(65_535);

/// The values that decide about others: protocol, count and packet size.
pub(crate) fn resolve_basics(
    flow: &mut Table,
    path: &str,
    profile: Profile,
    out: &mut Vec<Diagnostic>,
) {
    fill_basics(flow, path, profile, out);
    refuse_large(flow, "packet", path, out);
    refuse_empty_streams(flow, path, out);
}

/// Refuses a transfer that leaves streams without a byte.
fn refuse_empty_streams(flow: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let (Some(streams), true) = (flow.get("streams"), flow.contains_key("transfer")) else {
        return;
    };
    let transfer = flow.read::<Bytes>("transfer");
    if transfer.0 < streams.read::<u64>() {
        let message = format!("{transfer} are too few for so many streams, which share them");
        let path = join(path, "streams");
        out.push(Diagnostic::new(&path, &streams.origin, message));
    }
}

/// Refuses a size beyond that of a packet.
fn refuse_large(table: &Table, key: &str, path: &str, out: &mut Vec<Diagnostic>) {
    let size = table.read::<Bytes>(key);
    if size > LARGEST_PACKET {
        let message = format!("{size} is more than the largest packet, {LARGEST_PACKET}");
        out.push(Diagnostic::new(
            &join(path, key),
            &table.node(key).origin,
            message,
        ));
    }
}

fn fill_basics(flow: &mut Table, path: &str, profile: Profile, out: &mut Vec<Diagnostic>) {
    defaults::fill(flow, ANY_FLOW, profile);
    if flow.contains_key("traffic") {
        let protocol = flow.node("protocol").clone();
        let path = join(path, "traffic");
        traffic::resolve(flow.sub_mut("traffic"), &protocol, &path, out);
    }
    if flow.word("protocol") == "tcp" {
        // Options of the file come between those of the flow and those of the profile.
        let tcp = flow.remove("tcp");
        defaults::fill(flow, TCP_FLOW, profile);
        flow.extend(tcp.map(|node| ("tcp".to_string(), node)));
        if flow.read::<u64>("streams") > 1 && flow.contains_key("traffic") {
            let streams = flow.node("streams");
            let message = "several streams share a transfer, or are unlimited sources; leave streams or \
                           traffic out";
            let path = join(path, "streams");
            out.push(Diagnostic::new(&path, streams.key_origin(), message));
        }
        for key in UDP_FLOW.iter().map(|key| key.name) {
            if let Some(node) = flow.get(key) {
                let message =
                    format!("a TCP flow has no {key}; write protocol = \"udp\", or leave it out");
                let path = join(path, key);
                out.push(Diagnostic::new(&path, node.key_origin(), message));
            }
        }
        if let (Some(transfer), true) = (flow.get("transfer"), flow.contains_key("traffic")) {
            let message = "give either transfer or traffic, which says itself what is sent";
            let path = join(path, "transfer");
            out.push(Diagnostic::new(&path, transfer.key_origin(), message));
        }
        return;
    }
    for key in TCP_FLOW.iter().map(|key| key.name) {
        if let Some(node) = flow.get(key) {
            let message =
                format!("a UDP flow has no {key}; leave it out, or write protocol = \"tcp\"");
            out.push(Diagnostic::new(
                &join(path, key),
                node.key_origin(),
                message,
            ));
        }
    }
    if let (Some(spacing), true) = (flow.get("spacing"), flow.contains_key("traffic")) {
        let message = "give either spacing or traffic: datagrams of a burst are evenly spaced";
        let path = join(path, "spacing");
        out.push(Diagnostic::new(&path, spacing.key_origin(), message));
    }
    if !flow.contains_key("rate") {
        let message = "a UDP flow needs a rate, such as rate = \"10 Mbps\"";
        out.push(Diagnostic::new(
            path,
            &flow.node("protocol").origin,
            message,
        ));
    }
}

/// Fills in everything else and makes derived values explicit.
pub(crate) fn resolve(
    flow: &mut Table,
    path: &str,
    shared: &Shared<'_>,
    out: &mut Vec<Diagnostic>,
) -> Option<Path> {
    resolve_times(flow, path, shared.duration, out);
    let before = out.len();
    let (from, to) = endpoints(flow, path, shared.core, out)?;
    let Some(route) = shared.core.route(from, to) else {
        let (from, to) = (&shared.core.nodes[from], &shared.core.nodes[to]);
        let message = format!("no route leads from `{from}` to `{to}`");
        out.push(Diagnostic::new(path, &flow.node("to").origin, message));
        return None;
    };
    let back = shared.core.route(to, from);
    if back.is_none() && flow.word("protocol") == "tcp" {
        let (from, to) = (&shared.core.nodes[from], &shared.core.nodes[to]);
        let message = format!("no route leads back from `{to}` to `{from}`, for ACKs");
        out.push(Diagnostic::new(path, &flow.node("to").origin, message));
        return None;
    }
    // Datagrams may have no way back.
    let core_rtt = route.delay + back.map_or(route.delay, |back| back.delay);
    access::resolve_access(flow, path, shared, core_rtt, out);
    if out.len() > before {
        return None;
    }
    let access = flow.get("access").and_then(Node::table);
    let rtt = core_rtt
        + access.map_or(Span::ZERO, |access| {
            access.read::<Span>("delay") * 2 * links(access)
        });
    let rate = access.map_or(route.rate, |access| {
        access.read::<Rate>("rate").min(route.rate)
    });
    let mut congestion = None;
    if flow.word("protocol") == "tcp" {
        let packet = flow.read::<Bytes>("packet");
        let queues = route.links.iter().map(|core| &core.queue);
        let queued: f64 = queues
            .map(|queue| queue::capacity_packets(queue, packet))
            .sum();
        let held = access.map_or(0.0, |access| {
            links(access) as f64 * queue::capacity_packets(access.sub("queue"), packet)
        });
        let bdp = rate.bdp(rtt).0 as f64 / packet.0 as f64;
        congestion = resolve_tcp(flow, path, shared, bdp + queued + held, out);
        check_clock_error(flow, path, shared.duration, out);
    }
    Some(Path {
        from,
        to,
        rtt,
        rate,
        congestion,
        via: None,
        via_back: None,
    })
}

/// Refuses errors of clocks that nothing is measured with, or that make transit times negative.
fn check_clock_error(flow: &Table, path: &str, duration: Time, out: &mut Vec<Diagnostic>) {
    let Some(node) = flow.get("clock_error") else {
        return;
    };
    let (Some(tcp), Some(clock)) = (flow.get("tcp").and_then(Node::table), node.table()) else {
        return;
    };
    let path = join(path, "clock_error");
    let mut refuse = |message: String| {
        out.push(Diagnostic::new(&path, node.key_origin(), message));
    };
    if !transport::reports_one_way_delay(tcp.node("timestamps")) {
        refuse(
            "no transit times are measured; write tcp.timestamps = \"one-way\", or leave it out"
                .into(),
        );
    }
    let (offset, drift): (Span, f64) = (clock.read("offset"), clock.read("drift"));
    let lost = Span::from_ps((-drift * duration.as_ps() as f64).max(0.0) as u64);
    if lost > offset {
        refuse(format!(
            "transit times could come out negative; write an offset of at least {lost}, what the clock loses"
        ));
    }
}

fn resolve_times(flow: &mut Table, path: &str, duration: Time, out: &mut Vec<Diagnostic>) {
    let count = flow.read::<u64>("count");
    let Node { value, origin, .. } = flow.node("start");
    let start_path = join(path, "start");
    let mut refuse = |origin: &Origin, message: String| {
        out.push(Diagnostic::new(&start_path, origin, message));
    };
    let starts: Vec<Node> = match value {
        Value::List(starts) => {
            if starts.len() as u64 != count {
                let n = starts.len();
                refuse(
                    origin,
                    format!("expected one start time for each of {count} flows, found {n}"),
                );
            }
            starts.clone()
        }
        Value::Table(table) => {
            let bounds = table.list("uniform");
            // An interval of length 0 draws a number, too, which matters with ns-2's one generator.
            if bounds.len() != 2 || bounds[0].read::<Span>() > bounds[1].read::<Span>() {
                let message =
                    "expected two times, the earlier first: uniform = [\"0 s\", \"15 s\"]";
                refuse(&table.node("uniform").origin, message.to_string());
            }
            bounds.to_vec()
        }
        _ => vec![flow.node("start").clone()],
    };
    // A half-open interval may end with the run.
    let drawn = matches!(value, Value::Table(_));
    let last = starts.len().saturating_sub(1);
    for (index, start) in starts.iter().enumerate() {
        let (at, end) = (start.read::<Time>(), duration);
        if at > end || (at == end && !(drawn && index == last)) {
            let (at, end) = (start.read::<Span>(), duration.since(Time::ZERO));
            refuse(
                &start.origin,
                format!("{at} is not before the end of the run at {end}"),
            );
        }
    }
    if let Some(stop) = flow.get("stop") {
        let earliest = starts
            .iter()
            .map(Node::read::<Span>)
            .min()
            .unwrap_or_default();
        if stop.read::<Span>() <= earliest {
            let message = format!(
                "{} is not after the start at {earliest}",
                stop.read::<Span>()
            );
            out.push(Diagnostic::new(&join(path, "stop"), &stop.origin, message));
        }
    }
}

/// First and last router, or node, of a group.
fn endpoints(
    flow: &mut Table,
    path: &str,
    core: &Core,
    out: &mut Vec<Diagnostic>,
) -> Option<(usize, usize)> {
    let allowed: Vec<&str> = core.kind.flow_keys.iter().map(|key| key.name).collect();
    let places = FLOW_PLACES.iter().map(|key| key.name);
    let mut right = true;
    for key in places.filter(|key| !allowed.contains(key)) {
        if let Some(node) = flow.get(key) {
            let message = format!(
                "this topology places flows by {}, not by {key}",
                allowed.join(" and ")
            );
            let path = join(path, key);
            out.push(Diagnostic::new(&path, node.key_origin(), message));
            right = false;
        }
    }
    if !right {
        return None;
    }
    (core.kind.endpoints)(flow, path, core, out)
}
