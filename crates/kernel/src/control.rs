//! Types with which the caller of a run observes and stops the run.

/// Function that returns the number of data packets sent so far. Each call visits every connection,
/// so most progress reports do not call the function.
pub type DataPackets<'a> = &'a mut dyn FnMut() -> u64;

/// Decision to continue a run or to stop it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Continue the run.
    Continue,
    /// Stop the run.
    Stop,
}
