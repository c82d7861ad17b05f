//! How much of its window a sender has used: what it may grow by while something else limits it (Linux,
//! `tcp_cwnd_validate` of `net/ipv4/tcp_output.c`).

/// What was in flight, in segments, when the window was used most since the last round trip.
#[derive(Debug, Default)]
pub(super) struct WindowUsage {
    /// Whether that filled the window (`is_cwnd_limited`).
    filled: bool,
    /// How much that was (`max_packets_out`).
    most: u64,
    /// One past the last segment sent then: it holds until that is acknowledged (`cwnd_usage_seq`).
    end: u64,
}

impl WindowUsage {
    /// The window was full when the segments below `end` had been sent.
    pub(super) fn was_full(&mut self, end: u64) {
        (self.filled, self.end) = (true, end);
    }

    /// Segments have been sent: those from `una` to `end` are not acknowledged, of which `in_flight` are in the network.
    pub(super) fn on_sent(&mut self, (una, end): (u64, u64), in_flight: u64, cwnd: f64) {
        let fills = in_flight as f64 >= cwnd;
        let most = end - una;
        if una >= self.end || fills || (!self.filled && most > self.most) {
            *self = Self {
                filled: fills,
                most,
                end,
            };
        }
    }

    /// Whether the window may grow (`tcp_is_cwnd_limited`): it was full, or in slow start up to twice what was used.
    pub(super) fn allows_growth(&self, in_slow_start: bool, cwnd: f64) -> bool {
        self.filled || in_slow_start && cwnd < 2.0 * self.most as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_moment_holds_until_what_was_sent_then_is_acknowledged() {
        let mut usage = WindowUsage::default();
        usage.on_sent((1, 6), 5, 10.0);
        assert!(!usage.allows_growth(true, 10.0), "half of it");
        usage.on_sent((1, 7), 6, 10.0);
        assert!(usage.allows_growth(true, 11.0) && !usage.allows_growth(true, 12.0));
        assert!(!usage.allows_growth(false, 11.0), "in congestion avoidance");
        usage.on_sent((1, 11), 10, 10.0);
        assert!(usage.allows_growth(false, 30.0));
        usage.on_sent((10, 12), 2, 10.0);
        assert!(
            usage.allows_growth(false, 30.0),
            "the tenth is not acknowledged"
        );
        usage.on_sent((11, 13), 2, 10.0);
        assert!(!usage.allows_growth(true, 10.0));
    }
}
