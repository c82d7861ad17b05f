//! Westwood+: at a loss, the window becomes the measured bandwidth times the smallest round-trip time.
//!
//! The reaction is that of Mascolo et al., "TCP Westwood: bandwidth estimation for enhanced transport over wireless
//! links", MobiCom 2001. The estimate is that of Grieco and Mascolo, "Performance evaluation and comparison of
//! Westwood+, New Reno and Vegas TCP congestion control", CCR 34(2), 2004: the segments delivered over a round-trip
//! time, through a low-pass filter. The filter begins with its first sample, as in Linux.

mod kernel;

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::kernel::KernelWestwood;
use crate::congestion_control::CongestionControl;
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Westwood> = Entry {
    kind: "westwood",
    title: "Westwood+",
    description: "Grows as standard TCP and measures the bandwidth once a round trip. A congestion signal or a \
        timeout sets the threshold to the measured bandwidth times the smallest round-trip time. Variant \
        linux-2.6.22 filters the bandwidth twice, takes no samples shorter than 50 ms and forgets the smallest \
        round-trip time at a timeout; linux-6.18 does the same, but halves the window at a loss and sets it to that \
        product when the recovery ends.",
    law: &[
        "bandwidth = low-pass filter of segments delivered per round-trip time",
        "each ACK: cwnd += acked / cwnd",
        "congestion: ssthresh = bandwidth * min_rtt; cwnd = min(cwnd, ssthresh)",
    ],
    source: "Grieco and Mascolo, CCR 34(2), 2004",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Rate],
    needs_path: PathNeeds::NONE,
    state: &[quantity::BANDWIDTH, quantity::CARRIED],
    variants: &[Variant::Paper, Variant::Linux2_6_22, Variant::Linux6_18],
    parameters: &[Parameter {
        name: "memory",
        unit: "fraction of the estimate",
        default: DefaultValue::Derived {
            rule: "0.9; variant linux-2.6.22: 7/8, in both filters; variant linux-6.18: always 7/8",
            value: |settings| match settings.variant() {
                Variant::Linux2_6_22 | Variant::Linux6_18 => 0.875,
                _ => 0.9,
            },
        },
        allowed: Range::closed(0.0, 0.999),
        help: "Part of the old estimate in the new one.",
        source: "CCR 2004; Linux, westwood_do_filter",
    }],
    build: |settings| Ok(Westwood::new(settings)),
};

/// Minimum duration of a bandwidth sample in Linux (TCP_WESTWOOD_RTT_MIN).
const LINUX_SHORTEST: Span = Span::from_millis(50);

/// State of Westwood+ for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Westwood {
    memory: f64,
    linux: bool,
    /// Start of the current bandwidth sample, and the number of segments delivered by then.
    since: Option<(Time, u64)>,
    /// Bandwidth in segments per second after the first and after Linux's second filter; `None` before a sample.
    filtered: Option<(f64, f64)>,
    rtt: Span,
    min_rtt: Option<Span>,
    kernel: Option<Box<KernelWestwood>>,
}

impl Westwood {
    fn new(settings: &Settings) -> Self {
        Self {
            memory: settings.get("memory"),
            linux: settings.variant() == Variant::Linux2_6_22,
            since: None,
            filtered: None,
            rtt: Span::ZERO,
            min_rtt: None,
            kernel: (settings.variant() == Variant::Linux6_18)
                .then(|| Box::new(KernelWestwood::new())),
        }
    }

    fn shortest_sample(&self) -> Span {
        if self.linux {
            self.rtt.max(LINUX_SHORTEST)
        } else {
            self.rtt
        }
    }

    /// Adds a sample, in segments per second, to the filters.
    fn filter(&mut self, sample: f64) {
        let mix = |old: f64, new: f64| self.memory * old + (1.0 - self.memory) * new;
        self.filtered = Some(match self.filtered {
            None => (sample, sample),
            Some((first, last)) if self.linux => {
                let first = mix(first, sample);
                (first, mix(last, first))
            }
            Some((_, last)) => {
                let mixed = mix(last, sample);
                (mixed, mixed)
            }
        });
    }

    /// Returns the bandwidth times the smallest round-trip time, in segments.
    fn carried(&self) -> Option<f64> {
        let (_, bandwidth) = self.filtered?;
        Some(bandwidth * self.min_rtt?.as_secs_f64())
    }

    /// Returns the new threshold: the estimate of the path's capacity or, without it, half of the window `base`.
    fn threshold(&self, base: f64) -> f64 {
        self.carried().unwrap_or(base / 2.0)
    }
}

impl CongestionControl for Westwood {
    fn needs(&self) -> Needs {
        Needs::RTT
    }

    fn on_handshake(&mut self, ack: &AckSample, _window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            kernel.begin(ack.now);
        }
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_ack(ack, phase, window);
        }
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
        }
        let (start, before) = *self.since.get_or_insert((ack.now, ack.delivered));
        let length = ack.now.since(start);
        if length > Span::ZERO && length >= self.shortest_sample() {
            self.filter((ack.delivered - before) as f64 / length.as_secs_f64());
            self.since = Some((ack.now, ack.delivered));
        }
        if phase != Phase::Avoidance {
            return;
        }
        window.grow(ack.credit / window.cwnd());
    }

    /// Sets the threshold to the bandwidth-delay product, and reduces a larger window to it. A smaller window does not
    /// change, and is in slow start afterwards (MobiCom 2001 section 3.1).
    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_congestion(event, window);
        }
        let threshold = self.threshold(event.base);
        window.reduce_to(threshold.min(event.base));
        window.set_ssthresh(threshold);
    }

    fn on_recovery_exit(&mut self, now: Time, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            kernel.on_recovery_exit(now, window);
        }
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_timeout(event, window);
        }
        if !event.keep_ssthresh {
            window.set_ssthresh(self.threshold(event.base));
        }
        if self.linux {
            self.min_rtt = None;
        }
        window.restart();
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(kernel) = &self.kernel {
            return kernel.probe(out);
        }
        let bandwidth = self.filtered.map_or(f64::NAN, |(_, last)| last);
        out("bandwidth_segments_per_s", bandwidth);
        out("carried", self.carried().unwrap_or(f64::NAN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the filters against the published weights. After samples of 1000 and 2000, the filtered rate is `0.9 *
    /// 1000 + 0.1 * 2000`. In Linux, the first filter gives 1125, and the second `(7 * 1000 + 1125) / 8`.
    #[test]
    fn the_filters_weigh_old_and_new_as_published() {
        for (variant, expected) in [(Variant::Paper, 1100.0), (Variant::Linux2_6_22, 1015.625)] {
            let mut westwood = Westwood::new(&ENTRY.settings(variant, &[]).unwrap());
            westwood.filter(1000.0);
            westwood.filter(2000.0);
            let (_, bandwidth) = westwood.filtered.unwrap();
            assert!(
                (bandwidth - expected).abs() < 1e-9,
                "{variant}: {bandwidth}"
            );
        }
    }
}
