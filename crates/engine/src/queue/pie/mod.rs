//! PIE: a proportional integral controller sets the probability of drops or marks on arrival. It steers the queueing
//! delay to a target (Pan, Natarajan, Baker and White, RFC 8033).
//!
//! The delay is estimated in one of two ways. The first is the waiting bytes divided by the departure rate (Little's
//! law, section 5.2); a constant rate need not be measured. The second is the sojourn time of the last packet that left
//! (timestamps, section 4.3; Linux without `dq_rate_estimator`). Variant linux-6.18 also has the kernel's rules and
//! arithmetic ([`linux`]).

mod exact;
mod linux;
#[cfg(test)]
mod tests;

use longhaul_keys::{
    Kind, PROBABILITY, Profile, Range, Refusal, SIZE, TIME, Table, Value, keys, words,
};
use longhaul_units::{Bytes, Rate, Span, Time};

use super::link_context::check_update;
use super::{
    Aqm, AqmState, Arrival, Capacity, Draws, DropReason, Fifo, LinkContext, Parameters, Verdict,
};
use crate::packet::Packet;
use crate::random::Stream;

const WEIGHT: Kind = Kind::Number(Range::closed(0.0, 1e6));

words! {
    /// Method for the measurement of the queueing delay.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DelayEstimate {
        /// The waiting bytes divided by the link's rate.
        Rate = "rate",
        /// The sojourn time of the last packet that left; zero if this packet left an empty queue behind.
        Timestamps = "timestamps",
    }
}

words! {
    /// Variant of the algorithm.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PieVariant {
        /// RFC 8033.
        Rfc8033 = "rfc8033",
        /// Linux: probabilities have 56 bits, times have units of 64 ns, and the burst allowance decreases at
        /// departures, not at updates.
        Linux = "linux-6.18",
    }
}

keys! {
    /// Parameters of PIE.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PieConfig {
        /// Capacity of the queue. A capacity given as a time means the data that the link sends in this time.
        pub limit: Capacity = Capacity::LIMIT
            .in_profile(Profile::Linux, "1000 packets")
            .source("RFC 8033 names none; Linux: pie_params_init of include/net/pie.h"),
        /// True if ECN-capable packets are marked instead of dropped.
        pub ecn: bool = Kind::Flag.key().default("false").source("RFC 8033 section 5.1"),
        /// Measurement of the delay: the waiting bytes divided by the link's rate, or the sojourn time of the last
        /// packet that left. `auto`: the sojourn time if the link's rate varies, and always for variant linux-6.18.
        pub delay_estimate: DelayEstimate =
            Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Word(DelayEstimate::WORDS)])
                .key()
                .default("auto")
                .source("RFC 8033 section 4.3; Linux: dq_rate_estimator"),
    }
    flattened {
        /// Parameters of the delay control.
        pub control: PieParameters,
    }
    beside {
        /// Departure rate of the queue.
        pub rate: Rate,
    }
}

keys! {
    /// Parameters of PIE's delay control.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PieParameters {
        /// Variant of the algorithm: RFC 8033's or Linux's.
        pub variant: PieVariant = Kind::Word(PieVariant::WORDS)
            .key()
            .default("rfc8033")
            .in_profile(Profile::Linux, "linux-6.18")
            .source("RFC 8033 sections 4 and 5; Linux: pie_calculate_probability, pie_drop_early, pie_process_dequeue"),
        /// Target of the queueing delay.
        pub target: Span =
            Kind::Positive(TIME).key().default("15 ms").source("RFC 8033 section 4.2: QDELAY_REF"),
        /// Time between two updates of the probability.
        pub update: Span =
            Kind::Positive(TIME)
                .key()
                .default("15 ms")
                .in_profile(Profile::Linux, "16 ms")
                .source("RFC 8033 section 4.2: T_UPDATE; Linux: 15 ms in whole ticks of 1/250 s"),
        /// Weight of the delay's deviation from the target, per second.
        pub alpha: f64 = WEIGHT.key().unit("1/s").default("0.125").source("RFC 8033 section 4.2"),
        /// Weight of the delay's change, per second.
        pub beta: f64 = WEIGHT.key().unit("1/s").default("1.25").source("RFC 8033 section 4.2"),
        /// Maximum duration of a burst without drops, after a time with a low delay and a probability of zero.
        pub max_burst: Span =
            Kind::Quantity(TIME).key().default("150 ms").source("RFC 8033 section 4.4: MAX_BURST"),
        /// Largest probability for marks. Above it, packets are dropped.
        pub mark_up_to as "mark_p": f64 =
            PROBABILITY.key().default("0.1").source("RFC 8033 section 5.1: mark_ecnth"),
        /// True if drops are derandomised: the gaps between them are then more even.
        pub derandomise: bool = Kind::Flag
            .key()
            .default("false")
            .in_profile(Profile::Linux, "true")
            .source("RFC 8033 section 5.4; Linux: pie_drop_early"),
        /// Mean packet size; `auto`: the largest packet of a flow.
        pub mean_packet: Bytes = Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(SIZE)])
            .key()
            .default("auto")
            .source("RFC 8033 section 4.1: MEAN_PKTSIZE"),
    }
}

impl PieParameters {
    /// Replaces an automatic packet size by the link's largest packet. Refuses an update interval that is too short.
    pub(super) fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        link.complete_size(values, Self::mean_packet);
        check_update(values, Self::update)
    }
}

impl Parameters for PieConfig {
    type Queue = Fifo<Pie>;

    const KIND: &'static str = "pie";
    const TITLE: &'static str = "Proportional integral controller enhanced";
    const DESCRIPTION: &'static str =
        "Controls the probability of drops on arrival such that the delay approaches a target.";
    const SOURCE: &'static str = "RFC 8033";

    fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        let linux = values.read(PieParameters::variant) == PieVariant::Linux;
        if values.is_word(Self::delay_estimate, "auto") {
            let (estimate, rule) = match (linux, link.varies) {
                (true, _) => ("timestamps", "the variant linux-6.18"),
                (_, true) => ("timestamps", "the rate of the link varies"),
                (_, false) => ("rate", "the rate of the link is constant"),
            };
            values.derive(Self::delay_estimate, Value::text(estimate), rule);
        } else if linux && values.is_word(Self::delay_estimate, "rate") {
            let message = "rate is not for variant linux-6.18; expected auto or timestamps, or variant = \"rfc8033\"";
            return Err(Refusal::of(Self::delay_estimate, message.to_string()));
        }
        PieParameters::complete(values, link)
    }

    fn read(values: &Table, rate: Rate) -> Self {
        Self::of(values, rate)
    }

    fn queue(&self, stream: Stream) -> Fifo<Pie> {
        Fifo::new(Pie::new(*self, stream))
    }

    fn draws(&self) -> Draws {
        Draws::InCongestion
    }

    fn marks(&self) -> bool {
        self.ecn
    }
}

/// State of PIE for one queue, in either variant.
#[derive(Clone, Debug)]
pub(super) enum Control {
    Rfc8033(exact::Control),
    Linux(linux::Control),
}

impl Control {
    pub(super) fn new(parameters: &PieParameters) -> Self {
        match parameters.variant {
            PieVariant::Rfc8033 => Self::Rfc8033(exact::Control::new(parameters)),
            PieVariant::Linux => Self::Linux(linux::Control::new(parameters)),
        }
    }

    /// Decides if an arriving packet is accepted, marked or dropped. `waiting_bytes` are in the queue before it. The
    /// packet may be marked only if `ecn` is true.
    ///
    /// Always inlined: for most packets, a call would cost as much as the work itself.
    #[inline(always)]
    pub(super) fn on_arrival(
        &mut self,
        parameters: &PieParameters,
        ecn: bool,
        waiting_bytes: u64,
        stream: &mut Stream,
    ) -> Verdict {
        match self {
            Self::Rfc8033(control) => control.on_arrival(parameters, ecn, waiting_bytes, stream),
            Self::Linux(control) => control.on_arrival(parameters, ecn, waiting_bytes, stream),
        }
    }

    /// Records a drop at a full queue.
    pub(super) fn on_overflow(&mut self) {
        match self {
            Self::Rfc8033(control) => control.on_overflow(),
            Self::Linux(control) => control.on_overflow(),
        }
    }

    /// Records the departure of a packet that arrived at `arrived`; `alone` is true if no packet waits behind it.
    #[inline]
    pub(super) fn on_departure(&mut self, now: Time, arrived: Time, alone: bool) {
        match self {
            Self::Rfc8033(control) => control.on_departure(now, arrived, alone),
            Self::Linux(control) => control.on_departure(now, arrived, alone),
        }
    }

    /// Updates the probability from the queueing delay `delay_s` in seconds. If `delay_s` is `None`, uses the sojourn
    /// time of the last packet that left instead; variant linux-6.18 always uses the sojourn time. Only this variant
    /// reads `waiting`, which is true if packets wait.
    pub(super) fn update(
        &mut self,
        parameters: &PieParameters,
        delay_s: Option<f64>,
        waiting: bool,
    ) {
        match self {
            Self::Rfc8033(control) => control.update(parameters, delay_s),
            Self::Linux(control) => control.update(parameters, waiting),
        }
    }

    /// Returns the probability of a drop or mark.
    pub(super) fn probability(&self) -> f64 {
        match self {
            Self::Rfc8033(control) => control.probability(),
            Self::Linux(control) => control.probability(),
        }
    }
}

/// The state of PIE.
#[derive(Clone, Debug)]
pub(crate) struct Pie {
    config: PieConfig,
    control: Control,
    stream: Stream,
}

impl Pie {
    fn new(config: PieConfig, stream: Stream) -> Self {
        Self {
            config,
            control: Control::new(&config.control),
            stream,
        }
    }

    /// Returns the transmission time of the waiting bytes at the link's rate, in seconds; `None` if the delay is
    /// measured by timestamps.
    fn delay_s(&self, waiting_bytes: u64) -> Option<f64> {
        match self.config.delay_estimate {
            DelayEstimate::Rate => {
                Some((8 * waiting_bytes) as f64 / self.config.rate.as_bps() as f64)
            }
            DelayEstimate::Timestamps => None,
        }
    }
}

impl Aqm for Pie {
    fn passes(&self) -> bool {
        // While at most two packets wait, nothing is dropped and no random number is drawn (RFC
        // 8033 section 4.1). In Linux, departures use up the burst allowance.
        matches!(self.control, Control::Rfc8033(_))
    }

    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        if let Err(reason) = arrival.check_limit(self.config.limit) {
            self.control.on_overflow();
            return Verdict::Drop(reason);
        }
        let ecn = self.config.ecn && arrival.ecn_capable;
        let waiting = arrival.waiting_bytes;
        self.control
            .on_arrival(&self.config.control, ecn, waiting, &mut self.stream)
    }

    fn update_interval(&self) -> Option<Span> {
        Some(self.config.control.update)
    }

    fn on_departure(&mut self, packet: &Packet, now: Time, waiting_pkts: u64) -> bool {
        self.control
            .on_departure(now, packet.time, waiting_pkts == 0);
        false
    }

    fn update(&mut self, (_, waiting_bytes): (u64, u64)) {
        let delay_s = self.delay_s(waiting_bytes);
        self.control
            .update(&self.config.control, delay_s, waiting_bytes > 0);
    }

    fn state(&self) -> AqmState {
        AqmState {
            drop_p: Some(self.control.probability()),
            ..AqmState::default()
        }
    }
}
