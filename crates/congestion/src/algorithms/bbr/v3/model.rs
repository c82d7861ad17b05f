//! Model of the path in BBR version 3: its bounds, recent losses and marks, the state of probing, smallest round-trip
//! times, and ACK aggregation.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::algorithms::bbr::smaller;
use crate::facts::AckSample;
use crate::rate_sample::RateSample;
use crate::windowed_max::WindowedMax;

/// Age at which the smallest round-trip time expires (BBR.MinRTTFilterLen, section 2.13.1).
pub(super) const MIN_RTT_AGE: Span = Span::from_secs(10);

/// Weight of a round in the average fraction of marked segments (Linux v3, bbr_ecn_alpha_gain).
const ECN_GAIN: f64 = 1.0 / 16.0;

/// Threshold of the fraction of marked segments in a round (Linux v3, bbr_ecn_thresh). A larger fraction shows that too
/// many segments are in flight. Rounds with at least this fraction count towards the end of Startup.
const ECN_THRESHOLD: f64 = 0.5;

/// Bounds of the model; infinity means that there is no bound.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Bounds {
    /// Short-term bound of the rate after recent losses, in segments per second.
    pub(super) short_rate: f64,
    /// Short-term bound of the number of segments in flight after recent losses or marks.
    pub(super) short_in_flight: f64,
    /// Long-term bound: number of segments in flight that probing found to be safe.
    pub(super) long_in_flight: f64,
}

/// Recent deliveries and losses; the bounds are computed from them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Signals {
    /// Number of segments sent before the current round or, if the round has losses, until the first of them was
    /// reported. The round ends when more segments than this number have been delivered or lost.
    pub(super) round_end: u64,
    pub(super) round_start: bool,
    pub(super) lost: bool,
    pub(super) marked: bool,
    /// Number of segments lost in the current round.
    pub(super) losses: f64,
    /// Number of acknowledgements that reported losses in the current round.
    pub(super) loss_events: u32,
    /// Maximum delivery rate in the current round, in segments per second.
    pub(super) rate: f64,
    /// Largest `RS.delivered` in the current round: the number of segments delivered while a segment was in flight.
    pub(super) volume: f64,
}

/// The last flight: its delivery rate and round-trip time. Their product estimates the number of segments in flight
/// (RS.tx_in_flight), and of segments delivered in the round trip (RS.delivered).
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    rate: Option<RateSample>,
    rtt: Span,
}

/// State of the probing for bandwidth (ProbeBW).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Probe {
    /// Number of rounds since the cycle began, plus zero or one at random. In picoquic, only the random number.
    pub(super) rounds: u64,
    /// Time at which the cycle began. In picoquic's ProbeBW_UP, the time at which ProbeBW_UP began.
    pub(super) start: Time,
    /// Maximum time from the beginning of the cycle to the next probe.
    pub(super) wait: Span,
    /// True from the beginning of ProbeBW_UP until losses or marks show that too many segments are in flight. In the
    /// draft, at most until the last rate sample of the probe has arrived.
    pub(super) sampling: bool,
    /// True from the beginning of ProbeBW_DOWN, of ProbeRTT or of Drain on a saturated path (picoquic) until the next
    /// round or ProbeBW_REFILL begins.
    pub(super) stopping: bool,
    /// Binary logarithm of the long-term bound's growth, in segments, in the next round of the probe. It increases by
    /// one at the beginning of the probe, and of each later round in which the bound limits the flow.
    pub(super) up_rounds: u32,
    /// Number of segments that must be acknowledged for the long-term bound to grow by one segment.
    pub(super) up_per_segment: f64,
    /// Number of segments acknowledged while the long-term bound limited the flow that have not raised the bound yet.
    pub(super) up_acked: f64,
    /// Number of segments sent until the window was last full.
    cwnd_full_until: u64,
}

/// Smallest round-trip times: of the last ten seconds (BBR.min_rtt), and of the interval between ProbeRTT states
/// (BBR.probe_rtt_min_delay).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct MinRtt {
    pub(super) rtt: Option<(Span, Time)>,
    /// The smallest round-trip time of the last ten seconds, in seconds.
    pub(super) rtt_s: f64,
    pub(super) recent: Option<(Span, Time)>,
    pub(super) expired: bool,
}

/// ACK aggregation: the number of acknowledged segments above those expected at the estimated bandwidth (section
/// 5.5.9).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Aggregation {
    pub(super) start: Time,
    pub(super) delivered: f64,
    pub(super) extra: WindowedMax,
}

/// State of [`Aggregation`] after an acknowledgement, with the number of excess segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregated {
    start: Time,
    delivered: f64,
    pub(super) extra: f64,
}

/// Fraction of marked segments, and the response to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Marks {
    /// True if marks have an effect: from the end of the first round with a short enough smallest round-trip time.
    /// Never true if `ecn_factor` is zero.
    pub(super) eligible: bool,
    /// Number of successive rounds with too many marks.
    pub(super) high_rounds: u32,
    /// Smoothed fraction of marked segments.
    pub(super) alpha: f64,
    /// Fraction of marked segments in the last complete round.
    pub(super) share: f64,
    pub(super) marked: f64,
    pub(super) delivered: f64,
    /// Number of marks that acknowledgements have reported so far (RFC 9768).
    seen: u64,
    /// True if marks have arrived in this cycle of ProbeBW.
    pub(super) in_cycle: bool,
    /// True if there were losses in this cycle of ProbeBW.
    pub(super) lost_in_cycle: bool,
    /// End of the last round trip with marks, as a number of delivered or lost segments.
    round_until: u64,
}

impl Bounds {
    pub(super) const NONE: Self = Self {
        short_rate: f64::INFINITY,
        short_in_flight: f64::INFINITY,
        long_in_flight: f64::INFINITY,
    };

    /// Removes the short-term bounds (BBRResetShortTermModel).
    pub(super) fn reset_short(&mut self) {
        (self.short_rate, self.short_in_flight) = (f64::INFINITY, f64::INFINITY);
    }
}

impl Probe {
    /// Records if the window was full before an acknowledgement. `prior_in_flight` is the maximum number of segments in
    /// flight since the acknowledgement before.
    #[inline]
    pub(super) fn note_use_of_cwnd(&mut self, ack: &AckSample, prior_in_flight: f64, cwnd: f64) {
        if prior_in_flight + 1.0 > cwnd {
            self.cwnd_full_until = ack.delivered + ack.lost + ack.in_flight;
        }
    }

    /// Returns true if the window was full at any time in the last round trip (C.is_cwnd_limited, section 2.1).
    /// Otherwise, pacing, the application or the receiver limited the flow.
    #[inline]
    pub(super) fn is_cwnd_limited(&self, ack: &AckSample) -> bool {
        ack.delivered + ack.lost <= self.cwnd_full_until
    }
}

impl MinRtt {
    /// Postpones the next ProbeRTT by another interval, and the expiry of the smallest round-trip time.
    pub(super) fn put_off(&mut self, now: Time) {
        for (_, since) in [&mut self.rtt, &mut self.recent].into_iter().flatten() {
            *since = now;
        }
    }

    /// Replaces the smallest round-trip time by the last sample, so that ProbeRTT measures it again.
    pub(super) fn measure_anew(&mut self, ack: &AckSample) {
        if let (Some((rtt, _)), Some(last)) = (&mut self.rtt, ack.rtt) {
            *rtt = last;
            self.rtt_s = last.as_secs_f64();
        }
    }

    /// Updates both smallest round-trip times (BBRUpdateMinRTT, section 5.3.4.3).
    pub(super) fn update(&mut self, ack: &AckSample, interval: Span) {
        self.expired = self
            .recent
            .is_some_and(|(_, since)| ack.now > since + interval);
        if let Some(rtt) = ack.rtt
            && (self.expired || self.recent.is_none_or(|(recent, _)| rtt < recent))
        {
            self.recent = Some((rtt, ack.now));
        }
        let Some((recent, _)) = self.recent else {
            return;
        };
        let replace = |(min, since): (Span, Time)| recent < min || ack.now > since + MIN_RTT_AGE;
        if self.rtt.is_none_or(replace) {
            self.rtt = self.recent;
            self.rtt_s = recent.as_secs_f64();
        }
    }
}

impl Default for Aggregation {
    fn default() -> Self {
        Self {
            start: Time::ZERO,
            delivered: 0.0,
            extra: WindowedMax::new(),
        }
    }
}

impl Aggregation {
    /// Returns the state of ACK aggregation after the delivery of `newly` segments at `now` (BBRUpdateACKAggregation).
    /// `bandwidth` is in segments per second; `cwnd` is the maximum number of excess segments.
    #[inline]
    pub(super) fn with(&self, now: Time, newly: f64, bandwidth: f64, cwnd: f64) -> Aggregated {
        let expected = bandwidth * now.since(self.start).as_secs_f64();
        let beyond = self.delivered - expected;
        if beyond <= 0.0 {
            return Aggregated {
                start: now,
                delivered: newly,
                extra: smaller(newly, cwnd),
            };
        }
        Aggregated {
            start: self.start,
            delivered: self.delivered + newly,
            extra: smaller(beyond + newly, cwnd),
        }
    }

    /// Returns the state at `now`, the beginning of an interval of ACK aggregation, without excess segments.
    pub(super) fn none(now: Time) -> Aggregated {
        Aggregated {
            start: now,
            delivered: 0.0,
            extra: 0.0,
        }
    }

    /// Sets the beginning of the current interval of ACK aggregation, and the segments delivered in it.
    #[inline]
    pub(super) fn go_on(&mut self, aggregated: Aggregated) {
        (self.start, self.delivered) = (aggregated.start, aggregated.delivered);
    }
}

impl Signals {
    /// Raises the maximum rate and the maximum number of delivered segments to the values of a sample, if these are
    /// larger.
    #[inline(always)]
    pub(super) fn raise(&mut self, rate: RateSample, flight: Flight) {
        if !rate.is_below(self.rate) {
            self.rate = rate.per_second();
        }
        self.volume = flight.or_more(self.volume);
    }
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            eligible: false,
            high_rounds: 0,
            alpha: 1.0,
            share: 0.0,
            marked: 0.0,
            delivered: 0.0,
            seen: 0,
            in_cycle: false,
            lost_in_cycle: false,
            round_until: 0,
        }
    }
}

impl Marks {
    /// Records an acknowledgement with marks. If the acknowledgement does not count marks, all of its `newly` segments
    /// count as marked.
    pub(super) fn note(&mut self, ack: &AckSample, newly: f64) {
        let counted = ack.marked.map(|total| total - self.seen);
        self.marked += counted.map_or(newly, |count| count as f64);
        self.seen += counted.unwrap_or(0);
        self.in_cycle |= self.eligible;
        let answered = ack.delivered + ack.lost;
        if answered >= self.round_until {
            self.round_until = answered + ack.in_flight;
        }
    }

    /// Returns true if this cycle had marks and no losses, if the round trip that began with a mark is over (further
    /// marks do not prolong it), and if `ack` echoes no mark. (Linux checks instead that the connection is back in the
    /// state `TCP_CA_Open`.)
    pub(super) fn have_ceased(&self, ack: &AckSample) -> bool {
        let answered = ack.delivered + ack.lost;
        let over = !ack.ecn_echo && answered >= self.round_until;
        self.in_cycle && !self.lost_in_cycle && over
    }

    /// Resets the records of marks and losses at the beginning of a ProbeBW cycle.
    pub(super) fn begin_cycle(&mut self) {
        (self.in_cycle, self.lost_in_cycle) = (false, false);
    }

    /// Updates the fraction of marked segments at the end of a round.
    pub(super) fn end_round(&mut self) {
        if !self.eligible {
            return;
        }
        if self.delivered > 0.0 {
            self.share = smaller(self.marked / self.delivered, 1.0);
            self.alpha += ECN_GAIN * (self.share - self.alpha);
            let high = self.share >= ECN_THRESHOLD;
            self.high_rounds = if high { self.high_rounds + 1 } else { 0 };
        }
        (self.marked, self.delivered) = (0.0, 0.0);
    }

    /// Returns true if the fraction of marked segments in the last round shows that too many segments were in flight.
    pub(super) fn are_high(&self) -> bool {
        self.eligible && self.share > ECN_THRESHOLD
    }
}

impl Flight {
    #[cfg(test)]
    pub(super) const NONE: Self = Self {
        rate: None,
        rtt: Span::ZERO,
    };

    pub(super) fn of(ack: &AckSample) -> Self {
        Self {
            rate: ack.delivery_rate,
            rtt: ack.rtt.unwrap_or(ack.srtt),
        }
    }

    /// Returns the number of segments in the flight; 0 if it was not measured.
    pub(super) fn segments(self) -> f64 {
        self.rate.map_or(0.0, |rate| rate.segments_in(self.rtt))
    }

    /// Returns true if the last flight has fewer than `segments` segments, or was not measured.
    #[inline]
    pub(super) fn is_below(self, segments: f64) -> bool {
        self.rate
            .is_none_or(|rate| rate.has_fewer_in(self.rtt, segments))
    }

    /// Returns the flight or `segments`, whichever is larger.
    #[inline]
    pub(super) fn or_more(self, segments: f64) -> f64 {
        match self.rate {
            Some(rate) if !rate.has_fewer_in(self.rtt, segments) => rate.segments_in(self.rtt),
            _ => segments,
        }
    }
}
