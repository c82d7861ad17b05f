//! Changes of the pacing rate while a segment waits for its departure.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use longhaul_congestion::{Congestion, CongestionControl, Controller, Needs, Phases, Window};
use longhaul_units::Rate;

use super::{SenderBench, tcp};
use crate::config::{PacedBursts, Recovery};

/// An algorithm with a constant window. The test sets its pacing rate in bits per second; 0 means no pacing.
#[derive(Clone, Debug, Default)]
struct Paced(Arc<AtomicU64>);

impl Paced {
    fn set(&self, bps: u64) {
        self.0.store(bps, Ordering::Relaxed);
    }
}

impl CongestionControl for Paced {
    fn phases(&self) -> Phases {
        Phases::All
    }

    fn on_congestion(&mut self, _event: &Congestion, _window: &mut Window) {}

    fn pacing_rate(&self) -> Option<Rate> {
        let bps = self.0.load(Ordering::Relaxed);
        (bps > 0).then(|| Rate::from_bps(bps))
    }

    fn needs(&self) -> Needs {
        Needs {
            paces: true,
            ..Needs::NOTHING
        }
    }
}

/// Sends the first of two segments at 100 ms, with a pacing rate of `before` bits per second. At 200 ms, this segment
/// is acknowledged, and the rate becomes `after`. Returns the new segments sent by 30 s with their send times, and the
/// bench.
fn change(before: u64, after: u64, bursts: PacedBursts) -> (Vec<(u64, u64)>, SenderBench) {
    let mut tcp = tcp(Recovery::Sack);
    (tcp.initial_window, tcp.paced_bursts) = (2.0, bursts);
    let paced = Paced::default();
    paced.set(before);
    let mut bench = SenderBench::open_empty(tcp, Controller::Custom(Box::new(paced.clone())));
    bench.sender.append(2 * 1460, &mut bench.env);
    bench.wait(200);
    paced.set(after);
    bench.ack(200, 2, &[]);
    bench.wait(30_000);
    (new_segments(&mut bench), bench)
}

/// Returns the segments sent since the last call, without retransmissions.
fn new_segments(bench: &mut SenderBench) -> Vec<(u64, u64)> {
    let mut newest = 0;
    let mut sent = bench.sent_when();
    sent.retain(|&(_, segment)| segment > std::mem::replace(&mut newest, segment));
    sent
}

/// Checks that a waiting segment leaves earlier if the pacing rate at least doubles, except with `PacedBursts::Linux`.
#[test]
fn a_rate_that_jumps_counts_for_a_segment_that_waits() {
    let at = |before, after, bursts| change(before, after, bursts).0;
    let early = PacedBursts::Early;
    // A packet has 12,000 bits: 12,000 s at 1 bit/s, of which 0.1 s are over, and 12 ms at 1 Mbit/s.
    assert_eq!(at(1, 1_000_000, early), [(100, 1), (211, 2)]);
    // Without a pacing rate, no segment waits.
    assert_eq!(at(1, 0, early), [(100, 1), (200, 2)]);
    assert_eq!(at(1, 1_000_000, PacedBursts::Linux), [(100, 1)]);
    assert_eq!(at(10_000, 15_000, early), [(100, 1), (1_300, 2)]);
    assert_eq!(at(10_000, 20_000, early), [(100, 1), (750, 2)]);
    assert_eq!(at(10_000, 10, early), [(100, 1), (1_300, 2)]);
}

/// Checks that a rise of the pacing rate lets a waiting segment leave earlier, and that nothing leaves at the time when
/// this segment was first due.
#[test]
fn a_wait_that_was_shortened_ends_once() {
    let (sent, mut bench) = change(1, 1_000, PacedBursts::Early);
    assert_eq!(sent, [(100, 1), (12_199, 2)]);
    // Segment 2 was first due at 12,000.1 s, at 1 bit/s. At that time, segment 4 waits.
    bench.ack(11_999_000, 3, &[]);
    bench.sent_when();
    bench.sender.append(2 * 1460, &mut bench.env);
    bench.ack(11_999_500, 4, &[]);
    bench.wait(12_020_000);
    assert_eq!(new_segments(&mut bench), [(11_999_000, 3), (12_011_000, 4)]);
}
