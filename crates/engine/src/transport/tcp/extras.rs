//! Measurements and actions that only some algorithms need: delivery rates, round-trip times of every segment, packet
//! pairs, dummies, headers for routers, and the trace of a connection's state. Other connections allocate no memory for
//! them.

use longhaul_congestion::{AckSample, CongestionState, RouterFeedback};

use super::accecn::MarksReported;
use super::ack::Ack;
use super::delivery_rate::DeliveryRate;
use super::dummies::DummyTrain;
use super::pairs::Pairs;
use super::rto::RttEstimator;
use super::send_times::SendTimes;
use super::window_usage::WindowUsage;
use crate::config::{Ecn, RttSample, Tcp};

/// State of a connection that only some algorithms and configurations need, such as a delivery rate estimator.
#[derive(Debug, Default)]
pub(super) struct Extras {
    /// Estimator of the delivery rate.
    pub(super) rate: Option<DeliveryRate>,
    /// Send times of all segments. Only needed where timestamps do not give the round-trip times.
    pub(super) times: Option<SendTimes>,
    /// Measurement of the spacing of packet pairs.
    pub(super) pairs: Option<Pairs>,
    /// Train of dummy segments, once their path is known.
    pub(super) dummies: Option<DummyTrain>,
    /// True if `times` gives round-trip times only to the algorithm, and not to the retransmission timer.
    tells_rtt: bool,
    /// True if each segment sent is recorded in `times` or `pairs`, or carries a request to routers.
    pub(super) marks_segments: bool,
    /// True if segments carry requests to routers.
    pub(super) asks_routers: bool,
    /// True if segments are sent as ECT(1), which requests L4S service.
    pub(super) asks_for_l4s: bool,
    /// With AccECN, the counter of the marks that acknowledgements report.
    pub(super) marks: Option<MarksReported>,
    /// Rate granted by XCP's routers since the last sample, in segments per second.
    pub(super) granted: Option<f64>,
    /// cwnd and ssthresh before the last reduction, if it may be undone.
    pub(super) prior: Option<(f64, f64)>,
    /// Record of the use of the window, for connections with `growth_beyond_use`.
    pub(super) usage: Option<WindowUsage>,
    /// Number of the connection within its flow, if its state is recorded at each acknowledgement.
    pub(super) traced_as: Option<u64>,
}

impl Extras {
    /// Creates the state that only some algorithms and configurations need; `None` if this connection needs none of it.
    pub(super) fn new(congestion: &CongestionState, config: &Tcp) -> Option<Box<Self>> {
        let needs = congestion.needs();
        let stamps = config.timestamps.bytes().is_some();
        let all_timed = config.rtt_sample != RttSample::Echo;
        let times = all_timed || needs.rtt && !stamps;
        let extras = Self {
            rate: needs.delivery_rate.then(DeliveryRate::default),
            times: times.then(SendTimes::default),
            pairs: needs.pairs.then(Pairs::default),
            usage: config.growth_beyond_use.then(WindowUsage::default),
            marks_segments: times || needs.pairs || needs.routers,
            tells_rtt: !all_timed,
            asks_routers: needs.routers,
            asks_for_l4s: needs.l4s,
            marks: (config.ecn == Ecn::Accurate).then(MarksReported::new),
            ..Self::default()
        };
        let measures = extras.rate.is_some() || extras.usage.is_some() || config.undo;
        let ecn = extras.asks_for_l4s || extras.marks.is_some();
        let any = extras.marks_segments || needs.dummies || measures || ecn;
        any.then(|| Box::new(extras))
    }

    /// Processes the cumulative acknowledgement of the segments in `[una, next)`.
    ///
    /// Not inlined: most connections have no extras, and the code for every ACK must stay small.
    #[inline(never)]
    pub(super) fn on_cumulative(&mut self, una: u64, next: u64) {
        if let Some(rate) = &mut self.rate {
            rate.on_delivered(una, next);
            rate.forget_below(next);
        }
        if let Some(times) = &mut self.times {
            times.on_cumulative(una, next);
        }
    }

    /// Processes the selective acknowledgement of the segments in `[left, right)`.
    #[inline]
    pub(super) fn on_sacked(&mut self, left: u64, right: u64) {
        if let Some(rate) = &mut self.rate {
            rate.on_delivered(left, right);
        }
        if let Some(times) = &mut self.times {
            times.on_sacked(left, right);
        }
    }

    /// Adds all that is measured to the sample of an acknowledgement: delivery rate, number of marks, round-trip time,
    /// spacing of packet pairs, and feedback of routers. With a delivery rate, `limit` becomes the limit at the time
    /// when the measured segments left.
    #[inline]
    pub(super) fn complete(&mut self, sample: &mut AckSample, ack: Ack, rtt: &mut RttEstimator) {
        if let Some(rate) = &mut self.rate
            && let Some((rate, limit)) = rate.sample(sample.delivered, sample.min_rtt, sample.now)
        {
            sample.delivery_rate = Some(rate);
            sample.limit = limit;
        }
        sample.marked = self.marks.as_ref().map(MarksReported::total);
        if self.marks_segments {
            self.complete_marked(sample, ack, rtt);
        }
    }

    fn complete_marked(&mut self, sample: &mut AckSample, ack: Ack, rtt: &mut RttEstimator) {
        if let Some(times) = &mut self.times {
            if let Some(ends) = times.ends().filter(|_| self.tells_rtt) {
                let sampled = sample.now.since(ends.last);
                sample.rtt = Some(sampled);
                sample.min_rtt = rtt.lower_min_rtt(sampled);
            }
            times.end_acknowledgement();
        }
        if let Some(pairs) = &mut self.pairs {
            sample.pair_spacing = pairs.on_ack(ack.next, sample.now);
        }
        if self.asks_routers {
            sample.router = match self.granted.take() {
                Some(change) => Some(RouterFeedback::Xcp { change }),
                None => ack.flags.load().map(RouterFeedback::Vcp),
            };
        }
    }
}
