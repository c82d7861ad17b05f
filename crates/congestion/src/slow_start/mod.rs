//! Slow start: the growth of the window below `ssthresh`. Each flow's slow start is chosen independently of its
//! algorithm.

mod careful_resume;
mod hybrid;
mod hystart;
mod picoquic;
mod rapid;
mod search;

use serde::{Deserialize, Serialize};

use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Timeout};
use crate::parameter::{DefaultValue, Parameter, Range, Variant};
use crate::window::Window;

pub use careful_resume::CarefulResume;
pub use hybrid::HybridSlowStart;
pub use hystart::Hystart;
pub use picoquic::PicoquicSlowStart;
pub use rapid::RapidStart;
pub use search::Search;

pub(crate) static ENTRIES: &[Entry<SlowStart>] = &[
    STANDARD,
    LINUX,
    LIMITED,
    NS2_LIMITED,
    NIST_LIMITED,
    hystart::ENTRY.building(|settings| (hystart::ENTRY.build)(settings).map(SlowStart::Hystart)),
    hybrid::ENTRY.building(|settings| (hybrid::ENTRY.build)(settings).map(SlowStart::Hybrid)),
    picoquic::ENTRY.building(|settings| (picoquic::ENTRY.build)(settings).map(SlowStart::Picoquic)),
    search::ENTRY.building(|settings| {
        (search::ENTRY.build)(settings).map(|search| SlowStart::Search(Box::new(search)))
    }),
    rapid::ENTRY.building(|settings| {
        (rapid::ENTRY.build)(settings).map(|rapid| SlowStart::Rapid(Box::new(rapid)))
    }),
    careful_resume::ENTRY.building(|settings| {
        let resume = (careful_resume::ENTRY.build)(settings)?;
        Ok(SlowStart::CarefulResume(Box::new(resume)))
    }),
];

const STANDARD: Entry<SlowStart> = Entry {
    kind: "standard",
    title: "Slow start",
    description: "One segment more per segment acknowledged, so that the window doubles each round \
        trip, until it reaches the threshold.",
    law: &["each ACK below ssthresh: cwnd += acked"],
    source: "RFC 5681 section 3.1",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &[],
    build: |_| Ok(SlowStart::Standard),
};

const LINUX: Entry<SlowStart> = Entry {
    kind: "linux",
    title: "Slow start of Linux 2.6.22",
    description: "Slow start until the window is above the threshold: one segment further than standard. After every \
        reduction that ends in slow start it therefore adds one segment, whatever the window, which lets a flow with \
        a small window catch up.",
    law: &["each ACK up to ssthresh: cwnd += acked"],
    source: "Linux 2.6.22, tcp_cong.c",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &[],
    build: |_| Ok(SlowStart::Linux),
};

const LIMITED: Entry<SlowStart> = Entry {
    kind: "limited",
    title: "Limited slow start",
    description: "Slow start up to max_ssthresh; above it about max_ssthresh / 2 segments more each \
        round trip, until the window reaches the threshold.",
    law: &[
        "each ACK up to max_ssthresh: cwnd += acked",
        "each ACK above it: cwnd += acked / K, K = int(cwnd / (0.5 * max_ssthresh))",
    ],
    source: "RFC 3742",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &[MAX_SSTHRESH],
    build: |settings| {
        Ok(SlowStart::Limited {
            max_ssthresh: settings.get("max_ssthresh"),
        })
    },
};

const NS2_LIMITED: Entry<SlowStart> = Entry {
    kind: "ns2-limited",
    title: "Limited slow start of ns-2",
    description: "Slow start up to max_ssthresh, which bounds the initial threshold; then, until \
        the first reduction that is not a timeout, the larger of the algorithm's own increase and \
        about max_ssthresh / 2 segments each round trip.",
    law: &[
        "each ACK up to max_ssthresh: cwnd += acked",
        "each ACK above it: the larger of the algorithm's increase and max_ssthresh / 2 a round trip",
    ],
    source: "ns-2.35",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &[MAX_SSTHRESH],
    build: |settings| {
        Ok(SlowStart::Ns2Limited {
            max_ssthresh: settings.get("max_ssthresh"),
        })
    },
};

const NIST_LIMITED: Entry<SlowStart> = Entry {
    kind: "nist-limited",
    title: "Limited slow start of NIST's MesoNet",
    description: "Slow start below max_ssthresh; from there on max_ssthresh / 2 segments more each \
        round trip, until the window reaches the threshold. Unlike limited, it does not round.",
    law: &[
        "each ACK below max_ssthresh: cwnd += acked",
        "each ACK from there on: cwnd += max_ssthresh / 2 * acked / cwnd",
    ],
    source: "NIST SP 500-282, equation 5",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &[MAX_SSTHRESH],
    build: |settings| {
        Ok(SlowStart::NistLimited {
            max_ssthresh: settings.get("max_ssthresh"),
        })
    },
};

const MAX_SSTHRESH: Parameter = Parameter {
    name: "max_ssthresh",
    unit: "segments",
    default: DefaultValue::Fixed(100.0),
    allowed: Range::closed(2.0, 1e9),
    help: "Window above which growth is limited.",
    source: "RFC 3742 section 2",
};

/// A slow start, with its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SlowStart {
    /// Standard slow start (RFC 5681 section 3.1): the window grows by one segment for each acknowledged segment. The
    /// transport determines for how many segments an acknowledgement counts.
    Standard,
    /// Standard slow start, which continues when the window equals the threshold (Linux 2.6.22).
    Linux,
    /// Limited slow start (RFC 3742): above `max_ssthresh`, the window grows by `max_ssthresh / 2` segments per round
    /// trip, or up to half as much again, since the RFC rounds a divisor down.
    Limited {
        /// Window at which the limit begins, in segments.
        max_ssthresh: f64,
    },
    /// MesoNet's limited slow start (NIST SP 500-282, equation 5): from `max_ssthresh` on, the window grows by
    /// `max_ssthresh / 2` segments per round trip, without the rounding in RFC 3742.
    NistLimited {
        /// Window at which the limit begins, in segments.
        max_ssthresh: f64,
    },
    /// ns-2's limited slow start (ns-2.35, `tcp.cc`). The initial threshold is at most `max_ssthresh`. Above the
    /// threshold, the window grows by the larger of two steps: the algorithm's, and limited slow start's, which is zero
    /// below `max_ssthresh / 2`. After a congestion signal, only the algorithm's step is used until the next timeout.
    Ns2Limited {
        /// Window at which the limit begins, in segments.
        max_ssthresh: f64,
    },
    /// HyStart++ (RFC 9406).
    Hystart(Hystart),
    /// HyStart of Linux.
    Hybrid(HybridSlowStart),
    /// Picoquic's rules for the first slow start of a connection.
    Picoquic(PicoquicSlowStart),
    /// SEARCH, boxed since its state is large.
    Search(Box<Search>),
    /// Rapid Start, boxed since few flows use it.
    Rapid(Box<RapidStart>),
    /// Careful Resume, boxed since few flows use it.
    CarefulResume(Box<CarefulResume>),
}

impl SlowStart {
    /// Returns the initial threshold. `ssthresh` is the threshold that the transport would choose.
    pub fn initial_ssthresh(&self, ssthresh: f64) -> f64 {
        match self {
            Self::Ns2Limited { max_ssthresh } => ssthresh.min(*max_ssthresh),
            Self::Standard
            | Self::Linux
            | Self::Limited { .. }
            | Self::NistLimited { .. }
            | Self::Hystart(_)
            | Self::Hybrid(_)
            | Self::Picoquic(_)
            | Self::Search(_)
            | Self::Rapid(_)
            | Self::CarefulResume(_) => ssthresh,
        }
    }

    /// Returns true if slow start continues at this window.
    #[inline]
    pub(crate) fn lasts(&self, window: &Window) -> bool {
        window.in_slow_start()
            || match self {
                Self::Linux => window.cwnd() == window.ssthresh(),
                Self::CarefulResume(resume) => resume.is_frozen(),
                _ => false,
            }
    }

    /// Returns true if [`Self::watch`] has to process acknowledgements: in slow start, and after a jump of Careful
    /// Resume until the segments sent in the jump are delivered.
    #[inline]
    pub(crate) fn watches(&self, window: &Window) -> bool {
        window.in_slow_start()
            || match self {
                Self::Linux => window.cwnd() == window.ssthresh(),
                Self::CarefulResume(resume) => resume.is_under_way(),
                _ => false,
            }
    }

    /// Processes an acknowledgement of new data in slow start, before the window grows for the acknowledgement. May end
    /// slow start. Also called if the acknowledgement may not enlarge the window.
    #[inline]
    pub(crate) fn watch(&mut self, ack: &AckSample, window: &mut Window) {
        match self {
            Self::Hybrid(hybrid) => hybrid.watch(ack, window),
            Self::Picoquic(picoquic) => picoquic.watch(ack, window),
            Self::Search(search) => search.watch(ack, window),
            Self::Rapid(rapid) => rapid.watch(ack),
            Self::CarefulResume(resume) => resume.watch(ack, window),
            Self::Standard
            | Self::Linux
            | Self::Limited { .. }
            | Self::NistLimited { .. }
            | Self::Ns2Limited { .. }
            | Self::Hystart(_) => {}
        }
    }

    /// Processes an acknowledgement that may not enlarge the window: the window does not limit the sender, or a mark or
    /// loss may have been detected. The segments that it reports still count as delivered. Duplicate acknowledgements
    /// are ignored, except that Careful Resume counts their segments.
    pub(crate) fn watch_without_growth(&mut self, ack: &AckSample, window: &mut Window) {
        match self {
            Self::CarefulResume(resume) if ack.acked == 0 => resume.count(ack),
            _ if ack.acked == 0 => {}
            Self::Hystart(hystart) => {
                hystart.on_ack(ack, window);
            }
            _ => self.watch(ack, window),
        }
    }

    /// Returns true if the slow start needs a round-trip sample with every acknowledgement
    /// ([`Needs::rtt`](crate::Needs::rtt)).
    pub(crate) fn needs_rtt(&self) -> bool {
        matches!(
            self,
            Self::Hystart(_)
                | Self::Hybrid(_)
                | Self::Picoquic(_)
                | Self::Search(_)
                | Self::Rapid(_)
        )
    }

    /// Grows the window below `ssthresh`. Returns the part of [`AckSample::credit`] that is left when the window
    /// reaches `ssthresh`.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &AckSample, window: &mut Window) -> f64 {
        let mut credit = ack.credit;
        let step = match self {
            Self::Standard
            | Self::Linux
            | Self::Ns2Limited { .. }
            | Self::Hybrid(_)
            | Self::Picoquic(_)
            | Self::Search(_) => 1.0,
            Self::Rapid(rapid) => rapid.step(ack),
            Self::CarefulResume(resume) if resume.is_frozen() => return 0.0,
            Self::CarefulResume(_) => 1.0,
            Self::Limited { max_ssthresh } => {
                // RFC 3742: K = int(cwnd / (0.5 max_ssthresh)); cwnd += int(MSS / K).
                if window.cwnd() <= *max_ssthresh {
                    1.0
                } else {
                    limited_step(window.cwnd(), *max_ssthresh)
                }
            }
            Self::Hystart(hystart) => {
                credit = hystart.limit(credit);
                hystart.on_ack(ack, window)
            }
            Self::NistLimited { max_ssthresh } => {
                if window.cwnd() < *max_ssthresh {
                    1.0
                } else {
                    0.5 * *max_ssthresh / window.cwnd()
                }
            }
        };
        // An acknowledgement of several segments counts as one for each segment. Slow start applies to these while the
        // window is below the threshold (RFC 5681 section 3.1; Linux, `tcp_slow_start`).
        let taken = if may_end(credit, window) {
            credit.min(self.credit_to_threshold(step, window))
        } else {
            credit
        };
        window.grow(step * taken);
        credit - taken
    }

    /// Returns the number of acknowledgements of one segment each after which slow start ends. `step` is the growth of
    /// the window per segment.
    fn credit_to_threshold(&self, step: f64, window: &Window) -> f64 {
        let steps = (window.ssthresh() - window.cwnd()) / step;
        if matches!(self, Self::Linux) {
            libm::floor(steps) + 1.0
        } else {
            libm::ceil(steps)
        }
    }

    /// Updates slow start after the algorithm has reduced the window; `before` is the window before the reduction.
    pub(crate) fn on_reduction(&mut self, event: &Congestion, before: f64, window: &mut Window) {
        match self {
            Self::Hystart(hystart) => hystart.end(),
            Self::Picoquic(picoquic) => picoquic.end(),
            Self::Search(search) => search.forget(),
            Self::Rapid(rapid) => rapid.on_reduction(event, before, window),
            Self::CarefulResume(resume) => resume.on_reduction(window),
            Self::Standard
            | Self::Linux
            | Self::Limited { .. }
            | Self::NistLimited { .. }
            | Self::Ns2Limited { .. }
            | Self::Hybrid(_) => {}
        }
    }

    /// Processes an acknowledgement in a recovery.
    pub(crate) fn on_ack_in_recovery(&mut self, ack: &AckSample, window: &mut Window) {
        match self {
            Self::CarefulResume(resume) => resume.on_ack_in_recovery(ack),
            Self::Rapid(rapid) => rapid.on_ack_in_recovery(ack, window),
            _ => {}
        }
    }

    /// Processes the end of a recovery.
    pub(crate) fn on_recovery_exit(&mut self, window: &mut Window) {
        match self {
            Self::CarefulResume(resume) => resume.on_recovery_exit(window),
            Self::Rapid(rapid) => rapid.end(),
            _ => {}
        }
    }

    /// Processes a restart of the window after the flow was idle for a retransmission timeout.
    pub(crate) fn on_idle_restart(&mut self) {
        if let Self::CarefulResume(resume) = self {
            resume.on_idle_restart();
        }
    }

    /// Processes a timeout, before the algorithm restarts the window.
    pub(crate) fn on_timeout(&mut self, event: &Timeout) {
        match self {
            Self::Hystart(hystart) => hystart.end(),
            Self::Picoquic(picoquic) => picoquic.end(),
            Self::Hybrid(hybrid) => hybrid.on_timeout(event),
            Self::Search(search) => search.forget(),
            Self::Rapid(rapid) => rapid.end(),
            Self::CarefulResume(resume) => resume.on_timeout(),
            Self::Standard
            | Self::Linux
            | Self::Limited { .. }
            | Self::NistLimited { .. }
            | Self::Ns2Limited { .. } => {}
        }
    }
}

/// Maximum growth of any slow start, in segments per acknowledged segment.
const MOST_STEP: f64 = 2.0;

/// Returns true if the window may reach the threshold before all `credit` segments of an acknowledgement are used.
#[inline]
pub(crate) fn may_end(credit: f64, window: &Window) -> bool {
    credit > 1.0 && MOST_STEP * credit > window.ssthresh() - window.cwnd()
}

/// Returns the growth of limited slow start at window `cwnd`, in segments per acknowledged segment: `1 / K`, where `K`
/// is `cwnd` divided by half of `max_ssthresh`, rounded down. Zero if `K` is zero.
pub(crate) fn limited_step(cwnd: f64, max_ssthresh: f64) -> f64 {
    // The conversion of a positive number to an integer truncates it.
    let halves = (cwnd / (0.5 * max_ssthresh)) as i64 as f64;
    if halves > 0.0 { 1.0 / halves } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Rounding;

    /// Compares windows with NIST SP 500-282, equation 5, for a `max_ssthresh` of 100 segments. Each row has a window,
    /// and the window after one acknowledgement.
    #[test]
    fn nist_s_form_does_not_round() {
        let ack = AckSample::ONE_SEGMENT;
        for (cwnd, expected) in [
            (2.0, 3.0),
            (99.0, 100.0),
            (100.0, 100.5),
            (160.0, 160.3125),
            (1000.0, 1000.05),
            (4000.0, 4000.0125),
        ] {
            let mut window = Window::new(cwnd, 1e6, 1e6, Rounding::Real);
            let max_ssthresh = 100.0;
            SlowStart::NistLimited { max_ssthresh }.on_ack(&ack, &mut window);
            assert!((window.cwnd() - expected).abs() < 1e-9, "{cwnd}");
        }
    }
    #[test]
    fn linux_goes_one_segment_beyond_the_threshold() {
        for (cwnd, standard, linux) in [
            (99.0, true, true),
            (100.0, false, true),
            (101.0, false, false),
        ] {
            let window = Window::new(cwnd, 100.0, 1e6, Rounding::Real);
            assert_eq!(SlowStart::Standard.lasts(&window), standard, "{cwnd}");
            assert_eq!(SlowStart::Linux.lasts(&window), linux, "{cwnd}");
        }
    }
}
