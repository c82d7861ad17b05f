//! The last seven round-trip samples, more than a millisecond apart. picoquic uses them to detect that round-trip times
//! have grown (picoquic, August 2026: cc_common.c, `picoquic_cc_filter_rtt_min_max`; bbr.c,
//! `BBRUpdateRTTJitterBuffer`).

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Number of samples stored (`PICOQUIC_MIN_MAX_RTT_SCOPE`, `BBRRTTJitterBufferLen`).
pub(crate) const SAMPLES: usize = 7;

/// Time that has to be exceeded between two samples.
const SPACING: Span = Span::from_millis(1);

/// The last round-trip samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecentRtts {
    samples: [Span; SAMPLES],
    taken: usize,
    last: Time,
}

impl RecentRtts {
    /// Adds a sample; returns false and adds nothing if the last one is at most a millisecond old.
    pub(crate) fn take(&mut self, rtt: Span, now: Time) -> bool {
        let takes = now > self.last + SPACING;
        if takes {
            self.last = now;
            self.samples[self.taken % SAMPLES] = rtt;
            self.taken += 1;
        }
        takes
    }

    /// Returns true if there are seven samples.
    pub(crate) fn is_full(&self) -> bool {
        self.taken >= SAMPLES
    }

    /// Returns the smallest and the largest sample; zero without samples.
    pub(crate) fn bounds(&self) -> (Span, Span) {
        let samples = &self.samples[..self.taken.min(SAMPLES)];
        let shortest = samples.iter().min().copied().unwrap_or_default();
        let longest = samples.iter().max().copied().unwrap_or_default();
        (shortest, longest)
    }
}
