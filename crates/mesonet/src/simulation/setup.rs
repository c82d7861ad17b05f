//! Builds the world.

use longhaul_congestion::{CongestionState, Rounding, Window};
use longhaul_units::{Span, Time};

use super::counters::{Counters, Flows, FlowsByRouter};
use super::goodput::Batches;
use super::tracing::Tracing;
use super::{SetupError, World};
use crate::config::{Config, PacketRate, Transport};
use crate::flows::{Env, FlowTable, FlowTableSetup, Timer, Timers};
use crate::hosts::{ActiveLargeFiles, FileChooser, Receivers, Sources, draw_algorithm};
use crate::network::{Network, Routing};
use longhaul_engine::config::Randomness;
use longhaul_engine::random::Streams;

impl World {
    pub(super) fn new(config: &Config) -> Result<Self, SetupError> {
        let streams = Streams::new(config.seed, config.replication, Randomness::Streams);
        let (packet_intervals, speeds) = host_speeds(config);
        let mut network = Network::new(&config.topology, packet_intervals);
        let tracing = config.trace.clone().map(Tracing::new);
        network.set_packet_trace(tracing.as_ref().map(Tracing::packet_trace));
        let flow_setup = FlowTableSetup {
            initial: initial_congestion(config)?,
            alternate: config.algorithms.iter().map(|one| one.alternate).collect(),
            classes: config.topology.access.iter().map(|at| at.class).collect(),
            round_trip_delays: round_trip_delays(config, network.routing())?,
            routers: config.topology.backbone.len(),
            allowance: config.transport.srtt_allowance,
            long_lived: config.long_lived.len(),
        };
        let sources = Sources::new(config, &streams);
        let mut timers = Timers::default();
        for (source, time) in sources.first_requests(&streams).into_iter().enumerate() {
            timers.push(time, Timer::Request(source as u32));
        }
        for (number, flow) in config.long_lived.iter().enumerate() {
            timers.push(flow.start, Timer::Start(number as u32));
            timers.push(flow.stop, Timer::Stop(number as u32));
        }
        let mut stream = streams.component("mesonet/long-lived-algorithms");
        let algorithms = config.long_lived.iter().map(|flow| match flow.algorithm {
            Some(at) => at as u8,
            None => draw_algorithm(&config.algorithms, &mut stream),
        });
        Ok(Self {
            env: Env {
                network,
                timers,
                packets_in: 0,
                srtt_gain: config.transport.srtt_gain,
                initial_cwnd: config.transport.initial_cwnd,
            },
            flows: FlowTable::new(flow_setup),
            sources,
            receivers: Receivers::new(config, &streams),
            files: FileChooser::new(&config.files, &streams),
            large_files: ActiveLargeFiles::new(config.files.admission.clone()),
            jumbo: config.files.jumbo,
            long_lived: config.long_lived.clone(),
            algorithms: algorithms.collect(),
            speeds,
            counters: Counters::new(
                config.long_lived.len(),
                no_flows_by_router(config),
                config.topology.links.len(),
            ),
            batches: Batches::new(config.measure.batch),
            measure: config.measure,
            tracing,
            end: config.duration,
            interval_end: (Time::ZERO + config.measure.every).min(config.duration),
            interval: 1,
        })
    }
}

/// Packet intervals of hosts: base, fast, then others of long-lived flows; and the index of each
/// long-lived flow's among them.
fn host_speeds(config: &Config) -> (Vec<Span>, Vec<u16>) {
    let interval = |rate: PacketRate| Span::from_secs_f64(1.0 / rate.as_per_s());
    let mut packet_intervals = vec![interval(config.hosts.base), interval(config.hosts.fast)];
    let speeds = config.long_lived.iter().map(|flow| {
        let interval = interval(flow.speed);
        let at = packet_intervals.iter().position(|&other| other == interval);
        let at = at.unwrap_or_else(|| {
            packet_intervals.push(interval);
            packet_intervals.len() - 1
        });
        at as u16
    });
    let speeds = speeds.collect();
    (packet_intervals, speeds)
}

/// Initial state of congestion control, by algorithm.
pub(super) fn initial_congestion(config: &Config) -> Result<Vec<CongestionState>, SetupError> {
    let &Transport {
        initial_cwnd,
        initial_ssthresh,
        slow_start,
        max_cwnd,
        ..
    } = &config.transport;
    let states = config.algorithms.iter().map(|algorithm| {
        let controller = algorithm.congestion.build();
        let controller = controller.map_err(|reason| SetupError::Congestion {
            label: algorithm.label.clone(),
            reason: reason.to_string(),
        })?;
        let ssthresh = slow_start.initial_ssthresh(initial_ssthresh);
        let window = Window::new(initial_cwnd, ssthresh, max_cwnd, Rounding::Real);
        Ok(CongestionState::new(window, slow_start, controller))
    });
    states.collect()
}

/// Round-trip propagation delay between any two backbone routers.
fn round_trip_delays(config: &Config, routing: &Routing) -> Result<Vec<Span>, SetupError> {
    let routers = config.topology.backbone.len() as u16;
    let one_way = |from, to| -> Result<Span, SetupError> {
        let name = |router: u16| config.topology.backbone[router as usize].name.clone();
        let path = routing.path(from, to).ok_or_else(|| SetupError::NoPath {
            from: name(from),
            to: name(to),
        })?;
        let links = path.into_iter().filter_map(|(_, link)| link);
        Ok(links.fold(Span::ZERO, |sum, link| {
            sum + config.topology.links[link as usize].delay
        }))
    };
    let mut spans = Vec::with_capacity(usize::from(routers) * usize::from(routers));
    for from in 0..routers {
        for to in 0..routers {
            spans.push(one_way(from, to)? + one_way(to, from)?);
        }
    }
    Ok(spans)
}

fn no_flows_by_router(config: &Config) -> FlowsByRouter {
    FlowsByRouter {
        backbone: vec![Flows::default(); config.topology.backbone.len()],
        pops: vec![Flows::default(); config.topology.pops.len()],
        access: vec![Flows::default(); config.topology.access.len()],
    }
}
