//! Tests of the samples passed to algorithms, and of rules of the transport that do not apply to algorithms that
//! control cwnd themselves.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use longhaul_congestion::{
    AckSample, Congestion, CongestionControl, Controller, Limit, Needs, Phase, Phases, Window,
};
use longhaul_units::{Rate, Span};

use super::{ReceiverBench, SenderBench, controller, ms, tcp};
use crate::config::{ClockError, Pacing, PrrRule, Recovery, Tcp, Timestamps};
use crate::measure::FlowCounters;
use crate::packet::{Flags, SackBlocks};
use crate::transport::tcp::connection::Received;

/// An algorithm that records its samples.
#[derive(Clone, Debug)]
pub(super) struct Scribe {
    phases: Phases,
    rate: Option<Rate>,
    told: Arc<Mutex<Vec<(AckSample, Phase)>>>,
}

impl Scribe {
    pub(super) fn new(phases: Phases) -> Self {
        Self {
            phases,
            rate: None,
            told: Arc::default(),
        }
    }

    pub(super) fn controller(&self) -> Controller {
        Controller::Custom(Box::new(self.clone()))
    }

    pub(super) fn facts<T>(&self, fact: impl Fn(&AckSample) -> T) -> Vec<T> {
        let told = self.told.lock().expect("one thread");
        told.iter().map(|(sample, _)| fact(sample)).collect()
    }

    fn phases_told(&self) -> Vec<Phase> {
        let told = self.told.lock().expect("one thread");
        told.iter().map(|&(_, phase)| phase).collect()
    }
}

impl CongestionControl for Scribe {
    fn phases(&self) -> Phases {
        self.phases
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.told.lock().expect("one thread").push((*ack, phase));
        if self.phases == Phases::All || phase == Phase::Avoidance {
            window.grow(1.0);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        if self.phases != Phases::All {
            window.reduce_to(event.base / 2.0);
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }

    fn needs(&self) -> Needs {
        Needs {
            delivery_rate: true,
            ..Needs::RTT
        }
    }
}

/// Loses segment 2 of the first ten. Before the loss is detected, four more segments leave: two in slow start, and two
/// by limited transmit.
fn one_loss(bench: &mut SenderBench) {
    bench.ack(200, 2, &[]);
    for above in 4..=11 {
        bench.ack(200 + above, 2, &[(3, above)]);
    }
    bench.ack(320, 15, &[]);
    bench.ack(321, 16, &[]);
}

#[test]
fn every_delivery_is_told_in_every_phase() {
    for recovery in [Recovery::Sack, Recovery::NewReno, Recovery::Ns2Sack] {
        let scribe = Scribe::new(Phases::Avoidance);
        let mut bench = SenderBench::open(tcp(recovery), scribe.controller());
        one_loss(&mut bench);
        // The deliveries are: segment 1; segments 3 to 10, one by one; the retransmitted segment 2 with 11 to 14;
        // segment 15.
        let delivered = scribe.facts(|ack| (ack.acked, ack.delivered));
        let mut expected = vec![(1, 1)];
        expected.extend((2..=9).map(|delivered| (0, delivered)));
        expected.extend([(13, 14), (1, 15)]);
        assert_eq!(delivered, expected, "{recovery:?}");
        // The third duplicate shows the loss.
        let lost = scribe.facts(|ack| ack.lost);
        assert_eq!((lost[2], lost[4], lost[10]), (0, 1, 1), "{recovery:?}");
        // Recovery begins with that duplicate, and ends with the acknowledgement of the retransmission.
        let phases = scribe.phases_told();
        let mut expected = vec![Phase::SlowStart];
        expected.extend([Phase::NoGrowth; 3]);
        expected.extend([Phase::Recovery; 6]);
        let (last, before) = phases.split_last().expect("told something");
        assert_eq!(before, expected, "{recovery:?}");
        // NewReno's window is then the number of segments in flight, which is below the threshold.
        assert!(last.may_grow(), "{recovery:?}");
    }
}

/// An algorithm that controls the window gets one sample of each acknowledgement, also of the one that ends a recovery
/// (Linux, `tcp_cong_control`).
#[test]
fn each_acknowledgement_is_told_once() {
    for recovery in [Recovery::Sack, Recovery::RackTlp, Recovery::RackTlpPrr] {
        for prr in [PrrRule::Rfc6937, PrrRule::Linux] {
            let scribe = Scribe::new(Phases::All);
            let config = Tcp {
                prr,
                ..tcp(recovery)
            };
            one_loss(&mut SenderBench::open(config, scribe.controller()));
            let times = scribe.facts(|ack| ack.now);
            assert!(times.is_sorted_by(|a, b| a < b), "{recovery:?}, {prr:?}");
            assert!(
                times.ends_with(&[ms(320), ms(321)]),
                "{recovery:?}, {prr:?}"
            );
        }
    }
}

/// Checks that a congestion signal during a recovery does not make Sync-TCP reduce the window after the recovery. The
/// signal is a queueing delay of 80 ms, the largest so far. The window then grows as in congestion avoidance.
#[test]
fn what_sync_tcp_sees_in_a_recovery_does_not_cut_the_window_after_it() {
    for recovery in [Recovery::Sack, Recovery::RackTlp] {
        let config = Tcp {
            initial_ssthresh: Some(2.0),
            timestamps: Timestamps::OneWay(0),
            ..tcp(recovery)
        };
        let mut bench = SenderBench::open(config, controller("sync-pcwnd"));
        let mut report = |at, next, block: Option<(u64, u64)>, queued: u64| {
            let mut sack = SackBlocks::default();
            block.into_iter().for_each(|block| sack.push(block));
            let sack = sack.with_transit(Span::from_millis(100 + queued));
            bench.ack_report(at, next, sack, Flags::NONE);
            bench.sender.sample(ms(at)).cwnd.unwrap()
        };
        report(200, 2, None, 0);
        // Segment 2 is lost; RACK waits for a quarter of the round-trip time.
        for right in 4..=10 {
            report(226 + right, 2, Some((3, right)), 80);
        }
        report(340, 14, None, 0);
        let after = report(341, 15, None, 0);
        let grown = report(342, 16, None, 0);
        assert!(
            (grown - after - 1.0 / after).abs() < 1e-9,
            "{recovery:?}: from {after} to {grown}"
        );
        assert_eq!(bench.sender.counters(ms(342)).cuts_loss, 1);
        assert!(after > 5.0, "{recovery:?}: {after} after one halving of 10");
    }
}

#[test]
fn an_algorithm_of_all_phases_holds_the_window_in_recovery() {
    for recovery in [
        Recovery::Sack,
        Recovery::NewReno,
        Recovery::Reno,
        Recovery::Tahoe,
    ] {
        let scribe = Scribe::new(Phases::All);
        let mut bench = SenderBench::open(tcp(recovery), scribe.controller());
        one_loss(&mut bench);
        let acks = scribe.phases_told().len();
        let growth = bench.sender.sample(ms(321)).cwnd.unwrap() - 10.0;
        assert_eq!(
            growth, acks as f64,
            "{recovery:?}: only the algorithm moves the window"
        );
        if recovery != Recovery::Tahoe {
            // Recovery lasts from the acknowledgement that shows the loss to that of the retransmission.
            let mut expected = vec![Phase::Avoidance];
            expected.extend([Phase::Recovery; 7]);
            expected.push(Phase::Avoidance);
            assert_eq!(scribe.phases_told(), expected, "{recovery:?}");
        }
    }
}

/// Without timestamps, every acknowledgement gives a round-trip sample, except one that covers a retransmission (Karn's
/// rule), here of segment 3. Segments 1 to 10 left at 100 ms, and 11 to 13 at 200 ms.
#[test]
fn every_acknowledgement_gives_a_round_trip_without_timestamps() {
    for recovery in [Recovery::Sack, Recovery::Ns2Sack] {
        let scribe = Scribe::new(Phases::Avoidance);
        let mut bench = SenderBench::open(tcp(recovery), scribe.controller());
        bench.ack(200, 3, &[]);
        for right in 5..=7 {
            bench.ack(225 + right, 3, &[(4, right)]);
        }
        bench.ack(340, 11, &[]);
        bench.ack(341, 12, &[]);
        let samples = scribe.facts(|ack| ack.rtt.map(|rtt| rtt.as_secs_f64() * 1e3));
        let expected = [100.0, 130.0, 131.0, 132.0].map(Some);
        assert_eq!(samples[..4], expected, "{recovery:?}");
        assert_eq!(samples[4..], [None, Some(141.0)], "{recovery:?}");
        // The acknowledgement that ends a round trip also reports it.
        let rounds = scribe.facts(|ack| ack.round_start);
        assert_eq!(rounds[..3], [true, false, false], "{recovery:?}");
        let min = scribe.facts(|ack| ack.min_rtt);
        assert_eq!(min, [Span::from_millis(100); 6], "{recovery:?}");
    }
}

/// Without timestamps, the retransmission timer gets one sample per round trip, as in ns-2. The congestion control gets
/// a sample of every acknowledgement.
#[test]
fn the_timer_times_one_segment_a_round_trip_without_timestamps() {
    let scribe = Scribe::new(Phases::Avoidance);
    let mut bench = SenderBench::open(tcp(Recovery::Sack), scribe.controller());
    for next in 2..=11 {
        bench.ack(198 + next, next, &[]);
    }
    assert_eq!(scribe.facts(|ack| ack.rtt.is_some()), [true; 10]);
    // The two samples are those of the SYN and of segment 1.
    assert_eq!(bench.sender.counters(ms(210)).rtt_samples, 2);
}

#[test]
fn the_delivery_rate_is_that_of_the_path() {
    let scribe = Scribe::new(Phases::Avoidance);
    let mut bench = SenderBench::open(tcp(Recovery::Sack), scribe.controller());
    // The path transmits a segment every 10 ms: ten segments sent at 100 ms are acknowledged from 200 ms on.
    for segment in 1..=11 {
        bench.ack(190 + 10 * segment, segment + 1, &[]);
    }
    let rates = scribe.facts(|ack| ack.delivery_rate.expect("a sample").per_second());
    // The first rate is one segment in the 100 ms since the flight began; the second is two in 110 ms.
    assert!((rates[0] - 10.0).abs() < 1e-9, "{rates:?}");
    assert!((rates[1] - 2.0 / 0.11).abs() < 1e-9, "{rates:?}");
    // Segment 11 left at 200 ms with the first acknowledgement; until 300 ms ten more segments were delivered.
    assert!((rates[10] - 100.0).abs() < 1e-9, "{rates:?}");
}

#[test]
fn an_interval_below_the_smallest_round_trip_gives_no_rate() {
    let scribe = Scribe::new(Phases::Avoidance);
    let mut bench = SenderBench::open(tcp(Recovery::Sack), scribe.controller());
    // The SYN took 100 ms, which is the provisional minimum until a data segment has a sample.
    bench.ack(150, 1, &[(3, 4)]);
    bench.ack(200, 4, &[]);
    let rates = scribe.facts(|ack| ack.delivery_rate.is_some());
    assert_eq!(rates, [false, true]);
}

#[test]
fn samples_tell_what_limited_the_sender_when_their_segments_left() {
    let limits = |tcp| {
        let scribe = Scribe::new(Phases::Avoidance);
        let mut bench = SenderBench::open(tcp, scribe.controller());
        bench.ack(200, 2, &[]);
        bench.ack(210, 6, &[]);
        bench.ack(300, 7, &[]);
        scribe.facts(|ack| ack.limit)
    };
    // With the first acknowledgement the last two of twelve segments leave: the window limited the sender until
    // then.
    let short = Tcp {
        transfer: Some(12 * 1460),
        ..tcp(Recovery::Sack)
    };
    assert_eq!(limits(short), [Limit::Network; 3]);
    // The peer accepts five segments at a time. The sixth is sent while this limits the sender.
    let narrow = Tcp {
        receive_window: 5,
        ..tcp(Recovery::Sack)
    };
    let expected = [Limit::Network, Limit::Network, Limit::ReceiveWindow];
    assert_eq!(limits(narrow), expected);
}

#[test]
fn an_algorithm_with_a_rate_paces_without_being_asked() {
    let scribe = Scribe {
        rate: Some(Rate::from_bps(1500 * 8 * 1000)),
        ..Scribe::new(Phases::Avoidance)
    };
    let mut bench = SenderBench::open(tcp(Recovery::Sack), scribe.controller());
    bench.wait(150);
    let expected: Vec<(u64, u64)> = (0..10).map(|n| (100 + n, 1 + n)).collect();
    assert_eq!(bench.sent_when()[1..], expected);
}

/// The pacing rate is twice the window per round trip below half of ssthresh, and 1.25 times above. A window of ten
/// segments and a round trip of 100 ms thus give a segment every 5 ms, or every 8 ms.
#[test]
fn pacing_is_faster_than_the_window_over_the_round_trip() {
    for (ssthresh, gap) in [(100.0, 5), (15.0, 8)] {
        let config = Tcp {
            initial_ssthresh: Some(ssthresh),
            pacing: Some(Pacing {
                slow_start: 2.0,
                avoidance: 1.25,
                min_burst: 1,
                burst_time: Span::ZERO,
                after: 0,
            }),
            ..tcp(Recovery::Sack)
        };
        let mut bench = SenderBench::open(config, controller("reno"));
        bench.wait(190);
        let expected: Vec<(u64, u64)> = (0..10).map(|n| (100 + gap * n, 1 + n)).collect();
        assert_eq!(bench.sent_when()[1..], expected, "threshold {ssthresh}");
    }
}

#[test]
fn the_transit_time_of_the_last_segment_is_reported_in_microseconds() {
    let one_way = Tcp {
        timestamps: Timestamps::OneWay(0),
        ..tcp(Recovery::Sack)
    };
    let mut receiver = ReceiverBench::open(one_way.clone());
    // A SYN, which here arrives a second time, is shorter than a data packet and not used to measure delays (Weigle,
    // dissertation, UNC 2003, chapter 3).
    let answer = receiver.segment(20, 0, Flags::SYN);
    let report = receiver.env.network.peek_sack(&answer[0]);
    assert_eq!(report.transit(), None);
    let acks = receiver.segment(35, 1, Flags::NONE);
    let report = receiver.env.network.peek_sack(&acks[0]);
    assert_eq!(report.transit(), Some(Span::from_millis(35)));
    // The clock is 5 ms ahead and gains a thousandth; it is read after a second.
    receiver.receiver.set_clock(ClockError {
        offset: Span::from_millis(5),
        drift: 0.001,
    });
    let acks = receiver.segment(1000, 2, Flags::NONE);
    let report = receiver.env.network.peek_sack(&acks[0]);
    assert_eq!(report.transit(), Some(Span::from_millis(1006)));

    let scribe = Scribe::new(Phases::Avoidance);
    let mut sender = SenderBench::open(one_way, scribe.controller());
    let report = SackBlocks::NONE.with_transit(Span::from_ps(34_740_123_456));
    sender.ack_report(200, 2, report, Flags::NONE);
    sender.ack(201, 3, &[]);
    let transits = scribe.facts(|ack| ack.one_way_delay);
    assert_eq!(transits, [Some(Span::from_micros(34_740)), None]);
}

/// Without SACK, the segments in flight are those sent since the last timeout and not acknowledged (FlightSize of RFC
/// 5681 section 2). Checked with acknowledgements in order, with duplicates, and after a timeout; the sender then goes
/// back to the first unacknowledged segment.
#[test]
fn in_flight_is_what_was_sent_and_is_not_acknowledged() {
    for recovery in [
        Recovery::Tahoe,
        Recovery::Reno,
        Recovery::NewReno,
        Recovery::Ns2Reno,
        Recovery::Ns2NewReno,
    ] {
        let scribe = Scribe::new(Phases::Avoidance);
        let mut bench = SenderBench::open(tcp(recovery), scribe.controller());
        let mut flight: BTreeSet<u64> = bench.sent().into_iter().collect();
        let (mut at, mut una) = (200, 1);
        for step in 0..60 {
            at += 10;
            if step % 20 == 19 {
                at += 3000;
                bench.wait(at);
                flight.clear();
            } else if step % 7 != 6 {
                una += (1 + step % 3).min(flight.len() as u64);
            }
            flight.extend(bench.sent());
            bench.ack(at, una, &[]);
            flight.retain(|&segment| segment >= una);
            let told = scribe.facts(|ack| ack.in_flight);
            assert_eq!(
                told.last(),
                Some(&(flight.len() as u64)),
                "{recovery:?}, {step}"
            );
            flight.extend(bench.sent());
        }
    }
}

/// When segments 1, 2, 4 and 6 have arrived, four are delivered, and the first two are in order.
#[test]
fn segments_count_as_delivered_when_they_arrive_and_in_order_when_none_is_missing() {
    let sender = SenderBench::open(tcp(Recovery::Sack), controller("reno"));
    let mut receiver = ReceiverBench::open(tcp(Recovery::Sack));
    for (at, segment) in [(10, 1), (11, 2), (12, 4), (13, 6)] {
        receiver.segment(at, segment, Flags::NONE);
    }
    let received = Received::of(&sender.sender, &receiver.receiver);
    let counters = received.counted_in(FlowCounters::default());
    let delivered = (counters.delivered_pkts, counters.delivered_bytes);
    assert_eq!(delivered, (4, 4 * 1460));
    assert_eq!(
        (counters.in_order_pkts, counters.in_order_bytes),
        (2, 2 * 1460)
    );
}
