//! DCTCP of a current kernel (Linux 6.18, `tcp_dctcp.c`). The estimated fraction of marked segments (alpha) is in
//! 1024ths. A round trip without marks sets an estimate below 16/1024 to zero. The acknowledgement that ends a round
//! trip counts in the next one.

use serde::{Deserialize, Serialize};

use crate::facts::{AckSample, Cause, Congestion, Phase, Timeout};
use crate::marked_share::MarkedShare;
use crate::parameter::Settings;
use crate::whole_windows::{Counted, grow_by_one_for, half, reduce};
use crate::window::Window;

/// Denominator and maximum of the estimated fraction of marked segments (`DCTCP_MAX_ALPHA`).
const WHOLE: u64 = 1024;

/// State of the kernel's DCTCP for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelDctcp {
    /// Binary logarithm of the inverse gain (`dctcp_shift_g`).
    shift: u32,
    alpha: u64,
    marks: MarkedShare,
    /// Number of segments delivered in the current round trip.
    delivered: u64,
    /// Number of segments marked in the current round trip.
    marked: u64,
    /// Number of segments acknowledged so far.
    una: u64,
    /// Number of segments sent when the round trip began.
    next_seq: u64,
    counted: Counted,
}

impl KernelDctcp {
    pub(super) fn new(settings: &Settings) -> Self {
        let shift = libm::round(-libm::log2(settings.get("gain")));
        Self {
            shift: shift.clamp(0.0, 10.0) as u32,
            alpha: (settings.get("initial_alpha") * WHOLE as f64) as u64,
            marks: MarkedShare::default(),
            delivered: 0,
            marked: 0,
            una: 0,
            next_seq: 0,
            counted: Counted::default(),
        }
    }

    /// Updates the estimated fraction of marked segments at the end of a round trip (`dctcp_update_alpha`).
    fn end_round(&mut self) {
        let less = match self.alpha >> self.shift {
            0 => self.alpha,
            part => part,
        };
        self.alpha -= less;
        if self.marked > 0 {
            let share = (self.marked << (10 - self.shift)) / self.delivered.max(1);
            self.alpha = (self.alpha + share).min(WHOLE);
        }
        (self.delivered, self.marked) = (0, 0);
    }

    pub(super) fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.una += ack.acked;
        if self.una >= self.next_seq {
            self.end_round();
            self.next_seq = self.una + ack.in_flight;
        }
        let (newly, marked) = self.marks.take(ack);
        (self.delivered, self.marked) = (self.delivered + newly, self.marked + marked);
        if phase == Phase::Avoidance {
            let cwnd = window.cwnd() as u64;
            grow_by_one_for(&mut self.counted, window, cwnd, ack.credit as u64);
        }
    }

    /// Reduces the window: for a mark as `dctcp_ssthresh` does, for a loss as `dctcp_react_to_loss` does.
    pub(super) fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.counted = Counted::default();
        let target = match event.cause {
            Cause::Ecn => {
                let cwnd = event.base as u64;
                (cwnd - ((cwnd * self.alpha) >> 11)).max(2) as f64
            }
            Cause::Loss | Cause::Nak => half(event.base),
        };
        reduce(window, target);
    }

    pub(super) fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.counted = Counted::default();
        if !event.keep_ssthresh {
            window.set_ssthresh(half(event.base));
        }
        window.restart();
    }

    pub(super) fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("alpha", self.alpha as f64 / WHOLE as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::dctcp::ENTRY;
    use crate::parameter::Variant;

    /// Checks the estimated fraction of marked segments, in whole 1024ths. Without marks, an estimate below 16 becomes
    /// zero; a larger one falls by a sixteenth, rounded down. A round trip with half of the segments marked adds 32.
    #[test]
    fn the_estimate_is_whole_and_ends() {
        let mut dctcp = KernelDctcp::new(&ENTRY.settings(Variant::Linux6_18, &[]).unwrap());
        let mut found = vec![];
        for (alpha, marked) in [(1024, 0), (17, 0), (15, 0), (0, 10)] {
            dctcp.alpha = alpha;
            (dctcp.delivered, dctcp.marked) = (20, marked);
            dctcp.end_round();
            found.push(dctcp.alpha);
        }
        assert_eq!(found, [960, 16, 0, 32]);
    }
}
