//! Parts that all packet simulations use.
//!
//! - [`random`]: random streams
//! - [`Distribution`]: the distributions that they draw from
//! - [`Heap`]: the heap of an event list
//! - [`prefetch`]: prefetching of the data that events will need
//! - [`Control`]: observing and stopping a run
//! - [`memory`]: limits on the memory of a run
//! - [`record`]: records that declare the columns of tables
//!
//! Functions that are called per packet are marked for inlining, since they are compiled into other
//! crates.

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
