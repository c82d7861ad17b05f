//! Groups of flows: their nodes, their start times, and all options of their transport.

mod access;
pub(crate) mod quic;
mod transport;

use longhaul_congestion::ControllerSpec;
use longhaul_engine::config::{TimestampKeys, TimestampKind};
use longhaul_keys::{Field, Profile};
use longhaul_units::{Bytes, Rate, Span, Time};

use crate::document::{Node, Origin, Table, join};
use crate::error::Diagnostic;
use crate::link::{AccessKeys, Context};
use crate::making::Algorithms;
use crate::model::flow::{AnyFlow, FlowAccess, Stack, Starts, TcpFlow, UdpFlow, UniformStart};
use crate::model::protocol::Protocol;
use crate::model::quic::QuicFlow;
use crate::queue;
use crate::topology::{Core, FLOW_PLACES, GraphPlace};
use crate::traffic;
use access::links;

pub(crate) use access::{access_hosts, access_link_names, access_links, hosts};
pub(crate) use transport::{payload, resolve_congestion, resolve_tcp, slow_start};

/// Settings and functions for the flows of all groups.
pub(crate) struct SharedSettings<'a> {
    pub core: &'a Core,
    pub context: Context,
    /// Transport options in the table `[tcp]` of the file.
    pub tcp: &'a Table,
    /// Access links in the topology's table; `None` without such links.
    pub access: Option<&'a Table>,
    pub duration: Time,
    /// Functions that make custom algorithms.
    pub algorithms: &'a dyn Algorithms,
}

/// Route and congestion control of the flows of a group.
pub(crate) struct Path {
    pub from: usize,
    pub to: usize,
    /// Base round trip, access links included. If no route leads back, its delay is taken as that of the route there.
    pub rtt: Span,
    /// Rate of the slowest link on the route, access links included.
    pub rate: Rate,
    /// Congestion control; `None` for flows without TCP.
    pub congestion: Option<ControllerSpec>,
    /// QUIC stack; `None` for flows without QUIC.
    pub stack: Option<quic::ResolvedStack>,
    /// Index of the proxy that forwards data from the flow's first node to its second node; `None`
    /// without such a proxy.
    pub via: Option<usize>,
    /// Index of the proxy that forwards data from the flow's second node to its first node; `None`
    /// without such a proxy.
    pub via_back: Option<usize>,
}

/// Largest IPv4 packet (RFC 791).
const LARGEST_PACKET: Bytes = Bytes(65_535);

/// Resolves the values that others depend on: protocol, count and packet size.
pub(crate) fn resolve_basics(
    flow: &mut Table,
    path: &str,
    profile: Profile,
    out: &mut Vec<Diagnostic>,
) {
    fill_basics(flow, path, profile, out);
    refuse_large(flow, AnyFlow::packet, path, out);
    refuse_empty_streams(flow, path, out);
}

/// Refuses a transfer that is too small to give each stream a byte.
fn refuse_empty_streams(flow: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let Some(transfer) = flow.read(TcpFlow::transfer) else {
        return;
    };
    if flow.has(TcpFlow::streams) && transfer < flow.read(TcpFlow::streams) {
        let transfer = Bytes(transfer);
        let message = format!("{transfer} are too few for so many streams, which share them");
        out.push(Diagnostic::at(flow, TcpFlow::streams, path, message));
    }
}

/// Refuses a size above [`LARGEST_PACKET`].
fn refuse_large<T>(table: &Table, key: Field<T>, path: &str, out: &mut Vec<Diagnostic>) {
    let size = table.read(key.seen_as::<Bytes>());
    if size > LARGEST_PACKET {
        let message = format!("{size} is more than the largest packet, {LARGEST_PACKET}");
        out.push(Diagnostic::at(table, key, path, message));
    }
}

fn fill_basics(flow: &mut Table, path: &str, profile: Profile, out: &mut Vec<Diagnostic>) {
    flow.fill(AnyFlow::KEYS, profile);
    let protocol = flow.read(AnyFlow::protocol);
    let has_traffic = flow.has(AnyFlow::traffic);
    if protocol == Protocol::Quic {
        return quic::resolve_basics(flow, path, profile, out);
    }
    if flow.has(QuicFlow::stack) {
        let message = "only a QUIC flow has a stack; write protocol = \"quic\", or leave it out";
        out.push(Diagnostic::of_key(flow, QuicFlow::stack, path, message));
    }
    if let Some(table) = flow.table_mut(AnyFlow::traffic) {
        let path = join(path, AnyFlow::traffic.name());
        traffic::resolve(table, protocol, &path, out);
    }
    let mut refuse = |flow: &Table, key: Field<()>, message: &str| {
        if flow.has(key) {
            out.push(Diagnostic::of_key(flow, key, path, message));
        }
    };
    if protocol == Protocol::Tcp {
        // Options of the file override those of the profile, and options of the flow override those
        // of the file.
        let tcp = flow.remove(Stack::tcp);
        flow.fill(TcpFlow::KEYS, profile);
        if let Some(tcp) = tcp {
            flow.insert(Stack::tcp, tcp);
        }
        if flow.read(TcpFlow::streams) > 1 && has_traffic {
            let message = "several streams share a transfer, or are unlimited sources; leave streams or \
                           traffic out";
            refuse(flow, TcpFlow::streams.seen_as(), message);
        }
        for key in UdpFlow::KEYS.iter().map(|key| key.name) {
            let message =
                format!("a TCP flow has no {key}; write protocol = \"udp\", or leave it out");
            refuse(flow, Field::new(key), &message);
        }
        if has_traffic {
            let message = "give either transfer or traffic, which says itself what is sent";
            refuse(flow, TcpFlow::transfer.seen_as(), message);
        }
        return;
    }
    for key in TcpFlow::KEYS.iter().map(|key| key.name) {
        let message = format!("a UDP flow has no {key}; leave it out, or write protocol = \"tcp\"");
        refuse(flow, Field::new(key), &message);
    }
    if has_traffic {
        let message = "give either spacing or traffic: datagrams of a burst are evenly spaced";
        refuse(flow, UdpFlow::spacing.seen_as(), message);
    }
    if !flow.has(UdpFlow::rate) {
        let message = "a UDP flow needs a rate, such as rate = \"10 Mbps\"";
        let origin = &flow.node(AnyFlow::protocol).origin;
        out.push(Diagnostic::new(path, origin, message));
    }
}

/// Resolves all values of a group except those of [`resolve_basics`]: sets defaults and computes
/// derived values. Returns the path of the group's flows; `None` if it cannot be determined.
pub(crate) fn resolve(
    flow: &mut Table,
    path: &str,
    shared: &SharedSettings<'_>,
    out: &mut Vec<Diagnostic>,
) -> Option<Path> {
    resolve_times(flow, path, shared.duration, out);
    let before = out.len();
    let (from, to) = endpoints(flow, path, shared.core, out)?;
    let Some(route) = shared.core.route(from, to) else {
        let (from, to) = (&shared.core.nodes[from], &shared.core.nodes[to]);
        let message = format!("no route leads from `{from}` to `{to}`");
        let origin = &flow.node(GraphPlace::to).origin;
        out.push(Diagnostic::new(path, origin, message));
        return None;
    };
    let back = shared.core.route(to, from);
    let protocol = flow.read(AnyFlow::protocol);
    if back.is_none() && protocol != Protocol::Udp {
        let (from, to) = (&shared.core.nodes[from], &shared.core.nodes[to]);
        let message = format!("no route leads back from `{to}` to `{from}`, for ACKs");
        let origin = &flow.node(GraphPlace::to).origin;
        out.push(Diagnostic::new(path, origin, message));
        return None;
    }
    // Datagrams may have no route back.
    let core_rtt = route.delay + back.map_or(route.delay, |back| back.delay);
    access::resolve_access(flow, path, shared, core_rtt, out);
    if out.len() > before {
        return None;
    }
    let access = flow.table(FlowAccess::access);
    let rtt = core_rtt
        + access.map_or(Span::ZERO, |access| {
            access.read(AccessKeys::delay) * 2 * links(access)
        });
    let rate = access.map_or(route.rate, |access| {
        access.read(AccessKeys::rate).min(route.rate)
    });
    let (mut congestion, mut stack) = (None, None);
    if protocol != Protocol::Udp {
        let packet = flow.read(AnyFlow::packet);
        let queues = route.links.iter().map(|core| &core.queue);
        let queued: f64 = queues
            .map(|queue| queue::capacity_packets(queue, packet))
            .sum();
        let held = access.map_or(0.0, |access| {
            links(access) as f64 * queue::capacity_packets(access.sub(AccessKeys::queue), packet)
        });
        let bdp = rate.bdp(rtt);
        let held = bdp.0 as f64 / packet.0 as f64 + queued + held;
        if protocol == Protocol::Tcp {
            congestion = resolve_tcp(flow, path, shared, held, out);
            check_clock_error(flow, path, shared.duration, out);
        } else {
            let bytes = held * packet.0 as f64;
            stack = quic::resolve(flow, path, shared, (bdp, bytes), out);
        }
    }
    Some(Path {
        from,
        to,
        rtt,
        rate,
        congestion,
        stack,
        via: None,
        via_back: None,
    })
}

/// Refuses clock errors that no measurement uses, and clock errors that make transit times
/// negative.
fn check_clock_error(flow: &Table, path: &str, duration: Time, out: &mut Vec<Diagnostic>) {
    let key = TcpFlow::clock_error;
    let (Some(tcp), Some(clock)) = (flow.table(Stack::tcp), flow.read(key)) else {
        return;
    };
    let mut refuse = |message: String| {
        out.push(Diagnostic::of_key(flow, key, path, message));
    };
    if tcp.read(TimestampKeys::timestamps) != TimestampKind::OneWay {
        refuse(
            "no transit times are measured; write tcp.timestamps = \"one-way\", or leave it out"
                .into(),
        );
    }
    let lost = Span::from_ps((-clock.drift * duration.as_ps() as f64).max(0.0) as u64);
    if lost > clock.offset {
        refuse(format!(
            "transit times could come out negative; write an offset of at least {lost}, the time that the clock \
                loses"
        ));
    }
}

fn resolve_times(flow: &mut Table, path: &str, duration: Time, out: &mut Vec<Diagnostic>) {
    let count = flow.read(AnyFlow::count);
    let node = flow.node(AnyFlow::start);
    let start_path = join(path, AnyFlow::start.name());
    let mut refuse = |origin: &Origin, message: String| {
        out.push(Diagnostic::new(&start_path, origin, message));
    };
    let starts = flow.read(AnyFlow::start);
    // Times with their positions in the file.
    let nodes: Vec<&Node> = match (&starts, node.table()) {
        (Starts::Uniform(bounds), Some(table)) => {
            // An interval of length 0 also draws a random number, which matters with ns-2's single
            // generator.
            if bounds.len() != 2 || bounds[0] > bounds[1] {
                let message =
                    "expected two times, the earlier first: uniform = [\"0 s\", \"15 s\"]";
                refuse(&table.node(UniformStart::uniform).origin, message.into());
            }
            table.list(UniformStart::uniform).iter().collect()
        }
        (Starts::Each(times), _) => {
            let n = times.len();
            if n as u64 != count {
                let message =
                    format!("expected one start time for each of {count} flows, found {n}");
                refuse(&node.origin, message);
            }
            flow.list(AnyFlow::start).iter().collect()
        }
        _ => vec![node],
    };
    // A half-open interval may end with the run.
    let drawn = matches!(starts, Starts::Uniform(_));
    let last = nodes.len().saturating_sub(1);
    let mut earliest: Option<Time> = None;
    for (index, node) in nodes.iter().enumerate() {
        let (at, end) = (node.read::<Time>(), duration);
        earliest = Some(earliest.map_or(at, |earliest| earliest.min(at)));
        if at > end || (at == end && !(drawn && index == last)) {
            let [at, end] = [at, end].map(|time| time.since(Time::ZERO));
            let message = format!("{at} is not before the end of the run at {end}");
            refuse(&node.origin, message);
        }
    }
    let earliest = earliest.unwrap_or_default();
    if let Some(stop) = flow.read(AnyFlow::stop).filter(|&stop| stop <= earliest) {
        let [stop, start] = [stop, earliest].map(|time| time.since(Time::ZERO));
        let message = format!("{stop} is not after the start at {start}");
        out.push(Diagnostic::at(flow, AnyFlow::stop, path, message));
    }
}

/// Returns the indices of the first and the last router (or node) of a group; `None` after an
/// error.
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
        let field = Field::<()>::new(key);
        if flow.has(field) {
            let message = format!(
                "this topology places flows by {}, not by {key}",
                allowed.join(" and ")
            );
            out.push(Diagnostic::of_key(flow, field, path, message));
            right = false;
        }
    }
    if !right {
        return None;
    }
    (core.kind.endpoints)(flow, path, core, out)
}
