//! Recorded packets look like those of real ends: everything that they acknowledge or echo has been sent.

mod common;

use std::collections::{HashMap, HashSet};

use common::{AT_ONCE, Records, add_flows, add_source, delayed_ack, drop_tail, dumbbell, run, tcp};
use longhaul_engine::config::{
    Binding, Distribution, Process, Recovery, Requests, Source, Tcp, Timestamps,
};
use longhaul_engine::measure::CapturedPacket;
use longhaul_engine::{Config, Loss};
use longhaul_units::{Rate, Span, Time};

/// Returns a network with short and long connections, with or without losses.
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

/// A connection, and one of its ends.
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

/// Without losses between the two links everything that is acknowledged has been recorded.
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

/// The end with the request opens the connection; for web traffic, this is the node to which the responses go.
#[test]
fn the_end_that_asks_has_opened_the_connection() {
    for packet in &recorded(0.0).packets {
        assert_eq!(packet.opened_by_receiver, packet.flow == 2);
        if packet.syn && !packet.ack {
            assert_eq!(packet.reverse, packet.flow == 2, "{packet:?}");
        }
    }
}
