//! The queueing delay as LEDBAT estimates it: the minimum of the latest delays less the minimum of the last ten
//! minutes.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Number of stored minima of the delay, each of one minute (BASE_HISTORY).
const BASE_HISTORY: usize = 10;
const MINUTE: Span = Span::from_secs(60);

/// Number of latest delays whose minimum is the current delay (CURRENT_FILTER).
const CURRENT_FILTER: usize = 4;

/// Filters of the base delay and of the current delay (RFC 6817 section 2.4.2).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DelayHistory {
    base: [Option<Span>; BASE_HISTORY],
    minute: usize,
    minute_start: Time,
    current: [Option<Span>; CURRENT_FILTER],
    next: usize,
}

impl DelayHistory {
    pub(crate) fn add(&mut self, now: Time, delay: Span) {
        if now.since(self.minute_start) >= MINUTE {
            self.minute = (self.minute + 1) % BASE_HISTORY;
            self.minute_start = now;
            self.base[self.minute] = None;
        }
        let base = self.base[self.minute];
        self.base[self.minute] = Some(base.map_or(delay, |base| base.min(delay)));
        self.current[self.next] = Some(delay);
        self.next = (self.next + 1) % CURRENT_FILTER;
    }

    /// Returns the base delay, the delay of the path without a queue; `None` without samples.
    pub(crate) fn base(&self) -> Option<Span> {
        self.base.iter().flatten().min().copied()
    }

    /// Returns the queueing delay, the excess of the smallest of the latest samples over the base delay. Returns `None`
    /// without latest samples, as after [`Self::forget_current`].
    pub(crate) fn queueing(&self) -> Option<Span> {
        let current = self.current.iter().flatten().min()?;
        Some(current.saturating_sub(self.base()?))
    }

    /// Discards the latest delays, which are no longer valid.
    pub(crate) fn forget_current(&mut self) {
        self.current = [None; CURRENT_FILTER];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the smallest delay is discarded after ten minutes. The delay of the path is 30 ms in the first
    /// minute, and 50 ms afterwards.
    #[test]
    fn the_base_delay_is_the_smallest_of_ten_minutes() {
        let mut history = DelayHistory::default();
        let mut queueing = Vec::new();
        for minute in 0..12 {
            let delay = Span::from_millis(if minute == 0 { 30 } else { 50 });
            let start = Time::ZERO + MINUTE * minute;
            for sample in 0..4 {
                history.add(start + Span::from_secs(sample), delay);
            }
            queueing.push(history.queueing().unwrap());
        }
        let found = [0, 1, 9, 10].map(|minute| queueing[minute]);
        assert_eq!(found, [0, 20, 20, 0].map(Span::from_millis));
    }
}
