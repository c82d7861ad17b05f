//! The users of MesoNet: sources that ask for one file after the other, and those who receive them.
//!
//! Spec 004a B.5.1, B.5.2 and B.10, 004d B.5 and B.6. A source chooses a file and an idle receiver under
//! another backbone router, and thinks when the file is there. What kind of randomness is drawn has a
//! stream of its own, as in the original: two runs that differ in one of them have the others in
//! common.

mod admission;
mod files;
mod receivers;
mod sources;

pub(crate) use self::admission::UnderWay;
pub(crate) use self::files::{Choice, FileChooser};
pub(crate) use self::receivers::{Receiver, Receivers};
pub(crate) use self::sources::{Sources, draw_algorithm};
