//! A hybrid model of long-lived TCP flows: windows, rates and queues are continuous, drops and the
//! window reductions that follow are discrete events.
//!
//! Lee, Bohacek, Hespanha and Obraczka, "Modeling communication networks with hybrid systems",
//! IEEE/ACM ToN 15(3), 2007, and the comparison with it in NIST SP 500-282 (2010), appendix B. Time
//! advances in fixed steps: an hour of thirty flows at 10 Gbit/s takes a fraction of a second, where
//! every packet of it takes minutes.
//!
//! Left out are propagation between a host and the queues on its way (rates and queues see each
//! other at once; reductions come a round trip after the drop), timeouts, delayed acknowledgements,
//! and packets that a host itself holds back when its window is more than its rate can carry.

mod config;
mod random;
mod simulation;

pub use config::{Config, Flow, Queue, SetupError, Visit};
pub use simulation::{FlowSample, Interval, QueueSample, Simulation};
