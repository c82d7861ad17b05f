//! noq (noq-proto 1.4.0), n0's fork of quinn: its controllers, its settings, and both ends of a connection, whose source
//! is quinn's where the calls are the same.

#[path = "../quinn/application.rs"]
mod application;
#[path = "../quinn/chance.rs"]
mod chance;
mod dialect;
#[path = "../quinn/end.rs"]
mod end;
mod observed;
mod own;
mod session;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use longhaul_engine::stack::{Host, Stack, StackFactory, StackSetup};
use longhaul_scenario::{FoundStack, OwnAlgorithm, QuicStack, StackError};
use longhaul_units::Span;
use noq_proto::congestion::{Bbr3Config, CubicConfig, NewRenoConfig};
use noq_proto::{
    AckFrequencyConfig, ClientConfig, Endpoint, EndpointConfig, MtuDiscoveryConfig, ServerConfig,
    TransportConfig, VarInt,
};

use self::application::{Reader, Writer};
use self::chance::{CountedIdentifiers, StoppedClock, initial_identifier};
use self::end::{Application, StackEnd};
use self::observed::{ControllerSource, Observing};
use self::own::OwnFactory;
use self::session::NoEncryption;
use crate::connection::{Pair, Shared, other};
use crate::own as algorithm;

/// The stack and its version, as the lock file has it.
const VERSION: &str = "noq-proto 1.4.0";

/// noq's controllers by name; the first is its default.
const CONTROLLERS: [&str; 3] = ["cubic", "newreno", "bbr3"];

/// Finds noq with one of its controllers, or with an algorithm of Longhaul.
pub(crate) fn find(
    settings: &QuicStack,
    own: Option<&OwnAlgorithm>,
) -> Result<FoundStack, StackError> {
    let name = settings.congestion.as_deref().unwrap_or(CONTROLLERS[0]);
    if !CONTROLLERS.contains(&name) {
        let message = format!(
            "noq has no congestion control `{name}`; allowed: {}",
            CONTROLLERS.join(", ")
        );
        return Err(StackError {
            key: "congestion",
            message,
        });
    }
    let mut warnings = own.map_or(Ok(Vec::new()), algorithm::check)?;
    if own.is_none() && name == "bbr3" {
        let reason = "noq's BBR v3 draws from a generator that has no seed: results do not repeat";
        warnings.push(reason.to_string());
    }
    Ok(FoundStack {
        factory: Arc::new(Noq {
            settings: settings.clone(),
            controller: name.to_string(),
            own: own.cloned(),
        }),
        congestion: name.to_string(),
        version: VERSION.to_string(),
        warnings,
    })
}

/// Makes connections of noq.
#[derive(Debug)]
struct Noq {
    settings: QuicStack,
    controller: String,
    own: Option<OwnAlgorithm>,
}

impl StackFactory for Noq {
    fn make(&self, setup: &StackSetup) -> Box<dyn Stack> {
        connection(&self.settings, setup, &self.controller())
    }
}

/// Makes a connection with these controllers.
fn connection(
    settings: &QuicStack,
    setup: &StackSetup,
    controllers: &ControllerSource,
) -> Box<dyn Stack> {
    let (client, sender) = (settings.client.host(), Shared::default());
    let end = |host: Host| {
        // The controller of the receiving end controls acknowledgements at most, which are not controlled.
        let shared = match host {
            Host::Sender => sender.clone(),
            Host::Receiver => Shared::default(),
        };
        let mut config = transport(settings);
        let source = Arc::clone(controllers);
        config.congestion_controller_factory(Arc::new(Observing { source, shared }));
        let config = Arc::new(config);
        let application = match host {
            Host::Sender => Application::Sends(Writer::new(setup.transfer)),
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
    Box::new(Pair::new(client, sender, setup.traced, ends))
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
    config
        .rng_seed(Some(bytes))
        .cid_generator(Arc::new(move || {
            Box::new(CountedIdentifiers::of_end(host as u8))
        }));
    Endpoint::new(Arc::new(config), server, true)
}

fn address(host: Host) -> SocketAddr {
    (Ipv4Addr::new(10, 0, 0, 1 + host as u8), 443).into()
}

impl Noq {
    fn controller(&self) -> ControllerSource {
        if let Some(own) = &self.own {
            return Arc::new(OwnFactory {
                algorithm: own.clone(),
                initial_window: self.settings.initial_window,
            });
        }
        let window = self.settings.initial_window.map(|bytes| bytes.0);
        macro_rules! configured {
            ($config:ty) => {{
                let mut config = <$config>::default();
                window.map(|window| config.initial_window(window));
                Arc::new(config)
            }};
        }
        match self.controller.as_str() {
            "bbr3" => configured!(Bbr3Config),
            "newreno" => configured!(NewRenoConfig),
            _ => configured!(CubicConfig),
        }
    }
}

/// The transport configuration of an end.
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
