//! Queues: limits in bandwidth-delay products or times, automatic values, and the engine's form.

mod red;

use longhaul_engine::queue::{
    Capacity, CoDelConfig, CoDelParameters, Counting, DecBitConfig, DropTail, FqCoDelConfig,
    PiConfig, PieConfig, QueueConfig, RemConfig, RoundRobinConfig, VcpConfig, XcpConfig,
};
use longhaul_units::{Bytes, Quantity, Rate, Span};

use crate::document::{Node, Origin, Table, Value, fill};
use crate::error::Diagnostic;
use crate::profile;
use crate::read::join;
use crate::typed::Typed;

/// Sizes that are by default that of the largest packet.
const PACKET_SIZES: [&str; 3] = ["mean_packet", "max_packet", "quantum"];
/// How much a queue holds that does not say.
pub(crate) const DEFAULT_LIMIT: Quantity = Quantity::Bdp(1.0);
/// More updates in a second than this allows would only take time.
const SHORTEST_UPDATE: Span = Span::from_micros(10);
/// Longer queues are a mistake.
const MOST_PACKETS: f64 = 1e12;

/// What a queue's derived values depend on.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Rate and one-way delay of the link behind the queue.
    pub rate: Rate,
    pub delay: Span,
    /// The round trip of "1 BDP".
    pub rtt: Span,
    /// Largest packet that a flow sends.
    pub packet: Bytes,
    pub profile: &'a Table,
}

/// The queue of a link that has none: drop-tail of this limit.
pub(crate) fn default_queue(limit: Quantity) -> Node {
    let entry = |key: &str, value| (key.to_string(), Node::new(value, Origin::Default));
    let table = Table::from([
        entry("kind", Value::Text("droptail".to_string())),
        entry("limit", Value::Quantity(limit)),
    ]);
    Node::new(Value::Table(table), Origin::Default)
}

/// Fills a queue's table with the profile's values and makes derived ones explicit.
pub(crate) fn resolve(queue: &mut Table, path: &str, place: &Place<'_>, out: &mut Vec<Diagnostic>) {
    let kind = queue.word("kind").to_string();
    fill(queue, profile::queue(place.profile, &kind));
    queue.default("limit", Value::Quantity(DEFAULT_LIMIT), Origin::Default);
    for key in PACKET_SIZES {
        let automatic = queue.get(key).map(|node| &node.value);
        if automatic == Some(&Value::Text("auto".to_string())) {
            let packet = Value::Quantity(Quantity::Bytes(place.packet));
            queue.derive(key, packet, "the largest packet of a flow");
        }
    }
    if let Err(diagnostic) = resolve_limit(queue, path, place) {
        return out.push(diagnostic);
    }
    check_update(queue, path, out);
    match kind.as_str() {
        "red" => red::resolve(queue, path, place, out),
        "pi" => check_pi(queue, path, out),
        "vcp" => check_vcp(queue, path, out),
        _ => {}
    }
}

/// Every update is an event.
fn check_update(queue: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    if queue.contains_key("update") && queue.span("update") < SHORTEST_UPDATE {
        let update = queue.span("update");
        let message = format!("{update} is too short; write at least {SHORTEST_UPDATE}");
        let origin = &queue.node("update").origin;
        out.push(Diagnostic::new(&join(path, "update"), origin, message));
    }
}

/// PI's probability rises with a queue that stays too long only if `a` is more than `b`.
fn check_pi(queue: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let (a, b) = (queue.number("a"), queue.number("b"));
    if a <= b {
        let message = format!("a ({a}) has to be more than b ({b})");
        let origin = &queue.node("a").origin;
        out.push(Diagnostic::new(&join(path, "a"), origin, message));
    }
}

/// VCP's interval ends with a sample.
fn check_vcp(queue: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let (interval, sample) = (queue.span("interval"), queue.span("sample"));
    if interval.as_ps() % sample.as_ps() != 0 {
        let message = format!("interval ({interval}) is not a multiple of sample ({sample})");
        let origin = &queue.node("interval").origin;
        out.push(Diagnostic::new(&join(path, "interval"), origin, message));
    }
}

/// A limit in packets or bytes that admits at least one packet.
fn resolve_limit(queue: &mut Table, path: &str, place: &Place<'_>) -> Result<(), Diagnostic> {
    let node = queue.node("limit").clone();
    let path = join(path, "limit");
    let refuse = |message: String| Err(Diagnostic::new(&path, &node.origin, message));
    match node.value {
        Value::Quantity(Quantity::Bdp(multiple)) => {
            let bytes = place.rate.bdp(place.rtt).0 as f64 * multiple;
            let packets = (bytes / place.packet.0 as f64).floor();
            if packets < 1.0 {
                let (rate, rtt, packet) = (place.rate, place.rtt, place.packet);
                return refuse(format!(
                    "{multiple} BDP is less than one packet here ({rate} x {rtt}, packets of \
                     {packet}); write a limit in packets"
                ));
            }
            let (rate, rtt, packet) = (place.rate, place.rtt, place.packet);
            let rule = format!(
                "{multiple} BDP ({}): {rate} x {rtt} / {packet}",
                node.origin
            );
            queue.derive("limit", Value::Quantity(Quantity::Packets(packets)), &rule);
        }
        Value::Quantity(Quantity::Span(span)) => {
            let (rate, packet) = (place.rate, place.packet);
            let bytes = rate.bdp(span);
            if bytes < packet {
                return refuse(format!(
                    "{rate} sends {bytes} in {span}, less than one packet of {packet}; write a \
                     longer time, or a limit in packets"
                ));
            }
            let rule = format!("{span} ({}) at {rate}", node.origin);
            queue.derive("limit", Value::Quantity(Quantity::Bytes(bytes)), &rule);
        }
        Value::Quantity(Quantity::Packets(packets)) if packets.fract() != 0.0 => {
            return refuse(format!("{packets} is not a whole number of packets"));
        }
        Value::Quantity(Quantity::Packets(packets)) if packets > MOST_PACKETS => {
            return refuse(format!(
                "{packets} packets are too many; write at most {MOST_PACKETS}"
            ));
        }
        Value::Quantity(Quantity::Bytes(bytes)) if bytes < place.packet => {
            let packet = place.packet;
            return refuse(format!(
                "{bytes} is less than one packet of {packet}; write at least {packet}"
            ));
        }
        _ => {}
    }
    Ok(())
}

/// The engine's form of a resolved queue.
pub(crate) fn config(queue: &Table, rate: Rate, delay: Span) -> QueueConfig {
    let limit = capacity(queue);
    match queue.word("kind") {
        "red" => QueueConfig::Red(red::config(queue, rate, delay)),
        "codel" => QueueConfig::CoDel(CoDelConfig {
            limit,
            control: codel(queue),
        }),
        "fq-codel" => QueueConfig::FqCoDel(FqCoDelConfig {
            limit,
            queues: queue.whole("queues") as u32,
            quantum: queue.bytes("quantum"),
            drop_batch: queue.whole("drop_batch") as u32,
            control: codel(queue),
        }),
        "pie" => QueueConfig::Pie(pie(queue, rate)),
        "pi" => QueueConfig::Pi(PiConfig {
            limit,
            reference_pkts: queue.packets("reference"),
            a: queue.number("a"),
            b: queue.number("b"),
            update: queue.span("update"),
            ecn: queue.flag("ecn"),
        }),
        "rem" => QueueConfig::Rem(rem(queue, rate)),
        "decbit" => QueueConfig::DecBit(DecBitConfig { limit }),
        "round-robin" => QueueConfig::RoundRobin(RoundRobinConfig {
            limit,
            quantum: None,
        }),
        "drr" => QueueConfig::RoundRobin(RoundRobinConfig {
            limit,
            quantum: Some(queue.bytes("quantum")),
        }),
        "xcp" => QueueConfig::Xcp(XcpConfig {
            limit,
            alpha: queue.number("alpha"),
            beta: queue.number("beta"),
            gamma: queue.number("gamma"),
        }),
        "vcp" => QueueConfig::Vcp(VcpConfig {
            limit,
            interval: queue.span("interval"),
            sample: queue.span("sample"),
            queue_weight: queue.number("queue_weight"),
            target: queue.number("target"),
        }),
        _ => drop_tail(queue),
    }
}

fn drop_tail(queue: &Table) -> QueueConfig {
    let counting = match queue.word("counting") {
        "in-service" => Counting::InService,
        _ => Counting::Waiting,
    };
    let limit = DropTail {
        limit: capacity(queue),
        counting,
    };
    match queue.word("drop") {
        "head" => QueueConfig::HeadDrop(limit),
        _ => QueueConfig::DropTail(limit),
    }
}

fn codel(queue: &Table) -> CoDelParameters {
    CoDelParameters {
        target: queue.span("target"),
        interval: queue.span("interval"),
        ecn: queue.flag("ecn"),
        max_packet: queue.bytes("max_packet"),
    }
}

fn pie(queue: &Table, rate: Rate) -> PieConfig {
    PieConfig {
        limit: capacity(queue),
        target: queue.span("target"),
        update: queue.span("update"),
        alpha: queue.number("alpha"),
        beta: queue.number("beta"),
        max_burst: queue.span("max_burst"),
        ecn: queue.flag("ecn"),
        mark_up_to: queue.number("mark_p"),
        derandomise: queue.flag("derandomise"),
        mean_packet: queue.bytes("mean_packet"),
        rate,
    }
}

fn rem(queue: &Table, rate: Rate) -> RemConfig {
    let update = queue.span("update");
    let mean_packet = queue.bytes("mean_packet");
    RemConfig {
        limit: capacity(queue),
        target_pkts: queue.packets("reference"),
        gamma: queue.number("gamma"),
        alpha: queue.number("alpha"),
        phi: queue.number("phi"),
        input_weight: queue.number("input_weight"),
        update,
        capacity_pkts: update.as_secs_f64() * rate.packets_per_s(mean_packet.0),
        ecn: queue.flag("ecn"),
    }
}

fn capacity(queue: &Table) -> Capacity {
    match queue.node("limit").value {
        Value::Quantity(Quantity::Bytes(bytes)) => Capacity::Bytes(bytes.0),
        Value::Quantity(Quantity::Packets(packets)) => Capacity::Packets(packets as u64),
        ref other => unreachable!("limit is {other:?}"),
    }
}

/// Packets of this size that a resolved queue holds.
pub(crate) fn capacity_packets(queue: &Table, packet: Bytes) -> f64 {
    match capacity(queue) {
        Capacity::Packets(packets) => packets as f64,
        Capacity::Bytes(bytes) => bytes as f64 / packet.0 as f64,
    }
}
