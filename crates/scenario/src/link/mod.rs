//! Links: keys of both directions, checks of their consistency, and the engine's configuration.

mod changes;
mod delivery_trace;
mod impairments;
mod keys;
mod loss;

use std::sync::Arc;

use longhaul_engine::config::{Change, DeliveryTrace, DirectionKeys, Link, Policer, Shaper};
use longhaul_engine::queue::{Capacity, DropTail, LinkContext, QueueConfig};
use longhaul_keys::{Field, Kind, Profile, RATE};
use longhaul_units::{Bytes, Rate, Span};

use crate::check::describe;
use crate::document::{Table, Value, join};
use crate::error::Diagnostic;
use crate::queue;

pub(crate) use self::keys::{AccessEnds, AccessKeys, LINK, LinkParts};
use self::keys::{ReverseKeys, ReverseParts};

/// Suffix in the names of links for the reverse direction.
const REVERSE: &str = "-reverse";

/// One direction of a link between routers.
pub(crate) struct CoreLink {
    /// Configuration of the link for the engine.
    pub link: Link,
    /// Resolved keys of the queue.
    pub queue: Table,
}

/// Values that links need in addition to their own keys.
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

impl CoreLink {
    /// Returns true if the same values would be derived for a queue of this direction as for a
    /// queue of the forward direction.
    fn has_queue_of(&self, forward: &Self) -> bool {
        let (own, other) = (&self.link, &forward.link);
        (own.rate, own.delay) == (other.rate, other.delay)
            && own.direction.shaper.is_none()
            && other.direction.shaper.is_none()
            && own.rate_varies() == other.rate_varies()
    }

    /// Sets the queue of this direction, given its resolved keys.
    fn set_queue(&mut self, resolved: &Table) {
        self.link.queue = queue::config(resolved, self.link.queue_rate());
        self.queue = resolved.clone();
    }
}

/// Returns the round-trip propagation delay of a checked link.
pub(crate) fn round_trip(link: &Table) -> Span {
    let delay = link.read(Link::delay);
    let reverse = link.table(LinkParts::reverse);
    let back = reverse.and_then(|reverse| reverse.read(ReverseKeys::delay));
    delay + back.unwrap_or(delay)
}

/// Resolves a link's keys, and returns its two directions, or `None` after errors. A queue's limit of "1 BDP" is
/// computed with the round-trip time `rtt`.
pub(crate) fn both_ways(
    name: &str,
    ends: (usize, usize),
    table: &mut Table,
    path: &str,
    rtt: Span,
    context: Context,
    out: &mut Vec<Diagnostic>,
) -> Option<[CoreLink; 2]> {
    let before = out.len();
    table.fill(LINK, context.profile);
    table.or_default(LinkParts::reverse, Value::Table(Table::new()));
    let varying = varying_rates(table, path, out);
    if out.len() > before {
        return None;
    }
    let mut pair = directions(name, ends, table, varying);
    impairments::check(table, path, out);
    let [forward, reverse] = pair.each_ref().map(|core| &core.link);
    check_direction(forward, table, path, context.packet, out);
    let (back, back_path) = (table.sub(LinkParts::reverse), reverse_path(path));
    check_direction(reverse, back, &back_path, context.packet, out);
    resolve_queues(table, &pair, path, rtt, context, out);
    if out.len() > before {
        return None;
    }
    let [forward, reverse] = &mut pair;
    forward.set_queue(table.sub(LinkParts::queue));
    reverse.set_queue(table.sub(LinkParts::reverse).sub(ReverseParts::queue));
    Some(pair)
}

fn reverse_path(path: &str) -> String {
    join(path, LinkParts::reverse.name())
}

/// Changes of a link's rate, delay and loss at given times, and the delivery traces of both directions.
struct VaryingRates {
    changes: Vec<Change>,
    traces: [Option<Arc<DeliveryTrace>>; 2],
}

/// Reads and checks the keys of varying rates, and the files that they name.
fn varying_rates(table: &mut Table, path: &str, out: &mut Vec<Diagnostic>) -> VaryingRates {
    let keys = (LinkParts::delivery_trace, Link::rate);
    let trace = delivery_trace::resolve(table, keys, path, out);
    let (reverse, keys) = (
        table.sub_mut(LinkParts::reverse),
        (ReverseParts::delivery_trace, ReverseKeys::rate),
    );
    let trace_back = delivery_trace::resolve(reverse, keys, &reverse_path(path), out);
    let changes = changes::resolve(table, path, out);
    check_rate(table, &changes, path, out);
    VaryingRates {
        changes,
        traces: [trace, trace_back],
    }
}

/// Returns both directions of a link. Their queues are set afterwards.
fn directions(
    name: &str,
    (from, to): (usize, usize),
    table: &Table,
    varying: VaryingRates,
) -> [CoreLink; 2] {
    let VaryingRates { changes, traces } = varying;
    let [trace, trace_back] = traces;
    let back = ReverseKeys::of(table.sub(LinkParts::reverse));
    let forward_name = name.to_string();
    let name_back = format!("{name}{REVERSE}");
    let changes_back = changes_back(&changes, &back);
    let unset = || QueueConfig::DropTail(DropTail::new(Capacity::Packets(1)));
    let link = |name, from, to, changes, delivery_trace| Link {
        changes,
        delivery_trace,
        sampled: true,
        ..Link::of(table, name, forward_name.clone(), from, to, unset())
    };
    let forward = link(name.to_string(), from, to, changes, trace);
    let reverse = Link {
        rate: back.rate.unwrap_or(forward.rate),
        delay: back.delay.unwrap_or(forward.delay),
        direction: back.direction,
        ..link(name_back, to, from, changes_back, trace_back)
    };
    [forward, reverse].map(|link| CoreLink {
        link,
        queue: Table::new(),
    })
}

/// Checks the options in `table`, which apply to one direction of a link.
fn check_direction(
    link: &Link,
    table: &Table,
    path: &str,
    packet: Bytes,
    out: &mut Vec<Diagnostic>,
) {
    loss::check(table, DirectionKeys::loss, path, out);
    impairments::check_direction(table, path, out);
    let (at, keys) = ((link.rate, packet), (Shaper::rate, Shaper::burst));
    check_bucket(table, DirectionKeys::shaper, keys, at, path, out);
    let keys = (Policer::rate, Policer::burst);
    check_bucket(table, DirectionKeys::policer, keys, at, path, out);
}

/// Resolves the keys of a link's two queues. By default the reverse queue has the keys of the forward queue: if
/// [`CoreLink::has_queue_of`] is true, the resolved keys are copied, and errors in them are reported once. If not,
/// values that follow from rate and delay are derived separately for each direction, and errors are reported for both.
fn resolve_queues(
    table: &mut Table,
    [forward, reverse]: &[CoreLink; 2],
    path: &str,
    rtt: Span,
    context: Context,
    out: &mut Vec<Diagnostic>,
) {
    let mut resolve = |queue: &mut Table, path: &str, link: &Link, taken_over| {
        let link = LinkContext {
            taken_over,
            varies: link.rate_varies(),
            ..context.of_link(link.queue_rate(), link.delay, rtt)
        };
        let path = join(path, LinkParts::queue.name());
        queue::resolve(queue, &path, &link, out);
    };
    let written = table.node(LinkParts::queue).clone();
    resolve(table.sub_mut(LinkParts::queue), path, &forward.link, false);
    let resolved = table.node(LinkParts::queue).clone();
    let alike = reverse.has_queue_of(forward);
    let back = table.sub_mut(LinkParts::reverse);
    let taken_over = !back.has(ReverseParts::queue);
    if taken_over {
        back.insert(ReverseParts::queue, if alike { resolved } else { written });
    }
    if !(taken_over && alike) {
        let queue = back.sub_mut(ReverseParts::queue);
        resolve(queue, &reverse_path(path), &reverse.link, taken_over);
    }
}

/// Returns the changes of the reverse direction: the forward direction's changes of rate and delay. A rate or delay
/// that `back` sets separately does not change.
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

/// Refuses a link without a rate, and changes of a rate that a delivery trace determines.
fn check_rate(table: &Table, changes: &[Change], path: &str, out: &mut Vec<Diagnostic>) {
    let traced = table.has(LinkParts::delivery_trace);
    if traced && changes.iter().any(|change| change.rate.is_some()) {
        let message =
            "the rate of a link with a delivery trace does not change; leave one of both out";
        out.push(Diagnostic::at(table, LinkParts::changes, path, message));
    }
    if !traced && !table.has(Link::rate) {
        let message = format!(
            "the key {} is missing: {}",
            Link::rate,
            describe(&Kind::Positive(RATE))
        );
        out.push(Diagnostic::new(
            path,
            table.node(Link::delay).key_origin(),
            message,
        ));
    }
}

/// Resolves the queue of access links. All other keys of these links have been resolved before.
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
    queue::resolve(queue, &path, &link, out);
}

/// Refuses a token bucket that has no effect, or that never lets a packet of the largest size pass.
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
