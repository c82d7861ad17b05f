//! Tests of MesoNet against the numbers of NIST SP 500-282.

mod conservation;
mod dumbbell;
mod long_lived;
mod network;
mod records;
mod restart;
mod service;
mod topology;
mod trace;
mod users;
