//! DCTCP's echo of marks (RFC 8257 section 3.2), and the sender's count of them.

use longhaul_units::Span;

use super::{ReceiverBench, SenderBench, controller, delayed_ack, reno, tcp};
use crate::config::{Ecn, Recovery, Tcp};
use crate::packet::{Flags, Packet};

const WAITS: [(u64, bool); 0] = [];

fn dctcp() -> Tcp {
    Tcp {
        ecn: Ecn::Dctcp,
        delayed_ack: Some(delayed_ack(Span::from_millis(40))),
        ..tcp(Recovery::Sack)
    }
}

/// Returns two values for each acknowledgement: the next segment expected, and true if it echoes a mark.
fn echo(acks: &[Packet]) -> Vec<(u64, bool)> {
    acks.iter()
        .map(|ack| (ack.seq, ack.flags.has(Flags::ECE)))
        .collect()
}

#[test]
fn each_acknowledgement_echoes_the_mark_of_its_segments() {
    let mut receiver = ReceiverBench::open(dctcp());
    let ce = Flags::ECT.with(Flags::CE);
    let mut answers = |at, seq, flags| echo(&receiver.segment(at, seq, flags));
    // Without marks, every second segment is acknowledged.
    assert_eq!(answers(1, 1, Flags::ECT), WAITS);
    assert_eq!(answers(2, 2, Flags::ECT), [(3, false)]);
    // When the first mark arrives, one segment waits for its acknowledgement. It is acknowledged as not marked, and
    // then the marked segment is acknowledged.
    assert_eq!(answers(3, 3, Flags::ECT), WAITS);
    assert_eq!(answers(4, 4, ce), [(4, false), (5, true)]);
    // While segments are marked, every second one is acknowledged again, whether or not it has CWR.
    assert_eq!(answers(5, 5, ce.with(Flags::CWR)), WAITS);
    assert_eq!(answers(6, 6, ce), [(7, true)]);
    // At the end of the marks, no segment waits, so that one acknowledgement is sent, at once.
    assert_eq!(answers(7, 7, Flags::ECT), [(8, false)]);
    // A single segment waits for the timer.
    assert_eq!(answers(8, 8, Flags::ECT), WAITS);
    assert_eq!(answers(60, 9, Flags::ECT), [(9, false)]);
}

#[test]
fn the_classic_echo_goes_on_until_the_window_is_reduced() {
    let mut receiver = ReceiverBench::open(Tcp {
        ecn: Ecn::Classic,
        delayed_ack: None,
        ..dctcp()
    });
    let ce = Flags::ECT.with(Flags::CE);
    let mut answers = |seq, flags| echo(&receiver.segment(seq, seq, flags));
    assert_eq!(answers(1, ce), [(2, true)]);
    assert_eq!(answers(2, Flags::ECT), [(3, true)]);
    assert_eq!(answers(3, Flags::ECT.with(Flags::CWR)), [(4, false)]);
    // CWR is the response to earlier marks and not to a mark of the same segment.
    assert_eq!(answers(4, ce.with(Flags::CWR)), [(5, true)]);
}

#[test]
fn echoes_reduce_the_window_once_per_round_trip() {
    let mut bench = SenderBench::open(dctcp(), reno());
    let ece = Flags::ECE;
    bench.ack(200, 3, &[]);
    let cwnd = |bench: &mut SenderBench, at| bench.sender.sample(super::ms(at)).cwnd.unwrap();
    assert_eq!(cwnd(&mut bench, 200), 11.0);
    // The whole window of 11 segments is in use, so that it is halved. The following echoes belong to the same window.
    bench.ack_with(201, 5, &[], ece);
    assert_eq!(cwnd(&mut bench, 201), 5.5);
    bench.ack_with(202, 7, &[], ece);
    assert_eq!(cwnd(&mut bench, 202), 5.5);
    // Segment 13 was sent at 200 ms. All segments up to it had been sent when the window was reduced.
    bench.ack_with(300, 14, &[], ece);
    assert_eq!(cwnd(&mut bench, 300), 5.5);
    bench.ack_with(400, 16, &[], ece);
    assert!(cwnd(&mut bench, 400) < 5.5);
}

/// A mark that BBR ignores does not count as a reduction. A loss in the same window of data counts as one.
#[test]
fn marks_that_an_algorithm_ignores_are_no_reductions() {
    let config = Tcp {
        ecn: Ecn::Classic,
        ..dctcp()
    };
    let mut bench = SenderBench::open(config, controller("bbr"));
    bench.ack_with(200, 2, &[], Flags::ECE);
    bench.ack_with(201, 3, &[], Flags::ECE);
    for right in 5..=8 {
        bench.ack(200 + right, 3, &[(4, right)]);
    }
    let counters = bench.sender.counters(super::ms(210));
    assert_eq!((counters.cuts_ecn, counters.cuts_loss), (0, 1));
}

/// DCTCP reduces twice after a mark and a loss in the same window of data: for the mark by alpha / 2 (alpha is one at
/// first), and for the loss in the standard way (RFC 8257 section 3.5). A standard sender reduces only once (RFC 3168
/// section 6.1.2).
#[test]
fn a_loss_halves_a_window_that_a_mark_has_cut_in_proportion() {
    let recoveries = [
        Recovery::Sack,
        Recovery::RackTlp,
        Recovery::NewReno,
        Recovery::Ns2Sack,
        Recovery::Ns2NewReno,
    ];
    for recovery in recoveries {
        for (kind, losses) in [("dctcp", 1), ("reno", 0)] {
            let config = Tcp {
                recovery,
                limited_transmit: false,
                ..dctcp()
            };
            let mut bench = SenderBench::open(config, controller(kind));
            bench.ack(200, 2, &[]);
            bench.ack_with(201, 3, &[], Flags::ECE);
            for right in 5..=10 {
                bench.ack(226 + right, 3, &[(4, right)]);
            }
            let counters = bench.sender.counters(super::ms(240));
            let cuts = (counters.cuts_ecn, counters.cuts_loss);
            assert_eq!(cuts, (1, losses), "{recovery:?} {kind}");
            assert_eq!(counters.retransmitted_pkts, 1, "{recovery:?} {kind}");
        }
    }
}
