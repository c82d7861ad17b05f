//! H-TCP: additive increase that grows with the time since the last congestion event.
//!
//! Leith and Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004, and draft-leith-tcp-htcp.
//! Variant linux-2.6.22 follows Linux 2.6.22, and scales the increase by the round-trip time. Variant nist is the form
//! of NIST SP 500-282, equations 30 to 36.

mod kernel;

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::kernel::KernelHtcp;
use crate::congestion_control::{CongestionControl, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::periodic::Periodic;
use crate::quantity::Quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Htcp> = Entry {
    kind: "htcp",
    title: "H-TCP",
    description: "Standard TCP for one second after a congestion event; from then on it grows faster, the longer no \
        further event occurs. At a congestion event it removes the part of the window that fills the queue, by the \
        ratio of the smallest to the largest round-trip time, or half of the window if the throughput has changed \
        much since the previous event. Variant linux-2.6.22 scales the increase with the round-trip time in units of \
        100 ms, counts time from the end of recovery, and uses that ratio, of smoothed round-trip times, only if \
        throughput was steady twice in a row and the smallest is above 10 ms; variant linux-6.18 is the form of a \
        current kernel, in whole segments; variant nist scales with the round-trip time in seconds.",
    law: &[
        "t = time since the last congestion event - low_speed_time",
        "a = 1 where t <= 0, else 1 + 10 * t + 0.25 * t^2; b = min_rtt / max_rtt, from 0.5 to max_kept",
        "b = 0.5 where the throughput has changed by more than throughput_change since the event before",
        "each ACK: cwnd += 2 * (1 - b) * a * acked / cwnd",
        "congestion: cwnd = b * cwnd",
    ],
    source: "draft-leith-tcp-htcp-06",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[
        Quantity::new("kept", "", "part of the window kept at the last loss"),
        Quantity::new("max_rtt_s", "s", "largest round-trip time"),
    ],
    variants: &[
        Variant::Paper,
        Variant::Linux2_6_22,
        Variant::Linux6_18,
        Variant::Nist,
    ],
    parameters: &PARAMETERS,
    build: |settings| Ok(Htcp::new(settings)),
};

static PARAMETERS: [Parameter; 3] = [
    Parameter {
        name: "low_speed_time",
        unit: "seconds",
        default: DefaultValue::Fixed(1.0),
        allowed: Range::closed(0.0, 1e3),
        help: "Time after a congestion event during which the flow is standard TCP.",
        source: "draft-leith-tcp-htcp-06, Delta_L",
    },
    Parameter {
        name: "throughput_change",
        unit: "fraction of the throughput",
        default: DefaultValue::Fixed(0.2),
        allowed: Range::closed(0.0, 1e3),
        help: "Change of throughput between two congestion events above which the window is halved.",
        source: "draft-leith-tcp-htcp-06, adaptive backoff",
    },
    Parameter {
        name: "max_kept",
        unit: "fraction of the window",
        default: DefaultValue::Derived {
            rule: "0.8; variants linux-2.6.22 and linux-6.18: 102/128",
            value: |settings| match settings.variant() {
                Variant::Linux2_6_22 | Variant::Linux6_18 => 102.0 / 128.0,
                _ => 0.8,
            },
        },
        allowed: Range::closed(0.5, 0.99),
        help: "Largest part of the window kept at a congestion signal; the smallest is one half.",
        source: "draft-leith-tcp-htcp-06, adaptive backoff",
    },
];

/// Factor by which each loss or mark multiplies the difference between the largest and the smallest round-trip time,
/// except in variant nist. The largest round-trip time thus adapts when the path changes (`htcp_param_update` of
/// tcp_htcp.c; FreeBSD's cc_htcp.c has the same value).
const REMEMBERED: f64 = 0.95;

/// Resolution of round-trip times in Linux: a jiffy of one millisecond, with 1000 jiffies per second.
const JIFFY: Span = Span::from_millis(1);

/// Denominator of the ratio of the smallest to the largest round-trip time in Linux (`<< 7`).
const RATIO_UNIT: f64 = 128.0;

/// Threshold of the smallest round-trip time. Up to the threshold, Linux always halves the window.
const LINUX_MIN_RTT: Span = Span::from_millis(10);

/// Maximum increase of the largest round-trip time by one sample in Linux.
const LINUX_MAX_STEP: Span = Span::from_millis(20);

/// Time that Linux waits after a recovery before it measures the largest round-trip time again, in multiples of the
/// smallest round-trip time.
const LINUX_SETTLED: u64 = 4;
/// Slow start threshold before the first congestion event, in segments. Linux does not measure the largest round-trip
/// time while the threshold has this value.
const LINUX_NO_THRESHOLD: f64 = 65_535.0;

/// State of H-TCP for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Htcp {
    low_speed_time: f64,
    throughput_change: f64,
    max_kept: f64,
    variant: Variant,
    /// Fraction of the window that was kept at the last congestion event.
    kept: f64,
    /// Time of the last congestion event (in Linux 2.6.22, of the end of its recovery) or, before the first one, of the
    /// first acknowledgement in congestion avoidance.
    since: Option<Time>,
    /// True if the throughput was steady at the last congestion event.
    was_steady: bool,
    max_rtt: Span,
    min_rtt: Span,
    throughput: Throughput,
    kernel: Option<Box<KernelHtcp>>,
}

impl Htcp {
    fn new(settings: &Settings) -> Self {
        let nist = settings.variant() == Variant::Nist;
        Self {
            low_speed_time: settings.get("low_speed_time"),
            throughput_change: settings.get("throughput_change"),
            max_kept: settings.get("max_kept"),
            variant: settings.variant(),
            kept: 0.5,
            since: None,
            was_steady: false,
            max_rtt: Span::ZERO,
            min_rtt: Span::ZERO,
            throughput: if nist {
                Throughput::NIST
            } else {
                Throughput::PAPER
            },
            kernel: (settings.variant() == Variant::Linux6_18)
                .then(|| Box::new(KernelHtcp::new(settings.get("max_kept")))),
        }
    }

    /// Returns the growth in segments per round trip. `elapsed` is the time since the last congestion event in seconds.
    fn increase(&self, elapsed: f64) -> f64 {
        let fast = elapsed - self.low_speed_time;
        let standard = if fast <= 0.0 {
            1.0
        } else {
            1.0 + 10.0 * fast + 0.25 * fast * fast
        };
        let rtt = self.min_rtt.as_secs_f64();
        let scaled = match self.variant {
            // Linux rounds the increase down to whole segments, and the ratio of 100 ms to the round-trip time to
            // eighths (tcp_htcp.c, `htcp_alpha_update`).
            Variant::Linux2_6_22 if self.min_rtt >= JIFFY => {
                let eighths = (JIFFY * 800).as_ps() / self.min_rtt.as_ps();
                libm::floor(8.0 * libm::floor(standard) / eighths.clamp(4, 80) as f64)
            }
            Variant::Nist if fast > 0.0 => standard * rtt,
            _ => standard,
        };
        2.0 * (1.0 - self.kept) * scaled.max(1.0)
    }

    /// Updates the fraction of the window to keep (adaptive backoff). Ends the throughput's epoch. Except in variant
    /// nist, lowers the largest round-trip time.
    fn adapt(&mut self) {
        let steady = self.throughput.steady(self.throughput_change);
        let ratio = self.min_rtt.as_secs_f64() / self.max_rtt.as_secs_f64();
        let trusted =
            self.variant != Variant::Linux2_6_22 || self.was_steady && self.min_rtt > LINUX_MIN_RTT;
        self.was_steady = steady;
        let ratio = match self.variant {
            Variant::Linux2_6_22 => libm::floor(RATIO_UNIT * ratio) / RATIO_UNIT,
            _ => ratio,
        };
        let known = steady && trusted && ratio.is_finite();
        self.kept = if known {
            ratio.clamp(0.5, self.max_kept)
        } else {
            0.5
        };
        if self.variant != Variant::Nist {
            let queueing = self.max_rtt.saturating_sub(self.min_rtt).as_secs_f64();
            self.max_rtt = self.min_rtt + Span::from_secs_f64(REMEMBERED * queueing);
            if self.variant == Variant::Linux2_6_22 {
                self.max_rtt = whole_jiffies(self.max_rtt);
            }
        }
    }

    /// Updates the smallest and the largest round-trip time as Linux does, from smoothed round-trip times in congestion
    /// avoidance (`measure_rtt` of tcp_htcp.c, 2.6.22).
    fn measure_as_linux(&mut self, ack: &AckSample, since: Time, window: &Window) {
        let rtt = whole_jiffies(ack.srtt);
        if self.min_rtt == Span::ZERO || rtt < self.min_rtt {
            self.min_rtt = rtt;
        }
        let settled = ack.now.since(since) >= self.min_rtt * LINUX_SETTLED;
        if !settled || window.ssthresh() >= LINUX_NO_THRESHOLD {
            return;
        }
        self.max_rtt = self.max_rtt.max(self.min_rtt);
        if rtt > self.max_rtt && rtt <= self.max_rtt + LINUX_MAX_STEP {
            self.max_rtt = rtt;
        }
    }
}

fn whole_jiffies(span: Span) -> Span {
    JIFFY * (span.as_ps() / JIFFY.as_ps())
}

impl CongestionControl for Htcp {
    fn needs(&self) -> Needs {
        Needs::RTT
    }

    fn on_handshake(&mut self, ack: &AckSample, _window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            kernel.begin(ack.now);
        }
    }

    /// Processes an acknowledgement. Measures delays and throughput in every phase (NIST SP 500-282, chapter 5).
    /// Variant linux-2.6.22 measures delays in congestion avoidance only.
    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_ack(ack, phase, window);
        }
        if self.variant != Variant::Linux2_6_22 {
            self.min_rtt = ack.min_rtt;
            self.max_rtt = self.max_rtt.max(ack.rtt.unwrap_or(Span::ZERO));
        }
        self.throughput.observe(ack);
        if phase != Phase::Avoidance {
            return;
        }
        let since = *self.since.get_or_insert(ack.now);
        if self.variant == Variant::Linux2_6_22 {
            self.measure_as_linux(ack, since, window);
        }
        let step = self.increase(ack.now.since(since).as_secs_f64()) / window.cwnd();
        window.grow(step * ack.credit);
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_congestion(event, window);
        }
        self.adapt();
        self.since = Some(event.now);
        window.reduce_to(event.base * self.kept);
    }

    fn on_recovery_exit(&mut self, now: Time, _window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_recovery_exit(now);
        }
        if self.variant == Variant::Linux2_6_22 {
            self.since = Some(now);
        }
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_timeout(event, window);
        }
        self.kept = 0.5;
        self.since = Some(event.now);
        self.throughput.end_epoch();
        restart(event, window);
    }

    fn departs_from_standard(&self, now: Time, _window: &Window) -> bool {
        if let Some(kernel) = &self.kernel {
            return kernel.elapsed_s(now) > self.low_speed_time;
        }
        self.since
            .is_some_and(|since| now.since(since).as_secs_f64() > self.low_speed_time)
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(kernel) = &self.kernel {
            return kernel.probe(out);
        }
        out("kept", self.kept);
        out("max_rtt_s", self.max_rtt.as_secs_f64());
    }
}

/// Throughput in segments per second: a moving average, and one value each for this and the last congestion epoch.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Throughput {
    /// Weight of a new sample in the average throughput.
    gain: f64,
    /// Duration of a throughput sample; zero means one round trip.
    period: Span,
    /// True if an epoch's throughput is the largest value of `mean` in the epoch; false if it is the last value.
    largest: bool,
    /// True if the average throughput starts with the first sample, false if it starts with zero.
    seeded: bool,
    timer: Periodic,
    /// Number of the connection's segments delivered when the current sample began.
    begin: u64,
    mean: f64,
    epoch: f64,
    last_epoch: f64,
}

impl Throughput {
    /// Settings of the authors' reference implementation.
    const PAPER: Self = Self {
        gain: 0.25,
        period: Span::ZERO,
        largest: true,
        seeded: true,
        ..Self::NIST
    };
    /// Settings of NIST SP 500-282, equation 36.
    const NIST: Self = Self {
        gain: 0.5,
        period: Span::from_millis(250),
        largest: false,
        seeded: false,
        timer: Periodic::NEW,
        begin: 0,
        mean: 0.0,
        epoch: 0.0,
        last_epoch: 0.0,
    };

    fn observe(&mut self, ack: &AckSample) {
        let period = if self.period == Span::ZERO {
            ack.srtt
        } else {
            self.period
        };
        let Some(length) = self.timer.elapsed(ack.now, period) else {
            return;
        };
        let sample = (ack.delivered - self.begin) as f64 / length.as_secs_f64();
        self.begin = ack.delivered;
        let first = self.seeded && self.mean == 0.0;
        let gain = if first { 1.0 } else { self.gain };
        self.mean += gain * (sample - self.mean);
        self.epoch = if self.largest {
            self.epoch.max(self.mean)
        } else {
            self.mean
        };
    }

    /// Ends an epoch. Returns true if the throughput of this epoch differs from the throughput of the epoch before by
    /// at most the fraction `change`; false if the epoch before has no throughput.
    fn steady(&mut self, change: f64) -> bool {
        let (last, now) = (self.last_epoch, self.epoch);
        self.end_epoch();
        last > 0.0 && (now - last).abs() <= change * last
    }

    fn end_epoch(&mut self) {
        self.last_epoch = self.epoch;
        self.epoch = if self.largest { 0.0 } else { self.mean };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Rounding;

    const ACK: AckSample = AckSample::ONE_SEGMENT;

    fn htcp(variant: Variant) -> Htcp {
        Htcp::new(&ENTRY.settings(variant, &[]).unwrap())
    }

    #[test]
    fn the_increase_follows_the_draft_s_polynomial() {
        let htcp = htcp(Variant::Paper);
        // The increase is 1 + 10 (t - 1) + ((t - 1) / 2)^2 segments.
        for (t, expected) in [
            (0.5, 1.0),
            (1.0, 1.0),
            (2.0, 11.25),
            (5.0, 45.0),
            (11.0, 126.0),
        ] {
            assert!((htcp.increase(t) - expected).abs() < 1e-12, "{t} s");
        }
    }

    /// Checks that Linux does not scale the increase by the round-trip time below a clock tick of one millisecond. At
    /// one tick, the increase is multiplied by 8 / 80, the smallest factor (`htcp_alpha_update`).
    #[test]
    fn linux_does_not_scale_round_trips_of_no_tick() {
        for (rtt_us, expected) in [(1_000, 2.0), (999, 22.0)] {
            let mut htcp = htcp(Variant::Linux2_6_22);
            htcp.kept = 0.5;
            htcp.min_rtt = Span::from_micros(rtt_us);
            // The increase is 1 + 10 * 2 + (2 / 2)^2 = 22 segments, and 8 * 22 / 80 = 2.2.
            assert_eq!(htcp.increase(3.0), expected, "{rtt_us} us");
        }
    }

    #[test]
    fn the_increase_is_scaled_with_what_is_removed_and_with_the_round_trip() {
        let cases = [
            (Variant::Paper, 50, 4.5),
            (Variant::Linux2_6_22, 50, 2.0),
            (Variant::Nist, 200, 0.9),
        ];
        for (variant, rtt_ms, expected) in cases {
            let mut htcp = htcp(variant);
            htcp.kept = 0.8;
            htcp.min_rtt = Span::from_millis(rtt_ms);
            // The increase is 11.25 * 2 (1 - 0.8) segments, multiplied by 1, 1/2 and 1/5 for the round-trip time. Linux
            // truncates 11.25 to 11, and 5.5 to 5.
            assert!((htcp.increase(2.0) - expected).abs() < 1e-12, "{variant}");
        }
    }

    /// Returns the ratio of the smallest to the largest round-trip time after `forgotten` congestion events. Their
    /// difference is initially 30 ms, and each event reduces it by a twentieth.
    fn ratio(forgotten: i32) -> f64 {
        70.0 / (70.0 + 30.0 * 0.95_f64.powi(forgotten))
    }

    #[test]
    fn it_keeps_the_ratio_of_round_trip_times_while_throughput_is_steady() {
        let mut htcp = htcp(Variant::Paper);
        htcp.min_rtt = Span::from_millis(70);
        htcp.max_rtt = Span::from_millis(100);
        for (throughput, kept) in [
            (1000.0, 0.5),
            (1100.0, ratio(1)),
            (1400.0, 0.5),
            (1300.0, ratio(3)),
        ] {
            htcp.throughput.epoch = throughput;
            htcp.adapt();
            assert!((htcp.kept - kept).abs() < 1e-9, "{throughput}");
        }
    }

    /// Checks which smoothed round-trip times Linux's variant ignores: those in the first 40 ms of congestion avoidance
    /// (four times the smallest round-trip time), and those more than 20 ms above the largest one.
    #[test]
    fn linux_measures_round_trip_times_as_its_module_does() {
        let mut window = Window::new(100.0, 50.0, 1e6, Rounding::Real);
        let mut htcp = htcp(Variant::Linux2_6_22);
        let mut now = Time::ZERO;
        let mut take = |htcp: &mut Htcp, srtt_ms: u64| {
            now += Span::from_millis(10);
            let ack = AckSample {
                now,
                srtt: Span::from_millis(srtt_ms),
                ..ACK
            };
            htcp.on_ack(&ack, Phase::Avoidance, &mut window);
            htcp.max_rtt
        };
        for _ in 0..4 {
            assert_eq!(take(&mut htcp, 10), Span::ZERO);
        }
        // The next acknowledgement comes 40 ms after the first one.
        let cases = [(10, 10), (31, 10), (30, 30), (51, 30), (45, 45), (20, 45)];
        for (srtt_ms, largest_ms) in cases {
            let largest = Span::from_millis(largest_ms);
            assert_eq!(take(&mut htcp, srtt_ms), largest, "{srtt_ms} ms");
        }
        // Half of the window is kept if the smallest round-trip time is only 10 ms. At 36 ms, the ratio to the largest
        // one exceeds the upper bound, 102/128.
        for (min_ms, kept) in [(10, 0.5), (36, 102.0 / 128.0)] {
            htcp.min_rtt = Span::from_millis(min_ms);
            for _ in 0..3 {
                htcp.throughput.epoch = 1000.0;
                htcp.adapt();
            }
            assert!((htcp.kept - kept).abs() < 1e-9, "{min_ms} ms");
        }
    }

    /// Checks that Linux keeps half of the window until the second successive event with steady throughput. It then
    /// keeps the ratio of the smallest to the largest round-trip time, in 128ths. The smallest one is 70 ms; the
    /// largest one is 100, 98, 96, 94, 92 and 90 ms at the events, in whole milliseconds.
    #[test]
    fn linux_waits_for_a_second_steady_event() {
        let mut htcp = htcp(Variant::Linux2_6_22);
        htcp.min_rtt = Span::from_millis(70);
        htcp.max_rtt = Span::from_millis(100);
        for (throughput, in_128ths) in [
            (1000.0, 64.0),
            (1100.0, 64.0),
            (1100.0, 93.0),
            (1400.0, 64.0),
            (1400.0, 64.0),
            (1400.0, 99.0),
        ] {
            htcp.throughput.epoch = throughput;
            htcp.adapt();
            assert_eq!(htcp.kept, in_128ths / 128.0, "{throughput}");
        }
    }

    /// Compares the growth with NIST SP 500-282, equations 30 to 32. Each row has the seconds since the last congestion
    /// event, and the growth in segments per round trip of 42 ms and of 324 ms.
    #[test]
    fn nist_s_increase_is_in_segments_per_second_of_round_trip() {
        for (elapsed, short, long) in [
            (1.0, 1.0, 1.0),
            (1.5, 1.0, 1.964_25),
            (2.0, 1.0, 3.645),
            (5.0, 1.89, 14.58),
            (10.0, 4.6725, 36.045),
            (20.0, 11.8125, 91.125),
        ] {
            for (rtt_ms, expected) in [(42, short), (324, long)] {
                let mut htcp = htcp(Variant::Nist);
                htcp.min_rtt = Span::from_millis(rtt_ms);
                let found = htcp.increase(elapsed);
                assert!((found - expected).abs() < 1e-9, "{elapsed} s: {found}");
            }
        }
    }

    /// Checks the average throughput step by step against NIST SP 500-282, equation 36, with 100 segments in each 250
    /// ms. NIST's average starts at 0; at each sample, it becomes the mean of its former value and the sample. In the
    /// authors' implementation, the average starts with the first sample.
    #[test]
    fn nist_s_throughput_starts_from_zero() {
        let means = |mut throughput: Throughput| {
            [0, 100, 200, 300].map(|delivered| {
                throughput.observe(&AckSample {
                    now: Time::ZERO + Span::from_millis(250) * (delivered / 100),
                    delivered,
                    srtt: Span::from_millis(250),
                    ..ACK
                });
                throughput.mean
            })
        };
        assert_eq!(means(Throughput::NIST), [0.0, 200.0, 300.0, 350.0]);
        assert_eq!(means(Throughput::PAPER), [0.0, 400.0, 400.0, 400.0]);
    }

    /// Compares the backoff with NIST SP 500-282, equation 34, for a smallest round-trip time of 42 ms. Each row has
    /// the change of throughput, the largest round-trip time, and the fraction of the window kept.
    #[test]
    fn nist_s_backoff_has_its_worked_numbers() {
        for (throughput, max_ms, kept) in [(1250.0, 50, 0.5), (1100.0, 50, 0.8), (1100.0, 60, 0.7)]
        {
            let mut htcp = htcp(Variant::Nist);
            htcp.min_rtt = Span::from_millis(42);
            htcp.max_rtt = Span::from_millis(max_ms);
            htcp.throughput.last_epoch = 1000.0;
            htcp.throughput.epoch = throughput;
            htcp.adapt();
            assert!((htcp.kept - kept).abs() < 1e-12, "{throughput}");
        }
    }
}
