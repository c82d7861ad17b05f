//! Differential tests: each slow start is compared with a second implementation, written from the RFC, paper or code
//! that defines the slow start. Congestion avoidance is that of standard TCP.

use longhaul_congestion::{
    AckSample, Congestion, CongestionState, Phase, Rounding, SlowStartSpec, Timeout, Variant,
    Window,
};
use longhaul_units::{Span, Time};

use super::{Event, Life, near};
use crate::controller;

/// A slow start as in its source.
trait SlowStart {
    /// Processes an acknowledgement of new data below the threshold, before the window grows. May end slow start.
    fn watch(&mut self, _ack: &AckSample, _window: &mut Window) {}

    /// Processes an acknowledgement of new data that may not enlarge the window.
    fn watch_without_growth(&mut self, ack: &AckSample, window: &mut Window) {
        self.watch(ack, window);
    }

    /// Returns true if slow start continues at this window.
    fn lasts(&self, window: &Window) -> bool {
        window.in_slow_start()
    }

    /// Returns the growth for each acknowledged segment, in segments. This is called once for each acknowledgement that
    /// may enlarge the window.
    fn step(&mut self, _ack: &AckSample, _window: &mut Window) -> f64 {
        1.0
    }

    /// Returns the number of segments that an acknowledgement counts for.
    fn credit(&self, ack: &AckSample) -> f64 {
        ack.credit
    }

    /// Processes a reduction by the algorithm; `before` is the window before it.
    fn on_reduction(&mut self, _signal: &Congestion, _before: f64, _window: &mut Window) {}

    fn on_ack_in_recovery(&mut self, _ack: &AckSample, _window: &mut Window) {}

    fn on_recovery_exit(&mut self, _window: &mut Window) {}

    fn on_timeout(&mut self, _timeout: &Timeout) {}
}

/// Changes the window for an event: by `slow_start` while slow start lasts, and as standard TCP does otherwise.
fn apply(slow_start: &mut impl SlowStart, event: &Event, window: &mut Window) {
    match event {
        Event::Ack(ack, Phase::Recovery) => slow_start.on_ack_in_recovery(ack, window),
        Event::Ack(ack, Phase::NoGrowth) => {
            if slow_start.lasts(window) && ack.acked > 0 {
                slow_start.watch_without_growth(ack, window);
            }
        }
        Event::Ack(ack, _) => {
            let mut credit = ack.credit;
            if slow_start.lasts(window) {
                slow_start.watch(ack, window);
            }
            if slow_start.lasts(window) {
                credit = slow_start.credit(ack);
                let step = slow_start.step(ack, window);
                // Each segment counts as if it had been acknowledged alone (RFC 5681 section 3.1).
                while credit > 0.0 && slow_start.lasts(window) {
                    let part = credit.min(1.0);
                    window.grow(step * part);
                    credit -= part;
                }
                if step == 0.0 {
                    return;
                }
            }
            window.grow(credit / window.cwnd());
        }
        Event::Signal(signal) => {
            let before = window.cwnd();
            window.reduce_to(signal.base / 2.0);
            slow_start.on_reduction(signal, before, window);
        }
        Event::Timeout(timeout) => {
            slow_start.on_timeout(timeout);
            super::restart_below(timeout, timeout.base / 2.0, window);
        }
        Event::Exit(_) => slow_start.on_recovery_exit(window),
        Event::Idle(_) => {}
    }
}

/// Rounds the window before a reduction down to an even number. Half of it, the threshold, is then a whole number.
fn whole(event: Event) -> Event {
    match event {
        Event::Signal(signal) => Event::Signal(Congestion {
            base: (signal.base / 2.0).floor() * 2.0,
            ..signal
        }),
        Event::Timeout(timeout) => Event::Timeout(Timeout {
            base: (timeout.base / 2.0).floor() * 2.0,
            ..timeout
        }),
        other => other,
    }
}

fn tell(state: &mut CongestionState, event: &Event) {
    match event {
        Event::Ack(ack, phase) if phase.may_grow() => state.on_ack(ack),
        Event::Ack(ack, phase) => state.on_ack_in(ack, *phase),
        Event::Signal(signal) => state.on_congestion(signal),
        Event::Timeout(timeout) => state.on_timeout(timeout),
        Event::Exit(now) => state.on_recovery_exit(*now),
        Event::Idle(idle) => state.on_idle(idle),
    }
}

/// Asserts that a slow start and its restatement `law` set the same windows and thresholds in 200 random flows.
#[track_caller]
fn assert_follows<L: SlowStart>(kind: &str, given: &[(&str, f64)], law: impl Fn() -> L) {
    let parameters = given.iter().map(|&(name, value)| (name.to_string(), value));
    let spec = SlowStartSpec {
        kind: kind.to_string(),
        parameters: parameters.collect(),
    };
    let algorithm = controller("reno", Variant::Paper, &[]).build().unwrap();
    for seed in 0..200 {
        let mut life = Life::new(seed + 1);
        let cwnd = [10.0, 2.0, 20.0][seed as usize % 3];
        let mut expected = Window::new(cwnd, 2e3, 1e5, Rounding::Real);
        let mut law = law();
        let mut state = CongestionState::new(expected, spec.build().unwrap(), algorithm.clone());
        for number in 0..400 {
            let event = whole(life.next(&state.window));
            tell(&mut state, &event);
            apply(&mut law, &event, &mut expected);
            let found = (state.window.cwnd(), state.window.ssthresh());
            let wanted = (expected.cwnd(), expected.ssthresh());
            assert!(
                near(found.0, wanted.0, 1e-9) && near(found.1, wanted.1, 1e-9),
                "{kind}, seed {seed}, event {number}: {found:?}, expected {wanted:?} after {event:?}"
            );
        }
    }
}

struct Standard;

impl SlowStart for Standard {}

/// Checks standard slow start (RFC 5681 section 3.1).
#[test]
fn standard() {
    assert_follows("standard", &[], || Standard);
}

/// Slow start of Linux 2.6.22 (`tcp_cong.c`), which still applies when the window equals the threshold.
struct Linux;

impl SlowStart for Linux {
    fn lasts(&self, window: &Window) -> bool {
        window.cwnd() <= window.ssthresh()
    }
}

#[test]
fn linux() {
    assert_follows("linux", &[], || Linux);
}

/// Limited slow start by RFC 3742 section 2 with a `max_ssthresh` of 20: `K = int(cwnd / (0.5 max_ssthresh))`, `cwnd +=
/// 1 / K`.
struct Limited;

impl SlowStart for Limited {
    fn step(&mut self, _ack: &AckSample, window: &mut Window) -> f64 {
        if window.cwnd() <= 20.0 {
            1.0
        } else {
            1.0 / (window.cwnd() / 10.0).floor()
        }
    }
}

#[test]
fn limited() {
    assert_follows("limited", &[("max_ssthresh", 20.0)], || Limited);
}

/// Limited slow start by NIST SP 500-282, equation 5.
struct NistLimited;

impl SlowStart for NistLimited {
    fn step(&mut self, _ack: &AckSample, window: &mut Window) -> f64 {
        let cwnd = window.cwnd();
        if cwnd < 20.0 { 1.0 } else { 10.0 / cwnd }
    }
}

#[test]
fn nist_limited() {
    assert_follows("nist-limited", &[("max_ssthresh", 20.0)], || NistLimited);
}

/// HyStart++ by RFC 9406 section 4.2.
#[derive(Default)]
struct HystartPlusPlus {
    round: Option<u64>,
    last_min: Option<Span>,
    current_min: Option<Span>,
    samples: u32,
    /// Baseline round-trip time and number of rounds in conservative slow start; `None` before it.
    css: Option<(Span, u32)>,
    over: bool,
}

impl HystartPlusPlus {
    /// Processes an acknowledgement. Returns the divisor of the window's growth; `None` at the end of slow start.
    fn process(&mut self, ack: &AckSample, window: &mut Window) -> Option<f64> {
        if self.over {
            return Some(1.0);
        }
        if self.round != Some(ack.round) {
            self.round = Some(ack.round);
            self.last_min = self.current_min.take();
            self.samples = 0;
            if let Some((_, rounds)) = &mut self.css {
                *rounds += 1;
                if *rounds == 5 {
                    window.exit_slow_start();
                    self.over = true;
                    return None;
                }
            }
        }
        let divisor = if self.css.is_some() { 4.0 } else { 1.0 };
        if let Some(rtt) = ack.rtt {
            self.current_min = self.current_min.into_iter().chain([rtt]).min();
            self.samples += 1;
        }
        if let Some(current) = self.current_min.filter(|_| self.samples >= 8) {
            match (self.css, self.last_min) {
                (Some((baseline, _)), _) if current < baseline => self.css = None,
                (None, Some(last)) => {
                    let thresh = (last / 8).clamp(Span::from_millis(4), Span::from_millis(16));
                    self.css = (current >= last + thresh).then_some((current, 0));
                }
                _ => {}
            }
        }
        Some(divisor)
    }
}

impl SlowStart for HystartPlusPlus {
    fn watch_without_growth(&mut self, ack: &AckSample, window: &mut Window) {
        self.process(ack, window);
    }

    fn step(&mut self, ack: &AckSample, window: &mut Window) -> f64 {
        self.process(ack, window)
            .map_or(0.0, |divisor| 1.0 / divisor)
    }

    fn on_reduction(&mut self, _signal: &Congestion, _before: f64, _window: &mut Window) {
        self.over = true;
    }

    fn on_timeout(&mut self, _timeout: &Timeout) {
        self.over = true;
    }
}

#[test]
fn hystart_plus_plus() {
    assert_follows("hystart++", &[], HystartPlusPlus::default);
}

/// HyStart by Linux 6.18, `hystart_update` of `tcp_cubic.c`, without pacing. Slow start ends after an acknowledgement
/// train of half of the round-trip time, or when the smallest round-trip time of a round has increased.
#[derive(Default)]
struct Hystart {
    end_seq: u64,
    round_start: Time,
    last_ack: Time,
    delay_min: Option<Span>,
    curr_rtt: Option<Span>,
    sample_cnt: u32,
    found: bool,
    resumes_after: u64,
}

impl Hystart {
    fn reset(&mut self, now: Time, end_seq: u64) {
        (self.round_start, self.last_ack, self.end_seq) = (now, now, end_seq);
        (self.curr_rtt, self.sample_cnt) = (None, 0);
    }
}

impl SlowStart for Hystart {
    fn watch(&mut self, ack: &AckSample, window: &mut Window) {
        let Some(rtt) = ack.rtt.filter(|_| ack.delivered > self.resumes_after) else {
            return;
        };
        let delay_min = self.delay_min.map_or(rtt, |min| min.min(rtt));
        self.delay_min = Some(delay_min);
        if self.found {
            return;
        }
        if ack.delivered > self.end_seq {
            self.reset(ack.now, ack.delivered + ack.in_flight);
        }
        let cwnd = window.cwnd();
        if cwnd < 16.0 {
            return;
        }
        if ack.now.since(self.last_ack) <= Span::from_millis(2) {
            self.last_ack = ack.now;
            // `hystart_ack_delay` is the time of four bursts of 64 KiB at a rate of twice the window per round trip, at
            // most 1 ms.
            let bytes_per_s =
                2.0 * cwnd.max(ack.in_flight as f64) * 1500.0 / ack.srtt.as_secs_f64();
            let delay = (4.0 * 65_536.0 / bytes_per_s).min(1e-3);
            let threshold = (delay_min.as_secs_f64() + delay) / 2.0;
            self.found |= ack.now.since(self.round_start).as_secs_f64() > threshold;
        }
        self.curr_rtt = self.curr_rtt.into_iter().chain([rtt]).min();
        if self.sample_cnt < 8 {
            self.sample_cnt += 1;
        } else {
            let thresh = (delay_min / 8).clamp(Span::from_millis(4), Span::from_millis(16));
            self.found |= self.curr_rtt > Some(delay_min + thresh);
        }
        if self.found {
            window.exit_slow_start();
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        (self.found, self.delay_min, self.resumes_after) = (false, None, timeout.sent);
        self.reset(timeout.now, timeout.sent);
    }
}

#[test]
fn hystart_of_linux() {
    assert_follows("hystart", &[], Hystart::default);
}

/// Rapid Start by draft-kazuho-ccwg-rapid-start-02, section 3, with standard TCP's reduction factor of 1/2.
#[derive(Default)]
struct RapidStart {
    over: bool,
    floor: Option<Span>,
    counts: (u64, u64),
    /// Four values of the first recovery, in segments: the window, its lower bound, and its reductions per arrived and
    /// per lost segment. `None` before the first recovery.
    recovery: Option<[f64; 4]>,
}

impl SlowStart for RapidStart {
    fn watch(&mut self, ack: &AckSample, _window: &mut Window) {
        self.counts = (ack.delivered, ack.lost);
        if let Some(rtt) = ack.rtt {
            let known = self.floor.filter(|_| !ack.round_start);
            self.floor = Some(known.map_or(rtt, |floor| floor.min(rtt)));
        }
    }

    fn step(&mut self, ack: &AckSample, _window: &mut Window) -> f64 {
        let most = (ack.min_rtt + Span::from_millis(4))
            .min(Span::from_secs_f64(1.1 * ack.min_rtt.as_secs_f64()));
        let triples = !self.over && self.floor.is_some_and(|floor| floor <= most);
        if triples { 2.0 } else { 1.0 }
    }

    fn on_reduction(&mut self, signal: &Congestion, before: f64, window: &mut Window) {
        let first = !self.over && signal.cause == longhaul_congestion::Cause::Loss;
        (self.over, self.recovery) = (true, None);
        if first && signal.in_slow_start && before > window.cwnd() {
            let beta = window.cwnd() / before;
            // The changes are those of the draft for K = 2/3: ack = K (1 - beta), silence = loss = beta + K (1 - beta).
            let ack = 2.0 / 3.0 * (1.0 - beta);
            let cwnd = (beta + ack) * before;
            let least = (before * beta / 3.0).max(2.0).min(cwnd);
            self.recovery = Some([cwnd, least, ack, beta + ack]);
            window.set_ssthresh(cwnd);
            window.set_cwnd(cwnd);
        }
    }

    fn on_ack_in_recovery(&mut self, ack: &AckSample, window: &mut Window) {
        if let Some([cwnd, least, of_arrived, of_lost]) = &mut self.recovery {
            let (delivered, lost) = (ack.delivered - self.counts.0, ack.lost - self.counts.1);
            self.counts = (ack.delivered, ack.lost);
            let taken = *of_arrived * delivered as f64 + *of_lost * lost as f64;
            *cwnd = (*cwnd - taken).max(*least);
            let cwnd = cwnd.min(window.cwnd());
            window.set_ssthresh(cwnd);
            window.set_cwnd(cwnd);
        }
    }

    fn on_recovery_exit(&mut self, _window: &mut Window) {
        (self.over, self.recovery) = (true, None);
    }

    fn on_timeout(&mut self, _timeout: &Timeout) {
        (self.over, self.recovery) = (true, None);
    }
}

#[test]
fn rapid_start() {
    assert_follows("rapid-start", &[], RapidStart::default);
}

/// SEARCH by draft-chung-ccwg-search-09. Time is divided into bins of 0.35 round-trip times. Slow start ends if the
/// segments delivered in the last ten bins are at least 26 % fewer than the segments sent in ten bins one round trip
/// earlier.
#[derive(Default)]
struct Search {
    /// Duration and end of the current bin; `None` before the first acknowledgement.
    bin: Option<(Span, Time)>,
    /// Numbers of segments sent and delivered by the end of each bin.
    totals: Vec<(u64, u64)>,
}

impl Search {
    fn missing(duration: Span, totals: &[(u64, u64)], rtt: Span) -> Option<f64> {
        let sent_until = |bins_ago: f64| {
            let newest = totals.len() - 1;
            let (whole, part) = (bins_ago.floor() as usize, bins_ago.fract());
            let older = newest.checked_sub(whole + 1)?;
            let (from, to) = (totals[older].0 as f64, totals[older + 1].0 as f64);
            // SEARCH keeps 25 ends only, so that no earlier end is known.
            (whole + 1 < 25).then_some(to - part * (to - from))
        };
        let ago = rtt.as_secs_f64() / duration.as_secs_f64();
        let sent = sent_until(ago)? - sent_until(ago + 10.0)?;
        let newest = totals.len() - 1;
        let delivered = (totals[newest].1 - totals[newest - 10].1) as f64;
        (sent > 0.0).then(|| (sent - delivered) / sent)
    }
}

impl SlowStart for Search {
    fn watch(&mut self, ack: &AckSample, window: &mut Window) {
        let Some(rtt) = ack.rtt else { return };
        let now = (ack.delivered + ack.lost + ack.in_flight, ack.delivered);
        if let Some((duration, end)) = self.bin {
            if ack.now < end {
                return;
            }
            let passed = 1 + ack.now.since(end).as_ps() / duration.as_ps();
            if passed <= 10 {
                let before = self.totals[self.totals.len() - 1];
                self.totals.extend((1..passed).map(|_| before));
                self.totals.push(now);
                self.bin = Some((duration, end + duration * passed));
                let missing = Self::missing(duration, &self.totals, rtt);
                if missing.is_some_and(|part| part >= 0.26) {
                    window.exit_slow_start();
                    self.bin = None;
                }
                return;
            }
        }
        let duration = Span::from_secs_f64(0.35 * rtt.as_secs_f64());
        (self.bin, self.totals) = (Some((duration, ack.now + duration)), vec![now]);
    }

    fn on_reduction(&mut self, _signal: &Congestion, _before: f64, _window: &mut Window) {
        self.bin = None;
    }

    fn on_timeout(&mut self, _timeout: &Timeout) {
        self.bin = None;
    }
}

#[test]
fn search() {
    assert_follows("search", &[], Search::default);
}

/// Slow start of picoquic, August 2026, `picoquic_cc_hystart_test` and `picoquic_cc_update_target_cwin_estimation`. The
/// window is at least half of the bandwidth-delay product at the largest rate so far. Long round-trip times end slow
/// start.
#[derive(Default)]
struct Picoquic {
    over: bool,
    /// The largest rate so far, in segments per second.
    per_s: f64,
    /// Acknowledgement of the last rate sample: number of segments delivered by then, arrival time of the
    /// acknowledgement, and departure time of the segment that it acknowledges.
    since: Option<(u64, Time, Time)>,
    samples: Vec<Span>,
    sampled: Option<Time>,
    /// Smallest value so far of the maximum of seven successive round-trip times.
    base: Option<Span>,
    /// Number of samples at which each of the last seven samples exceeded `base` both by more than a quarter and by
    /// more than a packet's transmission time.
    long: u32,
}

impl Picoquic {
    fn measure(&mut self, ack: &AckSample, rtt: Span) {
        if rtt > ack.now.since(Time::ZERO) {
            return;
        }
        let (at, sent) = (ack.now, ack.now - rtt);
        if let Some((delivered, at_before, sent_before)) = self.since {
            if sent < sent_before || at <= at_before + Span::from_millis(1) {
                return;
            }
            let took = at.since(at_before).max(sent.since(sent_before));
            let rate = (ack.delivered - delivered) as f64 / took.as_secs_f64();
            self.per_s = self.per_s.max(rate);
        }
        self.since = Some((ack.delivered, at, sent));
    }
}

impl SlowStart for Picoquic {
    fn watch(&mut self, ack: &AckSample, window: &mut Window) {
        let Some(rtt) = ack.rtt.filter(|_| !self.over) else {
            return;
        };
        self.measure(ack, rtt);
        let srtt_s = ack.srtt.as_secs_f64();
        window.set_cwnd(window.cwnd().max(self.per_s * srtt_s / 2.0));
        let last = self.sampled.unwrap_or(Time::ZERO);
        if ack.now <= last + Span::from_millis(1) {
            return;
        }
        self.sampled = Some(ack.now);
        self.samples.push(rtt);
        let Some(seven) = self.samples.last_chunk::<7>() else {
            return;
        };
        let (least, most) = (seven.iter().min().copied(), seven.iter().max().copied());
        let (least, most) = (least.unwrap_or_default(), most.unwrap_or_default());
        let base = self.base.map_or(most, |base| base.min(most));
        self.base = Some(base);
        let packet = Span::from_secs_f64(srtt_s / (1.25 * window.cwnd()));
        if least <= base {
            self.long = 0;
        } else if least > base + packet.max(base / 4) {
            self.long += 1;
        }
        if self.long >= 7 {
            self.over = true;
            let base_s = base.as_secs_f64();
            let kept = if base_s > 0.1 {
                1.0 - (1.0 - 0.1 / base_s.min(0.61)) / 2.0
            } else {
                0.5
            };
            window.set_cwnd(kept * window.cwnd());
            window.exit_slow_start();
        }
    }

    fn on_reduction(&mut self, _signal: &Congestion, _before: f64, _window: &mut Window) {
        self.over = true;
    }

    fn on_timeout(&mut self, _timeout: &Timeout) {
        self.over = true;
    }
}

#[test]
fn picoquic() {
    assert_follows("picoquic", &[], Picoquic::default);
}
