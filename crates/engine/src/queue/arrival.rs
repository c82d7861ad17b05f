//! Arrivals at a queue, and the decisions of disciplines.

use longhaul_units::Time;

use super::Capacity;

/// A packet that arrives at a queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Time of the arrival.
    pub now: Time,
    /// Bytes on the wire.
    pub bytes: u32,
    /// True if the packet may be marked instead of dropped.
    pub ecn_capable: bool,
    /// True if the packet has low priority.
    pub low_priority: bool,
    /// Packets that wait, without the one in service.
    pub waiting_pkts: u64,
    /// Bytes of the waiting packets.
    pub waiting_bytes: u64,
    /// Time since which the link has been idle, if it is.
    pub idle_since: Option<Time>,
}

impl Arrival {
    /// Returns an overflow if the packet would make the queue exceed a limit. A packet that finds the link idle
    /// goes straight into service.
    pub(crate) fn check_limit(&self, limit: Capacity) -> Result<(), DropReason> {
        if self.idle_since.is_none()
            && limit.is_exceeded_by(
                self.waiting_pkts + 1,
                self.waiting_bytes + u64::from(self.bytes),
            )
        {
            return Err(DropReason::Overflow);
        }
        Ok(())
    }
}

/// The verdict on an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet joins the queue.
    Accept,
    /// The packet joins the queue with the congestion-experienced mark.
    AcceptMarked,
    /// The packet is dropped.
    Drop(DropReason),
}

/// Reason of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// By the link's loss model.
    Loss,
    /// At a full queue.
    Overflow,
    /// By active queue management, at random.
    Early,
    /// By active queue management, beyond its upper threshold (a forced drop).
    Forced,
    /// Beyond the rate of the link's policer.
    Policed,
    /// An acknowledgement dropped because a newer one is forwarded.
    Thinned,
    /// An acknowledgement that has taken the place of an older one in the queue.
    Filtered,
}

impl DropReason {
    /// Number of reasons.
    pub(crate) const COUNT: usize = Self::Filtered as usize + 1;
}
