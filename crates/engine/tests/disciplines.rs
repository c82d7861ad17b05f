//! Tests of queue disciplines on a network: each discipline has its intended effect.

mod common;

use common::disciplines::{self, Discipline};
use common::{
    AT_ONCE, add_datagrams, add_flows, add_own_access, controller, drop_tail, dumbbell, run, tcp,
};
use longhaul_congestion::Variant;
use longhaul_engine::Config;
use longhaul_engine::config::{Ecn, Recovery, Shaper, Start, Tcp};
use longhaul_engine::measure::LinkCounters;
use longhaul_engine::queue::Capacity;
use longhaul_units::{Bytes, Rate, Span, Time};

fn mbps(mbps: u64) -> Rate {
    Rate::from_bps(mbps * 1_000_000)
}

/// Returns a dumbbell with a discipline and greedy flows that start within the first second.
fn network(discipline: Discipline, rate: Rate, flows: usize, seconds: u64) -> Config {
    let delay = Span::from_millis(25);
    let queue = discipline.config(Capacity::Packets(10_000), false, rate, delay);
    let mut config = dumbbell(rate, delay, queue, seconds);
    config.measure.from = Time::ZERO + Span::from_secs(seconds / 3);
    let start = Start::Uniform(Time::ZERO, Time::ZERO + Span::from_secs(1));
    add_flows(&mut config, "flow", flows, start, tcp(Recovery::Sack));
    config
}

/// Returns the bottleneck's counters in the measurement window, which begins when the flows have settled.
fn bottleneck(config: &Config) -> LinkCounters {
    run(config).0.links[0].window
}

/// Returns the mean queueing delay in milliseconds by Little's law.
fn mean_wait_ms(counters: &LinkCounters) -> f64 {
    1e3 * counters.queue_integral() / counters.departed_pkts as f64
}

/// Returns the utilisation of the link in the last two thirds of a run of `seconds`.
fn utilisation(counters: &LinkCounters, rate: Rate, seconds: u64) -> f64 {
    let capacity = rate.as_bps() as f64 * (seconds - seconds / 3) as f64;
    8.0 * counters.departed_bytes as f64 / capacity
}

/// Checks the queueing delays and the utilisation with CoDel and PIE for 1, 10 and 100 flows. The capacity is 10 Mbit/s
/// per flow, and the round-trip propagation delay 50 ms.
#[test]
fn codel_and_pie_keep_their_delay_with_one_ten_and_a_hundred_flows() {
    let seconds = 30;
    for flows in [1, 10, 100] {
        let rate = mbps(10 * flows as u64);
        let measure = |discipline| {
            let counters = bottleneck(&network(discipline, rate, flows, seconds));
            let used = utilisation(&counters, rate, seconds);
            (mean_wait_ms(&counters), used)
        };
        // CoDel keeps the shortest delay of an interval below 5 ms. The window of a single flow is a sawtooth, with
        // which a queue shorter than half of the bandwidth-delay product leaves the link idle for a part of the time.
        let (wait_ms, used) = measure(disciplines::of("codel"));
        assert!(wait_ms < 7.5, "CoDel, {flows} flows: {wait_ms} ms");
        assert!(used > if flows == 1 { 0.75 } else { 0.98 }, "CoDel: {used}");
        // PIE keeps the mean at 15 ms.
        let (wait_ms, used) = measure(disciplines::of("pie"));
        assert!(
            (wait_ms - 15.0).abs() < 2.0,
            "PIE, {flows} flows: {wait_ms} ms"
        );
        assert!(used > 0.95, "PIE: {used}");
    }
}

/// Checks that a discipline's time series shows the probabilities of drops. (RED spaces its drops evenly, so its share
/// of dropped packets differs from the probability.)
#[test]
fn sampled_probabilities_are_those_of_drops() {
    let (rate, seconds) = (mbps(100), 60);
    for discipline in [
        disciplines::of("pie"),
        disciplines::of("pi"),
        disciplines::of("rem"),
    ] {
        let mut config = network(discipline, rate, 20, seconds);
        config.measure.every = Some(Span::from_millis(10));
        let (totals, records) = run(&config);
        let window = totals.links[0].window;
        let samples = records.links.iter();
        let samples = samples.filter(|one| one.link == 0 && one.time >= config.measure.from);
        let sampled: Vec<f64> = samples.filter_map(|one| one.drop_p).collect();
        let mean = sampled.iter().sum::<f64>() / sampled.len() as f64;
        let share = window.dropped_early_pkts as f64 / window.arrived_pkts as f64;
        assert!(window.dropped_early_pkts > 300, "{discipline:?}");
        assert!(
            (mean / share - 1.0).abs() < 0.25,
            "{discipline:?}: {mean}, {share}"
        );
    }
    let records = run(&network(disciplines::of("codel"), rate, 2, 1)).1;
    assert!(records.links.iter().all(|one| one.drop_p.is_none()));
}

/// Checks that PI and REM keep their queues at the reference of 20 packets. PI integrates the deviation from the
/// reference, and REM's price is constant only at the reference.
#[test]
fn pi_and_rem_keep_their_queue() {
    let (rate, seconds) = (mbps(10), 300);
    for discipline in [disciplines::of("pi"), disciplines::of("rem")] {
        let counters = bottleneck(&network(discipline, rate, 5, seconds));
        let pkts = counters.queue_integral() / (seconds - seconds / 3) as f64;
        assert!((pkts - 20.0).abs() < 2.0, "{discipline:?}: {pkts} packets");
        assert!(utilisation(&counters, rate, seconds) > 0.95);
    }
}

/// Checks that queues per flow protect connections from datagrams at twice the rate of the link: each flow gets its
/// share unless it needs less. A drop-tail queue leaves nothing to the connections.
#[test]
fn flows_are_protected_from_one_another() {
    let (rate, flows, seconds) = (mbps(10), 4, 30);
    let share = |discipline: Discipline| {
        let mut config = network(discipline, rate, flows, seconds);
        let limit = Capacity::Packets(100);
        config.links[0].queue = discipline.config(limit, false, rate, config.links[0].delay);
        add_datagrams(&mut config, mbps(20));
        let (totals, _) = run(&config);
        let delivered = |range: std::ops::Range<usize>| -> u64 {
            let flows = totals.flows[range].iter();
            flows.map(|flow| flow.window.delivered_bytes).sum()
        };
        let (connections, datagrams) = (delivered(0..flows), delivered(flows..flows + 1));
        connections as f64 / (connections + datagrams) as f64
    };
    assert!(share(disciplines::of("droptail")) < 0.1);
    // Payloads of 1460 bytes in 1500 and of 972 bytes in 1000 hardly change the share of four fifths.
    let drr = share(disciplines::of("drr"));
    assert!((drr - 0.8).abs() < 0.02, "{drr}");
    // The CoDel instances keep the windows of the connections small, since 5 ms are four of the packets that the link
    // sends in turn.
    let fq = share(disciplines::of("fq-codel"));
    assert!((0.7..0.82).contains(&fq), "{fq}");
    // If flows take turns by packets, datagrams have a smaller share, since they are smaller: connections get 4 * 1460
    // of 4 * 1460 + 972 bytes.
    for alike in [disciplines::of("fq-pie"), disciplines::of("cake")] {
        let share = share(alike);
        assert!((0.7..0.82).contains(&share), "{alike:?}: {share}");
    }
    let share = share(disciplines::of("round-robin"));
    assert!((share - 0.857).abs() < 0.02, "round robin: {share}");
}

/// COBALT keeps CoDel's queueing delay with 10 and with 100 flows.
#[test]
fn cobalt_keeps_its_delay_with_ten_and_a_hundred_flows() {
    let seconds = 30;
    for flows in [10, 100] {
        let rate = mbps(10 * flows as u64);
        let counters = bottleneck(&network(disciplines::of("cobalt"), rate, flows, seconds));
        let wait_ms = mean_wait_ms(&counters);
        assert!(wait_ms < 7.5, "{flows} flows: {wait_ms} ms");
        let used = utilisation(&counters, rate, seconds);
        assert!(used > 0.95, "{flows} flows: {used}");
    }
}

/// Checks that BLUE controls a flood of datagrams that CoDel does not control. Datagrams at five times the link's rate
/// need 5000 drops per second. CoDel reaches this rate after 100 s: its gaps are 100 ms divided by the square root of a
/// count. BLUE's probability rises by 1/256 every 5 ms, and reaches 4/5 within a second.
#[test]
fn blue_holds_a_flood_that_codel_does_not() {
    let (rate, seconds) = (mbps(10), 15);
    let pkts = |discipline: Discipline| {
        let limit = Capacity::Packets(200);
        let mut config = network(discipline, rate, 0, seconds);
        config.links[0].queue = discipline.config(limit, false, rate, config.links[0].delay);
        add_datagrams(&mut config, mbps(50));
        let counters = bottleneck(&config);
        assert!(utilisation(&counters, rate, seconds) > 0.95, "{counters:?}");
        counters.queue_integral() / (seconds - seconds / 3) as f64
    };
    let (codel, cobalt) = (
        pkts(disciplines::of("codel")),
        pkts(disciplines::of("cobalt")),
    );
    assert!(codel > 190.0, "{codel} of 200 packets");
    assert!(cobalt < 100.0, "{cobalt} of 200 packets");
}

/// Checks that CAKE and FQ-PIE share a link equally between four pairs of flows with round-trip times from 70 to 100
/// ms.
#[test]
fn round_trips_do_not_matter_where_flows_have_queues_of_their_own() {
    let (rate, flows, seconds) = (mbps(40), 8, 60);
    let jain = |discipline: Discipline| {
        let mut config = network(discipline, rate, 0, seconds);
        let limit = Capacity::Packets(400);
        config.links[0].queue = discipline.config(limit, false, rate, config.links[0].delay);
        let cubic = Tcp {
            congestion: controller("cubic", Variant::Paper, &[]),
            ..tcp(Recovery::Sack)
        };
        add_flows(&mut config, "flow", flows, AT_ONCE, cubic);
        add_own_access(&mut config, Span::from_millis(5));
        let shares = run(&config).0.flows;
        let shares = shares.iter().map(|flow| flow.window.delivered_bytes as f64);
        let (sum, squares) = shares.fold((0.0, 0.0), |(sum, squares), share| {
            (sum + share, squares + share * share)
        });
        sum * sum / (flows as f64 * squares)
    };
    let droptail = jain(disciplines::of("droptail"));
    for discipline in [disciplines::of("cake"), disciplines::of("fq-pie")] {
        let fair = jain(discipline);
        assert!(
            fair > 0.99 && fair > droptail,
            "{discipline:?}: {fair}, {droptail}"
        );
    }
}

/// Checks that DECbit's senders and routers together keep less than one packet at the router on average, including the
/// packet in service, and lose no packets. Marks reduce the windows again and again.
#[test]
fn decbit_keeps_about_a_packet_at_the_router() {
    let (rate, seconds) = (mbps(10), 120);
    let mut config = network(disciplines::of("decbit"), rate, 0, seconds);
    let decbit = Tcp {
        congestion: controller("decbit", Variant::Paper, &[]),
        ecn: Ecn::Dctcp,
        ..tcp(Recovery::Sack)
    };
    add_flows(&mut config, "decbit", 3, AT_ONCE, decbit);
    config.measure.every = Some(Span::from_millis(100));
    let (totals, records) = run(&config);
    let first = records.flows.iter().filter(|sample| sample.flow == 0);
    let windows: Vec<f64> = first.filter_map(|sample| sample.cwnd).collect();
    let reductions = windows.windows(2).filter(|pair| pair[1] < pair[0]);
    assert!(reductions.count() > 50, "{windows:?}");
    let counters = totals.links[0].window;
    assert_eq!(counters.dropped_pkts(), 0);
    assert!(counters.marked_pkts > 0);
    let used = utilisation(&counters, rate, seconds);
    let at_router = counters.queue_integral() / (seconds - seconds / 3) as f64 + used;
    assert!((0.2..1.0).contains(&at_router), "{at_router} {used}");
}

/// Checks that a token bucket of 10 Mbit/s before a link of 100 Mbit/s passes at most its rate plus a burst, and at
/// least its rate.
#[test]
fn a_token_bucket_sets_the_rate() {
    let seconds = 20;
    for discipline in [
        disciplines::of("droptail"),
        disciplines::of("red"),
        disciplines::of("fq-codel"),
        disciplines::of("cake"),
    ] {
        let mut config = network(discipline, mbps(100), 0, seconds);
        let (rate, burst) = (mbps(10), Bytes(15_000));
        config.links[0].direction.shaper = Some(Shaper { rate, burst });
        add_datagrams(&mut config, mbps(12));
        let (totals, _) = run(&config);
        let counters = &totals.links[0].total;
        let most = rate.as_bps() * seconds / 8 + burst.0;
        // At the end, the last packet may be in transmission, and some tokens may belong to a packet that has not
        // arrived.
        assert!(counters.departed_bytes <= most, "{counters:?}");
        assert!(counters.departed_bytes + 2000 > most, "{counters:?}");
    }
}

/// Checks that with an ACK filter, a slow link for ACKs does not limit the forward rate, with any discipline. The
/// backward rate of 64 kbit/s carries 200 ACKs of 40 bytes per second. Unfiltered, these would limit the forward rate
/// to 200 segments of 1460 bytes per second, 2.34 Mbit/s of 10.
#[test]
fn filtered_acks_do_not_limit_the_way_there() {
    let back = Rate::from_bps(64_000);
    let run_with = |queue, ack_filtering| {
        let delay = Span::from_millis(20);
        let mut config = dumbbell(mbps(10), delay, drop_tail(100), 30);
        config.measure.from = Time::ZERO + Span::from_secs(10);
        config.links[1].rate = back;
        config.links[1].queue = queue;
        config.links[1].direction.ack_filtering = Some(ack_filtering);
        // This window fills the path, but not the queue of the forward direction.
        let window = Tcp {
            receive_window: 100,
            ..tcp(Recovery::NewReno)
        };
        add_flows(&mut config, "flow", 1, AT_ONCE, window);
        let (totals, _) = run(&config);
        let flow = &totals.flows[0];
        assert_eq!(flow.total.timeouts, 0);
        let goodput = 8e-6 * flow.window.delivered_bytes as f64 / 20.0;
        (goodput, totals.links[1].total)
    };
    let (slow, all) = run_with(drop_tail(10_000), false);
    assert!((2.3..2.34).contains(&slow), "{slow}");
    assert_eq!(all.dropped_pkts(), 0);
    for discipline in disciplines::all() {
        let limit = Capacity::Packets(50);
        let queue = discipline.config(limit, false, back, Span::from_millis(20));
        let (fast, acks) = run_with(queue, true);
        assert!(fast > 9.6, "{discipline:?}: {fast}");
        assert!(acks.dropped_filtered_pkts > acks.departed_pkts, "{acks:?}");
        let gone = acks.departed_pkts + acks.dropped_pkts();
        assert!((gone..gone + 52).contains(&acks.arrived_pkts), "{acks:?}");
    }
}

/// Checks that four flows of BBR version 3 keep the average queue below the threshold for marks, with ECT(0) and with
/// ECT(1). The threshold is 12 packets, a seventh of the bandwidth-delay product. Without ECN, the average queue is
/// longer than the bandwidth-delay product (50 Mbit/s times 20 ms, 83 packets).
#[test]
fn bbr3_keeps_a_queue_where_it_is_marked() {
    let (rate, delay, seconds) = (mbps(50), Span::from_millis(10), 20);
    let pkts = |ecn: Ecn, l4s: f64| {
        let queue = disciplines::of("threshold").config(Capacity::Packets(1000), true, rate, delay);
        let mut config = dumbbell(rate, delay, queue, seconds);
        config.measure.from = Time::ZERO + Span::from_secs(seconds / 3);
        let bbr3 = Tcp {
            congestion: controller("bbr3", Variant::Paper, &[("l4s", l4s)]),
            ecn,
            ..tcp(Recovery::RackTlp)
        };
        add_flows(&mut config, "bbr3", 4, AT_ONCE, bbr3);
        let counters = bottleneck(&config);
        assert_eq!(counters.marked_pkts > 0, ecn.is_on());
        let used = utilisation(&counters, rate, seconds);
        assert!(used > 0.9, "{ecn:?}: {used}");
        counters.queue_integral() / (seconds - seconds / 3) as f64
    };
    let (none, ect0, ect1) = (
        pkts(Ecn::Off, 0.0),
        pkts(Ecn::Accurate, 0.0),
        pkts(Ecn::Accurate, 1.0),
    );
    assert!(ect0 < 12.0, "{ect0} packets");
    assert_eq!(ect0, ect1, "the queue does not tell them apart");
    assert!(none > 83.0, "{none} packets");
}

/// Checks that a discipline declares correctly that it can mark packets; warnings about scenarios depend on this. Also
/// checks that a discipline which declares no random draws gives the same results with every seed.
#[test]
fn disciplines_declare_that_they_mark_and_draw() {
    for discipline in disciplines::all() {
        let (rate, delay) = (mbps(10), Span::from_millis(25));
        let queue = discipline.config(Capacity::Packets(100), true, rate, delay);
        let mut config = dumbbell(rate, delay, drop_tail(1000), 10);
        config.links[0].queue = queue.clone();
        let marked = Tcp {
            ecn: Ecn::Classic,
            ..tcp(Recovery::Sack)
        };
        add_flows(&mut config, "flow", 8, AT_ONCE, marked);
        let (totals, records) = run(&config);
        let marks = totals.links[0].total.marked_pkts > 0;
        assert!(queue.marks() || !marks, "{discipline:?}");
        config.seed += 1;
        let repeats = run(&config).1 == records;
        assert!(queue.is_random() || repeats, "{discipline:?}");
    }
}
