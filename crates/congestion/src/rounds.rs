//! A flow without a network, simulated round trip by round trip with losses that the caller chooses.
//!
//! In each round trip, one window of segments is acknowledged. The acknowledgements are evenly spaced over the round
//! trip, or at the rate of the sender's link. A segment's queueing delay depends on the window at its departure, a
//! round trip before its acknowledgement. That window is interpolated linearly within the round trip.
//!
//! Losses are at fixed distances in segments, or random. A lost segment reduces the window at most once per round trip,
//! and recovery takes no time. This is the deterministic model behind the response functions of RFC 5681 and RFC 3649.

use longhaul_units::{Span, Time};

use crate::facts::{AckSample, Cause, Congestion, Phase, Timeout};
use crate::split_mix::split_mix;
use crate::state::CongestionState;

/// Rule that selects the lost segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// No segment is lost.
    Never,
    /// Every segment whose number is a multiple of this number is lost. The first segment of each call of
    /// [`Flow::rounds`] has the number 1.
    Every(u64),
    /// Each segment is lost with the same probability.
    Random {
        /// Loss probability.
        p: f64,
        /// Seed of the random numbers, which start anew with each call of [`Flow::rounds`].
        seed: u64,
    },
}

/// Path of a flow.
#[derive(Clone, Debug)]
pub struct Path {
    /// Round-trip time of the path without a queue.
    pub rtt: Span,
    /// Rate of the path in segments per second. Segments beyond the path's capacity wait in a queue. `None`: no segment
    /// waits.
    pub rate: Option<f64>,
    /// Rate of the sender's link in segments per second; acknowledgements arrive at this rate. `None`, or a window that
    /// the link cannot send within a round trip: acknowledgements are spread over the round trip.
    pub link_rate: Option<f64>,
    /// Rule that selects the segments that are lost or marked.
    pub loss: Loss,
    /// Cause that a congestion signal gives for segments selected by `loss`. Marked segments do not count as delivered
    /// either.
    pub cause: Cause,
    /// Numbers of the round trips that end in a retransmission timeout. The first round trip of each call of
    /// [`Flow::rounds`] has the number 0.
    pub timeouts: Vec<u64>,
}

impl Path {
    /// Returns a path without losses.
    pub fn clean(rtt: Span) -> Self {
        Self {
            rtt,
            rate: None,
            link_rate: None,
            loss: Loss::Never,
            cause: Cause::Loss,
            timeouts: Vec::new(),
        }
    }

    /// Returns the round-trip time of a segment that departs when `cwnd` segments are in flight.
    fn rtt_of(&self, cwnd: f64) -> Span {
        let carried = self.rate.map_or(0.0, |rate| cwnd.trunc() / rate);
        self.rtt.max(Span::from_secs_f64(carried))
    }
}

/// Record of one round trip of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Time at which the round trip began.
    pub start: Time,
    /// Congestion window at the beginning of the round trip, in segments.
    pub cwnd: f64,
    /// Slow start threshold at the beginning of the round trip, in segments.
    pub ssthresh: f64,
    /// Number of segments sent in the round trip.
    pub sent: u64,
    /// True if there was a congestion signal in the round trip.
    pub congestion: bool,
    /// True if the round trip ended in a timeout.
    pub timeout: bool,
}

/// Returns the mean window over round trips, all with equal weights, as response functions define it.
pub fn mean_window(rounds: &[Round]) -> f64 {
    rounds.iter().map(|round| round.cwnd).sum::<f64>() / rounds.len() as f64
}

/// A simulated flow, with its current time and counters.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Window, slow start and algorithm of the flow.
    pub state: CongestionState,
    now: Time,
    /// Number of completed round trips.
    round: u64,
    reduced: bool,
    /// Number of segments delivered so far.
    delivered: u64,
    /// Window after the first acknowledgement of the most recent round trip, in segments. The window is assumed to have
    /// changed evenly from this value to its present one.
    opened: f64,
}

impl Flow {
    /// Returns a flow that has sent nothing yet.
    pub fn new(state: CongestionState) -> Self {
        Self {
            opened: state.window.cwnd(),
            state,
            now: Time::ZERO,
            round: 0,
            reduced: false,
            delivered: 0,
        }
    }

    /// Simulates `rounds` round trips on `path`; returns their records.
    pub fn run(&mut self, path: &Path, rounds: u64) -> Vec<Round> {
        self.rounds(path).take(rounds as usize).collect()
    }

    /// Simulates an unlimited number of round trips on `path`; yields their records.
    pub fn rounds<'a>(&'a mut self, path: &'a Path) -> impl Iterator<Item = Round> + 'a {
        let mut losses = Losses::new(path.loss);
        (0..).map(move |number| {
            let round = self.pass(path, &mut losses);
            let timeout = path.timeouts.contains(&number);
            if timeout {
                self.time_out();
            }
            Round { timeout, ..round }
        })
    }

    /// Simulates one round trip.
    fn pass(&mut self, path: &Path, losses: &mut Losses) -> Round {
        let (start, cwnd) = (self.now, self.state.window.cwnd());
        let ssthresh = self.state.window.ssthresh();
        // All segments that fit into the window are in flight, and at least one.
        let sent = (cwnd as u64).max(1);
        let rtt = path.rtt_of(cwnd);
        let opened = self.opened;
        let burst = path
            .link_rate
            .map_or(rtt, |rate| Span::from_secs_f64(sent as f64 / rate));
        let spread = rtt.min(burst);
        let mut congestion = false;
        for segment in 0..sent {
            let share = u128::from(spread.as_ps()) * u128::from(segment + 1) / u128::from(sent);
            self.now = start + Span::from_ps(share as u64);
            let lost = losses.lost();
            self.delivered += u64::from(!lost);
            let at_departure = opened + (cwnd - opened) * (segment + 1) as f64 / sent as f64;
            let mut ack = self.ack(path.rtt_of(at_departure), path.rtt, sent - segment - 1);
            ack.round_start = segment == 0;
            if !lost {
                self.state.on_ack(&ack);
            } else if ack.round_start {
                self.state.on_ack_in(&duplicate(ack), Phase::NoGrowth);
            }
            if lost && !congestion {
                congestion = true;
                self.reduce(path.cause, sent);
            }
            if segment == 0 {
                self.opened = self.state.window.cwnd();
            }
        }
        if congestion {
            self.state.on_recovery_exit(self.now);
        }
        self.now = start + rtt;
        self.round += 1;
        Round {
            start,
            cwnd,
            ssthresh,
            sent,
            congestion,
            timeout: false,
        }
    }

    fn ack(&self, rtt: Span, min_rtt: Span, in_flight: u64) -> AckSample {
        AckSample {
            now: self.now,
            delivered: self.delivered,
            rtt: Some(rtt),
            srtt: rtt,
            min_rtt,
            // Both directions have the same delay without a queue, and only data waits in a queue.
            one_way_delay: Some(rtt.saturating_sub(min_rtt / 2)),
            in_flight,
            round: self.round,
            ..AckSample::ONE_SEGMENT
        }
    }

    fn reduce(&mut self, cause: Cause, in_flight: u64) {
        let event = Congestion {
            now: self.now,
            cause,
            base: self.state.window.cwnd(),
            in_flight,
            in_slow_start: self.state.window.in_slow_start(),
            first: !self.reduced,
        };
        self.reduced = true;
        self.state.on_congestion(&event);
    }

    fn time_out(&mut self) {
        let base = self.state.window.cwnd();
        self.reduced = true;
        self.state.on_timeout(&Timeout {
            now: self.now,
            base,
            keep_ssthresh: false,
            sent: self.delivered,
        });
    }
}

/// Returns the duplicate acknowledgement that reports a lost segment.
fn duplicate(ack: AckSample) -> AckSample {
    AckSample {
        acked: 0,
        credit: 0.0,
        rtt: None,
        one_way_delay: None,
        ..ack
    }
}

/// State of the rule that selects lost segments.
enum Losses {
    Never,
    Every { n: u64, left: u64 },
    Random { threshold: u64, state: u64 },
}

impl Losses {
    fn new(loss: Loss) -> Self {
        match loss {
            Loss::Never => Self::Never,
            Loss::Every(n) => Self::Every {
                n: n.max(1),
                left: n.max(1),
            },
            Loss::Random { p, seed } => Self::Random {
                threshold: (p * u64::MAX as f64) as u64,
                state: seed,
            },
        }
    }

    fn lost(&mut self) -> bool {
        match self {
            Self::Never => false,
            Self::Every { n, left } => {
                *left -= 1;
                if *left > 0 {
                    return false;
                }
                *left = *n;
                true
            }
            Self::Random { threshold, state } => split_mix(state) < *threshold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nth_segment_is_lost() {
        let mut losses = Losses::new(Loss::Every(3));
        let lost: Vec<bool> = (0..7).map(|_| losses.lost()).collect();
        assert_eq!(lost, [false, false, true, false, false, true, false]);
    }
}
