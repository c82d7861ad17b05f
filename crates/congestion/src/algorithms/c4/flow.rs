//! State of a flow with the draft's C4: state machine, estimates of the path, and current round trip.

use longhaul_units::Rate;
use serde::{Deserialize, Serialize};

use super::laws::{
    DRAINING_ALPHA, INITIAL_ALPHA, MARKED_PROBING_ALPHA, MIN_SEGMENTS, PROBING_ALPHA,
    PUSHING_ALPHA, RECOVERY_ALPHA,
};

/// States of the state machine (C4 draft, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum State {
    /// Sends at twice the nominal rate, until the nominal rate no longer grows or losses exceed their threshold
    /// (section 4.2).
    Initial,
    /// Drains the queue that a probe or congestion has left, for one round trip (section 4.4).
    Recovery,
    /// Sends at the nominal rate. The state began `eras` round trips ago (section 4.5).
    Cruising { eras: u32 },
    /// Sends a sixteenth faster than the nominal rate, for one round trip (section 4.6).
    Probing,
    /// Sends a quarter faster than the nominal rate; `eras` round trips have passed (section 4.7).
    Pushing { eras: u32 },
}

/// An era, C4's round trip: it ends when the first packet sent in it is acknowledged (section 3.4).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Era {
    /// Number of packets sent before the era. The era ends when more packets than this number are acknowledged or lost.
    pub end: u64,
    /// Smallest round-trip time in the era, in seconds.
    pub min_rtt_s: f64,
    /// Largest round-trip time in the era, in seconds.
    pub max_rtt_s: f64,
    /// Rate coefficient of the previous era, in which the packets acknowledged in this era were sent.
    pub alpha_before: f64,
}

/// Values measured since the cycle began. A cycle begins with each era of Initial, at the end of Initial, at the end of
/// Recovery, and with each era of Pushing that follows a growth of the rate.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Cycle {
    /// Nominal rate at the beginning of the cycle, in segments per second.
    pub rate: f64,
    /// Rate coefficient (factor on the nominal rate) of Initial, Probing or Pushing in the cycle; 1 before these.
    pub alpha: f64,
    /// True if congestion has occurred in the cycle, in any state except Initial.
    pub congested: bool,
    /// False if the application limited the sender at every acknowledgement of the cycle.
    pub used: bool,
    /// Maximum delivery rate of the cycle, in segments per second.
    pub largest: f64,
}

impl Era {
    pub fn new(end: u64, alpha_before: f64) -> Self {
        Self {
            end,
            min_rtt_s: f64::INFINITY,
            max_rtt_s: 0.0,
            alpha_before,
        }
    }
}

impl Cycle {
    /// Returns true if `rate`, the nominal rate now, is sufficiently above the nominal rate at the beginning of the
    /// cycle. In Initial and after Pushing, a quarter of the attempted increase is sufficient; after Probing, any
    /// increase without congestion.
    pub(super) fn has_grown_to(&self, rate: f64) -> bool {
        let asked = self.alpha - 1.0;
        if self.alpha > PROBING_ALPHA {
            rate >= (1.0 + asked / 4.0) * self.rate
        } else {
            rate > self.rate && !self.congested
        }
    }
}

/// State of a flow with C4 of draft-huitema-ccwg-c4-spec, to which section numbers refer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DraftC4 {
    /// Current state of the state machine (section 4).
    pub(super) state: State,
    /// True if congestion caused Recovery or occurred in it; the nominal rate does not rise then (section 3.1).
    pub(super) congested: bool,
    /// True if Recovery paces at 7/8 of the nominal rate, because congestion has occurred again during Recovery
    /// (section 5.7).
    pub(super) draining: bool,
    /// Nominal rate (section 3.1) in segments per second; zero before the first sample.
    pub(super) rate: f64,
    /// Nominal maximum round-trip time (section 3.2) in seconds; zero before the first sample.
    pub(super) max_rtt_s: f64,
    /// Running minimum of the round-trip time (section 3.2) in seconds.
    pub(super) running_min_s: f64,
    /// The current round trip (section 3.4).
    pub(super) era: Era,
    /// Values measured in the current cycle. They set the rate and the state after the next Recovery (section 4).
    pub(super) cycle: Cycle,
    /// Number of successive Recovery states with congestion (section 5.5.2).
    pub(super) congested_recoveries: u32,
    /// Window during Initial, in segments (section 4.2).
    pub(super) initial_cwnd: f64,
    /// Number of round trips in Initial since the nominal rate last grew by a quarter or more in one (section 4.2).
    /// Round trips that the application limited do not count.
    pub(super) full_eras: u32,
    /// Number of segments delivered during Initial.
    pub(super) received: f64,
    /// True if high jitter has caused a return to Initial (section 4.4.1).
    pub(super) repeated: bool,
    /// Smoothed fraction of lost segments (section 5.3).
    pub(super) loss_rate: f64,
    /// Smoothed fraction of marked acknowledgements (section 5.4); a mark sets it to 1.
    pub(super) mark_rate: f64,
    /// True if a mark came with congestion in any state except Initial, until a cycle without congestion ends. The
    /// increase of a probe is then halved (section 4.6).
    pub(super) marked: bool,
    /// Excess of the last round-trip time over the sum of the nominal maximum and the threshold of section 5.2, in
    /// seconds; zero if there is none.
    pub(super) delay_excess_s: f64,
    /// Number of segments delivered up to the last acknowledgement.
    pub(super) delivered: u64,
    /// Number of segments lost up to the last acknowledgement.
    pub(super) lost: u64,
    /// True from a timeout to the next acknowledgement. The losses that this acknowledgement reports say nothing about
    /// the path (section 5.3.1).
    pub(super) timed_out: bool,
    pub(super) segment_bytes: f64,
    /// Pacing rate (section 4.1); `None` before there is a nominal rate.
    pub(super) pacing: Option<Rate>,
    /// Maximum number of segments in a burst (section 4.1).
    pub(super) quantum: u64,
}

impl Default for DraftC4 {
    fn default() -> Self {
        Self {
            state: State::Initial,
            congested: false,
            draining: false,
            rate: 0.0,
            max_rtt_s: 0.0,
            running_min_s: f64::INFINITY,
            era: Era::new(0, INITIAL_ALPHA),
            cycle: Cycle {
                alpha: INITIAL_ALPHA,
                ..Cycle::default()
            },
            congested_recoveries: 0,
            initial_cwnd: 0.0,
            full_eras: 0,
            received: 0.0,
            repeated: false,
            loss_rate: 0.0,
            mark_rate: 0.0,
            marked: false,
            delay_excess_s: 0.0,
            delivered: 0,
            lost: 0,
            timed_out: false,
            segment_bytes: 0.0,
            pacing: None,
            quantum: MIN_SEGMENTS as u64,
        }
    }
}

impl DraftC4 {
    /// Returns the rate coefficient of the current state: the factor on the nominal rate (section 4.1).
    pub(super) fn alpha(&self) -> f64 {
        match self.state {
            State::Initial => INITIAL_ALPHA,
            State::Recovery if self.draining => DRAINING_ALPHA,
            State::Recovery => RECOVERY_ALPHA,
            State::Cruising { .. } => 1.0,
            State::Probing if self.marked => MARKED_PROBING_ALPHA,
            State::Probing => PROBING_ALPHA,
            State::Pushing { .. } => PUSHING_ALPHA,
        }
    }

    /// Returns true in Probing and Pushing. (Initial also sends faster than the nominal rate, but is not included.)
    pub(super) fn is_probing(&self) -> bool {
        matches!(self.state, State::Probing | State::Pushing { .. })
    }
}
