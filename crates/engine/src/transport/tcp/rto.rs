//! Round-trip estimation and the retransmission timeout (RFC 6298).

use longhaul_units::{Span, Time};

use crate::config::{Rto, RttClock, RttSample, Tcp};

/// Source of round-trip samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timing {
    /// Timestamps that acknowledgements echo (RFC 7323 section 4).
    Echoes,
    /// One segment at a time, without timestamps.
    OneSegment,
    /// Send times of all segments (Linux, QUIC).
    Segments,
}

impl Timing {
    pub(crate) fn new(config: &Tcp) -> Self {
        match config.rtt_sample {
            RttSample::Last | RttSample::Reported => Self::Segments,
            RttSample::Echo if config.timestamps.bytes().is_some() => Self::Echoes,
            RttSample::Echo => Self::OneSegment,
        }
    }
}

/// Estimator of the round-trip time and the retransmission timeout. The configuration, which all connections of a group
/// share, is a parameter of the methods, so that the estimator stays small.
#[derive(Debug)]
pub(crate) struct RttEstimator {
    /// Smoothed round trip: in picoseconds or, with ns-2's clock, in eighths of a tick.
    srtt: i64,
    /// Variation of the round trip: in picoseconds or, with ns-2's clock, in quarters of a tick.
    rttvar: i64,
    /// Position of the host's clock within a tick at time zero (ns-2's `boot_time_`).
    phase: Span,
    /// The timeout without bounds and backoff.
    base: Span,
    /// The timeout with bounds and backoff, stored since it is read more often than it changes.
    timeout: Span,
    min_rtt: Span,
    /// Exponential backoff: the factor for the timeout.
    backoff: u32,
    /// True if `min_rtt` is provisional: the next sample replaces it, even if that is longer.
    min_rtt_stands_in: bool,
    pub(super) timing: Timing,
    /// True if the current acknowledgement has given a round-trip sample, on connections that time all segments.
    pub(super) sampled: bool,
}

/// Smallest timeout when data transmission begins after a lost SYN (RFC 6298 section 5.7).
const AFTER_LOST_SYN: Span = Span::from_secs(3);

/// Initial variation of the round-trip time with ns-2's clock, in quarters of a tick. Never used: the first sample
/// replaces it. (The value of `rttvar_init_` is 12 seconds.)
const NS2_INITIAL_RTTVAR: i64 = 12 << 2;

impl RttEstimator {
    /// Creates an estimator; `phase` is the position of the host's clock within a tick at time zero.
    pub(crate) fn new(config: &Rto, phase: Span) -> Self {
        let mut estimator = Self {
            srtt: 0,
            rttvar: match config.clock {
                RttClock::Exact { .. } => 0,
                RttClock::Ns2Ticks { .. } => NS2_INITIAL_RTTVAR,
            },
            phase,
            base: config.initial,
            timeout: Span::ZERO,
            min_rtt: Span::ZERO,
            backoff: 1,
            min_rtt_stands_in: true,
            timing: Timing::Echoes,
            sampled: false,
        };
        estimator.update_timeout(config);
        estimator
    }

    /// Sets the source of the round-trip samples.
    pub(crate) fn timed_by(self, timing: Timing) -> Self {
        Self { timing, ..self }
    }

    /// Adds the round-trip sample of a segment sent at `sent` (RFC 6298 section 2); returns the sample.
    #[inline]
    pub(crate) fn sample(&mut self, config: &Rto, sent: Time, now: Time) -> Span {
        let rtt = now.since(sent);
        self.lower_min_rtt(rtt);
        match config.clock {
            RttClock::Exact { granularity } => self.update_exactly(rtt, granularity),
            RttClock::Ns2Ticks { tick } => {
                let into_tick = (sent.as_ps() + self.phase.as_ps()) % tick.as_ps();
                let ticks = (((rtt.as_ps() + into_tick) / tick.as_ps()) as i64).max(1);
                self.update_ticks(ticks);
                self.base = tick * (((self.rttvar << 3) + self.srtt) >> 3) as u64;
            }
        }
        self.update_timeout(config);
        rtt
    }

    /// Updates the smoothed round-trip time, its variation and the timeout, but not the minimum. Does nothing with
    /// ns-2's clock, which would also need the send time.
    #[inline]
    pub(crate) fn smooth(&mut self, config: &Rto, rtt: Span) {
        if let RttClock::Exact { granularity } = config.clock {
            self.update_exactly(rtt, granularity);
            self.update_timeout(config);
        }
    }

    #[inline]
    fn update_exactly(&mut self, rtt: Span, granularity: Span) {
        self.update(rtt.as_ps() as i64);
        let margin = Span::from_ps(4 * self.rttvar as u64).max(granularity);
        self.base = Span::from_ps(self.srtt as u64) + margin;
    }

    /// Updates the minimum round-trip time only; returns it.
    #[inline]
    pub(crate) fn lower_min_rtt(&mut self, rtt: Span) -> Span {
        if rtt < self.min_rtt || self.min_rtt_stands_in {
            self.min_rtt = rtt;
            self.min_rtt_stands_in = false;
        }
        self.min_rtt
    }

    #[inline]
    fn update(&mut self, rtt_ps: i64) {
        if self.srtt == 0 {
            self.srtt = rtt_ps;
            self.rttvar = rtt_ps / 2;
        } else {
            let error = self.srtt.abs_diff(rtt_ps);
            // RFC 6298 section 2.3 with beta = 1/4 and alpha = 1/8.
            self.rttvar = ((3 * self.rttvar as u64 + error) / 4) as i64;
            self.srtt = ((7 * self.srtt as u64 + rtt_ps as u64) / 8) as i64;
        }
    }

    /// Updates the estimate with integer shifts, as ns-2's `rtt_update` does.
    fn update_ticks(&mut self, ticks: i64) {
        if self.srtt == 0 {
            self.srtt = ticks << 3;
            self.rttvar = ticks << 1;
            return;
        }
        let error = ticks - (self.srtt >> 3);
        self.srtt = (self.srtt + error).max(1);
        self.rttvar = (self.rttvar + error.abs() - (self.rttvar >> 2)).max(1);
    }

    /// Marks the minimum round-trip time as provisional: the next sample replaces it.
    pub(crate) fn replace_min_rtt(&mut self) {
        self.min_rtt_stands_in = true;
    }

    /// Returns the current timeout.
    #[inline]
    pub(crate) fn timeout(&self) -> Span {
        self.timeout
    }

    #[inline]
    fn update_timeout(&mut self, config: &Rto) {
        let timeout = self.base.max(config.min) * u64::from(self.backoff);
        self.timeout = timeout.min(config.max);
    }

    /// Doubles the timeout, up to the configured maximum (RFC 6298 section 5.5).
    pub(crate) fn back_off(&mut self, config: &Rto) {
        if self.timeout < config.max {
            self.backoff = self.backoff.saturating_mul(2);
            self.update_timeout(config);
        }
        if let RttClock::Ns2Ticks { .. } = config.clock
            && self.backoff > 8
        {
            // ns-2 restarts the mean. The next sample sets the variation, to which ns-2 adds the mean.
            self.srtt = 0;
        }
    }

    /// Sets the timeout to at least 3 s and ends its backoff, when data transmission begins after a lost SYN (RFC 6298
    /// section 5.7). Does nothing if the initial timeout is at least 3 s. Linux reinitialises the timeout only if
    /// timestamps gave no sample of the handshake (`tcp_init_metrics`).
    pub(crate) fn reinitialize(&mut self, config: &Rto) {
        if config.initial < AFTER_LOST_SYN {
            self.base = self.base.max(AFTER_LOST_SYN);
            self.backoff = 1;
            self.update_timeout(config);
        }
    }

    /// Ends the backoff, after an acknowledgement of new data.
    #[inline]
    pub(crate) fn end_backoff(&mut self, config: &Rto) {
        if self.backoff > 1 {
            self.backoff = 1;
            self.update_timeout(config);
        }
    }

    /// Returns the smoothed round-trip time, zero before the first sample. With ns-2's clock, it is also zero
    /// after the backoff has exceeded 8, until the next sample.
    #[inline]
    pub(crate) fn srtt(&self, config: &Rto) -> Span {
        match config.clock {
            RttClock::Exact { .. } => Span::from_ps(self.srtt as u64),
            RttClock::Ns2Ticks { tick } => tick * self.srtt as u64 / 8,
        }
    }

    /// Returns the minimum round-trip time, zero before the first sample.
    #[inline]
    pub(crate) fn min_rtt(&self) -> Span {
        self.min_rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn config(clock: RttClock) -> Rto {
        Rto {
            initial: Span::from_secs(1),
            min: Span::from_millis(200),
            max: Span::from_secs(60),
            clock,
        }
    }

    /// Adds a round-trip sample.
    fn sample(estimator: &mut RttEstimator, config: &Rto, ms: u64) {
        estimator.sample(config, Time::ZERO, Time::from_ps(ms * MS));
    }

    #[test]
    fn the_smallest_round_trip_is_a_data_segment_s() {
        let granularity = Span::from_millis(1);
        let config = config(RttClock::Exact { granularity });
        let mut rtt = RttEstimator::new(&config, Span::ZERO);
        sample(&mut rtt, &config, 90);
        rtt.replace_min_rtt();
        assert_eq!(rtt.min_rtt(), Span::from_millis(90));
        for (sampled, smallest) in [(100, 100), (95, 95), (120, 95)] {
            sample(&mut rtt, &config, sampled);
            assert_eq!(rtt.min_rtt(), Span::from_millis(smallest));
        }
    }

    #[test]
    fn follows_rfc_6298() {
        let config = config(RttClock::Exact {
            granularity: Span::from_millis(1),
        });
        let mut rtt = RttEstimator::new(&config, Span::ZERO);
        assert_eq!(rtt.timeout(), Span::from_secs(1));
        // RFC 6298 (2.2): SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 RTTVAR.
        sample(&mut rtt, &config, 100);
        assert_eq!(rtt.timeout(), Span::from_millis(300));
        // RFC 6298 (2.3): RTTVAR = 3/4 50 + 1/4 |100 - 180| = 57.5; SRTT = 7/8 100 + 1/8 180 = 110.
        sample(&mut rtt, &config, 180);
        assert_eq!(rtt.srtt(&config), Span::from_millis(110));
        assert_eq!(rtt.timeout(), Span::from_millis(340));
        rtt.back_off(&config);
        assert_eq!(rtt.timeout(), Span::from_millis(680));
        rtt.end_backoff(&config);
        for _ in 0..100 {
            sample(&mut rtt, &config, 100);
        }
        // RTTVAR decreases towards zero, so that the minimum timeout applies.
        assert_eq!(rtt.timeout(), Span::from_millis(200));
        for _ in 0..20 {
            rtt.back_off(&config);
        }
        assert_eq!(rtt.timeout(), Span::from_secs(60));
    }

    /// RFC 6298 section 5.7: if the timer expired for the SYN, a timeout below 3 s is raised to 3 s when data
    /// transmission begins. A longer timeout keeps its backoff.
    #[test]
    fn a_lost_syn_begins_again_with_three_seconds() {
        let granularity = Span::from_millis(1);
        for (initial_ms, after_ms) in [
            (1_000, 3_000),
            (2_999, 3_000),
            (3_000, 6_000),
            (4_000, 8_000),
        ] {
            let config = Rto {
                initial: Span::from_millis(initial_ms),
                ..config(RttClock::Exact { granularity })
            };
            let mut rtt = RttEstimator::new(&config, Span::ZERO);
            rtt.back_off(&config);
            assert_eq!(rtt.timeout(), Span::from_millis(2 * initial_ms));
            rtt.reinitialize(&config);
            assert_eq!(rtt.timeout(), Span::from_millis(after_ms));
        }
    }

    #[test]
    fn counts_ticks_as_ns2_does() {
        let config = config(RttClock::Ns2Ticks {
            tick: Span::from_millis(10),
        });
        let mut rtt = RttEstimator::new(&config, Span::ZERO);
        // 104 ms are 10 whole ticks. srtt is 80 eighths, rttvar is 20 quarters, and the RTO is 10 + 4*5 ticks.
        sample(&mut rtt, &config, 104);
        assert_eq!(rtt.srtt(&config), Span::from_millis(100));
        assert_eq!(rtt.timeout(), Span::from_millis(300));
        // After a sample of 12 ticks, the error is 2, srtt is 82, rttvar is 20 + 2 - 5 = 17, and the RTO is ((17<<3) +
        // 82) >> 3 = 27 ticks.
        sample(&mut rtt, &config, 120);
        assert_eq!(rtt.timeout(), Span::from_millis(270));
    }

    /// A round trip of 4 ms within one tick of 10 ms counts as one tick (ns-2.35, `TcpAgent::rtt_update`).
    #[test]
    fn a_round_trip_within_a_tick_takes_one() {
        let config = config(RttClock::Ns2Ticks {
            tick: Span::from_millis(10),
        });
        let mut rtt = RttEstimator::new(&config, Span::ZERO);
        sample(&mut rtt, &config, 4);
        assert_eq!(rtt.srtt(&config), Span::from_millis(10));
    }

    /// ns-2.35, `TcpAgent::rtt_backoff`: once the backoff exceeds eight, the next sample counts as the first one. Then
    /// srtt is 96 eighths of a tick, rttvar is 24 quarters, and the RTO is (24 * 8 + 96) / 8 = 36 ticks.
    #[test]
    fn ns2_s_mean_starts_over_after_four_back_offs() {
        let config = config(RttClock::Ns2Ticks {
            tick: Span::from_millis(10),
        });
        let mut rtt = RttEstimator::new(&config, Span::ZERO);
        sample(&mut rtt, &config, 104);
        for (back_offs, mean) in [(3, 100), (1, 0)] {
            (0..back_offs).for_each(|_| rtt.back_off(&config));
            assert_eq!(rtt.srtt(&config), Span::from_millis(mean));
        }
        sample(&mut rtt, &config, 120);
        rtt.end_backoff(&config);
        assert_eq!(rtt.srtt(&config), Span::from_millis(120));
        assert_eq!(rtt.timeout(), Span::from_millis(360));
    }
}
