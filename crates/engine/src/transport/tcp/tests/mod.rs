//! Test benches for one end of a connection, driven step by step. Tests compare its packets with traces computed by
//! hand.

mod dctcp;
mod delayed_acks;
mod facts;
mod linux;
mod messages;
mod pacing;
mod recovery;
mod regular;
mod restated;
mod round_trips;
mod routers;
mod scoreboard;
mod tolerated_losses;
mod undo;

use std::sync::Arc;

use longhaul_congestion::{Controller, ControllerSpec, SlowStart};
use longhaul_keys::{Profile, Table, Value};
use longhaul_units::{Rate, Span, Time};

use super::{Receiver, Sender};
use crate::config::{
    AckCounting, Clock, Config, DelayedAck, Ecn, Link, Measure, Randomness, Recovery, Tcp,
    Timestamps,
};
use crate::network::{End, Network, Path};
use crate::packet::{Flags, Packet, SackBlocks, SackHandle};
use crate::queue::{Capacity, Counting, DropTail, QueueConfig};
use crate::random::Streams;
use crate::schedule::Event;
use crate::transport::{Env, EventLog, FlowDelays};

/// Returns the configuration of a connection with an initial window of ten 1500-byte packets, immediate
/// acknowledgements, and no ECN.
fn tcp(recovery: Recovery) -> Tcp {
    let rfc =
        Table::defaults(Tcp::KEYS, Profile::Rfc).with(Tcp::receive_window, Value::Whole(100_000));
    let (congestion, slow_start) = (ControllerSpec::default(), SlowStart::Standard);
    let rfc = Tcp::of(&rfc, None, 1460, congestion, slow_start, recovery);
    Tcp {
        ack_counting: AckCounting::PerAck,
        ecn: Ecn::Off,
        delayed_ack: None,
        timestamps: Timestamps::Off,
        ..rfc
    }
}

/// Returns the configuration of delayed ACKs: every second segment is acknowledged at once, and others after `timeout`.
fn delayed_ack(timeout: Span) -> DelayedAck {
    DelayedAck {
        timeout,
        segments: 2,
        delays_syn: false,
        quick: 0,
        push: false,
    }
}

/// Returns standard congestion control (Reno).
fn reno() -> Controller {
    controller("reno")
}

/// Returns the registered algorithm of this name, with its default parameters.
fn controller(kind: &str) -> Controller {
    let spec = ControllerSpec {
        kind: kind.to_string(),
        ..ControllerSpec::default()
    };
    spec.build().expect("a registered algorithm")
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Returns a network of one link, so fast that every packet sent arrives at once at `end`.
fn network(end: End) -> (Env, Path, Streams) {
    let queue = QueueConfig::DropTail(DropTail {
        counting: Counting::InService,
        ..DropTail::new(Capacity::Packets(1_000_000))
    });
    let carries = (Rate::from_bps(1_000_000_000_000), Span::ZERO);
    let link = Link::plain("link".to_string(), (0, 1), carries, queue);
    let config = Config {
        seed: 1,
        replication: 0,
        duration: ms(1_000_000),
        clock: Clock::Exact,
        randomness: Randomness::Streams,
        measure: Measure {
            from: Time::ZERO,
            every: None,
            events: false,
            delays: false,
            stop: None,
        },
        nodes: vec!["here".to_string(), "there".to_string()],
        captured_nodes: Vec::new(),
        links: vec![link],
        flows: Vec::new(),
        proxies: Vec::new(),
    };
    let streams = Streams::new(config.seed, config.replication, config.randomness);
    let mut network = Network::new(&config, &streams);
    let path = network.path(0, 1, end).expect("there is a link");
    let log = EventLog {
        traced: Vec::new(),
        enabled: false,
        pending: Vec::new(),
    };
    let delays = FlowDelays::default();
    let env = Env {
        network,
        log,
        delays,
    };
    (env, path, streams)
}

/// Processes events until `at`; returns the packets sent by then.
fn run_to(env: &mut Env, at: Time, mut timer: impl FnMut(&mut Env, Event)) -> Vec<Packet> {
    let mut sent = Vec::new();
    let mut arrived = Packet::NONE;
    env.network.schedule.push_observation(at, Event::End);
    loop {
        let (now, event) = env.network.schedule.next();
        env.network.now = now;
        match event {
            Event::End => return sent,
            Event::Arrival(link) => {
                while env.network.forward(link, now, &mut arrived).is_some() {
                    sent.push(arrived);
                }
                env.network.finish_arrivals(link);
            }
            other => timer(env, other),
        }
    }
}

/// A sender. The test creates its acknowledgements.
struct SenderBench {
    sender: Sender,
    env: Env,
    sent: Vec<(u64, u64)>,
}

impl SenderBench {
    /// Returns the bench of a connection that was opened at 100 ms, after a round trip of 100 ms.
    fn open(tcp: Tcp, controller: Controller) -> Self {
        Self::open_with(tcp, controller, |_| {})
    }

    /// Opens a connection as [`Self::open`] does, but its application has nothing to send yet.
    fn open_empty(tcp: Tcp, controller: Controller) -> Self {
        Self::open_with(tcp, controller, Sender::begin_empty)
    }

    fn open_with(tcp: Tcp, controller: Controller, prepare: impl Fn(&mut Sender)) -> Self {
        let mut bench = Self::dial(tcp, controller, prepare);
        bench.ack(100, 1, &[]);
        bench
    }

    /// Creates a connection, calls `prepare` on its sender, and sends the SYN. Returns the connection's bench.
    fn dial(tcp: Tcp, controller: Controller, prepare: impl Fn(&mut Sender)) -> Self {
        let (env, path, streams) = network(End::TcpReceiver);
        let stream = streams.component("sender");
        let mut bench = Self {
            sender: Sender::new(0, 0, path, Arc::new(tcp), &controller, stream),
            env,
            sent: Vec::new(),
        };
        prepare(&mut bench.sender);
        bench.sender.start(&mut bench.env);
        bench
    }

    /// Lets time pass until `at`, in milliseconds.
    fn wait(&mut self, at: u64) {
        let sender = &mut self.sender;
        let sent = run_to(&mut self.env, ms(at), |env, event| match event {
            Event::Send(_) => sender.on_send_event(env),
            Event::RackTlpTimer(_) => sender.on_rack_tlp_timer(env),
            Event::RetransmissionTimer(_) => sender.on_timer(env),
            Event::Dummy(_) => sender.on_dummy_event(env),
            other => unreachable!("{other:?}"),
        });
        let whole_ms = |packet: &Packet| (packet.stamp.as_ps() / 1_000_000_000, packet.seq);
        self.sent.extend(sent.iter().map(whole_ms));
    }

    /// Delivers an acknowledgement at `at` milliseconds.
    fn ack(&mut self, at: u64, next: u64, blocks: &[(u64, u64)]) {
        self.ack_with(at, next, blocks, Flags::NONE);
    }

    fn ack_with(&mut self, at: u64, next: u64, blocks: &[(u64, u64)], flags: Flags) {
        let mut sack = SackBlocks::default();
        blocks.iter().for_each(|&block| sack.push(block));
        self.ack_report(at, next, sack, flags);
    }

    fn ack_report(&mut self, at: u64, next: u64, sack: SackBlocks, flags: Flags) {
        self.wait(at);
        self.env.network.now = ms(at);
        let packet = self.packet_with(next, sack, flags);
        self.sender.on_packet(&packet, &mut self.env);
    }

    /// Returns an acknowledgement of `next` with these SACK blocks and flags.
    fn packet_with(&mut self, next: u64, sack: SackBlocks, flags: Flags) -> Packet {
        Packet {
            sack: self.env.network.options.put(&sack, next),
            ..packet(next, Flags::ACK.with(flags), Time::ZERO)
        }
    }

    /// Returns the number and the send time, in milliseconds, of each segment sent since the last call.
    fn sent_when(&mut self) -> Vec<(u64, u64)> {
        let soon = self.env.network.now + Span::from_micros(1);
        let packets = run_to(&mut self.env, soon, |_, event| {
            unreachable!("{event:?} within a microsecond")
        });
        let whole_ms = |packet: &Packet| (packet.stamp.as_ps() / 1_000_000_000, packet.seq);
        self.sent.extend(packets.iter().map(whole_ms));
        std::mem::take(&mut self.sent)
    }

    /// Returns the segments sent since the last call.
    fn sent(&mut self) -> Vec<u64> {
        self.sent_when().iter().map(|&(_, seq)| seq).collect()
    }
}

/// A receiver. The test creates its segments.
struct ReceiverBench {
    receiver: Receiver,
    env: Env,
}

impl ReceiverBench {
    /// Returns the bench of a receiver that has answered the SYN.
    fn open(tcp: Tcp) -> Self {
        Self::open_to(tcp, false)
    }

    /// Returns a test bench with a receiver that has answered the SYN. `asks_routers` is true if the sender sends
    /// requests to routers.
    fn open_to(tcp: Tcp, asks_routers: bool) -> Self {
        let (env, path, _) = network(End::TcpSender);
        let mut bench = Self {
            receiver: Receiver::new(0, path, Arc::new(tcp), asks_routers),
            env,
        };
        bench.segment(0, 0, Flags::SYN);
        bench
    }

    /// Delivers a segment at `at` milliseconds, sent at time zero. Returns the acknowledgements that have left since
    /// the last call, including the answer to this segment.
    fn segment(&mut self, at: u64, seq: u64, flags: Flags) -> Vec<Packet> {
        self.segment_with(at, seq, flags, SackHandle::NONE)
    }

    /// Delivers a segment as [`Self::segment`] does, with options such as a header for routers.
    fn segment_with(&mut self, at: u64, seq: u64, flags: Flags, sack: SackHandle) -> Vec<Packet> {
        let receiver = &mut self.receiver;
        let timer = |env: &mut Env, _| receiver.on_timer(env);
        let mut sent = run_to(&mut self.env, ms(at), timer);
        let segment = Packet {
            time: ms(at),
            sack,
            ..packet(seq, flags, Time::ZERO)
        };
        receiver.on_segment(&segment, &mut self.env);
        let soon = self.env.network.now + Span::from_micros(1);
        sent.extend(run_to(&mut self.env, soon, |_, event| {
            unreachable!("{event:?} within a microsecond")
        }));
        sent
    }
}

fn packet(seq: u64, flags: Flags, stamp: Time) -> Packet {
    Packet {
        time: Time::ZERO,
        ns2_s: 0.0,
        seq,
        stamp,
        flow: 0,
        route: 0,
        sack: SackHandle::NONE,
        bytes: 1500,
        flags,
    }
}
