//! How late packets left the forwarder: what a recording is worth.

use serde::Serialize;

/// Packets later than this are listed.
const LISTED: i64 = 1_000_000;

/// Of all packets.
#[derive(Default)]
pub(crate) struct Lateness {
    packets: u64,
    sum: i64,
    largest: i64,
    /// When, and by how much.
    pub(crate) late: Vec<(i64, i64)>,
}

/// What is reported of it.
#[derive(Serialize)]
pub(crate) struct Summary {
    packets: u64,
    mean_us: f64,
    max_us: f64,
    /// Share of the packets that were more than a millisecond late.
    share_over_1ms: f64,
}

impl Lateness {
    pub(crate) fn note(&mut self, due: i64, left: i64) {
        let late = left - due;
        self.packets += 1;
        self.sum += late;
        self.largest = self.largest.max(late);
        if late > LISTED {
            self.late.push((due, late));
        }
    }

    pub(crate) fn summary(&self) -> Summary {
        let packets = self.packets.max(1) as f64;
        Summary {
            packets: self.packets,
            mean_us: self.sum as f64 / packets / 1e3,
            max_us: self.largest as f64 / 1e3,
            share_over_1ms: self.late.len() as f64 / packets,
        }
    }
}
