//! Measurements that some algorithms need from every acknowledgement: round-trip times of segments and delivery rates.

use std::collections::BTreeMap;

use longhaul_congestion::{AckSample, Limit, RateSample};
use longhaul_units::{Span, Time};

/// State stored with each segment when it is sent (draft-cheng-iccrg-delivery-rate-estimation-02 section 3.2). `once`
/// is the send time; `None` once the segment was retransmitted (Karn's rule).
#[derive(Clone, Copy)]
struct Sent {
    sent_time: Time,
    delivered: u64,
    delivered_time: Time,
    first_sent_time: Time,
    limit: Limit,
    once: Option<Time>,
}

#[derive(Default)]
pub(super) struct Measures {
    /// Segments that have not arrived.
    segments: BTreeMap<u64, Sent>,
    delivered_time: Time,
    first_sent_time: Time,
    app_limited: Option<(Limit, u64)>,
    /// State of the most recently sent segment among those that the current acknowledgement covers.
    newest: Option<Sent>,
    /// Send time of the last segment that the current acknowledgement covers, if this segment gives a sample.
    last: Option<Time>,
}

impl Measures {
    /// Records a transmission of a segment, including retransmissions. `alone` is true if nothing else was in flight.
    pub(super) fn on_sent(
        &mut self,
        (segment, first): (u64, bool),
        delivered: u64,
        alone: bool,
        now: Time,
    ) {
        if alone {
            (self.first_sent_time, self.delivered_time) = (now, now);
        }
        let sent = Sent {
            sent_time: now,
            delivered,
            delivered_time: self.delivered_time,
            first_sent_time: self.first_sent_time,
            limit: self.app_limited.map_or(Limit::Network, |(limit, _)| limit),
            once: first.then_some(now),
        };
        self.segments.insert(segment, sent);
    }

    /// Processes acknowledged segments. If `cumulative` is true and one of them was retransmitted, the others may have
    /// waited for it at the receiver, and give no round-trip sample.
    pub(super) fn on_arrived(&mut self, segments: impl Iterator<Item = u64>, cumulative: bool) {
        let mut ambiguous = false;
        let mut last = None;
        for segment in segments {
            let Some(sent) = self.segments.remove(&segment) else {
                continue;
            };
            let newest = self.newest.map_or(Time::ZERO, |newest| newest.sent_time);
            if sent.sent_time >= newest {
                self.newest = Some(sent);
            }
            last = last.max(sent.once);
            ambiguous |= sent.once.is_none();
        }
        if !(cumulative && ambiguous) {
            self.last = self.last.max(last);
        }
    }

    /// Records that `limit` holds back the sender, until `until` segments have been delivered.
    pub(super) fn note_limit(&mut self, limit: Limit, until: u64) {
        self.app_limited = Some((limit, until));
    }

    /// Adds the delivery rate to `sample`. If `timed` is true, also adds the round-trip time, and returns it.
    pub(super) fn complete(&mut self, sample: &mut AckSample, timed: bool) -> Option<Span> {
        let now = sample.now;
        if self
            .app_limited
            .is_some_and(|(_, until)| sample.delivered > until)
        {
            self.app_limited = None;
        }
        if let Some(newest) = self.newest.take() {
            let sending = newest.sent_time.since(newest.first_sent_time);
            let interval = sending.max(now.since(newest.delivered_time));
            if interval >= sample.min_rtt && interval > Span::ZERO {
                let segments = (sample.delivered - newest.delivered) as f64;
                sample.delivery_rate = Some(RateSample::new(segments, interval));
                sample.limit = newest.limit;
            }
            (self.delivered_time, self.first_sent_time) = (now, newest.sent_time);
        }
        let last = self.last.take().filter(|_| timed)?;
        sample.rtt = Some(now.since(last));
        sample.rtt
    }
}
