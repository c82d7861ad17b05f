//! Veno of a current kernel (Linux 6.18, `tcp_veno.c`): each acknowledgement's smallest sample decides, in half segments, and
//! the window grows by one in every second window of acknowledged segments while the path is congested. In a reduction, and
//! before the third sample, it is standard TCP.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::parameter::Settings;
use crate::whole_windows::{
    Counted, Reducing, grow_as_standard, grow_by_one_for, reduce, slow_start,
};
use crate::window::Window;

/// No round-trip time yet, in microseconds.
const NONE: u64 = 0x7fff_ffff;

/// The kernel's Veno, with its names. Round-trip times are in microseconds, and one more.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelVeno {
    /// Half segments in the queue from which the path counts as congested.
    beta: u64,
    /// Part of the window that a loss leaves on a path without congestion, in parts of 1000.
    kept: u64,
    base_rtt: u64,
    min_rtt: u64,
    cnt_rtt: u64,
    /// True if the next full count enlarges the window.
    inc: bool,
    /// Half segments in the queue.
    diff: u64,
    counted: Counted,
    reducing: Reducing,
}

impl KernelVeno {
    pub(super) fn new(settings: &Settings) -> Self {
        let kept = libm::round(1000.0 * (1.0 - settings.get("random_decrease")));
        Self {
            beta: (2.0 * settings.get("beta")) as u64,
            kept: kept as u64,
            base_rtt: NONE,
            min_rtt: NONE,
            cnt_rtt: 0,
            inc: true,
            diff: 0,
            counted: Counted::default(),
            reducing: Reducing::default(),
        }
    }

    /// Follows `tcp_veno_pkts_acked`.
    fn sample(&mut self, rtt: Option<Span>) {
        if let Some(rtt) = rtt {
            let rtt = rtt.as_ps() / 1_000_000 + 1;
            self.base_rtt = self.base_rtt.min(rtt);
            self.min_rtt = self.min_rtt.min(rtt);
            self.cnt_rtt += 1;
        }
    }

    pub(super) fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.sample(ack.rtt);
        if self.reducing.on_ack(ack) {
            self.min_rtt = NONE;
        }
        if !phase.may_grow() {
            return;
        }
        let acked = ack.credit as u64;
        if !self.reducing.is_open() {
            return grow_as_standard(&mut self.counted, window, acked);
        }
        if self.cnt_rtt <= 2 {
            grow_as_standard(&mut self.counted, window, acked);
        } else {
            self.avoid(acked, window);
        }
        self.min_rtt = NONE;
    }

    /// Follows the second half of `tcp_veno_cong_avoid`.
    fn avoid(&mut self, mut acked: u64, window: &mut Window) {
        let cwnd = window.cwnd() as u64;
        self.diff = 2 * cwnd - 2 * cwnd * self.base_rtt.min(self.min_rtt) / self.min_rtt;
        if window.in_slow_start() {
            acked = slow_start(window, acked);
            if acked == 0 {
                return;
            }
        }
        let cwnd = window.cwnd() as u64;
        if self.diff < self.beta {
            grow_by_one_for(&mut self.counted, window, cwnd, acked);
        } else if self.counted.0 < cwnd {
            self.counted.0 += acked;
        } else {
            self.counted.0 = 0;
            if self.inc {
                window.grow(1.0);
            }
            self.inc = !self.inc;
        }
    }

    /// Follows `tcp_veno_ssthresh`.
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
        self.reducing.begin(event);
        self.counted = Counted::default();
        reduce(window, self.reduced(event.base));
    }

    pub(super) fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.reducing.begin_recovery();
        self.counted = Counted::default();
        if !event.keep_ssthresh {
            window.set_ssthresh(self.reduced(event.base));
        }
        window.restart();
    }

    pub(super) fn on_recovery_exit(&mut self, now: Time) {
        if self.reducing.end_recovery(now) {
            self.min_rtt = NONE;
        }
    }

    /// Begins anew when the connection sends after nothing was in flight (`tcp_veno_cwnd_event`).
    pub(super) fn forget(&mut self) {
        (self.base_rtt, self.min_rtt, self.inc) = (NONE, NONE, true);
    }

    pub(super) fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("queued", self.diff as f64 / 2.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::veno::ENTRY;
    use crate::parameter::Variant;
    use crate::window::Rounding;

    /// At 100 segments and 100 ms, 102.4 ms are 2.3 segments in the queue, which count as five halves, and 103 ms are 2.9, which
    /// count as six: congestion. A loss leaves four fifths or one half.
    #[test]
    fn half_segments_tell_congestion() {
        let settings = ENTRY.settings(Variant::Linux6_18, &[]).unwrap();
        for (us, grown, left) in [(102_399, 102.0, 80.0), (102_999, 101.0, 50.0)] {
            let mut veno = KernelVeno::new(&settings);
            let mut window = Window::new(100.0, 50.0, 1e6, Rounding::Real);
            veno.sample(Some(Span::from_micros(99_999)));
            veno.cnt_rtt = 3;
            for _ in 0..200 {
                veno.min_rtt = NONE;
                veno.sample(Some(Span::from_micros(us)));
                veno.avoid(1, &mut window);
            }
            let counts = [window.cwnd(), veno.reduced(100.0)];
            assert!((counts[0] - grown).abs() <= 1.0, "{us}: {counts:?}");
            assert_eq!(counts[1], left);
        }
    }
}
