//! Keys of scenario files: their names, allowed values, meanings and defaults.
//!
//! A key is declared once, next to the code that uses it, with [`keys!`]. One declaration makes a struct, the table of
//! [`Key`]s, the reader that fills the struct from a checked [`Table`], and the [`Field`]s for access to the table.
//! Checking, defaults, `longhaul explain`, `longhaul list keys`, the JSON Schema and the reference all follow from the
//! declarations.

mod defaults;
mod field;
mod key;
mod macros;
mod origin;
mod profile;
mod range;
mod text;
mod tree;

pub use field::{Field, KIND};
pub use key::{
    COUNT_MAX, DefaultText, Key, Kind, PROBABILITY, RATE, SIZE, TIME, count, joined, key, required,
};
pub use origin::{Origin, Source};
pub use profile::Profile;
pub use range::{Plain, Range};
pub use text::{NAME_MAX, check_name, check_text, printable};
pub use tree::{Node, Read, Refusal, Table, Value};
