//! Checkpoints: the state of a simulation as bytes. A resumed run ends like one that was never stopped.
//!
//! Everything is stored but what follows from the rest: the event list, and tables that the flows of an
//! algorithm share. Only the version that wrote a checkpoint can read it; whoever stores one has to
//! check that.

use super::SetupError;
use super::World;
use super::setup::initial_congestion;
use crate::config::Config;
use crate::records::{Recorder, Totals};

/// Resumes a simulation of `config` from a `state` that [`Recorder::checkpoint`] was given.
///
/// # Errors
///
/// Bytes that are no checkpoint.
pub fn resume(
    config: &Config,
    state: &[u8],
    recorder: &mut dyn Recorder,
) -> Result<Totals, SetupError> {
    let mut world = World::from_bytes(config, state)?;
    let stopped = world.run(recorder);
    Ok(world.totals(stopped))
}

impl World {
    /// The state, between two intervals.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("plain data")
    }

    fn from_bytes(config: &Config, bytes: &[u8]) -> Result<Self, SetupError> {
        let world = postcard::from_bytes(bytes);
        let mut world: Self = world.map_err(|error| SetupError::Checkpoint(error.to_string()))?;
        world.env.network.rebuild();
        world.flows.restore_shared(initial_congestion(config)?);
        Ok(world)
    }
}
