//! Use of the congestion window: a window that the sender does not use may not grow (Linux, `tcp_cwnd_validate` of
//! `net/ipv4/tcp_output.c`).

/// Record of the largest flight in the latest round trip.
#[derive(Debug, Default)]
pub(super) struct WindowUsage {
    /// True if the largest flight filled the window (`is_cwnd_limited`).
    filled: bool,
    /// Number of segments in the largest flight (`max_packets_out`).
    most: u64,
    /// End of the largest flight: the number after its last segment. The record is valid until all segments of the
    /// flight are acknowledged (`cwnd_usage_seq`).
    end: u64,
}

impl WindowUsage {
    /// Records that the window was full after the transmission of all segments below `end`.
    pub(super) fn was_full(&mut self, end: u64) {
        (self.filled, self.end) = (true, end);
    }

    /// Records the flight after segments have been sent, or when the window has stopped limiting the sender. The
    /// segments from `una` to `end - 1` are not acknowledged. An estimated `in_flight` of them are in the network.
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

    /// Returns true if the window may grow (`tcp_is_cwnd_limited`): if the largest flight has filled the window or, in
    /// slow start, if the window is below twice the largest flight.
    pub(super) fn allows_growth(&self, in_slow_start: bool, cwnd: f64) -> bool {
        self.filled || in_slow_start && cwnd < 2.0 * self.most as f64
    }
}

/// The largest flights, in segments, of the last two round trips in which [`Self::note`] was called. It is not called
/// for acknowledgements that echo no mark while only the window limits the sender.
#[derive(Debug, Default)]
pub(super) struct FlightPeaks {
    round: u64,
    current: u64,
    last: u64,
}

impl FlightPeaks {
    /// Records that `in_flight` segments were in flight before an acknowledgement in the round trip number `round`.
    #[inline]
    pub(super) fn note(&mut self, round: u64, in_flight: u64) {
        if round != self.round {
            self.last = self.current;
            (self.round, self.current) = (round, 0);
        }
        self.current = self.current.max(in_flight);
    }

    /// Returns true if at least half of the window `cwnd` was in flight in one of the two round trips. Otherwise, the
    /// window does not limit the sender (RFC 7661 section 4.3). Linux applies the same limit to growth in slow start
    /// (`tcp_is_cwnd_limited`).
    #[inline]
    pub(super) fn fill_half_of(&self, cwnd: f64) -> bool {
        2.0 * self.current.max(self.last) as f64 >= cwnd
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

    #[test]
    fn the_largest_flight_counts_until_the_next_round_trip_is_over() {
        let mut peaks = FlightPeaks::default();
        let mut fill = |round, in_flight, cwnd| {
            peaks.note(round, in_flight);
            peaks.fill_half_of(cwnd)
        };
        assert!(fill(1, 10, 20.0));
        assert!(!fill(1, 5, 20.5));
        assert!(fill(2, 4, 20.0), "the flight of the round trip before");
        assert!(!fill(3, 4, 20.0));
        assert!(fill(3, 4, 8.0));
    }

    /// Checks the record of the largest flight (`tcp_cwnd_validate`), which expires when that flight is acknowledged.
    /// Before that, a flight that fills the window (here of ten segments) replaces any record. Any other flight
    /// replaces only the record of a smaller flight that did not fill the window.
    #[test]
    fn the_largest_flight_counts_until_it_is_acknowledged() {
        let mut usage = WindowUsage::default();
        for (unacknowledged, in_flight, most, filled) in [
            ((1, 6), 5, 5, false),
            ((3, 6), 3, 5, false),
            ((3, 10), 7, 7, false),
            ((5, 15), 10, 10, true),
            ((8, 20), 9, 10, true),
            ((14, 20), 6, 10, true),
            ((15, 20), 5, 5, false),
        ] {
            usage.on_sent(unacknowledged, in_flight, 10.0);
            let found = (usage.most, usage.filled);
            assert_eq!(found, (most, filled), "{unacknowledged:?}");
        }
        usage.was_full(30);
        usage.on_sent((29, 32), 3, 10.0);
        assert!(usage.allows_growth(false, 10.0));
        usage.on_sent((30, 32), 2, 10.0);
        assert!(!usage.allows_growth(false, 10.0));
    }

    /// A full window may grow. In slow start, a window below twice the largest number of segments in flight may also
    /// grow (Linux, `tcp_is_cwnd_limited`).
    #[test]
    fn growth_depends_on_the_part_that_was_used() {
        for (filled, slow_start, cwnd, grows) in [
            (false, true, 9.0, true),
            (false, true, 10.0, false),
            (false, false, 9.0, false),
            (true, true, 10.0, true),
            (true, false, 10.0, true),
        ] {
            let usage = WindowUsage {
                filled,
                most: 5,
                end: 6,
            };
            assert_eq!(usage.allows_growth(slow_start, cwnd), grows);
        }
    }
}
