//! Simulates a scenario in this process, for profilers and for comparisons of two versions of the engine.
//!
//! `measure FILE [KEY=VALUE...]` runs the simulation five times without records, and prints the smallest processor
//! time per data packet. With `--once` it runs the simulation once. With `--hash` it prints instead a hash of all
//! records and totals.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::ExitCode;

use longhaul_benches::processor_time_s;
use longhaul_engine::measure::{
    AckTrace, CapturedPacket, Control, DataPackets, Event, Exchange, FlowSample, LinkSample,
    NoRecorder, ProxySample, Recorder, Totals,
};
use longhaul_engine::simulation;
use longhaul_mesonet::records as mesonet;
use longhaul_scenario::Simulation;
use longhaul_units::Time;

/// A hash of all records that it receives.
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

impl mesonet::Recorder for Fingerprint {
    fn interval(&mut self, interval: &mesonet::Interval<'_>) {
        self.take(interval);
    }

    fn batch(&mut self, batch: &mesonet::GoodputBatch) {
        self.take(batch);
    }

    fn flow(&mut self, flow: &mesonet::FlowRecord) {
        self.take(flow);
    }

    fn flow_state(&mut self, state: &mesonet::FlowState) {
        self.take(state);
    }

    fn packet(&mut self, record: &mesonet::PacketTraceRecord) {
        self.take(record);
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
        Some("--hash") => print_hash(scenario.simulation()),
        Some("--once") => print_time(scenario.simulation(), 1),
        _ => print_time(scenario.simulation(), 5),
    }
    ExitCode::SUCCESS
}

fn print_hash(simulation: &Simulation) {
    let mut recorder = Fingerprint::default();
    let (packets, events) = match simulation {
        Simulation::Tcp(config) => {
            let totals = told(simulation::run(config, &mut recorder));
            // The largest number of pending events depends on the lookahead of links.
            recorder.take(&Totals {
                events: 0,
                events_pending_max: 0,
                ..totals
            });
            (totals.data_packets, totals.events)
        }
        Simulation::MesoNet(run) => {
            let totals = told(longhaul_mesonet::run(&run.config, &mut recorder));
            let (packets, events) = (totals.packets_in, totals.events);
            recorder.take(&mesonet::Totals {
                events: 0,
                bytes_per_flow: 0,
                bytes_per_host: (0, 0),
                ..totals
            });
            (packets, events)
        }
    };
    let hash = recorder.0.finish();
    println!("{hash:016x} {packets} data packets, {events} events");
}

fn print_time(simulation: &Simulation, rounds: u32) {
    let mut least_s = f64::INFINITY;
    let mut packets = 0;
    for _ in 0..rounds {
        let began_s = processor_time_s();
        packets = simulated(simulation);
        least_s = least_s.min(processor_time_s() - began_s);
    }
    let each_ns = least_s * 1e9 / packets as f64;
    println!("{each_ns:.1} ns a data packet, {packets} in {least_s:.3} s");
}

/// Simulates without records; returns the number of data packets sent.
fn simulated(simulation: &Simulation) -> u64 {
    match simulation {
        Simulation::Tcp(config) => told(simulation::run(config, &mut NoRecorder)).data_packets,
        Simulation::MesoNet(run) => {
            told(longhaul_mesonet::run(&run.config, &mut mesonet::NoRecorder)).packets_in
        }
    }
}

fn told<T, E: std::fmt::Display>(totals: Result<T, E>) -> T {
    match totals {
        Ok(totals) => totals,
        Err(error) => panic!("{error}"),
    }
}
