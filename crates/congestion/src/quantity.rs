//! Quantities of the algorithms' state, which `trace_acks` records at each acknowledgement.

/// A recorded quantity of an algorithm's state. Quantities that several algorithms have are declared once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Name in the table `acks`.
    pub name: &'static str,
    /// Unit; empty for a ratio, a count, or a state of 0 or 1.
    pub unit: &'static str,
    /// Meaning in a few words; the title of plots.
    pub title: &'static str,
}

impl Quantity {
    /// Declares a quantity.
    pub const fn new(name: &'static str, unit: &'static str, title: &'static str) -> Self {
        Self { name, unit, title }
    }
}

/// Smoothed fraction of marked packets (RFC 8257, section 3.3).
pub(crate) const ALPHA_MARKED: Quantity =
    Quantity::new("alpha", "", "smoothed share of marked packets");
pub(crate) const BANDWIDTH: Quantity = Quantity::new(
    "bandwidth_segments_per_s",
    "segments/s",
    "estimated bandwidth",
);
pub(crate) const CARRIED: Quantity = Quantity::new(
    "carried",
    "segments",
    "estimated bandwidth-delay product without queueing",
);
pub(crate) const DECREASE: Quantity =
    Quantity::new("b", "", "part of the window that a loss removes");
pub(crate) const DELAY_WINDOW: Quantity = Quantity::new(
    "delay_window",
    "segments",
    "delay window, added to the standard one",
);
pub(crate) const INCREASE: Quantity =
    Quantity::new("a", "segments", "increase of the window in a round trip");
pub(crate) const MIN_RTT: Quantity = Quantity::new("min_rtt_s", "s", "smallest round-trip time");
pub(crate) const PACING_GAIN: Quantity =
    Quantity::new("pacing_gain", "", "pacing rate over bandwidth");
pub(crate) const PEAK: Quantity = Quantity::new(
    "peak",
    "segments",
    "window at the last loss, which growth aims at",
);
pub(crate) const QUEUED: Quantity = Quantity::new(
    "queued",
    "segments",
    "estimated segments of the flow in the queue",
);
pub(crate) const QUEUEING_S: Quantity = Quantity::new("queueing_s", "s", "queueing delay");
pub(crate) const STANDARD_WINDOW: Quantity = Quantity::new(
    "standard_window",
    "segments",
    "window that standard TCP would have",
);
