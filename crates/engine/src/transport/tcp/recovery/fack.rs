//! Forward acknowledgement (Mathis and Mahdavi, SIGCOMM 1996): every segment below the highest acknowledged segment is
//! considered lost, except those selectively acknowledged.
//!
//! The pipe of [`super::Sack`] then equals the paper's `awnd` = `snd.nxt - snd.fack + retran_data`: no segment below
//! `snd.fack` is in flight, except retransmissions.

use crate::transport::tcp::ranges::Ranges;

/// Returns the segment below which all unacknowledged segments are lost; `None` if no loss is known. Outside recovery
/// (`repairing` is false), no loss is known until `snd.fack` is more than `threshold` segments ahead of `una` (three in
/// the paper), to tolerate reordering.
pub(crate) fn lost_below(
    sacked: &Ranges,
    una: u64,
    threshold: u32,
    repairing: bool,
) -> Option<u64> {
    let fack = sacked.end();
    (repairing || fack > una + u64::from(threshold)).then_some(fack)
}
