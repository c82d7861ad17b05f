//! Deficit round robin: flows are served in turn, and each gets an equal share in bytes (Shreedhar and Varghese,
//! "Efficient fair queuing using deficit round robin", ToN 4(3), 1996).

use longhaul_keys::{Kind, Refusal, SIZE, Table, keys};
use longhaul_units::{Bytes, Rate};

use super::round_robin::RoundRobin;
use super::{Capacity, LinkContext, Parameters};
use crate::random::Stream;

keys! {
    /// Parameters of deficit round robin.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DrrConfig {
        /// Capacity of all queues together. A capacity given as a time means the data that the link sends in this time.
        pub limit: Capacity = Capacity::LIMIT,
        /// Bytes that a flow may send per turn; `auto`: the largest packet of a flow.
        pub quantum: Bytes = Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(SIZE)])
            .key()
            .default("auto"),
    }
}

impl Parameters for DrrConfig {
    type Queue = RoundRobin;

    const KIND: &'static str = "drr";
    const TITLE: &'static str = "Deficit round robin";
    const DESCRIPTION: &'static str = "A queue for each flow, with equal shares in bytes.";
    const SOURCE: &'static str = "Shreedhar and Varghese, ToN 4(3), 1996";
    const PER_FLOW: bool = true;
    const OUTSIDE_LINKS: bool = true;

    fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        link.complete_size(values, Self::quantum);
        Ok(())
    }

    fn read(values: &Table, _rate: Rate) -> Self {
        Self::of(values)
    }

    fn queue(&self, _stream: Stream) -> RoundRobin {
        RoundRobin::new(self.limit, Some(self.quantum))
    }
}
