//! The state of a simulation as bytes: a run that goes on from them ends like one that was never stopped.
//!
//! Everything that the world holds is stored but what follows from the rest: which line of packets is
//! next, and tables that the flows of an algorithm share. Only the engine that wrote the bytes can read
//! them; whoever keeps them has to see to that.

use super::SetupError;
use super::World;
use super::setup::fresh;
use crate::config::Config;
use crate::records::{Recorder, Totals};

/// Goes on with a simulation of `config` from a `state` that [`Recorder::checkpoint`] was given.
///
/// # Errors
///
/// Bytes that are no state.
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
        world.env.network.complete();
        world.connections.complete(fresh(config)?);
        Ok(world)
    }
}
