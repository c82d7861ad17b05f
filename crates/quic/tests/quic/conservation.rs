//! Conservation of bytes and datagrams in runs with QUIC flows.

use longhaul_units::Span;

use crate::{first_flow, run, with};

/// A transfer delivers every byte, even if datagrams are lost, duplicated or reordered. Either end
/// may be the client, and the receiver may read data in order or not.
#[test]
fn transfers_are_delivered_whole() {
    for client in ["sender", "receiver"] {
        for ordered in ["true", "false"] {
            let (totals, _) = run(&with(&[
                r#"flows.0.transfer="3 MB""#,
                r#"topology.dumbbell.bottleneck.loss={ bernoulli = 0.01 }"#,
                r#"topology.dumbbell.bottleneck.duplication=0.02"#,
                r#"topology.dumbbell.bottleneck.reordering={ probability = 0.02, delay = "5 ms" }"#,
                r#"duration="60 s""#,
                &format!("flows.0.stack.client={client:?}"),
                &format!("flows.0.stack.ordered={ordered}"),
            ]));
            assert!(totals.run_warnings.is_empty(), "{:?}", totals.run_warnings);
            let flow = first_flow(&totals);
            assert_eq!(flow.delivered_bytes, 3_000_000);
            assert!(totals.flows[0].finish.is_some());
            let link = &totals.links[0].total;
            assert_eq!(flow.sent_pkts + link.duplicated_pkts, link.arrived_pkts);
            assert_eq!(flow.dropped_pkts, link.dropped_pkts());
            // Every packet counted as lost was lost or arrived too late.
            assert!(
                flow.retransmitted_pkts >= flow.dropped_pkts.saturating_sub(link.duplicated_pkts)
            );
        }
    }
}

/// Checks that a late packet is not taken for a packet with another number. Packet numbers of one
/// byte are ambiguous after 128 later packets (RFC 9000 section 17.1 and appendix A), which take
/// 15 ms on this path. A receiver that took a late packet for a later one would acknowledge a packet
/// that has not been sent yet.
#[test]
fn late_packets_are_not_taken_for_others() {
    let (totals, _) = run(&with(&[
        r#"topology.dumbbell.bottleneck.rate="100 Mbps""#,
        r#"topology.dumbbell.bottleneck.delay="2.5 ms""#,
        r#"topology.dumbbell.bottleneck.reordering={ probability = 0.02, delay = "30 ms" }"#,
        r#"flows.0.transfer="5 MB""#,
        r#"flows.0.stack.congestion="bbr""#,
    ]));
    assert!(totals.run_warnings.is_empty(), "{:?}", totals.run_warnings);
    let flow = first_flow(&totals);
    assert_eq!(flow.delivered_bytes, 5_000_000);
    assert!(flow.rtt_min >= Span::from_millis(5));
}

/// A connection that is unfinished at the end of the run has delivered fewer bytes than it sent. The
/// packets that are neither delivered nor dropped fit into the path.
#[test]
fn unlimited_sources_deliver_less_than_they_send() {
    let (totals, _) = run(&with(&[]));
    let (flow, link) = (first_flow(&totals), &totals.links[0].total);
    assert!(flow.delivered_bytes < flow.sent_bytes);
    assert_eq!(flow.sent_pkts, link.arrived_pkts);
    let waiting = link.arrived_pkts - link.dropped_pkts() - link.departed_pkts;
    let travelling = link.departed_pkts - flow.delivered_pkts;
    // At most a bandwidth-delay product waits, and at most half of one is on the way to the
    // receiver.
    assert!(waiting <= 35 && travelling <= 18, "{waiting} {travelling}");
}

/// Checks that an unlimited source fills its path. Its goodput is the rate of the path less headers: 95.8 % with
/// packets of 1480 bytes.
#[test]
fn an_unlimited_source_fills_its_path() {
    let (totals, _) = run(&with(&[r#"measure.from="3 s""#]));
    let goodput_bps = totals.flows[0].window.delivered_bytes as f64 * 8.0 / 7.0;
    assert!((9.4e6..9.62e6).contains(&goodput_bps), "{goodput_bps}");
}
