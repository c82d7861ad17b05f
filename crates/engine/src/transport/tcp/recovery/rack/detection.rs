//! Detection of two kinds of segments at an acknowledgement: delivered segments, and lost segments that later ones have
//! overtaken (RFC 8985 section 6.2).

use longhaul_units::{Span, Time};

use super::Rack;
use crate::transport::tcp::ack::Ack;
use crate::transport::tcp::control_block::ControlBlock;
use crate::transport::tcp::recovery::CaState;
use crate::transport::tcp::recovery::transmissions::{Transmission, Transmissions};
use crate::transport::tcp::regular::usual;

/// Segments that an acknowledgement reports as newly delivered.
#[derive(Debug, Default)]
pub(super) struct NewlyDelivered {
    pub(super) any: bool,
    /// The newest of the transmissions that are newly delivered. A retransmission does not count if the acknowledgement
    /// may be for an earlier copy of its segment.
    pub(super) newest: Option<Transmission>,
    /// Send time of the last newly delivered segment that is cumulatively acknowledged; if there is none, of the last
    /// segment in the SACK blocks. Retransmissions count as for `newest`. With Linux's rule for PRR, the time since
    /// then is RACK's round-trip time (Linux, `tcp_rack_advance`; RFC 8985 section 6.2).
    pub(super) last: Option<Time>,
    /// True if a cumulatively acknowledged segment has set `last`. SACK blocks then do not change it.
    pub(super) last_known: bool,
    /// The first of the newly delivered segments that was never retransmitted.
    pub(super) original: Option<u64>,
}

impl NewlyDelivered {
    /// Records that an acknowledgement delivers `segment`, and updates the newest delivered transmission. A
    /// retransmission is not considered if `may_be_first` returns true for its send time: the acknowledgement may then
    /// be for an earlier copy (RFC 8985 section 6.2, step 2).
    #[inline]
    fn take(
        &mut self,
        segment: u64,
        flight: &mut Transmissions,
        may_be_first: impl Fn(Time) -> bool,
    ) {
        let Some((sent, repeated)) = flight.deliver(segment) else {
            return;
        };
        if !(repeated && may_be_first(sent)) {
            self.newest = self.newest.max(Some(Transmission { sent, segment }));
            if !self.last_known {
                self.last = Some(sent);
            }
        }
        if !repeated {
            self.original = self.original.or(Some(segment));
        }
        self.any = true;
    }
}

impl Rack {
    /// Processes the segments that the cumulative acknowledgement covers.
    #[inline]
    pub(super) fn process_newly_acked<const REGULAR: bool>(
        &mut self,
        tcb: &ControlBlock,
        ack: Ack,
        now: Time,
        arrived: &mut NewlyDelivered,
    ) {
        let shortest = tcb.shortest_rtt();
        let Self { sacked, flight, .. } = self;
        let may_be_first = |sent| {
            tcb.config.timestamps.bytes().is_some() && tcb.echoes_before(ack, sent)
                || now.since(sent) < shortest
        };
        if usual::<REGULAR>(sacked.is_empty()) {
            for segment in tcb.una..ack.next {
                arrived.take(segment, flight, may_be_first);
            }
        } else {
            sacked.add(tcb.una, ack.next, |left, right| {
                for segment in left..right {
                    arrived.take(segment, flight, may_be_first);
                }
            });
            sacked.remove_below(ack.next);
        }
        self.flight.forget_below(ack.next);
    }

    /// Processes the SACK blocks, in the order of their segments. As in Linux (`tcp_rack_advance`), only the round-trip
    /// time can show that an earlier copy of a retransmitted segment has arrived.
    pub(super) fn process_blocks(
        &mut self,
        tcb: &mut ControlBlock,
        ack: Ack,
        now: Time,
        arrived: &mut NewlyDelivered,
    ) {
        let shortest = tcb.shortest_rtt();
        let Self { sacked, flight, .. } = self;
        let (mut blocks, count) = sacked.unseen(ack.sack, ack.next);
        blocks[..count].sort_unstable();
        // The echoed timestamp may be that of an earlier segment.
        for &(left, right) in &blocks[..count] {
            let left = left.max(tcb.una);
            if left < right {
                sacked.add(left, right, |left, right| {
                    tcb.on_sacked(left, right);
                    for segment in left..right {
                        arrived.take(segment, flight, |sent| now.since(sent) < shortest);
                    }
                });
            }
        }
        tcb.process_sacked(sacked.total());
    }

    /// Returns the reordering window: the time that an overtaken segment waits before it counts as lost (RFC 8985
    /// section 6.2, step 4).
    pub(super) fn reordering_window(&self, tcb: &ControlBlock) -> Span {
        let few = self.sacked.total() < u64::from(tcb.config.dupack_threshold);
        if self.flight.reordering_seen() || (self.ca_state <= CaState::Cwr && few) {
            (tcb.rtt.min_rtt() / 4 * self.patience.steps).min(tcb.srtt())
        } else {
            Span::ZERO
        }
    }

    /// Marks overtaken segments as lost if their reordering window has ended by `now` (RFC 8985 section 6.2, step 5).
    pub(super) fn find_lost(&mut self, tcb: &mut ControlBlock, now: Time) {
        self.flight.overtake(self.newest);
        let reordering_timeout = self.rtt + self.reordering_window(tcb);
        while self.flight.last_overtaken().is_some()
            && let Some(first) = self.flight.first()
            && first.sent + reordering_timeout <= now
        {
            self.mark_lost(tcb, first.segment);
        }
    }

    pub(super) fn mark_lost(&mut self, tcb: &mut ControlBlock, segment: u64) {
        if !self.flight.is_lost(segment) {
            self.flight.mark_lost(segment);
            tcb.lost += 1;
        }
    }
}
