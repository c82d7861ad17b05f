//! Keys of what links do to packets beside queueing and carrying them.

use longhaul_keys::{COUNT_MAX, Key, Kind, PROBABILITY, RATE, Range, TIME, key, required};

use super::distribution::{PROBABILITIES, RATES, TIMES};

/// Keys of `loss = { ... }`, of which one is given.
pub(super) const LOSS: &[Key] = &[
    key(
        "bernoulli",
        PROBABILITY,
        "Each packet is lost independently with this probability.",
    ),
    key(
        "bursts",
        Kind::Table(BURSTS),
        "Packets are lost in bursts, with gaps and bursts of geometric length (Gilbert 1960).",
    ),
    key(
        "gilbert_elliott",
        Kind::Table(GILBERT_ELLIOTT),
        "A channel with a good and a bad state, each with its own loss (Elliott 1963).",
    ),
    key(
        "packets",
        Kind::List(&Kind::Whole {
            min: 0,
            max: COUNT_MAX,
        }),
        "The packets with these arrival numbers at the link are lost; the first is 0.",
    ),
];

const BURSTS: &[Key] = &[
    required(
        "loss_rate",
        Kind::Number(Range::open(0.0, 1.0)),
        "Share of the packets that are lost.",
    ),
    required(
        "mean_length",
        Kind::Number(Range::closed(1.0, COUNT_MAX as f64)),
        "Mean number of packets in a burst.",
    ),
];

const GILBERT_ELLIOTT: &[Key] = &[
    required(
        "p",
        PROBABILITY,
        "Probability, after each packet, that the good state ends.",
    ),
    required(
        "r",
        PROBABILITY,
        "Probability, after each packet, that the bad state ends.",
    ),
    key(
        "good_loss",
        PROBABILITY,
        "Probability of a packet's loss in the good state; 0 by default.",
    ),
    key(
        "bad_loss",
        PROBABILITY,
        "Probability of a packet's loss in the bad state; 1 by default.",
    ),
];

/// What links change to in the course of a run.
pub(super) const CHANGES: Kind = Kind::OneOf(&[Kind::List(&Kind::Table(CHANGE)), Kind::Text]);

pub(super) const CHANGES_HELP: &str = "What the link is from given times on: rate and delay, both \
    ways, and loss, forward direction only. Or the path of a file with these columns, relative to \
    this file.";

/// Keys of one change, and columns of a file of them.
pub(crate) const CHANGE: &[Key] = &[
    required("at", Kind::Quantity(TIME), "From when on."),
    key(
        "rate",
        Kind::Positive(RATE),
        "Transmission rate of packets whose transmission begins from then on.",
    ),
    key(
        "delay",
        Kind::Quantity(TIME),
        "Their propagation delay, one way.",
    ),
    key(
        "loss",
        Kind::OneOf(&[PROBABILITY, Kind::Table(LOSS)]),
        "Loss of packets that arrive from then on: a probability, or a table as in `loss`.",
    ),
];

pub(super) const DUPLICATION_HELP: &str =
    "Probability that a packet is followed by a copy of itself, forward direction only.";

pub(super) const REORDERING_HELP: &str = "Packets held back before they reach the queue, behind those that follow, forward direction only.";

/// Keys of `reordering = { ... }`.
pub(super) const REORDERING: &[Key] = &[
    required(
        "probability",
        PROBABILITY,
        "Probability that a packet is held back.",
    ),
    required("delay", TIMES, "How long."),
];

pub(super) const DELAY_BOX_HELP: &str = "Delay, loss and rate of its own for every flow, both ways, \
    before packets reach the queue (ns-2's DelayBox, spec 001b B.8).";

/// Keys of `delay_box = { ... }`: what is drawn once for every flow.
pub(super) const DELAY_BOX: &[Key] = &[
    key("delay", TIMES, "Delay, each way; none by default."),
    key(
        "loss",
        PROBABILITIES,
        "Probability of the loss of a packet; 0 by default.",
    ),
    key(
        "rate",
        RATES,
        "Rate of a bottleneck for this flow alone; none by default.",
    ),
    key(
        "symmetric",
        Kind::Flag,
        "Whether a flow has the same values both ways (default), or others drawn for its way back.",
    ),
];

pub(super) const HOST_NOISE_HELP: &str = "What hosts take to process an acknowledgement, drawn anew \
    for each: acknowledgements are delayed by it, both ways, before they reach the queue (spec 003 \
    B.15).";

pub(super) const TICK_HELP: &str = "Period of the timer whose ticks release packets at the far end, \
    both ways, as in dummynet (spec 003 B.15).";
