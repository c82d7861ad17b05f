//! Tests that processing events ahead of time does not change the results.

use crate::common::{
    AT_ONCE, add_access, add_flows, add_own_access, add_source, drop_tail, dumbbell, results, run,
    serve_explicitly, tcp,
};
use crate::{DELAY, RATE, entry, ms, requests, trace, with};
use longhaul_engine::config::{
    Distribution, Link, Process, Randomness, Recovery, Requests, Source, StopRule, Tcp,
};
use longhaul_engine::measure::NoRecorder;
use longhaul_engine::{DelayBox, simulation};
use longhaul_units::{Span, Time};

/// Checks that lookahead does not change the results of a network with a source that opens connections. The second run
/// has no lookahead, since its links use `Service::Explicit`.
#[test]
fn looking_ahead_changes_nothing() {
    let mut config = dumbbell(RATE, DELAY, drop_tail(30), 20);
    let bulk = Tcp {
        receive_window: 12,
        ..tcp(Recovery::Sack)
    };
    add_flows(&mut config, "bulk", 2, AT_ONCE, bulk);
    add_source(
        &mut config,
        "web",
        Source::Requests(requests(50.0)),
        tcp(Recovery::Sack),
    );
    add_access(&mut config, Span::from_millis(2));
    let ahead = results(&config);
    serve_explicitly(&mut config);
    // The records are not printed if they differ.
    assert!(ahead == results(&config));
    assert!(ahead.exchanges.len() > 300);
}

/// Checks that progress reports do not change the results, although the times of reports depend on the wall clock.
#[test]
fn whether_progress_is_asked_for_changes_nothing() {
    let config = with(trace(&[entry(Time::ZERO, 100, Some(20_000_000))]), 20);
    let (asked, records) = run(&config);
    assert!(records.data_packets > 10_000);
    assert_eq!(simulation::run(&config, &mut NoRecorder).unwrap(), asked);
}

/// Checks that forwarding packets ahead of time does not change the results.
#[test]
fn working_ahead_changes_nothing_however_a_run_ends() {
    for (seed, (stops, boxed)) in
        (1..7).zip([(false, false), (true, false), (true, true)].repeat(2))
    {
        let far = Requests {
            round_trip: Process::Independent(Distribution::Exponential { mean: 0.03 }),
            ..requests(15.0)
        };
        let near = Requests {
            per_connection: Distribution::Constant(3.0),
            think: Distribution::Uniform(0.0, 0.05),
            ..requests(40.0)
        };
        let mut config = with(Source::Requests(far), 12);
        add_source(
            &mut config,
            "near",
            Source::Requests(near),
            tcp(Recovery::Sack),
        );
        add_own_access(&mut config, Span::from_millis(3));
        config.seed = seed;
        config.measure.from = ms(2000.0);
        config.measure.every = Some(Span::from_millis(70));
        if stops {
            config.measure.stop = Some(StopRule {
                exchanges: 900 + 31 * seed,
                flows: vec![0, 1],
                p99_above: None,
                longest_above: None,
                start_within: None,
            });
        }
        if boxed {
            config.links[0].delay_box = Some(DelayBox {
                delay: Some(Distribution::Uniform(0.0, 0.02)),
                loss: Some(Distribution::Uniform(0.0, 0.02)),
                ..DelayBox::default()
            });
        }
        let mut on_time = config.clone();
        on_time
            .links
            .iter_mut()
            .for_each(|link| link.captured = true);
        let ((mut one, _), (mut two, _)) = (run(&config), run(&on_time));
        assert!(
            one.events < two.events * 3 / 4,
            "{} {}",
            one.events,
            two.events
        );
        assert_eq!(one.end < ms(12_000.0), stops);
        for totals in [&mut one, &mut two] {
            totals.events = 0;
            totals.events_pending_max = 0;
        }
        assert_eq!(one, two);
        let (one, mut two) = (results(&config), results(&on_time));
        two.packets.clear();
        assert_eq!(one, two);
    }
}

/// Checks that senders with random draws are not simulated ahead of one another. ns-2 has a single random number
/// generator, and senders draw from it in the order of sending.
#[test]
fn senders_draw_from_one_generator_in_their_turn() {
    let mut config = dumbbell(RATE, DELAY, drop_tail(30), 10);
    config.randomness = Randomness::Ns2;
    let jittered = Tcp {
        send_jitter: Span::from_millis(1),
        ..tcp(Recovery::Sack)
    };
    add_flows(&mut config, "flow", 3, AT_ONCE, jittered);
    add_own_access(&mut config, Span::from_millis(3));
    let ahead = results(&config);
    serve_explicitly(&mut config);
    assert!(ahead == results(&config));
}

/// Checks that lookahead changes no results at a node where some packets reach endpoints with delays, and others pass
/// through to the next link. Only the packets for these endpoints are delivered ahead of time.
#[test]
fn packets_that_pass_ends_with_delays_keep_their_turn() {
    let delayed = |every_ms| {
        Source::Requests(Requests {
            round_trip: Process::Independent(Distribution::Uniform(0.01, 0.1)),
            ..requests(every_ms)
        })
    };
    let mut config = with(delayed(60.0), 8);
    add_source(&mut config, "passing", delayed(60.0), tcp(Recovery::Sack));
    add_flows(&mut config, "beside", 2, AT_ONCE, tcp(Recovery::Sack));
    let far = config.nodes.len();
    config.nodes.push("far".to_string());
    for (name, from, to) in [("on", 1, far), ("from far", far, 1)] {
        let link = Link {
            name: name.to_string(),
            from,
            to,
            rate: RATE,
            ..config.links[0].clone()
        };
        config.links.push(link);
    }
    for (flow, from) in [(1, 0), (2, 1), (3, 1)] {
        (config.flows[flow].from, config.flows[flow].to) = (from, far);
    }
    let mut on_time = config.clone();
    on_time
        .links
        .iter_mut()
        .for_each(|link| link.captured = true);
    let (ahead, mut on_time) = (results(&config), results(&on_time));
    on_time.packets.clear();
    assert_eq!(ahead, on_time);
}
