//! Algorithms from outside this crate.

use std::fmt;
use std::sync::Arc;

use crate::congestion_control::CongestionControl;

/// Factory that creates controllers of an algorithm which the registry does not list.
pub trait Factory: fmt::Debug + Send + Sync {
    /// Creates a controller that no flow has used yet.
    fn make(&self) -> Box<dyn CongestionControl>;
}

/// An algorithm that the registry does not list. Two such algorithms are equal if they have the same factory.
#[derive(Clone, Debug)]
pub struct Custom(pub Arc<dyn Factory>);

impl PartialEq for Custom {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
