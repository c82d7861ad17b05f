//! XCP's router: in each mean round trip it works out by how much the traffic is to change, and gives
//! every packet its share (Katabi, Handley and Rohrs, SIGCOMM 2002, section 3.5;
//! draft-falk-xcp-spec-03 section 5, whose form, with changes of the throughput, this is).
//!
//! What the flows gain is shared equally, what they lose in proportion to their throughput; a tenth
//! of the traffic is shuffled, lost and gained at once, so that shares become equal. Bounds and first
//! values are those of ns-2.35's `xcpq.cc`.

use longhaul_units::{Rate, Span};

use crate::network::queue::Capacity;
use crate::packet::XcpHeader;

/// XCP's router, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct XcpConfig {
    /// Limit on what waits.
    pub limit: Capacity,
    /// Part of the spare bandwidth that is given out in an interval (0.4).
    pub alpha: f64,
    /// Part of the persistent queue that is drained in one (0.226).
    pub beta: f64,
    /// Part of the traffic that is shuffled in one (0.1).
    pub gamma: f64,
}

/// Longer round trips count as this in the mean.
const LONGEST_RTT_S: f64 = 1.0;
/// The first control interval, and the shortest.
const FIRST_INTERVAL: Span = Span::from_millis(50);
const SHORTEST_INTERVAL: Span = Span::from_millis(1);
/// The shortest time over which the least queue is taken.
const SHORTEST_QUEUE_INTERVAL: Span = Span::from_millis(2);

/// XCP's router at work. Throughputs are in bytes per second.
#[derive(Debug)]
pub(in crate::network) struct Xcp {
    config: XcpConfig,
    capacity: f64,
    /// What arrived in this control interval: bytes, the sum of the packets' spacings, and that of
    /// their round trips weighted by these.
    arrived_bytes: u64,
    spacings_s: f64,
    weighted_rtts: f64,
    mean_rtt_s: f64,
    interval: Span,
    /// What each second of a packet's spacing gains and each of its bytes loses.
    gain: f64,
    loss: f64,
    /// What is left to be gained and lost in this interval.
    gains_left: f64,
    losses_left: f64,
    /// The queue that did not drain in the last queue interval, and the least in this one.
    persistent_bytes: u64,
    least_bytes: u64,
    /// Time left of either interval.
    control_in: Span,
    queue_in: Span,
}

impl Xcp {
    pub(super) fn new(config: XcpConfig, rate: Rate) -> Self {
        Self {
            config,
            capacity: rate.as_bps() as f64 / 8.0,
            arrived_bytes: 0,
            spacings_s: 0.0,
            weighted_rtts: 0.0,
            mean_rtt_s: FIRST_INTERVAL.as_secs_f64(),
            interval: FIRST_INTERVAL,
            gain: 0.0,
            loss: 0.0,
            gains_left: 0.0,
            losses_left: 0.0,
            persistent_bytes: 0,
            least_bytes: 0,
            control_in: FIRST_INTERVAL,
            queue_in: FIRST_INTERVAL,
        }
    }

    /// A packet arrives, with a header or not.
    pub(super) fn on_arrival(&mut self, bytes: u16, header: Option<&XcpHeader>) {
        self.arrived_bytes += u64::from(bytes);
        if let Some(header) = header.filter(|header| header.rtt_s > 0.0) {
            self.spacings_s += header.spacing_s;
            self.weighted_rtts += header.rtt_s.min(LONGEST_RTT_S) * header.spacing_s;
        }
    }

    /// A packet begins service while so many bytes wait behind it: its header gets the packet's share
    /// where that is less than what it asks for.
    pub(super) fn on_departure(
        &mut self,
        bytes: u16,
        header: Option<&mut XcpHeader>,
        waiting_bytes: u64,
    ) {
        self.least_bytes = self.least_bytes.min(waiting_bytes);
        let Some(header) = header else {
            return;
        };
        header.granted = true;
        if header.rtt_s <= 0.0 {
            header.change = 0.0;
            return;
        }
        let mut gained = f64::min(self.gain * header.spacing_s, self.gains_left);
        let mut lost = f64::min(self.loss * f64::from(bytes), self.losses_left);
        let share = gained - lost;
        if header.change >= share {
            header.change = share;
        } else {
            // It asks for less, or a router before this one has: what it leaves is not shared again.
            lost = f64::min(lost + share - header.change, self.losses_left);
            gained = header.change + lost;
        }
        self.gains_left = f64::max(0.0, self.gains_left - gained);
        self.losses_left = f64::max(0.0, self.losses_left - lost);
    }

    pub(super) fn period(&self) -> Span {
        self.control_in.min(self.queue_in)
    }

    /// One of the intervals, or both, are over; so many bytes wait.
    pub(super) fn update(&mut self, waiting_bytes: u64) {
        let elapsed = self.period();
        self.control_in = self.control_in.saturating_sub(elapsed);
        self.queue_in = self.queue_in.saturating_sub(elapsed);
        if self.queue_in == Span::ZERO {
            self.end_queue_interval(waiting_bytes);
        }
        if self.control_in == Span::ZERO {
            self.end_control_interval();
        }
    }

    /// The queue that does not drain within half a round trip, that of the queue itself not counted,
    /// is persistent.
    fn end_queue_interval(&mut self, waiting_bytes: u64) {
        self.persistent_bytes = self.least_bytes;
        self.least_bytes = waiting_bytes;
        let half_s = (self.mean_rtt_s - waiting_bytes as f64 / self.capacity) / 2.0;
        let half = Span::from_secs_f64(half_s.max(0.0));
        self.queue_in = half.max(SHORTEST_QUEUE_INTERVAL);
    }

    /// Shares out the change of the traffic that is wanted.
    fn end_control_interval(&mut self) {
        let input = self.arrived_bytes as f64 / self.interval.as_secs_f64();
        self.mean_rtt_s = if self.spacings_s > 0.0 {
            self.weighted_rtts / self.spacings_s
        } else {
            FIRST_INTERVAL.as_secs_f64()
        };
        let XcpConfig {
            alpha, beta, gamma, ..
        } = self.config;
        let drain = self.persistent_bytes as f64 / self.mean_rtt_s;
        let change = alpha * (self.capacity - input) - beta * drain;
        let shuffled = f64::max(0.0, gamma * input - change.abs());
        self.gains_left = shuffled + change.max(0.0);
        self.losses_left = shuffled + (-change).max(0.0);
        self.gain = ratio(self.gains_left, self.spacings_s);
        self.loss = ratio(self.losses_left, self.arrived_bytes as f64);
        (self.arrived_bytes, self.spacings_s, self.weighted_rtts) = (0, 0.0, 0.0);
        self.interval = Span::from_secs_f64(self.mean_rtt_s).max(SHORTEST_INTERVAL);
        self.control_in = self.interval;
    }
}

/// Zero, if nothing has arrived to share.
fn ratio(total: f64, parts: f64) -> f64 {
    if parts > 0.0 { total / parts } else { 0.0 }
}

#[cfg(test)]
mod tests;
