//! Round-trip samples that Linux takes from an acknowledgement (`tcp_clean_rtx_queue` and `tcp_ack_update_rtt` of
//! `net/ipv4/tcp_input.c`).

use longhaul_congestion::Phases;
use longhaul_units::Span;

use super::facts::Scribe;
use super::{ReceiverBench, SenderBench, delayed_ack, tcp};
use crate::config::{Recovery, RttSample, Tcp, Timestamps};
use crate::packet::{Flags, SackBlocks};

/// Round-trip values after an acknowledgement, in milliseconds.
#[derive(Debug, PartialEq)]
struct RoundTripValues {
    rtt: Option<f64>,
    smallest: f64,
    smoothed: f64,
}

/// An acknowledgement: its time, its acknowledgement number, its SACK blocks, and the round-trip values after it.
type Line = (u64, u64, &'static [(u64, u64)], RoundTripValues);

const fn values(rtt: f64, smallest: f64, smoothed: f64) -> RoundTripValues {
    RoundTripValues {
        rtt: Some(rtt),
        smallest,
        smoothed,
    }
}

/// Acknowledgements and the expected values after each. Segments 1 to 10 leave at 100 ms; segment 13 is lost.
const TABLE: &[Line] = &[
    // This acknowledgement covers segments 1 and 2.
    (200, 3, &[], values(100.0, 100.0, 100.0)),
    // It covers segments 3 to 11, of which segment 3 was sent at 100 ms and segment 11 at 200 ms. The mean becomes 7/8
    // x 100 + 200/8.
    (300, 12, &[], values(100.0, 100.0, 112.5)),
    // It covers segment 12 alone, which was sent at 200 ms.
    (310, 13, &[], values(110.0, 100.0, 112.1875)),
    // It covers segment 14 selectively, which was sent at 300 ms. The next acknowledgement also covers segments 15 to
    // 23, and segments 24 and 25, which were sent at 310 ms.
    (380, 13, &[(14, 15)], values(80.0, 80.0, 108.164_062_5)),
    (410, 13, &[(14, 26)], values(100.0, 80.0, 108.393_554_687_5)),
    // Segment 13 was retransmitted, so that only the timestamp, which is zero here, gives a sample.
    (600, 26, &[], values(600.0, 80.0, 169.844_360_351_562_5)),
];

#[test]
fn the_first_segment_is_smoothed_and_the_last_is_told() {
    for recovery in [Recovery::Sack, Recovery::RackTlpPrr] {
        let scribe = Scribe::new(Phases::Avoidance);
        let config = Tcp {
            timestamps: Timestamps::Standard(12),
            rtt_sample: RttSample::Last,
            ..tcp(recovery)
        };
        let mut bench = SenderBench::open(config, scribe.controller());
        for (at, next, blocks, _) in TABLE {
            bench.ack(*at, *next, blocks);
        }
        let whole_ns = |span: Span| (span.as_ps() / 1000) as f64 / 1e6;
        let found = scribe.facts(|ack| RoundTripValues {
            rtt: ack.rtt.map(whole_ns),
            smallest: whole_ns(ack.min_rtt),
            smoothed: whole_ns(ack.srtt),
        });
        for ((at, .., expected), found) in TABLE.iter().zip(&found) {
            let same = (expected.smoothed - found.smoothed).abs() < 1e-5;
            assert!(
                same && (expected.rtt, expected.smallest) == (found.rtt, found.smallest),
                "{recovery:?} at {at} ms: {found:?} for {expected:?}"
            );
        }
    }
}

/// The reported ACK delay is subtracted from the sample of the last acknowledged segment, unless the result would be
/// below the minimum round-trip time (RFC 9002 section 5.3).
#[test]
fn a_reported_delay_is_no_part_of_the_round_trip() {
    let scribe = Scribe::new(Phases::Avoidance);
    let config = Tcp {
        rtt_sample: RttSample::Reported,
        ..tcp(Recovery::RackTlpPrr)
    };
    let mut bench = SenderBench::open(config, scribe.controller());
    for (at, next, delay_ms) in [(200, 3, 0), (230, 4, 10), (250, 5, 50), (250, 6, 51)] {
        let report = SackBlocks::NONE.with_transit(Span::from_millis(delay_ms));
        bench.ack_report(at, next, report, Flags::NONE);
    }
    let ms = |span: Span| span.as_secs_f64() * 1e3;
    let found = scribe.facts(|ack| (ack.rtt.map(ms), ms(ack.min_rtt), ack.one_way_delay));
    let expected = [
        (100.0, 100.0),
        (120.0, 100.0),
        (100.0, 100.0),
        (150.0, 100.0),
    ];
    let values = expected.map(|(rtt, smallest)| (Some(rtt), smallest, None));
    assert_eq!(found, values);
}

#[test]
fn a_receiver_reports_how_long_it_has_waited_after_the_last_segment() {
    let config = Tcp {
        rtt_sample: RttSample::Reported,
        delayed_ack: Some(delayed_ack(Span::from_millis(40))),
        ..tcp(Recovery::Sack)
    };
    let mut receiver = ReceiverBench::open(config);
    let second = [(10, 1), (15, 2)].map(|(at, number)| receiver.segment(at, number, Flags::NONE));
    let at_once = receiver.env.network.peek_sack(&second[1][0]);
    assert_eq!(at_once.transit(), Some(Span::ZERO));
    receiver.segment(20, 3, Flags::NONE);
    let after_timer = receiver.segment(90, 3, Flags::NONE);
    let waited = receiver.env.network.peek_sack(&after_timer[0]);
    assert_eq!(waited.transit(), Some(Span::from_millis(40)));
}
