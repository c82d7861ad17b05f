//! Setup of a simulation from its configuration: the network, the endpoints of its flows, and their sources.

use std::sync::Arc;

use longhaul_congestion::Controller;
use longhaul_units::{Span, Time};

use super::{FlowSlot, Kind, World};
use crate::config::{Config, Flow, Link, Messages, Start, Tcp, Transport, Udp};
use crate::measure::{DelayHistogram, Recorder};
use crate::network::{Carrier, End, Network, Path};
use crate::proxy::Proxies;
use crate::random::{Stream, Streams};
use crate::simulation::SetupError;
use crate::simulation::journal::Journal;
use crate::simulation::outside::OutsideFlows;
use crate::simulation::window::Baseline;
use crate::stack::{ForeignStack, StackSetup};
use crate::traffic::{MessageSource, StopCondition, Traffic};
use crate::transport::stack::{StackConnection, StackConnections};
use crate::transport::tcp::{Connection, Receiver, Sender};
use crate::transport::udp::{Departures, UdpStream};
use crate::transport::{Env, EventLog, FlowDelays};

/// Number of parts of a run, with a progress report after each but the last. The ticker requests further reports.
const PROGRESS_REPORTS: u64 = 1 << 10;

/// Minimum number of connections for prefetching. The state and packets of this many connections exceed a cache of a
/// megabyte.
const PREFETCH_THRESHOLD: usize = 256;

impl World {
    pub(in crate::simulation) fn new(
        config: &Config,
        recorder: &mut dyn Recorder,
    ) -> Result<Self, SetupError> {
        let log = EventLog {
            enabled: config.measure.events,
            pending: Vec::new(),
            traced: Vec::new(),
        };
        let streams = Streams::new(config.seed, config.replication, config.randomness);
        let mut world = Self {
            env: Env {
                network: Network::new(config, &streams),
                log,
                delays: FlowDelays::default(),
            },
            tcp: Vec::new(),
            udp: Vec::new(),
            stacks: StackConnections::after(udp_streams(config)),
            outside: OutsideFlows::default(),
            traffic: Traffic::new(StopCondition::new(config)),
            messages: Vec::new(),
            proxies: Proxies::default(),
            flows: Vec::with_capacity(config.flows.len()),
            ticker: recorder.ticker(),
            journal: Journal::default(),
            prefetches: false,
            every: config.measure.every,
            measures_delays: config.measure.delays,
            progress_every: progress_every(config),
            baseline: Baseline::default(),
        };
        let mut group: Option<(Arc<Tcp>, Controller)> = None;
        for flow in &config.flows {
            if world.ticker.is_due() && world.is_stopped(recorder) {
                return Err(SetupError::Stopped);
            }
            let kind = match &flow.transport {
                Transport::Tcp(tcp) => {
                    let controller = controller_of(&flow.name, tcp, &mut group)?;
                    world.add_tcp(config, flow, tcp, controller, &streams)?
                }
                Transport::Messages(tcp, messages) => {
                    let controller = controller_of(&flow.name, tcp, &mut group)?;
                    let first = world.tcp.len();
                    let kind = world.add_tcp(config, flow, tcp, controller, &streams)?;
                    let stream = flow_stream(flow, "bursts", &streams);
                    world.add_messages(first, messages, tcp, stream);
                    kind
                }
                Transport::Traffic(tcp, source) => {
                    let controller = controller_of(&flow.name, tcp, &mut group)?;
                    let tcp = (Arc::clone(tcp), controller);
                    world.add_traffic(config, flow, tcp, source, &streams)?
                }
                Transport::Udp(udp) => world.add_udp(config, flow, udp, &streams)?,
                Transport::Stack(stack) => world.add_stack(config, flow, stack, &streams)?,
                Transport::Outside(_) => {
                    let user = format!("flow `{}`", flow.name);
                    return Err(SetupError::Outside { user });
                }
            };
            world.announce(kind, &flow.name);
            let (start, start_s) = draw_start(flow, &streams);
            world.flows.push(FlowSlot {
                kind,
                messages: match flow.transport {
                    Transport::Messages(..) => Some(world.messages.len() - 1),
                    _ => None,
                },
                start,
                start_s,
                stop: flow.stop,
            });
        }
        if config.measure.delays {
            let flows = world.flows.len();
            world.env.delays = FlowDelays(vec![DelayHistogram::default(); flows]);
        }
        world.traffic.complete();
        world.add_proxies(config, &streams)?;
        for connection in &mut world.tcp {
            connection.sender.reset();
        }
        if world.tcp.iter().any(|tcp| tcp.sender.sends_dummies()) {
            world.env.network.prioritise(config, &streams);
        }
        world.env.network.begin_updates();
        world.env.network.track(world.tcp.len() as u32);
        world.prefetches = world.tcp.len() >= PREFETCH_THRESHOLD;
        Ok(world)
    }

    /// Adds the connections of a flow or proxy to the links' delay boxes. Each box's values depend on `name`.
    pub(in crate::simulation) fn announce(&mut self, kind: Kind, name: &str) {
        let network = &mut self.env.network;
        let mut add = |carrier, index| network.add_flow(carrier, index as u32, &name);
        match kind {
            Kind::Tcp { from, to } => {
                add(Carrier::Tcp, from);
                if from != to {
                    add(Carrier::Tcp, to);
                }
            }
            Kind::Udp(index) => add(Carrier::Udp, index),
            Kind::Stack(index) => add(Carrier::Udp, self.stacks[index].number() as usize),
            // Connections of traffic are added when they are opened.
            Kind::Traffic(_) => {}
        }
    }

    fn add_tcp(
        &mut self,
        config: &Config,
        flow: &Flow,
        tcp: &Arc<Tcp>,
        controller: Controller,
        streams: &Streams,
    ) -> Result<Kind, SetupError> {
        if let Some(proxy) = flow.via {
            return self.add_split(config, flow, (tcp, controller), proxy, streams);
        }
        let there = self.path(config, flow, flow.from, flow.to, End::TcpReceiver)?;
        let back = self.path(config, flow, flow.to, flow.from, End::TcpSender)?;
        let id = self.flows.len() as u32;
        let stream = flow_stream(flow, "sender", streams);
        let index = self.push_connection((id, id), (there, back), (tcp, controller), stream);
        let user = || format!("flow `{}`", flow.name);
        self.lead_dummies(config, user, index, (flow.from, flow.to))?;
        self.tcp[index].receiver.set_clock(flow.clock);
        if flow.traces(0) {
            self.tcp[index].sender.trace_as(0);
        }
        Ok(Kind::Tcp {
            from: index,
            to: index,
        })
    }

    /// Adds a TCP connection of a flow or proxy. Its events are recorded under the flow id `recorded`; with
    /// [`EventLog::UNRECORDED`], they are not recorded. Returns the connection's index.
    pub(in crate::simulation) fn push_connection(
        &mut self,
        (flow, recorded): (u32, u32),
        (there, back): (Path, Path),
        (tcp, controller): (&Arc<Tcp>, Controller),
        stream: Stream,
    ) -> usize {
        let index = self.tcp.len();
        let (number, tcp) = (index as u32, Arc::clone(tcp));
        let config = Arc::clone(&tcp);
        let sender = Sender::new(number, recorded, there, config, &controller, stream);
        self.tcp.push(Connection {
            receiver: Receiver::new(number, back, tcp, sender.asks_routers()),
            sender,
            flow,
        });
        index
    }

    /// Sets the paths of the dummy segments of a connection between two nodes. Does nothing if the connection sends no
    /// dummies.
    pub(in crate::simulation) fn lead_dummies(
        &mut self,
        config: &Config,
        user: impl Fn() -> String,
        index: usize,
        (from, to): (usize, usize),
    ) -> Result<(), SetupError> {
        if self.tcp[index].sender.sends_dummies() {
            let there = self.path_for(config, &user, (from, to), End::DummyReceiver)?;
            let back = self.path_for(config, &user, (to, from), End::DummySender)?;
            let connection = &mut self.tcp[index];
            connection.sender.send_dummies_along(there);
            connection.receiver.answer_dummies_along(back);
        }
        Ok(())
    }

    /// Adds an application that gives messages to a connection.
    fn add_messages(&mut self, connection: usize, config: &Messages, tcp: &Tcp, stream: Stream) {
        self.tcp[connection].sender.begin_empty();
        let index = self.messages.len() as u32;
        let source = MessageSource::new(index, connection, config, tcp.mss_bytes, stream);
        self.messages.push(source);
    }

    fn add_udp(
        &mut self,
        config: &Config,
        flow: &Flow,
        udp: &Udp,
        streams: &Streams,
    ) -> Result<Kind, SetupError> {
        let path = self.path(config, flow, flow.from, flow.to, End::UdpReceiver)?;
        let index = self.udp.len();
        let numbers = (index as u32, self.flows.len() as u32);
        let departures = Departures::new(udp, |part| flow_stream(flow, part, streams));
        let copied = makes_copies(config);
        let stream = UdpStream::new(numbers, path, udp.clone(), departures, copied);
        self.udp.push(stream);
        Ok(Kind::Udp(index))
    }

    fn add_stack(
        &mut self,
        config: &Config,
        flow: &Flow,
        stack: &ForeignStack,
        streams: &Streams,
    ) -> Result<Kind, SetupError> {
        let data = self.path(config, flow, flow.from, flow.to, End::StackReceiver)?;
        let back = self.path(config, flow, flow.to, flow.from, End::StackSender)?;
        let made = stack.factory.make(&StackSetup {
            seed: flow_stream(flow, "stack", streams).bits(),
            transfer: stack.transfer,
            traced: flow.traces(0),
        });
        let numbers = (
            self.stacks.next_number(),
            self.flows.len() as u32,
            flow.name.as_str(),
        );
        let connection = StackConnection::new(numbers, [data, back], made, makes_copies(config));
        Ok(Kind::Stack(self.stacks.push(connection)))
    }

    pub(in crate::simulation) fn path(
        &mut self,
        config: &Config,
        flow: &Flow,
        from: usize,
        to: usize,
        end: End,
    ) -> Result<Path, SetupError> {
        self.path_for(config, || format!("flow `{}`", flow.name), (from, to), end)
    }

    pub(in crate::simulation) fn path_for(
        &mut self,
        config: &Config,
        user: impl Fn() -> String,
        (from, to): (usize, usize),
        end: End,
    ) -> Result<Path, SetupError> {
        let path = self.env.network.path(from, to, end);
        path.ok_or_else(|| SetupError::NoPath {
            user: user(),
            from: config.nodes[from].clone(),
            to: config.nodes[to].clone(),
        })
    }
}

/// Returns the number of datagram streams of a configuration.
fn udp_streams(config: &Config) -> usize {
    let flows = config.flows.iter();
    let streams = flows.filter(|flow| matches!(flow.transport, Transport::Udp(_)));
    streams.count()
}

/// Returns true if any link duplicates packets.
fn makes_copies(config: &Config) -> bool {
    config.links.iter().any(Link::makes_copies)
}

/// Returns the simulated time between two reports of progress.
fn progress_every(config: &Config) -> Span {
    Span::from_ps(config.duration.as_ps() / PROGRESS_REPORTS + 1)
}

/// Returns the congestion control of a flow. Flows of a group share one set of parameters, so that tables are built
/// only once.
fn controller_of(
    flow: &str,
    tcp: &Arc<Tcp>,
    group: &mut Option<(Arc<Tcp>, Controller)>,
) -> Result<Controller, SetupError> {
    if let Some((known, controller)) = group
        && Arc::ptr_eq(known, tcp)
    {
        return Ok(controller.clone());
    }
    let controller = build_controller(tcp, || format!("flow `{flow}`"))?;
    *group = Some((Arc::clone(tcp), controller.clone()));
    Ok(controller)
}

/// Builds the congestion control of a connection.
pub(in crate::simulation) fn build_controller(
    tcp: &Tcp,
    user: impl Fn() -> String,
) -> Result<Controller, SetupError> {
    let built = tcp.congestion.build();
    built.map_err(|error| SetupError::Congestion {
        user: user(),
        reason: error.to_string(),
    })
}

/// Returns the random stream of the component `part` of a flow.
pub(in crate::simulation) fn flow_stream(flow: &Flow, part: &str, streams: &Streams) -> Stream {
    streams.component(&format!("flows/{}/{part}", flow.name))
}

/// Draws the start of a flow. Returns the start as a [`Time`] and, for ns-2's clock, in floating-point seconds.
fn draw_start(flow: &Flow, streams: &Streams) -> (Time, f64) {
    let (from, range) = match flow.start {
        Start::At(time) => return (time, time.as_secs_f64()),
        Start::Uniform(from, to) => (from, to.since(from)),
    };
    let fraction = flow_stream(flow, "start", streams).start_fraction();
    let start = from + Span::from_ps((fraction * range.as_ps() as f64) as u64);
    (start, from.as_secs_f64() + range.as_secs_f64() * fraction)
}
