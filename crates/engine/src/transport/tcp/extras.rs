//! What some algorithms ask of a sender beyond what every connection has. A connection without any
//! has none of it, so that a look tells.

use longhaul_congestion::{CongestionState, Limit, RouterFeedback};
use longhaul_units::{Span, Time};

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
    /// What XCP's routers have granted since the last sample: segments per second.
    pub(super) granted: Option<f64>,
}

/// What the extras add to the facts of an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExtraFacts {
    pub(super) delivery_rate: Option<(f64, Limit)>,
    pub(super) pair_spacing: Option<Span>,
    pub(super) router: Option<RouterFeedback>,
}

impl Extras {
    /// What an algorithm needs, if anything.
    pub(super) fn new(congestion: &CongestionState) -> Option<Box<Self>> {
        let needs = congestion.needs();
        let asks = congestion.router_request(Span::ZERO).is_some();
        let extras = Self {
            rate: needs.delivery_rate.then(DeliveryRate::default),
            pairs: congestion.sends_pairs().then(Pairs::default),
            dummies: None,
            granted: None,
        };
        let any = asks || needs.dummies || extras.rate.is_some() || extras.pairs.is_some();
        any.then(|| Box::new(extras))
    }

    /// The facts of an acknowledgement, after which `delivered` segments are delivered.
    #[inline(never)]
    pub(super) fn facts(
        &mut self,
        ack: Ack,
        delivered: u64,
        min_rtt: Span,
        now: Time,
    ) -> ExtraFacts {
        let (rate, pairs) = (self.rate.as_mut(), self.pairs.as_mut());
        ExtraFacts {
            delivery_rate: rate.and_then(|rate| rate.sample(delivered, min_rtt, now)),
            pair_spacing: pairs.and_then(|pairs| pairs.on_ack(ack.next, now)),
            router: match self.granted.take() {
                Some(change) => Some(RouterFeedback::Xcp { change }),
                None => ack.flags.load().map(RouterFeedback::Vcp),
            },
        }
    }
}
