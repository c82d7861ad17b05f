//! What a user says about a RED queue, and the numbers that follow from it and the link.
//!
//! Automatic values: Floyd, Gummadi and Shenker, "Adaptive RED" (2001), sections 4 and 5, and
//! ns-2.35, which added the weight from round trips and the floor of `max_p`.

use longhaul_units::{Bytes, Rate, Span};

use crate::network::queue::Capacity;

/// RED as a user describes it: what is absent is configured from the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedParameters {
    /// Hard limit. A limit in packets stands for packets of the mean size if the queue is measured
    /// in bytes.
    pub limit: Capacity,
    /// Whether a packet is accepted that finds room for a part of it only, as ns-2 does. Makes a
    /// difference to limits in bytes.
    pub limit_overshoot: bool,
    /// Mean packet size: converts between packets and bytes, and gives the link's packet rate.
    pub mean_packet: Bytes,
    /// Average queue above which packets are marked, in mean packets. Automatic: half of
    /// `target_delay` at the link's rate, at least 5.
    pub min_th_pkts: Option<f64>,
    /// Average queue at which the probability reaches `max_p`, in mean packets. Automatic: three
    /// times the lower threshold.
    pub max_th_pkts: Option<f64>,
    /// Average queueing delay that the automatic lower threshold aims at.
    pub target_delay: Span,
    /// Weight of a new sample in the average queue.
    pub weight: Weight,
    /// Probability at the upper threshold, to begin with if it adapts.
    pub max_p: f64,
    /// What happens above the upper threshold.
    pub gentle: Gentle,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// When they are.
    pub marking: Marking,
    /// Whether the queue is measured in bytes rather than packets.
    pub queue_in_bytes: bool,
    /// Whether the probability grows with the size of the packet.
    pub scale_by_size: bool,
    /// Whether marks keep a distance: at least `1/p`, at most `2/p` packets, rather than up to
    /// `1/p` packets.
    pub wait: bool,
    /// Whether `max_p` adapts (Adaptive RED).
    pub adaptive: Option<AdaptationParameters>,
}

/// Weight of a new sample in the average queue. `C` is the link's rate in mean packets a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weight {
    /// This number.
    Explicit(f64),
    /// A time constant of one second: `1 - exp(-1/C)` (Adaptive RED, section 4).
    OneSecond,
    /// A time constant of ten round trips: `1 - exp(-1/(10 R C))`, where the round trip `R` is
    /// taken as three times the link's delay and transmission time, at least 100 ms (ns-2.35).
    TenRoundTrips,
}

/// What happens above the upper threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gentle {
    /// Every packet is selected.
    Off,
    /// The probability rises from `max_p` to 1 at twice the threshold.
    On,
    /// The same line, drawn once from the initial `max_p` and not moved when it adapts (ns-2).
    Frozen,
}

/// When a selected packet that is capable of ECN is marked; otherwise it is dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Marking {
    /// Up to the region where every packet is dropped.
    Always,
    /// Up to this probability, before spacing (ns-2 since 2002, where it is 0.1).
    UpTo(f64),
    /// While the average is below the upper threshold (ns-2 up to 2.1b9; spec 001b B.5).
    BelowMaxTh,
}

/// When `max_p` adapts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Whenever the average is outside the target range (Adaptive RED).
    Adaptive,
    /// At the end of each interval, if the average is outside the target range and has moved away
    /// from it since the last: gentle Adaptive RED (spec 003 B.11).
    GentleAdaptive,
}

/// How `max_p` adapts, as a user says it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptationParameters {
    /// When.
    pub rule: Rule,
    /// Shortest time between two changes.
    pub interval: Span,
    /// Increment, limited to a quarter of `max_p`.
    pub alpha: f64,
    /// Factor of a decrease.
    pub beta: f64,
    /// No increase from here on.
    pub top: f64,
    /// No decrease from here on. Automatic: one packet per bandwidth-delay product of 1000-byte
    /// packets and 100 ms, at most 0.01 (ns-2.35).
    pub bottom: Option<f64>,
}

/// RED, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// Hard limit.
    pub limit: Capacity,
    /// Whether a packet is accepted that finds room for a part of it only.
    pub limit_overshoot: bool,
    /// Mean packet size.
    pub mean_packet: Bytes,
    /// Mean packets that the link transmits in a second.
    pub packets_per_s: f64,
    /// Lower threshold in mean packets.
    pub min_th_pkts: f64,
    /// Upper threshold in mean packets.
    pub max_th_pkts: f64,
    /// Weight of a new sample in the average.
    pub weight: f64,
    /// Initial probability at the upper threshold.
    pub max_p: f64,
    /// What happens above the upper threshold.
    pub gentle: Gentle,
    /// Whether ECN-capable packets are marked.
    pub ecn: bool,
    /// When they are.
    pub marking: Marking,
    /// Whether the queue is measured in bytes.
    pub queue_in_bytes: bool,
    /// Whether the probability grows with the size of the packet.
    pub scale_by_size: bool,
    /// Whether marks keep a distance.
    pub wait: bool,
    /// How `max_p` adapts, if it does.
    pub adaptive: Option<Adaptation>,
}

/// How `max_p` adapts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptation {
    /// When.
    pub rule: Rule,
    /// Shortest time between two changes.
    pub interval: Span,
    /// Increment, limited to a quarter of `max_p`.
    pub alpha: f64,
    /// Factor of a decrease.
    pub beta: f64,
    /// No increase from here on.
    pub top: f64,
    /// No decrease from here on.
    pub bottom: f64,
}

impl RedParameters {
    /// RED as recommended: gentle, spaced marks, everything else automatic, measured in packets,
    /// no ECN, `max_p` fixed.
    pub const fn new(limit: Capacity, mean_packet: Bytes) -> Self {
        Self {
            limit,
            limit_overshoot: false,
            mean_packet,
            min_th_pkts: None,
            max_th_pkts: None,
            target_delay: Span::from_millis(5),
            weight: Weight::TenRoundTrips,
            max_p: 0.1,
            gentle: Gentle::On,
            ecn: false,
            marking: Marking::Always,
            queue_in_bytes: false,
            scale_by_size: false,
            wait: true,
            adaptive: None,
        }
    }

    /// Fills in what depends on the rate and the one-way delay of the link.
    pub fn resolve(&self, rate: Rate, delay: Span) -> RedConfig {
        let packets_per_s = rate.packets_per_s(self.mean_packet.0);
        let min_th_pkts = self.min_th_pkts.unwrap_or_else(|| {
            f64::max(5.0, self.target_delay.as_secs_f64() * packets_per_s / 2.0)
        });
        let limit = match self.limit {
            Capacity::Packets(limit) if self.queue_in_bytes => {
                Capacity::Bytes(limit * self.mean_packet.0)
            }
            limit => limit,
        };
        RedConfig {
            limit,
            limit_overshoot: self.limit_overshoot,
            mean_packet: self.mean_packet,
            packets_per_s,
            min_th_pkts,
            max_th_pkts: self.max_th_pkts.unwrap_or(3.0 * min_th_pkts),
            weight: self.weight.resolve(packets_per_s, delay),
            max_p: self.max_p,
            gentle: self.gentle,
            ecn: self.ecn,
            marking: self.marking,
            queue_in_bytes: self.queue_in_bytes,
            scale_by_size: self.scale_by_size,
            wait: self.wait,
            adaptive: self.adaptive.map(|adaptive| adaptive.resolve(rate)),
        }
    }
}

impl Weight {
    fn resolve(self, packets_per_s: f64, delay: Span) -> f64 {
        let time_constant_s = match self {
            Self::Explicit(weight) => return weight,
            Self::OneSecond => 1.0,
            Self::TenRoundTrips => {
                10.0 * f64::max(0.1, 3.0 * (delay.as_secs_f64() + 1.0 / packets_per_s))
            }
        };
        1.0 - libm::exp(-1.0 / (time_constant_s * packets_per_s))
    }
}

impl Default for AdaptationParameters {
    /// The values of Adaptive RED, section 5.
    fn default() -> Self {
        Self {
            rule: Rule::Adaptive,
            interval: Span::from_millis(500),
            alpha: 0.01,
            beta: 0.9,
            top: 0.5,
            bottom: None,
        }
    }
}

impl AdaptationParameters {
    fn resolve(self, rate: Rate) -> Adaptation {
        // 8000 bits over 0.1 s, over the rate.
        let packet_per_bdp = 80_000.0 / rate.as_bps() as f64;
        Adaptation {
            rule: self.rule,
            interval: self.interval,
            alpha: self.alpha,
            beta: self.beta,
            top: self.top,
            bottom: self
                .bottom
                .unwrap_or_else(|| f64::min(0.01, packet_per_bdp)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Capacity = Capacity::Packets(8333);

    fn mbps(mbps: u64) -> Rate {
        Rate::from_bps(mbps * 1_000_000)
    }

    /// Equal to the digits that were printed.
    fn assert_close(value: f64, expected: f64, relative: f64) {
        assert!(
            (value / expected - 1.0).abs() < relative,
            "{value} instead of {expected}"
        );
    }

    #[test]
    fn automatic_configuration_of_the_split_connection_study() {
        // Spec 002 B5.2 and PEP-A01/A02: 100 and 50 Mbit/s, 0.25 s, mean packet 500 B.
        let red = RedParameters::new(LIMIT, Bytes(500));
        let fast = red.resolve(mbps(100), Span::from_millis(250));
        assert_eq!(
            (fast.min_th_pkts, fast.max_th_pkts, fast.max_p),
            (62.5, 187.5, 0.1)
        );
        assert!((fast.weight - 5.3325e-6).abs() < 1e-9, "{}", fast.weight);
        let slow = red.resolve(mbps(50), Span::from_millis(250));
        assert_eq!((slow.min_th_pkts, slow.max_th_pkts), (31.25, 93.75));
        assert_close(slow.weight, 1.0663e-5, 1e-4);
    }

    #[test]
    fn automatic_configuration_as_ns2_reports_it() {
        // ns-2.35, 1 Gbit/s and 50 ms, mean packet 1500 and 500 B; 622 Mbit/s with 1500 B.
        let mut red = RedParameters::new(LIMIT, Bytes(1500));
        red.adaptive = Some(AdaptationParameters::default());
        let delay = Span::from_millis(50);

        let gigabit = red.resolve(mbps(1000), delay);
        assert_close(gigabit.weight, 7.998_048e-6, 1e-6);
        assert_close(gigabit.min_th_pkts, 208.3333, 1e-6);
        assert_close(gigabit.max_th_pkts, 625.0, 1e-12);
        assert_close(gigabit.adaptive.unwrap().bottom, 8e-5, 1e-12);

        let oc12 = red.resolve(mbps(622), delay);
        assert_close(oc12.weight, 1.285_669e-5, 1e-6);
        assert_close(oc12.min_th_pkts, 129.5833, 1e-6);
        assert_close(oc12.adaptive.unwrap().bottom, 0.000_128_617_4, 1e-6);

        red.mean_packet = Bytes(500);
        let small = red.resolve(mbps(1000), delay);
        assert_close(small.weight, 2.666_45e-6, 1e-6);
        assert_eq!((small.min_th_pkts, small.max_th_pkts), (625.0, 1875.0));

        red.mean_packet = Bytes(1500);
        red.weight = Weight::OneSecond;
        assert_close(red.resolve(mbps(1000), delay).weight, 1.199_993e-5, 1e-6);
    }

    #[test]
    fn slow_links_hit_the_lower_bounds() {
        let mut red = RedParameters::new(LIMIT, Bytes(1000));
        red.adaptive = Some(AdaptationParameters::default());
        let config = red.resolve(mbps(1), Span::from_millis(10));
        assert_eq!(config.min_th_pkts, 5.0);
        assert_eq!(config.adaptive.unwrap().bottom, 0.01);
    }

    #[test]
    fn what_the_user_says_stays() {
        let red = RedParameters {
            min_th_pkts: Some(2500.0),
            weight: Weight::Explicit(0.002),
            queue_in_bytes: true,
            adaptive: Some(AdaptationParameters {
                bottom: Some(1e-4),
                ..Default::default()
            }),
            ..RedParameters::new(LIMIT, Bytes(500))
        };
        let config = red.resolve(mbps(2500), Span::from_millis(25));
        assert_eq!((config.min_th_pkts, config.max_th_pkts), (2500.0, 7500.0));
        assert_eq!(config.weight, 0.002);
        assert_eq!(config.adaptive.unwrap().bottom, 1e-4);
        assert_eq!(config.limit, Capacity::Bytes(8333 * 500));
    }
}
