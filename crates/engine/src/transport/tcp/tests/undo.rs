//! Spurious reductions (Eifel, RFC 3522; F-RTO, RFC 5682 section 3).

use super::{ReceiverBench, SenderBench, ms, packet, reno, tcp};
use crate::config::{PrrRule, Recovery, Tcp, Timestamps};
use crate::packet::{Flags, Packet, SackBlocks};

/// Returns the bench of a sender that sent ten segments at 100 ms. Its retransmission timer expires a second later.
fn open(timestamps: Timestamps) -> SenderBench {
    let config = Tcp {
        timestamps,
        prr: PrrRule::Linux,
        undo: true,
        dsack: true,
        ..tcp(Recovery::RackTlpPrr)
    };
    let mut bench = SenderBench::dial(config, reno(), |_| {});
    ack(&mut bench, 100, 1, None, 0);
    assert_eq!(bench.sent().len(), 11);
    bench
}

/// Delivers acknowledgement `next` at `at` milliseconds, with the timestamp of a segment sent at `stamp` milliseconds.
fn ack(bench: &mut SenderBench, at: u64, next: u64, block: Option<(u64, u64)>, stamp: u64) {
    bench.wait(at);
    bench.env.network.now = ms(at);
    let mut sack = SackBlocks::default();
    block.into_iter().for_each(|block| sack.push(block));
    let packet = Packet {
        sack: bench.env.network.options.put(&sack, next),
        ..packet(next, Flags::ACK, ms(stamp))
    };
    bench.sender.on_packet(&packet, &mut bench.env);
}

fn windows(bench: &mut SenderBench, at: u64) -> (f64, f64) {
    let sample = bench.sender.sample(ms(at));
    (sample.cwnd.unwrap(), sample.ssthresh.unwrap())
}

/// Checks that a timeout is undone if the next acknowledgement echoes the timestamp of an original segment. It is not
/// undone if the acknowledgement echoes the timestamp of the retransmission.
#[test]
fn an_early_timeout_is_undone_by_timestamps() {
    for (next, stamp, undone) in [(3, 100, true), (2, 1310, false)] {
        let mut bench = open(Timestamps::Standard(12));
        bench.wait(1310);
        assert_eq!(bench.sent(), [11, 1], "a probe, and the first");
        assert_eq!(windows(&mut bench, 1310), (1.0, 5.0));
        ack(&mut bench, 1350, next, None, stamp);
        let sent = bench.sent();
        let (cwnd, ssthresh) = windows(&mut bench, 1350);
        if undone {
            assert_eq!((cwnd, ssthresh), (11.0, 100_000.0));
            assert_eq!(sent, [12, 13]);
        } else {
            assert_eq!((cwnd, ssthresh), (2.0, 5.0));
            // F-RTO sends new data before further retransmissions.
            assert_eq!(sent, [12, 13]);
        }
    }
}

/// Without timestamps, two new segments leave after the timeout. The acknowledgement of a segment that was never
/// retransmitted then shows that the timeout was spurious.
#[test]
fn an_early_timeout_is_undone_by_new_data() {
    let mut bench = open(Timestamps::Off);
    bench.wait(1310);
    assert_eq!(bench.sent(), [11, 1]);
    ack(&mut bench, 1350, 2, None, 0);
    assert_eq!(bench.sent(), [12, 13]);
    assert_eq!(windows(&mut bench, 1350), (2.0, 5.0));
    ack(&mut bench, 1360, 3, None, 0);
    let (cwnd, ssthresh) = windows(&mut bench, 1360);
    assert_eq!((cwnd, ssthresh), (11.0, 100_000.0));
    assert!(bench.sent().iter().all(|&segment| segment > 13));
}

/// A timeout is not undone if the original flight, segments 1 to 11, was lost. Only the retransmitted segment 1 and the
/// new segment 12 are acknowledged after the timeout.
#[test]
fn a_timeout_for_a_loss_is_not_undone() {
    let mut bench = open(Timestamps::Off);
    bench.wait(1310);
    bench.sent();
    ack(&mut bench, 1350, 2, None, 0);
    assert_eq!(bench.sent(), [12, 13]);
    ack(&mut bench, 1450, 2, Some((12, 13)), 0);
    assert_eq!(bench.sent(), [2]);
    assert_eq!(windows(&mut bench, 1450).1, 5.0);
}

/// Three segments overtake the first one, which is therefore retransmitted. The recovery is undone if the first copy
/// then arrives, as the timestamp shows.
#[test]
fn a_recovery_from_reordering_is_undone() {
    for (stamp, undone) in [(100, true), (230, false)] {
        let mut bench = open(Timestamps::Standard(12));
        for right in 3..=5 {
            ack(&mut bench, 198 + right, 1, Some((2, right)), 100);
        }
        bench.sent();
        assert_eq!(windows(&mut bench, 203).1, 5.0);
        ack(&mut bench, 240, 13, None, stamp);
        let (cwnd, ssthresh) = windows(&mut bench, 240);
        assert_eq!(ssthresh, if undone { 100_000.0 } else { 5.0 });
        assert_eq!(cwnd >= 10.0, undone, "{cwnd}");
    }
}

/// A timeout after an undone recovery reduces the threshold, also while data sent before the recovery is outstanding
/// (`tcp_enter_loss`: the state is Open again).
#[test]
fn a_timeout_after_an_undone_recovery_reduces_the_threshold() {
    let mut bench = open(Timestamps::Standard(12));
    for right in 3..=5 {
        ack(&mut bench, 198 + right, 1, Some((2, right)), 100);
    }
    ack(&mut bench, 240, 5, None, 100);
    assert_eq!(windows(&mut bench, 240).1, 100_000.0);
    bench.wait(3000);
    assert_eq!(bench.sender.counters(ms(3000)).timeouts, 1);
    assert!(windows(&mut bench, 3000).1 < 20.0);
}

/// A recovery is undone if the receiver reports that both copies of the retransmitted segment have arrived. After the
/// recovery, the window is restored. RACK's reordering window is doubled from then on.
#[test]
fn a_recovery_is_undone_by_duplicates() {
    let mut bench = open(Timestamps::Off);
    for right in 3..=5 {
        ack(&mut bench, 198 + right, 1, Some((2, right)), 0);
    }
    bench.sent();
    ack(&mut bench, 240, 13, None, 0);
    assert_eq!(windows(&mut bench, 240).1, 5.0);
    ack(&mut bench, 303, 13, Some((1, 2)), 0);
    let (cwnd, ssthresh) = windows(&mut bench, 303);
    assert_eq!(ssthresh, 100_000.0);
    assert!(cwnd >= 10.0, "{cwnd}");
}

/// Checks that receivers report a duplicate once, in the first SACK block. This block then lies below the
/// acknowledgement number or inside the second block (RFC 2883 section 4).
#[test]
fn receivers_report_what_arrives_twice() {
    let config = Tcp {
        dsack: true,
        ..tcp(Recovery::RackTlpPrr)
    };
    let mut bench = ReceiverBench::open(config);
    let mut blocks = |at, segment| {
        let sent = bench.segment(at, segment, Flags::NONE);
        let ack = sent.last().expect("an acknowledgement");
        let option = bench.env.network.options.get(ack.sack);
        (ack.seq, option.blocks(ack.seq).collect::<Vec<_>>())
    };
    assert_eq!(blocks(10, 1), (2, vec![]));
    assert_eq!(blocks(20, 1), (2, vec![(1, 2)]));
    assert_eq!(blocks(30, 3), (2, vec![(3, 4)]));
    assert_eq!(blocks(40, 3), (2, vec![(3, 4), (3, 4)]));
    assert_eq!(blocks(50, 4), (2, vec![(3, 5)]));
}
