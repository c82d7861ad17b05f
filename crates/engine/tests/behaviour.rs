//! Tests of properties that every network has: packets and data are conserved, transfers complete, and runs are
//! repeatable.

mod common;

use std::sync::Arc;

use common::disciplines::{self, Discipline};
use common::extras::{Extras, extras};
use common::{
    AT_ONCE, RECOVERIES, Records, add_access, add_datagrams, add_equal_access, add_flows,
    add_own_access, controller, delayed_ack, drop_tail, dumbbell, run, tcp,
};
use longhaul_congestion::{SlowStartSpec, Variant};
use longhaul_engine::config::{
    AckCounting, Clock, DelayedAck, Ecn, PacedBursts, Pacing, PrrRule, Randomness, Recovery,
    ReductionRule, RttSample, Service, Shaper, Start, Tcp, Timestamps, Transport, Work,
};
use longhaul_engine::measure::Totals;
use longhaul_engine::queue::Capacity;
use longhaul_engine::{Change, Config, Loss};
use longhaul_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

/// Congestion control algorithms with different demands on transports and routers.
const CONGESTION: [&str; 6] = ["reno", "cubic", "vcp", "xcp", "packet-pair", "peach"];

/// A small network with finite and greedy flows of several kinds.
#[derive(Clone, Debug)]
struct Small {
    mbps: u64,
    delay_ms: u64,
    limit: u64,
    queue: Discipline,
    congestion: &'static str,
    ecn: Ecn,
    loss: f64,
    extras: Extras,
    recovery: Recovery,
    /// Settings of delayed ACKs: the number of ACKs at the start that are not delayed, and true if the ACK of the last
    /// segment is not delayed. `None` if no ACKs are delayed.
    delayed_ack: Option<(u32, bool)>,
    timestamps: bool,
    jitter_us: u64,
    pacing: bool,
    ns2_clock: bool,
    /// True if all flows start at the same time.
    at_once: bool,
    finite: usize,
    greedy: usize,
    bytes: u64,
    /// Rate of a token bucket in front of the link, as a fraction of the link's rate; `None` without a token bucket.
    shaped: Option<f64>,
    seed: u64,
}

prop_compose! {
    fn small()(
        mbps in 1u64..40, delay_ms in 0u64..60, limit in 1u64..80,
        queue in prop::sample::select(disciplines::all()),
        congestion in prop::sample::select(CONGESTION.to_vec()),
        ecn in prop::sample::select(vec![Ecn::Off, Ecn::Classic, Ecn::Dctcp]),
        loss in prop_oneof![Just(0.0), 0.0..0.05f64], extras in extras(),
        recovery in prop::sample::select(RECOVERIES.to_vec()),
        delayed_ack in prop::option::of((prop_oneof![2 => Just(0u32), 1 => 1u32..100], any::<bool>())),
        timestamps: bool, jitter_us in prop_oneof![Just(0u64), 1u64..500],
        pacing: bool, ns2_clock: bool, at_once: bool, finite in 0usize..4, greedy in 0usize..3, bytes in 1u64..200_000,
        shaped in prop::option::weighted(0.2, 0.1..1.0f64), seed: u64,
    ) -> Small {
        Small {
            mbps, delay_ms, limit, queue, congestion, ecn, loss, extras, recovery, delayed_ack,
            timestamps, jitter_us, pacing, ns2_clock, at_once, finite, greedy, bytes, shaped, seed,
        }
    }
}

impl Small {
    fn config(&self, seconds: u64) -> Config {
        let rate = Rate::from_bps(self.mbps * 1_000_000);
        let delay = Span::from_millis(self.delay_ms);
        let limit = Capacity::Packets(self.limit);
        let queue = self.queue.config(limit, self.ecn.is_on(), rate, delay);
        let mut config = dumbbell(rate, delay, queue, seconds);
        config.seed = self.seed;
        if self.ns2_clock {
            config.clock = Clock::Ns2;
        }
        config.links[0].direction.shaper = self.shaped.map(|part| Shaper {
            rate: Rate::from_bps((part * rate.as_bps() as f64) as u64),
            burst: Bytes(3000),
        });
        config.links[0].direction.loss = self.extras.loss(self.loss);
        config.links[1].direction.loss = self.extras.loss(self.loss / 2.0);
        for link in &mut config.links {
            self.extras.add_to(link);
        }
        // CUBIC is tested with Linux's variant, slow start and recovery rules.
        let linux = self.congestion == "cubic";
        let (variant, slow_start) = match linux {
            true => (Variant::Linux6_18, "hystart"),
            false => (Variant::Paper, "standard"),
        };
        let (prr, rtt_sample) = match linux {
            true => (PrrRule::Linux, RttSample::Last),
            false => (PrrRule::Rfc6937, RttSample::Echo),
        };
        let slow_start = SlowStartSpec {
            kind: slow_start.to_string(),
            parameters: Vec::new(),
        };
        let base = Tcp {
            // TCP Peach may send as many dummies at once as the receive window has segments.
            receive_window: if self.congestion == "peach" {
                200
            } else {
                100_000
            },
            prr,
            rtt_sample,
            growth_beyond_use: linux,
            undo: linux,
            dsack: linux,
            congestion: controller(self.congestion, variant, &[]),
            slow_start: slow_start.build().expect("a registered slow start"),
            ecn: self.ecn,
            timestamps: if self.timestamps {
                Timestamps::OneWay(12)
            } else {
                Timestamps::Off
            },
            delayed_ack: self.delayed_ack.map(|(quick, push)| DelayedAck {
                timeout: Span::from_millis(100),
                segments: 2,
                delays_syn: false,
                quick,
                push,
            }),
            ack_counting: AckCounting::PerSegment {
                slow_start_limit: 2.0,
            },
            send_jitter: Span::from_micros(self.jitter_us),
            pacing: self.pacing.then_some(Pacing {
                slow_start: 2.0,
                avoidance: 1.25,
                min_burst: 1 + u32::from(linux),
                burst_time: Span::ZERO,
                after: 0,
            }),
            paced_bursts: match linux {
                true => PacedBursts::Linux,
                false => PacedBursts::Early,
            },
            reductions: match linux {
                true => ReductionRule::Linux,
                false => ReductionRule::Rfc5681,
            },
            ..tcp(self.recovery)
        };
        let start = match self.at_once {
            true => AT_ONCE,
            false => Start::Uniform(Time::ZERO, Time::ZERO + Span::from_millis(500)),
        };
        let finite = Tcp {
            transfer: Some(self.bytes),
            ..base.clone()
        };
        add_flows(&mut config, "finite", self.finite, start, finite);
        add_flows(&mut config, "greedy", self.greedy, start, base);
        config
    }
}

/// Surroundings of a small network: its access links and its cross traffic.
#[derive(Clone, Debug)]
struct Surroundings {
    access: Option<Access>,
    /// True if every second flow sends in the opposite direction.
    two_way: bool,
    /// True if the first flow stops before the end of the run.
    stops: bool,
    /// Rate of datagrams in kbit/s that are sent in addition to the flows; `None` without datagrams.
    datagrams_kbps: Option<u64>,
    one_generator: bool,
}

/// Links between the nodes of the flows and the small network.
#[derive(Clone, Debug)]
struct Access {
    /// True if every flow has separate nodes and access links.
    own: bool,
    /// True if all access links have the same delay and the rate of the bottleneck, so that packets of several flows
    /// arrive at the same time.
    alike: bool,
    delay_us: u64,
    mbps: u64,
    limit: u64,
    loss: f64,
    /// True if the access links have none of the impairments of the small network.
    plain: bool,
}

prop_compose! {
    fn access()(
        own: bool, alike: bool, delay_us in 0u64..2000, mbps in 1u64..80,
        limit in prop_oneof![1u64..40, Just(10_000u64)],
        loss in prop_oneof![Just(0.0), 0.0..0.02f64], plain: bool,
    ) -> Access {
        Access { own, alike, delay_us, mbps, limit, loss, plain }
    }
}

prop_compose! {
    fn surroundings()(
        access in prop::option::of(access()), two_way: bool, stops: bool,
        datagrams_kbps in prop::option::of(100u64..5000), one_generator: bool,
    ) -> Surroundings {
        Surroundings { access, two_way, stops, datagrams_kbps, one_generator }
    }
}

impl Surroundings {
    fn add_to(&self, config: &mut Config) {
        if self.one_generator {
            config.randomness = Randomness::Ns2;
            config.seed = 1 + config.seed % 1_000_000;
        }
        if let Some(kbps) = self.datagrams_kbps {
            add_datagrams(config, Rate::from_bps(1000 * kbps));
        }
        if let Some(first) = config.flows.first_mut()
            && self.stops
        {
            first.stop = Some(Time::ZERO + Span::from_millis(1700));
        }
        if self.two_way {
            for flow in config.flows.iter_mut().skip(1).step_by(2) {
                (flow.from, flow.to) = (flow.to, flow.from);
            }
        }
        if let Some(access) = &self.access {
            access.add_to(config);
        }
    }
}

impl Access {
    fn add_to(&self, config: &mut Config) {
        let inner = config.links.len();
        let delay = Span::from_micros(self.delay_us);
        match (self.own, self.alike) {
            (true, true) => add_equal_access(config, delay),
            (true, false) => add_own_access(config, delay),
            (false, _) => add_access(config, delay),
        }
        for link in &mut config.links[inner..] {
            if !self.alike {
                link.rate = Rate::from_bps(self.mbps * 1_000_000);
            }
            link.queue = drop_tail(self.limit);
            link.direction.loss = Loss::Bernoulli(self.loss);
            if self.plain {
                Extras::remove_from(link);
            }
        }
    }
}

/// Asserts that the packets on every port and the data of every flow are conserved.
fn assert_conserved(config: &Config, totals: &Totals) {
    for link in &totals.links {
        let counters = &link.total;
        let gone = counters.dropped_pkts() + counters.departed_pkts;
        assert!(gone <= counters.arrived_pkts);
        // Packets that have neither left nor been dropped are in the queue or in service: at most the limit of the
        // queue plus one.
        assert!(counters.arrived_pkts - gone <= 81, "{counters:?}");
        assert!(counters.queue_max_pkts <= 80);
    }
    let crossed: u64 = totals.flows.iter().map(|flow| flow.total.sent_pkts).sum();
    let first = &totals.links[0].total;
    if !config.links[0].is_impaired() {
        let syns = first.arrived_pkts - crossed;
        assert!(
            syns >= config.flows.len() as u64,
            "every flow sends its SYN"
        );
        assert_eq!(first.duplicated_pkts, 0);
    }
    for flow in &totals.flows {
        let counters = &flow.total;
        assert!(counters.delivered_pkts + counters.retransmitted_pkts <= counters.sent_pkts);
        assert!(counters.cwnd_integral.is_finite());
    }
}

/// Returns the results of two runs of a network, the first with lookahead, the second without. Numbers of events are
/// left out. The links of the second run do not look ahead, since they record packets.
fn ahead_and_on_time(config: &Config) -> [(Totals, Records); 2] {
    [false, true].map(|captured| {
        let mut config = config.clone();
        for link in &mut config.links {
            link.captured = captured;
        }
        let (mut totals, mut records) = run(&config);
        totals.events = 0;
        totals.events_pending_max = 0;
        records.packets.clear();
        (totals, records)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn packets_are_conserved(small in small()) {
        for queue in disciplines::all() {
            let config = Small { queue, ..small.clone() }.config(12);
            let (totals, _) = run(&config);
            assert_conserved(&config, &totals);
        }
    }

    /// Checks that a link's departures computed on arrival and those computed one by one give the same results.
    #[test]
    fn both_kinds_of_service_agree(small in small()) {
        let mut on_arrival = Small { ns2_clock: false, ..small }.config(8);
        for link in &mut on_arrival.links {
            (link.changes, link.tick) = (Vec::new(), None);
        }
        let mut explicit = on_arrival.clone();
        explicit.links[0].service = Service::Explicit;
        // A change also makes a link explicit if it sets the current values again.
        let back = &mut explicit.links[1];
        back.changes.push(Change {
            at: Time::ZERO + Span::from_secs(7),
            rate: Some(back.rate),
            delay: Some(back.delay),
            loss: None,
        });
        let (mut one, records_one) = run(&on_arrival);
        let (mut two, records_two) = run(&explicit);
        // The results may differ only in the number of events.
        for totals in [&mut one, &mut two] {
            totals.events = 0;
            totals.events_pending_max = 0;
        }
        prop_assert_eq!(one, two);
        prop_assert_eq!(records_one, records_two);
    }

    /// Processing ahead of time gives the same results as processing on time.
    #[test]
    fn work_ahead_of_time_agrees(
        small in small(), around in surroundings(), every_us in 700u64..90_000,
    ) {
        let mut ahead = small.config(6);
        ahead.measure.every = Some(Span::from_micros(every_us));
        ahead.measure.from = Time::ZERO + Span::from_secs(2);
        around.add_to(&mut ahead);
        let [(one, records_one), (two, records_two)] = ahead_and_on_time(&ahead);
        prop_assert_eq!(one, two);
        prop_assert_eq!(records_one, records_two);
    }

    /// Every finite transfer delivers all of its bytes after losses have stopped.
    #[test]
    fn transfers_complete(small in small(), losses in prop::collection::btree_set(0u64..400, 0..60)) {
        let mut small = Small { loss: 0.0, greedy: 0, finite: 2, ..small };
        if small.congestion == "packet-pair" {
            // Losses do not change the window of packet pair, so that it would overflow a short queue for ever.
            small.congestion = "reno";
        }
        if small.congestion == "peach" {
            // With a queue of one packet, a dummy that finds the queue empty would take its only place, at most once
            // per round trip.
            small.limit = small.limit.max(2);
        }
        let flows = |seconds| {
            let mut config = small.config(seconds);
            config.measure.every = None;
            config.links[0].direction.loss = Loss::List(losses.iter().copied().collect());
            config.links[1].direction.loss = Loss::List(losses.iter().map(|n| n * 3 / 2).collect());
            for link in &mut config.links {
                Extras::end_losses(link, Time::ZERO + Span::from_secs(10));
            }
            run(&config).0.flows
        };
        // Timers of queues continue until a run ends, and most transfers complete early, so that a short run comes
        // first. If the bucket of a policer or a short queue drops all segments that an acknowledgement releases, one
        // segment is delivered for each timeout, and without timestamps no round-trip time ends the backoff of the
        // timeouts.
        let mut ended = flows(100);
        if ended.iter().any(|flow| flow.finish.is_none()) {
            ended = flows(20_000);
        }
        for flow in &ended {
            prop_assert!(flow.finish.is_some(), "{:?}", flow);
            prop_assert_eq!(flow.total.delivered_bytes, small.bytes);
        }
    }
}

/// Returns a network of 2048 flows that run for a second over a bottleneck of 300 Mbit/s. Each flow has its own access
/// links, which the time series does not include.
fn many_access_links(flow: Tcp, delay: Span, limit: u64) -> Config {
    let rate = Rate::from_bps(300_000_000);
    let mut config = dumbbell(rate, Span::from_millis(5), drop_tail(limit), 1);
    let start = Start::Uniform(Time::ZERO, Time::ZERO + Span::from_millis(500));
    add_flows(&mut config, "many", 2048, start, flow);
    add_equal_access(&mut config, delay);
    for link in &mut config.links[2..] {
        link.sampled = false;
    }
    config
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]

    /// 2048 access links, computed in closed form, give the same results as ordinary links. (Links with captures are
    /// ordinary links.)
    #[test]
    fn many_access_links_agree_with_links(
        delay_us in 20u64..3_000,
        access_mbps in 2u64..200,
        limit in 1u64..20,
        shared_limit in 20u64..400,
        delays_acks in any::<bool>(),
        recovery in prop::sample::select(&RECOVERIES[..]),
        every_us in 3_000u64..200_000,
    ) {
        let flow = Tcp {
            delayed_ack: delays_acks.then(|| delayed_ack(Span::from_millis(40))),
            ..tcp(recovery)
        };
        let mut config = many_access_links(flow, Span::from_micros(delay_us), shared_limit);
        config.measure.every = Some(Span::from_micros(every_us));
        config.measure.from = Time::ZERO + Span::from_millis(300);
        for (link, number) in config.links[2..].iter_mut().zip(0..) {
            // The rates of the links alternate between two values.
            link.rate = Rate::from_bps(1_000_000 * (access_mbps + number % 2));
            link.queue = drop_tail(limit);
        }
        let [(one, records_one), (two, records_two)] = ahead_and_on_time(&config);
        prop_assert!(one == two);
        prop_assert!(records_one == records_two);
    }
}

/// Checks that access links computed in closed form cause no events. If the links are sampled, they are ordinary links,
/// and the run has more than twice as many events.
#[test]
fn many_access_links_have_no_events_of_their_own() {
    let config = many_access_links(tcp(RECOVERIES[0]), Span::from_millis(1), 100);
    let mut sampled = config.clone();
    for link in &mut sampled.links[2..] {
        link.sampled = true;
    }
    let [closed_forms, links] = [config, sampled].map(|config| run(&config).0.events);
    assert!(2 * closed_forms < links, "{closed_forms} {links}");
}

/// Checks that a flow of datagrams may end at the router in front of many access links. These are then ordinary links.
#[test]
fn datagrams_may_end_where_many_access_links_begin() {
    let mut config = many_access_links(tcp(RECOVERIES[0]), Span::from_millis(1), 100);
    add_datagrams(&mut config, Rate::from_bps(1_000_000));
    let (totals, _) = run(&config);
    let last = totals.flows.last().expect("there are flows");
    assert!(last.total.delivered_pkts > 10, "{last:?}");
}

/// Checks that all queues draw random numbers from ns-2's single generator in the order of arrivals. PI and REM draw
/// for every acknowledgement. Other disciplines draw only for acknowledgements that wait in the queue of a slow link.
#[test]
fn queues_of_acknowledgements_draw_in_turn() {
    let rate = Rate::from_bps(15_000_000);
    let delay = Span::from_millis(19);
    for (discipline, back_bps) in [
        (disciplines::of("pi"), 15_000_000),
        (disciplines::of("rem"), 15_000_000),
        (disciplines::of("red"), 200_000),
    ] {
        let queue = discipline.config(Capacity::Packets(60), false, rate, delay);
        let mut config = dumbbell(rate, delay, queue, 6);
        config.links[1].rate = Rate::from_bps(back_bps);
        config.randomness = Randomness::Ns2;
        add_flows(&mut config, "greedy", 2, AT_ONCE, tcp(Recovery::Sack));
        let [ahead, on_time] = ahead_and_on_time(&config);
        let link = &on_time.0.links[0].total;
        assert!(link.dropped_early_pkts > 0, "{discipline:?}");
        assert_eq!(ahead, on_time, "{discipline:?}");
    }
}

fn busy() -> Config {
    let mut config = dumbbell(
        Rate::from_bps(20_000_000),
        Span::from_millis(20),
        drop_tail(40),
        20,
    );
    config.links[0].direction.loss = Loss::Bernoulli(1e-3);
    for (label, recovery) in [("a", Recovery::Sack), ("b", Recovery::NewReno)] {
        let start = Start::Uniform(Time::ZERO, Time::ZERO + Span::from_secs(1));
        add_flows(&mut config, label, 3, start, tcp(recovery));
    }
    config
}

/// Checks that no interval delivers more bytes than the bottleneck can transmit. Bytes count as delivered when they
/// arrive, not when a hole before them is filled. (The number of bytes in order jumps when a hole is filled.)
#[test]
fn no_more_is_delivered_than_the_bottleneck_lets_through() {
    let mut config = busy();
    let every = Span::from_millis(20);
    config.measure.every = Some(every);
    let (totals, records) = run(&config);
    let most = config.links[0].rate.as_bps() as f64 / 8.0 * every.as_secs_f64() + 1500.0;
    let mut sums = std::collections::BTreeMap::<Time, (u64, u64)>::new();
    for sample in &records.flows {
        let sum = sums.entry(sample.time).or_default();
        sum.0 += sample.delivered_bytes;
        sum.1 += sample.in_order_bytes;
        assert!(sample.in_order_bytes <= sample.delivered_bytes);
    }
    let sums: Vec<_> = sums.into_values().collect();
    let steps = sums.windows(2);
    let steps = steps.map(|two| (two[1].0 - two[0].0, two[1].1 - two[0].1));
    let (delivered, in_order): (Vec<_>, Vec<_>) = steps.unzip();
    assert!(delivered.iter().all(|&bytes| bytes as f64 <= most));
    assert!(in_order.iter().any(|&bytes| bytes as f64 > 2.0 * most));
    for flow in &totals.flows {
        assert!(flow.total.in_order_pkts <= flow.total.delivered_pkts);
        assert!(flow.total.delivered_pkts > 1000, "{flow:?}");
    }
}

/// Checks that a busy link transmits as much as its rate allows in measurement windows of 1 ns (a small part of a
/// packet's transmission) and of 900 us (one and a half packets). This holds for links that compute departures when
/// packets arrive, and for links that compute each departure at the end of the preceding one.
#[test]
fn a_busy_link_transmits_as_much_as_fits_into_any_window() {
    let lengths = [Span::from_ps(1000), Span::from_micros(900)];
    for (service, ns2_clock) in [
        (Service::OnArrival, false),
        (Service::OnArrival, true),
        (Service::Explicit, false),
    ] {
        for length in lengths {
            let mut config = busy();
            config.links[0].service = service;
            config.links[0].direction.loss = Loss::None;
            if ns2_clock {
                config.clock = Clock::Ns2;
            }
            config.measure.from = Time::ZERO + Span::from_millis(9_123);
            config.duration = config.measure.from + length;
            let (totals, _) = run(&config);
            let link = &totals.links[0].window;
            let capacity = Work::of_rate(config.links[0].rate, length);
            assert_eq!((link.capacity(), link.line_capacity), (capacity, capacity));
            if ns2_clock {
                // ns-2's sums of seconds are rounded to picoseconds here.
                let off = link.transmitted.0.abs_diff(capacity.0);
                assert!(
                    off <= 2 * u128::from(config.links[0].rate.as_bps()),
                    "{link:?}"
                );
            } else {
                assert_eq!(link.transmitted, capacity, "{service:?} {length}");
            }
            let departed = Work::of_bytes(link.departed_bytes).0 as f64 / capacity.0 as f64;
            assert!((departed - 1.0).abs() > 0.1, "{service:?} {departed}");
            let waited_ps = u128::from(link.queue_max_pkts) * u128::from(length.as_ps());
            assert!(link.queue_integral_ps <= waited_ps, "{link:?}");
        }
    }
}

/// With any discipline, all drops and marks that a link counts are also counted for flows.
#[test]
fn drops_and_marks_belong_to_flows() {
    for queue in disciplines::all() {
        let mut config = busy();
        let (limit, link) = (Capacity::Packets(40), &mut config.links[0]);
        link.queue = queue.config(limit, true, link.rate, link.delay);
        config.measure.from = Time::ZERO + Span::from_secs(5);
        for flow in &mut config.flows {
            if let Transport::Tcp(tcp) = &mut flow.transport {
                Arc::make_mut(tcp).ecn = Ecn::Classic;
            }
        }
        let (totals, _) = run(&config);
        let link = &totals.links[0];
        for (window, counters) in [(false, &link.total), (true, &link.window)] {
            let flows = totals.flows.iter();
            let flows = flows.map(|flow| if window { flow.window } else { flow.total });
            let fates = flows.map(|flow| (flow.dropped_pkts, flow.marked_pkts));
            let (dropped, marked) =
                fates.fold((0, 0), |sum, fate| (sum.0 + fate.0, sum.1 + fate.1));
            // Only losses of SYNs, which are not data, are not counted.
            assert!(counters.dropped_pkts() - dropped <= 1, "{queue:?}");
            assert_eq!(marked, counters.marked_pkts, "{queue:?}");
            assert!(dropped + marked > 10, "{queue:?}");
        }
    }
}

/// Checks that a run takes less than one event for five data packets, both on a dumbbell and with separate access links
/// for each flow.
#[test]
fn packets_take_few_events() {
    let rate = Rate::from_bps(100_000_000);
    let mut config = dumbbell(rate, Span::from_millis(20), drop_tail(400), 10);
    let mut greedy = tcp(Recovery::Sack);
    greedy.delayed_ack = Some(delayed_ack(Span::from_millis(100)));
    add_flows(&mut config, "greedy", 2, AT_ONCE, greedy);
    let (totals, _) = run(&config);
    assert!(totals.events < totals.data_packets / 5, "{totals:?}");
    add_own_access(&mut config, Span::from_millis(10));
    let (totals, _) = run(&config);
    assert!(totals.events < totals.data_packets / 5, "{totals:?}");
}

#[test]
fn threads_do_not_disturb_each_other() {
    let sequential: Vec<(Totals, Records)> = (0..2).map(|_| run(&busy())).collect();
    let threads: Vec<_> = (0..2)
        .map(|_| std::thread::spawn(|| run(&busy())))
        .collect();
    for (thread, expected) in threads.into_iter().zip(sequential) {
        assert_eq!(thread.join().expect("no panic"), expected);
    }
}

#[test]
fn another_flow_does_not_shift_the_draws_of_the_first() {
    let starts = |count| {
        let mut config = busy();
        let start = Start::Uniform(Time::ZERO, Time::ZERO + Span::from_secs(1));
        add_flows(&mut config, "more", count, start, tcp(Recovery::Sack));
        run(&config)
            .0
            .flows
            .iter()
            .map(|flow| flow.start)
            .take(6)
            .collect::<Vec<_>>()
    };
    assert_eq!(starts(0), starts(4));
}
