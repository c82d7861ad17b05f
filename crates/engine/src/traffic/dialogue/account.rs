//! What is known of a dialogue from outside: counters, records, and its two directions.

use longhaul_units::Time;

use super::{Dialogue, Stage};
use crate::measure::{Exchange, FlowCounters};
use crate::traffic::half::Half;
use crate::traffic::hold::SpareQueues;
use crate::traffic::slab::Side;
use crate::transport::Env;

impl Dialogue {
    /// The exchange that is under way, if one is.
    pub(crate) fn unfinished(&self) -> Option<Exchange> {
        let idle = matches!(self.stage, Stage::Pausing | Stage::Closing) || self.lifetime.is_some();
        (!idle).then(|| self.record_so_far())
    }

    pub(crate) fn record_so_far(&self) -> Exchange {
        let (retransmitted, timeouts) = self.repairs();
        Exchange {
            retransmitted_pkts: retransmitted - self.repairs_before.0,
            timeouts: timeouts - self.repairs_before.1,
            ..self.record
        }
    }

    /// Whether nothing more can happen to it.
    pub(crate) fn is_over(&self) -> bool {
        match self.stage {
            Stage::CutOff => true,
            Stage::Closing if self.full => self.is_closed(),
            Stage::Closing => self.down.as_ref().unwrap_or(&self.up).is_over(),
            Stage::Requesting | Stage::Serving | Stage::Responding | Stage::Pausing => false,
        }
    }

    /// Lets go of what the network keeps for packets that are held back.
    pub(in crate::traffic) fn drop_held(&mut self, env: &mut Env, spare: &mut SpareQueues) {
        if let Some(mut hold) = self.hold.take() {
            for packet in hold.drain() {
                env.network.forget_options(&packet);
            }
            spare.keep(hold);
        }
    }

    pub(crate) fn repairs(&self) -> (u64, u64) {
        let (packets, timeouts) = self.up.sender.repairs();
        let down = self.down.as_ref().map(|down| down.sender.repairs());
        let down = down.unwrap_or_default();
        (packets + down.0, timeouts + down.1)
    }

    /// One direction, if it is there.
    pub(crate) fn half_mut(&mut self, side: Side) -> Option<&mut Half> {
        match side {
            Side::Up => Some(&mut self.up),
            Side::Down => self.down.as_mut(),
        }
    }

    /// The direction of `side`, and the other one, if they share a connection.
    pub(crate) fn halves(&self, side: Side) -> (Option<&Half>, Option<&Half>) {
        let (up, down) = (Some(&self.up), self.down.as_ref());
        let (half, other) = match side {
            Side::Up => (up, down),
            Side::Down => (down, up),
        };
        (half, other.filter(|_| !self.apart))
    }

    /// Whether each direction is a connection of its own.
    pub(crate) fn is_apart(&self) -> bool {
        self.apart
    }

    /// Whether that of `side` is a connection that the server opens.
    pub(crate) fn is_pushed(&self, side: Side) -> bool {
        self.apart && side == Side::Down
    }

    /// Number of the connection of `side` among those that captures tell apart.
    pub(crate) fn number(&self, side: Side) -> u64 {
        let number = self.connection();
        match self.apart {
            false => number,
            true => 2 * number + u64::from(side == Side::Down),
        }
    }

    /// Number of the connection among those of its flow.
    pub(crate) fn connection(&self) -> u64 {
        self.record.connection
    }

    /// Segments in flight in both directions.
    pub(crate) fn in_flight(&self) -> u64 {
        let down = self.down.as_ref();
        self.up.sender.outstanding() + down.map_or(0, |down| down.sender.outstanding())
    }

    /// Data packets sent in both directions.
    pub(crate) fn sent_pkts(&self) -> u64 {
        self.up.sent_pkts() + self.down.as_ref().map_or(0, Half::sent_pkts)
    }

    /// Counters of both directions up to `now`.
    pub(crate) fn counters(&mut self, now: Time) -> FlowCounters {
        let mut counters = self.up.counters(now);
        if let Some(down) = &mut self.down {
            counters.add(&down.counters(now));
        }
        counters
    }
}
