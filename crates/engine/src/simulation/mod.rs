//! Runs a [`Config`].

use crate::config::Config;
use crate::measure::{Recorder, Totals};

/// Simulates `config`, reporting to `recorder`.
pub fn run(_config: &Config, _recorder: &mut dyn Recorder) -> Totals {
    unreachable!("being written")
}
