//! Trains: sequences of packets that reach endpoints over one link, while the endpoints send all their answers onto one
//! other link. The state of the two links is looked up only once per train.

use super::link::{DualClockTime, Link};
use super::{Answers, Network};
use crate::packet::OptionStore;
use crate::schedule::Schedule;

/// The parts of the network that are needed to process a train. A train is a sequence of packets from one link to
/// endpoints whose answers all go onto one other link.
#[derive(Debug)]
pub(crate) struct Train<'a> {
    /// The link over which the packets come.
    pub(crate) from: &'a mut Link,
    /// The link that receives the endpoints' answers to these packets.
    pub(crate) to: &'a mut Link,
    pub(crate) schedule: &'a mut Schedule,
    pub(crate) options: &'a mut OptionStore,
}

impl Network {
    /// Returns the single link that receives all answers to a link's packets; `None` if there is no such link, or if
    /// the link's lookahead does not allow trains.
    #[inline]
    pub(crate) fn answers(&self, link: u32) -> Option<Answers> {
        self.answers[link as usize]
    }

    /// Returns the parts of the network that a train of packets uses. The packets come over the link `link`, and the
    /// answers to them go onto the link `to`.
    #[inline]
    pub(crate) fn train(&mut self, link: u32, to: u32) -> Train<'_> {
        let both = self.links.get_disjoint_mut([link as usize, to as usize]);
        let [from, to] = both.expect("no link follows itself");
        Train {
            from,
            to,
            schedule: &mut self.schedule,
            options: &mut self.options,
        }
    }

    /// Ends a sequence of packets that have entered the link `to`: advances the simulated time to `last`, the time of
    /// the last packet. If `first` is true, the link had no packets to forward before, and its forwarding is scheduled.
    #[inline]
    pub(crate) fn end_run(&mut self, last: DualClockTime, to: u32, first: bool) {
        (self.now, self.ns2_s) = (last.time, last.ns2_s);
        if first {
            self.activate_all(to);
        }
    }
}
