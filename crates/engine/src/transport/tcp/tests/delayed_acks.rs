//! Delayed acknowledgements (RFC 5681 section 4.2), and acknowledgements that are not delayed (Linux, `tcp_input.c`).

use longhaul_units::Span;

use super::{ReceiverBench, tcp};
use crate::config::{DelayedAck, Recovery, Tcp};
use crate::packet::{Flags, Packet};

/// Returns a receiver of nine segments. It delays acknowledgements, except the first `quick` ones and, if `push`, the
/// last one. `window` is the receive window.
fn nine_segments(quick: u32, push: bool, window: u64) -> ReceiverBench {
    let tcp = tcp(Recovery::Sack);
    ReceiverBench::open(Tcp {
        // A window of more than 45 segments is not fully open at the start.
        receive_window: window,
        transfer: Some(9 * u64::from(tcp.mss_bytes)),
        delayed_ack: Some(DelayedAck {
            timeout: Span::from_millis(40),
            segments: 2,
            delays_syn: false,
            quick,
            push,
        }),
        ..tcp
    })
}

/// Delivers nine segments, one per millisecond. At 60 ms, after the delayed-ACK timer has expired, delivers the first
/// segment again. Returns the acknowledgement numbers.
fn acknowledged(mut bench: ReceiverBench) -> Vec<u64> {
    let numbers = |acks: Vec<Packet>| acks.into_iter().map(|ack| ack.seq).collect::<Vec<_>>();
    let mut all = Vec::new();
    for segment in 1..=9 {
        all.extend(numbers(bench.segment(segment, segment, Flags::NONE)));
    }
    // A duplicate segment reveals the acknowledgement that the timer has sent.
    all.extend(numbers(bench.segment(60, 1, Flags::NONE)));
    all
}

/// With delayed acknowledgements, every second of nine segments is acknowledged. The acknowledgement of the ninth waits
/// for the timer, or leaves at once if the segment has PSH. A duplicate segment at 60 ms causes a second
/// acknowledgement with number 10.
#[test]
fn every_second_segment_is_acknowledged_and_the_last_one_at_once_if_pushed() {
    assert_eq!(
        acknowledged(nine_segments(0, false, 20)),
        [3, 5, 7, 9, 10, 10]
    );
    let mut bench = nine_segments(0, true, 20);
    for segment in 1..=8 {
        bench.segment(segment, segment, Flags::NONE);
    }
    assert_eq!(bench.segment(9, 9, Flags::NONE)[0].seq, 10, "at once");
    let mut bench = nine_segments(0, false, 20);
    for segment in 1..=8 {
        bench.segment(segment, segment, Flags::NONE);
    }
    assert!(bench.segment(9, 9, Flags::NONE).is_empty());
}

#[test]
fn the_first_acknowledgements_are_not_delayed() {
    assert_eq!(
        acknowledged(nine_segments(3, false, 20)),
        [2, 3, 4, 6, 8, 10, 10]
    );
    assert_eq!(
        acknowledged(nine_segments(16, false, 20)),
        [2, 3, 4, 5, 6, 7, 8, 9, 10, 10]
    );
}

/// Acknowledgements are not delayed while the receive window opens. It opens from 65,536 bytes to one segment less than
/// the buffer's 81,920 bytes: by 2920 bytes for each of five segments, and by the rest for the sixth.
#[test]
fn acknowledgements_are_not_delayed_while_the_window_opens() {
    assert_eq!(
        acknowledged(nine_segments(1, false, 1000)),
        [2, 3, 4, 5, 6, 7, 9, 10, 10]
    );
}

/// Checks the count of quick acknowledgements, which are not delayed. Every acknowledgement decrements the count, even
/// if it would leave at once anyway. A duplicate segment restores the initial count of three.
#[test]
fn duplicates_use_quick_acknowledgements_up_and_bring_others() {
    let mut bench = nine_segments(3, false, 20);
    assert_eq!(bench.segment(1, 1, Flags::NONE)[0].seq, 2);
    assert_eq!(bench.segment(2, 3, Flags::NONE)[0].seq, 2);
    assert_eq!(bench.segment(3, 2, Flags::NONE)[0].seq, 4);
    assert!(bench.segment(4, 4, Flags::NONE).is_empty());
    assert_eq!(bench.segment(5, 2, Flags::NONE)[0].seq, 5);
    assert_eq!(bench.segment(6, 5, Flags::NONE)[0].seq, 6);
    assert_eq!(bench.segment(7, 6, Flags::NONE)[0].seq, 7);
    assert!(bench.segment(8, 7, Flags::NONE).is_empty());
}

/// The first mark causes two immediate acknowledgements (Linux, `__tcp_ecn_check_ce`). The segment with CWR, which ends
/// the echo, is acknowledged at once, too (`tcp_ecn_accept_cwr`).
#[test]
fn marks_and_their_answers_are_acknowledged_at_once() {
    let mut bench = nine_segments(2, false, 20);
    for segment in 1..9 {
        let flags = match segment {
            5 | 6 => Flags::ECT.with(Flags::CE),
            7 => Flags::ECT.with(Flags::CWR),
            _ => Flags::ECT,
        };
        let delayed = bench.segment(segment, segment, flags).is_empty();
        assert_eq!(delayed, [3, 8].contains(&segment), "{segment}");
    }
}

/// The first three duplicate acknowledgements for a hole leave at once. After these, at most one leaves per
/// millisecond, until the hole is filled (Linux, `__tcp_ack_snd_check`).
#[test]
fn later_duplicate_acknowledgements_are_held_back() {
    let mut bench = nine_segments(1, false, 20);
    let mut numbers = |at, segment| {
        let answers = bench.segment(at, segment, Flags::NONE);
        answers.iter().map(|ack| ack.seq).collect::<Vec<_>>()
    };
    assert_eq!(numbers(100, 1), [2]);
    for at in 101..104 {
        assert_eq!(numbers(at, at - 98), [2]);
    }
    assert!(numbers(104, 6).is_empty());
    assert!(numbers(104, 7).is_empty());
    assert_eq!(numbers(106, 8), [2], "of 105 ms");
    assert_eq!(numbers(106, 2), [9]);
    assert!(numbers(110, 9).is_empty());
}

/// Checks that a segment that begins a third SACK block releases the held-back acknowledgement. Segments that extend or
/// join SACK blocks do not release it.
#[test]
fn what_is_held_back_fits_into_one_acknowledgement() {
    let mut bench = nine_segments(1, false, 20);
    let mut count = |at, segment| bench.segment(at, segment, Flags::NONE).len();
    assert_eq!(count(100, 1), 1);
    for segment in [3, 5, 7] {
        assert_eq!(count(101, segment), 1);
    }
    assert_eq!(count(101, 8), 0, "it extends a block");
    assert_eq!(count(101, 6), 0, "it joins two");
    assert_eq!(count(101, 4), 0, "and again");
    let mut bench = nine_segments(1, false, 20);
    let mut count = |at, segment| bench.segment(at, segment, Flags::NONE).len();
    assert_eq!(count(100, 1), 1);
    for segment in [3, 3, 3] {
        assert_eq!(count(101, segment), 1);
    }
    assert_eq!(count(101, 5), 0);
    assert_eq!(count(101, 7), 1, "that of 5");
    assert_eq!(count(101, 9), 1, "that of 7");
}

/// Acknowledgements of data that arrive before the first segment are no answers to the SYN.
#[test]
fn only_the_answer_to_the_syn_has_its_flag() {
    let mut receiver = ReceiverBench::open(tcp(Recovery::NewReno));
    let answer = receiver.segment(1, 2, Flags::NONE);
    let flags: Vec<bool> = answer.iter().map(|one| one.flags.has(Flags::SYN)).collect();
    assert_eq!(flags, [false]);
}
