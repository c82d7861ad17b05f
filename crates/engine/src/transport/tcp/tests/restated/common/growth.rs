//! Reports of acknowledgements to the algorithm, and the growth of the window.

use longhaul_congestion::{AckSample, Limit, Phase};
use longhaul_units::Span;

use super::{Algorithm, Connection, Report};
use crate::config::AckCounting;

impl Connection {
    /// Reports to [`Algorithm::Controlling`] a processed acknowledgement that arrived in a recovery or began one.
    pub(in super::super) fn report_in_recovery(&mut self, sample: &AckSample) {
        if self.algorithm == Algorithm::Controlling {
            self.told.push(format!("{:?} {sample:?}", Phase::Recovery));
        }
    }

    /// Reports to the algorithm an acknowledgement that does not enlarge the window.
    pub(in super::super) fn report(&mut self, sample: &AckSample) {
        if self.algorithm == Algorithm::Controlling {
            return;
        }
        let phase = if self.came_in_recovery {
            Phase::Recovery
        } else {
            Phase::NoGrowth
        };
        self.told.push(format!("{phase:?} {sample:?}"));
    }

    /// Returns the growth credit of an acknowledgement in segments (RFC 3465; Linux counts newly delivered segments).
    fn credit(&self, acked: u64) -> f64 {
        match self.config.ack_counting {
            AckCounting::PerAck => 1.0,
            AckCounting::Delivered => (self.delivered - self.delivered_before) as f64,
            AckCounting::PerSegment { .. } if self.cwnd >= self.ssthresh => acked as f64,
            AckCounting::PerSegment { slow_start_limit } => {
                let limit = if self.repairs_timeout() {
                    1.0
                } else {
                    slow_start_limit
                };
                (acked as f64).min(limit)
            }
        }
    }

    pub(in super::super) fn sample_of(
        &mut self,
        acked: u64,
        in_flight: u64,
        report: &Report,
    ) -> AckSample {
        let stamps = self.config.timestamps.bytes();
        let mut sample = AckSample {
            now: self.now,
            acked,
            delivered: self.delivered,
            lost: self.lost,
            credit: self.credit(acked),
            rtt: stamps.map(|_| self.now.since(report.stamp)),
            srtt: Span::from_ps(self.srtt),
            min_rtt: self.min_rtt,
            ecn_echo: report.echoes,
            in_flight,
            limit: self.limit,
            round: self.round,
            round_start: std::mem::take(&mut self.round_start),
            segment_bytes: 1500 + u64::from(stamps.unwrap_or(0)),
            ..AckSample::ONE_SEGMENT
        };
        if let Some(measures) = &mut self.measures
            && let Some(rtt) = measures.complete(&mut sample, stamps.is_none())
        {
            self.lower_min_rtt(rtt);
            sample.min_rtt = self.min_rtt;
        }
        sample
    }

    /// Processes an acknowledgement of new data outside recovery.
    pub(in super::super) fn grow(&mut self, sample: &AckSample) {
        let before = sample.in_flight + sample.acked;
        if self.algorithm == Algorithm::Controlling {
            self.told.push(format!("{:?} {sample:?}", Phase::Avoidance));
            self.cwnd += sample.credit / self.cwnd;
            return;
        }
        if self.growth_is_held(sample.ecn_echo, before) {
            self.told.push(format!("{:?} {sample:?}", Phase::NoGrowth));
            return;
        }
        let room = self.ssthresh - self.cwnd;
        let taken = if room > 0.0 {
            sample.credit.min(room.ceil())
        } else {
            0.0
        };
        let left = sample.credit - taken;
        // A fraction of a segment beyond the threshold does not count as left over.
        if room > 0.0 && left == 0.0 {
            self.told.push(format!("{:?} {sample:?}", Phase::SlowStart));
        }
        self.cwnd += taken;
        if left > 0.0 || room <= 0.0 {
            let rest = AckSample {
                credit: left,
                ..*sample
            };
            self.told.push(format!("{:?} {rest:?}", Phase::Avoidance));
            self.cwnd += left / self.cwnd;
        }
    }

    /// Returns true if the window must not grow: the acknowledgement echoes a mark (`echoes`), the congestion window
    /// does not limit the sender, or the sender has a non-standard algorithm and used less than half of the window (RFC
    /// 7661 section 4.3).
    fn growth_is_held(&mut self, echoes: bool, flight: u64) -> bool {
        let limited = self.limit != Limit::Network && !self.ns2;
        let slack = self.algorithm != Algorithm::Standard && !self.ns2;
        if echoes || limited || slack {
            if self.round != self.peaks.0 {
                self.peaks = (self.round, 0, self.peaks.1);
            }
            self.peaks.1 = self.peaks.1.max(flight);
        }
        let used = 2.0 * self.peaks.1.max(self.peaks.2) as f64 >= self.cwnd;
        let repairs = self.repairs_timeout();
        // During retransmissions after a timeout, a window of which half has been used may grow.
        (echoes || limited) && !(used && repairs) || slack && !used && !repairs
    }
}
