//! Observation of a run, and stopping it.

/// Function that returns the number of data packets so far: it asks every connection, which most
/// reports of progress need not do.
pub type DataPackets<'a> = &'a mut dyn FnMut() -> u64;

/// Decision to continue a run or to stop it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Continue.
    Continue,
    /// Stop the run.
    Stop,
}
