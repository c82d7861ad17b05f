//! HighSpeed TCP of a current kernel (Linux 6.18, `tcp_highspeed.c`).

use serde::{Deserialize, Serialize};

use super::{Curve, Response, rounded_p};
use crate::parameter::{Settings, Variant};

/// State of HighSpeed TCP in Linux 6.18 (`tcp_highspeed.c`). A reduction uses the table row of the last acknowledgement
/// in congestion avoidance. Before this acknowledgement, the first row is used: a loss in the first slow start halves
/// the window.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct KernelCount {
    /// Sum of the increments that acknowledgements have contributed. When the sum reaches the window, the window grows
    /// by one segment, and the window is subtracted from the sum (`snd_cwnd_cnt`).
    pub(super) counted: u64,
    /// Fraction of the window that a loss removes, in 256ths: the value of the current table row.
    decrease: u64,
}

impl KernelCount {
    pub(super) const NEW: Self = Self {
        counted: 0,
        decrease: 128,
    };

    /// Returns the number of segments that an acknowledgement adds (`hstcp_cong_avoid`).
    pub(super) fn increment(&mut self, response: &Response, cwnd: f64) -> f64 {
        let cwnd = cwnd as u64;
        let (increase, decrease) = response.row(cwnd);
        self.decrease = decrease;
        self.counted += increase;
        let due = self.counted >= cwnd;
        if due {
            self.counted -= cwnd;
        }
        f64::from(u8::from(due))
    }

    /// Returns the window after a reduction (`hstcp_ssthresh`).
    pub(super) fn reduced(self, base: f64) -> f64 {
        let whole = base as u64;
        (whole - ((whole * self.decrease) >> 8)).max(2) as f64
    }
}

/// Largest window of each row of the table in RFC 3649, appendix B; the increases of the rows are 1, 2, 3 and so on.
const ROWS: [u32; 72] = [
    38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076, 2378, 2699, 3039, 3399, 3778,
    4177, 4596, 5036, 5497, 5979, 6483, 7009, 7558, 8130, 8726, 9346, 9991, 10661, 11358, 12082,
    12834, 13614, 14424, 15265, 16137, 17042, 17981, 18955, 19965, 21013, 22101, 23230, 24402,
    25618, 26881, 28193, 29557, 30975, 32450, 33986, 35586, 37253, 38992, 40808, 42707, 44694,
    46776, 48961, 51258, 53677, 56230, 58932, 61799, 64851, 68113, 71617, 75401, 79517, 84035,
    89053,
];

/// Returns the table of a current kernel: the largest window of each row, and its decrease in 256ths. The table is
/// empty in variants other than linux-6.18. It is also empty unless all parameters except `min_decrease` are those of
/// the RFC's rounded response function.
pub(super) fn rows(settings: &Settings) -> Vec<(u64, u64)> {
    let points = [
        ("low_window", "low_p", 38.0),
        ("high_window", "high_p", 83_000.0),
    ];
    let on_curve = |&(window, p, value)| {
        settings.get(window) == value && rounded_p(settings, window) == Some(settings.get(p))
    };
    if settings.variant() != Variant::Linux6_18
        || settings.get("high_decrease") != 0.1
        || !points.iter().all(on_curve)
    {
        return Vec::new();
    }
    let curve = Curve::new(settings);
    let row = |&largest: &u32| {
        let decrease = 256.0 * curve.decrease(f64::from(largest));
        (u64::from(largest), decrease as u64)
    };
    ROWS.iter().map(row).collect()
}
