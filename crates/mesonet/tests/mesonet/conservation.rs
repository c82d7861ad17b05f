//! Packets are conserved on every router and link at the end of every interval: each arrived packet
//! was forwarded, dropped, or waits.

use longhaul_congestion::Variant;
use longhaul_mesonet::config::{Config, Parent, Service};
use longhaul_mesonet::records::{
    Control, DataPackets, FlowRecord, GoodputBatch, Interval, QueueSample, Recorder, RouterSample,
};
use longhaul_mesonet::run;
use longhaul_units::{Span, Time};

use crate::network::{Buffers, Study, long_lived};
use crate::records::{IntervalRecord, Keeper};

/// Returns a congested network with small buffers.
fn congested() -> Config {
    let study = Study {
        r1: 120.0,
        sources_per_router: 20.0,
        buffers: Buffers::RttCOverRootN,
        think_ms: 1000,
        seconds: 6,
        ..Study::CONDITION_8
    };
    let mut config = study.config("reno", Variant::Paper);
    config.long_lived = vec![long_lived(&config.topology, "B0a", "K0a", 1.0)];
    config.measure.every = Span::from_millis(50);
    config.measure.flow_log = true;
    config
}

fn check(config: &Config, kept: &IntervalRecord, entered: &[u64]) {
    let topology = &config.topology;
    let balanced = |queue: &QueueSample| {
        assert_eq!(
            queue.arrived,
            queue.forwarded + queue.dropped + queue.waiting
        );
    };
    let routers = [&kept.backbone, &kept.pops, &kept.access];
    for router in routers.into_iter().flatten() {
        balanced(&router.up);
        balanced(&router.down);
    }
    let under = |parent| {
        let children = topology.access.iter().zip(&kept.access);
        let of_parent = children.filter(move |(access, _)| access.parent == parent);
        of_parent
            .map(|(_, sample)| sample)
            .collect::<Vec<&RouterSample>>()
    };
    let forwarded_up = |of: &[&RouterSample]| of.iter().map(|one| one.up.forwarded).sum::<u64>();
    let arrived_down = |of: &[&RouterSample]| of.iter().map(|one| one.down.arrived).sum::<u64>();
    for (pop, sample) in kept.pops.iter().enumerate() {
        let below = under(Parent::Pop(pop));
        assert_eq!(forwarded_up(&below), sample.up.arrived);
        assert_eq!(arrived_down(&below), sample.down.forwarded);
    }
    let mut on_links = 0;
    for (backbone, sample) in kept.backbone.iter().enumerate() {
        let pops = topology.pops.iter().zip(&kept.pops);
        let own = pops.filter(|(pop, _)| pop.backbone == backbone);
        let mut below: Vec<&RouterSample> = own.map(|(_, sample)| sample).collect();
        below.extend(under(Parent::Backbone(backbone)));
        let sum = |end: fn(&longhaul_mesonet::config::BackboneLink) -> usize| {
            let links = topology.links.iter().zip(entered);
            let own = links.filter(|(link, _)| end(link) == backbone);
            own.map(|(_, entered)| entered).sum::<u64>()
        };
        let (out, into) = (sum(|link| link.from), sum(|link| link.to));
        assert_eq!(sample.up.forwarded, arrived_down(&below) + out);
        // Packets that entered the links to this router have arrived, or are on their way.
        let arrived = sample.up.arrived - forwarded_up(&below);
        assert!(arrived <= into, "{arrived} of {into}");
        on_links += into - arrived;
    }
    assert!(on_links > 0, "links have a delay");
}

#[test]
fn what_one_element_forwards_arrives_at_the_next() {
    conserves(&congested());
}

/// Checks that packets are also conserved if they cross a region over two of its backbone routers. Links of 0.1 ms join
/// I and K, and H and J, to one region each.
#[test]
fn packets_cross_regions_of_several_routers() {
    let mut config = congested();
    for link in &mut config.topology.links {
        if ["I-K", "K-I", "H-J", "J-H"].contains(&&*link.name) {
            link.delay = Span::from_micros(100);
        }
    }
    conserves(&config);
}

/// Checks that packets are also conserved if one server serves both queues of a router. Together,
/// the queues get its capacity and use all of it.
#[test]
fn queues_that_share_a_server_share_its_capacity() {
    let mut config = congested();
    config.topology.service = Service::Shared;
    let last = conserves(&config);
    let seconds = config.duration.as_secs_f64();
    let uses = config
        .topology
        .access
        .iter()
        .zip(&last.access)
        .map(|(access, sample)| {
            let most = access.router.capacity.as_per_s() * seconds;
            let both = sample.up.forwarded + sample.down.forwarded;
            assert!(both as f64 <= most + 1.0, "{both} of {most}");
            both as f64 / most
        });
    assert!(uses.fold(0.0, f64::max) > 0.9);
}

/// Returns the largest fraction of a router's buffer in use at the end of an interval, and the
/// number of packets dropped.
fn fullest(config: &Config) -> (f64, u64) {
    let mut keeper = Keeper::default();
    run(config, &mut keeper).expect("valid");
    let routers = config.topology.access.iter().map(|access| &access.router);
    let used = keeper.intervals.iter().flat_map(|kept| {
        let samples = routers.clone().zip(&kept.access);
        samples.map(|(router, sample)| {
            (sample.up.waiting + sample.down.waiting) as f64 / router.buffer as f64
        })
    });
    let last = &keeper.intervals.last().expect("intervals").access;
    let dropped = last.iter().map(|one| one.up.dropped + one.down.dropped);
    (used.fold(0.0, f64::max), dropped.sum())
}

/// Checks that the two queues of a router have a buffer each, or share one buffer if `shared_buffer` is set. The shared
/// buffer drops more packets.
#[test]
fn queues_share_a_buffer_if_the_topology_says_so() {
    let mut config = congested();
    config.topology.service = Service::Shared;
    let (each, dropped) = fullest(&config);
    assert!(each > 1.0, "{each}");
    config.topology.shared_buffer = true;
    conserves(&config);
    let (both, dropped_more) = fullest(&config);
    assert!(both > 0.99 && both <= 1.0, "{both}");
    assert!(dropped_more > dropped, "{dropped_more} and {dropped}");
}

/// Runs the simulation, checks in every interval that packets are conserved, and returns the last
/// interval.
fn conserves(config: &Config) -> IntervalRecord {
    let mut keeper = Keeper::default();
    let totals = run(config, &mut keeper).expect("valid");
    assert_eq!(keeper.intervals.len(), 120);
    let mut entered = vec![0; config.topology.links.len()];
    let (mut data_in, mut data_out) = (0, 0);
    for kept in &keeper.intervals {
        for (sum, link) in entered.iter_mut().zip(&kept.links) {
            *sum += link;
        }
        check(config, kept, &entered);
        data_in += kept.packets_in;
        data_out += kept.packets_out;
        let classes: u64 = kept.classes.iter().map(|class| class.packets_out).sum();
        assert!(classes + kept.long_lived[0].packets_out <= kept.packets_out);
        for class in &kept.classes {
            let parts = class.in_initial_slow_start + class.in_normal_mode + class.above_threshold;
            assert_eq!(parts, class.active);
        }
    }
    assert_eq!((totals.packets_in, totals.packets_out), (data_in, data_out));
    let last = keeper.intervals.last().expect("intervals");
    let dropped = |routers: &[RouterSample]| {
        routers
            .iter()
            .map(|router| router.up.dropped + router.down.dropped)
            .sum::<u64>()
    };
    assert!(dropped(&last.access) > 100, "the test needs losses");
    assert!(data_out < data_in);
    // Every completed flow was counted once at every router on its path.
    let completed: u64 = totals.classes.iter().map(|class| class.completed).sum();
    let logged = keeper.flows.iter().filter(|flow| flow.connected.is_some());
    assert_eq!(logged.count() as u64, completed);
    let at_access: u64 = last
        .access
        .iter()
        .map(|router| router.completed_flows)
        .sum();
    assert_eq!(at_access, 2 * completed);
    let batches: u64 = keeper.batches.iter().map(|batch| batch.count).sum();
    assert_eq!(batches, completed);
    last.clone()
}

/// Checks that a second run, and a run with intervals of another length, give the same results: measurement does not
/// affect the simulation.
#[test]
fn a_run_repeats_whatever_its_intervals_are() {
    let config = congested();
    let (mut first, mut again, mut long) = Default::default();
    let totals = run(&config, &mut first).expect("valid");
    assert_eq!(run(&config, &mut again).expect("valid"), totals);
    let (first, again): (Keeper, Keeper) = (first, again);
    assert_eq!(first.flows, again.flows);
    let mut other = config.clone();
    other.measure.every = Span::from_millis(1700);
    run(&other, &mut long).expect("valid");
    let long: Keeper = long;
    assert_eq!(first.flows, long.flows);
}

/// Checks that a flow has the same total numbers of events if it stops in the middle of a measurement
/// interval as if it stops at the end of one.
#[test]
fn events_of_a_flow_count_in_the_interval_in_which_it_stops() {
    let mut config = congested();
    config.long_lived = vec![long_lived(&config.topology, "A1a", "D1a", 1.0)];
    config.long_lived[0].stop = Time::from_secs_f64(4.0);
    let events_with = |every| {
        config.measure.every = every;
        let mut keeper = Keeper::default();
        run(&config, &mut keeper).expect("valid");
        let samples = keeper.intervals.iter().map(|kept| kept.long_lived[0]);
        let (naks, increases, growth) =
            samples.fold((0, 0, 0.0), |(naks, increases, growth), one| {
                (
                    naks + one.naks,
                    increases + one.increases,
                    growth + one.growth,
                )
            });
        // Sums over other parts differ by rounding errors.
        (naks, increases, (1e3 * growth).round())
    };
    let [exact, short, whole] = [1000, 170, 6000].map(Span::from_millis).map(events_with);
    assert!(exact.0 > 0, "the test needs losses");
    assert_eq!([short, whole], [exact; 2]);
}

/// A recorder that stops a run in the middle of an interval.
#[derive(Default)]
struct Impatient(Keeper);

impl Recorder for Impatient {
    fn interval(&mut self, interval: &Interval<'_>) {
        self.0.interval(interval);
    }

    fn batch(&mut self, batch: &GoodputBatch) {
        self.0.batch(batch);
    }

    fn flow(&mut self, flow: &FlowRecord) {
        self.0.flow(flow);
    }

    fn progress(&mut self, now: Time, _: DataPackets<'_>) -> Control {
        if now > Time::from_secs_f64(3.5) {
            Control::Stop
        } else {
            Control::Continue
        }
    }
}

/// Checks that totals and goodput of a stopped run are those of a run that ends at the same time.
#[test]
fn a_run_that_is_stopped_has_counted_everything_until_then() {
    let mut config = congested();
    config.measure.every = Span::from_millis(2500);
    let mut stopped = Impatient::default();
    let totals = run(&config, &mut stopped).expect("valid");
    assert!(totals.stopped);
    assert_eq!(stopped.0.intervals.len(), 1, "it stops in the second");
    config.duration = totals.end;
    let mut keeper = Keeper::default();
    let whole = run(&config, &mut keeper).expect("valid");
    assert_eq!(totals.packets_in, whole.packets_in);
    assert_eq!(totals.packets_out, whole.packets_out);
    assert_eq!(totals.classes, whole.classes);
    assert_eq!(stopped.0.batches, keeper.batches);
}
