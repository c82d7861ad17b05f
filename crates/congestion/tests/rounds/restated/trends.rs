//! Laws of algorithms that use the trend of the delay.

use longhaul_congestion::{AckSample, Phase, Phases, Variant, Window};
use longhaul_units::{Span, Time};

use super::{Event, Law, answer_as_standard, assert_variant, grow_as_standard, seconds};

/// Law of the delay-gradient algorithm by Jain, CCR 19(5), 1989. It decides every second round trip by the sign of the
/// normalised delay gradient since the last decision.
#[derive(Default)]
struct DelayGradient {
    rtts_ps: Vec<u64>,
    settled: bool,
    last: Option<(f64, f64)>,
    gradient: f64,
}

impl Law for DelayGradient {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                if ack.round_start {
                    let rtts = std::mem::take(&mut self.rtts_ps);
                    if self.settled && !rtts.is_empty() {
                        let mean_ps = rtts.iter().sum::<u64>() / rtts.len() as u64;
                        let (delay, cwnd) = (seconds(Span::from_ps(mean_ps)), window.cwnd());
                        self.gradient = self.last.map_or(0.0, |(before, earlier)| {
                            let rise = (delay - before) / (delay + before);
                            if cwnd == earlier {
                                rise
                            } else {
                                rise * (cwnd + earlier) / (cwnd - earlier)
                            }
                        });
                        self.last = Some((delay, cwnd));
                        if self.gradient > 0.0 {
                            window.shrink(cwnd / 8.0);
                        } else {
                            window.grow(1.0);
                        }
                    }
                    self.settled = !self.settled;
                }
                if phase.may_grow() {
                    self.rtts_ps.extend(ack.rtt.map(Span::as_ps));
                }
            }
            Event::Signal(_) | Event::Timeout(_) => {
                (self.last, self.settled) = (None, false);
                answer_as_standard(event, window);
            }
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("gradient", self.gradient)]
    }
}

#[test]
fn delay_gradient() {
    assert_variant(
        "delay-gradient",
        Variant::Paper,
        &[],
        DelayGradient::default,
        &[1.0, 30.0, 9.0],
    );
}

/// Law of Santa Cruz by Parsa and Garcia-Luna-Aceves, ICNP 1999. The number of segments in the queue is estimated from
/// one-way delays: the excess over the first segment's delay, divided by the mean time between arrivals.
#[derive(Default)]
struct SantaCruz {
    first: Option<Span>,
    /// Arrival time and number of the segment that began the round.
    began: Option<(f64, u64)>,
    queued: f64,
}

impl SantaCruz {
    fn arrival(ack: &AckSample) -> Option<(f64, f64)> {
        let transit = seconds(ack.one_way_delay?);
        Some((ack.now.as_secs_f64() - seconds(ack.rtt?) + transit, transit))
    }

    fn queued(&self, ack: &AckSample) -> Option<f64> {
        let (at, transit) = Self::arrival(ack)?;
        let (began, number) = self.began?;
        let segments = ack.delivered - number;
        let service = (at - began) / segments as f64;
        let relative = transit - seconds(self.first?);
        (segments > 0 && service > 0.0).then_some(relative / service)
    }
}

impl Law for SantaCruz {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                if ack.round_start
                    && let Some((at, _)) = Self::arrival(ack)
                {
                    self.first = self.first.or(ack.one_way_delay);
                    if let Some(queued) = self.queued(ack) {
                        self.queued = queued;
                        if !window.in_slow_start() && queued > 4.5 {
                            window.shrink(1.0);
                        } else if !window.in_slow_start() && queued < 3.5 {
                            window.grow(1.0);
                        }
                    }
                    self.began = Some((at, ack.delivered));
                }
                if phase.may_grow() && window.in_slow_start() {
                    window.grow(ack.credit);
                    if self.queued(ack).is_some_and(|queued| queued > 2.0) {
                        window.exit_slow_start();
                    }
                }
            }
            Event::Timeout(_) => {
                self.began = None;
                answer_as_standard(event, window);
            }
            _ => answer_as_standard(event, window),
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("queued", self.queued)]
    }
}

#[test]
fn santa_cruz() {
    assert_variant(
        "santa-cruz",
        Variant::Paper,
        &[],
        SantaCruz::default,
        &[2.0, 30.0, 9.0],
    );
}

/// Law of Gentle HighSpeed TCP by Zhang, thesis, Osaka University, 2006, chapters 2 and 4. The window grows as in
/// HighSpeed TCP, or as in standard TCP if the round-trip times of the last window of segments indicate a growing
/// queue.
struct Gentle {
    refined: bool,
    gentle: bool,
    size: usize,
    /// Departure times and round-trip times of the cycle's segments, in seconds.
    samples: Vec<(f64, f64)>,
    least_mean: f64,
}

impl Gentle {
    fn new(refined: bool) -> Self {
        Self {
            refined,
            gentle: false,
            size: 0,
            samples: Vec::new(),
            least_mean: f64::INFINITY,
        }
    }

    fn judge(&mut self) -> bool {
        let n = self.samples.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| self.samples.iter().map(of).sum::<f64>() / n;
        let (departure, rtt) = (mean(|sample| sample.0), mean(|sample| sample.1));
        let moment = |of: &dyn Fn(f64, f64) -> f64| {
            let terms = self
                .samples
                .iter()
                .map(|&(at, took)| of(at - departure, took - rtt));
            terms.sum::<f64>()
        };
        let (xx, yy, xy) = (
            moment(&|x, _| x * x),
            moment(&|_, y| y * y),
            moment(&|x, y| x * y),
        );
        let spread = (xx * yy).sqrt();
        let correlation = if yy > 1e-20 && spread > 0.0 {
            xy / spread
        } else {
            0.0
        };
        let z = if n < 4.0 {
            0.0
        } else {
            correlation.clamp(-1.0 + 1e-12, 1.0 - 1e-12).atanh() * (n - 3.0).sqrt()
        };
        let rising = z > 1.0;
        if !self.refined {
            return rising;
        }
        self.least_mean = self.least_mean.min(rtt);
        let deviation = (yy / (n - 1.0)).sqrt().max(1e-6);
        let above = rtt - self.least_mean;
        above > 2.0 * deviation && (rising || above >= 4.0 * deviation)
    }
}

impl Law for Gentle {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, Phase::Avoidance) => {
                let cwnd = window.cwnd();
                if self.gentle {
                    grow_as_standard(ack, window);
                } else {
                    window.grow(high_speed_increase(cwnd) * ack.credit / cwnd);
                }
                if let Some(rtt) = ack.rtt
                    && cwnd > 20.0
                {
                    if self.samples.is_empty() {
                        self.size = cwnd as usize;
                    }
                    let departure = ack.now.since(Time::ZERO).saturating_sub(rtt);
                    self.samples.push((seconds(departure), seconds(rtt)));
                    if self.samples.len() >= self.size {
                        self.gentle = self.judge();
                        self.samples.clear();
                    }
                }
            }
            Event::Signal(_) | Event::Timeout(_) => {
                *self = Self::new(self.refined);
                answer_high_speed(event, window);
            }
            _ => {}
        }
    }

    /// Tolerance for errors of the table from which the algorithm reads HighSpeed TCP's increase.
    const TOLERANCE: f64 = 1e-6;
    /// Number of events in the test. It is small, because errors of the algorithm's table of increases accumulate in
    /// the window. After more events, the window rounded down to whole segments could be wrong.
    const EVENTS: usize = 300;

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("gentle", f64::from(self.gentle))]
    }
}

/// Returns the position of a window between the low window of 20 and the high window of 2000 segments, on a logarithmic
/// scale from 0 to 1.
fn high_speed_part(w: f64) -> f64 {
    ((w / 20.0).ln() / 100.0_f64.ln()).max(0.0)
}

/// Returns the increase of RFC 3649 section 5 in segments, with p of 1e-2 at the low window and 1e-5 at the high one.
fn high_speed_increase(w: f64) -> f64 {
    let b = 0.5 - 0.4 * high_speed_part(w);
    let p = 1e-2 * 1e-3_f64.powf(high_speed_part(w));
    if w <= 20.0 {
        return 1.0;
    }
    (w * w * p * 2.0 * b / (2.0 - b)).max(1.0)
}

fn answer_high_speed(event: &Event, window: &mut Window) {
    match event {
        Event::Signal(signal) => {
            window.reduce_to(signal.base * (0.5 + 0.4 * high_speed_part(signal.base)));
        }
        _ => answer_as_standard(event, window),
    }
}

#[test]
fn gentle_high_speed_tcp() {
    for refined in [false, true] {
        let given = [
            ("low_window", 20.0),
            ("high_window", 2000.0),
            ("low_p", 1e-2),
            ("high_p", 1e-5),
            ("trend", 1.0),
            ("refined", f64::from(u8::from(refined))),
        ];
        assert_variant(
            "ghstcp",
            Variant::Paper,
            &given,
            || Gentle::new(refined),
            &[30.0, 60.0, 20.0],
        );
    }
}
