//! Reactions of a flow to the decisions of a detector (Weigle 2003, chapter 3).

use serde::{Deserialize, Serialize};

use super::detector::Verdict;
use super::trend::Trend;
use crate::facts::AckSample;
use crate::window::Window;

/// Effect of an acknowledgement on the window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Step {
    /// Change of the window by the rules of standard TCP, slow start included.
    Standard,
    /// Growth in segments per round trip; each acknowledgement adds its share.
    Grow(f64),
    /// Reduction of the window and of the threshold to this fraction of the window, as for a congestion mark.
    Reduce(f64),
    /// Reduction of the window to this fraction; the threshold does not change.
    Shrink(f64),
}

impl Step {
    pub(super) fn cuts(self) -> bool {
        matches!(self, Self::Reduce(_) | Self::Shrink(_))
    }
}

/// Reaction of a flow to the decisions of a detector, with its state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Reaction {
    /// No reaction: the detector only records its decisions.
    Watch,
    /// SyncPcwnd: at most one reduction per round trip.
    Cut(Cut),
    /// SyncMixReact: adjustments that depend on trend and level.
    Adjust(Adjust),
}

impl Reaction {
    /// Returns the effect on the window of an acknowledgement outside recovery. `verdict` is the last decision of the
    /// congestion detector. If the detector has decided at this acknowledgement, `number` is the number of transit
    /// times measured so far; otherwise, it is `None`.
    pub(super) fn step(
        &mut self,
        verdict: Option<&Verdict>,
        number: Option<u64>,
        ack: &AckSample,
        window: &Window,
    ) -> Step {
        match (self, verdict) {
            (Self::Watch, _) | (_, None) => Step::Standard,
            (Self::Cut(cut), Some(verdict)) => cut.step(verdict, ack),
            (Self::Adjust(adjust), Some(verdict)) => adjust.step(verdict, number, window),
        }
    }

    /// Records a loss, a mark or a timeout: standard TCP sets the window from now to the next adjustment.
    pub(super) fn on_loss(&mut self) {
        if let Self::Adjust(adjust) = self {
            adjust.rate = None;
        }
    }
}

/// Behaviour of the window between a reduction and the next decision or reduction. The source does not specify it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum AfterCut {
    /// The window grows as in congestion avoidance. With this choice, the utilisation and loss of MixReact are as
    /// published (table 4.3).
    Grows,
    /// The window does not change.
    Stays,
}

impl AfterCut {
    /// Returns the growth in segments per round trip.
    fn rate(self) -> f64 {
        match self {
            Self::Grows => 1.0,
            Self::Stays => 0.0,
        }
    }
}

/// State of SyncPcwnd, which reduces the window once per round trip while there is congestion. After a reduction, the
/// next one waits for the acknowledgement of a segment sent since.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Cut {
    kept: f64,
    after: AfterCut,
    /// Number of segments delivered or in flight at the last reduction. The next reduction waits until more segments
    /// than this number have been delivered.
    flight: u64,
}

impl Cut {
    pub(super) fn new(decrease: f64, after: AfterCut) -> Self {
        Self {
            kept: 1.0 - decrease,
            after,
            flight: 0,
        }
    }

    fn step(&mut self, verdict: &Verdict, ack: &AckSample) -> Step {
        if !verdict.congested {
            return Step::Standard;
        }
        if ack.delivered <= self.flight {
            return match self.after {
                AfterCut::Grows => Step::Standard,
                AfterCut::Stays => Step::Grow(0.0),
            };
        }
        self.flight = ack.delivered + ack.in_flight;
        Step::Reduce(self.kept)
    }
}

/// Minimum number of reported transit times from one adjustment of the window or its growth to the next.
const PERIOD: u64 = 3;

/// State of SyncMixReact, which reduces or grows the window by the trend and level of the queueing delay (table 1.1).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Adjust {
    /// True if the growth set by the last adjustment stays in effect while the trend is undetermined.
    keeps: bool,
    after: AfterCut,
    /// Window growth until the next adjustment, in segments per round trip; `None` while standard TCP sets the window.
    rate: Option<f64>,
    /// Number of the first report that may cause another adjustment.
    next: u64,
}

impl Adjust {
    pub(super) fn new(keeps: bool, after: AfterCut) -> Self {
        Self {
            keeps,
            after,
            rate: None,
            next: 0,
        }
    }

    fn step(&mut self, verdict: &Verdict, number: Option<u64>, window: &Window) -> Step {
        if let Some(number) = number
            && number >= self.next
        {
            self.next = number + PERIOD;
            if let Some(kept) = self.adjust(verdict, window.cwnd()) {
                self.rate = Some(self.after.rate());
                return Step::Shrink(kept);
            }
        }
        self.rate.map_or(Step::Standard, Step::Grow)
    }

    /// Returns the fraction of the window that a reduction keeps; `None` if there is no reduction. May set `rate`,
    /// the growth of the window until the next adjustment.
    fn adjust(&mut self, verdict: &Verdict, cwnd: f64) -> Option<f64> {
        let increasing = [None, Some(0.9), Some(0.75), Some(0.5)];
        let decreasing = [cwnd / 2.0, cwnd / 4.0, cwnd / 10.0, 0.0];
        match verdict.trend {
            Some(Trend::Increasing) => {
                self.rate = Some(1.0);
                increasing[verdict.quarter()]
            }
            Some(Trend::Decreasing) => {
                self.rate = Some(decreasing[verdict.quarter()]);
                None
            }
            Some(Trend::Undetermined) => {
                if !self.keeps {
                    self.rate = Some(1.0);
                }
                None
            }
            None if verdict.congested => {
                self.rate = Some(1.0);
                increasing[verdict.quarter()]
            }
            // A growth that this reaction has set becomes that of congestion avoidance. Otherwise standard TCP still
            // sets the window: no congestion has been found since the start or the last loss.
            None => {
                self.rate = self.rate.map(|_| 1.0);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Rounding;

    fn adjusted(trend: Trend, level: f64) -> Step {
        let verdict = Verdict {
            congested: false,
            trend: Some(trend),
            level,
        };
        let window = Window::new(40.0, 2.0, 1e3, Rounding::Real);
        Adjust::new(false, AfterCut::Grows).step(&verdict, Some(9), &window)
    }

    /// Compares the growth and the reductions for each trend and level with table 1.1, at a window of 40 segments.
    #[test]
    fn adjustments_are_those_of_the_table() {
        for (level, increasing, decreasing) in [
            (0.9, Step::Shrink(0.5), Step::Grow(0.0)),
            (0.6, Step::Shrink(0.75), Step::Grow(4.0)),
            (0.3, Step::Shrink(0.9), Step::Grow(10.0)),
            (0.1, Step::Grow(1.0), Step::Grow(20.0)),
            // The relative change of the delay, which is SyncMix's level while delays are small, can exceed 1.
            (1.2, Step::Shrink(0.5), Step::Grow(0.0)),
        ] {
            assert_eq!(adjusted(Trend::Increasing, level), increasing, "{level}");
            assert_eq!(adjusted(Trend::Decreasing, level), decreasing, "{level}");
            assert_eq!(adjusted(Trend::Undetermined, level), Step::Grow(1.0));
        }
    }

    #[test]
    fn growth_holds_from_one_adjustment_to_the_next_and_a_cut_is_made_once() {
        let mut adjust = Adjust::new(true, AfterCut::Grows);
        let window = Window::new(40.0, 2.0, 1e3, Rounding::Real);
        let verdict = |trend, level| Verdict {
            congested: false,
            trend: Some(trend),
            level,
        };
        let falling = verdict(Trend::Decreasing, 0.3);
        assert_eq!(adjust.step(&falling, Some(9), &window), Step::Grow(10.0));
        let larger = Window::new(60.0, 2.0, 1e3, Rounding::Real);
        assert_eq!(adjust.step(&falling, None, &larger), Step::Grow(10.0));
        let undetermined = verdict(Trend::Undetermined, 0.3);
        let kept = adjust.step(&undetermined, Some(12), &larger);
        assert_eq!(kept, Step::Grow(10.0));
        let rising = verdict(Trend::Increasing, 0.6);
        assert_eq!(adjust.step(&rising, Some(15), &larger), Step::Shrink(0.75));
        assert_eq!(adjust.step(&rising, None, &larger), Step::Grow(1.0));
        // If a detector decides at each report, every third decision has an effect.
        let congested = Verdict {
            congested: true,
            trend: None,
            level: 0.8,
        };
        let early = adjust.step(&congested, Some(17), &larger);
        assert_eq!(early, Step::Grow(1.0));
        assert_eq!(
            adjust.step(&congested, Some(18), &larger),
            Step::Shrink(0.5)
        );
    }
}
