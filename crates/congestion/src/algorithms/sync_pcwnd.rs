//! Sync-TCP(Pcwnd): detector SyncPQlen with reaction SyncPcwnd.

use super::sync::{AFTER_CUT, DECREASE, PART, STATE_OF_DELAYS, SyncTcp};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::parameter::Variant;

/// Sync-TCP with detector SyncPQlen and reaction SyncPcwnd.
pub type SyncPcwnd = SyncTcp;

pub(crate) static ENTRY: Entry<SyncPcwnd> = Entry {
    kind: "sync-pcwnd",
    title: "Sync-TCP(Pcwnd)",
    description: "Standard TCP that, once it has lost a segment, also cuts the window once a round \
        trip while the queueing delay is above a part of the largest one seen.",
    law: &[
        "queueing delay = one-way transit time - its minimum",
        "each ACK, delay <= part_of_largest * largest delay: as standard TCP",
        "delay above it, once a round trip: cwnd = (1 - decrease) * cwnd",
        "loss: as standard TCP",
    ],
    source: "Weigle, dissertation, UNC 2003, sections 3.4 and 3.5",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: STATE_OF_DELAYS,
    variants: &[Variant::Paper],
    parameters: &[PART, DECREASE, AFTER_CUT],
    build: |settings| Ok(SyncTcp::pcwnd(settings)),
};
