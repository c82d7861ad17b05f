//! Set-up of a connection: the configurations of both ends, and the ends themselves.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use longhaul_engine::stack::{Host, Stack, StackSetup};
use longhaul_scenario::QuicStack;
use longhaul_units::Span;

use super::application::{Reader, Writer};
use super::chance::{CountedIdentifiers, StoppedClock, initial_identifier};
use super::dialect::{self, proto};
use super::end::{Application, StackEnd};
use super::observed::{ControllerSource, Observing};
use super::session::NoEncryption;
use crate::connection::{Pair, SharedLog, SharedObservation, other, zero};
use proto::{
    AckFrequencyConfig, ClientConfig, Endpoint, EndpointConfig, MtuDiscoveryConfig, ServerConfig,
    TransportConfig, VarInt,
};

/// Creates a connection. `controllers` makes one congestion controller for each end.
pub(crate) fn connection(
    settings: &QuicStack,
    setup: &StackSetup,
    controllers: &ControllerSource,
) -> Box<dyn Stack> {
    let (zero, client) = (zero(), settings.client.host());
    let sender = SharedObservation::of_sender(setup.traced);
    let log = SharedLog::default();
    let end = |host: Host| {
        // The receiving end's controller has no part in the records: after the handshake, this end
        // sends hardly more than acknowledgements, which are not congestion controlled.
        let shared = match host {
            Host::Sender => sender.clone(),
            Host::Receiver => SharedObservation::default(),
        };
        let mut config = transport(settings);
        let source = Arc::clone(controllers);
        config.congestion_controller_factory(Arc::new(Observing { source, shared }));
        if host == Host::Sender && settings.qlog == Some(true) {
            dialect::write_qlog(&mut config, zero, log.clone());
        }
        let config = Arc::new(config);
        let application = match host {
            Host::Sender => Application::Sends(Writer::new(setup.transfer, settings.window.0)),
            Host::Receiver => Application::Receives(Reader::new(settings.ordered)),
        };
        let (opener, server) = match host == client {
            true => (Some(client_config(config)), None),
            false => (None, Some(server_config(config))),
        };
        let endpoint = endpoint(host, setup.seed, server);
        StackEnd::new(endpoint, address(other(host)), opener, application)
    };
    let ends = Host::BOTH.map(end);
    Box::new(Pair::new(zero, client, (sender, log), ends))
}

fn client_config(transport: Arc<TransportConfig>) -> ClientConfig {
    let mut config = ClientConfig::new(Arc::new(NoEncryption));
    config
        .transport_config(transport)
        .initial_dst_cid_provider(Arc::new(initial_identifier));
    config
}

fn server_config(transport: Arc<TransportConfig>) -> Arc<ServerConfig> {
    let mut config = ServerConfig::new(Arc::new(NoEncryption), Arc::new(NoEncryption));
    config
        .transport_config(transport)
        .time_source(Arc::new(StoppedClock));
    Arc::new(config)
}

fn endpoint(host: Host, seed: u64, server: Option<Arc<ServerConfig>>) -> Endpoint {
    let mut config = EndpointConfig::new(Arc::new(NoEncryption));
    let mut bytes = [host as u8; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    config.rng_seed(Some(bytes));
    dialect::endpoint(config, server, move || {
        CountedIdentifiers::of_end(host as u8)
    })
}

fn address(host: Host) -> SocketAddr {
    (Ipv4Addr::new(10, 0, 0, 1 + host as u8), 443).into()
}

/// Returns the transport configuration of an end.
fn transport(settings: &QuicStack) -> TransportConfig {
    let mut config = TransportConfig::default();
    let window = VarInt::from_u64(settings.window.0).unwrap_or(VarInt::MAX);
    config
        .stream_receive_window(window)
        .receive_window(window)
        .send_window(settings.window.0)
        .packet_threshold(settings.packet_threshold.try_into().unwrap_or(u32::MAX))
        .time_threshold(settings.time_threshold as f32)
        .initial_rtt(duration(settings.initial_rtt))
        .max_idle_timeout(settings.idle_timeout.map(|time| {
            let time = duration(time);
            time.try_into().expect("times of scenarios are shorter")
        }));
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(settings.mtu.0 as u16);
    config.mtu_discovery_config(Some(discovery));
    if let Some(threshold) = settings.ack_frequency {
        let mut frequency = AckFrequencyConfig::default();
        frequency
            .ack_eliciting_threshold(VarInt::from_u64(threshold).unwrap_or(VarInt::MAX))
            .max_ack_delay(settings.max_ack_delay.map(duration));
        config.ack_frequency_config(Some(frequency));
    }
    config
}

fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.as_ps() / 1000)
}
