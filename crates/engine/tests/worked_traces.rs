//! Tests of the worked traces of Weigle 2003, chapter 2, segment by segment.
//!
//! The sender's link takes no time, and the bottleneck spaces segments by 10 ms. Acknowledgements thus arrive one at a
//! time, and a trace shows the segments that each of them releases.

mod common;

use longhaul_engine::Loss;
use longhaul_engine::config::{Recovery, Tcp};
use longhaul_engine::measure::CapturedPacket;
use longhaul_units::{Rate, Span};

use common::{AT_ONCE, add_access, add_flows, delayed_ack, drop_tail, dumbbell, run};

const SEGMENT_BYTES: u64 = 1460;

/// Returns the parameters of the sender in Weigle's text, which does not use limited transmit.
fn textbook(recovery: Recovery) -> Tcp {
    Tcp {
        limited_transmit: false,
        ..common::tcp(recovery)
    }
}

/// Returns a connection with delayed ACKs: the receiver acknowledges every second segment. Its timer of a second does
/// not expire within a round trip.
fn delayed(tcp: Tcp) -> Tcp {
    Tcp {
        delayed_ack: Some(delayed_ack(Span::from_secs(1))),
        ..tcp
    }
}

/// Returns acknowledgement numbers, each with the segments sent between this acknowledgement and the next one. The
/// first entry contains the segments sent before any acknowledgement of data. Segments are numbered from 1. The first
/// transmission of each segment in `lost` is lost.
fn trace(tcp: Tcp, lost: &[u64]) -> Vec<(u64, Vec<u64>)> {
    let rate = Rate::from_bps(1_200_000);
    let mut config = dumbbell(rate, Span::from_millis(250), drop_tail(1000), 4);
    // The SYN is packet 0 at the bottleneck.
    config.links[0].direction.loss = Loss::List(lost.to_vec());
    add_flows(&mut config, "flow", 1, AT_ONCE, tcp);
    add_access(&mut config, Span::ZERO);
    for link in &mut config.links[2..] {
        link.rate = Rate::from_bps(1_000_000_000_000);
        link.direction.loss = Loss::None;
        // These are the links to and from the source.
        link.captured = [link.from, link.to].contains(&2);
    }
    let (_, records) = run(&config);
    group(records.packets)
}

fn group(mut packets: Vec<CapturedPacket>) -> Vec<(u64, Vec<u64>)> {
    packets.retain(|packet| !packet.syn);
    packets.sort_by_key(|packet| packet.time);
    let number = |byte: u64| (byte - 1) / SEGMENT_BYTES + 1;
    let mut groups = vec![(1, Vec::new())];
    for packet in packets {
        if packet.reverse {
            groups.push((number(packet.acknowledgement), Vec::new()));
        } else if packet.payload_bytes > 0
            && let Some((_, sent)) = groups.last_mut()
        {
            sent.push(number(packet.sequence));
        }
    }
    groups
}

#[track_caller]
fn assert_begins(found: &[(u64, Vec<u64>)], expected: &[(u64, &[u64])]) {
    let found: Vec<(u64, &[u64])> = found
        .iter()
        .map(|(asked, sent)| (*asked, sent.as_slice()))
        .take(expected.len())
        .collect();
    assert_eq!(found, expected);
}

/// Checks flow control with a receive window of three segments: each acknowledgement releases one segment, until six
/// have been sent.
#[test]
fn the_receive_window_lets_one_segment_go_for_each_acknowledged() {
    let tcp = Tcp {
        receive_window: 3,
        initial_window: 3.0,
        transfer: Some(6 * SEGMENT_BYTES),
        ..textbook(Recovery::Reno)
    };
    let expected: [(u64, &[u64]); 5] = [(1, &[1, 2, 3]), (2, &[4]), (3, &[5]), (4, &[6]), (5, &[])];
    assert_begins(&trace(tcp, &[]), &expected);
}

/// In slow start, each acknowledgement releases two segments; the eighth releases segments 17 and 18.
#[test]
fn slow_start_sends_two_segments_for_each_acknowledged() {
    let found = trace(textbook(Recovery::Reno), &[]);
    assert_begins(&found, &[(1, &[1, 2])]);
    for (acknowledgement, (asked, sent)) in (1..).zip(&found[1..9]) {
        assert_eq!(*asked, acknowledgement + 1);
        assert_eq!(*sent, [2 * acknowledgement + 1, 2 * acknowledgement + 2]);
    }
}

/// In slow start with delayed acknowledgements, each acknowledgement covers two segments and releases three.
#[test]
fn slow_start_with_delayed_acknowledgements_sends_three_for_two() {
    let expected: [(u64, &[u64]); 4] = [
        (1, &[1, 2]),
        (3, &[3, 4, 5]),
        (5, &[6, 7, 8]),
        (7, &[9, 10, 11]),
    ];
    assert_begins(&trace(delayed(textbook(Recovery::Reno)), &[]), &expected);
}

/// Checks that congestion avoidance sends another segment once the window has grown by a whole segment. The windows are
/// 2, 2.5, 2.9 and 3.245 segments, with and without delayed acknowledgements.
#[test]
fn congestion_avoidance_sends_another_segment_once_the_window_holds_it() {
    let avoidance = Tcp {
        initial_ssthresh: Some(2.0),
        ..textbook(Recovery::Reno)
    };
    let expected: [(u64, &[u64]); 4] = [(1, &[1, 2]), (2, &[3]), (3, &[4]), (4, &[5, 6])];
    assert_begins(&trace(avoidance.clone(), &[]), &expected);
    let expected: [(u64, &[u64]); 4] = [(1, &[1, 2]), (3, &[3, 4]), (5, &[5, 6]), (7, &[7, 8, 9])];
    assert_begins(&trace(delayed(avoidance), &[]), &expected);
}

/// Checks that a timeout repairs the loss of segment 2 if the window is three segments. Segments 3 and 4 cause only two
/// duplicate acknowledgements, too few to indicate a loss. After the timeout, the window is one segment (RFC 5681
/// section 3.1), and only segment 2 is sent again. The next acknowledgement covers segments 2 to 4. (In Weigle's text,
/// go-back-N sends all three again.)
#[test]
fn the_timer_repairs_what_duplicates_are_too_few_to_tell() {
    let tcp = Tcp {
        receive_window: 3,
        initial_window: 3.0,
        ..textbook(Recovery::Reno)
    };
    let expected: [(u64, &[u64]); 5] = [
        (1, &[1, 2, 3]),
        (2, &[4]),
        (2, &[]),
        (2, &[2]),
        (5, &[5, 6]),
    ];
    assert_begins(&trace(tcp, &[2]), &expected);
}

/// Returns the index of the first entry with acknowledgement number 9, after which segments 17 and 18 are sent.
fn before_the_loss(found: &[(u64, Vec<u64>)]) -> usize {
    let eighth = found.iter().position(|(asked, _)| *asked == 9).unwrap();
    // In slow start, the window is now 10 segments: segments 9 to 18 are in flight.
    assert_eq!(found[eighth].1, [17, 18]);
    eighth
}

/// Checks that Tahoe retransmits segment 9 at the third duplicate, with a window of one segment. Six further duplicates
/// release nothing. The acknowledgement of all segments increases the window to two.
#[test]
fn tahoe_starts_over_after_three_duplicates() {
    let found = trace(textbook(Recovery::Tahoe), &[9]);
    let eighth = before_the_loss(&found);
    let mut expected: Vec<(u64, &[u64])> = vec![(9, &[]); 9];
    expected[2].1 = &[9];
    expected.push((19, &[19, 20]));
    assert_begins(&found[eighth + 1..], &expected);
}

/// Checks that Reno retransmits segment 9 at the third duplicate, and sends segments 19 to 22 at the sixth to ninth
/// duplicates, and one segment at the acknowledgement that ends the recovery.
#[test]
fn reno_goes_on_while_it_repairs() {
    let found = trace(textbook(Recovery::Reno), &[9]);
    let eighth = before_the_loss(&found);
    // At the third duplicate, the window is 5 plus 3 segments; at the fifth, it is 10, and segments 9 to 18 fill it. At
    // the end it is 5, and four segments are in flight.
    let expected: [(u64, &[u64]); 10] = [
        (9, &[]),
        (9, &[]),
        (9, &[9]),
        (9, &[]),
        (9, &[]),
        (9, &[19]),
        (9, &[20]),
        (9, &[21]),
        (9, &[22]),
        (19, &[23]),
    ];
    assert_begins(&found[eighth + 1..], &expected);
}
