//! What some algorithms ask of a sender beyond what every connection has. A connection without any
//! has none of it, so that a look tells.

use longhaul_congestion::{AckSample, CongestionState, RouterFeedback};
use longhaul_units::Span;

use super::control_block::Ack;
use super::delivery_rate::DeliveryRate;
use super::dummies::DummyTrain;
use super::pairs::Pairs;

/// What the algorithm of a connection asks for.
#[derive(Debug)]
pub(super) struct Extras {
    /// Measures the delivery rate.
    pub(super) rate: Option<DeliveryRate>,
    /// Times pairs of segments.
    pub(super) pairs: Option<Pairs>,
    /// Sends dummies, once it knows their route.
    pub(super) dummies: Option<DummyTrain>,
    /// Whether segments are to be paired or ask routers.
    pub(super) marks_segments: bool,
    /// Whether they ask routers.
    pub(super) asks_routers: bool,
    /// What XCP's routers have granted since the last sample: segments per second.
    pub(super) granted: Option<f64>,
}

impl Extras {
    /// What an algorithm needs, if anything.
    pub(super) fn new(congestion: &CongestionState) -> Option<Box<Self>> {
        let needs = congestion.needs();
        let sends_pairs = congestion.sends_pairs();
        let asks_routers = congestion.router_request(Span::ZERO).is_some();
        let extras = Self {
            rate: needs.delivery_rate.then(DeliveryRate::default),
            pairs: sends_pairs.then(Pairs::default),
            dummies: None,
            marks_segments: sends_pairs || asks_routers,
            asks_routers,
            granted: None,
        };
        let any =
            extras.asks_routers || needs.dummies || extras.rate.is_some() || extras.pairs.is_some();
        any.then(|| Box::new(extras))
    }

    /// Adds what was asked for to the facts of an acknowledgement.
    #[inline]
    pub(super) fn complete(&mut self, sample: &mut AckSample, ack: Ack) {
        if let Some(rate) = &mut self.rate
            && let Some((rate, limit)) = rate.sample(sample.delivered, sample.min_rtt, sample.now)
        {
            sample.delivery_rate = Some(rate);
            sample.limit = limit;
        }
        if self.marks_segments {
            self.complete_marked(sample, ack);
        }
    }

    fn complete_marked(&mut self, sample: &mut AckSample, ack: Ack) {
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
