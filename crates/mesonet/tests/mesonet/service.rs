//! Options for details that NIST SP 500-282 leaves open: the service of a router's two queues
//! (chapter 3), and the smallest window after losses (chapter 5).

use longhaul_congestion::Variant;
use longhaul_mesonet::config::{Service, Trace};
use longhaul_mesonet::records::FlowEvent;
use longhaul_mesonet::run;
use longhaul_units::{Span, Time};

use crate::network::{Buffers, Study, long_lived, transport, two_backbone_routers};
use crate::records::Keeper;

/// Returns the time in milliseconds until an access router of 1 packet/ms has forwarded 20 packets that a host sends at
/// once. No packet arrives in the other direction.
fn time_of_a_window(service: Service) -> u64 {
    let mut topology = two_backbone_routers(
        (100.0, 1000),
        Span::from_millis(100),
        [("near", 1.0, 1000), ("far", 100.0, 1000)],
    );
    topology.service = service;
    let mut config = Study::CONDITION_8.config("reno", Variant::Paper);
    config.long_lived = vec![long_lived(&topology, "near", "far", 0.0)];
    config.topology = topology;
    config.transport = transport(1000.0);
    config.transport.initial_cwnd = 20.0;
    config.duration = Time::from_secs_f64(0.1);
    config.measure.every = Span::from_millis(1);
    let mut keeper = Keeper::default();
    run(&config, &mut keeper).expect("valid");
    let all = keeper.intervals.iter();
    let waits = all.filter(|kept| kept.access[0].up.waiting > 0);
    // The last packet departs at the end of the millisecond after these.
    waits.count() as u64 + 1
}

/// Checks that the smallest window after losses in a congested network equals the configured minimum. Without a
/// minimum, the smallest window is less than one packet.
#[test]
fn losses_leave_no_less_than_the_smallest_window() {
    let smallest = |min_cwnd| {
        let study = Study {
            r1: 60.0,
            sources_per_router: 20.0,
            buffers: Buffers::RttCOverRootN,
            think_ms: 500,
            seconds: 3,
            ..Study::CONDITION_8
        };
        let mut config = study.config("reno", Variant::Paper);
        config.topology.service = Service::Shared;
        config.transport.min_cwnd = min_cwnd;
        config.trace = Some(Trace {
            long_lived: Vec::new(),
            sources: vec![(0, u32::MAX)],
            from: Time::ZERO,
            until: Time::NEVER,
            max: u64::MAX,
        });
        let mut keeper = Keeper::default();
        run(&config, &mut keeper).expect("valid");
        let states = keeper.states.iter();
        let losses = states.filter(|state| state.event == FlowEvent::Decrease);
        losses.map(|state| state.cwnd).fold(f64::MAX, f64::min)
    };
    let [none, one, two] = [0, 1, 2].map(smallest);
    assert!(none < 1.0 && none > 0.0, "{none}");
    assert_eq!((one, two), (1.0, 2.0));
}

#[test]
fn a_server_that_alternates_strictly_idles_in_the_turns_of_an_empty_queue() {
    let [shared, dual, alternating] =
        [Service::Shared, Service::Dual, Service::Alternating].map(time_of_a_window);
    assert_eq!((shared, dual), (20, 20));
    // Between two of the 20 packets there is one turn of the other queue.
    assert_eq!(alternating, 39);
}
