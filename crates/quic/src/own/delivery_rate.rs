//! Estimation of a connection's delivery rate (draft-cheng-iccrg-delivery-rate-estimation-02).
//! quinn tells its controller the send time of an acknowledged packet, but not its number. Packets
//! sent at the same time are therefore treated as one burst, with noq, too.
//!
//! The draft's names of variables are in parentheses.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use longhaul_congestion::{Limit, RateSample};
use longhaul_units::Span;

/// Packets that were sent at the same time, and the state of the connection at that time.
#[derive(Clone, Copy, Debug)]
struct Burst {
    at: Instant,
    /// Number of bytes delivered before the burst was sent (`P.delivered`).
    delivered: u64,
    /// Acknowledgement time of the last byte counted in `delivered` or, if later, send time of the
    /// first packet after an idle time (`P.delivered_time`).
    delivered_at: Instant,
    /// Send time of the first packet of the flight that ends with this burst (`P.first_sent_time`).
    flight_began: Instant,
    /// Limit, network or application, that held the sender back at the burst (`P.is_app_limited`).
    limit: Limit,
}

/// Number of bytes delivered in an interval, and the interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ByteRate {
    bytes: u64,
    interval: Duration,
}

impl ByteRate {
    /// Returns the rate in packets of `mtu` bytes.
    pub(super) fn in_packets_of(self, mtu: u64) -> RateSample {
        let interval = Span::from_ps(self.interval.as_nanos() as u64 * 1000);
        RateSample::new(self.bytes as f64 / mtu as f64, interval)
    }
}

/// Estimator of the delivery rate of one connection.
#[derive(Clone, Debug)]
pub(super) struct DeliveryRate {
    /// Bursts in sending order.
    bursts: VecDeque<Burst>,
    delivered_at: Instant,
    flight_began: Instant,
    /// Number of delivered bytes after which the application no longer limits the sender
    /// (`C.app_limited`); `None` if the application does not limit the sender.
    limited_until: Option<u64>,
}

impl DeliveryRate {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            bursts: VecDeque::new(),
            delivered_at: now,
            flight_began: now,
            limited_until: None,
        }
    }

    /// Records that a packet is sent at `now`. `delivered` is the number of bytes delivered so far;
    /// `alone` is true if no other packet is in flight.
    pub(super) fn on_sent(&mut self, delivered: u64, alone: bool, now: Instant) {
        if alone {
            self.flight_began = now;
            self.delivered_at = now;
        }
        if self.bursts.back().is_some_and(|last| last.at == now) {
            return;
        }
        let limited = self.limited_until.is_some();
        self.bursts.push_back(Burst {
            at: now,
            delivered,
            delivered_at: self.delivered_at,
            flight_began: self.flight_began,
            limit: if limited {
                Limit::Application
            } else {
                Limit::Network
            },
        });
    }

    /// Notes that the application limits the sender until `delivered` bytes have been delivered.
    pub(super) fn note_limit(&mut self, delivered: u64) {
        self.limited_until = Some(delivered);
    }

    /// Returns the delivery rate measured by an acknowledgement, and what limited the sender (the application or the
    /// network) when it sent the last acknowledged packet, at the time `newest`. `delivered` includes the bytes of this
    /// acknowledgement. Returns `None` if the rate would be measured over less than `min_rtt`, as for bursts of
    /// acknowledgements, or if no burst of the time `newest` is stored: after reordering, and for quinn's probes of the
    /// MTU, which do not reach [`Self::on_sent`].
    pub(super) fn sample(
        &mut self,
        newest: Instant,
        delivered: u64,
        min_rtt: Duration,
        now: Instant,
    ) -> Option<(ByteRate, Limit)> {
        if self.limited_until.is_some_and(|until| delivered > until) {
            self.limited_until = None;
        }
        let older = self.bursts.partition_point(|burst| burst.at < newest);
        self.bursts.drain(..older);
        let burst = *self.bursts.front().filter(|burst| burst.at == newest)?;
        self.delivered_at = now;
        self.flight_began = burst.at;
        let sending = burst.at - burst.flight_began;
        let interval = sending.max(now - burst.delivered_at);
        if interval < min_rtt || interval.is_zero() {
            return None;
        }
        let bytes = delivered - burst.delivered;
        Some((ByteRate { bytes, interval }, burst.limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A steady flow's sampled delivery rate is its sending rate: packets of 1000 bytes are sent
    /// once a millisecond and acknowledged 10 ms later, which is 1 MB/s.
    #[test]
    fn a_steady_flow_is_delivered_at_its_rate() {
        let zero = Instant::now();
        let mut rate = DeliveryRate::new(zero);
        let mut delivered = 0;
        for ms in 0..100 {
            let now = zero + MS * ms;
            if let Some(sent) = ms.checked_sub(10) {
                delivered += 1000;
                let sample = rate.sample(zero + MS * sent, delivered, MS * 10, now);
                let (sample, limit) = sample.expect("an interval of a round trip");
                assert_eq!(limit, Limit::Network);
                if ms >= 20 {
                    assert_eq!(sample.in_packets_of(1000).per_second(), 1000.0);
                }
            }
            rate.on_sent(delivered, ms == 0, now);
        }
        assert!(rate.bursts.len() < 13);
    }

    #[test]
    fn a_limited_sender_says_so_and_held_up_acknowledgements_give_nothing() {
        let zero = Instant::now();
        let mut rate = DeliveryRate::new(zero);
        rate.on_sent(0, true, zero);
        rate.note_limit(1000);
        rate.on_sent(0, false, zero + MS);
        let sample = rate.sample(zero + MS, 1000, MS * 10, zero + MS * 11);
        assert_eq!(sample.map(|(_, limit)| limit), Some(Limit::Application));
        rate.on_sent(1000, false, zero + MS * 12);
        let held_up = rate.sample(zero + MS * 12, 2000, MS * 20, zero + MS * 13);
        assert_eq!(held_up, None);
    }
}
