//! A connection's two ends together.

use longhaul_units::Time;

use super::{Receiver, Sender};
use crate::measure::{FlowCounters, FlowSample};
use crate::prefetch::prefetch;

/// A TCP connection's two ends, and the id of its flow.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) flow: u32,
}

impl Connection {
    /// Data segments delivered in order to the receiving application, and their payload bytes.
    pub(crate) fn delivered(&self) -> (u64, u64) {
        let next = self.receiver.next();
        (next.saturating_sub(1), self.sender.bytes_below(next))
    }

    /// Counters up to `now`.
    pub(crate) fn counters(&mut self, now: Time) -> FlowCounters {
        let (delivered_pkts, delivered_bytes) = self.delivered();
        FlowCounters {
            delivered_pkts,
            delivered_bytes,
            ..self.sender.counters(now)
        }
    }

    /// Has the processor fetch what a sample of both ends will touch.
    #[inline]
    pub(crate) fn prefetch_for_sample(&self) {
        self.sender.prefetch_for_sample();
        prefetch(&self.receiver);
    }

    /// State for the time series.
    pub(crate) fn sample(&mut self, now: Time) -> FlowSample {
        FlowSample {
            delivered_bytes: self.delivered().1,
            ..self.sender.sample(now)
        }
    }
}
