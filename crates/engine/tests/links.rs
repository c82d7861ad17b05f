//! Tests of the impairments and changes of links, with datagrams. Their arrivals and losses are computed by hand.

mod common;

use std::sync::Arc;

use common::{AT_ONCE, add_access, add_datagrams, add_flows, drop_tail, dumbbell, run, tcp};
use longhaul_engine::config::{
    AckThinning, DeliveryTrace, DirectionKeys, Distribution, Link, Policer, Recovery, Start, Tcp,
};
use longhaul_engine::{Change, Config, DelayBox, GilbertElliott, Loss, Reordering};
use longhaul_units::{Bytes, Rate, Span, Time};

fn ms(ms: f64) -> Time {
    Time::from_secs_f64(ms * 1e-3)
}

fn mbps(mbps: u64) -> Rate {
    Rate::from_bps(mbps * 1_000_000)
}

/// Returns a network with datagrams of 1000 B, one every half millisecond for a second. The link takes 1 ms to transmit
/// each datagram and has a delay of 5 ms.
fn datagrams() -> Config {
    let mut config = dumbbell(mbps(8), Span::from_millis(5), drop_tail(10_000), 1);
    add_datagrams(&mut config, mbps(16));
    watch_far_end(&mut config);
    config
}

/// Extends the flows to a node behind the first link, over a link that takes no time. Captures at this link show when
/// packets have reached the far end of the first link.
fn watch_far_end(config: &mut Config) {
    config.nodes.push("behind".to_string());
    let behind = config.nodes.len() - 1;
    for (from, to) in [(1, behind), (behind, 1)] {
        config.links.push(Link {
            name: format!("{from}-{to}"),
            from,
            to,
            rate: mbps(1_000_000),
            delay: Span::ZERO,
            captured: to == behind,
            ..config.links[0].clone()
        });
    }
    for flow in &mut config.flows {
        flow.to = behind;
    }
}

/// Returns the arrival times of the first `count` packets at the far end of the first link, in milliseconds.
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

/// Checks that a new rate applies at once, also to the rest of a packet in service. A new delay applies to packets that
/// wait for service, and no packet overtakes another.
#[test]
fn rates_change_at_once_and_delays_for_packets_whose_service_has_not_begun() {
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
    // The third packet is half transmitted after 2.5 ms and takes another millisecond; each following packet takes 2
    // ms, the fourth of them from 9.5 ms on. With its delay of 1 ms, this packet would arrive at 12.5 ms.
    let expected = [6.0, 7.0, 8.5, 10.5, 12.5, 14.5, 14.5, 14.5, 16.5, 18.5];
    assert_eq!(arrivals_ms(&config, 10), expected);
}

/// Returns a network with datagrams of 1000 B, one every half millisecond, at a link of 8 Mbit/s. The link's rate falls
/// to `bps` for 20 ms, and then returns to 8 Mbit/s.
fn with_outage(bps: u64) -> Config {
    let mut config = datagrams();
    let at = |at_ms, bps| Change {
        rate: Some(Rate::from_bps(bps)),
        ..change(at_ms)
    };
    config.links[0].changes = vec![at(2.5, bps), at(22.5, 8_000_000)];
    config
}

/// Checks that a packet in transmission when a link stops, or nearly stops, leaves when the link resumes. The waiting
/// packets follow it.
#[test]
fn a_link_goes_on_where_an_outage_has_stopped_it() {
    let expected = [6.0, 7.0, 28.0, 29.0, 30.0];
    assert_eq!(arrivals_ms(&with_outage(0), 5), expected);
    // At 1 kbit/s, 20 bits are sent during the outage, so that the packet is 2.5 us faster afterwards.
    let slow = arrivals_ms(&with_outage(1000), 5);
    let expected = expected.map(|ms| if ms > 8.0 { ms - 0.0025 } else { ms });
    assert!(
        slow.iter()
            .zip(expected)
            .all(|(found, ms)| (found - ms).abs() < 1e-9),
        "{slow:?}"
    );
}

/// A link that is always busy transmits exactly as much data as its rates allow, in any interval.
#[test]
fn utilisation_is_of_what_the_rates_hold() {
    for bps in [0, 100] {
        for from_ms in [0.0, 2.0, 3.0, 22.4999, 23.0] {
            let mut config = with_outage(bps);
            config.measure.from = ms(from_ms);
            let (totals, _) = run(&config);
            let link = &totals.links[0].window;
            assert_eq!(
                link.transmitted,
                link.capacity(),
                "{bps} bit/s, from {from_ms} ms"
            );
        }
    }
}

#[test]
fn packets_leave_at_the_times_of_a_delivery_trace() {
    let mut config = datagrams();
    // Opportunities of 1504 bytes are at 3, 3 and 10 ms, and then at 13, 13 and 20 ms. Packets of 1000 bytes end in the
    // first, second and third opportunity, and, after 4512 bytes, in the next repetition.
    let trace = DeliveryTrace::new(vec![3, 3, 10], Bytes(1504));
    config.links[0].delivery_trace = Some(Arc::new(trace));
    let expected = [8.0, 8.0, 8.0, 15.0, 18.0, 18.0, 18.0, 25.0, 25.0, 28.0];
    assert_eq!(arrivals_ms(&config, 10), expected);
    let (totals, _) = run(&config);
    let link = &totals.links[0].total;
    assert_eq!(link.transmitted, link.capacity());
}

/// The changes of the delay and of the loss within a period are repeated in the next period. The losses of each period
/// are drawn anew.
#[test]
fn changes_happen_again_after_their_period() {
    let mut config = datagrams();
    let lossy = Change {
        loss: Some(Loss::List(vec![0, 2])),
        ..change(10.0)
    };
    let slow = Change {
        delay: Some(Span::from_millis(7)),
        ..lossy
    };
    let back = Change {
        loss: Some(Loss::None),
        delay: Some(Span::from_millis(5)),
        ..change(12.0)
    };
    config.links[0].changes = vec![slow, back];
    config.links[0].changes_period = Some(Span::from_millis(100));
    let (totals, _) = run(&config);
    // Two packets are lost in each of the ten periods of a second.
    assert_eq!(totals.links[0].total.dropped_loss_pkts, 20);
}

/// The mean queue over arrivals counts the packets that an arriving packet finds waiting. A packet arrives every half
/// millisecond and a service begins every millisecond, so that packet k finds about k/2 packets waiting.
#[test]
fn the_mean_over_arrivals_is_of_what_they_find_waiting() {
    for explicit in [false, true] {
        let mut config = datagrams();
        config.duration = Time::from_secs_f64(1.0);
        if explicit {
            config.links[0].changes = vec![change(1.0)];
        }
        let (totals, _) = run(&config);
        let link = &totals.links[0].total;
        let per_arrival = link.queue_found_pkts as f64 / link.arrived_pkts as f64;
        assert!((per_arrival - 499.5).abs() <= 0.5, "{per_arrival} {link:?}");
    }
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
    // The lost packets are those sent at 10, 10.5, 11 and 11.5 ms, and the second one from 12 ms on.
    assert_eq!(totals.links[0].total.dropped_loss_pkts, 5);
}

fn held_back(probability: f64, delay: Distribution) -> DirectionKeys {
    let reordering = Some(Reordering { probability, delay });
    DirectionKeys {
        reordering,
        ..DirectionKeys::default()
    }
}

#[test]
fn packets_that_are_held_back_arrive_so_much_later() {
    let mut config = datagrams();
    config.links[0].rate = mbps(8_000);
    config.links[0].direction = held_back(1.0, Distribution::Constant(7.3e-3));
    // A packet takes 7.3 ms before the queue, 1 us for its transmission and 5 ms of delay.
    let expected = [12.301, 12.801, 13.301, 13.801];
    assert_eq!(arrivals_ms(&config, 4), expected);
}

/// Checks that packets held back for long enough are retransmitted without need. A packet counts as lost after three
/// later packets, but not after two (RFC 6675).
#[test]
fn packets_held_back_for_long_are_repaired_in_vain() {
    // Packets arrive 0.12 ms apart.
    for (delay_ms, expected) in [(0.3, 0), (8.0, 1)] {
        let mut config = dumbbell(mbps(100), Span::from_millis(5), drop_tail(10_000), 5);
        let flow = Tcp {
            transfer: Some(400_000),
            initial_window: 40.0,
            ..tcp(Recovery::Sack)
        };
        add_flows(&mut config, "flow", 1, AT_ONCE, flow);
        add_access(&mut config, Span::from_millis(1));
        let delay = Distribution::Constant(1e-3 * delay_ms);
        config.links[0].direction = held_back(0.01, delay);
        let (totals, _) = run(&config);
        let flow = &totals.flows[0].total;
        assert_eq!(flow.retransmitted_pkts.min(1), expected, "{flow:?}");
        assert_eq!(flow.delivered_bytes, 400_000);
        assert_eq!(totals.links[0].total.dropped_pkts(), 0);
    }
}

/// Every datagram and every copy of a datagram arrives, even if some of them are held back.
#[test]
fn copies_and_packets_held_back_are_conserved() {
    let mut config = datagrams();
    config.links[0].rate = mbps(100);
    config.flows[0].stop = Some(ms(899.9));
    let exponential = Distribution::Exponential { mean: 2e-3 };
    config.links[0].direction = DirectionKeys {
        duplication: Some(0.25),
        ..held_back(0.3, exponential)
    };
    let (totals, records) = run(&config);
    let (flow, link) = (&totals.flows[0].total, &totals.links[0].total);
    assert_eq!(flow.sent_pkts, 1800);
    // The number is binomial with a mean of 450 and a standard deviation of 18.
    assert!((380..520).contains(&link.duplicated_pkts), "{link:?}");
    assert_eq!(link.arrived_pkts, flow.sent_pkts + link.duplicated_pkts);
    assert_eq!(link.departed_pkts, link.arrived_pkts);
    // The first one of a datagram and its copy is delivered.
    assert_eq!(flow.delivered_pkts, flow.sent_pkts);
    assert_eq!(records.packets.len() as u64, link.departed_pkts);
}

/// Checks that a delay box draws one delay per flow if it is symmetric, and otherwise one for each direction. The
/// transit time of a flow's SYN shows the forward delay. The minimum round-trip time shows the sum of both delays.
#[test]
fn a_flow_keeps_its_delay_and_has_it_both_ways_if_symmetric() {
    for symmetric in [true, false] {
        let mut config = dumbbell(mbps(1000), Span::from_millis(5), drop_tail(10_000), 4);
        add_flows(&mut config, "flow", 2, AT_ONCE, tcp(Recovery::Sack));
        watch_far_end(&mut config);
        for link in &mut config.links[..2] {
            link.forward_name = "there".to_string();
            link.delay_box = Some(DelayBox {
                delay: Some(Distribution::Uniform(0.01, 0.2)),
                symmetric,
                ..DelayBox::default()
            });
        }
        let (totals, records) = run(&config);
        let mut drawn_ms = Vec::new();
        for (flow, counters) in (0..).zip(&totals.flows) {
            let mut packets = records.packets.iter();
            let syn = packets.find(|packet| packet.flow == flow).expect("a SYN");
            let there_ms = syn.time.as_secs_f64() * 1e3 - 5.0;
            let rtt_ms = counters.total.rtt_min.as_secs_f64() * 1e3 - 10.0;
            assert!((10.0..200.1).contains(&there_ms), "{there_ms}");
            // A data segment takes 12 us longer than a SYN, an acknowledgement 0.3 us longer.
            let same = (rtt_ms - 2.0 * there_ms).abs() < 0.02;
            assert_eq!(same, symmetric, "{rtt_ms} ms and {there_ms} ms");
            drawn_ms.push(there_ms);
        }
        assert!((drawn_ms[0] - drawn_ms[1]).abs() > 1.0, "{drawn_ms:?}");
    }
}

/// Checks that a flow is limited to the bottleneck rate drawn for it. The link itself is a hundred times faster.
#[test]
fn a_flow_gets_the_rate_that_was_drawn_for_it() {
    let mut config = dumbbell(mbps(1000), Span::from_millis(5), drop_tail(10_000), 11);
    config.measure.from = ms(1000.0);
    let limited = Tcp {
        receive_window: 50,
        ..tcp(Recovery::Sack)
    };
    add_flows(&mut config, "flow", 3, AT_ONCE, limited);
    config.links[0].delay_box = Some(DelayBox {
        rate: Some(Distribution::Constant(10e6)),
        ..DelayBox::default()
    });
    let (totals, _) = run(&config);
    for flow in &totals.flows {
        // The expected number is that of packets of 1500 B at 10 Mbit/s in 10 s.
        let expected = 10e6 * 10.0 / 12_000.0;
        let delivered = flow.window.delivered_pkts as f64;
        assert!((delivered - expected).abs() <= 1.0, "{delivered} packets");
    }
}

/// Checks that packets leave a link with a tick of 2 ms only at ticks, here two at a time. Without the tick, they would
/// leave at 6, 7, 8 ms and so on.
#[test]
fn ticks_release_packets_together() {
    let mut config = datagrams();
    config.links[0].tick = Some(Span::from_millis(2));
    let expected = [6.0, 8.0, 8.0, 10.0, 10.0, 12.0, 12.0];
    assert_eq!(arrivals_ms(&config, 7), expected);
}

/// Checks that two runs with all impairments give the same results, and that a run with another seed gives different
/// ones.
#[test]
fn runs_repeat() {
    let mut config = dumbbell(mbps(20), Span::from_millis(10), drop_tail(40), 5);
    let start = Start::Uniform(Time::ZERO, ms(500.0));
    add_flows(&mut config, "flow", 3, start, tcp(Recovery::Sack));
    for link in &mut config.links {
        let exponential = Distribution::Exponential { mean: 5e-3 };
        link.delay_box = Some(DelayBox {
            delay: Some(exponential.clone()),
            loss: Some(Distribution::Constant(0.001)),
            ..DelayBox::default()
        });
        link.host_processing_delay = Some(exponential.clone());
        link.direction = DirectionKeys {
            duplication: Some(0.01),
            loss: Loss::GilbertElliott(GilbertElliott::of_bursts(0.001, 3.0)),
            ..held_back(0.01, exponential)
        };
        link.changes = vec![Change {
            rate: Some(mbps(10)),
            ..change(2000.0)
        }];
    }
    let first = run(&config);
    assert!(first == run(&config));
    config.seed += 1;
    assert!(first.0.links != run(&config).0.links);
}

/// Checks that a policer drops packets before they reach the queue. Datagrams of 16 Mbit/s go to a link of 8 Mbit/s
/// behind a policer of 4 Mbit/s. The policer passes its burst and its rate; the queue stays empty. The drops are
/// counted as the policer's.
#[test]
fn a_policer_drops_what_exceeds_its_rate_before_the_queue() {
    let mut config = datagrams();
    config.links[0].direction.policer = Some(Policer {
        rate: mbps(4),
        burst: Bytes(5000),
    });
    assert_eq!(config.links[0].capacity(), mbps(4));
    let (totals, _) = run(&config);
    let link = &totals.links[0].total;
    // A datagram is sent every half millisecond from 0 to 1 s. There are tokens for 5000 bytes at the beginning and for
    // 500,000 bytes in this second.
    let passed = link.arrived_pkts - link.dropped_policed_pkts;
    assert_eq!((link.arrived_pkts, passed), (2001, 505));
    assert_eq!(link.dropped_pkts(), link.dropped_policed_pkts);
    // Six datagrams of the burst reach a link on which the transmission takes twice their spacing.
    assert!(link.queue_max_pkts <= 3, "{link:?}");
}

#[test]
fn jitter_adds_to_the_delay_and_keeps_the_order() {
    let mut config = datagrams();
    config.links[0].rate = mbps(8_000);
    config.links[0].direction.jitter = Some(Distribution::Constant(2e-3));
    // A packet takes 1 us for its transmission, 5 ms of delay and 2 ms of jitter.
    let whole_us = arrivals_ms(&config, 3)
        .into_iter()
        .map(|ms| (ms * 1e3).round());
    assert_eq!(whole_us.collect::<Vec<_>>(), [7001.0, 7501.0, 8001.0]);
    let mean_s = 4e-3;
    config.links[0].direction.jitter = Some(Distribution::Exponential { mean: mean_s });
    let (totals, records) = run(&config);
    let mut last = Time::ZERO;
    let mut added_s = Vec::new();
    for (number, packet) in records.packets.iter().enumerate() {
        assert!(packet.time >= last, "overtaken");
        last = packet.time;
        added_s.push(packet.time.as_secs_f64() - (0.5e-3 * number as f64 + 5.001e-3));
    }
    assert!(added_s.iter().all(|&added_s| added_s > -1e-9));
    // Packets behind one with a long delay wait for it, so that the delay is the maximum over the preceding packets of
    // draw - 0.5 ms * age. P(max <= x) is the product of 1 - exp(-(x + 0.5 ms k)/mean) over k from 0.
    let below = |x_s: f64| -> f64 {
        let one = |k: u32| 1.0 - (-(x_s + 0.5e-3 * f64::from(k)) / mean_s).exp();
        (0..400).map(one).product()
    };
    let step_s = 1e-5;
    let expected: f64 = (0..6000)
        .map(|i| step_s * (1.0 - below(step_s * f64::from(i))))
        .sum();
    let mean = added_s.iter().sum::<f64>() / added_s.len() as f64;
    assert!((mean / expected - 1.0).abs() < 0.1, "{mean} {expected}");
    assert_eq!(totals.links[0].total.dropped_pkts(), 0);
}

/// Checks that ACK thinning forwards every third ACK. The transfer completes without retransmissions, since the last
/// ACK is not dropped.
#[test]
fn thinned_acks_are_fewer_and_nothing_is_retransmitted() {
    let run_with = |keep_every: Option<u32>| {
        let mut config = dumbbell(mbps(10), Span::from_millis(20), drop_tail(1000), 20);
        let transfer = Tcp {
            transfer: Some(2_000_000),
            ..tcp(Recovery::RackTlp)
        };
        add_flows(&mut config, "flow", 1, AT_ONCE, transfer);
        config.links[1].direction.ack_thinning = keep_every.map(|keep_every| AckThinning {
            keep_every,
            hold: Span::from_millis(10),
        });
        let (totals, _) = run(&config);
        let flow = &totals.flows[0];
        assert_eq!(flow.total.retransmitted_pkts + flow.total.timeouts, 0);
        let finish = flow.finish.expect("complete").as_secs_f64();
        (totals.links[1].total, finish)
    };
    let (all, finish) = run_with(None);
    let (thinned, later) = run_with(Some(3));
    assert_eq!(
        thinned.departed_pkts + thinned.dropped_thinned_pkts,
        thinned.arrived_pkts
    );
    assert_eq!(thinned.dropped_pkts(), thinned.dropped_thinned_pkts);
    let kept = thinned.departed_pkts as f64 / thinned.arrived_pkts as f64;
    assert!((kept - 1.0 / 3.0).abs() < 0.02, "{kept} {all:?}");
    assert!(later >= finish && later < finish + 0.5, "{finish} {later}");
}

/// Checks that reordering and ACK thinning on one link do not affect each other: datagrams delayed by a second keep
/// their intervals, although ACKs wait on the same link.
#[test]
fn packets_held_back_leave_on_time_beside_acks_that_wait() {
    let mut config = dumbbell(mbps(1_000_000), Span::from_millis(5), drop_tail(1000), 4);
    config.nodes.push("front".to_string());
    for (from, to) in [(2, 0), (0, 2)] {
        config.links.push(Link {
            name: format!("{from}-{to}"),
            from,
            to,
            captured: to == 2,
            ..config.links[0].clone()
        });
    }
    let back = &mut config.links[1].direction;
    back.reordering = Some(Reordering {
        probability: 1.0,
        delay: Distribution::Constant(1.0),
    });
    back.ack_thinning = Some(AckThinning {
        keep_every: 1000,
        hold: Span::from_millis(20),
    });
    // A datagram is sent every 4 ms.
    add_datagrams(&mut config, mbps(2));
    (config.flows[0].from, config.flows[0].to) = (1, 2);
    add_flows(&mut config, "flow", 1, AT_ONCE, tcp(Recovery::RackTlp));
    config.flows[1].from = 2;
    let (totals, records) = run(&config);
    assert!(totals.links[1].total.dropped_thinned_pkts > 0);
    let datagrams = records.packets.iter().filter(|packet| packet.udp);
    let times: Vec<f64> = datagrams
        .map(|packet| packet.time.as_secs_f64() * 1e3)
        .collect();
    assert!(times.len() > 700);
    let mut gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(gaps.all(|gap| (gap - 4.0).abs() < 1e-3), "{times:?}");
}
