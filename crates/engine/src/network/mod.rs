//! Links and their queues.

pub(crate) mod loss;
pub mod queue;
