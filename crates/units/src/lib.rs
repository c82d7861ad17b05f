//! Physical quantities of a simulation: points in time, durations, rates and sizes.
//!
//! Time is an integer number of picoseconds (64 bits last 213 days). Sums are therefore exact, and runs repeat bit for
//! bit. Rates are integers in bits per second. Longhaul's other crates use these types, not bare numbers, wherever one
//! of them fits.

mod nearest;
mod quantity;
mod rate;
mod time;

pub use nearest::{nearest, suggestion};
pub use quantity::{Dimension, Quantity, QuantityError, expected};
pub use rate::{Bytes, Rate};
pub use time::{Span, Time};

/// Picoseconds in one second.
pub const PS_PER_S: u64 = 1_000_000_000_000;
