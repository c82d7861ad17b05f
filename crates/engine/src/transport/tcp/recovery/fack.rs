//! Forward acknowledgement (Mathis and Mahdavi, SIGCOMM 1996): every segment below the highest one acknowledged is
//! considered lost, unless it was selectively acknowledged itself.
//!
//! The paper's `awnd` = `snd.nxt - snd.fack + retran_data` is then the pipe of [`super::Sack`]: no segment below
//! `snd.fack` is in flight, except retransmissions.

use crate::transport::tcp::ranges::Ranges;

/// Returns the segment below which all unacknowledged segments are lost. Outside recovery, the paper waits until
/// `snd.fack` is more than three segments ahead of `una`, to tolerate reordering.
pub(crate) fn lost_below(
    sacked: &Ranges,
    una: u64,
    threshold: u32,
    repairing: bool,
) -> Option<u64> {
    let fack = sacked.end();
    (repairing || fack > una + u64::from(threshold)).then_some(fack)
}
