//! Additions of the Linux kernel to BBR version 1 (Linux 6.18, `net/ipv4/tcp_bbr.c`): an allowance for ACK aggregation,
//! and the detection of traffic policers. The kernel also paces at 99 % of the rate, rounds the target of segments in
//! flight to an even number, and probes for the round-trip time even if recent samples equal the smallest one.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use crate::algorithms::bbr::{larger, smaller};

/// Pacing rate as a fraction of the computed rate (`bbr_pacing_margin_percent`).
pub(super) const PACING_MARGIN: f64 = 0.99;

/// Number of segments in flight that the probing phase adds to the target (`bbr_quantization_budget`).
pub(super) const PROBING_BUDGET: f64 = 2.0;

/// Length of a period in round trips. The estimate of ACK aggregation is the largest excess in the current and the
/// previous period (`bbr_extra_acked_win_rtts`).
const EXCESS_ROUNDS: u32 = 5;

/// Upper bound of the allowance for ACK aggregation, in seconds: the allowance is at most the number of segments that
/// the estimated bandwidth delivers in `EXCESS_S` (`bbr_extra_acked_max_us`).
const EXCESS_S: f64 = 0.1;

/// Minimum ratio of lost to delivered segments in an interval that indicates a policer (`bbr_lt_loss_thresh`).
const POLICED_LOSS: f64 = 50.0 / 256.0;

/// Minimum and maximum length, in round trips, of an interval that measures the rate of a policer.
const INTERVAL: (u32, u32) = (4, 16);

/// Maximum difference between the rates of two intervals that count as equal, as a fraction of the earlier rate
/// (`bbr_lt_bw_ratio`).
const RATIO: f64 = 1.0 / 8.0;
/// Maximum difference between the rates of two intervals that count as equal, in bits per second (`bbr_lt_bw_diff`).
/// Rates within `RATIO` also count as equal.
const DIFFERENCE_BPS: f64 = 4000.0;

/// Number of round trips during which BBR uses the rate of a policer (`bbr_lt_bw_max_rtts`).
const POLICED_ROUNDS: u32 = 48;

/// State of the kernel's two additions: ACK aggregation, and the detection of policers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Kernel {
    pub(super) aggregation: Aggregation,
    pub(super) policer: Policer,
}

/// Estimate of ACK aggregation: the number of acknowledged segments above those expected at the estimated bandwidth
/// (`bbr_update_ack_aggregation`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Aggregation {
    /// Start of the interval in which more segments are acknowledged than the estimated bandwidth delivers.
    since: Time,
    /// Number of segments acknowledged from `since` on.
    acked: f64,
    /// Largest excess of acknowledged segments over those expected at the estimated bandwidth: in the current period of
    /// `EXCESS_ROUNDS` rounds, and in the previous period.
    most: [f64; 2],
    rounds: u32,
}

impl Aggregation {
    /// Updates the estimate of ACK aggregation after `acked` newly acknowledged segments. `bandwidth` is the estimated
    /// bandwidth in segments per second.
    pub(super) fn on_ack(
        &mut self,
        acked: f64,
        round_start: bool,
        bandwidth: f64,
        cwnd: f64,
        now: Time,
    ) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= EXCESS_ROUNDS {
                self.rounds = 0;
                self.most = [0.0, self.most[0]];
            }
        }
        let mut expected = (bandwidth * now.since(self.since).as_secs_f64()).floor();
        if self.acked <= expected {
            (self.since, self.acked, expected) = (now, 0.0, 0.0);
        }
        self.acked += acked;
        self.most[0] = larger(self.most[0], smaller(self.acked - expected, cwnd));
    }

    /// Returns the allowance for ACK aggregation, in segments, which is added to the target of segments in flight
    /// (`bbr_ack_aggregation_cwnd`). `bandwidth` is in segments per second.
    pub(super) fn room(&self, bandwidth: f64) -> f64 {
        smaller(
            larger(self.most[0], self.most[1]),
            (bandwidth * EXCESS_S).floor(),
        )
    }
}

/// Detection of a policer, a token bucket that drops packets above its rate (`bbr_lt_bw_sampling`). A policer is
/// detected if two successive intervals with many losses have similar delivery rates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Policer {
    sampling: bool,
    /// Delivery rate of the last interval with many losses, in segments per second; zero if there was none. Once a
    /// policer is detected: mean rate of the two intervals that have shown it.
    rate: f64,
    in_use: bool,
    rounds: u32,
    /// Beginning of the current sampling interval.
    since: Time,
    /// Number of segments delivered by the beginning of the current interval.
    delivered: u64,
    /// Number of segments lost by the beginning of the current interval.
    lost: u64,
}

/// Values of an acknowledgement that the detection of a policer uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckReport {
    pub(super) now: Time,
    /// Number of the flow's segments delivered so far.
    pub(super) delivered: u64,
    /// Number of the flow's segments lost so far.
    pub(super) lost: u64,
    /// True if this acknowledgement reports losses.
    pub(super) newly_lost: bool,
    pub(super) round_start: bool,
    pub(super) limited: bool,
    pub(super) segment_bits: f64,
}

impl Policer {
    /// Returns the rate of the policer; `None` if no policer is detected.
    pub(super) fn rate(&self) -> Option<f64> {
        self.in_use.then_some(self.rate)
    }

    /// Processes an acknowledgement. Forgets the policer, and returns true, if its rate has been used for
    /// `POLICED_ROUNDS` round trips of the gain cycle. `cycling` is true during the gain cycle.
    pub(super) fn on_ack(&mut self, report: AckReport, cycling: bool) -> bool {
        if self.in_use {
            self.rounds += u32::from(cycling && report.round_start);
            let over = self.rounds >= POLICED_ROUNDS;
            if over {
                self.reset(report);
            }
            return over;
        }
        if !self.sampling {
            if !report.newly_lost {
                return false;
            }
            self.begin_interval(report);
            self.sampling = true;
        }
        self.rounds += u32::from(report.round_start);
        if report.limited || self.rounds > INTERVAL.1 {
            self.reset(report);
        } else if report.newly_lost && self.rounds >= INTERVAL.0 {
            self.end_interval(report);
        }
        false
    }

    /// Ends the measuring interval if enough of its segments were lost to indicate a policer.
    fn end_interval(&mut self, report: AckReport) {
        let delivered = (report.delivered - self.delivered) as f64;
        let lost = (report.lost - self.lost) as f64;
        let seconds = report.now.since(self.since).as_secs_f64();
        if delivered == 0.0 || lost < POLICED_LOSS * delivered || seconds < 1e-3 {
            return;
        }
        let rate = delivered / seconds;
        let difference = (rate - self.rate).abs();
        let agrees =
            difference <= RATIO * self.rate || difference * report.segment_bits <= DIFFERENCE_BPS;
        if self.rate > 0.0 && agrees {
            self.rate = (self.rate + rate) / 2.0;
            self.in_use = true;
            self.rounds = 0;
        } else {
            self.rate = rate;
            self.begin_interval(report);
        }
    }

    fn begin_interval(&mut self, report: AckReport) {
        self.since = report.now;
        (self.delivered, self.lost) = (report.delivered, report.lost);
        self.rounds = 0;
    }

    fn reset(&mut self, report: AckReport) {
        *self = Self::default();
        self.begin_interval(report);
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Span;

    use super::super::{Bbr, ENTRY, State};
    use super::*;
    use crate::facts::AckSample;
    use crate::parameter::Variant;

    fn bbr(variant: Variant) -> Bbr {
        Bbr::new(&ENTRY.settings(variant, &[]).unwrap())
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Checks that the allowance for ACK aggregation follows the largest excess of acknowledged segments over those
    /// expected at 1000 segments per second.
    #[test]
    fn what_is_acknowledged_at_once_has_room() {
        let mut aggregation = Aggregation::default();
        let steady = |aggregation: &mut Aggregation, from_ms: u64, count: u64| {
            for n in 1..=count {
                let starts = n % 100 == 0;
                aggregation.on_ack(1.0, starts, 1000.0, 1e6, ms(from_ms + n));
            }
        };
        steady(&mut aggregation, 0, 300);
        assert_eq!(aggregation.room(1000.0), 1.0);
        // The burst begins a new epoch, so that all of its segments are excess.
        aggregation.on_ack(40.0, false, 1000.0, 1e6, ms(320));
        assert_eq!(aggregation.room(1000.0), 40.0);
        // Of the 80 segments since then, 20 are expected.
        aggregation.on_ack(40.0, false, 1000.0, 1e6, ms(340));
        assert_eq!(aggregation.room(1000.0), 60.0);
        // The excess is limited to the window, and the allowance to the segments of 100 ms.
        aggregation.on_ack(200.0, false, 1000.0, 150.0, ms(341));
        assert_eq!(aggregation.room(1000.0), 100.0);
        assert_eq!(aggregation.most[0], 150.0, "the window");
        // The excess is forgotten after five to ten round trips without bursts.
        steady(&mut aggregation, 10_000, 600);
        assert_eq!(aggregation.room(1000.0), 100.0);
        steady(&mut aggregation, 20_000, 100);
        assert_eq!(aggregation.room(1000.0), 1.0);
    }

    /// Passes rounds of 100 ms to `policer`. Each element of `of` has the numbers of segments delivered and lost in a
    /// round. Returns the policer's rate after each round.
    fn rounds(policer: &mut Policer, of: &[(u64, u64)]) -> Vec<Option<f64>> {
        let (mut delivered, mut lost) = (0, 0);
        let round = |(number, &(more, less)): (usize, &(u64, u64))| {
            (delivered, lost) = (delivered + more, lost + less);
            policer.on_ack(
                AckReport {
                    now: ms(100 * number as u64),
                    delivered,
                    lost,
                    newly_lost: less > 0,
                    round_start: true,
                    limited: false,
                    segment_bits: 12_000.0,
                },
                true,
            );
            policer.rate()
        };
        of.iter().enumerate().map(round).collect()
    }

    /// Checks that two intervals with many losses and similar rates indicate a policer. The rates of 100 and 108
    /// segments per round differ by less than an eighth. Each interval ends after four rounds, with losses of more than
    /// a fifth of the delivered segments. The policer's rate is then used for 48 rounds.
    #[test]
    fn two_intervals_with_losses_and_one_rate_are_a_policer_s() {
        let mut policer = Policer::default();
        let mut report = vec![(100, 0), (100, 10)];
        report.extend([(100, 30); 3]);
        report.extend([(108, 30); 4]);
        let rates = rounds(&mut policer, &report);
        assert_eq!(rates[..report.len() - 1], vec![None; report.len() - 1]);
        assert_eq!(rates.last(), Some(&Some(1040.0)));
        let mut policer = Policer::default();
        report.extend([(100, 0); 48]);
        let rates = rounds(&mut policer, &report);
        assert_eq!(rates[rates.len() - 2..], [Some(1040.0), None]);
    }

    /// Checks that no policer is detected if losses are few, or if the rates of the intervals differ. The few losses
    /// are 19 % of the delivered segments; the threshold is 19.5 %.
    #[test]
    fn few_losses_and_different_rates_are_not() {
        let few = [(100, 19); 40];
        assert!(
            rounds(&mut Policer::default(), &few)
                .iter()
                .all(Option::is_none)
        );
        let rates: Vec<_> = (0..10).flat_map(|n| [(100 * (1 + n % 2), 60); 4]).collect();
        assert!(
            rounds(&mut Policer::default(), &rates)
                .iter()
                .all(Option::is_none)
        );
    }

    /// Checks that a sample equal to the smallest round-trip time postpones ProbeRTT in the draft, not in the kernel.
    #[test]
    fn an_equal_sample_does_not_put_the_probe_off() {
        for (variant, expired) in [(Variant::Paper, false), (Variant::Linux6_18, true)] {
            let mut bbr = bbr(variant);
            let mut expires_at = |at| {
                bbr.update_min_rtt(&AckSample {
                    now: ms(at),
                    rtt: Some(Span::from_millis(100)),
                    ..AckSample::ONE_SEGMENT
                })
            };
            assert!(!expires_at(0) && !expires_at(9_000));
            assert_eq!(expires_at(11_000), expired, "{variant:?}");
        }
    }

    /// The kernel measures ages in ticks of 4 ms. An age of ten seconds and 3 ms therefore does not exceed ten seconds;
    /// an age of ten seconds and 4 ms does.
    #[test]
    fn ages_are_in_ticks() {
        for (variant, expired) in [(Variant::Paper, true), (Variant::Linux6_18, false)] {
            let mut bbr = bbr(variant);
            let mut expires_at = |at| {
                bbr.update_min_rtt(&AckSample {
                    now: ms(at),
                    rtt: Some(Span::from_millis(100 + at)),
                    ..AckSample::ONE_SEGMENT
                })
            };
            assert!(!expires_at(100));
            assert_eq!(expires_at(10_103), expired, "{variant:?}");
            assert_eq!(expires_at(10_104), !expired, "{variant:?}");
        }
    }

    /// Checks that the target of segments in flight is whole and even. The target includes three bursts and an
    /// allowance for ACK aggregation, and in the probing phase two more segments.
    #[test]
    fn what_is_in_flight_is_whole_and_even() {
        let mut bbr = bbr(Variant::Linux6_18);
        bbr.min_rtt = Some((Span::from_millis(100), Time::ZERO));
        bbr.min_rtt_s = 0.1;
        // 10.5 segments are rounded up to 11; three bursts of one segment make it 14.
        assert_eq!(bbr.with_budget(1.0, 105.0, 0.0), 14.0);
        assert_eq!(bbr.with_budget(1.0, 105.0, 4.0), 18.0);
        assert_eq!(bbr.with_budget(1.0, 111.0, 0.0), 16.0, "of 15");
        bbr.state = State::ProbeBw;
        assert_eq!(bbr.with_budget(1.0, 105.0, 0.0), 16.0);
        bbr.phase = 1;
        assert_eq!(bbr.with_budget(1.0, 105.0, 0.0), 14.0);
    }
}
