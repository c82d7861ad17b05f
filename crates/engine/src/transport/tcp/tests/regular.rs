//! Differential tests of the fast path: the code compiled for regular acknowledgements and segments has the same effect
//! as the code compiled for all.

use std::collections::{BTreeSet, VecDeque};

use longhaul_congestion::Load;
use proptest::prelude::*;

use super::*;
use crate::config::{DelayedAck, PrrRule, RttSample};

/// Fate of the segments in flight.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// The given number of segments arrives in order, and one acknowledgement answers all of them.
    Arrive(usize),
    /// The given number of segments is lost.
    Lost(usize),
    /// The second segment overtakes the first.
    Overtaken,
    /// Nothing happens for a while.
    Silence,
}

fn fates() -> impl Strategy<Value = Vec<(Fate, u64)>> {
    let fate = prop_oneof![
        12 => (1usize..4).prop_map(Fate::Arrive),
        2 => (1usize..6).prop_map(Fate::Lost),
        1 => Just(Fate::Overtaken),
        1 => Just(Fate::Silence),
    ];
    prop::collection::vec((fate, 1u64..60), 1..600)
}

fn recoveries() -> impl Strategy<Value = Recovery> {
    prop::sample::select(vec![
        Recovery::NewReno,
        Recovery::Sack,
        Recovery::SackPrr,
        Recovery::Fack,
        Recovery::RackTlp,
        Recovery::RackTlpPrr,
        Recovery::Ns2NewReno,
        Recovery::Ns2Sack,
    ])
}

fn algorithms() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "reno", "cubic", "hstcp", "vegas", "bbr", "bbr3", "dctcp", "lp", "sync", "vcp",
    ])
}

/// The test's receiver: the segments that have arrived. The SACK block with the newest segment is reported first.
#[derive(Default)]
struct Arrivals {
    next: u64,
    beyond: BTreeSet<u64>,
    latest: u64,
}

impl Arrivals {
    fn take(&mut self, segment: u64) {
        if segment >= self.next {
            self.beyond.insert(segment);
            self.latest = segment;
        }
        while self.beyond.remove(&self.next) {
            self.next += 1;
        }
    }

    /// Returns the SACK block that contains the newest segment, if that segment is out of order.
    fn blocks(&self) -> Vec<(u64, u64)> {
        if !self.beyond.contains(&self.latest) {
            return Vec::new();
        }
        let has = |segment: &u64| self.beyond.contains(segment);
        let left = (0..=self.latest).rev().take_while(has).last();
        let right = (self.latest..).take_while(has).last();
        left.zip(right)
            .map(|(left, right)| (left, right + 1))
            .into_iter()
            .collect()
    }
}

/// After a recovery, acknowledgements take the fast path again. The connection has no ECN: the sender does not wait for
/// a chance to send CWR.
#[test]
fn acknowledgements_are_regular_again_after_a_recovery() {
    for recovery in [Recovery::Sack, Recovery::RackTlp] {
        let mut bench = SenderBench::open(tcp(recovery), controller("reno"));
        bench.ack(200, 2, &[]);
        bench.ack(210, 2, &[(3, 8)]);
        bench.wait(250);
        assert!(!bench.sender.is_plain(), "{recovery:?}: a segment is lost");
        let last = bench.sent.iter().map(|&(_, segment)| segment).max();
        bench.ack(310, last.unwrap() + 1, &[]);
        bench.wait(350);
        bench.ack(410, last.unwrap() + 2, &[]);
        assert_eq!(bench.sender.counters(ms(410)).cuts_loss, 1, "{recovery:?}");
        assert!(bench.sender.is_plain(), "{recovery:?}");
    }
}

/// Acknowledgements take the fast path again once everything sent before a timeout is acknowledged.
#[test]
fn acknowledgements_are_regular_again_when_what_a_timeout_left_is_acknowledged() {
    for recovery in [Recovery::Sack, Recovery::RackTlp, Recovery::Ns2Sack] {
        let mut bench = SenderBench::open(tcp(recovery), controller("reno"));
        bench.ack(200, 2, &[]);
        bench.wait(3000);
        bench.ack(3000, 3, &[]);
        assert!(
            !bench.sender.is_plain(),
            "{recovery:?}: more is to be repaired"
        );
        bench.wait(3050);
        let last = bench.sent.iter().map(|&(_, segment)| segment).max();
        bench.ack(3100, last.unwrap() + 1, &[]);
        bench.wait(3150);
        bench.ack(3200, last.unwrap() + 2, &[]);
        assert!(bench.sender.is_plain(), "{recovery:?}");
    }
}

fn one_way(recovery: Recovery) -> Tcp {
    Tcp {
        timestamps: Timestamps::OneWay(0),
        ..tcp(recovery)
    }
}

/// Acknowledgements with transit times, or with the load factor of VCP's routers, take the fast path.
#[test]
fn acknowledgements_that_report_transit_times_or_loads_are_regular() {
    for recovery in [Recovery::Sack, Recovery::RackTlp] {
        let mut bench = SenderBench::open(one_way(recovery), controller("lp"));
        let report = SackBlocks::NONE.with_transit(Span::from_millis(100));
        bench.ack_report(200, 2, report, Flags::NONE);
        let next = bench.packet_with(3, report, Flags::NONE);
        assert!(bench.sender.expects(&next), "{recovery:?}");

        let mut bench = SenderBench::open(tcp(recovery), controller("vcp"));
        let loaded = Flags::NONE.with_load(Load::High);
        bench.ack_report(200, 2, SackBlocks::NONE, loaded);
        let next = bench.packet_with(3, SackBlocks::NONE, loaded);
        assert!(bench.sender.expects(&next), "{recovery:?}");
    }
}

#[test]
fn segments_whose_transit_times_or_loads_are_reported_are_regular() {
    let mut bench = ReceiverBench::open(one_way(Recovery::Sack));
    bench.segment(10, 1, Flags::NONE);
    assert!(bench.receiver.is_plain());
    bench.segment(20, 3, Flags::NONE);
    assert!(!bench.receiver.is_plain(), "segment 2 is missing");
    bench.segment(30, 2, Flags::NONE);
    assert!(bench.receiver.is_plain());

    let mut bench = ReceiverBench::open_to(tcp(Recovery::Sack), true);
    bench.segment(10, 1, Flags::NONE.with_load(Load::Low));
    assert!(bench.receiver.is_plain());
}

/// Checks that BBR's acknowledgements take the fast path even if the receive window limits the sender, unlike Reno's.
/// BBR itself decides, from the sample of each acknowledgement, if the window may grow.
#[test]
fn acknowledgements_with_samples_are_regular_where_the_receive_window_limits_the_sender() {
    for (algorithm, regular) in [("bbr", true), ("reno", false)] {
        let narrow = Tcp {
            receive_window: 2,
            ..tcp(Recovery::Sack)
        };
        let mut bench = SenderBench::open(narrow, controller(algorithm));
        bench.ack(200, 2, &[]);
        bench.ack(300, 3, &[]);
        assert_eq!(bench.sender.is_plain(), regular, "{algorithm}");
    }
}

proptest! {
    #[test]
    fn regular_acknowledgements_do_what_any_do(
        fates in fates(), recovery in recoveries(), algorithm in algorithms(), stamps in 0u8..3,
        bytes in prop::option::of(100_000u64..3_000_000), jitter_ms in prop::sample::select(vec![0, 0, 20]),
        linux in any::<bool>(),
    ) {
        let (prr, rtt_sample) = match linux {
            true => (PrrRule::Linux, RttSample::Last),
            false => (PrrRule::Rfc6937, RttSample::Echo),
        };
        let tcp = Tcp {
            prr,
            rtt_sample,
            growth_beyond_use: linux,
            undo: linux,
            dsack: linux,
            timestamps: match stamps {
                0 => Timestamps::Off,
                1 => Timestamps::Standard(12),
                _ => Timestamps::OneWay(0),
            },
            transfer: bytes,
            receive_window: 300,
            send_jitter: Span::from_millis(jitter_ms),
            ..tcp(recovery)
        };
        let mut usual = SenderBench::open(tcp.clone(), controller(algorithm));
        let mut any = SenderBench::open(tcp, controller(algorithm));
        let mut under_way = VecDeque::new();
        let mut arrivals = Arrivals { next: 1, ..Arrivals::default() };
        let mut now_ms = 100;
        for (fate, gap_ms) in fates {
            now_ms += gap_ms;
            for bench in [&mut usual, &mut any] {
                bench.wait(now_ms);
            }
            let sent = std::mem::take(&mut usual.sent);
            prop_assert_eq!(&sent, &std::mem::take(&mut any.sent));
            let sample = usual.sender.sample(ms(now_ms));
            prop_assert_eq!(sample, any.sender.sample(ms(now_ms)));
            let data = sent.iter().map(|&(_, segment)| segment);
            under_way.extend(data.filter(|&segment| segment > 0));
            let arriving = match fate {
                Fate::Arrive(count) => count.min(under_way.len()),
                Fate::Lost(count) => {
                    under_way.drain(..count.min(under_way.len()));
                    0
                }
                Fate::Overtaken => {
                    if under_way.len() > 1 {
                        under_way.swap(0, 1);
                    }
                    1.min(under_way.len())
                }
                Fate::Silence => {
                    now_ms += 150;
                    0
                }
            };
            for segment in under_way.drain(..arriving) {
                arrivals.take(segment);
            }
            if arriving > 0 {
                let mut report = SackBlocks::NONE;
                arrivals.blocks().iter().for_each(|&block| report.push(block));
                if stamps == 2 {
                    report = report.with_transit(Span::from_millis(gap_ms));
                }
                let loaded = if algorithm == "vcp" { Flags::NONE.with_load(Load::High) } else { Flags::NONE };
                usual.ack_report(now_ms, arrivals.next, report, loaded);
                any.sender.leave_plain();
                any.ack_report(now_ms, arrivals.next, report, loaded);
            }
        }
    }

    #[test]
    fn regular_segments_are_answered_like_any(
        steps in prop::collection::vec((prop_oneof![12 => Just(0u64), 1 => 1u64..4], 0u8..24, 1u64..150), 1..200),
        delayed in prop::option::of((0u32..20, any::<bool>())), bytes in prop::option::of(1u64..300_000),
        ecn in prop::sample::select(vec![Ecn::Off, Ecn::Classic, Ecn::Dctcp]), transits in any::<bool>(),
        routers in any::<bool>(),
    ) {
        let delayed_ack = delayed.map(|(quick, push)| {
            DelayedAck { segments: 2, timeout: Span::from_millis(100), delays_syn: false, quick, push }
        });
        let timestamps = if transits { Timestamps::OneWay(0) } else { Timestamps::Off };
        let tcp = Tcp { ecn, delayed_ack, timestamps, transfer: bytes, ..tcp(Recovery::Sack) };
        let last = bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(u64::from(tcp.mss_bytes)));
        let mut usual = ReceiverBench::open_to(tcp.clone(), routers);
        let mut any = ReceiverBench::open_to(tcp, routers);
        let mut expected = 1;
        let mut now_ms = 0;
        for (skipped, mark, gap_ms) in steps {
            now_ms += gap_ms;
            let flags = match mark {
                0 => Flags::ECT.with(Flags::CE),
                1 => Flags::ECT.with(Flags::CWR),
                2..12 => Flags::ECT,
                _ => Flags::NONE,
            };
            let flags = if routers { flags.with_load(Load::High) } else { flags };
            let segment = (expected + skipped).min(last);
            any.receiver.leave_plain();
            let answers = usual.segment(now_ms, segment, flags);
            let of_any = any.segment(now_ms, segment, flags);
            prop_assert_eq!(format!("{answers:?}"), format!("{of_any:?}"));
            let reports = |bench: &ReceiverBench, answers: &[Packet]| {
                let network = &bench.env.network;
                answers.iter().map(|answer| format!("{:?}", network.peek_sack(answer))).collect::<Vec<_>>()
            };
            prop_assert_eq!(reports(&usual, &answers), reports(&any, &of_any));
            expected = usual.receiver.next();
        }
    }
}
