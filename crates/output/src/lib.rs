//! Result tables, packet captures, logs of QUIC stacks, checkpoints and run.json: everything that a run writes to disk.
//!
//! [`RunWriter`] is the [`longhaul_engine::measure::Recorder`] of a run, [`MesoNetWriter`] that of a run of MesoNet.
//! Each streams the records into a directory under a temporary name. The directory gets its final name once complete,
//! so a killed run never looks finished. The same simulation gives the same bytes: only the `machine` part of run.json
//! depends on the machine or the time.

mod acks;
mod capture;
mod catalogue;
mod checkpoint;
mod counters;
mod declared;
mod delays;
mod digest;
mod directory;
mod element;
mod error;
mod events;
mod exchanges;
mod flows;
mod frame;
mod host_capture;
mod links;
mod mesonet;
mod named;
mod pcapng;
mod ports;
mod proxies;
mod run;
mod run_json;
mod run_meta;
mod run_writer;
mod series;
mod stack_logs;
mod table;

pub use catalogue::{ColumnInfo, columns};
pub use directory::discard_unfinished;
pub use error::OutputError;
pub use host_capture::HostCapture;
pub use mesonet::{MesoNetMeta, MesoNetRows, MesoNetWriter};
pub use run::{Progress, RunSummary};
pub use run_json::Rows;
pub use run_meta::RunMeta;
pub use run_writer::RunWriter;
