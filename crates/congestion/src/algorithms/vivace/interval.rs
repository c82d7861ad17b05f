//! Monitor intervals: periods with one sending rate, and the deliveries and losses of the segments sent in them.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::facts::AckSample;

/// Minimum number of segments in an interval, whatever time they take (PCC-Uspace, branch NSDI-2018, core.cpp).
const MIN_SEGMENTS: u64 = 10;
/// Minimum ratio of the data sent in an interval to the product of rate and duration. With a smaller ratio, the rate
/// did not limit the sender.
const SENT: f64 = 0.9;
/// Slopes of the round-trip time with a smaller absolute value are considered noise (section 4.3).
const NOISE: f64 = 0.01;

/// Numbers of the connection's segments that are known to be delivered and to be lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counts {
    pub delivered: u64,
    pub lost: u64,
}

impl Counts {
    pub fn of(ack: &AckSample) -> Self {
        Self {
            delivered: ack.delivered,
            lost: ack.lost,
        }
    }

    fn sum(self) -> u64 {
        self.delivered + self.lost
    }
}

/// Returns the size of a segment in megabits.
pub(super) fn mbit(ack: &AckSample) -> f64 {
    8.0 * ack.segment_bytes as f64 / 1e6
}

/// Returns the number of segments sent so far, retransmissions included.
pub(super) fn sent(ack: &AckSample) -> u64 {
    Counts::of(ack).sum() + ack.in_flight
}

/// One monitor interval. The transport reports total numbers of deliveries and losses. The number of lost segments of
/// an interval is the difference between two of these totals, so a loss detected late counts for a later interval.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Interval {
    /// Rate chosen for the interval, in Mbit/s.
    pub rate: f64,
    start: Time,
    end: Time,
    /// Number of segments sent before the interval.
    first: u64,
    /// Number of segments sent by the end of the interval.
    last: u64,
    /// Numbers of delivered and lost segments just before the first segment of the interval was delivered or lost;
    /// `None` until then.
    before: Option<Counts>,
    rtts: Regression,
    /// True if nothing other than the chosen rate limited the sender in the interval.
    pub used: bool,
    /// Fraction of the interval's segments that were lost, once all of them are known to be delivered or lost.
    pub loss: f64,
    /// Slope of the round-trip time, in seconds per second; zero if it is considered noise.
    pub slope: f64,
}

impl Interval {
    pub fn begin(rate: f64, ack: &AckSample) -> Self {
        Self {
            rate,
            start: ack.now,
            end: Time::NEVER,
            first: sent(ack),
            last: u64::MAX,
            ..Self::default()
        }
    }

    /// Returns an interval of the given rate, slope and loss. All its segments are known to be delivered or lost.
    #[cfg(test)]
    pub fn known(rate: f64, slope: f64, loss: f64) -> Self {
        Self {
            rate,
            slope,
            loss,
            ..Self::default()
        }
    }

    /// Ends the interval if a round trip and the minimum number of segments have passed. Returns true if it has ended.
    pub fn end(&mut self, ack: &AckSample) -> bool {
        let count = sent(ack).saturating_sub(self.first);
        let over = ack.now >= self.start + ack.srtt && count >= MIN_SEGMENTS;
        if over {
            (self.end, self.last) = (ack.now, sent(ack));
            let asked = self.rate * self.end.since(self.start).as_secs_f64() / mbit(ack);
            self.used = count as f64 >= SENT * asked;
        }
        over
    }

    /// Processes an acknowledgement; `before` are the connection's counters before it. Returns true if all segments of
    /// the interval are known to be delivered or lost.
    pub fn note(&mut self, ack: &AckSample, before: Counts) -> bool {
        let known = Counts::of(ack).sum();
        if self.before.is_none() && known > self.first {
            self.before = Some(before);
        }
        if let Some(rtt) = ack.rtt {
            self.note_rtt(ack.now, rtt);
        }
        let complete = known >= self.last;
        if complete {
            self.complete(ack);
        }
        complete
    }

    fn note_rtt(&mut self, now: Time, rtt: Span) {
        let sent_at = Time::from_ps(now.as_ps().saturating_sub(rtt.as_ps()));
        if (self.start..self.end).contains(&sent_at) {
            self.rtts.add(sent_at.since(self.start), rtt);
        }
    }

    fn complete(&mut self, ack: &AckSample) {
        let before = self.before.unwrap_or_default();
        let lost = ack.lost.saturating_sub(before.lost) as f64;
        let delivered = ack.delivered.saturating_sub(before.delivered) as f64;
        self.loss = lost / (lost + delivered).max(1.0);
        let slope = self.rtts.slope();
        self.slope = if slope.abs() < NOISE { 0.0 } else { slope };
    }
}

/// Least-squares line of round-trip times as a function of the sending times of their segments, in seconds (section
/// 4.3; PCC-Uspace, branch NSDI-2018, core.cpp).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Regression {
    samples: f64,
    sent: f64,
    rtt: f64,
    sent_squared: f64,
    product: f64,
    /// The first round-trip time, which is subtracted from all samples.
    origin: f64,
}

impl Regression {
    fn add(&mut self, sent: Span, rtt: Span) {
        if self.samples == 0.0 {
            self.origin = rtt.as_secs_f64();
        }
        let (sent, rtt) = (sent.as_secs_f64(), rtt.as_secs_f64() - self.origin);
        self.samples += 1.0;
        self.sent += sent;
        self.rtt += rtt;
        self.sent_squared += sent * sent;
        self.product += sent * rtt;
    }

    /// Returns the slope of the round-trip time over the sending time; zero if all sending times are equal.
    fn slope(&self) -> f64 {
        let spread = self.samples * self.sent_squared - self.sent * self.sent;
        if spread <= 1e-9 * self.samples * self.sent_squared {
            return 0.0;
        }
        (self.samples * self.product - self.sent * self.rtt) / spread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_that_of_least_squares() {
        let mut rtts = Regression::default();
        assert_eq!(rtts.slope(), 0.0);
        rtts.add(Span::from_millis(1), Span::from_millis(50));
        assert_eq!(rtts.slope(), 0.0);
        // The means are 2 and 52. The slope is the sum of products -1 * -2 + 0 * 3 + 1 * -1 divided by the sum of
        // squares 1 + 0 + 1.
        rtts.add(Span::from_millis(2), Span::from_millis(55));
        rtts.add(Span::from_millis(3), Span::from_millis(51));
        assert!((rtts.slope() - 0.5).abs() < 1e-9, "{}", rtts.slope());
        let mut burst = Regression::default();
        for rtt in 50..60 {
            burst.add(Span::from_millis(7), Span::from_millis(rtt));
        }
        assert_eq!(burst.slope(), 0.0);
    }
}
