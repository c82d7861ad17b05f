//! Both endpoints of a TCP connection.

use longhaul_units::Time;

use super::{Receiver, Sender};
use crate::measure::{FlowCounters, FlowSample};
use crate::prefetch::prefetch;

/// A TCP connection's two endpoints, and the id of its flow.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) flow: u32,
}

/// Counts of segments that have arrived at a receiver; a segment counts once, on its first arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    /// Number of data segments that have arrived.
    delivered_pkts: u64,
    /// Payload bytes of the delivered segments.
    delivered_bytes: u64,
    /// Number of segments passed to the application: no segment before them is missing.
    in_order_pkts: u64,
    in_order_bytes: u64,
}

impl Received {
    /// Counts the segments of `sender` that have arrived at `receiver`.
    pub(crate) fn of(sender: &Sender, receiver: &Receiver) -> Self {
        let next = receiver.next();
        let bytes = |(left, right)| sender.bytes_below(right) - sender.bytes_below(left);
        let in_order_bytes = sender.bytes_below(next);
        let out_of_order = receiver.out_of_order();
        let (in_order_pkts, others) = sender.data_segments(next, out_of_order);
        Self {
            delivered_pkts: in_order_pkts + others,
            delivered_bytes: in_order_bytes + out_of_order.descending().map(bytes).sum::<u64>(),
            in_order_pkts,
            in_order_bytes,
        }
    }

    /// Returns the sender's `counters` with the receiver's fields filled in.
    pub(crate) fn counted_in(self, counters: FlowCounters) -> FlowCounters {
        FlowCounters {
            delivered_pkts: self.delivered_pkts,
            delivered_bytes: self.delivered_bytes,
            in_order_pkts: self.in_order_pkts,
            in_order_bytes: self.in_order_bytes,
            ..counters
        }
    }

    /// Returns the sender's `sample` with the receiver's fields filled in.
    pub(crate) fn sampled_in(self, sample: FlowSample) -> FlowSample {
        FlowSample {
            delivered_bytes: self.delivered_bytes,
            in_order_bytes: self.in_order_bytes,
            ..sample
        }
    }
}

impl Connection {
    /// Returns the counts of the sender's segments that have arrived at the receiver.
    pub(crate) fn received(&self) -> Received {
        Received::of(&self.sender, &self.receiver)
    }

    /// Returns the counters up to `now`.
    pub(crate) fn counters(&mut self, now: Time) -> FlowCounters {
        let received = self.received();
        received.counted_in(self.sender.counters(now))
    }

    /// Prefetches the memory that a sample of both endpoints reads.
    #[inline]
    pub(crate) fn prefetch_for_sample(&self) {
        self.sender.prefetch_for_sample();
        prefetch(&self.receiver);
    }

    /// Returns the state of both endpoints for the time series.
    pub(crate) fn sample(&mut self, now: Time) -> FlowSample {
        let received = self.received();
        received.sampled_in(self.sender.sample(now))
    }
}
