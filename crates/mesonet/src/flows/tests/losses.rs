//! Sequence numbers, acknowledgements and loss epochs (NIST SP 500-282, chapter 3).

use super::*;

/// Runs a transfer of ten packets with a window of ten; `lose` returns true for packets to lose.
fn ten(lose: fn(&Packet, &Sender) -> bool) -> Path {
    let mut path = Start {
        cwnd: 10.0,
        ssthresh: 10.0,
        ..Start::new(Span::from_millis(100), 10)
    }
    .path("reno");
    path.lose = lose;
    path.begin();
    path.run(at(10.0));
    path
}

fn is_data(packet: &Packet, numbers: &[u64]) -> bool {
    packet.kind() == Kind::Data && numbers.contains(&packet.number())
}

#[test]
fn a_gap_is_answered_once_and_the_rest_is_sent_anew() {
    let path = ten(|packet, _| is_data(packet, &[4, 5]));
    let numbers = [2, 3, 4, 7, 8, 9, 10, 11];
    let kind = |number| if number == 7 { Kind::Nak } else { Kind::Ack };
    let expected: Vec<_> = numbers.map(|number| (kind(number), number)).to_vec();
    assert_eq!(path.answers()[..8], expected);
    assert!(path.done.is_some());
    // Two packets more than the file has are sent. There is one reduction, of the window to which
    // three acknowledgements enlarged the window of ten.
    assert_eq!(path.sender.sent(), 12);
    assert_eq!(path.sender.signals(), (1, 0));
    let before = 10.0 + 0.1 + 1.0 / 10.1 + 1.0 / (10.1 + 1.0 / 10.1);
    assert!((path.ssthresh() - before / 2.0).abs() < 1e-9);
}

#[test]
fn what_was_sent_before_the_reduction_moves_the_window_no_more() {
    let path = ten(|packet, _| is_data(packet, &[1, 6]));
    let naks: Vec<_> = path
        .answers()
        .into_iter()
        .filter(|answer| answer.0 == Kind::Nak)
        .collect();
    assert_eq!(naks, [(Kind::Nak, 3), (Kind::Nak, 8)]);
    // The window is halved once. The answer to packet 10 has the number 11, the next sequence
    // number at the loss, so it belongs to the new epoch and enlarges the window, as does the
    // answer to packet 11. The answer after that is the last.
    assert_eq!(path.sender.signals(), (2, 0));
    assert_eq!(path.ssthresh(), 5.0);
    assert_eq!(path.cwnd(), 5.2 + 1.0 / 5.2);
}

#[test]
fn a_lost_answer_costs_a_packet_and_no_reduction() {
    let path = ten(|packet, _| packet.kind() == Kind::Ack && packet.number() == 4);
    assert_eq!(path.sender.sent(), 11);
    assert_eq!(path.sender.signals(), (0, 0));
    assert!(path.cwnd() > 10.0);
}

#[test]
fn a_lost_last_packet_is_sent_anew_after_a_timeout() {
    let mut path = Start::new(Span::from_millis(100), 10).path("reno");
    path.lose = |packet, _| is_data(packet, &[10]);
    path.begin();
    path.run(at(10.0));
    assert_eq!((path.sender.sent(), path.sender.signals()), (11, (0, 1)));
    // Nine acknowledgements in slow start enlarged the window from 2 to 11.
    assert_eq!((path.cwnd(), path.ssthresh()), (2.0, 5.5));
    let seconds = path.done.expect("complete").as_secs_f64();
    // Windows of 2, 4 and 8 transfer ten packets: the last answer comes after three round trips.
    // The timeout takes two more, and packet 11 one.
    assert!((seconds - 0.6).abs() < 1e-6, "{seconds}");
}

/// Checks that successive timeouts double: they expire after 2, 4, 8, 16 and 32 round trips, and then after 32 again.
#[test]
fn timeouts_in_a_row_wait_longer() {
    let mut path = Start::new(Span::from_millis(100), 10).path("reno");
    path.lose = |packet, _| packet.kind() == Kind::Data;
    path.begin();
    path.run(at(15.0));
    let starts: Vec<f64> = path
        .seen
        .iter()
        .filter(|seen| seen.2 % 2 == 1)
        .map(|seen| seen.0.as_secs_f64() - 0.05)
        .collect();
    for (found, sent) in starts.iter().zip([0.0, 0.2, 0.6, 1.4, 3.0, 6.2, 9.4, 12.6]) {
        assert!((found - sent).abs() < 1e-6, "{found} for {sent}");
    }
    assert_eq!(starts.len(), 8);
}
