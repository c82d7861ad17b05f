//! Tail loss probes (RFC 8985 section 7): when no acknowledgement arrives, an additional segment is sent to obtain one.
//! A loss at the end of the data is thus repaired without a retransmission timeout.

use longhaul_units::{Span, Time};

use crate::transport::tcp::ack::Ack;
use crate::transport::tcp::control_block::ControlBlock;

/// Probe timeout without a round-trip sample (section 7.2).
const FIRST_TIMEOUT: Span = Span::from_secs(1);

/// A probe in flight.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// One past the highest segment sent, including the probe (`TLP.end_seq`).
    end: u64,
    /// True if the probe is a retransmission (`TLP.is_retrans`).
    repeats: bool,
}

/// The probes of one connection.
#[derive(Debug, Default)]
pub(crate) struct TailProbe {
    under_way: Option<Probe>,
    /// Number of round-trip samples taken when the last probe left; `None` before the first probe.
    samples: Option<u64>,
}

impl TailProbe {
    /// Returns the time of the next probe, computed at `now`. It is never after the retransmission timer
    /// (`TLP_calc_PTO`, section 7.2).
    pub(crate) fn deadline(tcb: &ControlBlock, now: Time) -> Time {
        let srtt = tcb.srtt();
        let timeout = if srtt == Span::ZERO {
            FIRST_TIMEOUT
        } else if tcb.max_sent - tcb.una == 1 {
            // The receiver may delay the acknowledgement of a single segment.
            let delayed = tcb.config.delayed_ack.map_or(Span::ZERO, |ack| ack.timeout);
            srtt * 2 + tcb.config.probe_ack_delay.unwrap_or(delayed)
        } else {
            srtt * 2
        };
        (now + timeout).min(tcb.timer.deadline())
    }

    /// Returns the segment to send as a probe (section 7.3): a new one if the receive window allows it, or else the
    /// last one sent. Returns `None` while [`Self::is_under_way`] is true, or if no round-trip sample was taken since
    /// the last probe.
    pub(crate) fn segment(&self, tcb: &ControlBlock) -> Option<u64> {
        let sampled = match self.samples {
            // The handshake gives the first sample, to either side.
            None => tcb.srtt() > Span::ZERO,
            Some(before) => tcb.trips.samples > before,
        };
        if self.under_way.is_some() || !sampled {
            return None;
        }
        let new = tcb.has_new();
        Some(if new { tcb.nxt } else { tcb.max_sent - 1 })
    }

    /// Records that the probe has left. `repeats` is true if it is a retransmission.
    pub(crate) fn on_sent(&mut self, tcb: &ControlBlock, repeats: bool) {
        self.samples = Some(tcb.trips.samples);
        self.under_way = Some(Probe {
            end: tcb.max_sent,
            repeats,
        });
    }

    /// Returns true if a probe has been sent and it is not known yet if it repaired a loss. If the probe is a
    /// retransmission, this may be unknown even when all segments are acknowledged.
    pub(crate) fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// Forgets the probe when a recovery begins or the retransmission timer expires, since everything in flight is then
    /// covered by the recovery.
    pub(crate) fn end(&mut self) {
        self.under_way = None;
    }

    /// Processes an acknowledgement. Returns true if the probe has repaired a loss; the window must then be reduced
    /// (section 7.4). `duplicate` is true if a second copy of a segment has arrived. The acknowledgement shows this in
    /// one of two ways: it reports the duplicate (case 1 of section 7.4.2), or it has no news and no SACK blocks, and
    /// only the probe can have caused it.
    pub(crate) fn on_ack(&mut self, ack: Ack, duplicate: bool) -> bool {
        let Some(probe) = self.under_way.filter(|probe| ack.next >= probe.end) else {
            return false;
        };
        let repaired = probe.repeats && !duplicate && ack.next > probe.end;
        if !probe.repeats || repaired || duplicate {
            self.under_way = None;
        }
        repaired
    }
}
