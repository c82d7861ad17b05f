//! Tests of routers that take part in congestion control, with the senders designed for them.

mod common;

use common::disciplines::{self, Discipline};
use common::{AT_ONCE, add_flows, add_own_access, controller, dumbbell, run, tcp};
use longhaul_congestion::Variant;
use longhaul_engine::config::{Recovery, Start, Tcp, Timestamps};
use longhaul_engine::measure::{LinkCounters, Totals};
use longhaul_engine::queue::Capacity;
use longhaul_engine::{Config, Loss};
use longhaul_units::{Rate, Span, Time};

const SECONDS: u64 = 60;
const HALF: u64 = SECONDS / 2;

fn mbps(mbps: u64) -> Rate {
    Rate::from_bps(mbps * 1_000_000)
}

fn sender(kind: &str) -> Tcp {
    Tcp {
        congestion: controller(kind, Variant::Paper, &[]),
        timestamps: Timestamps::Standard(12),
        ..tcp(Recovery::Sack)
    }
}

/// Returns a dumbbell without flows. The router's queue holds the bandwidth-delay product for a round trip of 80 ms.
fn network(router: Discipline, rate: Rate) -> Config {
    let delay = Span::from_millis(40);
    let limit = Capacity::Bytes(rate.bdp(delay * 2).0);
    let queue = router.config(limit, false, rate, delay);
    let mut config = dumbbell(rate, delay, queue, SECONDS);
    config.measure.from = Time::ZERO + Span::from_secs(HALF);
    config
}

/// Returns the utilisation of the bottleneck in the second half of the run.
fn utilisation(bottleneck: &LinkCounters, rate: Rate) -> f64 {
    8.0 * bottleneck.departed_bytes as f64 / (rate.as_bps() as f64 * HALF as f64)
}

/// Returns the mean queueing delay in milliseconds by Little's law.
fn mean_wait_ms(bottleneck: &LinkCounters) -> f64 {
    1e3 * bottleneck.queue_integral() / bottleneck.departed_pkts as f64
}

/// Returns the rate of each flow in segments per second, in the second half of the run.
fn rates(totals: &Totals) -> Vec<f64> {
    let rate = |pkts| pkts as f64 / HALF as f64;
    let flows = totals.flows.iter();
    flows.map(|flow| rate(flow.window.delivered_pkts)).collect()
}

/// Returns true if each rate differs from the mean by at most the fraction `part` of the mean.
fn are_equal(rates: &[f64], part: f64) -> bool {
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    rates.iter().all(|rate| (rate / mean - 1.0).abs() < part)
}

/// With VCP the utilisation is high, the queue is short and there are almost no losses, for any capacity and number of
/// flows (SIGCOMM 2005, section 4).
#[test]
fn vcp_fills_links_without_losses() {
    for (rate, flows) in [(mbps(2), 1), (mbps(20), 1), (mbps(20), 10), (mbps(100), 30)] {
        let mut config = network(disciplines::of("vcp"), rate);
        let start = Start::Uniform(Time::ZERO, Time::ZERO + Span::from_secs(5));
        add_flows(&mut config, "vcp", flows, start, sender("vcp"));
        let (totals, _) = run(&config);
        let bottleneck = &totals.links[0].window;
        let used = utilisation(bottleneck, rate);
        let wait_ms = mean_wait_ms(bottleneck);
        assert!(used > 0.85, "{rate}, {flows} flows: {used}");
        assert!(wait_ms < 20.0, "{rate}, {flows} flows: {wait_ms} ms");
        assert_eq!(bottleneck.dropped_pkts(), 0, "{rate}, {flows} flows");
    }
}

/// Checks that VCP's flows get equal shares at any round-trip time, since the steps of the window are scaled with it. A
/// late flow reaches its share, too (SIGCOMM 2005, section 3.3).
#[test]
fn vcp_shares_fairly_over_different_round_trips_and_with_late_flows() {
    let rate = mbps(20);
    let mut config = network(disciplines::of("vcp"), rate);
    config.duration = Time::ZERO + Span::from_secs(180);
    config.measure.from = Time::ZERO + Span::from_secs(120);
    add_flows(&mut config, "early", 2, AT_ONCE, sender("vcp"));
    let late = Start::At(Time::ZERO + Span::from_secs(30));
    add_flows(&mut config, "late", 2, late, sender("vcp"));
    // The round-trip times are 160, 160, 200 and 200 ms.
    add_own_access(&mut config, Span::from_millis(20));
    let rates = rates(&run(&config).0);
    assert!(are_equal(&rates, 0.1), "{rates:?}");
}

/// With XCP the link is fully used, the queue is nearly empty and no packet is lost, for any capacity and number of
/// flows (SIGCOMM 2002, section 5.2).
#[test]
fn xcp_fills_links_with_an_empty_queue() {
    for (rate, flows) in [(mbps(2), 1), (mbps(20), 1), (mbps(20), 10), (mbps(100), 30)] {
        let mut config = network(disciplines::of("xcp"), rate);
        let start = Start::Uniform(Time::ZERO, Time::ZERO + Span::from_secs(5));
        add_flows(&mut config, "xcp", flows, start, sender("xcp"));
        let (totals, _) = run(&config);
        let bottleneck = &totals.links[0].window;
        let used = utilisation(bottleneck, rate);
        let waiting_pkts = bottleneck.queue_integral() / HALF as f64;
        let rates = rates(&totals);
        assert!(used > 0.97, "{rate}, {flows} flows: {used}");
        let bdp_pkts = rate.bdp(Span::from_millis(80)).0 as f64 / 1500.0;
        assert!(
            waiting_pkts < 0.1 * bdp_pkts,
            "{rate}, {flows} flows: {waiting_pkts}"
        );
        assert!(are_equal(&rates, 0.05), "{rate}: {rates:?}");
        assert_eq!(
            totals.links[0].total.dropped_pkts(),
            0,
            "{rate}, {flows} flows"
        );
    }
}

/// Checks that XCP's flows get equal shares within tens of round trips, also with different round-trip times. XCP's
/// control interval is the average round-trip time (SIGCOMM 2002, section 5.3).
#[test]
fn xcp_shares_equally_soon_after_flows_have_joined() {
    let rate = mbps(20);
    for access in [Span::from_micros(1), Span::from_millis(40)] {
        let mut config = network(disciplines::of("xcp"), rate);
        add_flows(&mut config, "early", 2, AT_ONCE, sender("xcp"));
        let joined = Time::ZERO + Span::from_secs(20);
        add_flows(&mut config, "late", 2, Start::At(joined), sender("xcp"));
        add_own_access(&mut config, access);
        // The round-trip times are 80 ms, or 240 and 320 ms. The measurement begins after forty of the longest round
        // trips and lasts as long.
        let forty = (access * 6 + Span::from_millis(80)) * 40;
        config.measure.from = joined + forty;
        config.duration = config.measure.from + forty;
        let rates = rates(&run(&config).0);
        assert!(are_equal(&rates, 0.05), "{rates:?}");
    }
}

/// Checks that packet-pair flows served in turn get equal shares, and keep their target number of segments in the queue
/// (Keshav 1991). The queue may be shorter by up to two segments: a window is a whole number, and segments leave two at
/// a time.
#[test]
fn packet_pairs_share_a_round_robin_and_keep_their_queue() {
    let rate = mbps(10);
    for queued in [4.0, 12.0] {
        let mut config = network(disciplines::of("round-robin"), rate);
        let pair = Tcp {
            congestion: controller("packet-pair", Variant::Paper, &[("queued", queued)]),
            ..sender("packet-pair")
        };
        let start = Start::Uniform(Time::ZERO, Time::ZERO + Span::from_secs(1));
        add_flows(&mut config, "pair", 2, start, pair);
        let (totals, _) = run(&config);
        let bottleneck = &totals.links[0].window;
        assert!(utilisation(bottleneck, rate) > 0.999);
        assert!(are_equal(&rates(&totals), 0.01), "{:?}", rates(&totals));
        let waiting_pkts = bottleneck.queue_integral() / HALF as f64;
        let least = 2.0 * (queued - 2.0);
        assert!(
            (least..=2.0 * queued + 1.0).contains(&waiting_pkts),
            "{waiting_pkts}"
        );
        assert_eq!(bottleneck.dropped_pkts(), 0);
    }
}

/// Returns a network with a satellite link of 10 Mbit/s and 550 ms. Windows are about 460 segments.
fn satellite(loss: f64) -> Config {
    let delay = Span::from_millis(275);
    let queue = disciplines::of("droptail").config(Capacity::Packets(230), false, mbps(10), delay);
    let mut config = dumbbell(mbps(10), delay, queue, 300);
    config.links[0].direction.loss = Loss::Bernoulli(loss);
    config
}

/// Returns the number of segments that were delivered for the first flow.
fn delivered(config: &Config) -> u64 {
    run(config).0.flows[0].total.delivered_pkts
}

fn satellite_sender(kind: &str) -> Tcp {
    Tcp {
        receive_window: 1400,
        ..sender(kind)
    }
}

/// After a loss that is not caused by congestion, the rapid recovery of TCP Peach restores the window within a round
/// trip (ToN 9(3), section IV). Standard TCP needs `W / 2` round trips for a window of `W` segments.
#[test]
fn peach_recovers_from_random_losses_faster_than_reno() {
    for (loss, gain) in [(0.0, 1.05), (1e-4, 1.4), (1e-3, 2.5), (1e-2, 4.0)] {
        let carried = |kind| {
            let mut config = satellite(loss);
            add_flows(&mut config, kind, 1, AT_ONCE, satellite_sender(kind));
            delivered(&config) as f64
        };
        let (reno, peach) = (carried("reno"), carried("peach"));
        assert!(peach > gain * reno, "loss {loss}: {peach}, {reno}");
    }
}

/// Checks that dummy segments do not displace data: 140 short connections of TCP Peach slow down a long connection
/// hardly more than those of standard TCP do. TCP Peach's dummies are as much as a quarter of the link's capacity.
#[test]
fn dummies_leave_data_alone() {
    let beside = |kind: &str| {
        let mut config = satellite(0.0);
        add_flows(&mut config, "long", 1, AT_ONCE, satellite_sender("reno"));
        for number in 0..140 {
            let short = Tcp {
                receive_window: 400,
                transfer: Some(14_600),
                ..sender(kind)
            };
            let start = Start::At(Time::ZERO + Span::from_secs(10 + 2 * number));
            add_flows(&mut config, &format!("short {number}"), 1, start, short);
        }
        delivered(&config) as f64
    };
    let (reno, peach) = (beside("reno"), beside("peach"));
    assert!(peach > 0.97 * reno, "{peach}, {reno}");
}
