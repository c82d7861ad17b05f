//! BBR, version 3: the declaration. The algorithm is in `bbr/v3/mod.rs`.

use super::bbr::Bbr3;
use crate::entry::{Entry, PathNeeds, Signal};
use crate::parameter::{DefaultValue, Parameter, Range, Variant};
use crate::quantity::{self, Quantity};

/// State of BBR version 3. It is boxed because it is by far the largest state of an algorithm: without the box, every
/// [`Controller`](crate::Controller) would need as much memory.
pub type BoxedBbr3 = Box<Bbr3>;

pub(crate) static ENTRY: Entry<BoxedBbr3> = Entry {
    kind: "bbr3",
    title: "BBR (version 3)",
    description: "Paces at the largest delivery rate of the last two probing cycles and bounds the segments in \
        flight by a multiple of the bandwidth-delay product. Probes for more bandwidth every two to three seconds, \
        or as often as standard TCP would on a small path. Losses above loss_threshold while probing set a long-term \
        bound of the segments in flight; losses and marks at other times set a short-term bound. Every five seconds \
        the segments in flight are halved to measure the round-trip time. BBR always paces, and needs the \
        transport's delivery rate samples. Variant picoquic is the form of a QUIC implementation: longer round-trip \
        times end Startup and probes; probes are repeated early while the rate grows; Startup begins again when the \
        rate is far above the first one, and after timeouts.",
    law: &[
        "rate = largest delivery rate of two probe cycles, bounded after losses; bdp = rate * min_rtt",
        "pacing rate = gain * rate; cwnd = min(2 * bdp, bound on inflight)",
        "probing up: gain 1.25 until losses exceed loss_threshold of what is in flight",
        "loss while cruising: bounds on rate and inflight become kept times what they were",
        "every probe_rtt_interval: half of bdp in flight for 200 ms",
        "variant picoquic: no more probing up after min_rtt if 7 rtt are above 1.25 * min_rtt, or 1.25 * bdp is in flight",
    ],
    source: "draft-ietf-ccwg-bbr-05; picoquic, August 2026: bbr.c",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay, Signal::Rate],
    needs_path: PathNeeds::NONE,
    state: &[
        quantity::BANDWIDTH,
        quantity::MIN_RTT,
        quantity::PACING_GAIN,
        Quantity::new(
            "long_in_flight",
            "segments",
            "long-term bound of the segments in flight",
        ),
        Quantity::new(
            "short_in_flight",
            "segments",
            "short-term bound of the segments in flight",
        ),
    ],
    variants: &[Variant::Paper, Variant::Picoquic],
    parameters: &PARAMETERS,
    build: |settings| Ok(Box::new(Bbr3::new(settings))),
};

static PARAMETERS: [Parameter; 8] = [
    Parameter {
        name: "loss_threshold",
        unit: "fraction of the segments in flight",
        default: DefaultValue::Fixed(0.02),
        allowed: Range::open(0.0, 1.0),
        help: "Losses in a round trip above which too much was in flight.",
        source: "draft-ietf-ccwg-bbr-05 section 2.7, BBR.LossThresh",
    },
    Parameter {
        name: "kept",
        unit: "fraction of a bound",
        default: DefaultValue::Fixed(0.7),
        allowed: Range::open(0.0, 1.0),
        help: "Smallest part of a bound that remains after losses.",
        source: "draft-ietf-ccwg-bbr-05 section 2.7, BBR.Beta",
    },
    Parameter {
        name: "headroom",
        unit: "fraction of the long-term bound",
        default: DefaultValue::Fixed(0.15),
        allowed: Range::closed(0.0, 0.9),
        help: "Part of the long-term bound that is left to other flows between probes.",
        source: "draft-ietf-ccwg-bbr-05 section 2.7, BBR.Headroom",
    },
    Parameter {
        name: "probe_rtt_interval",
        unit: "seconds",
        default: DefaultValue::Fixed(5.0),
        allowed: Range::closed(0.1, 1e4),
        help: "Age of the smallest round-trip time at which it is measured anew.",
        source: "draft-ietf-ccwg-bbr-05 section 2.13.2, BBR.ProbeRTTInterval",
    },
    Parameter {
        name: "ecn_factor",
        unit: "1",
        default: DefaultValue::Fixed(1.0 / 3.0),
        allowed: Range::closed(0.0, 1.0),
        help: "The share of marked segments times this factor is removed from the short-term bound; 0 ignores marks.",
        source: "Linux v3, bbr_ecn_factor",
    },
    Parameter {
        name: "ecn_max_rtt",
        unit: "seconds",
        default: DefaultValue::Fixed(1e4),
        allowed: Range::above(0.0, 1e4),
        help: "Smallest round-trip time up to which marks count. Linux v3 counts them up to 0.005 only, and only on \
            routes configured as marking early; the draft asks senders that claim to support ECN to treat all marks \
            as congestion.",
        source: "Linux v3, bbr_ecn_max_rtt_us; draft-ietf-ccwg-bbr-05 section 3.7",
    },
    Parameter {
        name: "ecn_reprobe",
        unit: "fraction of the long-term bound",
        default: DefaultValue::Fixed(0.0),
        allowed: Range::closed(0.0, 1.0),
        help: "After a cycle with marks but no losses, the first acknowledgement without a mark, a round trip or \
            more after a mark, begins a probe at once, and the bound grows by this part in the probe's first round; \
            0: the probe waits as long as after losses. Linux v3 has 0.5; a flow that gets marks then probes nearly \
            all the time. Not used by variant picoquic.",
        source: "Linux v3, bbr_ecn_reprobe_gain",
    },
    Parameter {
        name: "l4s",
        unit: "0 or 1",
        default: DefaultValue::Fixed(0.0),
        allowed: Range::closed(0.0, 1.0),
        help: "1 uses L4S: segments carry ECT(1) and marks are counted (tcp.ecn = \"accecn\"), although the response \
            to marks is not the one that RFC 9331 requires. Linux v3 sends ECT(0).",
        source: "Linux v3, bbr_init; RFC 9331 section 4.1",
    },
];
