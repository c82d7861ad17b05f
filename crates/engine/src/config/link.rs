//! Options of one direction of a link, with the keys of scenario files that set them.

use std::sync::Arc;

use longhaul_keys::{Kind, PROBABILITY, RATE, TIME, keys};
use longhaul_units::{Rate, Span};

use super::{
    AckThinning, Change, DelayBox, DeliveryTrace, Distribution, Loss, LossKeys, Policer,
    Reordering, Shaper, TIMES,
};
use crate::queue::QueueConfig;

keys! {
    /// One direction of a link.
    #[derive(Clone, Debug)]
    pub struct Link {
        /// Transmission rate.
        pub rate: Rate = Kind::Positive(RATE).key().derived("the mean rate of delivery_trace, without which it is required"),
        /// Propagation delay, one way.
        pub delay: Span = Kind::Quantity(TIME).key().required(),
        /// Period of repetition of all `changes`.
        pub changes_period: Option<Span> = Kind::Positive(TIME).key(),
        /// Delay, loss and rate, drawn for each flow and applied in both directions before packets reach the queue.
        pub delay_box: Option<DelayBox> = Kind::Table(DelayBox::KEYS).key()
            .source("ns-2: DelayBox; Weigle 2003, appendix A"),
        /// Time that hosts take to process an ACK, drawn for each ACK. ACKs of both directions are delayed by this time
        /// before they reach the link's queue.
        pub host_processing_delay: Option<Distribution> = TIMES.key(),
        /// Period of a timer in each direction, as in dummynet: packets leave the link only at ticks of the timer.
        pub tick: Option<Span> = Kind::Positive(TIME).key(),
    }
    flattened {
        /// Options that the link does not share with the opposite direction.
        pub direction: DirectionKeys,
    }
    beside {
        /// Name, for example `bottleneck` or `bottleneck-reverse`.
        pub name: String,
        /// Name of the forward direction, for example `bottleneck`. Both directions of a symmetric delay box derive
        /// their random numbers from it, and thus draw equal values.
        pub forward_name: String,
        /// Node where packets enter the link.
        pub from: usize,
        /// Node where packets leave the link.
        pub to: usize,
        /// Queue in front of the transmitter.
        pub queue: QueueConfig,
    }
    initially {
        /// Changes during the run, in order of time, at different times. If the changes are repeated, the period is
        /// longer than the time from the first to the last change.
        pub changes: Vec<Change> = Vec::new(),
        /// Delivery opportunities of packets, instead of a fixed rate; `rate` is then the mean rate of the trace.
        pub delivery_trace: Option<Arc<DeliveryTrace>> = None,
        /// Way in which departures are computed, if other options do not require explicit service; see
        /// [`Link::service`].
        pub service: Service = Service::OnArrival,
        /// True if the time series include this link.
        pub sampled: bool = false,
        /// True if the link's packets are recorded.
        pub captured: bool = false,
    }
}

keys! {
    /// Options of one direction of a link. A link's table in a scenario file sets them for the forward direction only.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct DirectionKeys {
        /// Token bucket between the queue and the link, forward direction only. Values that depend on the link's
        /// rate, such as 1 BDP, are computed from the bucket's rate.
        pub shaper: Option<Shaper> = Kind::Table(Shaper::KEYS).key(),
        /// Token bucket in front of the queue; packets in excess of its rate are dropped. Forward direction only.
        pub policer: Option<Policer> = Kind::Table(Policer::KEYS).key()
            .source("RFC 2697; Linux: tc-police"),
        /// Loss of packets before they reach the queue, forward direction only.
        pub loss: Loss = Kind::Table(LossKeys::KEYS).key(),
        /// Probability that a packet is followed by a copy of itself, forward direction only.
        pub duplication: Option<f64> = PROBABILITY.key(),
        /// Reordering before the queue, forward direction only: later packets overtake some that are held back.
        pub reordering: Option<Reordering> = Kind::Table(Reordering::KEYS).key(),
        /// Random time added to each packet's propagation delay, forward direction only; packets keep their order.
        pub jitter: Option<Distribution> = TIMES.key(),
        /// Thinning of ACKs before the queue, forward direction only: newer ACKs of a connection replace older ones.
        /// (The ACKs of forward flows take the return direction.)
        pub ack_thinning: Option<AckThinning> = Kind::Table(AckThinning::KEYS).key()
            .source("RFC 3449 section 5.2"),
        /// True if a newer ACK of a connection replaces an older one that waits in the queue of the forward direction.
        /// (These ACKs are for data that is sent in the return direction.)
        pub ack_filtering: Option<bool> = Kind::Flag.key()
            .source("RFC 3449 section 5.2.1; ns-2: SemanticPacketQueue with replace_head_"),
    }
}

impl Link {
    /// Returns a link without impairments, losses or changes, which is neither sampled nor captured.
    pub fn plain(
        name: String,
        (from, to): (usize, usize),
        (rate, delay): (Rate, Span),
        queue: QueueConfig,
    ) -> Self {
        Self {
            forward_name: name.clone(),
            name,
            from,
            to,
            rate,
            delay,
            queue,
            direction: DirectionKeys::default(),
            delay_box: None,
            host_processing_delay: None,
            tick: None,
            changes: Vec::new(),
            changes_period: None,
            delivery_trace: None,
            service: Service::OnArrival,
            sampled: false,
            captured: false,
        }
    }

    /// Returns the maximum long-run rate at which packets can leave the link, before any of its `changes`.
    pub fn capacity(&self) -> Rate {
        let policer = self.direction.policer;
        let policed = policer.map_or(self.rate, |policer| policer.rate);
        self.queue_rate().min(policed).min(self.rate)
    }

    /// Returns the rate at which the queue is emptied: the rate of the token bucket, if there is one, or else the
    /// link's rate.
    pub fn queue_rate(&self) -> Rate {
        let shaper = self.direction.shaper;
        shaper.map_or(self.rate, |shaper| shaper.rate)
    }

    /// Returns true if the rate at which the queue is emptied changes in the course of a run.
    pub fn rate_varies(&self) -> bool {
        self.delivery_trace.is_some() || self.changes.iter().any(|change| change.rate.is_some())
    }

    /// Returns the way in which departures are computed: on the packets' arrival, or each at the end of the preceding
    /// departure (explicit service). Explicit service is required in four cases: the discipline decides on departure;
    /// waiting ACKs are replaced; packets wait for tokens, ticks or delivery opportunities; the link changes or its
    /// delay varies. In all other cases, the field `service` decides.
    pub fn service(&self) -> Service {
        let explicit = !self.queue.decides_on_arrival()
            || self.direction.needs_explicit_service()
            || self.tick.is_some()
            || !self.changes.is_empty()
            || self.delivery_trace.is_some();
        if explicit {
            Service::Explicit
        } else {
            self.service
        }
    }

    /// Returns true if packets pass impairments before the link's loss model and queue.
    pub fn is_impaired(&self) -> bool {
        self.delay_box.is_some()
            || self.host_processing_delay.is_some()
            || self.direction.is_impaired()
    }

    /// Returns true if the impairments only delay packets, by a time that depends only on the flow. A policer and ACK
    /// thinning, which packets pass after the delay, are not considered.
    pub(crate) fn only_delays_flows(&self) -> bool {
        let boxes = self.delay_box.as_ref();
        boxes.is_some_and(DelayBox::only_delays)
            && self.host_processing_delay.is_none()
            && !self.makes_copies()
            && self.direction.reordering.is_none()
    }

    /// Returns true if some packets are followed by a copy of themselves.
    pub(crate) fn makes_copies(&self) -> bool {
        self.direction.duplicates()
    }
}

impl DirectionKeys {
    /// Returns true if a newer ACK replaces an older one that waits in the queue.
    pub fn filters_acks(&self) -> bool {
        self.ack_filtering.unwrap_or(false)
    }

    fn duplicates(&self) -> bool {
        self.duplication
            .is_some_and(|probability| probability > 0.0)
    }

    fn is_impaired(&self) -> bool {
        self.duplicates()
            || self.reordering.is_some()
            || self.policer.is_some()
            || self.ack_thinning.is_some()
    }

    fn needs_explicit_service(&self) -> bool {
        self.filters_acks() || self.shaper.is_some() || self.jitter.is_some()
    }
}

/// The way in which a link computes departures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Computation of departures at arrival, with one event per packet. Only for first-in first-out queues.
    OnArrival,
    /// Computation of each departure at the end of the preceding one, for any link; [`Link::service`] lists the links
    /// that require it.
    Explicit,
}
