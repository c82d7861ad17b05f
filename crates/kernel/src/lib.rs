//! Parts shared by all packet simulations.
//!
//! Random streams ([`random`]) and the distributions that they draw from, the heap of an event list ([`Heap`]),
//! prefetching of the data that events will need ([`prefetch`]), observing and stopping a run ([`Control`]),
//! limits on its memory ([`memory`]), and records that declare the columns of tables ([`record`]). Functions
//! that are called per packet are marked for inlining, since they are compiled into other crates.

mod columns;
mod control;
mod distribution;
mod heap;
pub mod memory;
pub mod prefetch;
mod quantiles;
pub mod random;

pub use columns::{Columns, Figure, Value};
pub use control::{Control, DataPackets};
pub use distribution::{
    COUNTS, DRAWN_TIMES, Distribution, Drawn, PROBABILITIES, RATES, SIZES, TIMES, in_base_unit,
};
pub use heap::{Heap, Key};
pub use quantiles::{Quantiles, interpolate};
