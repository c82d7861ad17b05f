//! What links do to packets beside queueing and carrying them, with datagrams whose fate can be told
//! beforehand.

mod common;

use common::{add_datagrams, drop_tail, dumbbell, run};
use longhaul_engine::{Change, Config, Loss};
use longhaul_units::{Rate, Span, Time};

fn ms(ms: f64) -> Time {
    Time::from_secs_f64(ms * 1e-3)
}

fn mbps(mbps: u64) -> Rate {
    Rate::from_bps(mbps * 1_000_000)
}

/// One second of datagrams of 1000 B, one every half millisecond, over a link that takes 1 ms for
/// each and delays them by 5 ms.
fn datagrams() -> Config {
    let mut config = dumbbell(mbps(8), Span::from_millis(5), drop_tail(10_000), 1);
    add_datagrams(&mut config, mbps(16));
    config.links[0].captured = true;
    config
}

/// When the first packets arrive at the far end of the first link, in milliseconds.
fn arrivals_ms(config: &Config, count: usize) -> Vec<f64> {
    let (_, records) = run(config);
    let packets = records.packets.iter().take(count);
    packets
        .map(|packet| packet.time.as_secs_f64() * 1e3)
        .collect()
}

fn change(at_ms: f64) -> Change {
    Change {
        at: ms(at_ms),
        rate: None,
        delay: None,
        loss: None,
    }
}

/// A packet in service finishes at the rate that it began with, and none overtakes another.
#[test]
fn rate_and_delay_change_for_packets_whose_service_has_not_begun() {
    let mut config = datagrams();
    config.links[0].changes = vec![
        Change {
            rate: Some(mbps(4)),
            ..change(2.5)
        },
        Change {
            delay: Some(Span::from_millis(1)),
            ..change(9.0)
        },
    ];
    // The third is in service from 2 ms to 3 ms; the next four take 2 ms each, the last of them from
    // 9 ms on. With its delay of 1 ms it would arrive at 12 ms.
    let expected = [6.0, 7.0, 8.0, 10.0, 12.0, 14.0, 14.0, 14.0, 16.0, 18.0];
    assert_eq!(arrivals_ms(&config, 10), expected);
}

#[test]
fn loss_changes_for_packets_that_have_not_arrived() {
    let mut config = datagrams();
    config.links[0].changes = vec![
        Change {
            loss: Some(Loss::Bernoulli(1.0)),
            ..change(10.0)
        },
        Change {
            loss: Some(Loss::List(vec![1])),
            ..change(12.0)
        },
    ];
    let (totals, _) = run(&config);
    // Those sent at 10, 10.5, 11 and 11.5 ms, then the second from 12 ms on.
    assert_eq!(totals.links[0].total.dropped_loss_pkts, 5);
}
