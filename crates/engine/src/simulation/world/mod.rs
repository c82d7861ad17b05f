//! The state of a simulation: the network, the flows, and the measurements.

mod setup;

use longhaul_units::{Span, Time};

use super::AHEAD;
use super::journal::Journal;
use super::outside::OutsideFlows;
use super::window::Baseline;
use crate::config::Config;
use crate::measure::{
    Control, Delays, FlowCounters, FlowSample, FlowTotals, LinkTotals, ProxyTotals, Recorder,
    Ticker, Totals,
};
use crate::proxy::{Endpoints, Proxies};
use crate::schedule::{Event, Schedule};
use crate::traffic::{MessageSource, Traffic};
use crate::transport::Env;
use crate::transport::stack::{StackConnection, StackConnections};
use crate::transport::tcp::Connection;
use crate::transport::udp::UdpStream;

pub(super) use self::setup::{build_controller, flow_stream};

/// All parts of a simulation, in vectors that are indexed by small ids.
#[derive(Debug)]
pub(super) struct World {
    pub(super) env: Env,
    pub(super) tcp: Vec<Connection>,
    pub(super) udp: Vec<UdpStream>,
    pub(super) stacks: StackConnections,
    /// Flows of real programs, in emulations.
    pub(super) outside: OutsideFlows,
    pub(super) traffic: Traffic,
    pub(super) messages: Vec<MessageSource>,
    pub(super) proxies: Proxies,
    pub(super) flows: Vec<FlowSlot>,
    /// Flag that requests a progress report. The recorder's owner sets it from another thread.
    pub(super) ticker: Ticker,
    /// Wire form of packets in flight, for the capture. Empty if no packets are captured.
    pub(super) journal: Journal,
    /// True if connections are prefetched: there are more of them than the faster caches can hold.
    pub(super) prefetches: bool,
    every: Option<Span>,
    measures_delays: bool,
    progress_every: Span,
    baseline: Baseline,
}

/// Transport of a flow, with the flow's start and stop.
#[derive(Debug)]
pub(super) struct FlowSlot {
    pub(super) kind: Kind,
    /// Index of the application that gives messages to the flow's connection; `None` without one.
    pub(super) messages: Option<usize>,
    start: Time,
    /// Start of the flow in ns-2's arithmetic, in seconds.
    start_s: f64,
    pub(super) stop: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Indices of the TCP connections at the flow's source (`from`) and at its destination (`to`). They differ if a
    /// proxy splits the flow.
    Tcp {
        from: usize,
        to: usize,
    },
    Udp(usize),
    Stack(usize),
    Traffic(usize),
}

impl World {
    /// Schedules the events known in advance: starts, stops, measurement, progress, checks of proxies and the end. With
    /// a stop rule, forbids lookahead until traffic sources know a lower bound of the end.
    pub(super) fn enter_initial_events(&mut self, config: &Config) {
        let schedule: &mut Schedule = &mut self.env.network.schedule;
        for (slot, flow) in self.flows.iter().zip(0..) {
            schedule.push_timer(slot.start, Event::Start(flow));
            if let Some(stop) = slot.stop {
                schedule.push_timer(stop, Event::Stop(flow));
            }
        }
        if config.measure.stop.is_some() {
            schedule.bound_lookahead(Time::ZERO);
        }
        schedule.push_observation(config.measure.from, Event::MeasureFrom);
        if self.every.is_some() {
            schedule.push_observation(Time::ZERO, Event::Sample);
        }
        schedule.push_observation(Time::ZERO + self.progress_every, Event::Progress);
        schedule.push_observation(config.duration, Event::End);
        self.proxies.start(&mut self.env);
    }

    pub(super) fn start(&mut self, flow: u32) {
        let slot = &self.flows[flow as usize];
        self.env.network.set_ns2_clock(slot.start_s);
        match slot.kind {
            Kind::Tcp { from, .. } => self.tcp[from].sender.start(&mut self.env),
            Kind::Udp(index) => self.udp[index].start(&mut self.env),
            Kind::Stack(index) => self.stacks[index].start(&mut self.env),
            Kind::Traffic(index) => self.traffic.start(index, &mut self.env),
        }
        if let Some(application) = slot.messages {
            self.messages[application].start(&mut self.env);
        }
    }

    pub(super) fn stop(&mut self, flow: u32) {
        let slot = &self.flows[flow as usize];
        if let Some(application) = slot.messages {
            self.messages[application].stop();
        }
        match slot.kind {
            Kind::Tcp { from, to } => {
                self.tcp[from].sender.stop();
                if from != to {
                    let (proxies, mut ends, env) = self.at_proxies();
                    proxies.on_stop(from, &mut ends, env);
                }
            }
            Kind::Udp(index) => self.udp[index].stop(),
            Kind::Stack(index) => self.stacks[index].stop(&mut self.env),
            Kind::Traffic(index) => self.traffic.stop(index),
        }
    }

    /// Returns the proxies, together with the state that their methods use.
    pub(super) fn at_proxies(&mut self) -> (&mut Proxies, Endpoints<'_>, &mut Env) {
        let ends = Endpoints {
            tcp: &mut self.tcp,
            traffic: &mut self.traffic,
        };
        (&mut self.proxies, ends, &mut self.env)
    }

    /// Records the state of every flow that has started, every sampled link and every proxy. Schedules the next sample.
    pub(super) fn sample(&mut self, recorder: &mut dyn Recorder) {
        let now = self.env.network.now;
        let traffic = self.traffic.samples(now);
        for (slot, flow) in self.flows.iter().zip(0..) {
            if slot.start > now {
                continue;
            }
            // Most scenarios give a flow and its connection the same number; in other scenarios, the prefetch has no
            // use.
            if self.prefetches
                && let Some(connection) = self.tcp.get(flow as usize + AHEAD)
            {
                connection.prefetch_for_sample();
            }
            recorder.flow_sample(&match slot.kind {
                Kind::Tcp { from, to } => {
                    let received = self.tcp[to].received();
                    received.sampled_in(self.tcp[from].sender.sample(now))
                }
                Kind::Udp(index) => sum_sample(now, flow, &self.udp[index].counters(), 0),
                Kind::Stack(index) => self.stacks[index].sample(now),
                Kind::Traffic(index) => {
                    let (counters, in_flight) = &traffic[index];
                    sum_sample(now, flow, counters, *in_flight)
                }
            });
        }
        for sample in self.env.network.samples() {
            recorder.link_sample(&sample);
        }
        for sample in self.proxies.samples(now, &mut self.tcp) {
            recorder.proxy_sample(&sample);
        }
        if let Some(every) = self.every {
            let schedule = &mut self.env.network.schedule;
            schedule.push_observation(now + every, Event::Sample);
        }
    }

    /// Passes the events and exchanges recorded since the last call to the recorder.
    pub(super) fn flush(&mut self, recorder: &mut dyn Recorder) {
        self.env.log.flush(recorder);
        let exchanges = self.traffic.log.drain(..);
        exchanges.for_each(|exchange| recorder.exchange(&exchange));
    }

    /// Passes everything that was recorded to the recorder at the end of the run, including exchanges in progress.
    pub(super) fn flush_all(&mut self, recorder: &mut dyn Recorder) {
        self.flush(recorder);
        self.record_logs(recorder);
        let unfinished = self.traffic.unfinished();
        unfinished
            .iter()
            .for_each(|exchange| recorder.exchange(exchange));
    }

    /// Passes the logs of foreign stacks to the recorder.
    fn record_logs(&mut self, recorder: &mut dyn Recorder) {
        let now = self.env.network.now;
        for connection in self.stacks.iter_mut() {
            connection.record_log(now, recorder);
        }
    }

    /// Reports progress to the recorder, passes the logs of foreign stacks, and schedules the next report.
    pub(super) fn report_progress(&mut self, recorder: &mut dyn Recorder) -> Control {
        self.record_logs(recorder);
        let now = self.env.network.now;
        let schedule = &mut self.env.network.schedule;
        schedule.push_observation(now + self.progress_every, Event::Progress);
        recorder.progress(now, &mut || self.data_packets())
    }

    /// Reports progress; returns true if the recorder stops the run. Called when the ticker requests a report.
    #[cold]
    pub(super) fn is_stopped(&mut self, recorder: &mut dyn Recorder) -> bool {
        let now = self.env.network.now;
        recorder.progress(now, &mut || self.data_packets()) == Control::Stop
    }

    /// Returns the number of data packets sent by all flows, and by proxies for them. The call must not change results,
    /// since the times of calls depend on the wall clock.
    pub(super) fn data_packets(&mut self) -> u64 {
        let tcp: u64 = self.tcp.iter().map(|tcp| tcp.sender.sent_pkts()).sum();
        let udp: u64 = self.udp.iter().map(UdpStream::sent_pkts).sum();
        let stacks = self.stacks.iter();
        let stacks: u64 = stacks.map(StackConnection::sent_pkts).sum();
        tcp + udp + stacks + self.traffic.sent_pkts()
    }

    /// Returns the counters of every flow up to now.
    fn flow_counters(&mut self) -> Vec<FlowCounters> {
        let now = self.env.network.now;
        let traffic = self.traffic.counters(now);
        let drops = self.env.network.flow_drops(self.tcp.len());
        let datagram_drops = self.env.network.datagram_drops();
        let counters = self.flows.iter().map(|slot| match slot.kind {
            Kind::Tcp { from, to } => {
                let received = self.tcp[to].received();
                let dropped = drops[from];
                FlowCounters {
                    dropped_pkts: dropped.dropped_pkts,
                    marked_pkts: dropped.marked_pkts,
                    ..received.counted_in(self.tcp[from].sender.counters(now))
                }
            }
            Kind::Udp(index) => self.udp[index].counters(),
            Kind::Stack(index) => {
                let connection = &self.stacks[index];
                let number = connection.number() as usize;
                let dropped = datagram_drops.get(number).copied().unwrap_or_default();
                FlowCounters {
                    dropped_pkts: dropped.dropped_pkts,
                    marked_pkts: dropped.marked_pkts,
                    ..connection.counters(now)
                }
            }
            Kind::Traffic(index) => traffic[index],
        });
        counters.collect()
    }

    /// Opens the measurement window: stores all counters, and restarts the records of delays, smallest values and
    /// largest values.
    pub(super) fn open_window(&mut self) {
        let now = self.env.network.now;
        let proxies = self.proxies.counters(now, &mut self.tcp);
        let mut flows = self.flow_counters();
        flows.extend(proxies.iter().map(|proxy| proxy.carrier));
        let mut links = self.env.network.counters();
        links.extend(proxies.iter().map(|proxy| proxy.queue));
        let traffic = self.traffic.restart_extremes(now);
        let rtt_extremes = self.flows.iter().map(|slot| match slot.kind {
            Kind::Tcp { from, .. } => self.tcp[from].sender.restart_extremes(),
            Kind::Udp(_) => (Span::ZERO, Span::ZERO),
            Kind::Stack(index) => self.stacks[index].restart_extremes(now),
            Kind::Traffic(index) => traffic[index],
        });
        let mut rtt_extremes: Vec<_> = rtt_extremes.collect();
        for carrier in self.proxies.carriers() {
            rtt_extremes.push(self.tcp[carrier].sender.restart_extremes());
        }
        let mut queue_maxima = self.env.network.restart_maxima();
        queue_maxima.extend(self.proxies.restart_maxima());
        self.env.delays.restart();
        self.env.network.restart_waits();
        self.baseline = Baseline {
            flows,
            links,
            rtt_extremes,
            queue_maxima,
            proxies,
        };
    }

    /// Returns warnings for readers of the results.
    fn run_warnings(&self) -> Vec<String> {
        let mut warnings = self.traffic.run_warnings();
        let lost = self.stacks.iter();
        warnings.extend(lost.filter_map(StackConnection::run_warning));
        warnings
    }

    /// Returns true if each link with delay boxes has as many of them as there are flows and connections now.
    fn boxes_are_up_to_date(&mut self) -> bool {
        let datagrams = self.udp.len() + self.stacks.len() + self.outside.len();
        let alive = self.tcp.len() + datagrams + self.traffic.open_connections();
        self.env.network.boxed_flows().all(|flows| flows == alive)
    }

    /// Returns a text that names the link with most packets, and the group of the flow with most segments in flight.
    /// Only flows with a TCP connection of their own count, not those of traffic sources.
    pub(super) fn describe_largest_holders(&mut self, config: &Config) -> String {
        let now = self.env.network.now;
        let link = self.env.network.fullest_link().map(|(link, packets)| {
            let name = &config.links[link].name;
            format!("link `{name}` has {packets} packets under way")
        });
        let flows = self.flows.iter().zip(&config.flows);
        let in_flight = flows.filter_map(|(slot, flow)| match slot.kind {
            Kind::Tcp { from, .. } => {
                let sample = self.tcp[from].sender.sample(now);
                Some((sample.in_flight, &flow.label))
            }
            Kind::Udp(_) | Kind::Stack(_) | Kind::Traffic(_) => None,
        });
        let flow = in_flight.max_by_key(|&(segments, _)| segments);
        let flow = flow.map(|(segments, label)| {
            format!("a flow of `{label}` has {segments} segments in flight")
        });
        link.into_iter().chain(flow).collect::<Vec<_>>().join(", ")
    }

    /// Returns the results of the run. `stopped` is true if it was stopped early.
    pub(super) fn totals(mut self, stopped: bool) -> Totals {
        debug_assert!(self.boxes_are_up_to_date());
        let flow_counters = self.flow_counters();
        let link_counters = self.env.network.counters();
        let proxies = self.proxies.counters(self.env.network.now, &mut self.tcp);
        let before = (flow_counters.len(), link_counters.len());
        let data_packets = self.data_packets();
        let now = self.env.network.now;
        let flows = self.flows.iter().zip(flow_counters).enumerate();
        let flows = flows.map(|(id, (slot, counters))| {
            let (total, window) = self.baseline.split_flow(id, counters);
            let finish = match slot.kind {
                Kind::Tcp { to, .. } => self.tcp[to].sender.finish(),
                Kind::Stack(index) => self.stacks[index].finish(now),
                Kind::Udp(_) | Kind::Traffic(_) => None,
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
        let proxies = proxies.into_iter().enumerate().map(|(number, counters)| {
            let (total, window) = self.baseline.split_proxy(number, before, counters);
            ProxyTotals { total, window }
        });
        let delays = self.measures_delays.then(|| Delays {
            flows: std::mem::take(&mut self.env.delays.0),
            links: self.env.network.waits(),
        });
        let schedule = &self.env.network.schedule;
        Totals {
            end: self.env.network.now,
            stopped,
            out_of_memory: None,
            flows: flows.collect(),
            links: links.collect(),
            proxies: proxies.collect(),
            delays,
            data_packets,
            events: schedule.events,
            events_pending_max: schedule.pending_max as u64,
            run_warnings: self.run_warnings(),
        }
    }
}

/// Returns the sample of a datagram stream or of many connections combined, both without a congestion window.
fn sum_sample(now: Time, flow: u32, counters: &FlowCounters, in_flight: u64) -> FlowSample {
    FlowSample {
        time: now,
        flow,
        cwnd: None,
        ssthresh: None,
        srtt: Span::ZERO,
        in_flight,
        sent_pkts: counters.sent_pkts,
        retransmitted_pkts: counters.retransmitted_pkts,
        delivered_bytes: counters.delivered_bytes,
        in_order_bytes: counters.in_order_bytes,
    }
}
