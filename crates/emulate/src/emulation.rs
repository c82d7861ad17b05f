//! An emulation: the creation of its hosts, its loop, and its results.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use longhaul_engine::Graph;
use longhaul_engine::config::{Config, Flow as FlowConfig, OutsideFlow, Start, Transport};
use longhaul_engine::measure::Totals;
use longhaul_engine::simulation::{self, SetupError};
use longhaul_units::Time;

use crate::flow::Flow;
use crate::forwarder::{Forwarder, Sockets};
use crate::host::{Host, Port};
use crate::lateness::LatenessSummary;
use crate::machine::Busy;
use crate::process::Running;
use crate::program::{EndedProgram, Program};
use crate::records::{Records, StopRequest};
use crate::refusal::Refusal;
use crate::sampler::Sampler;
use crate::socket_info::Inquiry;
use crate::system;
use crate::tap::{Tap, TappedPacket};

/// Real-time priority of the loop's thread.
const PRIORITY: libc::c_int = 50;

/// Time that the emulation continues after the program in the foreground has ended, for its last
/// packets.
const LINGER: Duration = Duration::from_millis(300);

/// Longest time to wait until background programs listen.
const MAX_START: Duration = Duration::from_secs(1);

/// Description of an emulation to start.
#[derive(Debug)]
pub struct Setup {
    /// The network of the scenario, and simulated flows that share it with the programs.
    pub config: Config,
    /// Indices of the nodes with hosts.
    pub hosts: Vec<usize>,
    /// Programs to run in the hosts; one of them is in the foreground.
    pub programs: Vec<Program>,
    /// Names and values of kernel settings (sysctls) of all hosts.
    pub sysctls: Vec<(String, String)>,
    /// Channel for all packets that hosts send or receive, without ignored ones; `None` for no
    /// capture.
    pub tap: Option<SyncSender<TappedPacket>>,
}

/// Results of an emulation.
#[derive(Debug)]
pub struct Emulated {
    /// The network with all flows: first the simulated flows, and then those of programs that have
    /// carried data.
    pub config: Config,
    /// Totals of all flows and of the links.
    pub totals: Totals,
    /// Samples and events during the emulation.
    pub records: Records,
    /// Lateness of packets relative to their due times.
    pub lateness: LatenessSummary,
    /// Start of the measurement window if the emulation ended before it; the whole emulation is
    /// then measured. `None` otherwise.
    pub missed_window: Option<Time>,
    /// Number of packets that hosts sent and the emulation ignored: not IPv4, not for another host,
    /// or not with the address of the sending host.
    pub stray_pkts: u64,
    /// Number of packets that the capture does not contain.
    pub missed_pkts: u64,
    /// Use of the machine's processors during the emulation.
    pub busy: Busy,
    /// Reason why the loop did not run with real-time priority; `None` if it did.
    pub not_real_time: Option<String>,
    /// The programs and their exit codes.
    pub programs: Vec<EndedProgram>,
}

/// Results of [`run_loop`], which the emulation's thread returns.
struct Looped {
    config: Config,
    forwarder: Forwarder,
    records: Records,
    totals: Result<Totals, SetupError>,
    not_real_time: Option<String>,
}

/// A running emulation. Dropping it ends neither the emulation nor its programs;
/// [`Emulation::stop`] and [`Emulation::finish`] do.
#[derive(Debug)]
pub struct Emulation {
    thread: JoinHandle<Looped>,
    stop: StopRequest,
    programs: Vec<(Program, Running)>,
    sampler: Option<Sampler>,
    busy: Busy,
}

impl std::fmt::Debug for Looped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Looped").finish_non_exhaustive()
    }
}

impl Emulation {
    /// Creates the hosts, starts the loop, and then starts the programs; the program in the
    /// foreground is last, when the others listen.
    ///
    /// # Errors
    ///
    /// Fails if the configuration cannot carry real packets, if two hosts have no path, if the
    /// machine lacks permissions or devices, if the kernel refuses a sysctl, or if a program cannot
    /// be started.
    pub fn start(setup: Setup) -> Result<Self, Refusal> {
        Refusal::check(&setup.config)?;
        check_paths(&setup.config, &setup.hosts)?;
        let mut hosts = Vec::new();
        for (number, &node) in setup.hosts.iter().enumerate() {
            let name = setup.config.nodes[node].as_str();
            hosts.push(Host::create(number, (node, name), &setup.sysctls)?);
        }
        let names = hosts_file(&hosts);
        let mut networks = Vec::new();
        let mut inquiries = Vec::new();
        let mut ports = Vec::new();
        for host in hosts {
            networks.push(host.network);
            inquiries.push(host.inquiry);
            ports.push(host.port);
        }
        let (stop, sockets) = (StopRequest::default(), Sockets::default());
        let every = setup.config.measure.every.map(|every| every.as_secs_f64());
        let busy = Busy::begin();
        let newest = Arc::clone(&sockets);
        let (config, tap, asked) = (setup.config, setup.tap.map(Tap::new), stop.clone());
        let thread = thread::Builder::new().name("longhaul-emulate".to_string());
        let thread = thread
            .spawn(move || run_loop(config, ports, newest, tap, asked))
            .map_err(|error| Refusal::new(format!("cannot start a thread: {error}"), ""))?;
        let mut emulation = Self {
            thread,
            stop: stop.clone(),
            programs: Vec::new(),
            sampler: None,
            busy,
        };
        let (foreground, background): (Vec<Program>, Vec<Program>) = setup
            .programs
            .into_iter()
            .partition(|one| one.is_in_foreground);
        for program in background {
            let network = networks[program.host].as_fd();
            match Running::start(&program, network, &names, || {}) {
                Ok(running) => emulation.programs.push((program, running)),
                Err(refusal) => return Err(emulation.abandon(refusal)),
            }
        }
        emulation.await_listeners(&mut inquiries);
        emulation.sampler = every.map(|every| {
            Sampler::begin(
                inquiries,
                Duration::from_secs_f64(every),
                Arc::clone(&sockets),
            )
        });
        for program in foreground {
            let stop = stop.clone();
            let on_end = move || {
                thread::sleep(LINGER);
                stop.make();
            };
            match Running::start(&program, networks[program.host].as_fd(), &names, on_end) {
                Ok(running) => emulation.programs.push((program, running)),
                Err(refusal) => return Err(emulation.abandon(refusal)),
            }
        }
        Ok(emulation)
    }

    /// Waits, at most [`MAX_START`], until each host with a started program has a listening TCP
    /// socket.
    fn await_listeners(&self, inquiries: &mut [Inquiry]) {
        const STEP: Duration = Duration::from_millis(5);
        let mut waited = Duration::ZERO;
        let silent = |inquiries: &mut [Inquiry]| {
            let hosts = self.programs.iter().map(|(program, _)| program.host);
            let mut hosts = hosts.map(|host| inquiries[host].has_listener().unwrap_or(true));
            hosts.any(|listens| !listens)
        };
        while waited < MAX_START && silent(inquiries) {
            thread::sleep(STEP);
            waited += STEP;
        }
    }

    /// Ends everything that has been started, and returns `refusal`.
    fn abandon(self, refusal: Refusal) -> Refusal {
        self.stop.make();
        let _ = self.finish();
        refusal
    }

    /// Ends the emulation early.
    pub fn stop(&self) {
        self.stop.make();
    }

    /// Returns true if the loop has ended: at the end of the duration, after the program in the
    /// foreground, after [`Self::stop`], or with an error.
    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for the end of the loop, ends all programs and returns the results.
    ///
    /// # Errors
    ///
    /// Fails if the loop could not set up a flow of the configuration, or has panicked.
    pub fn finish(self) -> Result<Emulated, Refusal> {
        let looped = self.thread.join();
        let programs = self.programs.into_iter().map(|(program, running)| {
            let (status, was_asked) = running.end();
            let code = status.and_then(|status| status.code());
            EndedProgram {
                program,
                code: code.unwrap_or(-1),
                was_asked,
            }
        });
        let programs = programs.collect();
        if let Some(sampler) = self.sampler {
            sampler.end();
        }
        let looped = looped.map_err(|_| Refusal::new("the loop has panicked", ""))?;
        let mut totals = looped.totals?;
        let (forwarder, mut config) = (looped.forwarder, looped.config);
        totals.data_packets += forwarder.data_packets();
        let from = config.measure.from;
        let missed_window = (totals.end <= from).then_some(from);
        if missed_window.is_some() {
            config.measure.from = Time::ZERO;
        }
        for &number in &forwarder.recorded {
            let flow = &forwarder.flows[number as usize];
            config.flows.push(config_of(&forwarder, flow));
            totals.flows.push(flow.totals());
            if let Some(delays) = &mut totals.delays {
                delays.flows.push(flow.delays.clone());
            }
        }
        Ok(Emulated {
            config,
            totals,
            records: looped.records,
            lateness: forwarder.lateness.summary(),
            missed_window,
            stray_pkts: forwarder.stray_pkts,
            missed_pkts: forwarder.missed_pkts(),
            busy: self.busy.end(),
            not_real_time: looped.not_real_time,
            programs,
        })
    }
}

/// Runs the loop of the emulation. The emulation's own thread calls this function.
fn run_loop(
    config: Config,
    ports: Vec<Port>,
    sockets: Sockets,
    tap: Option<Tap>,
    stop: StopRequest,
) -> Looped {
    let not_real_time = system::run_in_real_time(PRIORITY).err();
    let mut records = Records::new(stop);
    let mut forwarder = Forwarder::new(ports, config.flows.len(), sockets, tap, system::now_ns());
    let totals = simulation::emulate(&config, &mut forwarder, &mut records);
    Looped {
        config,
        forwarder,
        records,
        totals,
        not_real_time: not_real_time.map(|error| error.to_string()),
    }
}

/// Returns the configuration of a program's flow, for the records.
fn config_of(forwarder: &Forwarder, flow: &Flow) -> FlowConfig {
    let (from, to) = flow.ends;
    let name = forwarder.name(flow);
    FlowConfig {
        label: flow.label(),
        bundle: name.clone(),
        name,
        from,
        to,
        start: Start::At(flow.totals().start),
        stop: None,
        via: None,
        via_back: None,
        traced: Vec::new(),
        clock: Default::default(),
        transport: Transport::Outside(OutsideFlow {
            congestion: flow.congestion().map(str::to_string),
        }),
    }
}

/// Returns the text of `/etc/hosts` for all hosts. The name of a host is that of its node.
fn hosts_file(hosts: &[Host]) -> String {
    let ports = hosts.iter().map(|host| &host.port);
    let lines = ports.map(|port| format!("{} {}\n", port.address, port.name));
    let own = "127.0.0.1 localhost\n".to_string();
    std::iter::once(own).chain(lines).collect()
}

/// Refuses a pair of hosts without a path.
fn check_paths(config: &Config, hosts: &[usize]) -> Result<(), Refusal> {
    let links = config.links.iter();
    let links = links.map(|link| (link.from, link.to, link.delay));
    let graph = Graph::new(config.nodes.len(), links);
    for &from in hosts {
        for &to in hosts.iter().filter(|&&to| to != from) {
            if graph.shortest_path(from, to).is_none() {
                let [from, to] = [from, to].map(|node| &config.nodes[node]);
                let message = format!("there is no path from node `{from}` to node `{to}`");
                return Err(Refusal::new(message, "programs need both directions"));
            }
        }
    }
    Ok(())
}
