//! Links: their keys, whether these are consistent, and the engine's configuration.

mod changes;
mod delivery_trace;
mod impairments;
mod keys;
mod loss;

use std::sync::Arc;

use longhaul_engine::Change;
use longhaul_engine::config::{DeliveryTrace, Link, Policer, Shaper};
use longhaul_engine::queue::LinkContext;
use longhaul_keys::{Field, Kind, Profile, RATE};
use longhaul_units::{Bytes, Rate, Span};

use crate::check::describe;
use crate::document::{Table, Value, join};
use crate::error::Diagnostic;
use crate::queue;

pub(crate) use self::keys::{AccessEnds, AccessKeys, LinkKeys};
use self::keys::{DirectionKeys, ReverseKeys};

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
            rtt,
            ..LinkContext::new(rate, delay, self.packet)
        }
    }
}

/// One direction of a link, as its keys say.
struct Direction {
    name: String,
    ends: (usize, usize),
    rate: Rate,
    delay: Span,
    own: DirectionKeys,
    changes: Vec<Change>,
    trace: Option<Arc<DeliveryTrace>>,
}

impl Direction {
    /// The rate at which its queue is emptied.
    fn served(&self) -> Rate {
        self.own.shaper.map_or(self.rate, |shaper| shaper.rate)
    }

    /// True if the rate at which its queue is emptied is not the same throughout a run.
    fn varies(&self) -> bool {
        self.trace.is_some() || self.changes.iter().any(|change| change.rate.is_some())
    }

    /// Checks what it has for itself, which is in this table.
    fn check(&self, table: &Table, path: &str, packet: Bytes, out: &mut Vec<Diagnostic>) {
        loss::check(table, DirectionKeys::loss, path, out);
        impairments::check_direction(table, path, out);
        let (at, keys) = ((self.rate, packet), (Shaper::rate, Shaper::burst));
        check_bucket(table, DirectionKeys::shaper, keys, at, path, out);
        let keys = (Policer::rate, Policer::burst);
        check_bucket(table, DirectionKeys::policer, keys, at, path, out);
    }

    /// The engine's link.
    fn link(self, keys: &LinkKeys, forward_name: &str, queue: &Table) -> CoreLink {
        let carries = (self.rate, self.delay);
        let served = queue::config(queue, self.served());
        let impairments = impairments::of(keys, &self.own, &self.name, forward_name);
        let link = Link {
            impairments,
            ack_filtering: self.own.ack_filtering.unwrap_or(false),
            shaper: self.own.shaper,
            loss: self.own.loss,
            jitter: self.own.jitter,
            changes: self.changes,
            changes_period: keys.changes_period,
            delivery_trace: self.trace,
            tick: keys.tick,
            sampled: true,
            ..Link::plain(self.name, self.ends, carries, served)
        };
        CoreLink {
            link,
            queue: queue.clone(),
        }
    }
}

/// The round trip of a link that has been checked.
pub(crate) fn round_trip(link: &Table) -> Span {
    let delay = link.read(LinkKeys::delay);
    let reverse = link.table(LinkKeys::reverse);
    let back = reverse.and_then(|reverse| reverse.read(ReverseKeys::delay));
    delay + back.unwrap_or(delay)
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
    let back_path = join(path, LinkKeys::reverse.name());
    table.fill(LinkKeys::KEYS, context.profile);
    table.or_default(LinkKeys::reverse, Value::Table(Table::new()));
    let keys = (LinkKeys::delivery_trace, LinkKeys::rate);
    let trace = delivery_trace::resolve(table, keys, path, out);
    let keys = (ReverseKeys::delivery_trace, ReverseKeys::rate);
    let trace_back =
        delivery_trace::resolve(table.sub_mut(LinkKeys::reverse), keys, &back_path, out);
    let changes = changes::resolve(table, path, out);
    check_rate(table, &changes, path, out);
    if out.len() > before {
        return None;
    }
    let keys = LinkKeys::of(table);
    let back = ReverseKeys::of(table.sub(LinkKeys::reverse));
    impairments::check(table, path, out);
    let forward = Direction {
        name: name.to_string(),
        ends: (from, to),
        rate: keys.rate,
        delay: keys.delay,
        own: keys.own.clone(),
        changes: changes.clone(),
        trace,
    };
    let reverse = Direction {
        name: format!("{name}{REVERSE}"),
        ends: (to, from),
        rate: back.rate.unwrap_or(keys.rate),
        delay: back.delay.unwrap_or(keys.delay),
        changes: changes_back(&changes, &back),
        own: back.own,
        trace: trace_back,
    };
    forward.check(table, path, context.packet, out);
    let other = table.sub(LinkKeys::reverse);
    reverse.check(other, &back_path, context.packet, out);
    let mut resolve = |queue: &mut Table, path: &str, direction: &Direction, taken_over| {
        let link = LinkContext {
            taken_over,
            varies: direction.varies(),
            ..context.of_link(direction.served(), direction.delay, rtt)
        };
        let path = join(path, LinkKeys::queue.name());
        queue::resolve(queue, &path, &link, context.profile, out);
    };
    let written = table.node(LinkKeys::queue).clone();
    resolve(table.sub_mut(LinkKeys::queue), path, &forward, false);
    // By default both directions have the same queue, whose errors are reported once; what follows from rate and delay
    // follows from those of its direction.
    let resolved = table.node(LinkKeys::queue).clone();
    let alike = (reverse.rate, reverse.delay) == (forward.rate, forward.delay);
    let alike = alike && reverse.own.shaper.is_none() && reverse.varies() == forward.varies();
    let other = table.sub_mut(LinkKeys::reverse);
    let taken_over = !other.has(ReverseKeys::queue);
    if taken_over {
        other.insert(ReverseKeys::queue, if alike { resolved } else { written });
    }
    if !(taken_over && alike) {
        let queue = other.sub_mut(ReverseKeys::queue);
        resolve(queue, &back_path, &reverse, taken_over);
    }
    if out.len() > before {
        return None;
    }
    Some([
        forward.link(&keys, name, table.sub(LinkKeys::queue)),
        reverse.link(
            &keys,
            name,
            table.sub(LinkKeys::reverse).sub(ReverseKeys::queue),
        ),
    ])
}

/// Changes of the other direction: rate and delay, unless it has its own.
fn changes_back(changes: &[Change], back: &ReverseKeys) -> Vec<Change> {
    let changes = changes.iter().map(|change| Change {
        at: change.at,
        rate: change.rate.filter(|_| back.rate.is_none()),
        delay: change.delay.filter(|_| back.delay.is_none()),
        loss: None,
    });
    if back.rate.is_none() && back.delay.is_none() {
        return changes.collect();
    }
    let something = |change: &Change| change.rate.is_some() || change.delay.is_some();
    changes.filter(something).collect()
}

/// Refuses a link without a rate, and one whose delivery trace would have to change its rate.
fn check_rate(table: &Table, changes: &[Change], path: &str, out: &mut Vec<Diagnostic>) {
    let traced = table.has(LinkKeys::delivery_trace);
    if traced && changes.iter().any(|change| change.rate.is_some()) {
        let message =
            "the rate of a link with a delivery trace does not change; leave one of both out";
        out.push(Diagnostic::at(table, LinkKeys::changes, path, message));
    }
    if !traced && !table.has(LinkKeys::rate) {
        let message = format!(
            "the key {} is missing: {}",
            LinkKeys::rate,
            describe(&Kind::Positive(RATE))
        );
        out.push(Diagnostic::new(
            path,
            table.node(LinkKeys::delay).key_origin(),
            message,
        ));
    }
}

/// Resolves the queue of access links, whose other keys have values.
pub(crate) fn resolve_access_queue(
    access: &mut Table,
    path: &str,
    context: Context,
    out: &mut Vec<Diagnostic>,
) {
    let keys = AccessKeys::of(access);
    let link = context.of_link(keys.rate, keys.delay, keys.delay * 2);
    let path = join(path, AccessKeys::queue.name());
    let queue = access.sub_mut(AccessKeys::queue);
    queue::resolve(queue, &path, &link, context.profile, out);
}

/// Refuses a token bucket of a direction of a link that does nothing, or lets no packet through.
fn check_bucket<T>(
    direction: &Table,
    bucket: Field<T>,
    (rate, burst): (Field<Rate>, Field<Bytes>),
    (link, packet): (Rate, Bytes),
    path: &str,
    out: &mut Vec<Diagnostic>,
) {
    let Some(table) = direction.table(bucket) else {
        return;
    };
    let path = join(path, bucket.name());
    let (own_rate, own_burst) = (table.read(rate), table.read(burst));
    if own_rate >= link {
        let message = format!("{own_rate} is not below the link's {link}");
        out.push(Diagnostic::at(table, rate, &path, message));
    }
    if own_burst < packet {
        let message =
            format!("{own_burst} is less than one packet of {packet}; expected at least {packet}");
        out.push(Diagnostic::at(table, burst, &path, message));
    }
}
