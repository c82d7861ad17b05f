//! Exchange records and counters of a connection, and references to its two directions.

use longhaul_units::Time;

use super::{AppConnection, Stage};
use crate::measure::{Exchange, FlowCounters};
use crate::traffic::connection_slab::Side;
use crate::traffic::direction::Direction;
use crate::traffic::extra_delay::QueuePool;
use crate::transport::Env;

impl AppConnection {
    /// Returns the exchange in progress; `None` between exchanges, after the last one, and for a connection with a
    /// lifetime.
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

    /// Returns true if the connection has ended: it is aborted, or all exchanges are complete and the last FIN is
    /// acknowledged. Without FINs both ways, the responses must be acknowledged or, if there was none, the requests.
    pub(crate) fn is_over(&self) -> bool {
        match self.stage {
            Stage::CutOff => true,
            Stage::Closing if self.full => self.is_closed(),
            Stage::Closing => self.down.as_ref().unwrap_or(&self.up).is_all_acknowledged(),
            Stage::Requesting | Stage::Serving | Stage::Responding | Stage::Pausing => false,
        }
    }

    /// Discards the packets that are still delayed at the endpoints, and their stored TCP options. Keeps the queues in
    /// `spare` for reuse.
    pub(in crate::traffic) fn drop_held(&mut self, env: &mut Env, spare: &mut QueuePool) {
        if let Some(mut extra_delay) = self.extra_delay.take() {
            for packet in extra_delay.drain() {
                env.network.forget_options(&packet);
            }
            spare.keep(extra_delay);
        }
    }

    pub(crate) fn repairs(&self) -> (u64, u64) {
        let (packets, timeouts) = self.up.sender.repairs();
        let down = self.down.as_ref().map(|down| down.sender.repairs());
        let down = down.unwrap_or_default();
        (packets + down.0, timeouts + down.1)
    }

    /// Returns a mutable reference to the direction of `side`; `None` if the direction does not exist yet.
    pub(in crate::traffic) fn direction_mut(&mut self, side: Side) -> Option<&mut Direction> {
        match side {
            Side::Up => Some(&mut self.up),
            Side::Down => self.down.as_mut(),
        }
    }

    /// Returns references to the direction of `side` and, if both directions share one TCP connection, to the opposite
    /// direction.
    pub(in crate::traffic) fn directions(
        &self,
        side: Side,
    ) -> (Option<&Direction>, Option<&Direction>) {
        let (up, down) = (Some(&self.up), self.down.as_ref());
        let (direction, other) = match side {
            Side::Up => (up, down),
            Side::Down => (down, up),
        };
        (direction, other.filter(|_| !self.separate_directions))
    }

    /// Returns true if each direction is a separate TCP connection.
    pub(crate) fn has_separate_directions(&self) -> bool {
        self.separate_directions
    }

    /// Returns true if data in the direction `side` uses a separate connection that the server opens.
    pub(crate) fn is_pushed(&self, side: Side) -> bool {
        self.separate_directions && side == Side::Down
    }

    /// Returns the number that captures give to the TCP connection for data in the direction `side`.
    pub(crate) fn number(&self, side: Side) -> u64 {
        let number = self.number_in_flow();
        match self.separate_directions {
            false => number,
            true => 2 * number + u64::from(side == Side::Down),
        }
    }

    /// Returns the number of the connection within its flow.
    pub(crate) fn number_in_flow(&self) -> u64 {
        self.record.connection
    }

    /// Returns true if segments in flight from `side` also acknowledge data of the other side.
    pub(crate) fn is_under_way(&self, side: Side) -> bool {
        let (direction, other) = self.directions(side);
        other.is_some() && direction.is_some_and(|direction| direction.sender.outstanding() > 0)
    }

    /// Returns the number of segments that are sent and not cumulatively acknowledged, in both directions. Segments
    /// between a proxy and the destination are not included.
    pub(crate) fn in_flight(&self) -> u64 {
        let down = self.down.as_ref();
        self.up.sender.outstanding() + down.map_or(0, |down| down.sender.outstanding())
    }

    /// Returns the number of data packets sent in both directions, without those that a proxy has sent.
    pub(crate) fn sent_pkts(&self) -> u64 {
        self.up.sent_pkts() + self.down.as_ref().map_or(0, Direction::sent_pkts)
    }

    /// Returns the counters of both directions up to `now`.
    pub(crate) fn counters(&mut self, now: Time) -> FlowCounters {
        let mut counters = self.up.counters(now);
        if let Some(down) = &mut self.down {
            counters.add(&down.counters(now));
        }
        counters
    }
}
