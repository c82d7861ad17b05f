//! Sources, receivers and classes in a run: NIST SP 500-282, chapter 3.

use longhaul_congestion::Variant;
use longhaul_mesonet::config::{Config, Jumbo};
use longhaul_mesonet::records::FlowClass;
use longhaul_mesonet::run;
use longhaul_units::Time;

use crate::network::{Study, route};
use crate::records::Keeper;

/// Returns a network of fast routers and short files; many flows end soon.
fn quiet(seconds: u64) -> Config {
    let study = Study {
        r1: 12_000.0,
        source_shares: [0.1, 0.6, 0.3],
        receiver_shares: [0.8, 0.1, 0.1],
        think_ms: 500,
        file_mean: 4.0,
        seconds,
        ..Study::CONDITION_8
    };
    let mut config = study.config("reno", Variant::Paper);
    config.measure.flow_log = true;
    config
}

/// Checks that the percentages of the flow classes follow from the selection of receivers.
#[test]
fn classes_have_the_shares_that_follow_from_the_choice_of_receivers() {
    let mut keeper = Keeper::default();
    run(&quiet(8), &mut keeper).expect("valid");
    let expected = [
        (FlowClass::Dd, 0.09),
        (FlowClass::Df, 1.4),
        (FlowClass::Dn, 6.0),
        (FlowClass::Ff, 5.3),
        (FlowClass::Fn, 56.0),
        (FlowClass::Nn, 31.2),
    ];
    let flows = keeper.flows.len() as f64;
    assert!(flows > 1e5);
    for (class, percent) in expected {
        let found = keeper
            .flows
            .iter()
            .filter(|flow| flow.class == class)
            .count() as f64;
        let share: f64 = percent / 100.0;
        let error = 4.0 * libm::sqrt(share / flows) + 0.0006;
        assert!(
            (found / flows - share).abs() < error,
            "{class:?}: {}",
            found / flows
        );
    }
    assert!(keeper.intervals.iter().all(|kept| kept.no_receivers == 0));
    // No flow has both ends below one backbone router, so that 19 points of presence and direct
    // routers are not passed.
    let topology = &quiet(1).topology;
    for flow in &keeper.flows {
        let domain = |access: u32| topology.access[access as usize].router.name.as_bytes()[0];
        assert_ne!(domain(flow.from), domain(flow.to));
    }
}

/// Checks the duration of a handshake, and of one round trip of data, in an almost empty network: the delays of the
/// links on the path, plus a few service times and packet intervals.
#[test]
fn connections_take_a_round_trip() {
    let config = quiet(2);
    let mut keeper = Keeper::default();
    run(&config, &mut keeper).expect("valid");
    let topology = &config.topology;
    let backbone =
        |access: u32| (topology.access[access as usize].router.name.as_bytes()[0] - b'A') as usize;
    let mut short = 0;
    for flow in keeper.flows.iter().filter(|flow| flow.syns == 1) {
        let (from, to) = (backbone(flow.from), backbone(flow.to));
        let trip = (route(topology, from, to).0 + route(topology, to, from).0) as f64 / 1e3;
        let connected = flow
            .connected
            .expect("connected")
            .since(flow.start)
            .as_secs_f64();
        // At most 0.125 ms at the receiver's host, and less than 0.2 ms in routers.
        assert!(
            (trip..trip + 0.000_4).contains(&connected),
            "{connected} for {trip}"
        );
        if flow.size_pkts <= 2 {
            short += 1;
            let transfer = flow
                .end
                .since(flow.connected.expect("connected"))
                .as_secs_f64();
            assert!(
                (trip..trip + 0.000_7).contains(&transfer),
                "{transfer} for {trip}"
            );
        }
    }
    assert!(short > 1000);
}

/// Checks that a flow transfers a jumbo file if both its access routers are direct and it connects in the period of
/// jumbo files. Flows that end before this period have the same records as in a run without jumbo files.
#[test]
fn jumbos_are_those_that_are_connected_in_their_period() {
    let mut config = quiet(4);
    let mut plain = Keeper::default();
    run(&config, &mut plain).expect("valid");
    let (from, until) = (Time::from_secs_f64(1.0), Time::from_secs_f64(2.0));
    config.files.jumbo = Some(Jumbo {
        from,
        until,
        factor: 100,
        web_factor: 1000, // All files here are Web objects.
    });
    let mut keeper = Keeper::default();
    run(&config, &mut keeper).expect("valid");
    let smallest = 2; // 4 (1.5 - 1) / 1.5 rounded up.
    let mut jumbos = 0;
    for flow in &keeper.flows {
        let connected = flow.connected.expect("connected");
        let is_jumbo = flow.class == FlowClass::Dd && connected >= from && connected < until;
        jumbos += u32::from(is_jumbo);
        if is_jumbo {
            assert!(flow.size_pkts >= 1000 * smallest && flow.size_pkts % 1000 == 0);
        }
    }
    assert!(jumbos > 0);
    let before = |keeper: &Keeper| {
        let early = keeper.flows.iter().filter(|flow| flow.end < from);
        early.copied().collect::<Vec<_>>()
    };
    assert_eq!(before(&plain), before(&keeper));
}
