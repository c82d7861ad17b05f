//! Cases of the hybrid model with known answers.

use longhaul_hybrid::{Config, Flow, Interval, Queue, SetupError, Simulation, Visit};

/// Returns standard TCP flows that share one queue; `rtts` are their base round-trip times in seconds.
fn dumbbell(capacity: f64, buffer: f64, rtts: &[f64]) -> Config {
    let flow = |&rtt: &f64| Flow {
        rtt,
        host_rate: 1e9,
        start: 0.0,
        increase: 1.0,
        decrease: 0.5,
        visits: vec![Visit {
            queue: 0,
            data: true,
        }],
    };
    Config {
        queues: vec![Queue { capacity, buffer }],
        flows: rtts.iter().map(flow).collect(),
        step: 1e-3,
        steps_per_interval: 100_000,
        initial_window: 2.0,
        initial_ssthresh: 50.0,
        max_ssthresh: 100.0,
        seed: 1,
    }
}

fn last_of(config: Config, intervals: usize) -> Interval {
    let mut simulation = Simulation::new(config).unwrap();
    (0..intervals)
        .map(|_| simulation.interval())
        .last()
        .unwrap()
}

#[test]
fn one_flow_without_a_buffer_gets_three_quarters() {
    // A saw-tooth from 500 to 1000 packets at 0.1 s: a period of 50 s, a mean of 750 packets (NIST
    // SP 500-282, section A.1.1). A buffer of 0 is not allowed, so it has one packet.
    let mut config = dumbbell(10_000.0, 1.0, &[0.1]);
    config.steps_per_interval = 2_000_000;
    let found = last_of(config, 2);
    assert!(
        (found.flows[0].throughput / 7500.0 - 1.0).abs() < 0.01,
        "{found:?}"
    );
    assert!((38..=41).contains(&found.flows[0].reductions), "{found:?}");
}

#[test]
fn one_flow_with_a_buffer_of_a_path_keeps_the_link_busy() {
    let found = last_of(dumbbell(10_000.0, 1000.0, &[0.1]), 20);
    assert!(found.queues[0].served > 0.999 * 10_000.0, "{found:?}");
    // The queue is full before a halving and empty after it: half full on average over round trips,
    // nearly two thirds over time, since round trips are longer while it is full.
    assert!(
        (400.0..700.0).contains(&found.queues[0].waiting),
        "{found:?}"
    );
}

#[test]
fn what_is_sent_is_served_dropped_or_waits() {
    let mut config = dumbbell(10_000.0, 200.0, &[0.05, 0.1]);
    config.queues.push(Queue {
        capacity: 9_000.0,
        buffer: 300.0,
    });
    for flow in &mut config.flows {
        flow.visits.push(Visit {
            queue: 1,
            data: true,
        });
    }
    let found = last_of(config, 5);
    let [first, second] = &found.queues[..] else {
        panic!("{found:?}")
    };
    let delivered: f64 = found.flows.iter().map(|flow| flow.throughput).sum();
    assert!((second.served - delivered).abs() < 1e-6 * delivered);
    // The queues hold at most 500 packets, which are 5 per second over 100 s.
    assert!(
        (first.served - second.served - second.dropped).abs() < 5.0,
        "{found:?}"
    );
}

#[test]
fn flows_of_one_round_trip_share_equally_and_the_longer_one_gets_less() {
    let equal = last_of(dumbbell(10_000.0, 500.0, &[0.1; 10]), 50);
    let rates: Vec<f64> = equal.flows.iter().map(|flow| flow.throughput).collect();
    let mean = rates.iter().sum::<f64>() / 10.0;
    assert!(
        rates.iter().all(|rate| (rate / mean - 1.0).abs() < 0.3),
        "{rates:?}"
    );
    let mut mixed = dumbbell(10_000.0, 500.0, &[0.05, 0.2]);
    mixed.steps_per_interval = 2_000_000;
    let mixed = last_of(mixed, 2);
    let ratio = mixed.flows[0].throughput / mixed.flows[1].throughput;
    let round_trips = mixed.flows[1].rtt / mixed.flows[0].rtt;
    assert!(ratio > round_trips, "{ratio} against {round_trips}");
}

#[test]
fn acknowledgements_take_service_and_their_drops_are_no_losses() {
    // Data and acknowledgements share a router: each gets half of its capacity.
    let mut config = dumbbell(10_000.0, 1000.0, &[0.1]);
    config.flows[0].visits.push(Visit {
        queue: 0,
        data: false,
    });
    let found = last_of(config.clone(), 20);
    assert!(
        (found.flows[0].throughput / 5000.0 - 1.0).abs() < 0.02,
        "{found:?}"
    );
    // With acknowledgements alone, the window grows forever.
    config.flows[0].visits.remove(0);
    let found = last_of(config, 20);
    assert!(
        found.queues[0].dropped > 0.0 && found.flows[0].reductions == 0,
        "{found:?}"
    );
    assert!(found.flows[0].throughput > 5000.0, "{found:?}");
}

#[test]
fn the_same_seed_gives_the_same_numbers_and_another_one_others() {
    let config = dumbbell(10_000.0, 500.0, &[0.1; 5]);
    let other = Config {
        seed: 2,
        ..config.clone()
    };
    assert_eq!(last_of(config.clone(), 3), last_of(config.clone(), 3));
    assert_ne!(last_of(config, 3), last_of(other, 3));
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let mut config = dumbbell(10_000.0, 500.0, &[0.1]);
    config.flows[0].visits[0].queue = 1;
    assert_eq!(config.check(), Err(SetupError::NoSuchQueue(0)));
    let config = dumbbell(0.0, 500.0, &[0.1]);
    assert_eq!(config.check(), Err(SetupError::NotPositive("capacity")));
}
