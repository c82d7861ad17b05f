//! Feedback for congestion control algorithms that measure delivery rates or pace packets. Flows with other algorithms
//! store no feedback.

use std::collections::VecDeque;

use longhaul_congestion::{CongestionState, RateSample};
use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Record of the transmission of a data packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Sent {
    /// Number of packets of the flow delivered before the transmission (`P.delivered`).
    delivered: u64,
    /// Arrival time of the last acknowledgement before the transmission (`P.delivered_time`). If nothing was in flight,
    /// the time of the transmission.
    delivered_at: Time,
    /// Beginning of the flight that this packet ends (`P.first_sent_time`).
    flight_began: Time,
}

/// Delivery rates, losses and recoveries of a flow. Names in parentheses are those of
/// draft-cheng-iccrg-delivery-rate-estimation-02.
///
/// Packets arrive in order, and each arrival is acknowledged. A packet is therefore lost if a later one is acknowledged
/// before it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Feedback {
    in_flight: VecDeque<Sent>,
    /// Sequence number of the first record in `in_flight`.
    first: u64,
    /// Time of the last acknowledgement, or of a later transmission when nothing was in flight (`C.delivered_time`).
    delivered_at: Time,
    /// Send time of the last acknowledged packet, or of a later one sent when nothing was in flight
    /// (`C.first_sent_time`).
    flight_began: Time,
    /// Number of packets lost so far, including all packets that were in flight at a timeout.
    pub(super) lost: u64,
    /// True during the recovery from a loss or a timeout. Only used, and only reset, with
    /// [`Phases::All`](longhaul_congestion::Phases::All).
    pub(super) recovers: bool,
}

impl Feedback {
    /// Returns the record of delivery rates and losses of a new flow; `None` if the flow's algorithm neither measures
    /// delivery rates nor paces.
    pub(super) fn new(congestion: &CongestionState) -> Option<Box<Self>> {
        let any = congestion.needs().delivery_rate || congestion.may_pace();
        any.then(Box::default)
    }

    /// Records that data packet `number` is sent; `delivered` packets have been delivered before.
    #[inline]
    pub(super) fn on_sent(&mut self, number: u64, delivered: u64, now: Time) {
        if self.in_flight.is_empty() {
            self.first = number;
            (self.flight_began, self.delivered_at) = (now, now);
        }
        self.in_flight.push_back(Sent {
            delivered,
            delivered_at: self.delivered_at,
            flight_began: self.flight_began,
        });
    }

    /// Returns the delivery rate sample for the acknowledgement of data packet `number`, sent at `created`. `delivered`
    /// is the number of packets delivered so far, including this packet.
    ///
    /// Returns `None` for a packet given up at a timeout. As in the draft, also returns `None` for a sample interval
    /// that is zero or shorter than `min_rtt`.
    #[inline]
    pub(super) fn on_ack(
        &mut self,
        number: u64,
        created: Time,
        delivered: u64,
        min_rtt: Span,
        now: Time,
    ) -> Option<RateSample> {
        let before = number.checked_sub(self.first)?;
        self.in_flight.drain(..before as usize);
        self.lost += before;
        let sent = self.in_flight.pop_front()?;
        self.first = number + 1;
        (self.delivered_at, self.flight_began) = (now, created);
        let sending = created.since(sent.flight_began);
        let interval = sending.max(now.since(sent.delivered_at));
        if interval < min_rtt || interval == Span::ZERO {
            return None;
        }
        Some(RateSample::new(
            (delivered - sent.delivered) as f64,
            interval,
        ))
    }

    /// Counts the packets in flight as lost, and begins a recovery.
    pub(super) fn on_timeout(&mut self) {
        let given_up = self.in_flight.len() as u64;
        self.in_flight.clear();
        self.first += given_up;
        self.lost += given_up;
        self.recovers = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn at(ms: u64) -> Time {
        Time::from_ps(ms * MS)
    }

    /// Checks that rate samples are computed from arrivals, and that gaps in the sequence count as losses. Packets 1 to
    /// 4 leave one millisecond apart and arrive two milliseconds apart; the third is lost.
    #[test]
    fn rates_are_those_of_arrivals_and_gaps_are_losses() {
        let mut feedback = Feedback::default();
        (1..=4).for_each(|number| feedback.on_sent(number, 0, at(number)));
        let rtt = Span::from_millis(10);
        let mut sample = |number, delivered, now| {
            feedback
                .on_ack(number, at(number), delivered, rtt, at(now))
                .map(|rate| rate.segments() / rate.per_second())
        };
        // All of these packets left when nothing had been delivered.
        assert_eq!(sample(1, 1, 11), Some(0.01));
        assert_eq!(sample(2, 2, 13), Some(0.012));
        assert_eq!(sample(4, 3, 17), Some(0.016));
        assert_eq!(feedback.lost, 1);
        // No packet is in flight: another flight begins.
        feedback.on_sent(5, 3, at(18));
        feedback.on_sent(6, 3, at(19));
        let next = feedback
            .on_ack(6, at(19), 4, rtt, at(30))
            .expect("a sample");
        assert_eq!((next.segments(), next.per_second().round()), (1.0, 83.0));
        assert_eq!(feedback.lost, 2);
    }

    #[test]
    fn a_timeout_gives_up_what_is_in_flight_and_what_arrives_of_it_is_no_sample() {
        let mut feedback = Feedback::default();
        (1..=3).for_each(|number| feedback.on_sent(number, 0, at(number)));
        feedback.on_timeout();
        assert!(feedback.recovers);
        let stale = feedback.on_ack(2, at(2), 1, Span::ZERO, at(50));
        assert_eq!((stale, feedback.lost), (None, 3));
        feedback.on_sent(4, 1, at(51));
        let rate = feedback.on_ack(4, at(51), 2, Span::ZERO, at(61));
        assert_eq!(rate.map(RateSample::per_second), Some(100.0));
    }
}
