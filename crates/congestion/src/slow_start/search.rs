//! SEARCH: slow start ends when much less is delivered in a window of time than was sent one round trip earlier.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::AckSample;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, SpecError, Variant};
use crate::window::Window;

pub(crate) static ENTRY: Entry<Search> = Entry {
    kind: "search",
    title: "SEARCH",
    description: "Slow start that compares the data delivered in a time window with the data sent in an equally long \
        window one round trip earlier. While the path is not full, both are the same; when much less is delivered, \
        slow start ends. Unlike a test of round-trip times, the comparison is not misled by their jitter. After a \
        timeout or a reduction it is active again.",
    law: &[
        "each ACK: cwnd += acked",
        "every window_factor / 10 of the first rtt: sent = sent in (now - rtt - window, now - rtt], delivered = delivered in (now - window, now]",
        "(sent - delivered) / sent >= threshold: ssthresh = cwnd",
    ],
    source: "draft-chung-ccwg-search-09",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &PARAMETERS,
    build: Search::new,
};

static PARAMETERS: [Parameter; 2] = [
    Parameter {
        name: "window_factor",
        unit: "round trips",
        default: DefaultValue::Fixed(3.5),
        allowed: Range::above(0.0, 1e3),
        help: "Length of both windows, as a multiple of the first round-trip time sample.",
        source: "draft-chung-ccwg-search-09, WINDOW_SIZE_FACTOR",
    },
    Parameter {
        name: "threshold",
        unit: "fraction",
        default: DefaultValue::Fixed(0.26),
        allowed: Range::open(0.0, 1.0),
        help: "Largest shortfall of delivered bytes against those sent a round trip earlier; beyond it slow start ends.",
        source: "draft-chung-ccwg-search-09, THRESH",
    },
];

/// Number of bins in a window of time (W in the draft).
const BINS: usize = 10;

/// Number of bins stored in addition to those of the current window of time. They cover the window that ended one round
/// trip earlier.
const EXTRA_BINS: usize = 15;

/// Number of all stored bins.
const ENDS: usize = BINS + EXTRA_BINS;

/// State of SEARCH (draft-chung-ccwg-search-09) for one flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    window_factor: f64,
    threshold: f64,
    bins: Option<Bins>,
}

/// Numbers of segments sent and delivered up to the end of each of the last bins; the newest is last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Bins {
    duration: Span,
    end: Time,
    totals: Vec<Totals>,
}

/// Numbers of segments that the connection has sent and delivered so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Totals {
    /// Number of segments sent, including retransmissions.
    sent: u64,
    delivered: u64,
}

impl Totals {
    /// Returns the numbers of segments sent (those delivered, lost or in flight) and delivered at an acknowledgement.
    fn of(ack: &AckSample) -> Self {
        Self {
            sent: ack.delivered + ack.lost + ack.in_flight,
            delivered: ack.delivered,
        }
    }
}

impl Search {
    fn new(settings: &Settings) -> Result<Self, SpecError> {
        Ok(Self {
            window_factor: settings.get("window_factor"),
            threshold: settings.get("threshold"),
            bins: None,
        })
    }

    /// Processes an acknowledgement of new data in slow start, before the window grows for it. Ends slow start if much
    /// less is delivered than was sent.
    pub(super) fn watch(&mut self, ack: &AckSample, window: &mut Window) {
        let Some(rtt) = ack.rtt else { return };
        if let Some(bins) = &mut self.bins {
            if ack.now < bins.end {
                return;
            }
            if bins.pass(ack) {
                let missing = bins.missing(rtt);
                if missing.is_some_and(|part| part >= self.threshold) {
                    window.exit_slow_start();
                    self.bins = None;
                }
                return;
            }
        }
        let window_s = self.window_factor * rtt.as_secs_f64();
        let duration = Span::from_secs_f64(window_s / BINS as f64);
        self.bins = Some(Bins::new(duration, ack));
    }

    /// Discards the bins of a slow start, so that they do not count in the next one.
    pub(super) fn forget(&mut self) {
        self.bins = None;
    }
}

impl Bins {
    fn new(duration: Span, ack: &AckSample) -> Self {
        let duration = duration.max(Span::from_ps(1));
        Self {
            duration,
            end: ack.now + duration,
            totals: vec![Totals::of(ack)],
        }
    }

    /// Ends all bins that are over at the time of an acknowledgement. The last of them gets the totals at this
    /// acknowledgement; each other one gets those of the bin before. Returns false, and ends no bin, if more than
    /// [`BINS`] bins are over.
    fn pass(&mut self, ack: &AckSample) -> bool {
        let passed = 1 + (ack.now.since(self.end).as_ps() / self.duration.as_ps()) as usize;
        if passed > BINS {
            return false;
        }
        let before = self.totals[self.totals.len() - 1];
        self.totals.extend(std::iter::repeat_n(before, passed - 1));
        self.totals.push(Totals::of(ack));
        let old = self.totals.len().saturating_sub(ENDS);
        self.totals.drain(..old);
        self.end += self.duration * passed as u64;
        true
    }

    /// Returns the fraction of segments missing in the last window: sent in the window one round trip ago, but not
    /// delivered; negative if more was delivered. Returns `None` if the bins do not reach back so far, or if no segment
    /// was sent.
    fn missing(&self, rtt: Span) -> Option<f64> {
        let ago = rtt.as_secs_f64() / self.duration.as_secs_f64();
        let sent = self.sent_until(ago)? - self.sent_until(ago + BINS as f64)?;
        let newest = self.totals.len() - 1;
        let delivered = self.totals[newest].delivered - self.totals[newest - BINS].delivered;
        (sent > 0.0).then(|| (sent - delivered as f64) / sent)
    }

    /// Returns the number of segments sent up to `ago` bins before now, interpolated within a bin; `None` if the bins
    /// do not reach back so far.
    fn sent_until(&self, ago: f64) -> Option<f64> {
        let whole = ago as usize;
        let newest = self.totals.len() - 1;
        let before = newest.checked_sub(whole + 1)?;
        let (from, to) = (self.totals[before].sent, self.totals[before + 1].sent);
        Some(to as f64 - (ago - whole as f64) * (to - from) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Rounding;

    const RTT: Span = Span::from_millis(100);

    fn search() -> Search {
        Search::new(&ENTRY.settings(Variant::Paper, &[]).unwrap()).unwrap()
    }

    /// Passes acknowledgements to `search`, at the times `times_ms`, until slow start ends. Returns the time of the end
    /// in milliseconds. `totals` returns the numbers of segments sent and delivered until a time.
    fn ends_at(
        search: &mut Search,
        times_ms: impl IntoIterator<Item = u64>,
        totals: impl Fn(u64) -> (u64, u64),
        rtt: impl Fn(u64) -> Span,
    ) -> Option<u64> {
        let mut window = Window::new(1000.0, 1e6, 1e6, Rounding::Real);
        times_ms.into_iter().find(|&ms| {
            let (sent, delivered) = totals(ms);
            let ack = AckSample {
                now: Time::ZERO + Span::from_millis(ms),
                delivered,
                in_flight: sent - delivered,
                rtt: Some(rtt(ms)),
                ..AckSample::ONE_SEGMENT
            };
            search.watch(&ack, &mut window);
            window.ssthresh() == 1000.0
        })
    }

    /// Checks that slow start ends if 26 % of the segments are missing, but not if 25 % are.
    #[test]
    fn so_much_less_delivered_than_sent_ends_slow_start() {
        let share = |delivered: u64| {
            let totals = move |ms: u64| (100 * ms, delivered * ms);
            ends_at(&mut search(), 100..5_000, totals, |_| RTT)
        };
        // A round trip and SEARCH's window are 12.86 bins of 35 ms, so the 13th bin is the first to decide. It ends 455
        // ms after the first acknowledgement.
        assert_eq!(share(74), Some(555));
        assert_eq!(share(75), None);
        assert_eq!(share(100), None);
    }

    /// Checks that slow start does not end while all segments are delivered one round trip after they were sent. The
    /// number of segments sent doubles in each round trip.
    #[test]
    fn a_path_that_is_not_full_delivers_what_was_sent() {
        let sent = |ms: u64| (1000.0 * (ms as f64 / 100.0).exp2()) as u64;
        let doubling = |ms: u64| (sent(ms), sent(ms - 100));
        assert_eq!(ends_at(&mut search(), 100..3_000, doubling, |_| RTT), None);
    }

    /// Checks that slow start ends at 1360 ms on a path with a queue that grows from 1000 ms on: from then on, two
    /// segments are sent per millisecond and one is delivered.
    #[test]
    fn a_queue_that_grows_ends_slow_start() {
        let full = |ms: u64| (ms + ms.saturating_sub(1_000), ms - 100);
        let rtt = |ms: u64| RTT + Span::from_millis(ms.saturating_sub(1_100) / 2);
        let found = ends_at(&mut search(), 100..5_000, full, rtt);
        // A segment delivered at `t` ms was sent at `s = (t + 900) / 2`. In the 350 ms before `s`, `s - 650` segments
        // were sent; in the 350 ms before `t`, 350 were delivered, which is `s - 1000` fewer. The difference reaches
        // 26 % at 1346 ms, and the next bin ends at 1360 ms.
        assert_eq!(found, Some(1_360));
    }

    /// Checks that SEARCH restarts if no acknowledgement arrives within ten bins after the end of the current bin.
    #[test]
    fn a_long_silence_starts_it_over() {
        let totals = |ms: u64| (100 * ms, 50 * ms);
        let silent = |until| {
            let times = (100..200).chain(until..2_000);
            ends_at(&mut search(), times, totals, |_| RTT)
        };
        // The current bin ends at 205 ms, and ten bins take 350 ms.
        let goes_on = silent(554).unwrap();
        assert!(goes_on < 554 + 455, "{goes_on}");
        assert_eq!(silent(555), Some(555 + 455));
    }
}
