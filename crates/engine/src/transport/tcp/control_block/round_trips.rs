//! Round-trip samples of acknowledgements: their choice, and their use by the estimator, the timers and the algorithm.
//!
//! Linux takes two samples from each acknowledgement, with the sender's clock alone (`tcp_clean_rtx_queue` and
//! `tcp_ack_update_rtt` of `net/ipv4/tcp_input.c`). The first newly acknowledged segment has waited longest. Its sample
//! is smoothed and sets the retransmission timer (`seq_rtt_us`, or `sack_rtt_us` if only selective acknowledgements
//! give a sample). The last segment gives the sample for the algorithm (`ca_rtt_us`: `pkts_acked`, rate samples). The
//! minimum round-trip time, which RACK uses, is that of the samples for the algorithm.
//!
//! Retransmitted segments give no sample. If a cumulative acknowledgement covers a retransmitted segment, no segment
//! that it covers gives a sample. If no segment gives a sample, the timestamp that a cumulative acknowledgement of new
//! data echoes gives both samples.
//!
//! QUIC takes one sample, the round-trip time of the last segment less the delay that the receiver reports (RFC 9002
//! section 5.3).

use longhaul_congestion::AckSample;
use longhaul_units::{Span, Time};

use super::ControlBlock;
use crate::config::RttSample;
use crate::transport::tcp::ack::Ack;
use crate::transport::tcp::rto::Timing;
use crate::transport::tcp::send_times::Ends;

/// A tick of the kernel's timestamps (`TCP_TS_HZ`).
const TICK: Span = Span::from_millis(1);

impl ControlBlock {
    /// Takes the round-trip sample of a cumulative acknowledgement.
    #[inline(always)]
    pub(super) fn sample_rtt(&mut self, ack: Ack, now: Time) {
        match self.rtt.timing {
            Timing::Echoes => {
                self.record_rtt(ack.stamp, now);
                self.rtt.end_backoff(&self.config.rto);
            }
            Timing::OneSegment if self.times_below(ack.next) => {
                let sent = self.stop_timing();
                self.rtt.end_backoff(&self.config.rto);
                self.record_rtt(sent, now);
            }
            Timing::OneSegment => {}
            Timing::Segments => self.sample_segments(ack, now),
        }
    }

    #[inline]
    fn record_rtt(&mut self, sent: Time, now: Time) {
        let rtt = self.rtt.sample(&self.config.rto, sent, now);
        self.trips.take(rtt);
    }

    /// Returns true if the timed segment is below `next`.
    #[inline]
    fn times_below(&self, next: u64) -> bool {
        self.timed_since != Time::NEVER && self.timed < next
    }

    /// Stops timing the current segment; returns its send time.
    #[inline]
    pub(super) fn stop_timing(&mut self) -> Time {
        std::mem::replace(&mut self.timed_since, Time::NEVER)
    }

    /// Stops timing the current segment without a sample, if it is below `next` (Karn's rule). In this case, also ends
    /// the timer's backoff.
    pub(super) fn end_timing_below(&mut self, next: u64) {
        if self.times_below(next) {
            self.stop_timing();
            self.rtt.end_backoff(&self.config.rto);
        }
    }

    /// Returns the send times of the first and the last segment that the current acknowledgement newly covers.
    #[inline]
    fn ends(&self) -> Option<Ends> {
        self.extras.as_ref()?.times.as_ref()?.ends()
    }

    /// Takes the round-trip sample of cumulatively acknowledged segments, if they give one.
    #[inline(never)]
    fn sample_segments(&mut self, ack: Ack, now: Time) {
        if let Some(ends) = self.ends() {
            let (first, last) = self.trips_of(ends, ack, now);
            self.take_segments(first, last);
        } else if ack.next == 1 {
            // Without segments in flight, the acknowledgement covers the SYN alone.
            let rtt = if self.times_below(ack.next) {
                now.since(self.stop_timing())
            } else if self.tells_copies_apart() {
                echoed(ack.stamp, now)
            } else {
                return;
            };
            self.take_segments(rtt, rtt);
        }
    }

    /// Returns true if an acknowledgement shows which transmission of a segment it answers: by a timestamp or, in QUIC,
    /// by the number of a packet. Without either, a retransmitted segment gives no sample (Karn's rule).
    fn tells_copies_apart(&self) -> bool {
        self.config.timestamps.bytes().is_some() || self.config.rtt_sample == RttSample::Reported
    }

    /// Returns the round-trip times of the first and the last newly acknowledged segment. If the receiver reports its
    /// delay, both values are that of the last segment, less this delay.
    #[inline]
    fn trips_of(&self, ends: Ends, ack: Ack, now: Time) -> (Span, Span) {
        let last = now.since(ends.last);
        if self.config.rtt_sample == RttSample::Reported {
            let undelayed = self.undelayed(last, ack);
            (undelayed, undelayed)
        } else {
            (now.since(ends.first), last)
        }
    }

    /// Returns `rtt` less the delay that the receiver reports in `ack`. Returns `rtt` itself if the difference is below
    /// the minimum round-trip time.
    fn undelayed(&self, rtt: Span, ack: Ack) -> Span {
        let delay = ack.reported_time().unwrap_or_default();
        if rtt < self.rtt.min_rtt() + delay {
            rtt
        } else {
            rtt.saturating_sub(delay)
        }
    }

    /// Updates the timeout with the first acknowledged segment's round-trip time, and the minimum with the last one's.
    /// Also ends the backoff of the timeout.
    fn take_segments(&mut self, first: Span, last: Span) {
        let config = &self.config.rto;
        self.rtt.smooth(config, first);
        self.rtt.lower_min_rtt(last);
        self.rtt.end_backoff(config);
        self.trips.take(first);
        self.rtt.sampled = true;
    }

    /// Adds round-trip times to `sample`, on a connection that times all segments. Also passes them to the estimator.
    /// If the estimator already has a sample from `ack`, only its minimum is updated.
    pub(super) fn complete_round_trip(&mut self, sample: &mut AckSample, ack: Ack) {
        let now = sample.now;
        let echoes = sample.acked > 0 && self.config.timestamps.bytes().is_some();
        let told = match self.ends() {
            Some(ends) => Some(self.trips_of(ends, ack, now)),
            None => echoes.then(|| echoed(ack.stamp, now)).map(|rtt| (rtt, rtt)),
        };
        let sampled = std::mem::take(&mut self.rtt.sampled);
        if let Some((first, last)) = told {
            if sampled {
                self.rtt.lower_min_rtt(last);
            } else {
                self.take_segments(first, last);
                self.rtt.sampled = false;
            }
        }
        sample.rtt = told.map(|(_, last)| last);
        sample.srtt = self.srtt();
        sample.min_rtt = self.rtt.min_rtt();
    }

    /// Stores the SYN's round-trip time in `sample`, the sample of the acknowledgement that completes the handshake.
    pub(super) fn complete_handshake(&mut self, sample: &mut AckSample) {
        sample.rtt = Some(self.srtt());
        self.rtt.sampled = false;
    }

    /// Returns true if an acknowledgement echoes a timestamp older than `sent`. On connections that time all segments,
    /// timestamps have the kernel's resolution of a tick.
    #[inline]
    pub(crate) fn echoes_before(&self, ack: Ack, sent: Time) -> bool {
        if self.rtt.timing == Timing::Segments {
            ticks(ack.stamp) < ticks(sent)
        } else {
            ack.stamp < sent
        }
    }
}

/// Returns the round-trip time given by a timestamp, in whole ticks and at least one (`tcp_rtt_tsopt_us`).
fn echoed(stamp: Time, now: Time) -> Span {
    TICK * (ticks(now) - ticks(stamp)).max(1)
}

fn ticks(time: Time) -> u64 {
    time.as_ps() / TICK.as_ps()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_tell_whole_milliseconds() {
        let us = |us| Time::ZERO + Span::from_micros(us);
        for (stamp, now, ms) in [(900, 41_100, 41), (1_000, 41_900, 40), (1_000, 1_500, 1)] {
            assert_eq!(echoed(us(stamp), us(now)), Span::from_millis(ms));
        }
    }
}
