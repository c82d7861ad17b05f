//! Queues: limits in bandwidth-delay products, RED's automatic values, and the engine's form.

use longhaul_engine::queue::{
    AdaptationParameters, Capacity, Counting, DropTail, Gentle, QueueConfig, RedConfig,
    RedParameters, Weight,
};
use longhaul_units::{Bytes, Quantity, Rate, Span};

use crate::document::{Node, Origin, Table, Value, fill};
use crate::error::Diagnostic;
use crate::read::join;
use crate::typed::Typed;

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
    fill(queue, place.profile.sub(&kind));
    queue.default(
        "limit",
        Value::Quantity(Quantity::Bdp(1.0)),
        Origin::Default,
    );
    if kind == "red" {
        let mean_packet = queue.node("mean_packet");
        if mean_packet.value == Value::Text("auto".to_string()) {
            let packet = Value::Quantity(Quantity::Bytes(place.packet));
            queue.derive("mean_packet", packet, "the largest packet of a flow");
        }
    }
    if let Err(diagnostic) = resolve_limit(queue, path, place) {
        return out.push(diagnostic);
    }
    if kind == "red" {
        resolve_red(queue, path, place, out);
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

fn resolve_red(queue: &mut Table, path: &str, place: &Place<'_>, out: &mut Vec<Diagnostic>) {
    let red = red_parameters(queue).resolve(place.rate, place.delay);
    let packets = |packets| Value::Quantity(Quantity::Packets(packets));
    let mut make_explicit = |key: &str, value: Value, rule: &str| {
        if matches!(queue.node(key).value, Value::Text(_)) {
            queue.derive(key, value, rule);
        }
    };
    let target = "max(5, half of target_delay at the link's rate), in mean packets";
    make_explicit("min_th", packets(red.min_th_pkts), target);
    make_explicit("max_th", packets(red.max_th_pkts), "3 min_th");
    let rule = "1 - exp(-1/packets) over one second, or over ten round trips of at least 100 ms";
    make_explicit("weight", Value::Number(red.weight), rule);
    match red.adaptive {
        Some(adaptive) => {
            let rule = "80 kbit/s over the rate, at most 0.01";
            make_explicit("bottom", Value::Number(adaptive.bottom), rule);
        }
        // What steers an adaptation that does not happen says nothing.
        None => ["interval", "alpha", "beta", "top", "bottom"]
            .iter()
            .for_each(|key| {
                queue.remove(*key);
            }),
    }
    if red.min_th_pkts > red.max_th_pkts {
        let message = format!(
            "min_th ({} packets) is above max_th ({} packets)",
            red.min_th_pkts, red.max_th_pkts
        );
        out.push(Diagnostic::new(
            &join(path, "min_th"),
            &queue.node("min_th").origin,
            message,
        ));
    }
    if let Some(adaptive) = red.adaptive
        && adaptive.bottom > adaptive.top
    {
        let message = format!(
            "bottom ({}) is above top ({})",
            adaptive.bottom, adaptive.top
        );
        out.push(Diagnostic::new(
            &join(path, "bottom"),
            &queue.node("bottom").origin,
            message,
        ));
    }
}

/// The engine's form of a resolved queue.
pub(crate) fn config(queue: &Table, rate: Rate, delay: Span) -> QueueConfig {
    if queue.word("kind") == "red" {
        let red: RedConfig = red_parameters(queue).resolve(rate, delay);
        return QueueConfig::Red(red);
    }
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

fn red_parameters(queue: &Table) -> RedParameters {
    RedParameters {
        limit: capacity(queue),
        limit_overshoot: queue.flag("limit_overshoot"),
        mean_packet: queue.bytes("mean_packet"),
        min_th_pkts: threshold(queue, "min_th"),
        max_th_pkts: threshold(queue, "max_th"),
        target_delay: queue.span("target_delay"),
        weight: match &queue.node("weight").value {
            Value::Number(weight) => Weight::Explicit(*weight),
            Value::Text(word) if word == "per-packet" => Weight::OneSecond,
            _ => Weight::TenRoundTrips,
        },
        max_p: queue.number("max_p"),
        gentle: match queue.node("gentle").value {
            Value::Flag(false) => Gentle::Off,
            Value::Flag(true) => Gentle::On,
            _ => Gentle::Frozen,
        },
        ecn: queue.flag("ecn"),
        mark_p: number_unless_word(queue, "mark_p"),
        queue_in_bytes: queue.flag("in_bytes"),
        scale_by_size: queue.flag("size_scaled"),
        wait: queue.flag("wait"),
        adaptive: queue.flag("adaptive").then(|| AdaptationParameters {
            interval: queue.span("interval"),
            alpha: queue.number("alpha"),
            beta: queue.number("beta"),
            top: queue.number("top"),
            bottom: number_unless_word(queue, "bottom"),
        }),
    }
}

fn number_unless_word(queue: &Table, key: &str) -> Option<f64> {
    if let Value::Number(number) = queue.node(key).value {
        Some(number)
    } else {
        None
    }
}

fn threshold(queue: &Table, key: &str) -> Option<f64> {
    match queue.node(key).value {
        Value::Quantity(Quantity::Packets(packets)) => Some(packets),
        _ => None,
    }
}
