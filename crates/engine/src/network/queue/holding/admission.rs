//! Disciplines that decide when a packet arrives, and need more to do so than its arrival: a
//! period, or to see packets leave. Their queue is first in, first out.

use longhaul_units::{Span, Time};

use super::decbit::DecBit;
use super::pi::Pi;
use super::pie::Pie;
use super::rem::Rem;
use crate::network::queue::{Arrival, Queue, Verdict};
use crate::packet::Packet;

/// What decides about arrivals.
#[derive(Clone, Debug)]
pub(super) enum Admission {
    /// A discipline that could do with service on arrival.
    Plain(Queue),
    DecBit(DecBit),
    Pi(Pi),
    Pie(Pie),
    Rem(Rem),
}

impl Admission {
    pub(super) fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        match self {
            Self::Plain(queue) => queue.on_arrival(arrival),
            Self::DecBit(decbit) => decbit.on_arrival(arrival),
            Self::Pi(pi) => pi.on_arrival(arrival),
            Self::Pie(pie) => pie.on_arrival(arrival),
            Self::Rem(rem) => rem.on_arrival(arrival),
        }
    }

    /// A packet begins service while so many wait. Returns whether to mark it.
    pub(super) fn on_departure(&mut self, packet: &Packet, now: Time, waiting_pkts: u64) -> bool {
        match self {
            Self::Rem(rem) => rem.marks(packet),
            Self::DecBit(decbit) => {
                decbit.on_departure(now, waiting_pkts);
                false
            }
            Self::Plain(_) | Self::Pi(_) | Self::Pie(_) => false,
        }
    }

    pub(super) fn period(&self) -> Option<Span> {
        match self {
            Self::Plain(_) | Self::DecBit(_) => None,
            Self::Pi(pi) => Some(pi.period()),
            Self::Pie(pie) => Some(pie.period()),
            Self::Rem(rem) => Some(rem.period()),
        }
    }

    /// A period is over; so many packets and bytes wait.
    pub(super) fn update(&mut self, (pkts, bytes): (u64, u64)) {
        match self {
            Self::Plain(_) | Self::DecBit(_) => {}
            Self::Pi(pi) => pi.update(pkts),
            Self::Pie(pie) => pie.update(bytes),
            Self::Rem(rem) => rem.update(pkts),
        }
    }

    pub(super) fn average_pkts(&self) -> Option<f64> {
        match self {
            Self::Plain(queue) => queue.average_pkts(),
            Self::DecBit(decbit) => Some(decbit.average_pkts()),
            Self::Pi(_) | Self::Pie(_) | Self::Rem(_) => None,
        }
    }

    pub(super) fn max_p(&self) -> Option<f64> {
        match self {
            Self::Plain(queue) => queue.max_p(),
            _ => None,
        }
    }

    pub(super) fn drop_p(&self) -> Option<f64> {
        match self {
            Self::Plain(queue) => queue.drop_p(),
            Self::DecBit(_) => None,
            Self::Pi(pi) => Some(pi.probability()),
            Self::Pie(pie) => Some(pie.probability()),
            Self::Rem(rem) => Some(rem.probability()),
        }
    }
}
