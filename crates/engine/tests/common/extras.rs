//! Links with random impairments and changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use longhaul_engine::config::{
    AckThinning, DeliveryTrace, DirectionKeys, Distribution, Link, Policer,
};
use longhaul_engine::{Change, DelayBox, GilbertElliott, Loss, Reordering};
use longhaul_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

/// Changes of a link. For each time in milliseconds: the new rate in Mbit/s, the new delay in milliseconds, and the new
/// probability of loss.
type Changes = BTreeMap<u64, (Option<u64>, Option<u64>, Option<f64>)>;

/// Impairments and changes of a link.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    mean_burst: f64,
    changes: Changes,
    period_ms: Option<u64>,
    /// Times of the opportunities of a delivery trace, in milliseconds.
    opportunities: Option<Vec<u32>>,
    delay_box: Option<DelayBox>,
    processing_us: Option<f64>,
    tick_us: Option<u64>,
    direction: DirectionKeys,
}

prop_compose! {
    fn delay_box()(
        mean_ms in 0.0..30.0f64, loss in prop_oneof![Just(0.0), 0.0..0.02f64],
        kbps in prop::option::of(100.0..50_000.0f64),
        symmetric in any::<bool>(),
    ) -> DelayBox {
        DelayBox {
            delay: Some(Distribution::Exponential { mean: 1e-3 * mean_ms }),
            loss: Some(Distribution::Constant(loss)),
            rate: kbps.map(|kbps| {
                let (from, to) = (0.5e3 * kbps, 2e3 * kbps);
                Distribution::Uniform(from, to)
            }),
            symmetric,
        }
    }
}

prop_compose! {
    fn direction()(
        duplication in prop_oneof![Just(0.0), 0.0..0.2f64],
        probability in prop_oneof![Just(0.0), 0.0..0.2f64],
        mean_ms in prop_oneof![Just(0.0), 0.0..20.0f64],
        policed in prop::option::weighted(0.2, (100u64..20_000, 1u64..50)),
        thinned in prop::option::weighted(0.3, (2u32..6, 1u64..50_000)),
        jitter_us in prop::option::of(0.0..20_000.0f64),
        ack_filtering in any::<bool>(),
    ) -> DirectionKeys {
        let delay = Distribution::Exponential { mean: 1e-3 * mean_ms };
        let reordering = Some(Reordering { probability, delay });
        let policer = policed.map(|(kbps, packets)| Policer {
            rate: Rate::from_bps(1000 * kbps),
            // The bucket has room for a segment with timestamps.
            burst: Bytes(1600 * packets),
        });
        let ack_thinning = thinned.map(|(keep_every, hold_us)| AckThinning {
            keep_every,
            hold: Span::from_micros(hold_us),
        });
        let jitter = jitter_us.map(|us| Distribution::Exponential { mean: 1e-6 * us });
        DirectionKeys {
            duplication: Some(duplication),
            ack_filtering: Some(ack_filtering),
            reordering, policer, ack_thinning, jitter,
            ..DirectionKeys::default()
        }
    }
}

/// Returns a strategy for the impairments and changes of a link. Half of the generated links have none.
pub fn extras() -> impl Strategy<Value = Extras> {
    prop_oneof![Just(Extras::default()), some_extras()]
}

prop_compose! {
    fn some_extras()(
        mean_burst in prop_oneof![Just(1.0), 1.0..20.0f64],
        changes in prop_oneof![
            Just(BTreeMap::new()),
            prop::collection::btree_map(
                0u64..6000,
                (prop::option::of(0u64..40), prop::option::of(0u64..60), prop::option::of(0.0..0.05)),
                1..5,
            ),
        ],
        delay_box in prop::option::weighted(0.3, delay_box()),
        processing_us in prop::option::weighted(0.3, 1.0..3000.0f64),
        period_ms in prop::option::weighted(0.3, 6000u64..9000),
        opportunities in prop::option::weighted(0.2, prop::collection::vec(0u32..300, 20..200)),
        tick_us in prop::option::of(1u64..10_000),
        direction in prop_oneof![Just(DirectionKeys::default()), direction()],
    ) -> Extras {
        Extras {
            mean_burst, changes, period_ms, opportunities, delay_box, processing_us, tick_us, direction,
        }
    }
}

impl Extras {
    /// Returns a loss model with the loss rate `rate`. Packets are lost one by one or in bursts.
    pub fn loss(&self, rate: f64) -> Loss {
        if self.mean_burst > 1.0 {
            Loss::GilbertElliott(GilbertElliott::of_bursts(rate, self.mean_burst))
        } else {
            Loss::Bernoulli(rate)
        }
    }

    /// Adds all impairments and changes to a link, except for losses that apply from the beginning of the run.
    pub fn add_to(&self, link: &mut Link) {
        let changes = self.changes.iter();
        let changes = changes.map(|(&at_ms, &(mbps, delay_ms, loss))| Change {
            at: Time::ZERO + Span::from_millis(at_ms),
            rate: mbps.map(|mbps| Rate::from_bps(mbps * 1_000_000)),
            delay: delay_ms.map(Span::from_millis),
            loss: loss.map(|rate| self.loss(rate)),
        });
        link.changes = changes.collect();
        link.changes_period = self.period_ms.map(Span::from_millis);
        link.delivery_trace = self.opportunities.clone().map(|mut times_ms| {
            times_ms.sort_unstable();
            // The period of the trace is more than zero.
            times_ms.push(300);
            Arc::new(DeliveryTrace::new(times_ms, Bytes(1504)))
        });
        link.delay_box = self.delay_box.clone();
        link.host_processing_delay = self.processing_us.map(|us| Distribution::LogNormal {
            median: 1e-6 * us,
            sigma: 1.0,
        });
        link.tick = self.tick_us.map(Span::from_micros);
        link.direction = DirectionKeys {
            loss: link.direction.loss.clone(),
            shaper: link.direction.shaper,
            ..self.direction.clone()
        };
    }

    /// Ends a link's losses and outages at a time that is after all changes, and stops the repetition of changes.
    pub fn end_losses(link: &mut Link, at: Time) {
        link.changes_period = None;
        link.changes.push(Change {
            at,
            rate: Some(link.rate),
            delay: None,
            loss: Some(Loss::None),
        });
        if let Some(delay_box) = &mut link.delay_box {
            delay_box.loss = None;
        }
    }

    /// Removes all changes from a link, and all impairments except losses and a token bucket, so that departures are
    /// computed on arrival.
    pub fn remove_from(link: &mut Link) {
        (link.changes, link.changes_period, link.delivery_trace) = (Vec::new(), None, None);
        (link.delay_box, link.host_processing_delay, link.tick) = (None, None, None);
        link.direction = DirectionKeys {
            loss: link.direction.loss.clone(),
            shaper: link.direction.shaper,
            ..DirectionKeys::default()
        };
    }
}
