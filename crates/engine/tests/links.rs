//! What links do to packets beside queueing and carrying them, with datagrams whose fate can be told
//! beforehand.

mod common;

use common::{AT_ONCE, add_access, add_datagrams, add_flows, drop_tail, dumbbell, run, tcp};
use longhaul_engine::config::{Recovery, Tcp};
use longhaul_engine::{Change, Config, Distribution, EntranceConfig, Family, Loss, Reordering};
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

fn entrance(config: &mut Config, entrance: EntranceConfig) {
    config.links[0].entrance = Some(Box::new(entrance));
}

fn held_back(probability: f64, delay: Distribution) -> EntranceConfig {
    let reordering = Some(Reordering { probability, delay });
    EntranceConfig {
        reordering,
        ..EntranceConfig::default()
    }
}

#[test]
fn packets_that_are_held_back_arrive_so_much_later() {
    let mut config = datagrams();
    config.links[0].rate = mbps(8_000);
    entrance(&mut config, held_back(1.0, Distribution::constant(7.3e-3)));
    // 1 us of transmission, 5 ms of delay, 7.3 ms at the entrance.
    let expected = [12.301, 12.801, 13.301, 13.801];
    assert_eq!(arrivals_ms(&config, 4), expected);
}

/// Packets come 0.12 ms apart. One that three others overtake looks lost, one that two overtake does
/// not (RFC 6675).
#[test]
fn packets_held_back_for_long_are_repaired_in_vain() {
    for (delay_ms, expected) in [(0.3, 0), (8.0, 1)] {
        let mut config = dumbbell(mbps(100), Span::from_millis(5), drop_tail(10_000), 5);
        let flow = Tcp {
            transfer: Some(400_000),
            initial_window: 40.0,
            ..tcp(Recovery::Sack)
        };
        add_flows(&mut config, "flow", 1, AT_ONCE, flow);
        add_access(&mut config, Span::from_millis(1));
        let delay = Distribution::constant(1e-3 * delay_ms);
        entrance(&mut config, held_back(0.01, delay));
        let (totals, _) = run(&config);
        let flow = &totals.flows[0].total;
        assert_eq!(flow.retransmitted_pkts.min(1), expected, "{flow:?}");
        assert_eq!(flow.delivered_bytes, 400_000);
        assert_eq!(totals.links[0].total.dropped_pkts(), 0);
    }
}

/// Every datagram and every copy arrives, whatever is held back.
#[test]
fn copies_and_packets_held_back_are_conserved() {
    let mut config = datagrams();
    config.links[0].rate = mbps(100);
    config.flows[0].stop = Some(ms(899.9));
    let exponential = Family::Exponential { mean: 2e-3 };
    let both = EntranceConfig {
        duplication: 0.25,
        ..held_back(0.3, Distribution::unlimited(exponential))
    };
    entrance(&mut config, both);
    let (totals, records) = run(&config);
    let (flow, link) = (&totals.flows[0].total, &totals.links[0].total);
    assert_eq!(flow.sent_pkts, 1800);
    // Binomial: 450 with a standard deviation of 18.
    assert!((380..520).contains(&link.duplicated_pkts), "{link:?}");
    assert_eq!(link.arrived_pkts, flow.sent_pkts + link.duplicated_pkts);
    assert_eq!(link.departed_pkts, link.arrived_pkts);
    assert_eq!(flow.delivered_pkts, link.departed_pkts);
    assert_eq!(records.packets.len() as u64, link.departed_pkts);
}
