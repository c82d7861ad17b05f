//! Impairments of a link (loss, delay, duplication and reordering that have no cause in its queue)
//! and scheduled changes of a link.

use longhaul_keys::{COUNT_MAX, Kind, PROBABILITY, RATE, Range, Read, SIZE, TIME, Value, keys};
use longhaul_units::{Bytes, Rate, Span, Time};

use super::{Distribution, PROBABILITIES, RATES, TIMES};

keys! {
    /// A delay box: delay, loss and rate, drawn once for every flow.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct DelayBox {
        /// Delay in each direction; none by default.
        pub delay: Option<Distribution> = TIMES.key(),
        /// Probability of the loss of a packet; 0 by default.
        pub loss: Option<Distribution> = PROBABILITIES.key(),
        /// Rate of a separate bottleneck for each flow; none by default.
        pub rate: Option<Distribution> = RATES.key(),
        /// True if the delay, the loss probability and the rate drawn for a flow apply to both directions; false if
        /// they are drawn separately for the return direction.
        pub symmetric: bool = Kind::Flag.key().default("true"),
    }
}

impl DelayBox {
    /// Returns true if the box does nothing except delay packets, and the delay of a flow is never zero. (With a delay
    /// of zero, packets are forwarded within the event of their arrival.)
    pub(super) fn only_delays(&self) -> bool {
        let always_delays = self.delay.as_ref().is_some_and(Distribution::avoids_zero);
        always_delays && !self.loses() && self.rate.is_none()
    }

    /// Returns true if the box may lose packets.
    pub fn loses(&self) -> bool {
        let loss = self.loss.as_ref();
        loss.is_some_and(|loss| *loss != Distribution::Constant(0.0))
    }
}

keys! {
    /// A token bucket between the queue and the link. A packet that leaves the queue waits, in service, until there are
    /// enough tokens for its bytes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Shaper {
        /// Rate at which tokens are added; below the link's rate.
        pub rate: Rate = Kind::Positive(RATE).key().required(),
        /// Size of the bucket: bytes that may pass at the link's rate after a pause; at least a packet.
        pub burst: Bytes = Kind::Positive(SIZE).key().required(),
    }
}

keys! {
    /// Reordering: some packets are held back while later ones overtake them.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Reordering {
        /// Probability that a packet is held back.
        pub probability: f64 = PROBABILITY.key().required(),
        /// Time for which a packet is held back.
        pub delay: Distribution = TIMES.key().required(),
    }
}

keys! {
    /// A token bucket without a queue. If it has fewer tokens than a packet has bytes, the packet is dropped and takes
    /// no tokens (RFC 2697 with an excess burst size of zero and red packets dropped; Linux's `tc-police`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Policer {
        /// Rate at which tokens are added; below the link's rate.
        pub rate: Rate = Kind::Positive(RATE).key().required().source("RFC 2697: CIR"),
        /// Size of the bucket in bytes, full at the beginning; at least a packet.
        pub burst: Bytes = Kind::Positive(SIZE).key().required().source("RFC 2697: CBS"),
    }
}

keys! {
    /// ACK thinning: older ACKs of a connection are dropped when a newer one acknowledges more.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct AckThinning {
        /// Number of consecutive ACKs of a connection of which only the last is forwarded.
        pub keep_every: u32 = Kind::Whole { min: 2, max: 1000 }.key().required(),
        /// Maximum time for which an ACK waits for later ACKs before it is forwarded.
        pub hold: Span = Kind::Positive(TIME).key().default("10 ms"),
    }
}

/// Loss model of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Loss {
    /// No loss.
    #[default]
    None,
    /// Packets are lost independently, each with this probability.
    Bernoulli(f64),
    /// Packets are lost in bursts.
    GilbertElliott(GilbertElliott),
    /// The packets with these arrival numbers at the link are lost; numbers begin at 0, and are in ascending order.
    List(Vec<u64>),
}

keys! {
    /// Keys of a loss table. Exactly one of them must be given.
    pub struct LossKeys {
        /// Each packet is lost independently with this probability.
        pub bernoulli: Option<f64> = PROBABILITY.key(),
        /// Packets are lost in bursts. Bursts and the gaps between them have geometrically distributed lengths.
        pub bursts: Option<Bursts> = Kind::Table(Bursts::KEYS).key().source("Gilbert 1960"),
        /// A channel with a good and a bad state, each with its own loss probability.
        pub gilbert_elliott: Option<GilbertElliott> =
            Kind::Table(GilbertElliott::KEYS).key().source("Elliott 1963"),
        /// The packets with these arrival numbers at the link are lost; the first is 0.
        pub packets: Vec<u64> = Kind::List(&Kind::Whole { min: 0, max: COUNT_MAX }).key(),
    }
}

/// Reads a loss table, or a number, which is the probability of independent losses.
impl Read for Loss {
    fn read(value: Option<&Value>) -> Option<Self> {
        let table = match value {
            None => return Some(Self::None),
            Some(Value::Number(probability)) => return Some(Self::Bernoulli(*probability)),
            Some(Value::Table(table)) => table,
            Some(_) => return None,
        };
        let keys = LossKeys::of(table);
        let channel = keys.bursts.map(GilbertElliott::from);
        let channel = channel.or(keys.gilbert_elliott);
        let bernoulli = keys.bernoulli.map(Self::Bernoulli);
        let random = bernoulli.or(channel.map(Self::GilbertElliott));
        random.or(Some(Self::List(keys.packets)))
    }
}

keys! {
    /// Losses in bursts, with at least one packet between two bursts.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Bursts {
        /// Share of the packets that are lost.
        pub loss_rate: f64 = Kind::Number(Range::open(0.0, 1.0)).key().required(),
        /// Mean number of packets in a burst.
        pub mean_length: f64 = Kind::Number(Range::closed(1.0, COUNT_MAX as f64)).key().required(),
    }
}

impl From<Bursts> for GilbertElliott {
    fn from(bursts: Bursts) -> Self {
        Self::of_bursts(bursts.loss_rate, bursts.mean_length)
    }
}

keys! {
    /// Probabilities of a channel that is either in a good or in a bad state.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct GilbertElliott {
        /// Probability, after each packet, that the good state ends.
        pub to_bad as "p": f64 = PROBABILITY.key().required(),
        /// Probability, after each packet, that the bad state ends.
        pub to_good as "r": f64 = PROBABILITY.key().required(),
        /// Probability of a packet's loss in the good state.
        pub good_loss: f64 = PROBABILITY.key().default("0").source("Elliott 1963: 1 - k"),
        /// Probability of a packet's loss in the bad state.
        pub bad_loss: f64 = PROBABILITY.key().default("1").source("Elliott 1963: 1 - h"),
    }
}

impl GilbertElliott {
    /// Returns the channel that loses every packet in the bad state and none in the good state. `loss_rate` must be
    /// below 1, and `mean_burst` is the mean number of packets in a burst, at least 1.
    ///
    /// Since the good state lasts at least one packet, the loss rate cannot exceed `mean_burst / (1 + mean_burst)`.
    pub fn of_bursts(loss_rate: f64, mean_burst: f64) -> Self {
        let to_good = 1.0 / mean_burst;
        Self {
            to_bad: (to_good * loss_rate / (1.0 - loss_rate)).min(1.0),
            to_good,
            good_loss: 0.0,
            bad_loss: 1.0,
        }
    }

    /// Returns the long-run fraction of packets that find the channel in the bad state.
    pub(crate) fn bad_share(&self) -> f64 {
        if self.to_bad == 0.0 {
            return 0.0;
        }
        self.to_bad / (self.to_bad + self.to_good)
    }

    /// Returns the long-run fraction of packets that are lost.
    pub fn loss_rate(&self) -> f64 {
        let bad = self.bad_share();
        bad * self.bad_loss + (1.0 - bad) * self.good_loss
    }
}

keys! {
    /// A change of a link's parameters at a given time.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Change {
        /// Time of the change. Other events at the same time are processed after it.
        pub at: Time = Kind::Quantity(TIME).key().required(),
        /// Transmission rate after the change, also for the rest of a packet in transmission. With a rate of 0, packets
        /// wait (an outage).
        pub rate: Option<Rate> = Kind::Quantity(RATE).key(),
        /// One-way propagation delay after the change. Packets already in transmission keep the old delay. Routes do
        /// not change.
        pub delay: Option<Span> = Kind::Quantity(TIME).key(),
        /// Loss of packets that arrive after the change: a probability, or a table as in `loss`. Arrival numbers
        /// are counted from the change.
        pub loss: Option<Loss> = Kind::OneOf(&[PROBABILITY, Kind::Table(LossKeys::KEYS)]).key(),
    }
}
