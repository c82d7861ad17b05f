//! prototype driver
#![allow(missing_docs, clippy::print_stdout)]
#[path = "../tests/mesonet/network.rs"]
#[allow(dead_code)]
mod network;
use longhaul_congestion::Variant;
use longhaul_engine::measure::{Control, DataPackets};
use longhaul_mesonet::config::{Jumbo, Service};
use longhaul_mesonet::records::*;
use longhaul_mesonet::simulate;
use longhaul_units::Time;
use network::{Buffers, Study, long_lived};
use std::time::Instant;

struct R(Vec<(f64, f64, u64)>);
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = s.rsplit(')').next().unwrap().split_whitespace().collect();
    (f[11].parse::<f64>().unwrap() + f[12].parse::<f64>().unwrap()) / 100.0
}
impl Recorder for R {
    fn interval(&mut self, _: &Interval<'_>) {}
    fn batch(&mut self, _: &GoodputBatch) {}
    fn flow(&mut self, _: &FlowRecord) {}
    fn progress(&mut self, t: Time, p: DataPackets<'_>) -> Control {
        self.0.push((t.as_secs_f64(), cpu(), p()));
        Control::Continue
    }
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let seconds: f64 = a[1].parse().unwrap();
    let cond = a[2].as_str();
    let service = if a[3] == "shared" {
        Service::Shared
    } else {
        Service::Dual
    };
    let mut study = match cond {
        "4" | "4j" => Study {
            r1: 8000.0,
            sources_per_router: 1000.0,
            initial_ssthresh: 1_073_741_824.0,
            buffers: Buffers::RttCOverRootN,
            source_shares: [0.1, 0.6, 0.3],
            ..Study::CONDITION_8
        },
        _ => Study::CONDITION_8,
    };
    study.seconds = 1500;
    let mut config = study.config("reno", Variant::Paper);
    config.topology.service = service;
    config.long_lived = [("B0a", "K0a"), ("C0a", "I0a"), ("E0a", "F0a")]
        .map(|(from, to)| long_lived(&config.topology, from, to, 600.0))
        .to_vec();
    config.duration = Time::from_secs_f64(seconds);
    if cond == "4j" {
        config.files.jumbo = Some(Jumbo {
            from: Time::from_secs_f64(seconds * 0.1),
            until: Time::NEVER,
            factor: 100,
            web_factor: 1000,
        });
    }
    let begin = Instant::now();
    let mut r = R(vec![]);
    let totals = simulate(
        &config,
        None,
        a.get(4).map_or(1, |t| t.parse().unwrap()),
        &mut r,
    )
    .expect("a valid configuration");
    let wall = begin.elapsed().as_secs_f64();
    let last = r.0[r.0.len() - 1];
    let from = r.0.iter().find(|m| m.0 >= seconds / 2.0 - 1e-9).unwrap();
    let packets = totals.packets_in as f64;
    let flows: u64 = totals.classes.iter().map(|class| class.completed).sum();
    println!(
        "{flows} flows, {packets} in, {} out, {} events, max flows {}, {} B/flow",
        totals.packets_out, totals.events, totals.max_flows, totals.bytes_per_flow
    );
    println!(
        "second half: {:.3} M data packets per cpu s ({:.2} M packets/sim s); {:.1} events per data packet; wall {wall:.1}",
        (last.2 - from.2) as f64 / (last.1 - from.1) / 1e6,
        (last.2 - from.2) as f64 / (last.0 - from.0) / 1e6,
        totals.events as f64 / packets
    );
    let st = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", st.lines().find(|l| l.starts_with("VmHWM")).unwrap());
}
