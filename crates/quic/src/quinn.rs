//! quinn (quinn-proto 0.11.19): its controllers and its settings.

use std::sync::Arc;
use std::time::Duration;

use longhaul_engine::stack::{Stack, StackFactory, StackSetup};
use longhaul_scenario::{FoundStack, OwnAlgorithm, QuicStack, StackError};
use longhaul_units::Span;
use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
use quinn_proto::{AckFrequencyConfig, MtuDiscoveryConfig, TransportConfig, VarInt};

use crate::connection::{ControllerSource, Pair};
use crate::own::{self, OwnFactory};

/// The stack and its version, as the lock file has it.
const VERSION: &str = "quinn-proto 0.11.19";

/// quinn's controllers by name; the first is its default.
const CONTROLLERS: [&str; 3] = ["cubic", "newreno", "bbr"];

/// Finds quinn with one of its controllers, or with an algorithm of Longhaul.
pub(crate) fn find(
    settings: &QuicStack,
    own: Option<&OwnAlgorithm>,
) -> Result<FoundStack, StackError> {
    let name = settings.congestion.as_deref().unwrap_or(CONTROLLERS[0]);
    if !CONTROLLERS.contains(&name) {
        let message = format!(
            "quinn has no congestion control `{name}`; allowed: {}",
            CONTROLLERS.join(", ")
        );
        return Err(StackError {
            key: "congestion",
            message,
        });
    }
    let warnings = own.map_or(Ok(Vec::new()), own::check)?;
    Ok(FoundStack {
        factory: Arc::new(Quinn {
            settings: settings.clone(),
            controller: name.to_string(),
            own: own.cloned(),
        }),
        congestion: name.to_string(),
        version: VERSION.to_string(),
        warnings,
    })
}

/// Makes connections of quinn.
#[derive(Debug)]
struct Quinn {
    settings: QuicStack,
    controller: String,
    own: Option<OwnAlgorithm>,
}

impl StackFactory for Quinn {
    fn make(&self, setup: &StackSetup) -> Box<dyn Stack> {
        let controller = self.controller();
        Box::new(Pair::new(&self.settings, setup, controller, transport))
    }
}

impl Quinn {
    fn controller(&self) -> ControllerSource {
        if let Some(own) = &self.own {
            return Arc::new(OwnFactory::new(own, self.settings.initial_window));
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
            "bbr" => configured!(BbrConfig),
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
