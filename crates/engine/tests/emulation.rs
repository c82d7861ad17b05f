//! Tests of the emulation, with scripted hosts and a clock that jumps ahead. Packets of the hosts must get the
//! network's delays and drops. Flows of the configuration must have the same results as in a simulation.

mod common;

use std::collections::VecDeque;

use common::{AT_ONCE, Records, add_datagrams, add_flows, drop_tail, dumbbell, run, tcp};
use longhaul_engine::config::{Config, Recovery};
use longhaul_engine::emulation::{Ends, Entering, Leaving, Outside, OutsideDrops};
use longhaul_engine::measure::{Recorder, Totals};
use longhaul_engine::simulation;
use longhaul_engine::stack::EcnCodepoint;
use longhaul_units::{Rate, Span, Time};

/// A packet that has crossed the network: its flow, its due time in microseconds, and its bytes.
type Left = (u32, u64, Vec<u8>);

/// Hosts that send packets at given times. The clock jumps to the time of the next packet or event.
#[derive(Default)]
struct Script {
    now: Time,
    packets: VecDeque<(Time, Entering, Vec<u8>)>,
    left: Vec<Left>,
    marked: usize,
    drops: Vec<OutsideDrops>,
}

impl Script {
    /// Adds a packet that a host sends at the time `at`. Flow 0 goes from left to right, flow 1 from right to left.
    fn send(&mut self, at: Span, flow: u32, number: u64, is_pure_ack: bool, bytes: Vec<u8>) {
        let entering = Entering {
            flow,
            number,
            is_pure_ack,
            ecn: EcnCodepoint::Ect0,
        };
        self.packets.push_back((Time::ZERO + at, entering, bytes));
    }
}

impl Outside for Script {
    fn now(&mut self) -> Time {
        self.now
    }

    fn wait(&mut self, until: Time) {
        let next = self.packets.front().map_or(Time::NEVER, |packet| packet.0);
        self.now = self.now.max(until.min(next));
    }

    fn enter(&mut self, now: Time, bytes: &mut Vec<u8>) -> Option<Entering> {
        self.packets.front().filter(|packet| packet.0 <= now)?;
        let (_, entering, content) = self.packets.pop_front()?;
        bytes.extend_from_slice(&content);
        Some(entering)
    }

    fn ends(&self, flow: u32) -> Ends {
        let (from, to) = if flow == 0 { (0, 1) } else { (1, 0) };
        Ends {
            from,
            to,
            name: format!("outside-{flow}"),
        }
    }

    fn leave(&mut self, packet: Leaving<'_>) {
        let us = packet.due.since(Time::ZERO).as_ps() / 1_000_000;
        self.left.push((packet.flow, us, packet.bytes.to_vec()));
        self.marked += usize::from(packet.is_marked);
    }

    fn open_window(&mut self, _: Time, _: &[OutsideDrops]) {}

    fn sample(&mut self, _: Time, _: &mut dyn Recorder) {}

    fn finish(&mut self, _: Time, drops: &[OutsideDrops]) {
        self.drops = drops.to_vec();
    }
}

fn emulate(config: &Config, script: &mut Script) -> (Totals, Records) {
    let mut records = Records::default();
    let totals = simulation::emulate(config, script, &mut records);
    (totals.expect("the configuration is sound"), records)
}

fn path(limit: u64) -> Config {
    let (rate, delay) = (Rate::from_bps(12_000_000), Span::from_millis(20));
    dumbbell(rate, delay, drop_tail(limit), 1)
}

/// Checks that packets leave after their transmission and the link's delay: 1500 bytes take 1 ms at 12 Mbit/s, and the
/// delay is 20 ms.
#[test]
fn packets_leave_when_rate_queue_and_delay_say() {
    let mut script = Script::default();
    for number in 0..5 {
        script.send(
            Span::from_millis(10),
            0,
            number,
            false,
            vec![number as u8 + 1; 1500],
        );
    }
    script.send(Span::from_millis(10), 1, 0, false, vec![9; 750]);
    let (totals, _) = emulate(&path(3), &mut script);
    let forward: Vec<(u64, u8)> = (script.left.iter().filter(|left| left.0 == 0))
        .map(|left| (left.1, left.2[0]))
        .collect();
    // The limit counts the packet in service.
    assert_eq!(forward, [(31_000, 1), (32_000, 2), (33_000, 3)]);
    assert!(script.left.contains(&(1, 30_500, vec![9; 750])));
    assert_eq!(script.drops[0].dropped_pkts, 2);
    assert_eq!(totals.links[0].total.dropped_pkts(), 2);
}

/// Checks that the ACK filter merges four acknowledgements behind a long packet into one. It has the queue position of
/// the first acknowledgement and the bytes of the last one.
#[test]
fn a_link_that_filters_acknowledgements_passes_the_newest_bytes() {
    let mut config = path(100);
    config.links[1].direction.ack_filtering = Some(true);
    let mut script = Script::default();
    let start = Span::from_millis(10);
    script.send(start, 0, 0, false, vec![7; 100]);
    script.send(start, 1, 0, false, vec![1; 1500]);
    for number in 1..=4 {
        script.send(start, 1, number * 1000, true, vec![number as u8 + 1; 52]);
    }
    // A longer packet with SACK blocks is not a pure acknowledgement.
    script.send(start, 1, 4000, false, vec![8; 64]);
    script.send(start, 1, 5000, true, vec![9; 52]);
    emulate(&config, &mut script);
    let contents: Vec<(u8, usize)> = (script.left.iter().filter(|left| left.0 == 1))
        .map(|left| (left.2[0], left.2.len()))
        .collect();
    assert_eq!(contents, [(1, 1500), (5, 52), (8, 64), (9, 52)]);
}

/// Checks that flows and links have the same counters and samples in an emulation without programs as in a simulation.
#[test]
fn flows_of_the_configuration_are_as_simulated() {
    let mut config = path(25);
    config.duration = Time::ZERO + Span::from_secs(5);
    config.measure.from = Time::ZERO + Span::from_secs(1);
    config.measure.every = Some(Span::from_millis(100));
    add_flows(&mut config, "reno", 2, AT_ONCE, tcp(Recovery::RackTlp));
    add_datagrams(&mut config, Rate::from_bps(1_000_000));
    let (simulated, of_simulation) = run(&config);
    let (emulated, of_emulation) = emulate(&config, &mut Script::default());
    assert!(simulated.flows[0].total.retransmitted_pkts > 0);
    assert_eq!(simulated.flows, emulated.flows);
    assert_eq!(simulated.links, emulated.links);
    assert_eq!(of_simulation.flows, of_emulation.flows);
    assert_eq!(of_simulation.links, of_emulation.links);
}
