//! How much of its window a sender has used lately.

use serde::{Deserialize, Serialize};

/// The largest flights of the current round trip and of the one before, in segments, as acknowledgements found them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlightPeaks {
    round: u64,
    current: u64,
    last: u64,
}

impl FlightPeaks {
    /// Notes the segments in flight before an acknowledgement in the round trip of this number.
    #[inline]
    pub fn note(&mut self, round: u64, in_flight: u64) {
        if round != self.round {
            self.last = self.current;
            (self.round, self.current) = (round, 0);
        }
        self.current = self.current.max(in_flight);
    }

    /// Whether at least half of a window was in flight. If not, the window does not limit the sender (RFC 7661 section
    /// 4.3); Linux lets slow start go on as far, too (`tcp_is_cwnd_limited`).
    #[inline]
    pub fn fill_half_of(&self, cwnd: f64) -> bool {
        2.0 * self.current.max(self.last) as f64 >= cwnd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
