//! Recorded packets look like packets of real hosts: everything that a packet acknowledges or echoes has been sent
//! before.

mod common;

use std::collections::{HashMap, HashSet};

use common::{AT_ONCE, Records, add_flows, add_source, delayed_ack, drop_tail, dumbbell, run, tcp};
use longhaul_engine::config::{
    AckThinning, Binding, Distribution, Ecn, Policer, Process, Recovery, Requests, Source, Tcp,
    Timestamps,
};
use longhaul_engine::measure::CapturedPacket;
use longhaul_engine::{Config, Loss};
use longhaul_units::{Bytes, Rate, Span, Time};

/// Returns a network with short and long connections. `loss` is the loss rate, zero for no losses.
fn config(loss: f64) -> Config {
    let limit = if loss > 0.0 { 40 } else { 100_000 };
    let mut config = dumbbell(
        Rate::from_bps(10_000_000),
        Span::from_millis(10),
        drop_tail(limit),
        10,
    );
    let with_stamps = Tcp {
        timestamps: Timestamps::Standard(12),
        delayed_ack: Some(delayed_ack(Span::from_millis(100))),
        ..tcp(Recovery::Sack)
    };
    add_flows(&mut config, "long", 2, AT_ONCE, with_stamps.clone());
    let requests = Requests {
        arrivals: Process::Independent(Distribution::Exponential { mean: 0.05 }),
        request: Process::Independent(Distribution::Uniform(100.0, 3000.0)),
        response: Process::Independent(Distribution::BoundedPareto {
            min: 700.0,
            max: 200_000.0,
            shape: 1.1,
        }),
        binding: Binding::WithRequest,
        server_delay: Distribution::Constant(0.0),
        round_trip: Process::Independent(Distribution::Constant(0.0)),
        per_connection: Distribution::Constant(2.0),
        think: Distribution::Constant(0.01),
    };
    let source = Source::Requests(requests);
    add_source(&mut config, "web", source, with_stamps);
    for link in &mut config.links[..2] {
        link.captured = true;
        link.direction.loss = Loss::Bernoulli(loss);
    }
    config
}

/// Identifier of an endpoint of a connection: the numbers of the flow and of the connection, and true for the endpoint
/// that sends packets in the reverse direction.
type Host = (u32, u32, bool);

fn sender(packet: &CapturedPacket) -> Host {
    (packet.flow, packet.connection, packet.reverse)
}

fn receiver(packet: &CapturedPacket) -> Host {
    (packet.flow, packet.connection, !packet.reverse)
}

fn recorded(loss: f64) -> Records {
    let (_, records) = run(&config(loss));
    assert!(records.packets.len() > 5000);
    assert!(records.packets.iter().any(|packet| packet.flow == 2));
    records
}

#[test]
fn time_stamps_that_are_echoed_have_been_sent() {
    let packets = recorded(0.01).packets;
    let mut sent = HashMap::<Host, HashSet<Time>>::new();
    let mut newest = HashMap::<Host, Time>::new();
    let (mut echoes, mut unseen) = (0, 0);
    for packet in &packets {
        let (value, echo) = packet.timestamps.expect("the option is in use");
        assert!(value <= packet.time, "recorded when it is sent: {packet:?}");
        let newest = newest.entry(sender(packet)).or_default();
        assert!(value >= *newest, "the clock goes back: {packet:?}");
        *newest = value;
        sent.entry(sender(packet)).or_default().insert(value);
        if packet.syn && !packet.ack {
            assert_eq!(echo, Time::ZERO, "nothing to echo: {packet:?}");
        } else {
            echoes += 1;
            let known = sent.get(&receiver(packet));
            unseen += usize::from(!known.is_some_and(|known| known.contains(&echo)));
        }
    }
    assert_eq!((unseen, echoes > 5000), (0, true));
}

/// Without losses, every byte that a recorded packet acknowledges is in a packet recorded before it.
#[test]
fn nothing_is_acknowledged_before_it_is_sent() {
    let packets = recorded(0.0).packets;
    let mut end = HashMap::<Host, u64>::new();
    for packet in &packets {
        let after = packet.sequence
            + u64::from(packet.payload_bytes)
            + u64::from(packet.syn)
            + u64::from(packet.fin);
        let sent = end.entry(sender(packet)).or_default();
        assert!(packet.sequence <= *sent, "a gap: {packet:?}, {sent}");
        *sent = after.max(*sent);
        if packet.ack {
            let sent = end.get(&receiver(packet)).copied().unwrap_or(0);
            assert!(packet.acknowledgement <= sent, "{packet:?}, {sent}");
        }
    }
}

/// Checks that the endpoint that sends the request opens the connection. For web traffic, this is the receiver of the
/// responses.
#[test]
fn the_end_that_asks_has_opened_the_connection() {
    for packet in &recorded(0.0).packets {
        assert_eq!(packet.opened_by_receiver, packet.flow == 2);
        if packet.syn && !packet.ack {
            assert_eq!(packet.reverse, packet.flow == 2, "{packet:?}");
        }
    }
}

/// The handshakes negotiate the ECN variant that the connection uses. RFC 3168 section 6.1.1: a SYN requests ECN with
/// the flags ECE and CWR, and the answer agrees with ECE. RFC 9768 section 3.1.1: a SYN requests AccECN with AE, CWR
/// and ECE, and the answer to an unmarked SYN has CWR alone; later segments and ACKs count marks from 5 on.
#[test]
fn handshakes_ask_for_the_ecn_that_is_in_use() {
    let flags = |ecn| {
        let mut config = dumbbell(
            Rate::from_bps(10_000_000),
            Span::from_millis(10),
            drop_tail(100),
            1,
        );
        let with_ecn = Tcp {
            ecn,
            ..tcp(Recovery::Sack)
        };
        add_flows(&mut config, "flow", 1, AT_ONCE, with_ecn);
        for link in &mut config.links {
            link.captured = true;
        }
        let packets = run(&config).1.packets;
        let first = |syn, ack, reverse| {
            let found = packets
                .iter()
                .find(|packet| (packet.syn, packet.ack, packet.reverse) == (syn, ack, reverse));
            found.map(|packet| [packet.ae, packet.cwr, packet.ece].map(u8::from))
        };
        [
            first(true, false, false),
            first(true, true, true),
            first(false, true, false),
            first(false, true, true),
        ]
    };
    let none = Some([0, 0, 0]);
    assert_eq!(flags(Ecn::Off), [none; 4]);
    assert_eq!(
        flags(Ecn::Classic),
        [Some([0, 1, 1]), Some([0, 0, 1]), none, none]
    );
    let five = Some([1, 0, 1]);
    assert_eq!(
        flags(Ecn::Accurate),
        [Some([1, 1, 1]), Some([0, 1, 0]), five, five]
    );
}

/// Checks that packets are recorded when they arrive at a link, before its impairments apply. Packets dropped by the
/// policer are recorded as dropped; ACKs dropped by ACK thinning are recorded as having arrived.
#[test]
fn packets_are_recorded_at_the_link_whose_impairments_they_meet() {
    let mut config = config(0.0);
    let [there, back] = &mut config.links[..] else {
        panic!("two links")
    };
    there.direction.policer = Some(Policer {
        rate: Rate::from_bps(5_000_000),
        burst: Bytes(30_000),
    });
    back.direction.ack_thinning = Some(AckThinning {
        keep_every: 2,
        hold: Span::from_millis(10),
    });
    let (totals, records) = run(&config);
    for (link, reason) in [(0, "policed"), (1, "thinned")] {
        let total = totals.links[link].total;
        let of_link = |packet: &&CapturedPacket| packet.interface as usize == link;
        let packets = records.packets.iter().filter(of_link);
        let dropped = packets.clone().filter(|packet| packet.dropped).count() as u64;
        assert_eq!(packets.count() as u64, total.arrived_pkts, "{reason}");
        let [policed, thinned] = [total.dropped_policed_pkts, total.dropped_thinned_pkts];
        assert_eq!(dropped, policed, "{reason}");
        let expected = if link == 0 { policed } else { thinned };
        assert!(expected > 100, "{expected} {reason}");
    }
}
