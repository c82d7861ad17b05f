//! Simulates condition 8 of MesoNet's scaled-down network, or condition 4 of its large network. An argument limits the
//! run to the first seconds.
//!
//! `cargo run --profile profiling -p longhaul-mesonet --example condition_8 -- [seconds] [algorithm] [threads] [large]`

#![allow(clippy::print_stdout, reason = "it reports to who runs it")]

#[path = "../tests/mesonet/network.rs"]
#[allow(dead_code, reason = "tests use the rest")]
mod network;

use std::time::Instant;

use longhaul_congestion::Variant;
use longhaul_mesonet::config::{Jumbo, Service};
use longhaul_mesonet::records::NoRecorder;
use longhaul_mesonet::simulate;
use longhaul_units::Time;

use network::{Buffers, Study, long_lived};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = arguments
        .next()
        .and_then(|word| word.parse().ok())
        .unwrap_or(1500);
    let kind = arguments.next().unwrap_or_else(|| "reno".to_owned());
    let threads = arguments.next().and_then(|word| word.parse().ok());
    let study = match arguments.next() {
        None => Study::CONDITION_8,
        Some(_) => Study {
            r1: 8000.0,
            sources_per_router: 1000.0,
            source_shares: [0.1, 0.6, 0.3],
            initial_ssthresh: 1_073_741_824.0,
            buffers: Buffers::RttCOverRootN,
            ..Study::CONDITION_8
        },
    };
    let nist = ["bic", "hstcp", "htcp", "scalable"].contains(&kind.as_str());
    let variant = if nist { Variant::Nist } else { Variant::Paper };
    let mut config = study.config(&kind, variant);
    config.topology.service = Service::Shared;
    config.long_lived = [("B0a", "K0a"), ("C0a", "I0a"), ("E0a", "F0a")]
        .map(|(from, to)| long_lived(&config.topology, from, to, 600.0))
        .to_vec();
    let part = |of: f64| Time::from_secs_f64(1500.0 * of);
    config.files.jumbo = Some(Jumbo {
        from: part(0.6),
        until: part(0.8),
        factor: 100,
        web_factor: 1000,
    });
    config.duration = Time::from_secs_f64(seconds as f64);
    let begin = Instant::now();
    let totals = simulate(&config, None, threads.unwrap_or(1), &mut NoRecorder);
    let totals = totals.expect("a valid configuration");
    let wall = begin.elapsed().as_secs_f64();
    let packets = totals.packets_in as f64;
    let flows: u64 = totals.classes.iter().map(|class| class.completed).sum();
    println!("{totals:#?}");
    println!(
        "{flows} flows, {packets} data packets, {} events",
        totals.events
    );
    println!(
        "{wall:.1} s: {:.2} M data packets/s, {:.1} events per data packet, {:.1} M events/s",
        packets / wall / 1e6,
        totals.events as f64 / packets,
        totals.events as f64 / wall / 1e6,
    );
}
