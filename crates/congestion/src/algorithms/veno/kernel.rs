//! Veno of a current kernel (Linux 6.18, `tcp_veno.c`). Each acknowledgement's round-trip time gives an estimate of the
//! queue in half segments. While the path is congested, the window grows by one segment per two windows of acknowledged
//! segments. During a reduction, and before the third round-trip time is known, the flow is standard TCP.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::parameter::Settings;
use crate::smallest_rtts::SmallestRtts;
use crate::whole_windows::{Avoidance, grow_as_standard, grow_by_one_for, slow_start};
use crate::window::Window;

/// State of the kernel's Veno for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelVeno {
    /// Smallest number of half segments in the queue at which the path counts as congested.
    beta: u64,
    /// Fraction of the window that is kept after a loss on a path that is not congested, in thousandths.
    kept: u64,
    rtts: SmallestRtts,
    /// True if the next acknowledged window of segments adds a segment. Alternates, which halves the growth.
    inc: bool,
    /// Number of half segments in the queue.
    diff: u64,
    avoidance: Avoidance,
}

impl KernelVeno {
    pub(super) fn new(settings: &Settings) -> Self {
        let kept = libm::round(1000.0 * (1.0 - settings.get("random_decrease")));
        Self {
            beta: (2.0 * settings.get("beta")) as u64,
            kept: kept as u64,
            rtts: SmallestRtts::default(),
            inc: true,
            diff: 0,
            avoidance: Avoidance::default(),
        }
    }

    pub(super) fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.rtts.sample(ack.rtt);
        if self.avoidance.reducing.on_ack(ack) {
            self.rtts.forget_min();
        }
        if !phase.may_grow() {
            return;
        }
        let acked = ack.credit as u64;
        let counted = &mut self.avoidance.counted;
        if !self.avoidance.reducing.is_open() {
            return grow_as_standard(counted, window, acked);
        }
        if self.rtts.samples <= 2 {
            grow_as_standard(counted, window, acked);
        } else {
            self.avoid(acked, window);
        }
        self.rtts.forget_min();
    }

    /// Updates `diff` and grows the window, in slow start and congestion avoidance (second half of
    /// `tcp_veno_cong_avoid`).
    fn avoid(&mut self, mut acked: u64, window: &mut Window) {
        let cwnd = window.cwnd() as u64;
        let SmallestRtts { base, min, .. } = self.rtts;
        self.diff = 2 * cwnd - 2 * cwnd * base.min(min) / min;
        if window.in_slow_start() {
            acked = slow_start(window, acked);
            if acked == 0 {
                return;
            }
        }
        let cwnd = window.cwnd() as u64;
        let counted = &mut self.avoidance.counted;
        if self.diff < self.beta {
            grow_by_one_for(counted, window, cwnd, acked);
        } else if counted.0 < cwnd {
            counted.0 += acked;
        } else {
            counted.0 = 0;
            if self.inc {
                window.grow(1.0);
            }
            self.inc = !self.inc;
        }
    }

    /// Returns the window after a reduction (`tcp_veno_ssthresh`).
    fn reduced(&self, base: f64) -> f64 {
        let cwnd = base as u64;
        let left = if self.diff < self.beta {
            cwnd * self.kept / 1000
        } else {
            cwnd / 2
        };
        left.max(2) as f64
    }

    pub(super) fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        let target = self.reduced(event.base);
        self.avoidance.on_congestion(event, target, window);
    }

    pub(super) fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        let threshold = (!event.keep_ssthresh).then(|| self.reduced(event.base));
        self.avoidance.on_timeout(threshold, window);
    }

    pub(super) fn on_recovery_exit(&mut self, now: Time) {
        if self.avoidance.reducing.end_recovery(now) {
            self.rtts.forget_min();
        }
    }

    /// Discards the smallest round-trip times when the connection sends after an idle time (`tcp_veno_cwnd_event`).
    pub(super) fn forget(&mut self) {
        self.rtts.forget_base();
        self.rtts.forget_min();
        self.inc = true;
    }

    pub(super) fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("queued", self.diff as f64 / 2.0);
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Span;

    use super::*;
    use crate::algorithms::veno::ENTRY;
    use crate::parameter::Variant;
    use crate::window::Rounding;

    /// Checks that Veno counts the queue in half segments, rounded up; six mean congestion. With 100 segments in flight
    /// and a base round-trip time of 100 ms, a round-trip time of 102.4 ms gives five, and 103 ms gives six. A loss
    /// leaves four fifths of the window without congestion, and half of the window with congestion.
    #[test]
    fn half_segments_tell_congestion() {
        let settings = ENTRY.settings(Variant::Linux6_18, &[]).unwrap();
        for (us, grown, left) in [(102_399, 102.0, 80.0), (102_999, 101.0, 50.0)] {
            let mut veno = KernelVeno::new(&settings);
            let mut window = Window::new(100.0, 50.0, 1e6, Rounding::Real);
            veno.rtts.sample(Some(Span::from_micros(99_999)));
            for _ in 0..200 {
                veno.rtts.forget_min();
                veno.rtts.sample(Some(Span::from_micros(us)));
                veno.avoid(1, &mut window);
            }
            let counts = [window.cwnd(), veno.reduced(100.0)];
            assert!((counts[0] - grown).abs() <= 1.0, "{us}: {counts:?}");
            assert_eq!(counts[1], left);
        }
    }
}
