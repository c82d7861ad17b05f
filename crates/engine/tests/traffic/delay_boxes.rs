//! Tests of delay boxes that have a separate delay for each connection.

use crate::common::{add_equal_access, add_source, drop_tail, dumbbell, run, tcp};
use crate::{RATE, entry, ms, requests, trace, with};
use longhaul_engine::config::{Distribution, Recovery, Source};
use longhaul_engine::{Config, DelayBox};
use longhaul_units::Span;

fn add_delay_box(config: &mut Config, delay: &Distribution) {
    for link in &mut config.links {
        link.forward_name = "box".to_string();
        link.delay_box = Some(DelayBox {
            delay: Some(delay.clone()),
            symmetric: true,
            ..DelayBox::default()
        });
    }
}

/// Checks that a delay box delays each connection by the value drawn for it. Connections do not overlap, and each
/// crosses the link four times: twice in the handshake, with the request and with the response. At the end of the run,
/// the engine itself checks that delay boxes keep no state of connections.
#[test]
fn every_connection_has_its_own_delay_of_a_box() {
    let entries: Vec<_> = (0..40)
        .map(|number| entry(ms(2000.0 * f64::from(number)), 500, Some(1000)))
        .collect();
    let durations_ms = |delay: Option<Distribution>| {
        let mut config = with(trace(&entries), 82);
        if let Some(delay) = delay {
            add_delay_box(&mut config, &delay);
        }
        let (_, records) = run(&config);
        let durations = records.exchanges.iter().map(|exchange| {
            let end = exchange.end.expect("it is over");
            end.since(exchange.start).as_secs_f64() * 1000.0
        });
        let durations: Vec<f64> = durations.collect();
        assert_eq!(durations.len(), 40);
        durations
    };
    let plain = durations_ms(None)[0];
    let constant = Distribution::Constant(0.05);
    for duration in durations_ms(Some(constant)) {
        assert!((duration - plain - 200.0).abs() < 1e-6, "{duration}");
    }
    let (from, to) = (0.0, 0.1);
    let uniform = Distribution::Uniform(from, to);
    let mut drawn_ms: Vec<f64> = durations_ms(Some(uniform));
    drawn_ms.iter_mut().for_each(|ms| *ms = (*ms - plain) / 4.0);
    drawn_ms.sort_by(f64::total_cmp);
    assert!(drawn_ms[0] >= -1e-6 && drawn_ms[39] < 100.0, "{drawn_ms:?}");
    assert!(
        drawn_ms.windows(2).all(|pair| pair[1] > pair[0]),
        "{drawn_ms:?}"
    );
    // The standard error of the mean is 100/sqrt(12 * 40) = 4.6 ms.
    let mean = drawn_ms.iter().sum::<f64>() / 40.0;
    assert!((mean - 50.0).abs() < 14.0, "{mean}");
}

/// Checks that lookahead does not change results: packets are passed to delay boxes before their arrival times.
#[test]
fn delay_boxes_that_are_entered_ahead_change_nothing() {
    for seed in 1..5 {
        let outcome = |processing_delay: Option<Distribution>| {
            let mut config = dumbbell(RATE, Span::ZERO, drop_tail(8), 60);
            for (name, every_ms) in [("there", 7.0), ("back", 9.0)] {
                let source = Source::Requests(requests(every_ms));
                add_source(&mut config, name, source, tcp(Recovery::Reno));
            }
            let back = &mut config.flows[1];
            (back.from, back.to) = (back.to, back.from);
            add_equal_access(&mut config, Span::ZERO);
            let delay = Distribution::Uniform(0.0, 0.05);
            add_delay_box(&mut config, &delay);
            for link in &mut config.links[2..] {
                link.delay_box = None;
            }
            // With processing delays of ACKs, even of zero, packets enter the boxes on time.
            for link in &mut config.links[..2] {
                link.host_processing_delay.clone_from(&processing_delay);
            }
            config.seed = seed;
            config.measure.every = Some(Span::from_millis(130));
            let (totals, records) = run(&config);
            assert!(totals.links[0].total.dropped_overflow_pkts > 100);
            (totals, records)
        };
        let (mut ahead, records_ahead) = outcome(None);
        let (mut in_turn, records_in_turn) = outcome(Some(Distribution::Constant(0.0)));
        let events = [ahead.events, in_turn.events];
        assert!(events[0] < events[1] * 4 / 5, "{events:?}");
        for totals in [&mut ahead, &mut in_turn] {
            (totals.events, totals.events_pending_max) = (0, 0);
        }
        assert_eq!(ahead, in_turn, "seed {seed}");
        assert_eq!(records_ahead, records_in_turn, "seed {seed}");
    }
}
