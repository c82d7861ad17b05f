//! MesoNet against the numbers of NIST SP 500-282 (spec 004a E, 004b E.8).

mod conservation;
mod dumbbell;
mod long_lived;
mod network;
mod records;
mod restart;
mod topology;
mod trace;
mod users;
