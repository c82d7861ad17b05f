//! Both ends of a connection, as the engine knows them.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use longhaul_engine::stack::{EcnCodepoint, Host, Stack, StackNote, StackReport, StackSetup};
use longhaul_scenario::QuicStack;
use longhaul_units::{Span, Time};
use quinn_proto::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TransportConfig};

use super::application::{Reader, Writer};
use super::chance::{CountedIdentifiers, StoppedClock, initial_identifier};
use super::end::{Application, End};
use super::observed::{ControllerSource, Observing, Shared, finite};
use super::session::NoEncryption;

/// How far the clock of a connection is ahead of the machine's when the connection is made, so that the stack can
/// subtract any time that it knows: differences alone matter.
const AHEAD: Duration = Duration::from_secs(90_000);

/// A connection of quinn.
#[derive(Debug)]
pub(crate) struct Pair {
    /// Time zero of the simulation.
    zero: Instant,
    /// By number of the host.
    ends: [End; 2],
    client: Host,
    /// To open the connection with.
    client_config: Option<ClientConfig>,
    sender: Shared,
    is_finished: bool,
    is_lost: bool,
}

impl Pair {
    /// Makes the connection of a flow. `transport` gives the configuration of both ends, without their controllers.
    pub(crate) fn new(
        settings: &QuicStack,
        setup: &StackSetup,
        controllers: ControllerSource,
        transport: impl Fn(&QuicStack) -> TransportConfig,
    ) -> Self {
        let client = settings.client.host();
        let sender = Shared::default();
        sender.lock().traced = setup.traced;
        let config = |host: Host| {
            let mut config = transport(settings);
            // That of the receiver controls acknowledgements at most, which are not controlled.
            let shared = match host {
                Host::Sender => sender.clone(),
                Host::Receiver => Shared::default(),
            };
            let source = Arc::clone(&controllers);
            config.congestion_controller_factory(Arc::new(Observing { source, shared }));
            Arc::new(config)
        };
        let mut client_config = ClientConfig::new(Arc::new(NoEncryption));
        client_config
            .transport_config(config(client))
            .initial_dst_cid_provider(Arc::new(initial_identifier));
        let mut server_config = ServerConfig::new(Arc::new(NoEncryption), Arc::new(NoEncryption));
        server_config
            .transport_config(config(other(client)))
            .time_source(Arc::new(StoppedClock));
        let server_config = Arc::new(server_config);
        let end = |host: Host| {
            let server = (host != client).then(|| Arc::clone(&server_config));
            let application = match host {
                Host::Sender => Application::Sends(Writer::new(setup.transfer)),
                Host::Receiver => Application::Receives(Reader::new(settings.ordered)),
            };
            End::new(
                endpoint(host, setup.seed, server),
                address(other(host)),
                application,
            )
        };
        Self {
            zero: Instant::now() + AHEAD,
            ends: Host::BOTH.map(end),
            client,
            client_config: Some(client_config),
            sender,
            is_finished: false,
            is_lost: false,
        }
    }

    /// The stack's time: rounded down, so that an event within a nanosecond happens at its beginning.
    fn at(&self, now: Time) -> Instant {
        self.zero + Duration::from_nanos(now.as_ps() / 1000)
    }

    fn time(&self, at: Instant) -> Time {
        Time::ZERO + span(at.saturating_duration_since(self.zero))
    }

    fn end(&mut self, host: Host) -> &mut End {
        &mut self.ends[host as usize]
    }
}

/// The other end.
fn other(host: Host) -> Host {
    match host {
        Host::Sender => Host::Receiver,
        Host::Receiver => Host::Sender,
    }
}

fn address(host: Host) -> SocketAddr {
    (Ipv4Addr::new(10, 0, 0, 1 + host as u8), 443).into()
}

fn endpoint(host: Host, seed: u64, server: Option<Arc<ServerConfig>>) -> Endpoint {
    let mut config = EndpointConfig::new(Arc::new(NoEncryption));
    let mut bytes = [host as u8; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    config
        .rng_seed(Some(bytes))
        .cid_generator(move || Box::new(CountedIdentifiers::of_end(host as u8)));
    Endpoint::new(Arc::new(config), server, true, None)
}

fn span(duration: Duration) -> Span {
    let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    Span::from_ps(nanoseconds.saturating_mul(1000))
}

impl Stack for Pair {
    fn start(&mut self, now: Time) {
        let at = self.at(now);
        let client = self.client;
        if let Some(config) = self.client_config.take() {
            self.end(client).connect(at, config);
        }
    }

    fn stop(&mut self, _: Time) {
        self.end(Host::Sender).stop();
    }

    fn receive(&mut self, host: Host, now: Time, ecn: EcnCodepoint, datagram: &[u8]) {
        let at = self.at(now);
        self.end(host).receive(at, ecn, datagram);
    }

    fn expire(&mut self, host: Host, now: Time) {
        let at = self.at(now);
        self.end(host).expire(at);
    }

    fn poll(&mut self, host: Host, now: Time, datagram: &mut Vec<u8>) -> Option<EcnCodepoint> {
        let at = self.at(now);
        self.end(host).poll(at, datagram)
    }

    fn deadline(&mut self, host: Host) -> Option<Time> {
        let at = self.end(host).deadline()?;
        Some(self.time(at))
    }

    fn report(&self, now: Time) -> StackReport {
        let [sender, receiver] = &self.ends;
        let read = match &receiver.application {
            Application::Receives(reader) => reader.bytes(),
            Application::Sends(_) => 0,
        };
        let Some(connection) = sender.connection() else {
            return StackReport::default();
        };
        let observed = self.sender.lock();
        let metrics = connection.congestion_state().metrics();
        let sampled = observed.rtt_samples > 0;
        StackReport {
            cwnd: Some(observed.packets(metrics.congestion_window)),
            ssthresh: finite(metrics.ssthresh).map(|bytes| observed.packets(bytes)),
            srtt: if sampled {
                span(connection.rtt())
            } else {
                Span::ZERO
            },
            in_flight: observed.packets(observed.in_flight).round() as u64,
            lost_pkts: connection.stats().path.lost_packets,
            delivered_bytes: read,
            in_order_bytes: read,
            rtt_samples: observed.rtt_samples,
            rtt_sum: span(observed.rtt_sum),
            rtt_min: observed.rtt_min.map_or(Span::ZERO, span),
            rtt_max: span(observed.rtt_max),
            cuts_loss: observed.cuts_loss,
            cuts_ecn: observed.cuts_ecn,
            timeouts: observed.persistent_congestions,
            cwnd_integral: observed.integral_at(self.at(now)),
            finish: sender.finished.map(|at| self.time(at)),
        }
    }

    fn restart_extremes(&mut self) {
        let mut observed = self.sender.lock();
        observed.rtt_min = None;
        observed.rtt_max = Duration::ZERO;
    }

    fn take_notes(&mut self, notes: &mut Vec<StackNote>) {
        notes.append(&mut self.sender.lock().notes);
        if !self.is_finished && self.ends[0].finished.is_some() {
            self.is_finished = true;
            notes.push(StackNote::Finished);
        }
        for (end, host) in self.ends.iter_mut().zip(["sending", "receiving"]) {
            // What closes after the transfer is done with.
            if let Some(reason) = end.lost.take()
                && !self.is_finished
                && !self.is_lost
            {
                self.is_lost = true;
                let reason = format!("{reason} (seen by the {host} end)");
                notes.push(StackNote::ConnectionLost(reason));
            }
        }
    }
}
