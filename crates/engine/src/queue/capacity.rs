//! Capacity of a queue.

use longhaul_keys::{Field, Key, Kind, Read, Value};
use longhaul_units::{Dimension, Quantity};

/// Capacity of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// In packets.
    Packets(u64),
    /// In bytes.
    Bytes(u64),
}

impl Capacity {
    /// The key `limit` of all disciplines except CAKE, which also allows `auto`. Some have another default.
    /// [`LinkContext`](super::LinkContext) converts values in bandwidth-delay products or times to packets or bytes.
    pub(crate) const LIMIT: Key = Kind::Positive(&[
        Dimension::Packets,
        Dimension::Size,
        Dimension::Bdp,
        Dimension::Time,
    ])
    .key()
    .default("1 BDP");

    /// The field `limit` in the parameters of any discipline.
    pub const FIELD: Field<Self> = Field::new("limit");

    /// Returns true if `pkts` packets of `bytes` bytes in total exceed the capacity.
    pub(crate) fn is_exceeded_by(self, pkts: u64, bytes: u64) -> bool {
        match self {
            Self::Packets(limit) => pkts > limit,
            Self::Bytes(limit) => bytes > limit,
        }
    }
}

impl Read for Capacity {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::Quantity(Quantity::Packets(packets)) => Some(Self::Packets(*packets as u64)),
            Value::Quantity(Quantity::Bytes(bytes)) => Some(Self::Bytes(bytes.0)),
            _ => None,
        }
    }
}
