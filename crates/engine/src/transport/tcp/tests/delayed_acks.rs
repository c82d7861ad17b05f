//! Which acknowledgements are delayed (RFC 5681 section 4.2), and which not (Linux, tcp_input.c).

use longhaul_units::Span;

use super::{ReceiverBench, tcp};
use crate::config::{DelayedAck, Recovery, Tcp};
use crate::packet::{Flags, Packet};

/// A transfer of nine segments.
fn nine_segments(quick: u32, push: bool) -> ReceiverBench {
    let tcp = tcp(Recovery::Sack);
    ReceiverBench::open(Tcp {
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

/// What is acknowledged when each of the nine arrives, a millisecond after the one before, and within 50 ms after.
fn acknowledged(mut bench: ReceiverBench) -> Vec<u64> {
    let numbers = |acks: Vec<Packet>| acks.into_iter().map(|ack| ack.seq).collect::<Vec<_>>();
    let mut all = Vec::new();
    for segment in 1..=9 {
        all.extend(numbers(bench.segment(segment, segment, Flags::NONE)));
    }
    // One that has been acknowledged tells of what the timer sent.
    all.extend(numbers(bench.segment(60, 1, Flags::NONE)));
    all
}

/// The last one is odd: it waits for the timer, unless it is pushed. The answer to what comes again is 10 again.
#[test]
fn every_second_segment_is_acknowledged_and_the_last_one_at_once_if_pushed() {
    assert_eq!(acknowledged(nine_segments(0, false)), [3, 5, 7, 9, 10, 10]);
    let mut bench = nine_segments(0, true);
    for segment in 1..=8 {
        bench.segment(segment, segment, Flags::NONE);
    }
    assert_eq!(bench.segment(9, 9, Flags::NONE)[0].seq, 10, "at once");
    let mut bench = nine_segments(0, false);
    for segment in 1..=8 {
        bench.segment(segment, segment, Flags::NONE);
    }
    assert!(bench.segment(9, 9, Flags::NONE).is_empty());
}

#[test]
fn the_first_acknowledgements_are_not_delayed() {
    assert_eq!(
        acknowledged(nine_segments(3, false)),
        [2, 3, 4, 6, 8, 10, 10]
    );
    assert_eq!(
        acknowledged(nine_segments(16, false)),
        [2, 3, 4, 5, 6, 7, 8, 9, 10, 10]
    );
}

/// An acknowledgement that is sent at once for another reason is one of them.
#[test]
fn duplicates_use_quick_acknowledgements_up() {
    let mut bench = nine_segments(3, false);
    assert_eq!(bench.segment(1, 1, Flags::NONE)[0].seq, 2);
    assert_eq!(bench.segment(2, 3, Flags::NONE)[0].seq, 2);
    assert_eq!(bench.segment(3, 2, Flags::NONE)[0].seq, 4);
    assert!(bench.segment(4, 4, Flags::NONE).is_empty());
}
