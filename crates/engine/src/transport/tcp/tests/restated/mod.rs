//! Differential tests of loss recovery. Each algorithm is implemented a second time, directly from its source, with
//! sets of segments and loops over all segments in flight. Both implementations process the same random events. Their
//! segments, windows, timers, counters and calls of the congestion control must be equal.

mod common;
mod measures;
mod rack;
mod receiver;
mod sack;
mod windows;

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

use longhaul_congestion::{
    AckSample, Congestion, CongestionControl, Controller, Extension, Needs, Phase, Phases, Timeout,
    Window, restart,
};
use longhaul_units::{Span, Time};

use self::common::{Algorithm, Connection, Report, Rule, exceeds_tolerance};
use super::{SenderBench, ms, packet, reno, run_to, tcp};
use crate::config::{AckCounting, Ecn, Recovery, Tcp, Timestamps};
use crate::packet::{Flags, Packet, SackBlocks};
use crate::schedule::Event;

/// Number of random connections for each loss recovery algorithm. Five congestion control algorithms take turns.
const LIVES: u64 = 60;
/// Number of steps of each connection.
const STEPS: usize = 150;
/// The shortest round-trip time.
const TRIP: Span = Span::from_millis(80);

/// Standard TCP that records the calls that it receives.
#[derive(Clone, Debug)]
struct Notes {
    told: Arc<Mutex<Vec<String>>>,
    algorithm: Algorithm,
}

impl Notes {
    fn add(&self, note: String) {
        self.told.lock().expect("one thread").push(note);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.lock().expect("one thread"))
    }
}

impl CongestionControl for Notes {
    fn phases(&self) -> Phases {
        if self.algorithm == Algorithm::Controlling {
            Phases::All
        } else {
            Phases::Avoidance
        }
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.add(format!("{phase:?} {ack:?}"));
        if phase == Phase::Avoidance {
            window.grow(ack.credit / window.cwnd());
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.add(format!("{event:?}"));
        window.reduce_to(event.base / 2.0);
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.add(format!("{event:?}"));
        restart(event, window);
    }

    fn on_recovery_exit(&mut self, now: Time, _: &mut Window) {
        self.add(format!("exit {now:?}"));
    }

    fn needs(&self) -> Needs {
        if self.algorithm == Algorithm::Measuring {
            Needs {
                delivery_rate: true,
                ..Needs::RTT
            }
        } else {
            Needs::default()
        }
    }

    fn extension(&mut self) -> Option<&mut dyn Extension> {
        Some(self)
    }
}

impl Extension for Notes {
    fn answers_losses(&mut self, delivered: u64, lost: u64) -> bool {
        self.algorithm != Algorithm::Tolerant || exceeds_tolerance(delivered, lost)
    }
}

/// Random number generator (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % n
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }
}

/// The network and the receiving end: the segments under way, and the segments that have arrived.
struct Far {
    under_way: VecDeque<Packet>,
    next: u64,
    beyond: BTreeSet<u64>,
    /// Out-of-order segments in the order of arrival.
    latest: Vec<u64>,
    /// Timestamp of the last segment that arrived in order (RFC 7323 section 4.3).
    stamp: Time,
    /// True while acknowledgements echo a mark. The echo ends when the sender reports a reduction of its window (RFC
    /// 3168 section 6.1.3).
    echoes: bool,
}

impl Far {
    fn receive(&mut self, packet: &Packet, mark: bool) {
        if packet.flags.has(Flags::CWR) {
            self.echoes = false;
        }
        self.echoes |= mark && packet.flags.has(Flags::ECT);
        if packet.seq <= self.next {
            self.stamp = packet.stamp;
        }
        if packet.seq >= self.next {
            self.beyond.insert(packet.seq);
            self.latest.push(packet.seq);
        }
        while self.beyond.remove(&self.next) {
            self.next += 1;
        }
    }

    /// Returns up to three SACK blocks, the most recently changed first (RFC 2018 section 4).
    fn blocks(&self) -> Vec<(u64, u64)> {
        let mut blocks = Vec::new();
        for &segment in self.latest.iter().rev().take(60) {
            if self.beyond.contains(&segment) {
                let has = |other: &u64| self.beyond.contains(other);
                let left = (0..=segment).rev().take_while(has).last();
                let right = (segment..).take_while(has).last();
                let block = (left.expect("itself"), right.expect("itself") + 1);
                if !blocks.contains(&block) {
                    blocks.push(block);
                }
            }
        }
        blocks.truncate(3);
        blocks
    }

    fn report(&self, recovery: Recovery) -> Report {
        Report {
            next: self.next,
            blocks: if recovery.uses_sack() {
                self.blocks()
            } else {
                Vec::new()
            },
            stamp: self.stamp,
            echoes: self.echoes,
        }
    }
}

/// The sender under test and a second implementation, which must agree. `R` is the loss recovery of the second
/// implementation.
struct Twins<R> {
    bench: SenderBench,
    notes: Notes,
    connection: Connection,
    rule: R,
    label: String,
}

impl<R: Rule> Twins<R> {
    /// Lets time pass; returns the packets sent.
    fn wait(&mut self, at: Time) -> Vec<Packet> {
        let sender = &mut self.bench.sender;
        let sent = run_to(&mut self.bench.env, at, |env, event| match event {
            Event::Send(_) => sender.on_send_event(env),
            Event::RackTlpTimer(_) => sender.on_rack_tlp_timer(env),
            Event::RetransmissionTimer(_) => sender.on_timer(env),
            other => unreachable!("{other:?}"),
        });
        self.connection.run(&mut self.rule, at);
        let seen = |packet: &Packet| (packet.stamp, packet.seq, packet.flags);
        let found: Vec<_> = sent.iter().map(seen).collect();
        let expected = std::mem::take(&mut self.connection.sent);
        assert_eq!(found, expected, "{} until {at:?}", self.label);
        self.compare(at);
        sent
    }

    fn acknowledge(&mut self, at: Time, report: &Report) {
        let mut blocks = SackBlocks::default();
        report.blocks.iter().for_each(|&block| blocks.push(block));
        let flags = Flags::ACK.with_if(Flags::ECE, report.echoes);
        let packet = Packet {
            sack: self.bench.env.network.options.put(&blocks, report.next),
            ..packet(report.next, flags, report.stamp)
        };
        self.bench.env.network.now = at;
        self.bench.sender.on_packet(&packet, &mut self.bench.env);
        self.connection.acknowledge(&mut self.rule, report);
        self.compare(at);
    }

    fn compare(&mut self, at: Time) {
        let (bench, connection) = (&mut self.bench, &mut self.connection);
        let label = format!("{} at {at:?}", self.label);
        let found = bench.sender.sample(at);
        let expected = connection.sample(&self.rule);
        assert_eq!(found, expected, "{label}");
        assert_eq!(bench.sender.counters(at), connection.counters(), "{label}");
        let due = bench.sender.due(&bench.env.network.schedule);
        assert_eq!(due, connection.due(&self.rule), "{label}");
        let told = std::mem::take(&mut connection.told);
        if connection.algorithm != Algorithm::Standard {
            assert_eq!(self.notes.take(), told, "{label}");
        }
    }
}

/// Checks a recovery against its restated rule on many random connections.
#[track_caller]
fn assert_follows<R: Rule>(recovery: Recovery, rule: impl Fn(&Tcp) -> R) {
    for life in 0..LIVES {
        let mut random = Random(0x9e37_79b9 * (life + 1));
        let config = drawn(recovery, &mut random);
        let algorithm = Algorithm::ALL[life as usize % Algorithm::ALL.len()];
        let notes = Notes {
            told: Arc::default(),
            algorithm,
        };
        let controller = if algorithm == Algorithm::Standard {
            reno()
        } else {
            Controller::Custom(Box::new(notes.clone()))
        };
        let mut rule = rule(&config);
        let twins = Twins {
            bench: SenderBench::open(config.clone(), controller),
            connection: Connection::open(&config, algorithm, &mut rule),
            rule,
            label: format!("{recovery:?}, {algorithm:?}, life {life}"),
            notes,
        };
        // The handshake is not compared.
        twins.notes.take();
        live(twins, recovery, &mut random);
    }
}

/// Draws a random configuration.
fn drawn(recovery: Recovery, random: &mut Random) -> Tcp {
    let limit = |slow_start_limit| AckCounting::PerSegment { slow_start_limit };
    let counting = [AckCounting::PerAck, limit(2.0), AckCounting::Delivered];
    Tcp {
        receive_window: random.one_of(&[100_000, 100_000, 25, 8]),
        transfer: random.one_of(&[None, None, Some(300 * 1460 - 1)]),
        dupack_threshold: random.one_of(&[3, 3, 3, 5]),
        limited_transmit: random.below(3) > 0,
        ack_counting: random.one_of(&counting),
        ecn: random.one_of(&[Ecn::Off, Ecn::Classic]),
        timestamps: random.one_of(&[Timestamps::Off, Timestamps::Standard(12)]),
        initial_ssthresh: random.one_of(&[None, Some(14.5)]),
        ..tcp(recovery)
    }
}

/// Compares both implementations on a random connection. Segments and acknowledgements may be lost or late.
fn live<R: Rule>(mut twins: Twins<R>, recovery: Recovery, random: &mut Random) {
    let mut far = Far {
        under_way: VecDeque::new(),
        next: 1,
        beyond: BTreeSet::new(),
        latest: Vec::new(),
        stamp: Time::ZERO,
        echoes: false,
    };
    let mut now = ms(100);
    let mut older = far.report(recovery);
    let dangers = random.one_of(&[0, 1, 1, 3]);
    for _ in 0..STEPS {
        let long = random.below(60) < dangers;
        let gap = if long { 2_500_000 } else { 14_000 };
        // With round numbers, timers would expire at the same times as packets arrive.
        now +=
            Span::from_ps(random.below(1_000_000)) + Span::from_micros(1_000 + random.below(gap));
        far.under_way.extend(twins.wait(now));
        let due = |packet: &&Packet| packet.stamp + TRIP <= now;
        let ready = far.under_way.iter().take_while(due).count() as u64;
        if ready == 0 {
            continue;
        }
        match random.below(24) {
            0..2 if dangers > 0 => {
                let lost = 1 + random.below(ready.min(8 * dangers));
                far.under_way.drain(..lost as usize);
                continue;
            }
            2..4 if ready > 2 => {
                let late = far.under_way.remove(0).expect("some are ready");
                far.under_way
                    .insert(1 + random.below(ready - 1) as usize, late);
            }
            _ => {}
        }
        let count = 1 + random.below(ready.min(3));
        let marks = random.below(25) == 0;
        for packet in far.under_way.drain(..count as usize).collect::<Vec<_>>() {
            far.receive(&packet, marks);
            if random.below(3) > 0 {
                twins.acknowledge(now, &far.report(recovery));
            }
        }
        if random.below(10) > 0 {
            twins.acknowledge(now, &far.report(recovery));
        }
        if random.below(30) == 0 {
            twins.acknowledge(now, &older);
            older = far.report(recovery);
        }
        if twins.bench.sender.finish().is_some() {
            return;
        }
    }
}
