//! State of a flow of C4 by the draft: state machine, estimates of the path and current round trip.

use longhaul_units::Rate;
use serde::{Deserialize, Serialize};

use super::laws::{
    DRAINING_ALPHA, INITIAL_ALPHA, MARKED_PROBING_ALPHA, MIN_SEGMENTS, PROBING_ALPHA,
    PUSHING_ALPHA, RECOVERY_ALPHA,
};

/// States of section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum State {
    /// Doubles until the nominal rate does not grow (section 4.2).
    Initial,
    /// Drains the queue of a probe or of congestion, for a round trip (section 4.4).
    Recovery,
    /// Holds the nominal rate; `eras` round trips have passed (section 4.5).
    Cruising { eras: u32 },
    /// Sends a sixteenth faster than the nominal rate, for a round trip (section 4.6).
    Probing,
    /// Sends a quarter faster than the nominal rate; `eras` round trips have passed (section 4.7).
    Pushing { eras: u32 },
}

/// An era: a round trip, which ends when the first packet sent in it is acknowledged (section 3.4).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Era {
    /// Number of packets sent before the era.
    pub end: u64,
    /// Shortest round-trip time of its acknowledgements in seconds.
    pub min_rtt_s: f64,
    /// Longest round-trip time of its acknowledgements in seconds.
    pub max_rtt_s: f64,
    /// Coefficient of the previous era, in which the packets acknowledged in this one were sent.
    pub alpha_before: f64,
}

/// Values measured since the last Recovery ended.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Cycle {
    /// Nominal rate at the beginning of the cycle.
    pub rate: f64,
    /// Pacing coefficient of the cycle's probe.
    pub alpha: f64,
    /// True if the probe caused congestion.
    pub congested: bool,
    /// True if something other than the application limited the sender.
    pub used: bool,
    /// The largest delivery rate.
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
    /// Returns true if the rate grew enough: after a push, by a quarter of the increase that was tried; after a
    /// probe, by any amount, if there was no congestion.
    pub(super) fn has_grown_to(&self, rate: f64) -> bool {
        let asked = self.alpha - 1.0;
        if self.alpha > PROBING_ALPHA {
            rate >= (1.0 + asked / 4.0) * self.rate
        } else {
            rate > self.rate && !self.congested
        }
    }
}

/// C4 by its draft (draft-huitema-ccwg-c4-spec); section numbers are the draft's.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DraftC4 {
    /// State of section 4.
    pub(super) state: State,
    /// True if congestion caused Recovery, or occurred in it: the nominal rate does not rise then (section 3.1).
    pub(super) congested: bool,
    /// True if Recovery paces at 7/8, because congestion hit it again (section 5.7).
    pub(super) draining: bool,
    /// Nominal rate (section 3.1) in segments per second, zero before the first sample.
    pub(super) rate: f64,
    /// Nominal maximum round trip (section 3.2) in seconds, zero before the first.
    pub(super) max_rtt_s: f64,
    /// Running minimum of round trips (section 3.2) in seconds.
    pub(super) running_min_s: f64,
    /// The current round trip (section 3.4).
    pub(super) era: Era,
    /// Values measured since the last Recovery ended, from which growth is computed (section 4).
    pub(super) cycle: Cycle,
    /// Recoveries in a row with congestion (section 5.5.2).
    pub(super) congested_recoveries: u32,
    /// Window of Initial in segments (section 4.2).
    pub(super) initial_cwnd: f64,
    /// Round trips of Initial without an increase of the nominal rate (section 4.2).
    pub(super) full_eras: u32,
    /// Segments delivered in Initial.
    pub(super) received: f64,
    /// True if high jitter has led back to Initial (section 4.4.1).
    pub(super) repeated: bool,
    /// Smoothed share of lost segments (section 5.3).
    pub(super) loss_rate: f64,
    /// Smoothed share of marked segments (section 5.4).
    pub(super) mark_rate: f64,
    /// True if a probe was marked: the increase of the next one is halved (section 4.6).
    pub(super) marked: bool,
    /// Last round trip less the nominal maximum and the threshold of section 5.2, in seconds.
    pub(super) delay_excess_s: f64,
    /// Segments delivered up to the last acknowledgement.
    pub(super) delivered: u64,
    /// Segments lost up to the last acknowledgement.
    pub(super) lost: u64,
    /// True from a timeout to the next acknowledgement, whose losses are no evidence about the path
    /// (section 5.3.1).
    pub(super) timed_out: bool,
    /// Bytes of a segment.
    pub(super) segment_bytes: f64,
    /// Pacing rate (section 4.1), none before there is a nominal rate.
    pub(super) pacing: Option<Rate>,
    /// Largest number of segments sent in one burst (section 4.1).
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
    /// Returns the coefficient of the nominal rate in the current state (section 4.1).
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

    /// Returns true in states that send faster than the nominal rate.
    pub(super) fn is_probing(&self) -> bool {
        matches!(self.state, State::Probing | State::Pushing { .. })
    }
}
