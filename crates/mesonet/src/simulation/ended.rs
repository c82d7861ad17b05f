//! Report of a region to the coordinator about a flow that has ended.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use crate::flows::FlowInfo;
use crate::network::FlowId;
use crate::records::FlowRecord;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct EndedFlow {
    pub(super) time: Time,
    pub(super) about: FlowInfo,
    pub(super) receiver: FlowId,
    /// Goodput in packets per second, the file's size divided by the time since the connection;
    /// `None` if the flow could not be connected.
    pub(super) goodput: Option<f64>,
    pub(super) record: FlowRecord,
}
