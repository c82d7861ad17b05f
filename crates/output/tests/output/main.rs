//! Files that a run leaves on disk.

mod capture;
mod fixture;
mod mesonet;
mod proxies;
mod records;
mod run_directory;
mod tables;
