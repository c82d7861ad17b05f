//! Checks of link impairments and of their distributions. Impairments act on packets before the queue,
//! except jitter, which is added to the propagation delay.

use longhaul_engine::config::{DelayBox, DirectionKeys, Link, Reordering};

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

/// Checks the impairments that both directions of a link share. A delay box needs a delay, loss or rate.
pub(super) fn check(link: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    distribution::check(link, Link::host_processing_delay, path, out);
    let Some(table) = link.table(Link::delay_box) else {
        return;
    };
    let drawn = [DelayBox::delay, DelayBox::loss, DelayBox::rate];
    if !drawn.iter().any(|key| table.has(*key)) {
        let message = "the delay box has no effect; give delay, loss or rate";
        out.push(Diagnostic::at(link, Link::delay_box, path, message));
    }
    let path = join(path, Link::delay_box.name());
    for key in drawn {
        distribution::check(table, key, &path, out);
    }
}
