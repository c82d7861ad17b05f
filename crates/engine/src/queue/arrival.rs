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
    /// Number of waiting packets, without the one in service.
    pub waiting_pkts: u64,
    /// Bytes of the waiting packets.
    pub waiting_bytes: u64,
    /// Time since which the link has been idle; `None` if it is busy.
    pub idle_since: Option<Time>,
}

impl Arrival {
    /// Returns the error [`DropReason::Overflow`] if the packet would make the queue exceed `limit`. A packet that
    /// finds the link idle is always admitted: it goes straight into service.
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

/// Decision about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet joins the queue.
    Accept,
    /// The packet joins the queue with the congestion-experienced mark.
    AcceptMarked,
    /// The packet is dropped.
    Drop(DropReason),
}

/// Reason for the drop of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// Selected by the link's loss model.
    Loss,
    /// The queue is full.
    Overflow,
    /// Dropped by active queue management, at random or because of its delay, or because of its low priority.
    Early,
    /// Dropped by active queue management, since its upper threshold is exceeded (a forced drop).
    Forced,
    /// Exceeds the rate of the link's policer.
    Policed,
    /// An acknowledgement that is dropped because a newer one is forwarded (ACK thinning).
    Thinned,
    /// An acknowledgement that was replaced by a newer one in the queue (ACK filtering).
    Filtered,
}

impl DropReason {
    /// Number of drop reasons.
    pub(crate) const COUNT: usize = Self::Filtered as usize + 1;
}
