//! Additive increase, multiplicative decrease: the congestion avoidance of standard TCP.
//!
//! RFC 5681 section 3.1 (equation 3: one segment per round trip; equation 4: half of the window). Both amounts are
//! parameters, as in GAIMD (Yang and Lam, ICNP 2000).

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use crate::backoff::{Backoff, ECN_DECREASE};
use crate::congestion_control::{CongestionControl, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{Congestion, Timeout};
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::window::Window;

pub(crate) static ENTRY: Entry<Reno> = Entry {
    kind: "reno",
    title: "Standard TCP (Reno, AIMD)",
    description: "Adds a fixed number of segments to the window each round trip and removes a \
        fixed fraction of it at a congestion signal. With the defaults this is standard TCP; other \
        values give the general AIMD family. Variant ns2 halves the window at the first reduction \
        of a connection and in slow start, whatever the fraction; linux-6.18 counts whole segments.",
    law: &[
        "each ACK: cwnd += increase * acked / cwnd",
        "congestion: cwnd = (1 - decrease) * cwnd",
        "mark in congestion avoidance: cwnd = (1 - ecn_decrease) * cwnd",
    ],
    source: "RFC 5681 section 3.1; RFC 8511; Linux 6.18, tcp_cong.c (tcp_cong_avoid_ai)",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper, Variant::Ns2, Variant::Linux6_18],
    parameters: &[
        Parameter {
            name: "increase",
            unit: "segments per round trip",
            default: DefaultValue::Fixed(1.0),
            allowed: Range::above(0.0, 1e6),
            help: "Additive increase.",
            source: "RFC 5681 equation 3",
        },
        Parameter {
            name: "decrease",
            unit: "fraction of the window",
            default: DefaultValue::Fixed(0.5),
            allowed: Range::open(0.0, 1.0),
            help: "Part of the window removed at a congestion signal.",
            source: "RFC 5681 equation 4",
        },
        ECN_DECREASE,
    ],
    build: |settings| Ok(Reno::new(settings)),
};

/// State of additive increase, multiplicative decrease for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reno {
    increase: f64,
    backoff: Backoff,
    /// True if the first reduction and those in slow start halve the window, as in ns-2.
    first_halves: bool,
    /// True if windows are whole numbers: the window grows by one segment per `cwnd / increase` acknowledged segments.
    whole: bool,
    /// Number of acknowledged segments that have not enlarged the window yet, if windows are whole numbers
    /// (`snd_cwnd_cnt`).
    counted: f64,
}

impl Reno {
    fn new(settings: &Settings) -> Self {
        Self {
            first_halves: settings.variant() == Variant::Ns2,
            whole: settings.variant() == Variant::Linux6_18,
            backoff: Backoff::new(settings),
            ..Self::general(settings.get("increase"), settings.get("decrease"))
        }
    }

    /// Creates the algorithm with the given increase and decrease, without the rules of any variant.
    pub(crate) fn general(increase: f64, decrease: f64) -> Self {
        Self {
            increase,
            backoff: Backoff::always(decrease),
            first_halves: false,
            whole: false,
            counted: 0.0,
        }
    }

    /// Creates the standard TCP of a current Linux kernel.
    pub(crate) fn of_linux() -> Self {
        Self {
            whole: true,
            ..Self::general(1.0, 0.5)
        }
    }

    /// Returns the whole number of segments by which `credit` acknowledged segments enlarge the window
    /// (`tcp_cong_avoid_ai`).
    fn whole_increment(&mut self, credit: f64, cwnd: f64) -> f64 {
        let needed = larger((cwnd / self.increase).floor(), 1.0);
        let due = self.counted >= needed;
        self.counted = if due { credit } else { self.counted + credit };
        let more = (self.counted / needed).floor();
        self.counted -= more * needed;
        more + f64::from(u8::from(due))
    }
}

fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

impl CongestionControl for Reno {
    #[inline]
    fn increment(&mut self, credit: f64, cwnd: f64) -> Option<f64> {
        if self.whole {
            return Some(self.whole_increment(credit, cwnd));
        }
        Some(self.increase * credit / cwnd)
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        let halve = self.first_halves && (event.first || event.in_slow_start);
        let decrease = if halve { 0.5 } else { self.backoff.at(event) };
        let left = event.base * (1.0 - decrease);
        self.counted = 0.0;
        window.reduce_to(if self.whole { left.floor() } else { left });
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.counted = 0.0;
        restart(event, window);
        if self.whole {
            window.set_ssthresh(window.ssthresh().floor());
        }
    }

    /// Returns the mean window of AIMD at the loss rate `loss` (p): `sqrt(a (2 - b) / (2 b p))`, with increase `a` and
    /// decrease `b`.
    fn response(&self, loss: f64, _rtt: Span) -> Option<f64> {
        Some(mean_window(self.increase, self.backoff.loss, loss))
    }
}

/// Returns the mean window of AIMD if every `1 / loss`-th segment is lost. RFC 3649 section 5 uses this formula for
/// HighSpeed TCP. With the values of standard TCP, it is `sqrt(1.5 / loss)`.
pub(crate) fn mean_window(increase: f64, decrease: f64, loss: f64) -> f64 {
    libm::sqrt(increase * (2.0 - decrease) / (2.0 * decrease * loss))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the window grows by one segment for each window of acknowledged segments, with two segments per
    /// acknowledgement.
    #[test]
    fn linux_adds_a_segment_for_each_window_of_acknowledged_segments() {
        let mut reno = Reno::new(&ENTRY.settings(Variant::Linux6_18, &[]).unwrap());
        let mut cwnd = 10.0;
        let mut grown = Vec::new();
        for number in 1..=18 {
            let more = reno.increment(2.0, cwnd).unwrap();
            cwnd += more;
            if more > 0.0 {
                grown.push(number);
            }
        }
        // The window of eleven segments takes six acknowledgements; their twelfth segment counts towards the next
        // increase.
        assert_eq!(grown, [5, 11, 17]);
        assert_eq!((cwnd, reno.counted), (13.0, 3.0));
        assert_eq!(reno.whole_increment(40.0, 10.0), 4.0);
        assert_eq!(reno.counted, 3.0);
    }
}
