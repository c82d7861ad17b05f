//! Checkpoints: the state of a simulation as bytes. A run that is resumed has the same results as one that was never
//! stopped.
//!
//! Everything is stored except event lists, tables that the flows of an algorithm share, and the initial states of the
//! algorithms. These follow from the stored state and from the configuration, which has to be the same. Only the
//! program version that wrote a checkpoint can read it. Callers that store checkpoints have to compare versions.

use super::setup::initial_congestion;
use super::{Run, SetupError, World};
use crate::config::Config;

impl Run<'_> {
    /// Returns the state of the simulation between two intervals, as bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let state = (
            self.common,
            self.places,
            self.mail,
            &*self.coordinator,
            &*self.clock,
        );
        postcard::to_stdvec(&state).expect("plain data")
    }
}

impl World {
    pub(super) fn from_bytes(config: &Config, bytes: &[u8]) -> Result<Self, SetupError> {
        let world = postcard::from_bytes(bytes);
        let mut world: Self = world.map_err(|error| SetupError::Checkpoint(error.to_string()))?;
        let initial = initial_congestion(config)?;
        for mut region in world.places.regions() {
            region.env.network.rebuild();
            region.flows.restore_shared(&initial);
        }
        world.coordinator.setups.initial = initial;
        Ok(world)
    }
}
