//! Common parts of the algorithms of a current kernel: windows in whole segments, clock ticks, and the congestion
//! avoidance state as far as it can be determined from acknowledgements and signals.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::facts::{AckSample, Cause, Congestion, Limit, Phase};
use crate::window::Window;

/// Number of the kernel's clock ticks per second (`CONFIG_HZ`): the default of its configuration.
pub(crate) const HZ: u64 = 250;

/// Returns a time in whole clock ticks (`jiffies`).
pub(crate) fn ticks(time: Time) -> u64 {
    time.since(Time::ZERO).as_ps() / (Span::from_secs(1).as_ps() / HZ)
}

/// Returns the start of a connection without a handshake: a round trip before its first acknowledgement.
pub(crate) fn began(first: &AckSample) -> Time {
    let elapsed = first.now.since(Time::ZERO);
    Time::ZERO + elapsed.saturating_sub(first.rtt.unwrap_or(Span::ZERO))
}

/// Returns a duration in clock ticks, rounded up (`usecs_to_jiffies`).
pub(crate) fn ticks_begun(span: Span) -> u64 {
    span.as_ps().div_ceil(Span::from_secs(1).as_ps() / HZ)
}

/// Number of acknowledged segments that have not enlarged the window yet (`snd_cwnd_cnt`).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Counted(pub(crate) u64);

impl Counted {
    /// Adds `acked` acknowledged segments to the count. Returns the number of segments by which the window grows: one
    /// each time that the count reaches `per_segment` (`tcp_cong_avoid_ai`). An old count of `per_segment` or more, for
    /// a larger window, adds one segment and is discarded.
    pub(crate) fn add(&mut self, per_segment: u64, acked: u64) -> u64 {
        let due = self.0 >= per_segment;
        self.0 = if due { acked } else { self.0 + acked };
        let more = self.0 / per_segment;
        self.0 %= per_segment;
        more + u64::from(due)
    }
}

/// Enlarges the window by `acked` segments, up to the threshold; returns the number of segments left over
/// (`tcp_slow_start`).
pub(crate) fn slow_start(window: &mut Window, acked: u64) -> u64 {
    let before = window.cwnd() as u64;
    let grown = ((before + acked) as f64).min(libm::floor(window.ssthresh()));
    window.set_cwnd(grown);
    acked.saturating_sub((grown as u64).saturating_sub(before))
}

/// Enlarges the window as standard TCP does, including slow start (`tcp_reno_cong_avoid`).
pub(crate) fn grow_as_standard(counted: &mut Counted, window: &mut Window, mut acked: u64) {
    if window.in_slow_start() {
        acked = slow_start(window, acked);
    }
    if acked > 0 {
        grow_by_one_for(counted, window, window.cwnd() as u64, acked);
    }
}

/// Enlarges the window by one segment per `per_segment` acknowledged segments.
pub(crate) fn grow_by_one_for(
    counted: &mut Counted,
    window: &mut Window,
    per_segment: u64,
    acked: u64,
) {
    let more = counted.add(per_segment, acked);
    if more > 0 {
        window.grow(more as f64);
    }
}

/// Returns half of a window, at least two segments (`tcp_reno_ssthresh`).
pub(crate) fn half(base: f64) -> f64 {
    ((base as u64 / 2).max(2)) as f64
}

/// Sets the threshold to `target`, at least two segments. Reduces the window to `target` if the window is larger.
pub(crate) fn reduce(window: &mut Window, target: f64) {
    let before = window.cwnd();
    window.reduce_to(target);
    window.set_cwnd(window.cwnd().min(before));
}

/// Numbers of segments acknowledged so far and sent so far, as known from acknowledgements (`snd_una`, `snd_nxt`).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sequence {
    pub(crate) una: u64,
    pub(crate) nxt: u64,
}

impl Sequence {
    pub(crate) fn on_ack(&mut self, ack: &AckSample) {
        self.una += ack.acked;
        let sacked = ack.delivered.saturating_sub(self.una);
        self.nxt = self.una + ack.in_flight + sacked;
    }
}

/// State of a reduction of the window (`TCP_CA_CWR` and above).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reducing {
    una: u64,
    /// Number of acknowledged segments above which the reduction for a mark ends; `None` outside such a reduction.
    until: Option<u64>,
    recovering: bool,
    /// True if a recovery has ended, but the acknowledgement that ends it has not been counted yet.
    ending: bool,
    /// Time of the last acknowledgement that was counted.
    acked_at: Time,
}

impl Reducing {
    /// Counts an acknowledgement. Returns true if it ends a recovery or the response to a mark.
    pub(crate) fn on_ack(&mut self, ack: &AckSample) -> bool {
        self.una += ack.acked;
        self.acked_at = ack.now;
        let answered = self.until.is_some_and(|until| self.una > until);
        if answered {
            self.until = None;
        }
        std::mem::take(&mut self.ending) || answered
    }

    /// Begins the reduction for a congestion signal.
    pub(crate) fn begin(&mut self, event: &Congestion) {
        if event.cause == Cause::Ecn {
            self.until = Some(self.una + event.in_flight);
        } else {
            self.begin_recovery();
        }
    }

    /// Begins the recovery from a loss or a timeout.
    pub(crate) fn begin_recovery(&mut self) {
        (self.recovering, self.until, self.ending) = (true, None, false);
    }

    /// Ends the recovery, because of an acknowledgement received at `now`. Returns true if [`Self::on_ack`] has already
    /// counted this acknowledgement. Otherwise, the reduction of the window lasts until `on_ack` has counted it.
    pub(crate) fn end_recovery(&mut self, now: Time) -> bool {
        self.recovering = false;
        // The kernel processes samples first (`pkts_acked`).
        self.ending = self.acked_at != now;
        !self.ending
    }

    /// Returns true if the kernel calls the algorithm to enlarge the window (`tcp_may_raise_cwnd`). It does so even if
    /// the window is not fully used; the algorithms check this themselves.
    pub(crate) fn asks_for_growth(self, ack: &AckSample, phase: Phase) -> bool {
        let unused = phase == Phase::NoGrowth
            && ack.limit != Limit::Network
            && ack.acked > 0
            && !ack.ecn_echo
            && self.is_open();
        phase.may_grow() || unused
    }

    /// Returns true if no reduction is under way (`TCP_CA_Open`).
    pub(crate) fn is_open(self) -> bool {
        !self.recovering && !self.ending && self.until.is_none()
    }
}

/// Count of acknowledged segments that have not enlarged the window yet, and state of the current reduction. For
/// algorithms that reduce the window and the threshold to the same value.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Avoidance {
    pub(crate) counted: Counted,
    pub(crate) reducing: Reducing,
}

impl Avoidance {
    /// Begins the reduction for a congestion signal.
    pub(crate) fn on_congestion(&mut self, event: &Congestion, target: f64, window: &mut Window) {
        self.reducing.begin(event);
        self.counted = Counted::default();
        reduce(window, target);
    }

    /// Begins the recovery from a timeout. `threshold` is the new threshold. `None` keeps the old one
    /// ([`keep_ssthresh`](crate::Timeout::keep_ssthresh)).
    pub(crate) fn on_timeout(&mut self, threshold: Option<f64>, window: &mut Window) {
        self.reducing.begin_recovery();
        self.counted = Counted::default();
        if let Some(threshold) = threshold {
            window.set_ssthresh(threshold);
        }
        window.restart();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_that_are_left_count_for_the_next_one() {
        let mut counted = Counted::default();
        let grown: Vec<u64> = [4, 4, 4, 25, 1]
            .map(|acked| counted.add(10, acked))
            .to_vec();
        assert_eq!(grown, [0, 0, 1, 2, 0]);
        assert_eq!(counted.0, 8);
        // The segments that were counted for a larger window add one segment to the window; the rest of the count is
        // discarded.
        assert_eq!((counted.add(5, 2), counted.0), (1, 2));
    }

    #[test]
    fn ticks_are_whole_and_those_that_have_begun_count_for_spans() {
        assert_eq!(ticks(Time::ZERO + Span::from_micros(7_999)), 1);
        assert_eq!(ticks_begun(Span::from_micros(4_001)), 2);
    }

    #[test]
    fn the_acknowledgement_that_ends_a_recovery_belongs_to_it() {
        let at = |ms| AckSample {
            now: Time::ZERO + Span::from_millis(ms),
            ..AckSample::ONE_SEGMENT
        };
        let mut reducing = Reducing::default();
        reducing.begin_recovery();
        assert!(!reducing.on_ack(&at(1)));
        assert!(!reducing.end_recovery(at(2).now) && !reducing.is_open());
        assert!(reducing.on_ack(&at(2)) && reducing.is_open());
        reducing.begin_recovery();
        assert!(!reducing.on_ack(&at(3)));
        assert!(reducing.end_recovery(at(3).now) && reducing.is_open());
        assert!(!reducing.on_ack(&at(4)));
    }

    #[test]
    fn the_answer_to_a_mark_lasts_until_what_was_in_flight_is_acknowledged() {
        let of = |acked| AckSample {
            acked,
            ..AckSample::ONE_SEGMENT
        };
        let mut reducing = Reducing::default();
        reducing.on_ack(&of(5));
        reducing.begin(&Congestion {
            now: Time::ZERO,
            cause: Cause::Ecn,
            base: 10.0,
            in_flight: 10,
            in_slow_start: false,
            first: true,
        });
        assert!(!reducing.on_ack(&of(10)) && !reducing.is_open());
        assert!(reducing.on_ack(&of(1)) && reducing.is_open());
    }
}
