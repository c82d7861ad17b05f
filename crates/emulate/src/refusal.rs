//! Reasons why an emulation cannot run.

use longhaul_engine::config::{Clock, Config};
use longhaul_engine::simulation::SetupError;

/// Reason why an emulation cannot run, with advice to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Reason why the emulation cannot run.
    pub message: String,
    /// Advice for the user; empty if there is none.
    pub advice: &'static str,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>, advice: &'static str) -> Self {
        Self {
            message: message.into(),
            advice,
        }
    }

    /// Refuses a configuration with features that do not work with real packets.
    pub(crate) fn check(config: &Config) -> Result<(), Self> {
        for link in &config.links {
            let (name, kind) = (&link.name, link.queue.kind());
            if matches!(kind, "xcp" | "vcp") {
                let message = format!(
                    "link `{name}`: queue.kind = \"{kind}\" reads and writes a header that real packets do not have"
                );
                return Err(Self::new(message, "choose another queue discipline"));
            }
        }
        if config.captures() {
            let message = "measure.capture writes headers of simulated packets";
            return Err(Self::new(message, "the option --pcap writes the real ones"));
        }
        if config.clock == Clock::Ns2 {
            let message = "clock = \"ns2\" is a simulator's arithmetic; the wall clock has its own";
            return Err(Self::new(message, "set clock = \"exact\""));
        }
        if config.measure.stop.is_some() {
            let message = "measure.stop counts exchanges of simulated flows";
            return Err(Self::new(
                message,
                "an emulation ends with its command, or after `duration`",
            ));
        }
        Ok(())
    }
}

impl From<SetupError> for Refusal {
    fn from(error: SetupError) -> Self {
        Self::new(error.to_string(), "")
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.advice {
            "" => write!(f, "{}", self.message),
            advice => write!(f, "{}; {advice}", self.message),
        }
    }
}
