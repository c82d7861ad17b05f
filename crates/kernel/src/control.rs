//! How a run is observed, and stopped.

/// Says how many data packets there were so far: a question to every connection, which most reports of
/// progress need not ask.
pub type DataPackets<'a> = &'a mut dyn FnMut() -> u64;

/// Whether to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Continue.
    Continue,
    /// Stop here.
    Stop,
}
