//! What simulations of packets share, whatever they simulate.
//!
//! Random streams ([`random`]) and the distributions that they draw from, the heap of an event list ([`Heap`]),
//! prefetching of what events will need ([`prefetch`]), and how a run is observed and stopped ([`Control`]). What is
//! called per packet is marked for inlining, since it is compiled into other crates.

mod control;
mod distribution;
mod heap;
pub mod prefetch;
mod quantiles;
pub mod random;

pub use control::{Control, DataPackets};
pub use distribution::{
    COUNTS, DRAWN_TIMES, Distribution, Drawn, PROBABILITIES, RATES, SIZES, TIMES, in_base_unit,
};
pub use heap::{Heap, Key};
pub use quantiles::{Quantiles, interpolate};
