//! The world: the network, the flows at its edge, and what is measured of them.

use std::sync::Arc;

use longhaul_congestion::{CongestionControl, Controller};
use longhaul_units::{Span, Time};

use super::SetupError;
use super::window::Baseline;
use crate::config::{Config, Flow, Service, Start, Tcp, Transport};
use crate::measure::{Control, FlowCounters, FlowSample, FlowTotals, LinkTotals, Recorder, Totals};
use crate::network::{Edge, End, Network, Path};
use crate::random::{Stream, Streams};
use crate::schedule::{Event, Schedule};
use crate::transport::tcp::{Receiver, Sender};
use crate::transport::udp::UdpStream;
use crate::transport::{Env, EventLog};

/// Reports of progress in a run.
const PROGRESS_REPORTS: u64 = 1 << 10;

/// Everything that a simulation consists of: flat vectors indexed by small ids.
#[derive(Debug)]
pub(super) struct World {
    pub(super) env: Env,
    pub(super) tcp: Vec<Connection>,
    pub(super) udp: Vec<UdpStream>,
    flows: Vec<FlowSlot>,
    every: Option<Span>,
    progress_every: Span,
    baseline: Baseline,
}

/// A TCP connection's two ends, and the id of its flow.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) flow: u32,
}

/// Where a flow's transport is, and when it starts and stops.
#[derive(Debug)]
struct FlowSlot {
    kind: Kind,
    start: Time,
    /// The start as ns-2's clock has it.
    start_s: f64,
    stop: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Tcp(usize),
    Udp(usize),
}

impl World {
    pub(super) fn new(config: &Config) -> Result<Self, SetupError> {
        let log = EventLog {
            enabled: config.measure.events,
            pending: Vec::new(),
        };
        let streams = Streams::new(config);
        let mut world = Self {
            env: Env {
                network: Network::new(config, &streams),
                log,
            },
            tcp: Vec::new(),
            udp: Vec::new(),
            flows: Vec::with_capacity(config.flows.len()),
            every: config.measure.every,
            progress_every: progress_every(config),
            baseline: Baseline::default(),
        };
        let mut group: Option<(Arc<Tcp>, Controller)> = None;
        for flow in &config.flows {
            let kind = match &flow.transport {
                Transport::Tcp(tcp) => {
                    // Flows of a group share one parameter set, so that tables are built once.
                    if !group
                        .as_ref()
                        .is_some_and(|(known, _)| Arc::ptr_eq(known, tcp))
                    {
                        let controller =
                            tcp.congestion
                                .build()
                                .map_err(|error| SetupError::Congestion {
                                    flow: flow.name.clone(),
                                    reason: error.to_string(),
                                })?;
                        group = Some((Arc::clone(tcp), controller));
                    }
                    let controller = group.as_ref().expect("just set").1.clone();
                    world.add_tcp(config, flow, tcp, controller, &streams)?
                }
                Transport::Udp(udp) => {
                    let path = world.path(config, flow, flow.from, flow.to, End::UdpReceiver)?;
                    let index = world.udp.len();
                    let id = world.flows.len() as u32;
                    world
                        .udp
                        .push(UdpStream::new(index as u32, id, path, udp.clone()));
                    Kind::Udp(index)
                }
            };
            let (start, start_s) = draw_start(flow, &streams);
            world.flows.push(FlowSlot {
                kind,
                start,
                start_s,
                stop: flow.stop,
            });
        }
        for connection in &mut world.tcp {
            connection.sender.reset();
        }
        let edges = world.edges();
        if world.tcp.iter().any(|tcp| tcp.sender.sends_dummies()) {
            let config = with_priorities(config);
            world.env.network.replace_links(&config, &streams);
            world.env.network.look_ahead(&config, &edges);
        } else {
            world.env.network.look_ahead(config, &edges);
        }
        Ok(world)
    }

    /// The ends of all flows.
    fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for slot in &self.flows {
            match slot.kind {
                Kind::Tcp(index) => {
                    let (sender, receiver) = (&self.tcp[index].sender, &self.tcp[index].receiver);
                    let (there, back) = (sender.route(), receiver.route());
                    edges.push(Edge::Sender {
                        connection: index as u32,
                        gets: back,
                        sends: there,
                        stops: slot.stop.is_some() || sender.sends_dummies(),
                        draws: sender.draws(),
                    });
                    edges.push(Edge::Receiver {
                        connection: index as u32,
                        gets: there,
                        sends: back,
                    });
                }
                Kind::Udp(index) => edges.push(Edge::Source {
                    sends: self.udp[index].route(),
                }),
            }
        }
        edges
    }

    fn add_tcp(
        &mut self,
        config: &Config,
        flow: &Flow,
        tcp: &Arc<Tcp>,
        controller: Controller,
        streams: &Streams,
    ) -> Result<Kind, SetupError> {
        let there = self.path(config, flow, flow.from, flow.to, End::TcpReceiver)?;
        let back = self.path(config, flow, flow.to, flow.from, End::TcpSender)?;
        let index = self.tcp.len();
        let id = self.flows.len() as u32;
        let stream = flow_stream(flow, "sender", streams);
        let dummies = controller.needs().dummies;
        let mut sender = Sender::new(index as u32, id, there, Arc::clone(tcp), controller, stream);
        let asks_routers = sender.asks_routers();
        let mut receiver = Receiver::new(index as u32, back, Arc::clone(tcp), asks_routers);
        if dummies {
            sender.send_dummies_along(self.path(
                config,
                flow,
                flow.from,
                flow.to,
                End::DummyReceiver,
            )?);
            receiver.answer_dummies_along(self.path(
                config,
                flow,
                flow.to,
                flow.from,
                End::DummySender,
            )?);
        }
        self.tcp.push(Connection {
            sender,
            receiver,
            flow: id,
        });
        Ok(Kind::Tcp(index))
    }

    fn path(
        &mut self,
        config: &Config,
        flow: &Flow,
        from: usize,
        to: usize,
        end: End,
    ) -> Result<Path, SetupError> {
        self.env
            .network
            .path(from, to, end)
            .ok_or_else(|| SetupError::NoPath {
                flow: flow.name.clone(),
                from: config.nodes[from].clone(),
                to: config.nodes[to].clone(),
            })
    }

    /// Enters what is known beforehand: starts, stops, measurement and the end.
    pub(super) fn enter_initial_events(&mut self, config: &Config) {
        let schedule: &mut Schedule = &mut self.env.network.schedule;
        for (slot, flow) in self.flows.iter().zip(0..) {
            schedule.push_timer(slot.start, Event::Start(flow));
            if let Some(stop) = slot.stop {
                schedule.push_timer(stop, Event::Stop(flow));
            }
        }
        schedule.push_observation(config.measure.from, Event::MeasureFrom);
        if self.every.is_some() {
            schedule.push_observation(Time::ZERO, Event::Sample);
        }
        schedule.push_observation(Time::ZERO + self.progress_every, Event::Progress);
        schedule.push_observation(config.duration, Event::End);
    }

    pub(super) fn start(&mut self, flow: u32) {
        let slot = &self.flows[flow as usize];
        self.env.network.set_ns2_clock(slot.start_s);
        match slot.kind {
            Kind::Tcp(index) => self.tcp[index].sender.start(&mut self.env),
            Kind::Udp(index) => self.udp[index].start(&mut self.env),
        }
    }

    pub(super) fn stop(&mut self, flow: u32) {
        match self.flows[flow as usize].kind {
            Kind::Tcp(index) => self.tcp[index].sender.stop(),
            Kind::Udp(index) => self.udp[index].stop(),
        }
    }

    /// Samples every flow that has started and every sampled link, and arms the next sample.
    pub(super) fn sample(&mut self, recorder: &mut dyn Recorder) {
        let now = self.env.network.now;
        for (slot, flow) in self.flows.iter().zip(0..) {
            if slot.start > now {
                continue;
            }
            recorder.flow_sample(&match slot.kind {
                Kind::Tcp(index) => {
                    let Connection {
                        sender, receiver, ..
                    } = &mut self.tcp[index];
                    FlowSample {
                        delivered_bytes: receiver.delivered().1,
                        ..sender.sample(now)
                    }
                }
                Kind::Udp(index) => datagram_sample(now, flow, &self.udp[index].counters()),
            });
        }
        for sample in self.env.network.samples() {
            recorder.link_sample(&sample);
        }
        if let Some(every) = self.every {
            let schedule = &mut self.env.network.schedule;
            schedule.push_observation(now + every, Event::Sample);
        }
    }

    /// Tells the recorder how far the simulation is, and arms the next report.
    pub(super) fn report_progress(&mut self, recorder: &mut dyn Recorder) -> Control {
        let now = self.env.network.now;
        let schedule = &mut self.env.network.schedule;
        schedule.push_observation(now + self.progress_every, Event::Progress);
        recorder.progress(now, self.data_packets())
    }

    /// Data packets sent by all flows.
    pub(super) fn data_packets(&self) -> u64 {
        let tcp: u64 = self.tcp.iter().map(|tcp| tcp.sender.sent_pkts()).sum();
        let udp: u64 = self.udp.iter().map(UdpStream::sent_pkts).sum();
        tcp + udp
    }

    /// Counters of every flow up to now.
    fn flow_counters(&mut self) -> Vec<FlowCounters> {
        let now = self.env.network.now;
        let counters = self.flows.iter().map(|slot| match slot.kind {
            Kind::Tcp(index) => {
                let Connection {
                    sender, receiver, ..
                } = &mut self.tcp[index];
                let (delivered_pkts, delivered_bytes) = receiver.delivered();
                FlowCounters {
                    delivered_pkts,
                    delivered_bytes,
                    ..sender.counters(now)
                }
            }
            Kind::Udp(index) => self.udp[index].counters(),
        });
        counters.collect()
    }

    /// The measurement window opens: remembers all counters, and restarts extremes.
    pub(super) fn open_window(&mut self) {
        let flows = self.flow_counters();
        let links = self.env.network.counters();
        let rtt_extremes = self.flows.iter().map(|slot| match slot.kind {
            Kind::Tcp(index) => self.tcp[index].sender.restart_extremes(),
            Kind::Udp(_) => (Span::ZERO, Span::ZERO),
        });
        let rtt_extremes = rtt_extremes.collect();
        let queue_maxima = self.env.network.restart_maxima();
        self.baseline = Baseline {
            flows,
            links,
            rtt_extremes,
            queue_maxima,
        };
    }

    /// Everything known at the end.
    pub(super) fn totals(mut self, stopped: bool) -> Totals {
        let flow_counters = self.flow_counters();
        let link_counters = self.env.network.counters();
        let data_packets = self.data_packets();
        let flows = self.flows.iter().zip(flow_counters).enumerate();
        let flows = flows.map(|(id, (slot, counters))| {
            let (total, window) = self.baseline.split_flow(id, counters);
            let finish = match slot.kind {
                Kind::Tcp(index) => self.tcp[index].sender.finish(),
                Kind::Udp(_) => None,
            };
            FlowTotals {
                start: slot.start,
                finish,
                total,
                window,
            }
        });
        let links = link_counters.into_iter().enumerate().map(|(id, counters)| {
            let (total, window) = self.baseline.split_link(id, counters);
            LinkTotals { total, window }
        });
        let schedule = &self.env.network.schedule;
        Totals {
            end: self.env.network.now,
            stopped,
            flows: flows.collect(),
            links: links.collect(),
            data_packets,
            events: schedule.events,
            events_pending_max: schedule.pending_max as u64,
        }
    }
}

/// The same network with links that know of priorities, as those with explicit service do.
fn with_priorities(config: &Config) -> Config {
    let mut config = config.clone();
    let links = config.links.iter_mut();
    links.for_each(|link| link.service = Service::Explicit);
    config
}

/// Simulated time between two reports of progress.
fn progress_every(config: &Config) -> Span {
    Span::from_ps(config.duration.as_ps() / PROGRESS_REPORTS + 1)
}

/// The random stream of one part of a flow.
fn flow_stream(flow: &Flow, part: &str, streams: &Streams) -> Stream {
    streams.component(&format!("flows/{}/{part}", flow.name))
}

/// When a flow starts, also in ns-2's seconds.
fn draw_start(flow: &Flow, streams: &Streams) -> (Time, f64) {
    let (from, range) = match flow.start {
        Start::At(time) => return (time, time.as_secs_f64()),
        Start::Uniform(from, to) => (from, to.since(from)),
    };
    let fraction = flow_stream(flow, "start", streams).start_fraction();
    let start = from + Span::from_ps((fraction * range.as_ps() as f64) as u64);
    (start, from.as_secs_f64() + range.as_secs_f64() * fraction)
}

/// A datagram stream has no window.
fn datagram_sample(now: Time, flow: u32, counters: &FlowCounters) -> FlowSample {
    FlowSample {
        time: now,
        flow,
        cwnd: f64::NAN,
        ssthresh: f64::NAN,
        srtt: Span::ZERO,
        in_flight: 0,
        sent_pkts: counters.sent_pkts,
        retransmitted_pkts: 0,
        delivered_bytes: counters.delivered_bytes,
    }
}
