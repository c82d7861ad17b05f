//! Smallest round-trip times in whole microseconds, as in the delay-based algorithms of a current kernel (Linux 6.18,
//! `tcp_vegas.c`, `tcp_veno.c`, `tcp_yeah.c`). For Vegas and YeAH, this module also detects the ends of round trips.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use crate::facts::AckSample;
use crate::whole_windows::Sequence;

/// Value in microseconds that means that there is no round-trip time yet.
const NONE: u64 = 0x7fff_ffff;

/// Smallest round-trip times of the connection and of the current round trip, as the kernel stores them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct SmallestRtts {
    /// Smallest round-trip time of the connection since its last idle time, in microseconds plus one (`baseRTT`,
    /// `basertt`).
    pub(crate) base: u64,
    /// Smallest round-trip time of the current round trip, in microseconds plus one (`minRTT`, `minrtt`). Veno resets
    /// it with each acknowledgement that may enlarge the window.
    pub(crate) min: u64,
    /// Number of samples in the current round trip; in Veno, in the whole connection (`cntRTT`, `cntrtt`).
    pub(crate) samples: u64,
}

impl Default for SmallestRtts {
    fn default() -> Self {
        Self {
            base: NONE,
            min: NONE,
            samples: 0,
        }
    }
}

impl SmallestRtts {
    /// Adds the sample of an acknowledgement (`tcp_vegas_pkts_acked`, `tcp_veno_pkts_acked`).
    pub(crate) fn sample(&mut self, rtt: Option<Span>) {
        if let Some(rtt) = rtt {
            let rtt = rtt.as_ps() / 1_000_000 + 1;
            self.base = self.base.min(rtt);
            self.min = self.min.min(rtt);
            self.samples += 1;
        }
    }

    /// Resets the smallest round-trip time of the connection.
    pub(crate) fn forget_base(&mut self) {
        self.base = NONE;
    }

    /// Resets the smallest round-trip time of the current round trip.
    pub(crate) fn forget_min(&mut self) {
        self.min = NONE;
    }
}

/// State of the current round trip in Vegas and YeAH (`struct vegas`).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct MeasuredRound {
    pub(crate) rtts: SmallestRtts,
    pub(crate) sequence: Sequence,
    /// Number of segments sent when the round trip began (`beg_snd_nxt`).
    pub(crate) end: u64,
}

impl MeasuredRound {
    pub(crate) fn on_ack(&mut self, ack: &AckSample) {
        self.rtts.sample(ack.rtt);
        self.sequence.on_ack(ack);
    }

    /// Returns true if the round trip is over: a segment sent after its beginning has been acknowledged.
    pub(crate) fn is_over(&self) -> bool {
        self.sequence.una > self.end
    }

    /// Begins the next round trip. It ends with the acknowledgement of a segment sent from now on (`vegas_enable`).
    pub(crate) fn begin(&mut self) {
        self.end = self.sequence.nxt;
        self.rtts.forget_min();
        self.rtts.samples = 0;
    }

    /// Discards the smallest round-trip times, and begins the next round trip, when the connection sends after an idle
    /// time (`tcp_vegas_cwnd_event`).
    pub(crate) fn forget(&mut self) {
        self.rtts.forget_base();
        self.begin();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_ends_with_the_first_segment_that_left_in_it() {
        let ack = |in_flight, us| AckSample {
            in_flight,
            rtt: Some(Span::from_micros(us)),
            ..AckSample::ONE_SEGMENT
        };
        let mut round = MeasuredRound::default();
        round.on_ack(&ack(2, 500));
        assert!(round.is_over());
        round.begin();
        // Three segments have left when the first is acknowledged, so that the fourth belongs to the round trip.
        for us in [900, 700] {
            round.on_ack(&ack(2, us));
            assert!(!round.is_over());
        }
        round.on_ack(&ack(2, 800));
        assert!(round.is_over());
        let SmallestRtts { base, min, samples } = round.rtts;
        assert_eq!((base, min, samples), (501, 701, 3));
        round.forget();
        round.on_ack(&ack(2, 600));
        let SmallestRtts { base, min, samples } = round.rtts;
        assert_eq!((base, min, samples), (601, 601, 1));
    }
}
