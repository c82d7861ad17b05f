//! Hosts: sources and receivers. A source transfers one file after the other, with think times in between.
//!
//! NIST SP 500-282 describes the hosts in chapter 3, and types of files and their admission in chapter 8. A source
//! chooses a file and an idle receiver below another backbone router. Each random quantity has a separate stream of
//! random numbers, as in the original. Runs that differ in one quantity therefore draw the others from the same
//! sequences of random numbers, but not always for the same sources.

mod admission;
mod files;
mod receivers;
mod sources;

pub(crate) use self::admission::ActiveLargeFiles;
pub(crate) use self::files::{ChosenFile, FileChooser};
pub(crate) use self::receivers::{Receivers, ReceivingHost};
pub(crate) use self::sources::{Sources, draw_algorithm};
