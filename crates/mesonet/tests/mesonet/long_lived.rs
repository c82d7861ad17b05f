//! The three long-lived flows of NIST SP 500-282, chapters 6 and 7, in a network without other
//! flows.

use longhaul_congestion::{ControllerSpec, Variant};
use longhaul_mesonet::Config;
use longhaul_mesonet::records::{
    Control, DataPackets, FlowRecord, GoodputBatch, Interval, LongLivedSample, Recorder,
};
use longhaul_mesonet::run;
use longhaul_units::{Span, Time};

use crate::network::{Study, controller, long_lived};
use crate::records::Keeper;

/// Recorder of the long-lived flows. Records the end in seconds of each flow's first interval at full
/// speed (`full`), and the number of packets that each flow received.
#[derive(Debug, Default)]
struct Lags {
    full: [Option<f64>; 3],
    received: [u64; 3],
    /// True to run to the end; otherwise the run stops once all flows have been at full speed.
    to_the_end: bool,
}

impl Recorder for Lags {
    fn interval(&mut self, interval: &Interval<'_>) {
        for (flow, sample) in interval.long_lived.iter().enumerate() {
            self.received[flow] += sample.packets_out;
            // Full speed is 80,000 packets a second for 200 ms, less the packets lost by rounding
            // one interval.
            if sample.packets_out >= 15_976 {
                self.full[flow].get_or_insert(interval.end.as_secs_f64());
            }
        }
    }

    fn batch(&mut self, _: &GoodputBatch) {}

    fn flow(&mut self, _: &FlowRecord) {}

    fn progress(&mut self, _: Time, _: DataPackets<'_>) -> Control {
        if !self.to_the_end && self.full.iter().all(Option::is_some) {
            Control::Stop
        } else {
            Control::Continue
        }
    }
}

/// Returns the study's network with the fast routers of chapter 7, and without users.
fn network(congestion: ControllerSpec) -> Config {
    let study = Study {
        sources_per_router: 0.0,
        seconds: 300,
        ..Study::CONDITION_8
    };
    let mut config = study.config("reno", Variant::Paper);
    config.algorithms[0].congestion = congestion;
    config.long_lived = [("B0a", "K0a"), ("C0a", "I0a"), ("E0a", "F0a")]
        .map(|(from, to)| long_lived(&config.topology, from, to, 0.0))
        .to_vec();
    config
}

fn fast_with_slack() -> ControllerSpec {
    ControllerSpec {
        parameters: vec![("srtt_timer_slack".to_owned(), 0.005)],
        ..controller("fast", Variant::Paper)
    }
}

/// Checks that the excess added to measured round-trip times delays no packet. Reno's window does
/// not depend on these times, and its packets arrive at the same times as without an excess.
#[test]
fn an_excess_of_round_trip_times_is_what_sources_measure_and_no_delay() {
    let samples_with = |excess| {
        let mut config = network(controller("reno", Variant::Paper));
        config.duration = Time::from_secs_f64(3.0);
        config.transport.rtt_excess = excess;
        let mut keeper = Keeper::default();
        run(&config, &mut keeper).expect("valid");
        let samples = keeper.intervals.iter().map(|kept| kept.long_lived[0]);
        samples.collect::<Vec<_>>()
    };
    let excess = Span::from_millis(5);
    let (without, with) = (samples_with(Span::ZERO), samples_with(excess));
    // The last value is after the flow's end; in the values before it, the average has forgotten
    // the initial value.
    let [.., one, _] = without[..] else {
        panic!("intervals")
    };
    let [.., other, _] = with[..] else {
        panic!("intervals")
    };
    assert!((other.srtt.as_secs_f64() - one.srtt.as_secs_f64() - 0.005).abs() < 1e-6);
    let received = |samples: &[LongLivedSample]| {
        let packets = samples.iter().map(|sample| sample.packets_out);
        packets.collect::<Vec<u64>>()
    };
    assert_eq!(received(&with), received(&without));
}

/// Checks that flows reach full speed at the times of table 7-14. A case is (algorithm, times of L1
/// to L3 in seconds, tolerance). The tolerance is a fraction of the time, but at least 0.4 s.
#[test]
#[ignore = "fifty million packets"]
fn flows_reach_full_speed_when_published() {
    let nist = |kind| controller(kind, Variant::Nist);
    let cases = [
        (nist("scalable"), [33.8, 13.6, 6.0], 0.0),
        (nist("hstcp"), [45.6, 15.6, 6.0], 0.0),
        (nist("bic"), [39.4, 12.6, 4.6], 0.0),
        // The published recursion itself gives 16.0 s on L3.
        (nist("htcp"), [30.2, 21.4, 15.0], 0.07),
        (controller("fast", Variant::Paper), [8.0, 2.2, 1.0], 0.25),
        (fast_with_slack(), [8.0, 2.2, 1.0], 0.0),
        // No `srtt_timer_slack` is needed: while the window opens, the smoothed round-trip time is
        // longer than the time between bursts of acknowledgements.
        (controller("ctcp", Variant::Paper), [14.8, 6.0, 2.8], 0.15),
    ];
    for (congestion, published, part) in cases {
        let kind = congestion.kind.clone();
        let mut lags = Lags::default();
        run(&network(congestion), &mut lags).expect("valid");
        eprintln!("{kind}: {:?}, published {published:?}", lags.full);
        for (found, published) in lags.full.into_iter().zip(published) {
            let found = found.expect("full speed");
            let most = f64::max(0.4, part * published) + 1e-9;
            assert!(
                (found - published).abs() <= most,
                "{kind}: {found} for {published}"
            );
        }
    }
}

/// Checks that the mean goodput of standard TCP over 300 s, in thousands of packets a second, is that of table 7-11,
/// within 0.5 %. A window that grows by one packet a round trip leads to the published goodput.
#[test]
#[ignore = "fifty million packets"]
fn standard_tcp_opens_its_window_by_one_packet_a_round_trip() {
    let mut lags = Lags {
        to_the_end: true,
        ..Lags::default()
    };
    run(&network(controller("reno", Variant::Paper)), &mut lags).expect("valid");
    for (received, published) in lags.received.into_iter().zip([25.151, 65.462, 76.185]) {
        let found = received as f64 / 300.0 / 1e3;
        assert!(
            (found / published - 1.0).abs() < 0.005,
            "{found} for {published}"
        );
    }
}
