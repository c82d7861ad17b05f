//! Keys of scenario files: what they are called, may hold and mean, and their defaults.
//!
//! A key is declared once, beside the code that uses it, most easily with [`keys!`]: one declaration
//! makes the struct that the code works with, the table of [`Key`]s, and the typed reader that fills
//! the struct from checked [`Values`]. Checking, defaults, `longhaul explain`, `longhaul list keys`, the
//! JSON Schema and the reference follow from the table.

mod defaults;
mod key;
mod macros;
mod profile;
mod range;
mod value;

pub use key::{
    COUNT_MAX, DefaultText, Key, Kind, PROBABILITY, RATE, SIZE, TIME, count, joined, key, required,
};
pub use profile::Profile;
pub use range::{Plain, Range};
pub use value::{Read, Refusal, Value, Values};
