//! Forward acknowledgement (Mathis and Mahdavi, SIGCOMM 1996): every unacknowledged segment below the highest
//! acknowledged one is considered lost.
//!
//! The pipe of [`super::Sack`] then equals the paper's `awnd` = `snd.nxt - snd.fack + retran_data`: no segment below
//! `snd.fack` is in flight, except retransmissions.

use crate::transport::tcp::ranges::Ranges;

/// Returns the segment below which all unacknowledged segments are lost; `None` if no loss is known. Outside recovery
/// (`repairing` is false), reordering is tolerated: no loss is known while `snd.fack` is at most `threshold` segments
/// ahead of `una` (three in the paper).
pub(crate) fn lost_below(
    sacked: &Ranges,
    una: u64,
    threshold: u32,
    repairing: bool,
) -> Option<u64> {
    let fack = sacked.end();
    (repairing || fack > una + u64::from(threshold)).then_some(fack)
}
