//! A hybrid model of long-lived TCP flows. Windows, rates and queues are continuous; drops and the
//! resulting window reductions are discrete events.
//!
//! The model is that of Lee, Bohacek, Hespanha and Obraczka, "Modeling communication networks with
//! hybrid systems", IEEE/ACM ToN 15(3), 2007. NIST SP 500-282 (2010), appendix B, compares it with
//! packet simulation. Time advances in fixed steps. An hour of thirty flows at 10 Gbit/s takes one
//! to three seconds; a packet simulation takes more than half an hour.
//!
//! The model leaves out:
//!
//! - the propagation delay between a host and the queues on its path: a rate affects queues at
//!   once, and queueing delays affect the rate at once; only window reductions come a round trip
//!   after the drop
//! - timeouts and delayed acknowledgements
//! - packets that a host itself queues when its window exceeds the product of its rate and the
//!   round-trip time

mod config;
mod random;
mod simulation;

pub use config::{Config, Flow, Queue, SetupError, Visit};
pub use simulation::{FlowSample, Interval, QueueSample, Simulation};
