//! Differential test of RED against a reference model, which implements the rules of ns-2.35's `red.cc` literally,
//! without optimisation. The model also has the options that ns-2.35 lacks, for example gentle Adaptive RED.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::tests::{adaptation, parameters};
use super::*;

/// Reference model: ns-2.35's RED.
struct Model {
    config: RedConfig,
    average: f64,
    count: u64,
    count_bytes: u64,
    old: bool,
    max_p: f64,
    last_change: Time,
    /// End of the current interval.
    interval_end: Time,
    /// Average queue length at the end of the previous interval (gentle Adaptive RED).
    average_at_end: f64,
    stream: Stream,
}

impl Model {
    fn new(config: RedConfig, stream: Stream) -> Self {
        Self {
            config,
            average: 0.0,
            count: 0,
            count_bytes: 0,
            old: false,
            max_p: config.max_p,
            last_change: Time::ZERO,
            interval_end: config
                .adaptive
                .0
                .map_or(Time::NEVER, |adaptive| Time::ZERO + adaptive.interval),
            average_at_end: 0.0,
            stream,
        }
    }

    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        let c = self.config;
        let unit = if c.queue_in_bytes {
            c.mean_packet.0 as f64
        } else {
            1.0
        };
        let (min_th, max_th) = (c.min_th_pkts * unit, c.max_th_pkts * unit);
        self.end_intervals(arrival.now, min_th, max_th);
        let q = if c.queue_in_bytes {
            arrival.waiting_bytes
        } else {
            arrival.waiting_pkts
        };
        let idle = arrival
            .idle_since
            .map_or(0.0, |since| arrival.now.since(since).as_secs_f64());
        for _ in 0..=(idle * c.packets_per_s) as u64 {
            self.average *= 1.0 - c.weight;
        }
        self.average += c.weight * q as f64;
        self.adapt(arrival.now, min_th, max_th);
        self.count += 1;
        self.count_bytes += u64::from(arrival.bytes);
        let mut verdict = Verdict::Accept;
        if self.average >= min_th && q > 1 {
            let certain = if c.gentle == Gentle::Off {
                max_th
            } else {
                2.0 * max_th
            };
            if !matches!(c.marking, Marking::UpTo(_)) && self.average >= certain {
                (self.count, self.count_bytes) = (0, 0);
                verdict = Verdict::Drop(DropReason::Forced);
            } else if !self.old {
                self.old = true;
                (self.count, self.count_bytes) = (1, u64::from(arrival.bytes));
            } else {
                verdict = self.early(arrival, min_th, max_th);
            }
        } else {
            self.old = false;
        }
        let bytes = u64::from(arrival.bytes);
        let full = match c.limit {
            Capacity::Packets(limit) => arrival.waiting_pkts >= limit,
            Capacity::Bytes(limit) if c.limit_overshoot => arrival.waiting_bytes >= limit,
            Capacity::Bytes(limit) => arrival.waiting_bytes + bytes > limit,
        };
        if full && arrival.idle_since.is_none() {
            (self.count, self.count_bytes) = (0, 0);
            verdict = Verdict::Drop(DropReason::Overflow);
        }
        verdict
    }

    fn adapt(&mut self, now: Time, min_th: f64, max_th: f64) {
        let Some(adaptive) = self.config.adaptive.0 else {
            return;
        };
        let is_due = now > self.last_change + adaptive.interval;
        if !is_due || adaptive.rule == Rule::GentleAdaptive {
            return;
        }
        let part = 0.4 * (max_th - min_th);
        if self.average < min_th + part && self.max_p > adaptive.bottom.unwrap_or(0.0) {
            self.max_p *= adaptive.beta;
            self.last_change = now;
        } else if self.average > max_th - part && self.max_p < adaptive.top {
            self.max_p += adaptive.alpha.min(0.25 * self.max_p);
            self.last_change = now;
        }
    }

    /// Adapts `max_p` at the end of each interval before `now` (gentle Adaptive RED: thesis, Osaka University, 2006,
    /// chapter 3). `max_p` changes only if the average is outside its target range and has moved away from the range
    /// during the interval. `max_p` does not fall if the average is at or below the lower threshold.
    fn end_intervals(&mut self, now: Time, min_th: f64, max_th: f64) {
        let Some(adaptive) = self.config.adaptive.0 else {
            return;
        };
        let part = 0.4 * (max_th - min_th);
        while adaptive.rule == Rule::GentleAdaptive && self.interval_end < now {
            let moved = self.average - self.average_at_end;
            let falls = self.average < min_th + part && self.average > min_th && moved < 0.0;
            let rises = self.average > max_th - part && moved > 0.0;
            if falls && self.max_p > adaptive.bottom.unwrap_or(0.0) {
                self.max_p *= adaptive.beta;
            } else if rises && self.max_p < adaptive.top {
                self.max_p += adaptive.alpha.min(0.25 * self.max_p);
            }
            self.average_at_end = self.average;
            self.interval_end += adaptive.interval;
        }
    }

    fn early(&mut self, arrival: &Arrival, min_th: f64, max_th: f64) -> Verdict {
        let c = self.config;
        let beyond = (self.average - max_th) / max_th;
        let base = match c.gentle {
            _ if self.average < max_th => self.max_p * (self.average - min_th) / (max_th - min_th),
            Gentle::Off => 1.0,
            Gentle::On => self.max_p + (1.0 - self.max_p) * beyond,
            // With frozen parameters, the line begins at the initial max_p.
            Gentle::Frozen => c.max_p + (1.0 - c.max_p) * beyond,
        };
        let base = base.min(1.0);
        let count = if c.scale_by_size {
            self.count_bytes / c.mean_packet.0
        } else {
            self.count
        };
        let count = count as f64;
        let mut p = if c.wait && count * base < 1.0 {
            0.0
        } else if c.wait && count * base < 2.0 {
            base / (2.0 - count * base)
        } else if !c.wait && count * base < 1.0 {
            base / (1.0 - count * base)
        } else {
            1.0
        };
        if c.scale_by_size && p < 1.0 {
            p *= f64::from(arrival.bytes) / c.mean_packet.0 as f64;
        }
        if self.stream.uniform() >= p {
            return Verdict::Accept;
        }
        (self.count, self.count_bytes) = (0, 0);
        let marks = match c.marking {
            Marking::Always => true,
            Marking::UpTo(mark_p) => base <= mark_p,
            Marking::BelowMaxTh => self.average < max_th,
        };
        if c.ecn && arrival.ecn_capable && marks {
            Verdict::AcceptMarked
        } else if base >= 1.0 {
            Verdict::Drop(DropReason::Forced)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }
}

prop_compose! {
    fn any_parameters()(
        // With whole thresholds and a weight of 1, the average may equal a threshold.
        min_th in prop_oneof![1.0..20.0_f64, (1..20_u8).prop_map(f64::from)],
        width in prop_oneof![1.0..40.0_f64, (0..20_u8).prop_map(f64::from)],
        weight in prop_oneof![0.001..1.0_f64, Just(1.0)],
        max_p in 0.001..1.0_f64,
        limit in 1..200_u64,
        gentle in prop_oneof![Just(Gentle::Off), Just(Gentle::On), Just(Gentle::Frozen)],
        marking in prop_oneof![
            Just(Marking::Always),
            (0.01..1.0_f64).prop_map(Marking::UpTo),
            Just(Marking::BelowMaxTh),
        ],
        rule in prop::option::of(prop_oneof![Just(Rule::Adaptive), Just(Rule::GentleAdaptive)]),
        (ecn, queue_in_bytes, scale_by_size, wait, limit_overshoot) in any::<(bool, bool, bool, bool, bool)>(),
    ) -> RedConfig {
        RedConfig {
            limit: if queue_in_bytes {
                Capacity::Bytes(500 * limit)
            } else {
                Capacity::Packets(limit)
            },
            limit_overshoot,
            min_th_pkts: min_th,
            max_th_pkts: min_th + width,
            weight,
            max_p,
            gentle,
            ecn,
            marking,
            queue_in_bytes,
            scale_by_size,
            wait,
            adaptive: Adaptive(rule.map(adaptation)),
            ..parameters()
        }
    }
}

proptest! {
    /// The verdicts equal the model's and satisfy RED's invariants. Arrivals are random, in sets of fifty; the queue
    /// alternately becomes idle and grows.
    #[test]
    fn verdicts_are_those_of_the_literal_rules(
        config in any_parameters(),
        steps in prop::collection::vec((0..4_u64, 40..1500_u32, any::<bool>(), 1..80_u64), 1..600),
        // Without the offset of 500 us, packets arrive at whole milliseconds, when intervals end.
        later_us in prop_oneof![Just(0), Just(500)],
    ) {
        let mut red = Red::new(config, Stream::new(3, 0, "red"));
        let mut model = Model::new(config, Stream::new(3, 0, "red"));
        let mut now = Time::ZERO;
        let mut waiting = VecDeque::new();
        let mut idle_since = Some(now);
        for (step, (served, bytes, ecn_capable, ms)) in steps.into_iter().enumerate() {
            now += Span::from_millis(ms);
            let served = if step / 50 % 2 == 0 { served } else { served / 3 };
            for _ in 0..served {
                // The link becomes idle when no packet is left.
                if waiting.pop_front().is_none() {
                    idle_since = idle_since.or(Some(now));
                }
            }
            let arrival = Arrival {
                now: now + Span::from_micros(later_us),
                bytes,
                ecn_capable,
                low_priority: false,
                waiting_pkts: waiting.len() as u64,
                waiting_bytes: waiting.iter().map(|&bytes| u64::from(bytes)).sum(),
                idle_since,
            };
            let is_idle = arrival.idle_since.is_some() && red.accepts_trivially(arrival.now);
            let verdict = if is_idle {
                Verdict::Accept
            } else {
                red.decide(&arrival)
            };
            prop_assert_eq!(verdict, model.on_arrival(&arrival));
            prop_assert!((red.average - model.average).abs() <= 1e-9 * (1.0 + model.average));
            prop_assert_eq!(red.max_p(), model.max_p);
            if let Verdict::Drop(reason) = verdict {
                prop_assert!(reason == DropReason::Overflow || arrival.waiting_pkts > 0);
            } else if idle_since.take().is_none() {
                waiting.push_back(bytes);
            }
            prop_assert!(verdict != Verdict::AcceptMarked || (config.ecn && ecn_capable));
        }
    }
}
