//! Round-trip estimation and the retransmission timeout (RFC 6298).

use longhaul_units::{Span, Time};

use crate::config::{Rto, RttClock};

/// Estimates the round trip and computes the timeout.
#[derive(Debug)]
pub(crate) struct RttEstimator {
    config: Rto,
    estimate: Estimate,
    /// Exponential backoff: the timeout is multiplied by this.
    backoff: u64,
    /// The timeout before backoff.
    base: Span,
    /// The timeout: it is asked for more often than it changes.
    timeout: Span,
    min_rtt: Span,
    /// Whether the next sample replaces `min_rtt`, however long it is.
    min_rtt_stands_in: bool,
}

/// Smoothed round trip and its variation.
#[derive(Debug)]
enum Estimate {
    /// Exact, in picoseconds.
    Exact {
        srtt: Span,
        rttvar: Span,
        granularity: Span,
    },
    /// ns-2's integers: `srtt` in eighths, `rttvar` in quarters of a tick.
    Ticks {
        srtt: i64,
        rttvar: i64,
        tick: Span,
        phase: Span,
    },
}

/// ns-2 starts from a variation of 12 ticks (`rttvar_init_`), in quarters.
const NS2_INITIAL_RTTVAR: i64 = 12 << 2;

impl RttEstimator {
    /// `phase` is where in a tick the host's clock stands at time zero (ns-2's `boot_time_`).
    pub(crate) fn new(config: Rto, phase: Span) -> Self {
        let estimate = match config.clock {
            RttClock::Exact { granularity } => Estimate::Exact {
                srtt: Span::ZERO,
                rttvar: Span::ZERO,
                granularity,
            },
            RttClock::Ns2Ticks { tick } => Estimate::Ticks {
                srtt: 0,
                rttvar: NS2_INITIAL_RTTVAR,
                tick,
                phase,
            },
        };
        let mut estimator = Self {
            config,
            estimate,
            backoff: 1,
            base: config.initial,
            timeout: Span::ZERO,
            min_rtt: Span::ZERO,
            min_rtt_stands_in: true,
        };
        estimator.update_timeout();
        estimator
    }

    /// Takes a round-trip sample of a segment sent at `sent` (RFC 6298 section 2).
    #[inline]
    pub(crate) fn sample(&mut self, sent: Time, now: Time) -> Span {
        let rtt = now.since(sent);
        if rtt < self.min_rtt || self.min_rtt_stands_in {
            self.min_rtt = rtt;
            self.min_rtt_stands_in = false;
        }
        match &mut self.estimate {
            Estimate::Exact {
                srtt,
                rttvar,
                granularity,
            } => {
                if *srtt == Span::ZERO {
                    *srtt = rtt;
                    *rttvar = rtt / 2;
                } else {
                    let error = srtt.as_ps().abs_diff(rtt.as_ps());
                    // beta = 1/4, alpha = 1/8.
                    *rttvar = Span::from_ps((3 * rttvar.as_ps() + error) / 4);
                    *srtt = Span::from_ps((7 * srtt.as_ps() + rtt.as_ps()) / 8);
                }
                self.base = *srtt + (*rttvar * 4).max(*granularity);
            }
            Estimate::Ticks {
                srtt,
                rttvar,
                tick,
                phase,
            } => {
                let into_tick = (sent.as_ps() + phase.as_ps()) % tick.as_ps();
                let ticks = (((rtt.as_ps() + into_tick) / tick.as_ps()) as i64).max(1);
                update_ticks(srtt, rttvar, ticks);
                self.base = *tick * (((*rttvar << 3) + *srtt) >> 3) as u64;
            }
        }
        self.update_timeout();
        rtt
    }

    /// The smallest round trip stands until the next sample only.
    pub(crate) fn replace_min_rtt(&mut self) {
        self.min_rtt_stands_in = true;
    }

    /// The current timeout.
    #[inline]
    pub(crate) fn timeout(&self) -> Span {
        self.timeout
    }

    #[inline]
    fn update_timeout(&mut self) {
        let timeout = self.base.max(self.config.min) * self.backoff;
        self.timeout = timeout.min(self.config.max);
    }

    /// Doubles the timeout (RFC 6298 section 5.5).
    pub(crate) fn back_off(&mut self) {
        if self.timeout < self.config.max {
            self.backoff *= 2;
            self.update_timeout();
        }
        if let Estimate::Ticks { srtt, rttvar, .. } = &mut self.estimate
            && self.backoff > 8
        {
            // ns-2 keeps what it knew in the variation and starts the mean over.
            *rttvar += *srtt >> 3;
            *srtt = 0;
        }
    }

    /// Ends the backoff: an acknowledgement of new data came.
    #[inline]
    pub(crate) fn end_backoff(&mut self) {
        if self.backoff > 1 {
            self.backoff = 1;
            self.update_timeout();
        }
    }

    /// Smoothed round trip, zero before the first sample.
    #[inline]
    pub(crate) fn srtt(&self) -> Span {
        match self.estimate {
            Estimate::Exact { srtt, .. } => srtt,
            Estimate::Ticks { srtt, tick, .. } => tick * srtt as u64 / 8,
        }
    }

    /// Smallest round trip, zero before the first sample.
    #[inline]
    pub(crate) fn min_rtt(&self) -> Span {
        self.min_rtt
    }
}

/// ns-2's update with shifts, as its `rtt_update`.
fn update_ticks(srtt: &mut i64, rttvar: &mut i64, ticks: i64) {
    if *srtt == 0 {
        *srtt = ticks << 3;
        *rttvar = ticks << 1;
        return;
    }
    let error = ticks - (*srtt >> 3);
    *srtt = (*srtt + error).max(1);
    *rttvar = (*rttvar + error.abs() - (*rttvar >> 2)).max(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn estimator(clock: RttClock) -> RttEstimator {
        let config = Rto {
            initial: Span::from_secs(1),
            min: Span::from_millis(200),
            max: Span::from_secs(60),
            clock,
        };
        RttEstimator::new(config, Span::ZERO)
    }

    fn sample(estimator: &mut RttEstimator, ms: u64) {
        estimator.sample(Time::ZERO, Time::from_ps(ms * MS));
    }

    #[test]
    fn the_smallest_round_trip_is_a_data_segment_s() {
        let granularity = Span::from_millis(1);
        let mut rtt = estimator(RttClock::Exact { granularity });
        sample(&mut rtt, 90);
        rtt.replace_min_rtt();
        assert_eq!(rtt.min_rtt(), Span::from_millis(90));
        for (sampled, smallest) in [(100, 100), (95, 95), (120, 95)] {
            sample(&mut rtt, sampled);
            assert_eq!(rtt.min_rtt(), Span::from_millis(smallest));
        }
    }

    #[test]
    fn follows_rfc_6298() {
        let mut rtt = estimator(RttClock::Exact {
            granularity: Span::from_millis(1),
        });
        assert_eq!(rtt.timeout(), Span::from_secs(1));
        // (2.2): SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 RTTVAR.
        sample(&mut rtt, 100);
        assert_eq!(rtt.timeout(), Span::from_millis(300));
        // (2.3): RTTVAR = 3/4 50 + 1/4 |100 - 180| = 57.5; SRTT = 7/8 100 + 1/8 180 = 110.
        sample(&mut rtt, 180);
        assert_eq!(rtt.srtt(), Span::from_millis(110));
        assert_eq!(rtt.timeout(), Span::from_millis(340));
        rtt.back_off();
        assert_eq!(rtt.timeout(), Span::from_millis(680));
        rtt.end_backoff();
        for _ in 0..100 {
            sample(&mut rtt, 100);
        }
        // RTTVAR decays towards zero, so the minimum holds.
        assert_eq!(rtt.timeout(), Span::from_millis(200));
        for _ in 0..20 {
            rtt.back_off();
        }
        assert_eq!(rtt.timeout(), Span::from_secs(60));
    }

    #[test]
    fn counts_ticks_as_ns2_does() {
        let mut rtt = estimator(RttClock::Ns2Ticks {
            tick: Span::from_millis(10),
        });
        // 104 ms are 10 whole ticks: srtt 80 eighths, rttvar 20 quarters, RTO 10 + 4*5 ticks.
        sample(&mut rtt, 104);
        assert_eq!(rtt.srtt(), Span::from_millis(100));
        assert_eq!(rtt.timeout(), Span::from_millis(300));
        // 12 ticks: error 2; srtt 82; rttvar 20 + 2 - 5 = 17; RTO ((17<<3) + 82) >> 3 = 27 ticks.
        sample(&mut rtt, 120);
        assert_eq!(rtt.timeout(), Span::from_millis(270));
    }
}
