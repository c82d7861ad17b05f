//! Tests of the segments that loss recovery sends, acknowledgement by acknowledgement.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use longhaul_congestion::{Congestion, CongestionControl, Controller, MinCwnd, Window};
use longhaul_units::{Span, Time};

use super::{SenderBench, delayed_ack, ms, reno, tcp};
use crate::config::{AckCounting, Ecn, PrrRule, Recovery, Tcp};
use crate::packet::Flags;

const NOTHING: [u64; 0] = [];

/// Sends twenty segments at 100 ms and loses segments 1 to `lost`. The others are acknowledged, one per millisecond.
/// Returns the segments that leave after each acknowledgement.
fn answers_to_a_loss(recovery: Recovery, lost: u64, acknowledgements: u64) -> Vec<Vec<u64>> {
    answers_to_a_loss_with(tcp(recovery), lost, acknowledgements)
}

fn answers_to_a_loss_with(tcp: Tcp, lost: u64, acknowledgements: u64) -> Vec<Vec<u64>> {
    let config = Tcp {
        initial_window: 20.0,
        ..tcp
    };
    let mut bench = SenderBench::open(config, reno());
    bench.sent();
    let answer = |count| {
        bench.ack(200 + count, 1, &[(lost + 1, lost + 1 + count)]);
        bench.sent()
    };
    (1..=acknowledgements).map(answer).collect()
}

/// The example of RFC 6937 section 3.1: the first of 20 segments is lost. Two more leave by limited transmit. When the
/// window is halved to 10, 22 are in flight. Then 10 segments leave for each 22 that arrive, rounded up. From the 18th
/// acknowledgement on, the pipe is no larger than the window.
#[test]
fn prr_spreads_the_reduction_over_a_round_trip() {
    let none = Vec::new;
    let expected = [
        vec![21],
        vec![22],
        vec![1],
        none(),
        vec![23],
        none(),
        vec![24],
        none(),
        vec![25],
        none(),
        vec![26],
        none(),
        none(),
        vec![27],
        none(),
        vec![28],
        none(),
        none(),
        vec![29],
        vec![30],
        vec![31],
    ];
    for recovery in [Recovery::SackPrr, Recovery::RackTlpPrr] {
        assert_eq!(answers_to_a_loss(recovery, 1, 21), expected, "{recovery:?}");
    }
    // RFC 6675 waits until the number of segments in flight has fallen to the window. It then sends a segment for each
    // acknowledgement.
    let answers = answers_to_a_loss(Recovery::Sack, 1, 21);
    let mut expected = vec![vec![21], vec![22], vec![1]];
    expected.extend(vec![none(); 9]);
    expected.extend((23..=31).map(|segment| vec![segment]));
    assert_eq!(answers, expected);
}

/// Checks PRR's slow start reduction bound: while fewer segments are in flight than the window allows, two segments
/// leave for each delivered one. Here 15 of 20 segments are lost, and the window is halved to 10.
#[test]
fn prr_grows_back_as_in_slow_start() {
    let answers = answers_to_a_loss(Recovery::SackPrr, 15, 7);
    let expected = [
        vec![21],
        vec![22],
        vec![1, 2, 3],
        vec![4, 5],
        vec![6, 7],
        vec![8, 9],
        vec![10],
    ];
    assert_eq!(answers, expected);
    // RFC 6675 fills the window at once.
    let answers = answers_to_a_loss(Recovery::Sack, 15, 4);
    assert_eq!(answers[2..], [vec![1, 2, 3, 4, 5, 6], vec![7]]);
}

/// Checks that PRR does not apply to a reduction for a mark: nothing is sent until the halved window has room.
#[test]
fn prr_leaves_a_reduction_without_loss_alone() {
    for recovery in [Recovery::SackPrr, Recovery::RackTlpPrr] {
        let config = Tcp {
            ecn: Ecn::Classic,
            ..tcp(recovery)
        };
        let mut bench = SenderBench::open(config, reno());
        bench.ack(200, 2, &[]);
        bench.sent();
        // One selectively acknowledged segment is no sign of a loss, since it may have been reordered.
        bench.ack_with(201, 2, &[(3, 4)], Flags::ECE);
        assert_eq!(bench.sent(), NOTHING, "{recovery:?}");
        let counters = bench.sender.counters(ms(201));
        assert_eq!((counters.cuts_ecn, counters.cuts_loss), (1, 0));
    }
}

/// Checks that PRR also applies to marks in Linux. The window is halved from 20: one segment leaves for every two
/// delivered, until 10 are in flight. The reduction ends when the first segment sent after the mark is acknowledged.
#[test]
fn linux_spreads_a_reduction_for_a_mark_over_a_round_trip() {
    let mut bench = SenderBench::open(linux_prr(), reno());
    bench.sent();
    for number in 1..=20 {
        let flags = if number < 4 { Flags::ECE } else { Flags::NONE };
        bench.ack_with(200 + number, 1 + number, &[], flags);
        let expected: &[u64] = match number {
            20 => &[30],
            _ if number < 19 && number % 2 == 1 => &[20 + number.div_ceil(2)],
            _ => &[],
        };
        assert_eq!(bench.sent(), expected, "{number}");
    }
    bench.ack(221, 22, &[]);
    assert_eq!(bench.sent(), [31]);
    let counters = bench.sender.counters(ms(221));
    assert_eq!((counters.cuts_ecn, counters.cuts_loss), (1, 0));
}

/// Checks that, in Linux, a loss detected during the reduction for a mark causes no further reduction. PRR keeps its
/// counts of delivered and sent segments.
#[test]
fn linux_answers_a_loss_behind_a_mark_once() {
    let mut bench = SenderBench::open(linux_prr(), reno());
    bench.sent();
    bench.ack_with(200, 2, &[], Flags::ECE);
    assert_eq!(bench.sent(), [21]);
    let answers: Vec<_> = (4..10)
        .map(|end| {
            bench.ack(197 + end, 2, &[(3, end)]);
            bench.sent()
        })
        .collect();
    // No segment is sent out of turn, since one has already been sent in this reduction.
    let expected: [&[u64]; 6] = [&[], &[22], &[], &[2], &[], &[23]];
    assert_eq!(answers, expected);
    let counters = bench.sender.counters(ms(221));
    assert_eq!((counters.cuts_ecn, counters.cuts_loss), (1, 0));
    assert_eq!(bench.sender.sample(ms(221)).cwnd, Some(10.0));
}

/// In Linux's PRR, one segment leaves for every two delivered, since the window is halved from 20 to 10. The flight
/// does not matter; limited transmit has enlarged it to 22 segments.
#[test]
fn linux_counts_in_proportion_to_the_window() {
    let mut expected = vec![vec![21], vec![22], vec![1]];
    for segment in 23..=29 {
        expected.extend([vec![], vec![segment]]);
    }
    // Ten are in flight.
    expected.extend([vec![], vec![], vec![30], vec![31]]);
    let config = linux_prr();
    assert_eq!(answers_to_a_loss_with(config, 1, 21), expected);
}

fn linux_prr() -> Tcp {
    Tcp {
        prr: PrrRule::Linux,
        ecn: Ecn::Classic,
        initial_window: 20.0,
        ..tcp(Recovery::RackTlpPrr)
    }
}

/// Checks that a window of three segments is not halved below its minimum: two segments after a loss (RFC 5681 section
/// 3.2), one after a mark (RFC 3168 section 6.1.2), and one after a loss in ns-2.
#[test]
fn reductions_leave_the_smallest_window_of_the_profile() {
    let cut = |recovery, min_cwnd, next, blocks: &[(u64, u64)], flags| {
        let config = Tcp {
            initial_window: 3.0,
            initial_ssthresh: Some(2.0),
            dupack_threshold: 1,
            ecn: Ecn::Classic,
            min_cwnd,
            ..tcp(recovery)
        };
        let mut bench = SenderBench::open(config, reno());
        bench.ack_with(200, next, blocks, flags);
        let sample = bench.sender.sample(ms(200));
        assert_eq!(sample.ssthresh, Some(2.0));
        sample.cwnd.unwrap()
    };
    let (rfc, ns2) = (MinCwnd { loss: 2, ecn: 1 }, MinCwnd { loss: 1, ecn: 1 });
    let loss = [(2, 3)];
    assert_eq!(cut(Recovery::Sack, rfc, 1, &loss, Flags::NONE), 2.0);
    assert_eq!(cut(Recovery::Sack, rfc, 2, &[], Flags::ECE), 1.5);
    assert_eq!(cut(Recovery::Ns2Sack, ns2, 1, &loss, Flags::NONE), 1.5);
}

/// FACK considers all unacknowledged segments below a SACK block lost, as soon as the block is more than three segments
/// ahead.
#[test]
fn fack_takes_everything_below_the_furthest_segment_for_lost() {
    let mut bench = SenderBench::open(tcp(Recovery::Fack), reno());
    bench.sent();
    let mut answer = |at, right| {
        bench.ack(at, 1, &[(5, right)]);
        bench.sent()
    };
    // awnd = snd.nxt - snd.fack + retran_data is compared with the window of 5 segments, half of the segments in
    // flight.
    assert_eq!(answer(201, 6), [1]); // 5 + 1
    assert_eq!(answer(202, 7), NOTHING); // 4 + 1
    assert_eq!(answer(203, 8), [2]); // 3 + 1
    assert_eq!(answer(204, 9), [3]); // 2 + 2
    assert_eq!(answer(205, 10), [4]); // 1 + 3
    assert_eq!(answer(206, 11), [11]); // 0 + 4
    assert_eq!(bench.sender.counters(ms(206)).cuts_loss, 1);
}

#[test]
fn fack_waits_while_the_gap_may_be_reordering() {
    let mut bench = SenderBench::open(tcp(Recovery::Fack), reno());
    bench.sent();
    // snd.fack is 5, three segments ahead of segment 2.
    bench.ack(200, 2, &[(4, 5)]);
    assert!(!bench.sent().contains(&2));
    bench.ack(201, 2, &[(4, 6)]);
    assert!(bench.sent().contains(&2));
}

/// A probe finds the loss of the last two of ten segments. The probe is a copy of the last segment, and leaves two
/// round trips after the last acknowledgement. The acknowledgement of the probe reveals the loss of the other segment.
#[test]
fn a_probe_repairs_the_tail_without_a_timeout() {
    for recovery in [Recovery::RackTlp, Recovery::RackTlpPrr] {
        let config = Tcp {
            transfer: Some(10 * 1460),
            ..tcp(recovery)
        };
        let mut bench = SenderBench::open(config, reno());
        bench.sent();
        bench.ack(200, 9, &[]);
        bench.wait(499);
        assert_eq!(bench.sent_when(), [(400, 10)]);
        bench.ack(500, 9, &[(10, 11)]);
        assert_eq!(bench.sent_when(), [(500, 9)]);
        bench.ack(600, 11, &[]);
        assert_eq!(bench.sender.finish(), Some(ms(600)));
        let counters = bench.sender.counters(ms(600));
        assert_eq!((counters.timeouts, counters.cuts_loss), (0, 1));
        bench.wait(5_000);
        assert_eq!(bench.sent(), NOTHING);
    }
}

#[test]
fn a_probe_for_one_segment_waits_for_a_delayed_acknowledgement() {
    let config = Tcp {
        transfer: Some(10 * 1460),
        delayed_ack: Some(delayed_ack(Span::from_millis(40))),
        ..tcp(Recovery::RackTlp)
    };
    let mut bench = SenderBench::open(config, reno());
    bench.ack(200, 10, &[]);
    bench.sent();
    bench.wait(1000);
    assert_eq!(bench.sent_when(), [(440, 10)]);
    // If no answer arrives, the retransmission timer expires next, which the probe has restarted.
    bench.wait(2000);
    assert_eq!(bench.sent_when(), [(1440, 10)]);
    assert_eq!(bench.sender.counters(ms(2000)).timeouts, 1);
}

/// Returns the bench of a sender with a receive window of one segment, just after a tail loss probe at 300 ms. Since
/// the window allows no new segment, the probe retransmits the segment in flight.
fn one_probe() -> SenderBench {
    let config = Tcp {
        receive_window: 1,
        dsack: true,
        ..tcp(Recovery::RackTlp)
    };
    let mut bench = SenderBench::open(config, reno());
    bench.sent();
    bench.wait(300);
    assert_eq!(bench.sent_when(), [(300, 1)]);
    bench
}

#[test]
fn a_loss_that_only_a_probe_repaired_reduces_the_window() {
    let mut bench = one_probe();
    bench.ack(400, 2, &[]);
    assert_eq!(bench.sender.counters(ms(400)).cuts_loss, 0);
    bench.ack(500, 3, &[]);
    assert_eq!(bench.sender.counters(ms(500)).cuts_loss, 1);
}

#[test]
fn a_needless_probe_does_not_reduce_the_window() {
    let mut bench = one_probe();
    // The answer to the original segment was late; the answer to the probe repeats it.
    bench.ack(310, 2, &[]);
    bench.ack(400, 2, &[]);
    bench.ack(410, 3, &[]);
    assert_eq!(bench.sender.counters(ms(410)).cuts_loss, 0);
    // The acknowledgement covers the probe together with the following segment (RFC 8985 section 7.4.2, case 1).
    let mut bench = one_probe();
    bench.ack(310, 2, &[]);
    bench.ack(410, 3, &[(1, 2)]);
    assert_eq!(bench.sender.counters(ms(410)).cuts_loss, 0);
}

/// Delivers segment 2 two places late and segment 5 four places late, each delayed by less than a quarter of the
/// round-trip time. Returns the numbers of reductions and retransmissions.
fn reordered(recovery: Recovery) -> (u64, u64) {
    let mut bench = SenderBench::open(tcp(recovery), reno());
    bench.ack(200, 2, &[]);
    bench.ack(201, 2, &[(3, 4)]);
    bench.ack(202, 2, &[(3, 5)]);
    bench.ack(203, 5, &[]);
    for right in 7..=10 {
        bench.ack(197 + right, 5, &[(6, right)]);
    }
    bench.ack(208, 10, &[]);
    bench.wait(280);
    let counters = bench.sender.counters(ms(280));
    (counters.cuts_loss, counters.retransmitted_pkts)
}

#[test]
fn rack_does_not_take_reordering_for_loss() {
    assert_eq!(reordered(Recovery::RackTlp), (0, 0));
    assert_eq!(reordered(Recovery::RackTlpPrr), (0, 0));
    // Counting duplicate ACKs causes a spurious retransmission.
    assert_eq!(reordered(Recovery::Sack), (1, 1));
}

/// Segments 2 and 3 are sent together, and only segment 3 is acknowledged (at 200 ms). A quarter of the minimum
/// round-trip time after this acknowledgement, segment 2 counts as lost.
#[test]
fn the_reordering_timer_ends_the_patience() {
    let mut bench = SenderBench::open(tcp(Recovery::RackTlp), reno());
    bench.ack(200, 2, &[(3, 4)]);
    bench.sent();
    bench.wait(230);
    assert_eq!(bench.sent_when(), [(225, 2)]);
    assert_eq!(bench.sender.counters(ms(230)).cuts_loss, 1);
}

/// RACK detects the loss of a retransmission: segment 14, sent after the retransmission of segment 2, arrives first.
#[test]
fn rack_notices_the_loss_of_a_retransmission() {
    let mut bench = SenderBench::open(tcp(Recovery::RackTlp), reno());
    bench.ack(200, 2, &[(3, 4)]);
    for right in 5..=11 {
        bench.ack(221 + right, 2, &[(3, right)]);
    }
    let sent = bench.sent_when();
    assert!(
        sent.contains(&(225, 2)) && sent.contains(&(232, 14)),
        "{sent:?}"
    );
    for right in 12..=14 {
        bench.ack(288 + right, 2, &[(3, right)]);
    }
    assert!(!bench.sent().contains(&2));
    bench.ack(332, 2, &[(3, 15)]);
    assert!(bench.sent().contains(&2));
    assert_eq!(bench.sender.counters(ms(332)).timeouts, 0);
}

/// Checks that all segments are retransmitted, in slow start, after a timeout without any acknowledgement.
#[test]
fn after_a_timeout_everything_overdue_is_sent_again() {
    let mut bench = SenderBench::open(tcp(Recovery::RackTlp), reno());
    bench.sent();
    // The probe at 300 ms is a new segment. The timer is restarted at this time and expires a second later.
    bench.wait(1350);
    assert_eq!(bench.sent_when(), [(300, 11), (1300, 1)]);
    // All segments are overdue, since no round-trip time of data was known at the timeout.
    bench.ack(1400, 2, &[]);
    assert_eq!(bench.sent(), [2, 3]);
    bench.ack(1500, 4, &[]);
    assert_eq!(bench.sent(), [4, 5, 6]);
}

/// RFC 6298 section 5.7: the timeout is 3 s when data transmission begins after a lost SYN; the next sample sets the
/// timeout as usual.
#[test]
fn the_timeout_starts_over_after_a_lost_syn() {
    let mut bench = SenderBench::dial(tcp(Recovery::Sack), reno(), |_| {});
    bench.wait(1_050);
    assert_eq!(bench.sent_when(), [(0, 0), (1_000, 0)]);
    bench.ack(1_100, 1, &[]);
    bench.wait(4_150);
    assert_eq!(bench.sent_when(), [(1_100, 1), (4_100, 1)]);
}

/// Checks that a timeout sets ssthresh to half of the flight, but not again for data that an earlier timeout has
/// retransmitted (RFC 5681 section 3.1).
#[test]
fn the_threshold_is_kept_only_while_a_timeout_is_repaired() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let mut bench = SenderBench::open(tcp(recovery), reno());
        let threshold = |bench: &mut SenderBench, at| {
            bench.wait(at);
            let counters = bench.sender.counters(ms(at));
            (
                counters.timeouts,
                bench.sender.sample(ms(at)).ssthresh.unwrap(),
            )
        };
        // The first of ten segments is lost twice.
        assert_eq!(threshold(&mut bench, 1_150), (1, 5.0), "{recovery:?}");
        assert_eq!(threshold(&mut bench, 3_150), (2, 5.0), "{recovery:?}");
        for next in 2..=11 {
            bench.ack(3_200 + next, next, &[]);
        }
        // The first of a flight of six is lost. The third is lost after its retransmission in slow start.
        assert_eq!(threshold(&mut bench, 7_250), (3, 3.0), "{recovery:?}");
        bench.ack(7_300, 12, &[]);
        bench.ack(7_400, 13, &[]);
        assert_eq!(threshold(&mut bench, 16_000), (4, 3.0), "{recovery:?}");
    }
}

/// Checks that segments reported by SACK blocks before a timeout do not let the window grow after it.
#[test]
fn what_was_acknowledged_before_a_timeout_does_not_grow_the_window_after_it() {
    for ack_counting in [
        AckCounting::Delivered,
        AckCounting::PerSegment {
            slow_start_limit: 2.0,
        },
    ] {
        for recovery in [Recovery::Sack, Recovery::RackTlpPrr] {
            let config = Tcp {
                initial_window: 20.0,
                ack_counting,
                ..tcp(recovery)
            };
            let mut bench = SenderBench::open(config, reno());
            // Segment 1 of twenty is lost twice. The acknowledgement of all twenty counts as one segment: the only
            // newly delivered one (Linux), or the maximum after a timeout (RFC 3465).
            for right in 3..=21 {
                bench.ack(198 + right, 1, &[(2, right)]);
            }
            bench.wait(3_000);
            assert_eq!(
                bench.sender.sample(ms(3_000)).cwnd.unwrap(),
                1.0,
                "{recovery:?}"
            );
            bench.ack(3_100, 21, &[]);
            let cwnd = bench.sender.sample(ms(3_100)).cwnd.unwrap();
            assert_eq!(cwnd, 2.0, "{recovery:?} {ack_counting:?}");
        }
    }
}

/// Slow start ends at the threshold, even within one acknowledgement. After a timeout, one acknowledgement covers
/// fifteen segments: nine raise the window to the threshold of ten, and six count in congestion avoidance.
#[test]
fn slow_start_ends_at_the_threshold_within_an_acknowledgement() {
    let config = Tcp {
        initial_window: 20.0,
        ack_counting: AckCounting::Delivered,
        ..tcp(Recovery::NewReno)
    };
    let mut bench = SenderBench::open(config, reno());
    bench.wait(1_150);
    bench.ack(1_200, 16, &[]);
    let cwnd = bench.sender.sample(ms(1_200)).cwnd.unwrap();
    assert!((cwnd - 10.6).abs() < 1e-9, "{cwnd}");
}

/// After a timeout, retransmissions let the window grow even if the application has no new data, since the window
/// limits the sender.
#[test]
fn the_repair_of_a_timeout_grows_the_window_without_new_data() {
    for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::RackTlp] {
        let config = Tcp {
            transfer: Some(10 * 1460),
            ..tcp(recovery)
        };
        let mut bench = SenderBench::open(config, reno());
        bench.wait(1350);
        bench.sent();
        bench.ack(1400, 2, &[]);
        assert_eq!(bench.sent(), [2, 3], "{recovery:?}");
        bench.ack(1500, 4, &[]);
        assert_eq!(bench.sent(), [4, 5, 6], "{recovery:?}");
    }
}

/// An algorithm that counts the reports that a recovery has ended.
#[derive(Clone, Debug, Default)]
struct Ends(Arc<AtomicU32>);

impl CongestionControl for Ends {
    fn on_congestion(&mut self, _: &Congestion, _: &mut Window) {}

    fn on_recovery_exit(&mut self, _: Time, _: &mut Window) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Checks that the end of a recovery after a timeout is reported to the algorithm once: when all segments sent before
/// the timeout are acknowledged.
#[test]
fn the_end_of_a_recovery_after_a_timeout_is_told() {
    // RACK-TLP's probe is the eleventh segment.
    for (recovery, sent) in [(Recovery::Sack, 10), (Recovery::RackTlp, 11)] {
        let ends = Ends::default();
        let controller = Controller::Custom(Box::new(ends.clone()));
        let mut bench = SenderBench::open(tcp(recovery), controller);
        bench.wait(5_000);
        assert!(bench.sender.counters(ms(5_000)).timeouts > 0);
        let told = [5, sent, sent + 1].map(|next| {
            bench.ack(5_000 + 100 * next, next, &[]);
            ends.0.load(Ordering::Relaxed)
        });
        assert_eq!(told, [0, 0, 1], "{recovery:?}");
    }
}

/// ns-2.35, `Sack1TcpAgent::recv`: three duplicates of the last acknowledgement start a recovery. Acknowledgements
/// older than the last one do not count as duplicates, nor do duplicates between a timeout and the next new
/// acknowledgement.
#[test]
fn ns2_counts_duplicates_of_the_last_acknowledgement_alone() {
    let opened = || {
        let mut bench = SenderBench::open(tcp(Recovery::Ns2Sack), reno());
        bench.ack(200, 3, &[]);
        bench.sent();
        bench
    };
    let mut bench = opened();
    (0..4).for_each(|number| bench.ack(210 + number, 2, &[(5, 6 + number)]));
    assert_eq!(bench.sent(), NOTHING, "older acknowledgements");
    (0..3).for_each(|number| bench.ack(220 + number, 3, &[(5, 6 + number)]));
    assert!(bench.sent().contains(&3));
    let mut bench = opened();
    bench.wait(1500);
    assert!(bench.sent().contains(&3), "the timer has expired");
    (0..4).for_each(|number| bench.ack(1501 + number, 3, &[(5, 6 + number)]));
    assert_eq!(bench.sent(), NOTHING, "after a timeout");
}

/// A rescue retransmission (RFC 6675 section 4, rule 4) that has to wait for a random delay is sent after it.
#[test]
fn a_rescue_retransmission_waits_for_a_delay_and_leaves() {
    let config = Tcp {
        initial_window: 8.0,
        transfer: Some(8 * 1460),
        send_jitter: Span::from_millis(1),
        ..tcp(Recovery::Sack)
    };
    let mut bench = SenderBench::open(config, reno());
    bench.wait(150);
    // Segments 2 and 8 are lost.
    bench.ack(200, 2, &[]);
    for above in 4..=8 {
        bench.ack(200 + above, 2, &[(3, above)]);
    }
    bench.wait(300);
    let last = bench.sent().into_iter().filter(|&segment| segment == 8);
    assert_eq!(last.count(), 2);
}
