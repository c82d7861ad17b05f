//! What simulations of packets share, whatever they simulate.
//!
//! Random streams ([`random`]) and the distributions that they draw from, the heap of an event list ([`Heap`]),
//! prefetching of what events will need ([`prefetch`]), how a run is observed and stopped ([`Control`]) and how much memory it
//! may take ([`memory`]), and records that
//! declare the columns of tables ([`record`]). What is called per packet is marked for inlining, since it is compiled into
//! other crates.

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
