//! Tests of the files that a run writes.

mod capture;
mod fixture;
mod mesonet;
mod proxies;
mod records;
mod run_directory;
mod tables;
