//! Tests after packetdrill scripts, written as code instead of as tables of events (`table.rs`): ECN fields of segments
//! and SACK blocks of receivers.

use super::super::ReceiverBench;
use super::table::Settings;
use super::{Driver, options};
use crate::packet::Flags;

/// `ecn/ecn-uses-ect0`: data segments are ECN-capable on a connection that has negotiated ECN, and only there.
#[test]
fn data_says_that_it_is_ecn_capable() {
    for ecn in [true, false] {
        let settings = Settings {
            ecn,
            ..Settings::USUAL
        };
        let mut driver = Driver::open(&settings, true);
        driver.sender.append(1000, &mut driver.env);
        driver.wait_for(1, driver.due);
        let capable: Vec<bool> = driver
            .sent
            .iter()
            .map(|packet| packet.flags.has(Flags::ECT))
            .collect();
        assert_eq!(capable, [ecn]);
    }
}

/// Receivers report the newest blocks first. A D-SACK block precedes all others, even if another block contains it.
/// From `tcp_dsack_mult` (a selftest of the kernel); where the script sends several segments at once, one arrives at a
/// time here.
#[test]
fn receivers_report_blocks_and_what_arrives_twice() {
    let mut bench = ReceiverBench::open(options(&Settings::USUAL));
    let mut at = 0;
    let mut reports = |segment: u64| {
        at += 10;
        let sent = bench.segment(at, segment, Flags::NONE);
        let ack = sent.last().expect("an acknowledgement");
        let option = bench.env.network.options.get(ack.sack);
        (ack.seq, option.blocks(ack.seq).collect::<Vec<_>>())
    };
    assert_eq!(reports(2), (1, vec![(2, 3)]));
    assert_eq!(reports(3), (1, vec![(2, 4)]));
    assert_eq!(reports(5), (1, vec![(5, 6), (2, 4)]));
    assert_eq!(reports(8), (1, vec![(8, 9), (5, 6), (2, 4)]));
    assert_eq!(reports(1).0, 4);
    assert_eq!(reports(4).0, 6);
    let (next, blocks) = reports(2);
    assert_eq!(
        (next, blocks[0]),
        (6, (2, 3)),
        "twice, and below the acknowledgement"
    );
    assert_eq!(reports(6), (7, vec![(8, 9)]));
    assert_eq!(reports(7), (9, vec![]));
    assert_eq!(reports(8), (9, vec![(8, 9)]));
    assert_eq!(reports(1), (9, vec![(1, 2)]));
}
