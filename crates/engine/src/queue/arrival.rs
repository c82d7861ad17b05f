//! Arrivals at a queue, as disciplines see them, and what disciplines decide.

use longhaul_units::Time;

use super::Capacity;

/// A packet that arrives at a queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When it arrives.
    pub now: Time,
    /// Its bytes on the wire.
    pub bytes: u32,
    /// Whether it may be marked instead of dropped.
    pub ecn_capable: bool,
    /// Whether it is of low priority.
    pub low_priority: bool,
    /// Packets that wait, the one in service not included.
    pub waiting_pkts: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
    /// Since when the link has been idle, if it is.
    pub idle_since: Option<Time>,
}

impl Arrival {
    /// Whether the packet would make the queue exceed a limit. One that finds the link idle goes straight
    /// into service.
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
    /// It joins the queue.
    Accept,
    /// It joins the queue with the congestion-experienced mark.
    AcceptMarked,
    /// It is dropped.
    Drop(DropReason),
}

/// Why a packet is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The link's loss model.
    Loss,
    /// The queue is full.
    Overflow,
    /// Chosen by active queue management.
    Early,
    /// A forced drop: beyond the upper threshold of active queue management.
    Forced,
    /// Beyond the rate of the link's policer.
    Policed,
    /// An acknowledgement for which a newer one goes on.
    Thinned,
    /// An acknowledgement that has taken the place of an older one in the queue.
    Filtered,
}

impl DropReason {
    /// How many reasons there are.
    pub(crate) const COUNT: usize = Self::Filtered as usize + 1;
}
