//! HyStart++: when the round-trip time grows, a slower slow start first confirms the growth; then slow start ends.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::AckSample;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, SpecError, Variant};
use crate::window::Window;

pub(crate) static ENTRY: Entry<Hystart> = Entry {
    kind: "hystart++",
    title: "HyStart++",
    description: "Slow start that watches the smallest round-trip time of each round. When it \
        grows, the window grows slower for some rounds (conservative slow start); if the \
        round-trip time falls again, slow start goes on, else it ends. Only for the first slow \
        start of a connection; standard slow start later.",
    law: &[
        "each ACK: cwnd += acked",
        "smallest rtt of a round grown by an eighth, bounded: cwnd grows a quarter as fast for five rounds, then ssthresh = cwnd",
    ],
    source: "RFC 9406",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &PARAMETERS,
    build: Hystart::new,
};

static PARAMETERS: [Parameter; 7] = [
    Parameter {
        name: "min_rtt_thresh",
        unit: "seconds",
        default: DefaultValue::Fixed(0.004),
        allowed: Range::closed(0.0, 10.0),
        help: "Smallest growth of the round-trip time that counts.",
        source: "RFC 9406 section 4.3, MIN_RTT_THRESH",
    },
    Parameter {
        name: "max_rtt_thresh",
        unit: "seconds",
        default: DefaultValue::Fixed(0.016),
        allowed: Range::above(0.0, 10.0),
        help: "Growth of the round-trip time that always counts.",
        source: "RFC 9406 section 4.3, MAX_RTT_THRESH",
    },
    Parameter {
        name: "min_rtt_divisor",
        unit: "1",
        default: DefaultValue::Fixed(8.0),
        allowed: Range::closed(1.0, 1e3),
        help: "Between these two bounds, the growth that counts is the round-trip time divided by this.",
        source: "RFC 9406 section 4.3, MIN_RTT_DIVISOR",
    },
    Parameter {
        name: "samples",
        unit: "samples",
        default: DefaultValue::Fixed(8.0),
        allowed: Range::closed(1.0, 1e6),
        help: "Number of round-trip time samples that a round needs to be judged.",
        source: "RFC 9406 section 4.3, N_RTT_SAMPLE",
    },
    Parameter {
        name: "css_growth_divisor",
        unit: "1",
        default: DefaultValue::Fixed(4.0),
        allowed: Range::closed(1.0, 1e3),
        help: "Divisor of the growth in conservative slow start.",
        source: "RFC 9406 section 4.3, CSS_GROWTH_DIVISOR",
    },
    Parameter {
        name: "css_rounds",
        unit: "round trips",
        default: DefaultValue::Fixed(5.0),
        allowed: Range::closed(1.0, 1e3),
        help: "Length of conservative slow start.",
        source: "RFC 9406 section 4.3, CSS_ROUNDS",
    },
    Parameter {
        name: "max_per_ack",
        unit: "segments",
        default: DefaultValue::Fixed(8.0),
        allowed: Range::closed(1.0, 1e9),
        help: "Most segments that one acknowledgement adds; a sender that paces needs no limit.",
        source: "RFC 9406 section 4.3, L",
    },
];

/// State of HyStart++ (RFC 9406 section 4.2) for one flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hystart {
    min_rtt_thresh_s: f64,
    max_rtt_thresh_s: f64,
    min_rtt_divisor: f64,
    samples: f64,
    css_growth_divisor: f64,
    css_rounds: f64,
    max_per_ack: f64,
    /// Number of the current round; `None` before the first.
    round: Option<u64>,
    /// Smallest round-trip time of the last round.
    last_min: Option<Span>,
    /// Smallest round-trip time of the current round.
    current_min: Option<Span>,
    /// Number of samples in the current round.
    taken: f64,
    /// Smallest round-trip time at the beginning of conservative slow start, and the number of rounds begun since then.
    /// `None` outside of conservative slow start.
    css: Option<(Span, f64)>,
    /// True if the first slow start is over.
    over: bool,
}

impl Hystart {
    fn new(settings: &Settings) -> Result<Self, SpecError> {
        settings.require_below("min_rtt_thresh", "max_rtt_thresh")?;
        Ok(Self {
            min_rtt_thresh_s: settings.get("min_rtt_thresh"),
            max_rtt_thresh_s: settings.get("max_rtt_thresh"),
            min_rtt_divisor: settings.get("min_rtt_divisor"),
            samples: settings.get("samples"),
            css_growth_divisor: settings.get("css_growth_divisor"),
            css_rounds: settings.get("css_rounds"),
            max_per_ack: settings.get("max_per_ack"),
            round: None,
            last_min: None,
            current_min: None,
            taken: 0.0,
            css: None,
            over: false,
        })
    }

    /// Ends HyStart++ at a reduction or a timeout; later slow starts are standard (section 4.3).
    pub(super) fn end(&mut self) {
        self.over = true;
    }

    /// Returns the number of acknowledged segments, out of `credit`, that count towards growth.
    pub(super) fn limit(&self, credit: f64) -> f64 {
        if self.over {
            credit
        } else {
            credit.min(self.max_per_ack)
        }
    }

    /// Processes an acknowledgement; returns the growth of the window per acknowledged segment, zero if the
    /// acknowledgement ends slow start.
    pub(super) fn on_ack(&mut self, ack: &AckSample, window: &mut Window) -> f64 {
        if self.over {
            return 1.0;
        }
        if self.round != Some(ack.round) {
            self.round = Some(ack.round);
            self.begin_round(window);
        }
        if self.over {
            return 0.0;
        }
        let divisor = self.css.map_or(1.0, |_| self.css_growth_divisor);
        if let Some(rtt) = ack.rtt {
            self.current_min = Some(self.current_min.map_or(rtt, |min| min.min(rtt)));
            self.taken += 1.0;
        }
        self.judge();
        1.0 / divisor
    }

    fn begin_round(&mut self, window: &mut Window) {
        self.last_min = self.current_min;
        (self.current_min, self.taken) = (None, 0.0);
        if let Some((_, rounds)) = &mut self.css {
            // The round in which conservative slow start began counts as a round, however late in it this was.
            *rounds += 1.0;
            if *rounds >= self.css_rounds {
                window.exit_slow_start();
                self.over = true;
            }
        }
    }

    /// Enters or leaves conservative slow start, once the round has enough samples.
    fn judge(&mut self) {
        let Some(current) = self.current_min.filter(|_| self.taken >= self.samples) else {
            return;
        };
        match (self.css, self.last_min) {
            (Some((baseline, _)), _) if current < baseline => self.css = None,
            (None, Some(last)) if current >= last + self.threshold(last) => {
                self.css = Some((current, 0.0));
            }
            _ => {}
        }
    }

    /// Returns the smallest significant increase of the round-trip time (RttThresh); `last` is the smallest round-trip
    /// time of the last round.
    fn threshold(&self, last: Span) -> Span {
        let part = last.as_secs_f64() / self.min_rtt_divisor;
        Span::from_secs_f64(part.clamp(self.min_rtt_thresh_s, self.max_rtt_thresh_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slow_start::SlowStart;
    use crate::window::Rounding;

    /// Checks the threshold for the growth of the round-trip time: an eighth of the round-trip time, from 4 to 16 ms.
    #[test]
    fn the_threshold_is_an_eighth_within_bounds() {
        let hystart = Hystart::new(&ENTRY.settings(Variant::Paper, &[]).unwrap()).unwrap();
        for (last_ms, expected_us) in [(8, 4_000), (100, 12_500), (400, 16_000)] {
            let threshold = hystart.threshold(Span::from_millis(last_ms));
            assert_eq!(threshold, Span::from_micros(expected_us));
        }
    }

    /// Checks that slow start slows down if the round-trip time of 100 ms grows by the threshold of 12.5 ms, but not if
    /// it grows by a hundredth of a millisecond less (section 4.2).
    #[test]
    fn growth_of_the_threshold_slows_down() {
        for (grown_us, slow) in [(112_500, 0.25), (112_490, 1.0)] {
            let settings = ENTRY.settings(Variant::Paper, &[]).unwrap();
            let mut hystart = Hystart::new(&settings).unwrap();
            let mut window = Window::new(10.0, 1e6, 1e6, Rounding::Real);
            let mut growth = |round, rtt_us| {
                let ack = AckSample {
                    round,
                    rtt: Some(Span::from_micros(rtt_us)),
                    ..AckSample::ONE_SEGMENT
                };
                hystart.on_ack(&ack, &mut window)
            };
            (0..8).for_each(|_| {
                growth(0, 100_000);
            });
            (0..8).for_each(|_| {
                growth(1, grown_us);
            });
            assert_eq!(growth(1, grown_us), slow, "{grown_us}");
        }
    }

    /// Checks that an acknowledgement adds at most L = 8 segments, but only in the first slow start (sections 4.2 and
    /// 4.3, for a sender that does not pace).
    #[test]
    fn an_acknowledgement_adds_eight_segments_at_most_in_the_first_slow_start() {
        for (acked, over, added) in [
            (7.0, false, 7.0),
            (8.0, false, 8.0),
            (20.0, false, 8.0),
            (20.0, true, 20.0),
        ] {
            let settings = ENTRY.settings(Variant::Paper, &[]).unwrap();
            let mut hystart = Hystart::new(&settings).unwrap();
            if over {
                hystart.end();
            }
            let mut window = Window::new(10.0, 1e6, 1e6, Rounding::Real);
            let ack = AckSample {
                credit: acked,
                ..AckSample::ONE_SEGMENT
            };
            SlowStart::Hystart(hystart).on_ack(&ack, &mut window);
            assert_eq!(window.cwnd(), 10.0 + added, "{acked}, over: {over}");
        }
    }

    /// Checks that round-trip times count even if the window may not grow, except those of duplicates. Conservative
    /// slow start begins after eight samples of a round that are 20 ms longer than those before (section 4.2).
    #[test]
    fn samples_count_whether_or_not_the_window_may_grow() {
        let ack = |acked, round, ms| AckSample {
            acked,
            round,
            rtt: Some(Span::from_millis(ms)),
            ..AckSample::ONE_SEGMENT
        };
        let hystart = Hystart::new(&ENTRY.settings(Variant::Paper, &[]).unwrap()).unwrap();
        for (acked, slows_down) in [(1, true), (0, false)] {
            let mut slow_start = SlowStart::Hystart(hystart);
            let mut window = Window::new(10.0, 1e6, 1e6, Rounding::Real);
            for (round, ms) in [(0, 100), (1, 120)] {
                (0..8).for_each(|_| {
                    slow_start.watch_without_growth(&ack(acked, round, ms), &mut window);
                });
            }
            let mut growth = |ms| {
                let before = window.cwnd();
                slow_start.on_ack(&ack(1, 1, ms), &mut window);
                window.cwnd() - before
            };
            let slow = if slows_down { 0.25 } else { 1.0 };
            assert_eq!([growth(120), growth(120)], [slow; 2]);
            // Conservative slow start ends when the round-trip time is less than at its beginning.
            assert_eq!([growth(119), growth(119)], [slow, 1.0]);
        }
    }
}
