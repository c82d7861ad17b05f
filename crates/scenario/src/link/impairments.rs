//! Link impairments before the queue: delay boxes, processing delays of hosts, duplication, reordering.

use longhaul_engine::config::{Distribution, Reordering};
use longhaul_engine::{DelayBox, Impairments};

use super::keys::{DelayBoxKeys, DirectionKeys, LinkKeys};
use crate::distribution;
use crate::document::{Table, join};
use crate::error::Diagnostic;

/// Checks the distributions of one direction of a link.
pub(super) fn check_direction(direction: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    if let Some(reordering) = direction.table(DirectionKeys::reordering) {
        let path = join(path, DirectionKeys::reordering.name());
        distribution::check(reordering, Reordering::delay, &path, out);
    }
    distribution::check(direction, DirectionKeys::jitter, path, out);
}

/// Checks what both directions of a link have, and that a delay box does something.
pub(super) fn check(link: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    distribution::check(link, LinkKeys::host_processing_delay, path, out);
    let Some(table) = link.table(LinkKeys::delay_box) else {
        return;
    };
    let drawn = [DelayBoxKeys::delay, DelayBoxKeys::loss, DelayBoxKeys::rate];
    if !drawn.iter().any(|key| table.has(*key)) {
        let message = "the delay box has no effect; give delay, loss or rate";
        out.push(Diagnostic::at(link, LinkKeys::delay_box, path, message));
    }
    let path = join(path, LinkKeys::delay_box.name());
    for key in drawn {
        distribution::check(table, key, &path, out);
    }
}

/// The engine's form, for one direction of a link.
pub(super) fn of(
    keys: &LinkKeys,
    own: &DirectionKeys,
    name: &str,
    forward_name: &str,
) -> Option<Box<Impairments>> {
    let impairments = Impairments {
        delay_box: delay_box(keys, name, forward_name),
        duplication: own.duplication.unwrap_or(0.0),
        reordering: own.reordering.clone(),
        policer: own.policer,
        ack_thinning: own.ack_thinning,
    };
    (impairments != Impairments::default()).then(|| Box::new(impairments))
}

/// Delay, loss and rate of each flow in a delay box, if there is one.
fn delay_box(keys: &LinkKeys, name: &str, forward_name: &str) -> Option<DelayBox> {
    let own = keys.delay_box.clone();
    let processing_delay = keys.host_processing_delay.clone();
    if own.is_none() && processing_delay.is_none() {
        return None;
    }
    let symmetric = own.as_ref().is_some_and(|own| own.symmetric);
    let name = if symmetric { forward_name } else { name };
    let (delay, loss, rate) = own.map_or((None, None, None), |own| (own.delay, own.loss, own.rate));
    let none = Distribution::Constant(0.0);
    Some(DelayBox {
        delay: delay.unwrap_or(none.clone()),
        loss: loss.unwrap_or(none),
        rate,
        processing_delay,
        name: format!("links/{name}/delay_box"),
    })
}
