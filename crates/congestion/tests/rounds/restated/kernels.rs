//! The state of a kernel's socket that algorithms use (Linux 6.18, `tcp_cong.c`, `tcp_input.c`), and the laws of the
//! algorithms that do not use delays. Windows are whole numbers, and a reduction lasts until all segments in flight are
//! acknowledged.

use longhaul_congestion::{
    AckSample, Cause, Congestion, CongestionControl, Phase, Phases, Timeout, Variant, Window,
};
use longhaul_units::{Span, Time};

use super::{Event, Law, assert_variant, restart_below};
use crate::controller;

/// Number of clock ticks per second (`CONFIG_HZ`).
pub const HZ: u64 = 250;

pub fn jiffies(time: Time) -> u64 {
    time.as_ps() / (1_000_000_000_000 / HZ)
}

/// Returns the number of clock ticks in a time, rounded up (`usecs_to_jiffies`).
pub fn jiffies_begun(span: Span) -> u64 {
    span.as_ps().div_ceil(1_000_000_000_000 / HZ)
}

#[derive(Clone, Default)]
pub struct Socket {
    /// Acknowledged segments that have not enlarged the window yet (`snd_cwnd_cnt`).
    pub cnt: u64,
    pub snd_una: u64,
    pub snd_nxt: u64,
    /// Segment number whose acknowledgement ends the state `TCP_CA_CWR`; `None` outside this state.
    cwr_until: Option<u64>,
    recovering: bool,
    /// True from the end of a recovery until `on_ack` has counted the acknowledgement that ended the recovery.
    ending: bool,
    acked_at: Time,
}

impl Socket {
    /// Counts an acknowledgement; returns true if it ends a reduction and puts the socket back in the open state.
    pub fn on_ack(&mut self, ack: &AckSample) -> bool {
        self.acked_at = ack.now;
        self.snd_una += ack.acked;
        self.snd_nxt = self.snd_una + ack.in_flight + ack.delivered.saturating_sub(self.snd_una);
        let answered = self.cwr_until.is_some_and(|until| self.snd_una > until);
        if answered {
            self.cwr_until = None;
        }
        std::mem::take(&mut self.ending) || answered
    }

    pub fn is_open(&self) -> bool {
        !self.recovering && !self.ending && self.cwr_until.is_none()
    }

    pub fn begin_reduction(&mut self, signal: &Congestion) {
        self.cnt = 0;
        if signal.cause == Cause::Ecn {
            self.cwr_until = Some(self.snd_una + signal.in_flight);
        } else {
            self.begin_recovery();
        }
    }

    pub fn begin_recovery(&mut self) {
        self.cnt = 0;
        (self.recovering, self.cwr_until, self.ending) = (true, None, false);
    }

    /// Ends a recovery at time `now`. Returns true if `on_ack` has already counted the acknowledgement that ended the
    /// recovery.
    pub fn end_recovery(&mut self, now: Time) -> bool {
        (self.recovering, self.ending) = (false, self.acked_at != now);
        !self.ending
    }

    /// Increases the window by one segment for every `w` acknowledged segments (`tcp_cong_avoid_ai`).
    pub fn cong_avoid_ai(&mut self, window: &mut Window, w: u64, acked: u64) {
        let mut more = 0;
        if self.cnt >= w {
            (self.cnt, more) = (0, 1);
        }
        self.cnt += acked;
        more += self.cnt / w;
        self.cnt %= w;
        window.grow(more as f64);
    }

    /// Increases the window in slow start and in congestion avoidance as in standard TCP (`tcp_reno_cong_avoid`).
    pub fn reno_cong_avoid(&mut self, window: &mut Window, mut acked: u64) {
        if window.in_slow_start() {
            acked = slow_start(window, acked);
        }
        if acked > 0 {
            self.cong_avoid_ai(window, window.cwnd() as u64, acked);
        }
    }

    /// Sets the threshold after a congestion signal and begins the reduction. At its end, the window does not exceed
    /// the threshold.
    pub fn reduce(&mut self, signal: &Congestion, ssthresh: u64, window: &mut Window) {
        self.begin_reduction(signal);
        let before = window.cwnd();
        window.reduce_to(ssthresh as f64);
        window.set_cwnd(window.cwnd().min(before));
    }

    /// Begins the recovery from a timeout and sets the window to one segment (`tcp_enter_loss`).
    pub fn enter_loss(&mut self, timeout: &Timeout, ssthresh: u64, window: &mut Window) {
        self.begin_recovery();
        restart_below(timeout, ssthresh as f64, window);
    }
}

/// Increases the window up to the threshold and returns the acknowledged segments that are left over
/// (`tcp_slow_start`).
pub fn slow_start(window: &mut Window, acked: u64) -> u64 {
    let cwnd = window.cwnd() as u64;
    let grown = (cwnd + acked).min(window.ssthresh() as u64);
    window.set_cwnd(grown as f64);
    acked - grown.saturating_sub(cwnd).min(acked)
}

/// Returns half of the window, at least two segments (`tcp_reno_ssthresh`).
pub fn half(base: f64) -> u64 {
    (base as u64 / 2).max(2)
}

/// Scalable TCP by `tcp_scalable.c`. The window grows by one segment for a hundred acknowledged segments, or for a
/// window of segments if this is smaller. A loss reduces the window by an eighth.
#[test]
fn scalable() {
    let law = || {
        let mut socket = Socket::default();
        move |event: &Event, window: &mut Window| match event {
            Event::Ack(ack, Phase::Avoidance) => {
                let w = (window.cwnd() as u64).min(100);
                socket.cong_avoid_ai(window, w, ack.credit as u64);
            }
            Event::Signal(signal) => {
                socket.cnt = 0;
                let cwnd = signal.base as u64;
                window.reduce_to((cwnd - cwnd / 8) as f64);
            }
            Event::Timeout(timeout) => {
                socket.cnt = 0;
                let cwnd = timeout.base as u64;
                restart_below(timeout, (cwnd - cwnd / 8) as f64, window);
            }
            _ => {}
        }
    };
    assert_variant(
        "scalable",
        Variant::Linux6_18,
        &[],
        law,
        &[30.0, 99.0, 400.0],
    );
}

/// Law of DCTCP by `tcp_dctcp.c`, with alpha in units of 1/1024 and a gain of 1/16.
struct Dctcp {
    socket: Socket,
    alpha: u64,
    delivered: u64,
    old_delivered: u64,
    delivered_ce: u64,
    next_seq: u64,
}

impl Law for Dctcp {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                self.socket.on_ack(ack);
                if self.socket.snd_una >= self.next_seq {
                    let less = self.alpha >> 4;
                    self.alpha -= if less == 0 { self.alpha } else { less };
                    if self.delivered_ce > 0 {
                        let delivered = (self.delivered - self.old_delivered).max(1);
                        let share = (self.delivered_ce << 6) / delivered;
                        self.alpha = (self.alpha + share).min(1024);
                    }
                    (self.old_delivered, self.delivered_ce) = (self.delivered, 0);
                    self.next_seq = self.socket.snd_una + ack.in_flight;
                }
                let newly = ack.delivered - self.delivered;
                self.delivered = ack.delivered;
                self.delivered_ce += if ack.ecn_echo { newly } else { 0 };
                if *phase == Phase::Avoidance {
                    let cwnd = window.cwnd() as u64;
                    self.socket.cong_avoid_ai(window, cwnd, ack.credit as u64);
                }
            }
            Event::Signal(signal) => {
                let cwnd = signal.base as u64;
                let ssthresh = if signal.cause == Cause::Ecn {
                    (cwnd - ((cwnd * self.alpha) >> 11)).max(2)
                } else {
                    half(signal.base)
                };
                self.socket.reduce(signal, ssthresh, window);
            }
            Event::Timeout(timeout) => {
                self.socket.enter_loss(timeout, half(timeout.base), window);
            }
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("alpha", self.alpha as f64 / 1024.0)]
    }
}

#[test]
fn dctcp() {
    let law = || Dctcp {
        socket: Socket::default(),
        alpha: 1024,
        delivered: 0,
        old_delivered: 0,
        delivered_ce: 0,
        next_seq: 0,
    };
    assert_variant("dctcp", Variant::Linux6_18, &[], law, &[20.0, 60.0]);
}

/// Law of Hybla by `tcp_hybla.c`, with an `rtt0` of 25 ms.
#[derive(Default)]
struct Hybla {
    socket: Socket,
    minrtt: u64,
    rho_3ls: u64,
    rho2_7ls: u64,
    cents: u64,
}

impl Hybla {
    /// Computes `rho` and its square when the smoothed round-trip time falls below its minimum (`hybla_recalc_param`).
    /// Smoothed round-trip times are in units of 1/8 microsecond.
    fn measure(&mut self, srtt: Span) {
        let srtt_us = srtt.as_ps() / 125_000;
        if srtt_us > 0 && (self.minrtt == 0 || srtt_us < self.minrtt) {
            self.minrtt = srtt_us;
            self.rho_3ls = (srtt_us / 25_000).max(8);
            self.rho2_7ls = (self.rho_3ls * self.rho_3ls) << 1;
        }
    }

    /// Increases the window by Hybla's increment, which is in units of 1/128 segment (`hybla_cong_avoid`).
    fn cong_avoid(&mut self, window: &mut Window) {
        let mut cwnd = window.cwnd() as u64;
        let slow_start = window.in_slow_start();
        let increment = if slow_start {
            let fraction = (self.rho_3ls & 7) as f64 / 8.0;
            (((fraction.exp2() * 128.0) as u64) << (self.rho_3ls >> 3).min(16)) - 128
        } else {
            let increment = self.rho2_7ls / cwnd;
            self.socket.cnt += u64::from(increment < 128);
            increment
        };
        self.cents += increment % 128;
        cwnd += increment >> 7;
        while self.cents >= 128 {
            cwnd += 1;
            self.cents -= 128;
            self.socket.cnt = 0;
        }
        if increment == 0 && self.socket.cnt >= cwnd {
            cwnd += 1;
            self.socket.cnt = 0;
        }
        if slow_start {
            cwnd = cwnd.min(window.ssthresh() as u64);
        }
        window.set_cwnd(cwnd.min(65_535) as f64);
    }
}

impl Law for Hybla {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                self.socket.on_ack(ack);
                if *phase == Phase::Recovery {
                    return;
                }
                self.measure(ack.srtt);
                if !phase.may_grow() || self.minrtt == 0 {
                } else if self.socket.is_open() {
                    self.cong_avoid(window);
                } else {
                    self.socket.reno_cong_avoid(window, ack.credit as u64);
                }
            }
            Event::Signal(signal) => self.socket.reduce(signal, half(signal.base), window),
            Event::Timeout(timeout) => {
                self.socket.enter_loss(timeout, half(timeout.base), window);
            }
            Event::Exit(now) => {
                self.socket.end_recovery(*now);
            }
            Event::Idle(_) => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("rho", self.rho_3ls as f64 / 8.0)]
    }
}

#[test]
fn hybla() {
    assert_variant(
        "hybla",
        Variant::Linux6_18,
        &[],
        Hybla::default,
        &[1.0, 30.0, 300.0],
    );
}

/// HighSpeed TCP by `tcp_highspeed.c`, with a table of increases and decreases for ranges of windows. Each
/// acknowledgement adds the increase of the window's row to `snd_cwnd_cnt`. When this count reaches the window, the
/// window grows by a segment. A loss reduces the window by the decrease of its row.
#[test]
fn high_speed_tcp() {
    // The rows are from RFC 3649 appendix B. Decreases in units of 1/256 are rounded down from the RFC's equation.
    let rows: [(u64, f64); 7] = [
        (38, 0.50),
        (118, 0.44),
        (221, 0.41),
        (347, 0.38),
        (495, 0.37),
        (663, 0.35),
        (851, 0.34),
    ];
    let mut algorithm = controller("hstcp", Variant::Linux6_18, &[])
        .build()
        .unwrap();
    let mut cnt = 0;
    let mut window = Window::new(20.0, 2.0, 1e6, longhaul_congestion::Rounding::Real);
    for _ in 0..12_000 {
        let cwnd = window.cwnd() as u64;
        let row = rows.iter().position(|&(largest, _)| cwnd <= largest);
        let Some(row) = row else { break };
        cnt += row as u64 + 1;
        let grown = cnt >= cwnd;
        cnt -= if grown { cwnd } else { 0 };
        let ack = AckSample::ONE_SEGMENT;
        algorithm.on_ack(&ack, Phase::Avoidance, &mut window);
        assert_eq!(window.cwnd() as u64, cwnd + u64::from(grown));
        let mut reduced = (algorithm.clone(), window);
        reduced.0.on_congestion(
            &Congestion {
                now: Time::ZERO,
                cause: Cause::Loss,
                base: cwnd as f64,
                in_flight: cwnd,
                in_slow_start: false,
                first: false,
            },
            &mut reduced.1,
        );
        let part = 1.0 - reduced.1.ssthresh() / cwnd as f64;
        let expected = rows[row].1;
        assert!(
            (part - expected).abs() < 0.006 + 1.0 / cwnd as f64,
            "{cwnd}: {part}"
        );
    }
    assert!(window.cwnd() > 230.0, "{}", window.cwnd());
}
