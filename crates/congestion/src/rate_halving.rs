//! Rate halving: Linux's reduction of the window in recoveries before proportional rate reduction (Linux 2.6.22,
//! `tcp_cwnd_down`).
//!
//! One segment leaves for every two acknowledgements, whatever the algorithm's reduction is. A recovery of one round
//! trip thus halves the window; a longer recovery reduces it further, down to a lower bound. Then slow start raises the
//! window to the threshold, for example to seven eighths of its former size.

use serde::{Deserialize, Serialize};

use crate::facts::AckSample;
use crate::window::Window;

/// Number of segments that may leave together when a recovery ends (`tcp_max_burst`).
const MAX_BURST: f64 = 3.0;

/// State of rate halving in one recovery.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RateHalving {
    /// Lower bound of the window, in segments.
    floor: f64,
    /// True if the next acknowledgement is the second one of a pair, and thus reduces the window.
    second: bool,
    /// Number of segments in flight at the last acknowledgement; `None` before the first.
    in_flight: Option<u64>,
}

impl RateHalving {
    /// Begins a recovery. The window remains at `before`, its value before the reduction, but is at least `floor`.
    pub(crate) fn begin(before: f64, floor: f64, window: &mut Window) -> Self {
        window.set_cwnd(before.max(floor));
        Self {
            floor,
            second: false,
            in_flight: None,
        }
    }

    /// Processes an acknowledgement in the recovery: every second one removes a segment from the window. The window is
    /// at most one segment more than in flight, but at least `floor`.
    pub(crate) fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        let step = if self.second { 1.0 } else { 0.0 };
        let reached = (window.cwnd() - step).min(ack.in_flight as f64 + 1.0);
        window.set_cwnd(reached.max(self.floor));
        self.second = !self.second;
        self.in_flight = Some(ack.in_flight);
    }

    /// Ends the recovery. The window becomes the number of segments in flight plus `MAX_BURST`, at most the threshold.
    /// Without an acknowledgement in the recovery, the window becomes the threshold.
    pub(crate) fn end(self, window: &mut Window) {
        let in_flight = self.in_flight.map_or(f64::INFINITY, |flight| flight as f64);
        let left = window.ssthresh().min(in_flight + MAX_BURST);
        window.set_cwnd(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Rounding;

    fn ack(in_flight: u64) -> AckSample {
        AckSample {
            acked: 0,
            delivered: 0,
            in_flight,
            ..AckSample::ONE_SEGMENT
        }
    }

    /// Runs a recovery of `round_trips` round trips, from a window of 1000 segments to `threshold`.
    fn recover(threshold: f64, floor: f64, round_trips: u64) -> (Window, RateHalving) {
        let mut window = Window::new(1000.0, threshold, 1e6, Rounding::Real);
        let mut halving = RateHalving::begin(1000.0, floor, &mut window);
        let mut in_flight: u64 = 1000;
        for _ in 0..round_trips {
            // In each round trip, as many acknowledgements arrive as segments were in flight; the window decides how
            // many segments are sent.
            let arrivals = in_flight;
            for _ in 0..arrivals {
                in_flight -= 1;
                halving.on_ack(&ack(in_flight), &mut window);
                in_flight = in_flight.max(window.cwnd() as u64);
            }
        }
        (window, halving)
    }

    #[test]
    fn a_round_trip_halves_the_window_and_slow_start_follows() {
        let (mut window, halving) = recover(875.0, 437.5, 1);
        assert!((499.0..=501.0).contains(&window.cwnd()), "{window:?}");
        halving.end(&mut window);
        assert!((502.0..=504.0).contains(&window.cwnd()), "{window:?}");
        assert!(window.in_slow_start());
    }

    #[test]
    fn a_longer_recovery_ends_at_the_floor() {
        let (window, _) = recover(875.0, 437.5, 2);
        assert_eq!(window.cwnd(), 437.5);
    }

    #[test]
    fn a_recovery_without_acknowledgements_leaves_the_threshold() {
        let (mut window, halving) = recover(875.0, 437.5, 0);
        assert_eq!(window.cwnd(), 1000.0);
        halving.end(&mut window);
        assert_eq!(window.cwnd(), 875.0);
    }
}
