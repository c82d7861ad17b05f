//! RED's keys, and the values that are derived from the link.
//!
//! Sources of the automatic values: Floyd, Gummadi and Shenker, "Adaptive RED: an algorithm for increasing the
//! robustness of RED's active queue management" (2001), sections 4 and 5; and ns-2.35 (`red.cc`) for two values: the
//! averaging weight from an estimated round-trip time, and the lower bound of `max_p` from the link's rate.

use longhaul_keys::{
    Key, Kind, Origin, PROBABILITY, Profile, Range, Read, Refusal, SIZE, TIME, Table, Value, keys,
};
use longhaul_units::{Bytes, Dimension, Quantity, Rate, Span};

use crate::queue::{Capacity, LinkContext};

const AUTO: Kind = Kind::Word(&["auto"]);
const THRESHOLD: Kind = Kind::OneOf(&[AUTO, Kind::Positive(&[Dimension::Packets])]);
const UP_TO_1: Kind = Kind::Number(Range::above(0.0, 1.0));

keys! {
    /// Parameters of RED.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RedConfig {
        /// Capacity of the queue. A capacity given as a time means the data that the link sends in this time.
        pub limit: Capacity = Capacity::LIMIT,
        /// True if a limit in bytes admits a packet that fits only in part.
        pub limit_overshoot: bool = Kind::Flag.key().default("false").in_ns2("true"),
        /// Average queue above which packets are dropped or marked; `auto`: half of the data that the link sends in
        /// target_delay, at least 5 packets.
        pub min_th_pkts as "min_th": f64 = THRESHOLD.key().default("auto").source("ns-2: thresh_"),
        /// Average queue at which the probability is max_p; `auto`: three times min_th.
        pub max_th_pkts as "max_th": f64 = THRESHOLD.key().default("auto").source("ns-2: maxthresh_"),
        /// Average queueing delay, from which the automatic min_th is computed.
        pub target_delay: Span = Kind::Positive(TIME)
            .key()
            .default("5 ms")
            .source("Adaptive RED, section 4; ns-2: targetdelay_"),
        /// Weight of a sample in the average; `auto`: time constant of ten round trips, at least one second;
        /// `per-packet`: time constant of one second.
        pub weight: f64 = Kind::OneOf(&[Kind::Word(&["auto", "per-packet"]), UP_TO_1])
            .key()
            .default("auto")
            .in_profile(Profile::Ns2_2003, "per-packet")
            .source("Adaptive RED, section 4; ns-2: q_weight_ -1 and 0"),
        /// Probability at max_th; with adaptation, its initial value.
        pub max_p: f64 = UP_TO_1.key().default("0.1").source("ns-2: linterm_ 10"),
        /// Behaviour between max_th and twice max_th. true: the probability rises from max_p to 1. `frozen`: it rises
        /// from the initial max_p to 1, as in ns-2. false: every packet is dropped or marked.
        pub gentle: Gentle = Kind::OneOf(&[Kind::Flag, Kind::Word(&["frozen"])])
            .key()
            .default("true")
            .in_ns2("frozen")
            .source("ns-2: gentle_; its line does not follow an adapting max_p"),
        /// True if ECN-capable packets are marked instead of dropped.
        pub ecn: bool = Kind::Flag
            .key()
            .default("false")
            .in_profile(Profile::Ns2_2003, "true")
            .source("ns-2: setbit_; LBNL-52549, table 5.1"),
        /// Largest probability for marks. Above it, packets are dropped. `below-max-th`: packets are marked while the
        /// average is below max_th, as in ns-2 before 2002.
        pub marking as "mark_p": Marking =
            Kind::OneOf(&[Kind::Word(&["always", "below-max-th"]), PROBABILITY])
                .key()
                .default("always")
                .in_ns2("0.1")
                .source("ns-2: mark_p_, use_mark_p_"),
        /// Mean packet size; `auto`: the largest packet of a flow.
        pub mean_packet: Bytes = Kind::OneOf(&[AUTO, Kind::Positive(SIZE)])
            .key()
            .default("auto")
            .in_ns2("500 B")
            .source("ns-2: mean_pktsize_"),
        /// True if the queue is measured in bytes.
        pub queue_in_bytes as "in_bytes": bool = Kind::Flag
            .key()
            .default("false")
            .in_profile(Profile::Ns2_35, "true")
            .source("ns-2: queue_in_bytes_"),
        /// True if the probability is multiplied by the packet's size over the mean size.
        pub scale_by_size as "size_scaled": bool = Kind::Flag
            .key()
            .default("false")
            .in_profile(Profile::Ns2_35, "true")
            .source("ns-2: bytes_"),
        /// True if the gaps between marks are 1/p to 2/p packets; false: up to 1/p packets.
        pub wait: bool = Kind::Flag.key().default("true").source("ns-2: wait_"),
    }
    flattened {
        /// Adaptation of `max_p`, if there is one.
        pub adaptive: Adaptive,
    }
    beside {
        /// Number of packets of mean size that the link sends per second.
        pub packets_per_s: f64,
    }
}

keys! {
    /// Adaptation of `max_p`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Adaptation {
        /// Rule for the adaptation of max_p. true: Adaptive RED (2001). `gared`: only while the average moves away from
        /// its target (gentle Adaptive RED, 2006). false: none.
        pub rule as "adaptive": Rule =
            Kind::OneOf(&[Kind::Flag, Kind::Word(&["gared"])]).key().default("false"),
        /// Minimum time between two changes of max_p by the adaptation.
        pub interval: Span = Kind::Positive(TIME)
            .key()
            .default("500 ms")
            .source("Adaptive RED, section 5; ns-2: interval_"),
        /// Increment of max_p by the adaptation. A step is at most a quarter of max_p.
        pub alpha: f64 = UP_TO_1
            .key()
            .default("0.01")
            .source("Adaptive RED, section 5; ns-2: alpha_"),
        /// Factor by which the adaptation decreases max_p.
        pub beta: f64 = Kind::Number(Range::open(0.0, 1.0))
            .key()
            .default("0.9")
            .source("Adaptive RED, section 5; ns-2: beta_"),
        /// Upper bound of max_p: at or above it, the adaptation does not increase max_p.
        pub top: f64 = UP_TO_1
            .key()
            .default("0.5")
            .source("Adaptive RED, section 5; ns-2: top_"),
        /// Lower bound of max_p: at or below it, the adaptation does not decrease max_p. `auto`: 80 kbit/s divided by
        /// the link's rate, at most 0.01. Not for `gared`, which has no lower bound.
        pub bottom: Option<f64> = Kind::OneOf(&[AUTO, UP_TO_1])
            .key()
            .default("0.01")
            .in_profile(Profile::Ns2_35, "auto")
            .source("Adaptive RED, section 5; ns-2: bottom_"),
    }
}

/// Parameters of the adaptation of `max_p`, with their keys; `None` without adaptation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptive(pub Option<Adaptation>);

impl Adaptive {
    /// Scenario keys of the adaptation.
    pub const KEYS: &'static [Key] = Adaptation::KEYS;

    /// Reads the adaptation from `values`, in which defaults have been filled in.
    pub fn of(values: &Table) -> Self {
        let off = Value::Flag(false);
        let adapts = values.node(Adaptation::rule).value != off;
        Self(adapts.then(|| Adaptation::of(values)))
    }
}

/// Behaviour above the upper threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gentle {
    /// Every packet is marked or dropped above the threshold.
    Off,
    /// The probability rises from `max_p` at the upper threshold to 1 at twice that threshold.
    On,
    /// As `On`, but above the upper threshold, the probability rises from the initial `max_p`, even after `max_p` has
    /// been adapted (ns-2).
    Frozen,
}

/// Condition under which a selected ECN-capable packet is marked instead of dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Marking {
    /// The packet is marked, unless the average is so high that every packet is dropped.
    Always,
    /// The packet is marked if the probability is at most this value (ns-2 since 2002: 0.1). The probability is the one
    /// for the average queue, before the correction that spaces marks evenly.
    UpTo(f64),
    /// The packet is marked while the average is below the upper threshold (ns-2 up to 2.1b9; Weigle's dissertation,
    /// section 4.1.5).
    BelowMaxTh,
}

/// Rule that decides when `max_p` changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// max_p changes whenever the average is outside the target range (Adaptive RED, section 5).
    Adaptive,
    /// max_p changes at the end of an interval if the average is outside the target range and has moved away from it
    /// since the end of the previous interval (gentle Adaptive RED). max_p does not decrease if the average is at or
    /// below the lower threshold.
    GentleAdaptive,
}

impl Read for Gentle {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::Flag(false) => Some(Self::Off),
            Value::Flag(true) => Some(Self::On),
            Value::Text(word) if word == "frozen" => Some(Self::Frozen),
            _ => None,
        }
    }
}

impl Read for Marking {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::Number(mark_p) => Some(Self::UpTo(*mark_p)),
            Value::Text(word) if word == "always" => Some(Self::Always),
            Value::Text(word) if word == "below-max-th" => Some(Self::BelowMaxTh),
            _ => None,
        }
    }
}

impl Read for Rule {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::Flag(true) => Some(Self::Adaptive),
            Value::Text(word) if word == "gared" => Some(Self::GentleAdaptive),
            _ => None,
        }
    }
}

/// Replaces automatic values by values that follow from the link, and refuses thresholds and bounds in the wrong order.
pub(super) fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
    link.complete_size(values, RedConfig::mean_packet);
    let mean_packet = values.read(RedConfig::mean_packet);
    let packets_per_s = link.rate.packets_per_s(mean_packet.0);
    complete_thresholds(values, packets_per_s)?;
    if let Some(time_constant_s) = averaging_time_s(values, packets_per_s, link.delay) {
        let weight = 1.0 - libm::exp(-1.0 / (time_constant_s * packets_per_s));
        let rule =
            "1 - exp(-1/packets) over one second, or over ten round trips of at least 100 ms";
        values.derive(RedConfig::weight, Value::Number(weight), rule);
    }
    explain_limit_in_bytes(values, mean_packet);
    complete_adaptation(values, link.rate)
}

/// Adds the number of bytes to a limit in packets, as an explanation, if the queue is measured in bytes (ns-2: `qlim_`
/// times `mean_pktsize_` in `red.cc`).
fn explain_limit_in_bytes(values: &mut Table, mean_packet: Bytes) {
    let Quantity::Packets(packets) = values.read(RedConfig::limit.seen_as()) else {
        return;
    };
    if !values.read(RedConfig::queue_in_bytes) {
        return;
    }
    let bytes = Bytes(packets as u64 * mean_packet.0);
    let until = if values.read(RedConfig::limit_overshoot) {
        "a packet is let in while less waits"
    } else {
        "a packet is let in if it fits"
    };
    let before = match &values.node(RedConfig::limit).origin {
        Origin::Derived(rule) => format!("{rule}; "),
        _ => String::new(),
    };
    let rule = format!("{before}measured in bytes, {bytes} of packets of {mean_packet}: {until}");
    let packets = Value::Quantity(Quantity::Packets(packets));
    values.derive(RedConfig::limit, packets, rule);
}

fn complete_thresholds(values: &mut Table, packets_per_s: f64) -> Result<(), Refusal> {
    let packets = |packets| Value::Quantity(Quantity::Packets(packets));
    if values.is_word(RedConfig::min_th_pkts, "auto") {
        let target_delay = values.read(RedConfig::target_delay);
        let min_th = f64::max(5.0, target_delay.as_secs_f64() * packets_per_s / 2.0);
        let rule = "max(5, half of target_delay at the link's rate), in mean packets";
        values.derive(RedConfig::min_th_pkts, packets(min_th), rule);
    }
    let min_th = values.read(RedConfig::min_th_pkts);
    if values.is_word(RedConfig::max_th_pkts, "auto") {
        values.derive(RedConfig::max_th_pkts, packets(3.0 * min_th), "3 min_th");
    }
    let max_th = values.read(RedConfig::max_th_pkts);
    if min_th > max_th {
        let message = format!("min_th ({min_th} packets) is above max_th ({max_th} packets)");
        return Err(Refusal::of(RedConfig::min_th_pkts, message));
    }
    Ok(())
}

/// Returns the time constant of the average queue; `None` if the weight is given as a number. It is one second for
/// `per-packet` (Adaptive RED, section 4), and ten round trips for `auto`. A round trip is estimated as three times the
/// sum of the link's delay and a packet's transmission time; the minimum is 100 ms (ns-2.35).
fn averaging_time_s(values: &Table, packets_per_s: f64, delay: Span) -> Option<f64> {
    if values.is_word(RedConfig::weight, "per-packet") {
        Some(1.0)
    } else if values.is_word(RedConfig::weight, "auto") {
        let round_trip_s = 3.0 * (delay.as_secs_f64() + 1.0 / packets_per_s);
        Some(10.0 * f64::max(0.1, round_trip_s))
    } else {
        None
    }
}

fn complete_adaptation(values: &mut Table, rate: Rate) -> Result<(), Refusal> {
    let Adaptive(Some(adaptation)) = Adaptive::of(values) else {
        // The parameters of an adaptation have no meaning if there is no adaptation.
        values.remove(Adaptation::interval);
        values.remove(Adaptation::alpha);
        values.remove(Adaptation::beta);
        values.remove(Adaptation::top);
        values.remove(Adaptation::bottom);
        return Ok(());
    };
    if adaptation.rule == Rule::GentleAdaptive {
        // Gentle Adaptive RED has no lower bound.
        values.remove(Adaptation::bottom);
        return Ok(());
    }
    if values.is_word(Adaptation::bottom, "auto") {
        // The value is one packet per bandwidth-delay product for packets of 1000 bytes and 100 ms (ns-2.35): 8000 bits
        // divided by 0.1 s and by the rate.
        let packet_per_bdp = 80_000.0 / rate.as_bps() as f64;
        let bottom = Value::Number(f64::min(0.01, packet_per_bdp));
        let rule = "80 kbit/s over the rate, at most 0.01";
        values.derive(Adaptation::bottom, bottom, rule);
    }
    let (bottom, top) = (
        values.read(Adaptation::bottom.seen_as::<f64>()),
        adaptation.top,
    );
    if bottom > top {
        let message = format!("bottom ({bottom}) is above top ({top})");
        return Err(Refusal::of(Adaptation::bottom, message));
    }
    Ok(())
}

impl RedConfig {
    /// Reads the parameters from `values`, which have to be complete. If the queue is measured in bytes, a limit in
    /// packets is converted with the mean packet size.
    pub(super) fn complete(values: &Table, rate: Rate) -> Self {
        let mean_packet = values.read(Self::mean_packet);
        let mut config = Self::of(values, rate.packets_per_s(mean_packet.0));
        if let (Capacity::Packets(limit), true) = (config.limit, config.queue_in_bytes) {
            config.limit = Capacity::Bytes(limit * mean_packet.0);
        }
        config
    }
}

#[cfg(test)]
mod tests {
    use longhaul_keys::Field;

    use super::*;
    use crate::queue::red::tests::config;

    fn mbps(mbps: u64) -> Rate {
        Rate::from_bps(mbps * 1_000_000)
    }

    fn mean_packet(bytes: u64) -> (&'static str, Value) {
        (
            "mean_packet",
            Value::Quantity(Quantity::Bytes(Bytes(bytes))),
        )
    }

    fn word(key: &'static str, word: &str) -> (&'static str, Value) {
        (key, Value::Text(word.to_string()))
    }

    const ADAPTIVE: (&str, Value) = ("adaptive", Value::Flag(true));

    fn bottom(red: &RedConfig) -> f64 {
        red.adaptive
            .0
            .and_then(|adaptive| adaptive.bottom)
            .expect("it adapts")
    }

    /// Asserts that the relative error of `value` is below `relative`.
    fn assert_close(value: f64, expected: f64, relative: f64) {
        assert!(
            (value / expected - 1.0).abs() < relative,
            "{value} instead of {expected}"
        );
    }

    /// RED's automatic parameters equal those published in a study of split connections over satellites, for links of
    /// 100 and 50 Mbit/s, a delay of 0.25 s, and a mean packet of 500 B.
    #[test]
    fn automatic_configuration_of_the_split_connection_study() {
        let delay = Span::from_millis(250);
        let fast = config(mbps(100), delay, [mean_packet(500)]);
        assert_eq!(
            (fast.min_th_pkts, fast.max_th_pkts, fast.max_p),
            (62.5, 187.5, 0.1)
        );
        assert!((fast.weight - 5.3325e-6).abs() < 1e-9, "{}", fast.weight);
        let slow = config(mbps(50), delay, [mean_packet(500)]);
        assert_eq!((slow.min_th_pkts, slow.max_th_pkts), (31.25, 93.75));
        assert_close(slow.weight, 1.0663e-5, 1e-4);
    }

    #[test]
    fn automatic_configuration_as_ns2_reports_it() {
        // The values are those of ns-2.35 for 1 Gbit/s and 50 ms with a mean packet of 1500 and of 500 B, and for 622
        // Mbit/s with 1500 B.
        let delay = Span::from_millis(50);
        let auto = |rate, bytes| {
            config(
                rate,
                delay,
                [mean_packet(bytes), ADAPTIVE, word("bottom", "auto")],
            )
        };

        let gigabit = auto(mbps(1000), 1500);
        assert_close(gigabit.weight, 7.998_048e-6, 1e-6);
        assert_close(gigabit.min_th_pkts, 208.3333, 1e-6);
        assert_close(gigabit.max_th_pkts, 625.0, 1e-12);
        assert_close(bottom(&gigabit), 8e-5, 1e-12);

        let oc12 = auto(mbps(622), 1500);
        assert_close(oc12.weight, 1.285_669e-5, 1e-6);
        assert_close(oc12.min_th_pkts, 129.5833, 1e-6);
        assert_close(bottom(&oc12), 0.000_128_617_4, 1e-6);

        let small = auto(mbps(1000), 500);
        assert_close(small.weight, 2.666_45e-6, 1e-6);
        assert_eq!((small.min_th_pkts, small.max_th_pkts), (625.0, 1875.0));

        let per_packet = [mean_packet(1500), word("weight", "per-packet")];
        let weight = config(mbps(1000), delay, per_packet).weight;
        assert_close(weight, 1.199_993e-5, 1e-6);
    }

    #[test]
    fn slow_links_hit_the_lower_bounds() {
        let values = [mean_packet(1000), ADAPTIVE, word("bottom", "auto")];
        let red = config(mbps(1), Span::from_millis(10), values);
        assert_eq!(red.min_th_pkts, 5.0);
        assert_eq!(bottom(&red), 0.01);
    }

    /// Returns all of RED's values for a link of 100 Mbit/s, or the error message if `given` is refused.
    fn complete_values<const N: usize>(given: [(&'static str, Value); N]) -> Result<Table, String> {
        let packets = Value::Quantity(Quantity::Packets(100.0));
        let defaults =
            Table::defaults(RedConfig::KEYS, Profile::Rfc).with(RedConfig::limit, packets);
        let given = given.into_iter();
        let mut values = given.fold(defaults, |values, (key, value)| {
            values.with(Field::<()>::new(key), value)
        });
        let link = LinkContext::new(mbps(100), Span::from_millis(10), Bytes(1500));
        let completed = complete(&mut values, &link).map_err(|refusal| refusal.message);
        completed.map(|()| values)
    }

    /// Checks that the adaptation's parameters get defaults only with `adaptive`, and that `bottom` gets no default
    /// with `gared`.
    #[test]
    fn an_adaptation_has_its_own_values() {
        let keys = ["interval", "alpha", "beta", "top", "bottom"];
        let found = |adaptive: Value| {
            let values = complete_values([("adaptive", adaptive)]).expect("sound values");
            keys.map(|key| values.has(Field::<()>::new(key)))
        };
        assert_eq!(found(Value::Flag(false)), [false; 5]);
        assert_eq!(found(Value::Flag(true)), [true; 5]);
        assert_eq!(found(Value::text("gared")), [true, true, true, true, false]);
    }

    /// The lower bound of `max_p` may equal the upper bound, but not exceed it.
    #[test]
    fn bounds_of_an_adaptation_are_in_order() {
        let bounds = |bottom, top| {
            let given = [
                ADAPTIVE,
                ("bottom", Value::Number(bottom)),
                ("top", Value::Number(top)),
            ];
            complete_values(given).map(drop)
        };
        assert_eq!(bounds(0.25, 0.25), Ok(()));
        assert_eq!(
            bounds(0.5, 0.25),
            Err("bottom (0.5) is above top (0.25)".to_string())
        );
    }

    /// If the queue is measured in bytes, the report of a limit in packets gives the number of bytes.
    #[test]
    fn limits_in_packets_say_their_bytes() {
        let rule = |in_bytes: bool, overshoot: bool| {
            let given = [
                ("in_bytes", Value::Flag(in_bytes)),
                ("limit_overshoot", Value::Flag(overshoot)),
                mean_packet(500),
            ];
            let values = complete_values(given).expect("sound values");
            match &values.node(RedConfig::limit).origin {
                Origin::Derived(rule) => Some(rule.clone()),
                _ => None,
            }
        };
        assert_eq!(rule(false, false), None);
        let measured = "measured in bytes, 50 kB of packets of 500 B: a packet is let in";
        assert_eq!(rule(true, false), Some(format!("{measured} if it fits")));
        assert_eq!(
            rule(true, true),
            Some(format!("{measured} while less waits"))
        );
    }

    #[test]
    fn what_the_user_says_stays() {
        let values = [
            mean_packet(500),
            ("min_th", Value::Quantity(Quantity::Packets(2500.0))),
            ("weight", Value::Number(0.002)),
            ("in_bytes", Value::Flag(true)),
            ADAPTIVE,
            ("bottom", Value::Number(1e-4)),
        ];
        let red = config(mbps(2500), Span::from_millis(25), values);
        assert_eq!((red.min_th_pkts, red.max_th_pkts), (2500.0, 7500.0));
        assert_eq!(red.weight, 0.002);
        assert_eq!(bottom(&red), 1e-4);
        assert_eq!(red.limit, Capacity::Bytes(1_000_000 * 500));
    }
}
