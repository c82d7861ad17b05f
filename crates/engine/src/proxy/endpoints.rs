//! Endpoints of connections at the nodes of proxies. The connections exist from the beginning, or traffic opens them.

use crate::traffic::{Legs, Traffic};
use crate::transport::tcp::Connection;

/// All connections of a simulation.
pub(crate) struct Endpoints<'a> {
    pub(crate) tcp: &'a mut [Connection],
    pub(crate) traffic: &'a mut Traffic,
}

impl Endpoints<'_> {
    /// Returns the index of the connection from a proxy to the receiver. `from` is the index of the connection from the
    /// sender to this proxy. Both connections exist from the beginning of the run.
    pub(super) fn second_leg(from: usize) -> usize {
        from + 1
    }

    /// Returns the two legs of the connection with this index; `None` if the connection has ended.
    pub(super) fn legs(&mut self, index: u32) -> Option<Legs<'_>> {
        if Traffic::is_own(index) {
            return self.traffic.legs(index);
        }
        let index = index as usize;
        let both = self.tcp.get_disjoint_mut([index, Self::second_leg(index)]);
        let [before, behind] = both.expect("every connection to a proxy has one behind it");
        Some(Legs {
            sender: &before.sender,
            receiver: &mut before.receiver,
            second_leg: &mut behind.sender,
        })
    }
}
