//! Conversion from segment numbers and configured values to values on the wire.

use longhaul_units::Time;

use crate::config::{Ecn, Tcp};

/// Values that follow from a connection's configuration. Segment 0 is the SYN, and the data begins with segment 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire<'a> {
    config: &'a Tcp,
}

impl<'a> Wire<'a> {
    pub(super) fn new(config: &'a Tcp) -> Self {
        Self { config }
    }

    fn mss(&self) -> u64 {
        u64::from(self.config.mss_bytes)
    }

    /// Returns one past the number of the last data segment; the largest `u64` for an unlimited (greedy) source.
    pub(super) fn end(&self) -> u64 {
        self.config
            .transfer
            .map_or(u64::MAX, |bytes| 1 + bytes.div_ceil(self.mss()))
    }

    /// Returns the shortfall of the last segment's payload in bytes: the difference to a full segment. Zero for an
    /// unlimited source.
    pub(super) fn last_segment_shortfall(&self) -> u64 {
        self.config
            .transfer
            .map_or(0, |bytes| (self.end() - 1) * self.mss() - bytes)
    }

    /// Returns the receive window in bytes.
    pub(crate) fn window_bytes(&self) -> u64 {
        self.config.receive_window * self.mss()
    }

    pub(crate) fn ecn(&self) -> bool {
        self.config.ecn.is_on()
    }

    /// Returns true if acknowledgements count marks (RFC 9768).
    pub(crate) fn accecn(&self) -> bool {
        self.config.ecn == Ecn::Accurate
    }

    /// Returns `value` and `echo` as the two fields of the timestamp option; `None` if the option is not in use.
    pub(crate) fn stamps(&self, value: Time, echo: Time) -> Option<(Time, Time)> {
        self.config.timestamps.bytes().map(|_| (value, echo))
    }
}
