//! Tests of the opening and closing of request and response connections, packet by packet.

mod common;

use common::{
    AT_ONCE, Records, add_access, add_flows, add_source, delayed_ack, drop_tail, dumbbell, ns2_tcp,
    run, tcp,
};
use longhaul_engine::config::{Fin, Recovery, Source, Tcp, TraceEntry};
use longhaul_engine::measure::{CapturedPacket, Totals};
use longhaul_engine::{Config, Loss};
use longhaul_units::{Rate, Span, Time};
use proptest::prelude::*;

/// Returns a network with one exchange over a link of 10 Mbit/s and 10 ms. The exchange starts at 100 ms, and the
/// server answers 3 ms after the request has arrived.
fn exchange(request_bytes: u64, response_bytes: Option<u64>, tcp: Tcp, seconds: u64) -> Config {
    let rate = Rate::from_bps(10_000_000);
    let mut config = dumbbell(rate, Span::from_millis(10), drop_tail(50), seconds);
    let entry = TraceEntry {
        after: None,
        time: Time::from_secs_f64(0.1),
        request_bytes,
        response_bytes,
        server_delay: Span::from_millis(3),
    };
    add_source(&mut config, "web", Source::Trace([entry].into()), tcp);
    // Packets are captured on links that take no time, where they have reached the other side.
    add_access(&mut config, Span::ZERO);
    for link in &mut config.links[2..] {
        link.rate = Rate::from_bps(1_000_000_000_000);
        link.captured = link.to > 1;
    }
    config
}

/// Returns a connection with segments of 1420 bytes. Its receiver acknowledges every second segment at once, and a
/// single segment after 100 ms.
fn delayed(tcp: Tcp) -> Tcp {
    Tcp {
        mss_bytes: 1420,
        receive_window: 68,
        delayed_ack: Some(delayed_ack(Span::from_millis(100))),
        ..tcp
    }
}

/// A packet that has arrived at the other side: the arrival in seconds, true if sent by the server, the payload in
/// bytes, the sequence number, the acknowledgement number and the flags.
type Seen = (f64, bool, u32, u64, u64, &'static str);

fn seen(packet: &CapturedPacket) -> Seen {
    let flags = match (packet.syn, packet.fin, packet.ack) {
        (true, _, false) => "SYN",
        (true, _, true) => "SYN ACK",
        (_, true, _) => "FIN ACK",
        _ => "ACK",
    };
    (
        packet.time.as_secs_f64(),
        // The flow goes from the server to the client, except for one-way data.
        packet.reverse != packet.opened_by_receiver,
        packet.payload_bytes,
        packet.sequence,
        packet.acknowledgement,
        flags,
    )
}

fn packets(config: &Config) -> Vec<Seen> {
    let (_, Records { packets, .. }) = run(config);
    packets.iter().map(seen).collect()
}

/// Trace of ns-2.35 for one exchange of PackMimeHTTP over Agent/TCP/FullTcp/Newreno. Parameters of the agent:
/// `segsize_` 1420, `segsperack_` 2, `interval_` 0.1, `nodelay_` true, `window_` 68, `windowInit_` 2. The request has
/// 500 bytes, the response 1000, the server's delay is 3 ms, and the duplex link has 10 Mbit/s and 10 ms.
const NS2_SMALL: &[Seen] = &[
    (0.110032, false, 0, 0, 0, "SYN"),
    (0.120064, true, 0, 0, 1, "SYN ACK"),
    (0.130096, false, 0, 1, 1, "ACK"),
    (0.130528, false, 500, 1, 1, "ACK"),
    (0.144360, true, 1000, 1, 501, "FIN ACK"),
    (0.154392, false, 0, 501, 1002, "ACK"),
    (0.154424, false, 0, 501, 1002, "FIN ACK"),
    (0.164456, true, 0, 1002, 502, "ACK"),
];

/// Trace of the exchange of [`NS2_SMALL`] with a response of 10,000 bytes. FullTcp acknowledges every 2840 bytes,
/// Longhaul every second segment (RFC 5681 section 4.2). Longhaul's last packets therefore come 9.32 ms earlier.
const NS2_LARGE: &[Seen] = &[
    (0.110032, false, 0, 0, 0, "SYN"),
    (0.120064, true, 0, 0, 1, "SYN ACK"),
    (0.130096, false, 0, 1, 1, "ACK"),
    (0.130528, false, 500, 1, 1, "ACK"),
    (0.144696, true, 1420, 1, 501, "ACK"),
    (0.145864, true, 1420, 1421, 501, "ACK"),
    (0.155896, false, 0, 501, 2841, "ACK"),
    (0.167064, true, 1420, 2841, 501, "ACK"),
    (0.168232, true, 1420, 4261, 501, "ACK"),
    (0.169400, true, 1420, 5681, 501, "ACK"),
    (0.178264, false, 0, 501, 5681, "ACK"),
    (0.189432, true, 1420, 7101, 501, "ACK"),
    (0.190600, true, 1420, 8521, 501, "ACK"),
    (0.190680, true, 60, 9941, 501, "ACK"),
    (0.199464, false, 0, 501, 8521, "ACK"),
    // Sent by the timer: a full segment and a short one are fewer bytes than two segments.
    (0.210032, false, 0, 501, 10001, "ACK"),
    (0.220064, true, 0, 10001, 501, "FIN ACK"),
    (0.230096, false, 0, 501, 10002, "ACK"),
    (0.230128, false, 0, 501, 10002, "FIN ACK"),
    (0.240160, true, 0, 10002, 502, "ACK"),
];

fn assert_alike(ours: &[Seen], theirs: &[Seen], later: impl Fn(f64) -> f64) {
    assert_eq!(ours.len(), theirs.len(), "{ours:#?}");
    for (ours, theirs) in ours.iter().zip(theirs) {
        let (at, others) = (ours.0, (ours.1, ours.2, ours.3, ours.4, ours.5));
        let expected = (theirs.1, theirs.2, theirs.3, theirs.4, theirs.5);
        assert_eq!(others, expected, "{ours:?}");
        let off = at - theirs.0 - later(theirs.0);
        assert!(off.abs() < 1e-6, "{ours:?} {theirs:?}");
    }
}

#[test]
fn a_small_response_takes_the_packets_of_ns2() {
    let config = exchange(500, Some(1000), delayed(ns2_tcp(Recovery::Ns2NewReno)), 2);
    assert_alike(&packets(&config), NS2_SMALL, |_| 0.0);
}

#[test]
fn a_larger_response_takes_the_packets_of_ns2() {
    let config = exchange(500, Some(10_000), delayed(ns2_tcp(Recovery::Ns2NewReno)), 2);
    let earlier = |at| if at < 0.2 { 0.0 } else { -0.00932 };
    assert_alike(&packets(&config), NS2_LARGE, earlier);
}

/// Checks that the FIN is always a separate segment with `Fin::Alone`, sent once all data is acknowledged. For a small
/// response, this is late: the acknowledgement is delayed by 100 ms.
#[test]
fn a_fin_may_always_be_alone() {
    let alone = |recovery| Tcp {
        fin: Fin::Alone,
        ..delayed(ns2_tcp(recovery))
    };
    let config = exchange(500, Some(1000), alone(Recovery::Ns2NewReno), 2);
    let mut expected = NS2_SMALL[..5].to_vec();
    expected[4].5 = "ACK";
    let acknowledged = 0.144360 + 0.1 + 0.010032;
    expected.extend([
        (acknowledged, false, 0, 501, 1001, "ACK"),
        (acknowledged + 0.010032, true, 0, 1001, 501, "FIN ACK"),
        (acknowledged + 0.020064, false, 0, 501, 1002, "ACK"),
        (acknowledged + 0.020096, false, 0, 501, 1002, "FIN ACK"),
        (acknowledged + 0.030128, true, 0, 1002, 502, "ACK"),
    ]);
    assert_alike(&packets(&config), &expected, |_| 0.0);
    let large = exchange(500, Some(10_000), alone(Recovery::Ns2NewReno), 2);
    let earlier = |at| if at < 0.2 { 0.0 } else { -0.00932 };
    assert_alike(&packets(&large), NS2_LARGE, earlier);
}

/// Checks that the FIN is on the last segment if the application passes all data and then closes (RFC 9293 section
/// 3.6). This segment is acknowledged at once.
#[test]
fn a_fin_leaves_with_the_last_data() {
    let config = exchange(500, Some(10_000), delayed(tcp(Recovery::Sack)), 2);
    let mut expected = NS2_LARGE.to_vec();
    // The last segment, which has an odd number, carries the FIN. Its acknowledgement follows that of the preceding
    // segment.
    expected.truncate(15);
    expected[13].5 = "FIN ACK";
    let at = 0.190680 + 0.010032;
    expected.extend([
        (at, false, 0, 501, 10_002, "ACK"),
        (at + 0.000032, false, 0, 501, 10_002, "FIN ACK"),
        (at + 0.010064, true, 0, 10_002, 502, "ACK"),
    ]);
    assert_alike(&packets(&config), &expected, |_| 0.0);
}

/// The sender of one-way data closes first; the other side sends no data, only its FIN.
#[test]
fn data_one_way_closes_both_ways() {
    let config = exchange(2000, None, tcp(Recovery::Sack), 2);
    let found: Vec<_> = packets(&config)
        .into_iter()
        .map(|(_, from_receiver, bytes, sequence, acknowledged, flags)| {
            (from_receiver, bytes, sequence, acknowledged, flags)
        })
        .collect();
    let expected = [
        (false, 0, 0, 0, "SYN"),
        (true, 0, 0, 1, "SYN ACK"),
        (false, 0, 1, 1, "ACK"),
        (false, 1460, 1, 1, "ACK"),
        (false, 540, 1461, 1, "FIN ACK"),
        (true, 0, 1, 1461, "ACK"),
        (true, 0, 1, 2002, "ACK"),
        (true, 0, 1, 2002, "FIN ACK"),
        (false, 0, 2002, 2, "ACK"),
    ];
    assert_eq!(found, expected);
}

/// Checks that the receiver of a transfer sends its FIN with the acknowledgement of the last segment, and that this FIN
/// is acknowledged. The one-way agents of ns-2 send no FIN.
#[test]
fn a_transfer_closes_both_ways() {
    let flags = |tcp: Tcp| {
        let mut config = exchange(0, None, tcp.clone(), 2);
        config.flows.clear();
        let transfer = Some(2000);
        add_flows(&mut config, "transfer", 1, AT_ONCE, Tcp { transfer, ..tcp });
        (config.flows[0].from, config.flows[0].to) = (2, 3);
        let (totals, records) = run(&config);
        assert_eq!(
            totals.links[0].total.departed_pkts + totals.links[1].total.departed_pkts,
            records.packets.len() as u64
        );
        let packets = records.packets.iter().map(seen);
        let packets = packets.map(|(_, _, bytes, sequence, acknowledged, flags)| {
            (bytes, sequence, acknowledged, flags)
        });
        packets.collect::<Vec<_>>()
    };
    let expected = [
        (0, 0, 0, "SYN"),
        (0, 0, 1, "SYN ACK"),
        (1460, 1, 1, "ACK"),
        (540, 1461, 1, "FIN ACK"),
        (0, 1, 1461, "ACK"),
        (0, 1, 2002, "FIN ACK"),
        (0, 2002, 2, "ACK"),
    ];
    assert_eq!(flags(tcp(Recovery::Sack)), expected);
    assert_eq!(flags(ns2_tcp(Recovery::Ns2Sack)), expected[..6]);
}

fn assert_over(totals: &Totals, records: &Records, bytes: u64) {
    let link = |number: usize| totals.links[number].total;
    for link in [link(0), link(1)] {
        assert_eq!(link.arrived_pkts, link.departed_pkts + link.dropped_pkts());
    }
    let [exchange] = records.exchanges[..] else {
        panic!("{:?}", records.exchanges);
    };
    assert!(exchange.end.is_some(), "{exchange:?}");
    let flow = totals.flows[0].total;
    assert_eq!(flow.delivered_bytes, bytes);
    // FINs, SYNs and acknowledgements do not count as data packets.
    assert!(flow.sent_pkts >= flow.delivered_pkts);
    assert_eq!(
        flow.sent_pkts - flow.retransmitted_pkts,
        flow.delivered_pkts
    );
}

/// Checks that all data arrives and both sides close if one packet is lost once, for each packet of a connection.
#[test]
fn a_connection_closes_whichever_packet_is_lost() {
    for recovery in [
        Recovery::Sack,
        Recovery::RackTlpPrr,
        Recovery::Reno,
        Recovery::Ns2NewReno,
    ] {
        for link in [0, 1] {
            for number in 0..12 {
                let mut config = exchange(500, Some(10_000), delayed(tcp(recovery)), 60);
                config.links[link].direction.loss = Loss::List(vec![number]);
                let (totals, records) = run(&config);
                assert_over(&totals, &records, 10_500);
                let last: Vec<_> = records.packets.iter().rev().take(2).map(seen).collect();
                // The last packet is the acknowledgement of the client's FIN.
                let (_, from_server, bytes, _, acknowledged, flags) = last[0];
                assert_eq!(
                    (from_server, bytes, acknowledged, flags),
                    (true, 0, 502, "ACK"),
                    "{recovery:?} {link} {number} {:#?}",
                    records.packets.iter().map(seen).collect::<Vec<_>>()
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// Checks that every connection closes on both sides, and that all bytes arrive exactly once. No packet is sent
    /// after the last FIN. Any packets may be lost, including control packets and several packets in a row.
    #[test]
    fn every_connection_ends(
        lost in prop::collection::btree_set(0u64..40, 0..12),
        lost_back in prop::collection::btree_set(0u64..40, 0..12),
        request in prop_oneof![Just(100u64), 100u64..20_000],
        response in prop_oneof![Just(None), (1u64..30_000).prop_map(Some)],
        holds_back in any::<bool>(),
        recovery in prop::sample::select(vec![
            Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::RackTlpPrr,
            Recovery::Ns2Reno, Recovery::Ns2NewReno, Recovery::Ns2Sack,
        ]),
        fin in prop::sample::select(vec![Fin::WithData, Fin::WhenQuiet, Fin::Alone]),
    ) {
        let tcp = Tcp { fin, ..tcp(recovery) };
        let tcp = if holds_back { delayed(tcp) } else { tcp };
        // The timeout doubles with each of twelve timeouts in a row, up to a minute.
        let mut config = exchange(request, response, tcp, 2000);
        config.links[0].direction.loss = Loss::List(lost.into_iter().collect());
        config.links[1].direction.loss = Loss::List(lost_back.into_iter().collect());
        let (totals, records) = run(&config);
        assert_over(&totals, &records, request + response.unwrap_or(0));
        let fins: Vec<_> = records.packets.iter().filter(|packet| packet.fin).collect();
        for opened_first in [false, true] {
            let fins = fins.iter().filter(|packet| (packet.reverse == packet.opened_by_receiver) == opened_first);
            prop_assert!(fins.count() > 0);
        }
        let last = records.packets.last().expect("packets");
        prop_assert!(last.time < Time::from_secs_f64(1900.0));
    }
}
