//! Tests of a sender with the profile `linux`, without a network or a receiver. Each table states, in segments,
//! the behaviour that packetdrill's script of the same name checks in a kernel
//! (<https://github.com/google/packetdrill>, `gtests/net/tcp`). The tables are our own work.

mod script;
mod single;
mod table;

use std::sync::Arc;

use longhaul_congestion::{ControllerSpec, SlowStartSpec, Variant};
use longhaul_keys::{Profile, Table as Keys, Value};
use longhaul_units::{Span, Time};

use self::table::{Event, Leaving, Settings, Step, Table};
use super::{network, packet, run_to};
use crate::config::{Ecn, IdleRestart, Pacing, Recovery, Tcp, Timestamps};
use crate::network::End;
use crate::packet::{Flags, Packet, SackBlocks};
use crate::schedule;
use crate::transport::Env;
use crate::transport::tcp::Sender;

/// packetdrill's tolerance of differences in time.
const TOLERANCE: Span = Span::from_millis(4);

/// Maximum delay of segments that leave in answer to an event.
const AT_ONCE: Span = Span::from_micros(1);

/// Returns the sender's parameters: those of the profile `linux`, changed by `settings`, and without timestamps.
fn options(settings: &Settings) -> Tcp {
    let pacing = Pacing {
        min_burst: settings.burst,
        ..Pacing::of(&Keys::defaults(Pacing::KEYS, Profile::Linux))
    };
    let keys = Keys::defaults(Tcp::KEYS, Profile::Linux)
        .with(Tcp::receive_window, Value::Whole(settings.window as i64));
    let recovery = if settings.sack {
        Recovery::RackTlpPrr
    } else {
        Recovery::NewReno
    };
    let congestion = ControllerSpec {
        kind: "cubic".to_string(),
        variant: Variant::Linux6_18,
        ..ControllerSpec::default()
    };
    let slow_start = SlowStartSpec {
        kind: "hystart".to_string(),
        parameters: Vec::new(),
    };
    let slow_start = slow_start.build().expect("a registered slow start");
    Tcp {
        ecn: if settings.ecn { Ecn::Classic } else { Ecn::Off },
        timestamps: Timestamps::Off,
        pacing: settings.pacing.then_some(pacing),
        idle_restart: if settings.restarts {
            IdleRestart::Halved
        } else {
            IdleRestart::None
        },
        ..Tcp::of(
            &keys,
            None,
            settings.segment,
            congestion,
            slow_start,
            recovery,
        )
    }
}

/// A sender that a test drives step by step.
struct Driver {
    sender: Sender,
    env: Env,
    /// Segments that have left and have not been checked yet.
    sent: Vec<Packet>,
    /// Time at which the latest step was due.
    due: Time,
    /// True if a step fails when unexpected segments leave. If false, the driver only checks that the expected segments
    /// leave in order, within `TOLERANCE`, as packetdrill does.
    strict: bool,
}

impl Driver {
    /// Opens a connection; returns its driver.
    fn open(settings: &Settings, strict: bool) -> Self {
        let tcp = options(settings);
        let (env, path, streams) = network(End::TcpReceiver);
        let controller = tcp.congestion.build().expect("a registered algorithm");
        let stream = streams.component("sender");
        let mut driver = Self {
            sender: Sender::new(0, 0, path, Arc::new(tcp), &controller, stream),
            env,
            sent: Vec::new(),
            due: Time::ZERO + ms(settings.handshake),
            strict,
        };
        driver.sender.begin_empty();
        driver.sender.start(&mut driver.env);
        driver.wait(driver.due);
        driver.ack(0, &[], false);
        driver.wait(driver.due + AT_ONCE);
        driver.sent.clear();
        driver
    }

    /// Lets time pass until `at`.
    fn wait(&mut self, at: Time) {
        if at <= self.env.network.now {
            return;
        }
        let sender = &mut self.sender;
        let sent = run_to(&mut self.env, at, |env, event| match event {
            schedule::Event::Send(_) => sender.on_send_event(env),
            schedule::Event::RackTlpTimer(_) => sender.on_rack_tlp_timer(env),
            schedule::Event::RetransmissionTimer(_) => sender.on_timer(env),
            other => unreachable!("{other:?}"),
        });
        self.sent.extend(sent);
    }

    /// Waits until `count` segments have left, but no longer than `TOLERANCE` after `at`.
    fn wait_for(&mut self, count: usize, at: Time) {
        while self.sent.len() < count && self.env.network.now < at + TOLERANCE {
            self.wait(self.env.network.now + Span::from_micros(100));
        }
    }

    fn ack(&mut self, acked: u64, blocks: &[(u64, u64)], ece: bool) {
        let mut sack = SackBlocks::default();
        blocks.iter().for_each(|&block| sack.push(block));
        let next = acked + 1;
        let packet = Packet {
            sack: self.env.network.options.put(&sack, next),
            ..packet(next, Flags::ACK.with_if(Flags::ECE, ece), Time::ZERO)
        };
        self.sender.on_packet(&packet, &mut self.env);
    }

    /// Carries out a step. Returns an error with the first difference from the expected segments or state.
    fn step(&mut self, step: &Step) -> Result<(), String> {
        self.due += ms(step.delay);
        self.wait(self.due);
        let before = self.sent.len();
        match &step.event {
            None => {}
            Some(Event::Write(bytes)) => {
                self.sender.append(*bytes, &mut self.env);
            }
            Some(Event::Close) => self.sender.send_fin(&mut self.env),
            Some(Event::Ack { acked, sack, ece }) => {
                let blocks: Vec<_> = sack
                    .iter()
                    .map(|range| (*range.start(), range.end() + 1))
                    .collect();
                self.ack(*acked, &blocks, *ece);
            }
        }
        self.wait(self.env.network.now + AT_ONCE);
        self.check_leaving(step, before)?;
        let info = self.sender.info();
        match step.state.iter().find_map(|fact| fact.differs(&info)) {
            Some(difference) => Err(difference),
            None => Ok(()),
        }
    }

    /// Checks the segments that leave at a step; `early` unchecked segments had left before the step.
    fn check_leaving(&mut self, step: &Step, early: usize) -> Result<(), String> {
        let expected = match &step.leaving {
            Leaving::Unchecked => {
                self.sent.clear();
                return Ok(());
            }
            Leaving::Exactly(expected) => expected,
        };
        self.wait_for(expected.len(), self.due);
        let checked = match self.strict {
            true => self.sent.len(),
            false => expected.len().min(self.sent.len()),
        };
        let left: Vec<Packet> = self.sent.drain(..checked).collect();
        let segments: Vec<u64> = left.iter().map(|packet| packet.seq).collect();
        let own_time = |packet: &&Packet| packet.stamp + TOLERANCE >= self.due;
        if segments != *expected {
            let when = left.first().map(|packet| packet.stamp);
            return Err(format!(
                "{segments:?} left, at {when:?}, expected {expected:?} at {:?}",
                self.due
            ));
        }
        match left.iter().take(early).find(|packet| !own_time(packet)) {
            Some(packet) => Err(format!(
                "{} left at {:?}, expected at {:?}",
                packet.seq, packet.stamp, self.due
            )),
            None => Ok(()),
        }
    }
}

fn ms(ms: f64) -> Span {
    Span::from_secs_f64(ms / 1e3)
}

/// Runs all steps of a table. Returns an error with the first difference from the expected segments or state.
fn run(table: &Table, strict: bool) -> Result<(), String> {
    let mut driver = Driver::open(&table.settings, strict);
    for step in &table.steps {
        driver
            .step(step)
            .map_err(|difference| format!("{}: {}: {difference}", table.name, step.line))?;
    }
    Ok(())
}

const TABLES: &[&str] = &[
    include_str!("tables/slow_start.txt"),
    include_str!("tables/cubic.txt"),
    include_str!("tables/recovery.txt"),
    include_str!("tables/scoreboard.txt"),
];

#[test]
fn a_sender_does_what_packetdrills_scripts_expect() {
    let tables = TABLES.iter().flat_map(|text| Table::read_all(text));
    let differences: Vec<String> = tables.filter_map(|table| run(&table, true).err()).collect();
    assert!(differences.is_empty(), "{}\n", differences.join("\n"));
}

/// Runs packetdrill's scripts in the folder `PACKETDRILL`. Prints the scripts that the sender passes, the differences
/// in failed ones, and the scripts that are not run.
#[test]
#[ignore = "needs packetdrill's scripts"]
fn packetdrill() {
    let folder = std::env::var("PACKETDRILL").expect("PACKETDRILL: a folder of .pkt files");
    let (mut passed, mut failed, mut not_run) = (0, 0, 0);
    for (name, text) in script::all_below(std::path::Path::new(&folder)) {
        match script::read(&name, &text) {
            Err(reason) => {
                not_run += 1;
                eprintln!("{name}: not run: {reason}");
            }
            Ok(table) => match run(&table, false) {
                Ok(()) => {
                    passed += 1;
                    let unseen = table.not_looked_at.join(", ");
                    let unseen = if unseen.is_empty() {
                        unseen
                    } else {
                        format!(", but for {unseen}")
                    };
                    eprintln!("{name}: passes{unseen}");
                }
                Err(difference) => {
                    failed += 1;
                    eprintln!("{difference}");
                }
            },
        }
    }
    eprintln!("{passed} pass, {failed} differ, {not_run} not run");
    assert!(passed + failed + not_run > 0, "no scripts below {folder}");
}
