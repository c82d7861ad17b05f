//! Data that the application gives message by message. Full segments hold 1460 bytes in packets of 1500.

use super::{SenderBench, ms, reno, tcp};
use crate::config::{IdleRestart, Recovery};
use crate::packet::{Flags, Packet};

impl SenderBench {
    /// Returns the segments sent since the last call. Each has three values: its number, its size on the wire, and true
    /// if it has a FIN.
    fn sizes(&mut self) -> Vec<(u64, u16, bool)> {
        let soon = self.env.network.now + longhaul_units::Span::from_micros(1);
        let sent = super::run_to(&mut self.env, soon, |_, event| {
            unreachable!("{event:?} within a microsecond")
        });
        let size = |packet: &Packet| (packet.seq, packet.bytes, packet.flags.has(Flags::FIN));
        sent.iter().map(size).collect()
    }
}

fn open() -> SenderBench {
    let mut tcp = tcp(Recovery::NewReno);
    tcp.initial_window = 2.0;
    SenderBench::open_empty(tcp, reno())
}

#[test]
fn a_short_segment_is_filled_while_it_waits() {
    let mut bench = open();
    assert_eq!(bench.sizes(), []);
    // Two segments of the 3000 bytes fit into the window, and 80 bytes wait.
    bench.sender.append(3000, &mut bench.env);
    assert_eq!(bench.sizes(), [(1, 1500, false), (2, 1500, false)]);
    assert_eq!(bench.sender.end(), 4);
    bench.sender.append(100, &mut bench.env);
    assert_eq!(bench.sender.end(), 4);
    assert_eq!(bench.sender.position(4), 3101);
    bench.ack(200, 3, &[]);
    assert_eq!(bench.sizes(), [(3, 220, false)]);
    // The segment has been sent and remains a short one.
    bench.sender.append_last(1460 + 7, &mut bench.env);
    assert_eq!(bench.sizes(), [(4, 1500, false), (5, 47, true)]);
    let positions: Vec<u64> = (0..7).map(|n| bench.sender.position(n)).collect();
    assert_eq!(positions, [0, 1, 1461, 2921, 3101, 4561, 4568]);
    assert_eq!(bench.sender.payload_bytes(3), 180);
    assert_eq!(bench.sender.acknowledgement(6), 4569);
}

#[test]
fn repeated_segments_keep_their_sizes() {
    let mut bench = open();
    bench.sender.append(10, &mut bench.env);
    bench.sender.append(20, &mut bench.env);
    assert_eq!(bench.sizes(), [(1, 50, false), (2, 60, false)]);
    // The timer expires; both segments are retransmitted, one by one.
    bench.wait(1300);
    bench.sent.clear();
    bench.ack(1400, 2, &[]);
    assert_eq!(bench.sizes(), [(2, 60, false)]);
    assert_eq!(bench.sender.repairs(), (2, 1));
    bench.ack(1500, 3, &[]);
    assert_eq!(bench.sender.outstanding(), 0);
    assert_eq!(bench.sender.finish(), None);
}

/// RFC 5681 section 4.1: a window that was idle for longer than the timeout, here a second, is restarted.
#[test]
fn a_window_that_was_idle_for_a_timeout_starts_over() {
    for (pause, allowed) in [(900, 4), (1100, 2)] {
        let mut bench = open();
        // The window grows from 2 to 4 segments while the application has more data than the window allows.
        bench.sender.append(6 * 1460, &mut bench.env);
        for (at, next) in [(200, 2), (201, 3), (300, 7)] {
            bench.ack(at, next, &[]);
        }
        bench.sizes();
        bench.wait(300 + pause);
        bench.env.network.now = ms(300 + pause);
        bench.sender.append(10 * 1460, &mut bench.env);
        assert_eq!(bench.sizes().len(), allowed, "after {pause} ms");
    }
}

/// Idle time begins with the last sent segment. It ends neither when the counters are read, nor when a segment arrives,
/// such as a request for more data on a persistent connection.
#[test]
fn a_request_that_arrives_does_not_end_the_idle_time() {
    for recovery in [
        Recovery::Tahoe,
        Recovery::Reno,
        Recovery::NewReno,
        Recovery::Sack,
        Recovery::SackPrr,
        Recovery::Fack,
        Recovery::RackTlp,
        Recovery::RackTlpPrr,
    ] {
        for (idle_restart, left) in [
            (IdleRestart::None, 8),
            (IdleRestart::InitialWindow, 3),
            (IdleRestart::Halved, 4),
        ] {
            let mut tcp = tcp(recovery);
            (tcp.initial_window, tcp.idle_restart) = (3.0, idle_restart);
            let mut bench = SenderBench::open_empty(tcp, reno());
            bench.sender.append(21 * 1460, &mut bench.env);
            for (at, next) in [
                (200, 2),
                (201, 3),
                (202, 4),
                (300, 10),
                (301, 17),
                (302, 22),
            ] {
                bench.ack(at, next, &[]);
            }
            // The last segments left after 301 ms; the timeout is a second.
            bench.sizes();
            bench.wait(1_500);
            bench.sender.counters(ms(1_500));
            bench.ack(1_550, 22, &[]);
            let before = bench.sender.info().cwnd;
            bench.sender.append(40 * 1460, &mut bench.env);
            let sent = bench.sizes().len();
            assert_eq!((before, sent), (8, left), "{recovery:?}, {idle_restart:?}");
        }
    }
}

#[test]
fn a_flow_that_is_stopped_while_it_opens_sends_no_data() {
    let mut bench = SenderBench::dial(tcp(Recovery::Sack), reno(), |_| {});
    bench.wait(50);
    bench.sender.stop();
    bench.ack(100, 1, &[]);
    assert_eq!(bench.sent(), [0], "the SYN");
    assert_eq!(bench.sender.finish(), Some(ms(100)));
}
