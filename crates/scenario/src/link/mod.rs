//! Links: their keys, whether these are consistent, and the engine's configuration.

mod changes;
mod delivery_trace;
mod impairments;
mod keys;
mod loss;

use longhaul_engine::config::{Link, Service};
use longhaul_engine::queue::LinkContext;
use longhaul_engine::{Change, Loss};
use longhaul_keys::{Kind, Profile, RATE};
use longhaul_units::{Bytes, Rate, Span};

use crate::check::describe;
use crate::defaults;
use crate::document::{Table, join};
use crate::error::Diagnostic;
use crate::queue;
use crate::typed::Typed;

use self::keys::LinkKeys;
pub(crate) use self::keys::{ACCESS, AccessKeys, LINK};

/// Suffix of the name of a link's reverse direction.
const REVERSE: &str = "-reverse";

/// One direction of a link between routers.
pub(crate) struct CoreLink {
    /// The engine's configuration.
    pub link: Link,
    /// Its queue's resolved keys.
    pub queue: Table,
}

/// What links depend on besides their keys.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    /// Largest packet that a flow sends.
    pub packet: Bytes,
    pub profile: Profile,
}

impl Context {
    fn of_link(self, rate: Rate, delay: Span, rtt: Span) -> LinkContext {
        LinkContext {
            rate,
            delay,
            rtt,
            packet: self.packet,
        }
    }
}

/// Resolves a link's keys and lays out its two directions, unless something is wrong. `rtt` is that of
/// "1 BDP".
pub(crate) fn both_ways(
    name: &str,
    (from, to): (usize, usize),
    table: &mut Table,
    path: &str,
    rtt: Span,
    context: Context,
    out: &mut Vec<Diagnostic>,
) -> Option<[CoreLink; 2]> {
    let before = out.len();
    defaults::fill(table, LINK, context.profile);
    let delivery_trace = delivery_trace::resolve(table, path, out);
    let changes = changes::resolve(table, path, out);
    check_rate(table, &changes, path, out);
    if out.len() > before {
        return None;
    }
    let keys = LinkKeys::of(&defaults::values(table));
    loss::check(table, path, out);
    impairments::check(table, path, out);
    check_shaper(&keys, table, path, context.packet, out);
    let capacity = keys.shaper.map_or(keys.rate, |shaper| shaper.rate);
    for (key, rate) in [("queue", capacity), ("reverse_queue", keys.rate)] {
        let link = context.of_link(rate, keys.delay, rtt);
        if table.contains_key(key) {
            let path = join(path, key);
            queue::resolve(table.sub_mut(key), &path, &link, context.profile, out);
        }
    }
    // By default both directions have the same queue, whose errors are reported once.
    let queue = table.node("queue").clone();
    table.entry("reverse_queue".to_string()).or_insert(queue);
    if out.len() > before {
        return None;
    }
    let plain = |name: String, (from, to), rate, key| {
        let queue = table.sub(key).clone();
        let link = plain(name, (from, to), (keys.rate, keys.delay), &queue, rate);
        CoreLink { link, queue }
    };
    let mut forward = plain(name.to_string(), (from, to), capacity, "queue");
    let reversed = format!("{name}{REVERSE}");
    let mut reverse = plain(reversed, (to, from), keys.rate, "reverse_queue");
    let without_loss = |change: &Change| Change {
        loss: None,
        ..change.clone()
    };
    reverse.link.changes = changes.iter().map(without_loss).collect();
    reverse.link.impairments = impairments::of(&keys, &reverse.link.name, name, false);
    forward.link.impairments = impairments::of(&keys, name, name, true);
    forward.link.shaper = keys.shaper;
    forward.link.loss = keys.loss;
    forward.link.changes = changes;
    forward.link.delivery_trace = delivery_trace;
    for direction in [&mut forward, &mut reverse] {
        direction.link.changes_period = keys.changes_period;
        direction.link.tick = keys.tick;
        direction.link.sampled = true;
    }
    Some([forward, reverse])
}

/// Refuses a link without a rate, and one whose delivery trace would have to change its rate.
fn check_rate(table: &Table, changes: &[Change], path: &str, out: &mut Vec<Diagnostic>) {
    let traced = table.contains_key("delivery_trace");
    if traced && changes.iter().any(|change| change.rate.is_some()) {
        let message =
            "the rate of a link with a delivery trace does not change; leave one of both out";
        let origin = &table.node("changes").origin;
        out.push(Diagnostic::new(&join(path, "changes"), origin, message));
    }
    if !traced && !table.contains_key("rate") {
        let message = format!(
            "the key `rate` is missing: {}",
            describe(&Kind::Positive(RATE))
        );
        out.push(Diagnostic::new(
            path,
            table.node("delay").key_origin(),
            message,
        ));
    }
}

/// A link with a queue, which is served at the rate `served`, and without impairments, losses or changes.
pub(crate) fn plain(
    name: String,
    (from, to): (usize, usize),
    (rate, delay): (Rate, Span),
    queue: &Table,
    served: Rate,
) -> Link {
    Link {
        name,
        from,
        to,
        rate,
        delay,
        queue: queue::config(queue, served),
        shaper: None,
        impairments: None,
        loss: Loss::None,
        changes: Vec::new(),
        changes_period: None,
        delivery_trace: None,
        tick: None,
        service: Service::OnArrival,
        sampled: false,
        captured: false,
    }
}

/// Resolves the queue of access links, whose other keys have values.
pub(crate) fn resolve_access_queue(
    access: &mut Table,
    path: &str,
    context: Context,
    out: &mut Vec<Diagnostic>,
) {
    let keys = AccessKeys::of(&defaults::values(access));
    let link = context.of_link(keys.rate, keys.delay, keys.delay * 2);
    let (queue, path) = (access.sub_mut("queue"), join(path, "queue"));
    queue::resolve(queue, &path, &link, context.profile, out);
}

/// Refuses a token bucket that does nothing, or lets no packet through.
fn check_shaper(
    keys: &LinkKeys,
    table: &Table,
    path: &str,
    packet: Bytes,
    out: &mut Vec<Diagnostic>,
) {
    let Some(shaper) = keys.shaper else {
        return;
    };
    let mut refuse = |key: &str, message: String| {
        let origin = &table.sub("shaper").node(key).origin;
        out.push(Diagnostic::new(
            &join(path, &format!("shaper.{key}")),
            origin,
            message,
        ));
    };
    if shaper.rate >= keys.rate {
        let message = format!("{} is not below the link's {}", shaper.rate, keys.rate);
        refuse("rate", message);
    }
    if shaper.burst < packet {
        let burst = shaper.burst;
        refuse(
            "burst",
            format!("{burst} is less than one packet of {packet}; expected at least {packet}"),
        );
    }
}
