//! Construction of the state of a simulation.

use std::sync::Mutex;

use longhaul_congestion::{CongestionState, MinCwnd, Rounding, Window};
use longhaul_units::{Span, Time};

use super::agenda::{Agenda, Opening};
use super::coordinator::{Coordinator, FlowSetups};
use super::counters::Counters;
use super::goodput::Batches;
use super::mail::Mail;
use super::region::Region;
use super::tracing::Tracing;
use super::{Clock, Common, Places, SetupError, World};
use crate::config::{Config, PacketRate, Topology, Transport};
use crate::flows::{Env, FlowTable, Timers};
use crate::hosts::{ActiveLargeFiles, FileChooser, Receivers, Sources, draw_algorithm};
use crate::network::{Network, Regions, Routes};
use longhaul_kernel::random::Randomness;
use longhaul_kernel::random::Streams;

impl World {
    pub(super) fn new(config: &Config) -> Result<Self, SetupError> {
        check_delays(&config.topology)?;
        let regions = Regions::new(&config.topology);
        let routes = Routes::new(&config.topology);
        let (packet_intervals, speeds) = host_speeds(config);
        let places = (0..regions.count).map(|number| {
            let intervals = packet_intervals.clone();
            let topology = &config.topology;
            let mut network = Network::new(topology, &regions, &routes, number, intervals);
            let trace = config.trace.as_ref();
            network.set_packet_trace(trace.map(|trace| trace.packet_trace(&regions)));
            Mutex::new(region(config, number, network, regions.window))
        });
        Ok(Self {
            places: Places {
                regions: places.collect(),
            },
            mail: Mail::new(config.topology.links.len()),
            clock: clock(config, &regions),
            coordinator: coordinator(config, regions, &routes, speeds)?,
            common: Common {
                routes,
                delays: config
                    .topology
                    .links
                    .iter()
                    .map(|link| link.delay)
                    .collect(),
                jumbo: config.files.jumbo,
                trace: config.trace.clone(),
                flow_log: config.measure.flow_log,
            },
        })
    }
}

/// Refuses links between backbone routers without a delay.
fn check_delays(topology: &Topology) -> Result<(), SetupError> {
    let mut links = topology.links.iter();
    match links.find(|link| link.delay == Span::ZERO) {
        Some(link) => Err(SetupError::NoDelay {
            link: link.name.clone(),
        }),
        None => Ok(()),
    }
}

fn region(config: &Config, number: usize, network: Network, window: Span) -> Region {
    Region {
        number,
        links_in: network.links_in(),
        env: Env {
            network,
            timers: Timers::new(window),
            packets_in: 0,
            srtt_gain: config.transport.srtt_gain,
            rtt_excess: config.transport.rtt_excess,
            handshake_rtt: config.transport.handshake_rtt,
            initial_cwnd: config.transport.initial_cwnd,
        },
        flows: FlowTable::new(),
        counters: no_counters(config),
        ended: Vec::new(),
        states: Vec::new(),
    }
}

fn no_counters(config: &Config) -> Counters {
    let topology = &config.topology;
    let routers = [
        topology.backbone.len(),
        topology.pops.len(),
        topology.access.len(),
    ];
    Counters::new(config.long_lived.len(), routers)
}

fn clock(config: &Config, regions: &Regions) -> Clock {
    Clock {
        now: Time::ZERO,
        end: config.duration,
        window: 1,
        window_end: Time::ZERO + regions.window,
        window_length: regions.window,
        interval_end: (Time::ZERO + config.measure.every).min(config.duration),
        interval: 1,
        measure: config.measure,
        packets_in: 0,
        entered: vec![0; config.topology.links.len()],
        reported: Time::ZERO,
    }
}

fn coordinator(
    config: &Config,
    regions: Regions,
    routes: &Routes,
    speeds: Vec<u16>,
) -> Result<Coordinator, SetupError> {
    let streams = Streams::new(config.seed, config.replication, Randomness::Streams);
    let sources = Sources::new(config, &streams);
    let mut agenda = Agenda::new(regions.window);
    for (source, time) in sources.first_requests(&streams).into_iter().enumerate() {
        agenda.push(time, Opening::File(source as u32));
    }
    for (number, flow) in config.long_lived.iter().enumerate() {
        agenda.push(flow.start, Opening::LongLived(number as u32));
    }
    let mut stream = streams.component("mesonet/long-lived-algorithms");
    let algorithms = config.long_lived.iter().map(|flow| match flow.algorithm {
        Some(at) => at as u8,
        None => draw_algorithm(&config.algorithms, &mut stream),
    });
    Ok(Coordinator {
        agenda,
        sources,
        receivers: Receivers::new(config, &streams),
        files: FileChooser::new(&config.files, &streams),
        large_files: ActiveLargeFiles::new(config.files.admission.clone()),
        batches: Batches::new(config.measure.batch),
        tracing: Tracing::default(),
        setups: FlowSetups {
            initial: initial_congestion(config)?,
            alternate: config.algorithms.iter().map(|one| one.alternate).collect(),
            classes: config.topology.access.iter().map(|at| at.class).collect(),
            round_trip_delays: round_trip_delays(config, routes)?,
            routers: config.topology.backbone.len(),
            allowance: config.transport.srtt_allowance,
        },
        long_lived: config.long_lived.clone(),
        algorithms: algorithms.collect(),
        speeds,
        opened: vec![None; config.long_lived.len()],
        ended: Vec::new(),
        no_receivers: vec![0; config.topology.access.len()],
        open: 0,
        max_open: 0,
        regions,
    })
}

/// Returns a list with the time between two packets for each speed of hosts, and the index in this list for each
/// long-lived flow. The first two times are those of basic and of fast hosts.
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

/// Returns the initial congestion control states, in the order of the configuration's algorithms.
pub(super) fn initial_congestion(config: &Config) -> Result<Vec<CongestionState>, SetupError> {
    let Transport {
        initial_cwnd,
        initial_ssthresh,
        ref slow_start,
        max_cwnd,
        min_cwnd,
        ..
    } = config.transport;
    let reduced_min = MinCwnd {
        loss: min_cwnd,
        ecn: 1,
    };
    let states = config.algorithms.iter().map(|algorithm| {
        let controller = algorithm.congestion.build();
        let controller = controller.map_err(|reason| SetupError::Congestion {
            label: algorithm.label.clone(),
            reason: reason.to_string(),
        })?;
        let ssthresh = slow_start.initial_ssthresh(initial_ssthresh);
        let window = Window::new(initial_cwnd, ssthresh, max_cwnd, Rounding::Real)
            .with_min_cwnd(reduced_min);
        Ok(CongestionState::new(window, slow_start.clone(), controller))
    });
    states.collect()
}

/// Returns the round-trip propagation delays between all pairs of backbone routers; zero for a router and itself, and
/// for a pair with a router that has no access routers below.
fn round_trip_delays(config: &Config, routes: &Routes) -> Result<Vec<Span>, SetupError> {
    let routers = config.topology.backbone.len() as u16;
    let one_way = |from, to| -> Result<Span, SetupError> {
        let name = |router: u16| config.topology.backbone[router as usize].name.clone();
        let path = routes.path(from, to).ok_or_else(|| SetupError::NoPath {
            from: name(from),
            to: name(to),
        })?;
        Ok(path.into_iter().fold(Span::ZERO, |sum, link| {
            sum + config.topology.links[link as usize].delay
        }))
    };
    let ends = |router: u16| config.topology.has_access(usize::from(router));
    let mut spans = Vec::with_capacity(usize::from(routers) * usize::from(routers));
    for from in 0..routers {
        for to in 0..routers {
            spans.push(if ends(from) && ends(to) {
                one_way(from, to)? + one_way(to, from)?
            } else {
                Span::ZERO
            });
        }
    }
    Ok(spans)
}
