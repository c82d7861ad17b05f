//! Sync-TCP(MixReact): detector SyncMix with reaction SyncMixReact.

use super::sync::{AFTER_CUT, STATE, SyncTcp, TIE, TOO_SMALL, WEIGHT};
use crate::entry::{Entry, OwnBursts, PathNeeds, Signal};
use crate::parameter::Variant;

/// Sync-TCP with detector SyncMix and reaction SyncMixReact.
pub type SyncMixReact = SyncTcp;

pub(crate) static ENTRY: Entry<SyncMixReact> = Entry {
    kind: "sync-mixreact",
    title: "Sync-TCP(MixReact)",
    description: "Standard TCP's slow start until nine transit times are known. Then every third transit time \
        adjusts the window by the trend of the average queueing delay and by its ratio to the largest delay: \
        reductions by 10, 25 or 50 %, or growth by one segment, 10, 25 or 50 % per round trip. Until a queue has \
        built up, the largest delay is that of the flow's own bursts: a single flow uses 77 % of 10 Mbit/s and 4 % \
        of 100 Mbit/s at 40 ms; twenty flows use the link.",
    law: &[
        "level = weighted mean queueing delay / largest, in quarters; trend of the last nine means",
        "trend rises: cwnd += 1 a round trip; times 0.9, 0.75, 0.5 in the second to last quarter",
        "trend falls: cwnd += cwnd / 2, cwnd / 4, cwnd / 10, 0 a round trip, by quarter",
        "loss: as standard TCP",
    ],
    source: "Weigle, dissertation, UNC 2003, sections 3.4 and 3.5",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::slow(OwnBursts {
        effect: "a few flows alone on a fast path use a few per cent of it",
        pacing_helps: false,
    }),
    state: STATE,
    variants: &[Variant::Paper],
    parameters: &[WEIGHT, TOO_SMALL, AFTER_CUT, TIE],
    build: |settings| Ok(SyncTcp::mix_react(settings)),
};
