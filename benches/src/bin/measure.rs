//! Simulates a scenario in this process, for profilers, and to compare two states of the engine.
//!
//! `measure FILE [KEY=VALUE...]` prints the least processor time of a data packet over some repetitions, without
//! any records; with `--once`, of a single one; with `--hash` instead a number that changes if any record or total
//! does.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::ExitCode;

use longhaul_benches::processor_time_s;
use longhaul_engine::measure::{
    AckTrace, CapturedPacket, Control, DataPackets, Event, Exchange, FlowSample, LinkSample,
    NoRecorder, ProxySample, Recorder, Totals,
};
use longhaul_engine::{Config, simulation};
use longhaul_units::Time;

/// A hash of all that it is told.
#[derive(Default)]
struct Fingerprint(DefaultHasher);

impl Fingerprint {
    fn take(&mut self, record: &impl std::fmt::Debug) {
        format!("{record:?}").hash(&mut self.0);
    }
}

impl Recorder for Fingerprint {
    fn flow_sample(&mut self, sample: &FlowSample) {
        self.take(sample);
    }

    fn link_sample(&mut self, sample: &LinkSample) {
        self.take(sample);
    }

    fn proxy_sample(&mut self, sample: &ProxySample) {
        self.take(sample);
    }

    fn event(&mut self, event: &Event) {
        self.take(event);
    }

    fn trace(&mut self, sample: &AckTrace) {
        self.take(sample);
    }

    fn exchange(&mut self, exchange: &Exchange) {
        self.take(exchange);
    }

    fn packet(&mut self, packet: &CapturedPacket) {
        self.take(packet);
    }

    fn progress(&mut self, _: Time, _: DataPackets<'_>) -> Control {
        Control::Continue
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (options, arguments): (Vec<String>, Vec<String>) =
        (arguments.into_iter()).partition(|argument| argument.starts_with("--"));
    let Some((file, settings)) = arguments.split_first() else {
        eprintln!("measure: [--once | --hash] FILE [KEY=VALUE...]");
        return ExitCode::from(2);
    };
    let scenario = match longhaul_scenario::load(Path::new(file), settings) {
        Ok(scenario) => scenario,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    match options.first().map(String::as_str) {
        Some("--hash") => print_hash(scenario.config()),
        Some("--once") => print_time(scenario.config(), 1),
        _ => print_time(scenario.config(), 5),
    }
    ExitCode::SUCCESS
}

fn print_hash(config: &Config) {
    let mut recorder = Fingerprint::default();
    let totals = simulated(config, &mut recorder);
    let (packets, events) = (totals.data_packets, totals.events);
    // How much is pending is a matter of how far links work ahead.
    recorder.take(&Totals {
        events: 0,
        events_pending_max: 0,
        ..totals
    });
    let hash = recorder.0.finish();
    println!("{hash:016x} {packets} data packets, {events} events");
}

fn print_time(config: &Config, rounds: u32) {
    let mut least_s = f64::INFINITY;
    let mut packets = 0;
    for _ in 0..rounds {
        let began_s = processor_time_s();
        packets = simulated(config, &mut NoRecorder).data_packets;
        least_s = least_s.min(processor_time_s() - began_s);
    }
    let each_ns = least_s * 1e9 / packets as f64;
    println!("{each_ns:.1} ns a data packet, {packets} in {least_s:.3} s");
}

fn simulated(config: &Config, recorder: &mut dyn Recorder) -> Totals {
    match simulation::run(config, recorder) {
        Ok(totals) => totals,
        Err(error) => panic!("{error}"),
    }
}
