//! Tests of the requests that segments carry to routers, and of the return of the routers' answers.

use std::sync::Arc;

use longhaul_congestion::{Controller, ControllerSpec, Load, Variant};
use longhaul_units::Span;

use super::{ReceiverBench, Sender, SenderBench, delayed_ack, ms, run_to, tcp};
use crate::config::{Recovery, Tcp, Timestamps};
use crate::network::End;
use crate::packet::{Flags, Packet, SackHandle, XcpHeader};
use crate::transport::Env;

fn controller(kind: &str) -> Controller {
    let spec = ControllerSpec {
        kind: kind.to_string(),
        variant: Variant::Paper,
        ..ControllerSpec::default()
    };
    spec.build().expect("it exists")
}

fn loaded(load: Load) -> Flags {
    Flags::NONE.with_load(load)
}

#[test]
fn vcp_asks_with_every_segment_and_not_with_the_syn() {
    let (mut env, path, streams) = super::network(End::TcpReceiver);
    let config = Arc::new(tcp(Recovery::Sack));
    let stream = streams.component("sender");
    let mut sender = Sender::new(0, 0, path, config, &controller("vcp"), stream);
    sender.start(&mut env);
    let syn = run_to(&mut env, ms(100), |_, _| {});
    assert_eq!(syn[0].flags.load(), None);
    sender.on_packet(&super::packet(1, Flags::ACK, ms(0)), &mut env);
    let data = run_to(&mut env, ms(150), |_, _| {});
    assert_eq!(data.len(), 10);
    for packet in &data {
        assert_eq!(packet.flags.load(), Some(Load::Low));
    }
}

#[test]
fn an_acknowledgement_echoes_the_highest_load_that_it_answers() {
    let delayed = Tcp {
        delayed_ack: Some(delayed_ack(Span::from_millis(100))),
        ..tcp(Recovery::Sack)
    };
    let mut bench = ReceiverBench::open_to(delayed, true);
    let mut echo = |at, seq, load| {
        let acks = bench.segment(at, seq, loaded(load));
        acks.first().map(|ack| (ack.seq, ack.flags.load()))
    };
    assert_eq!(echo(10, 1, Load::Over), None);
    assert_eq!(echo(11, 2, Load::Low), Some((3, Some(Load::Over))));
    assert_eq!(echo(12, 3, Load::Low), None);
    assert_eq!(echo(13, 4, Load::High), Some((5, Some(Load::High))));
    // This segment is out of order and is answered at once.
    assert_eq!(echo(14, 6, Load::Low), Some((5, Some(Load::Low))));
}

/// VCP's window follows the echoed load. Low load: 6.25 % growth per interval of 200 ms, thus half of this per round
/// trip of 100 ms. Overload: a reduction by an eighth.
#[test]
fn vcp_follows_the_echo() {
    let mut bench = SenderBench::open(tcp(Recovery::Sack), controller("vcp"));
    let cwnd = |bench: &mut SenderBench, at| bench.sender.sample(ms(at)).cwnd.unwrap();
    bench.ack_with(200, 2, &[], loaded(Load::Low));
    let grown = 10.0 + (1.0625f64.sqrt() - 1.0);
    assert!((cwnd(&mut bench, 200) - grown).abs() < 1e-9);
    bench.ack_with(201, 3, &[], loaded(Load::Over));
    let cut = grown * 0.875;
    assert!((cwnd(&mut bench, 201) - cut).abs() < 1e-9);
    bench.ack_with(202, 4, &[], loaded(Load::Over));
    assert!((cwnd(&mut bench, 202) - cut).abs() < 1e-9, "once");
}

/// The receiver sums up the grants in the headers that routers have processed, and the sender applies the sum over a
/// round trip.
#[test]
fn grants_are_summed_up_and_applied() {
    let delayed = Tcp {
        delayed_ack: Some(delayed_ack(Span::from_millis(100))),
        ..tcp(Recovery::Sack)
    };
    let mut receiver = ReceiverBench::open_to(delayed, true);
    let mut answer = |at, seq, change, granted| {
        let header = XcpHeader {
            change,
            granted,
            ..XcpHeader::default()
        };
        let network = &mut receiver.env.network;
        let sack = network.options.put_header(header, SackHandle::NONE);
        let acks = receiver.segment_with(at, seq, Flags::NONE, sack);
        let ack = *acks.first()?;
        let (header, _) = receiver.env.network.options.take_header(ack.sack);
        assert!(
            header.is_none_or(|header| header.granted),
            "no request of the receiver's"
        );
        header.map(|header| header.change)
    };
    assert_eq!(answer(10, 1, 40_000.0, true), None);
    assert_eq!(answer(11, 2, -10_000.0, true), Some(30_000.0));
    // A header that no router has processed is not feedback.
    answer(12, 3, 1e15, false);
    assert_eq!(answer(13, 4, 1e15, false), None);

    // 30000 bytes per second are 20 packets of 1500 bytes per second. Over a round trip of 100 ms, this is two more
    // packets in flight.
    let mut bench = SenderBench::open(tcp(Recovery::Sack), controller("xcp"));
    let header = XcpHeader {
        change: 30_000.0,
        granted: true,
        ..XcpHeader::default()
    };
    bench.wait(200);
    bench.env.network.now = ms(200);
    let ack = Packet {
        sack: bench
            .env
            .network
            .options
            .put_header(header, SackHandle::NONE),
        ..super::packet(2, Flags::ACK, ms(0))
    };
    bench.sender.on_packet(&ack, &mut bench.env);
    assert!((bench.sender.sample(ms(200)).cwnd.unwrap() - 12.0).abs() < 1e-9);
}

/// XCP's headers contain the round-trip time, the time between two segments and the requested change of the throughput.
/// Ten segments leave in a round trip of 100 ms; each requests a tenth of the change that the sender wants.
#[test]
fn xcp_tells_window_and_round_trip() {
    let mut bench = SenderBench::open(tcp(Recovery::Sack), controller("xcp"));
    let soon = bench.env.network.now + Span::from_micros(1);
    let packets = run_to(&mut bench.env, soon, |_, _| {});
    assert_eq!(packets.len(), 10);
    for packet in packets {
        let (header, _) = bench.env.network.options.take_header(packet.sack);
        let header = header.expect("data packets have one");
        assert!((header.rtt_s - 0.1).abs() < 1e-12 && (header.spacing_s - 0.01).abs() < 1e-12);
        let wanted = (1e12 - 100.0) / 10.0 * 1500.0;
        assert!((header.change / wanted - 1.0).abs() < 1e-12, "{header:?}");
    }
}

/// Checks that routers can lower, but not raise, the congestion window of a flow that the receive window limits.
#[test]
fn routers_lower_a_window_that_is_not_used() {
    let narrow = Tcp {
        receive_window: 5,
        ..tcp(Recovery::Sack)
    };
    let mut bench = SenderBench::open(narrow, controller("vcp"));
    bench.ack_with(200, 2, &[], loaded(Load::Low));
    assert_eq!(bench.sender.sample(ms(200)).cwnd.unwrap(), 10.0);
    bench.ack_with(201, 3, &[], loaded(Load::Over));
    assert_eq!(bench.sender.sample(ms(201)).cwnd.unwrap(), 8.75);
}

/// Checks that packet pair sends new segments only if the window has room for two. The ACKs of a pair are 4 ms apart,
/// and the round-trip time is 100 ms: the window is 25 segments, plus one to be queued (`queued`).
#[test]
fn pairs_leave_together_and_are_timed() {
    let mut bench = SenderBench::open(tcp(Recovery::Sack), controller("packet-pair"));
    assert_eq!(bench.sent(), (0..=10).collect::<Vec<_>>());
    // In slow start, two more segments are sent after the first acknowledgement, and two after the next.
    bench.ack(200, 2, &[]);
    assert_eq!(bench.sent(), [11, 12]);
    bench.ack(204, 3, &[]);
    // There is room for 26 segments, of which ten are in flight.
    assert_eq!(bench.sent(), (13..=28).collect::<Vec<_>>());
    bench.ack(208, 4, &[]);
    assert_eq!(bench.sent(), [], "room for one");
    bench.ack(212, 5, &[]);
    assert_eq!(bench.sent(), [29, 30]);
}

/// Returns a sender with TCP Peach, which may send dummy segments. The sender's SYN has left.
fn probing(config: Tcp) -> (Env, Sender) {
    let (mut env, path, streams) = super::network(End::TcpReceiver);
    let stream = streams.component("sender");
    let mut sender = Sender::new(0, 0, path, Arc::new(config), &controller("peach"), stream);
    let dummies = env.network.path(0, 1, End::DummyReceiver);
    sender.send_dummies_along(dummies.expect("there is a link"));
    sender.start(&mut env);
    (env, sender)
}

/// Checks that the dummy segments of TCP Peach's sudden start leave evenly spaced and are not counted as data, and that
/// their acknowledgements are not counted either.
#[test]
fn dummies_leave_evenly_spaced_and_are_no_data() {
    let narrow = Tcp {
        receive_window: 5,
        ..tcp(Recovery::Sack)
    };
    let (mut env, mut sender) = probing(narrow);
    run_to(&mut env, ms(100), |_, _| {});
    env.network.now = ms(100);
    sender.on_packet(&super::packet(1, Flags::ACK, ms(0)), &mut env);
    let sent = run_to(&mut env, ms(199), |env, _| sender.on_dummy_event(env));
    let is_dummy = |packet: &&Packet| packet.flags.has(Flags::LOW);
    let dummies = sent.iter().filter(is_dummy);
    assert_eq!(sent.len() - dummies.clone().count(), 5);
    // The number of dummies is the window of five minus one. They are copies of the last segment, and they are a fifth
    // of 100 ms apart.
    let dummies: Vec<_> = dummies
        .map(|packet| (packet.stamp, packet.seq, packet.bytes))
        .collect();
    let expected = [120, 140, 160, 180].map(|at| (ms(at), 5, 1500));
    assert_eq!(dummies, expected);
    let before = sender.counters(ms(200));
    for _ in 0..4 {
        sender.on_dummy_ack(&mut env);
    }
    let after = sender.counters(ms(200));
    assert_eq!(sender.sample(ms(200)).cwnd.unwrap(), 14.0, "one each");
    assert_eq!(
        after.sent_pkts, before.sent_pkts,
        "the receive window is full"
    );
    assert_eq!(after.cuts_loss + after.timeouts, 0);
}

/// No dummy segments leave once all data is acknowledged, here the flow's only segment at 150 ms. Of four dummies, due
/// every 20 ms from 120 ms on, two leave.
#[test]
fn no_dummies_leave_when_all_is_acknowledged() {
    let (mut env, mut sender) = probing(Tcp {
        receive_window: 5,
        transfer: Some(1460),
        ..tcp(Recovery::Sack)
    });
    let mut leaving = Vec::new();
    for (at, next) in [(100, 1), (150, 2)] {
        leaving.extend(run_to(&mut env, ms(at), |env, _| {
            sender.on_dummy_event(env)
        }));
        env.network.now = ms(at);
        sender.on_packet(&super::packet(next, Flags::ACK, ms(0)), &mut env);
    }
    assert_eq!(sender.finish(), Some(ms(150)));
    leaving.extend(run_to(&mut env, ms(400), |env, _| {
        sender.on_dummy_event(env)
    }));
    let dummies = leaving.iter().filter(|packet| packet.flags.has(Flags::LOW));
    assert_eq!(
        dummies.map(|packet| packet.stamp).collect::<Vec<_>>(),
        [120, 140].map(ms)
    );
}

/// A lost SYN gives no round-trip sample. Dummy segments are then spread over the timeout of three seconds.
#[test]
fn dummies_are_spaced_before_the_first_round_trip_is_known() {
    let (mut env, mut sender) = probing(Tcp {
        receive_window: 4,
        timestamps: Timestamps::Off,
        ..tcp(Recovery::Sack)
    });
    run_to(&mut env, ms(1000), |env, _| sender.on_timer(env));
    env.network.now = ms(1100);
    sender.on_packet(&super::packet(1, Flags::ACK, ms(0)), &mut env);
    let sent = run_to(&mut env, ms(4099), |env, _| sender.on_dummy_event(env));
    let dummies = sent.iter().filter(|packet| packet.flags.has(Flags::LOW));
    let leaving: Vec<_> = dummies.map(|packet| packet.stamp).collect();
    assert_eq!(leaving, [1850, 2600, 3350].map(ms));
}

#[test]
fn a_dummy_is_answered_and_not_delivered() {
    let mut bench = ReceiverBench::open(tcp(Recovery::Sack));
    bench.segment(10, 1, Flags::NONE);
    let before = bench.receiver.next();
    let network = &mut bench.env.network;
    let path = network.path(0, 1, End::DummySender);
    bench
        .receiver
        .answer_dummies_along(path.expect("there is a link"));
    let dummy = super::packet(7, Flags::LOW, ms(5));
    bench.receiver.on_dummy(&dummy, &mut bench.env);
    let soon = bench.env.network.now + Span::from_micros(1);
    let answers = run_to(&mut bench.env, soon, |_, _| {});
    assert_eq!(answers.len(), 1);
    let answer = answers[0];
    assert_eq!((answer.seq, answer.stamp, answer.bytes), (2, ms(5), 40));
    assert!(answer.flags.has(Flags::LOW) && answer.flags.has(Flags::ACK));
    assert_eq!(bench.receiver.next(), before);
    // The next segment in order is processed as if the dummies had not arrived.
    let acks = bench.segment(11, 2, Flags::NONE);
    assert!(acks.len() == 1 && acks[0].seq == 3 && acks[0].sack.is_none());
}
