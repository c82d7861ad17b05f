//! Laws of the algorithms of Linux 6.18 that estimate the number of segments in the queue.

use longhaul_congestion::{Phases, Variant, Window};
use longhaul_units::Span;

use super::kernels::{Socket, half, slow_start};
use super::{Event, Law, assert_variant};

/// Round-trip time samples of `tcp_vegas_pkts_acked`, in microseconds plus one.
#[derive(Clone)]
struct Samples {
    base_rtt: u64,
    min_rtt: u64,
    cnt_rtt: u64,
}

impl Samples {
    const NEW: Self = Self {
        base_rtt: u64::MAX,
        min_rtt: u64::MAX,
        cnt_rtt: 0,
    };

    fn pkts_acked(&mut self, rtt: Option<Span>) {
        if let Some(rtt) = rtt {
            let vrtt = rtt.as_ps() / 1_000_000 + 1;
            self.base_rtt = self.base_rtt.min(vrtt);
            self.min_rtt = self.min_rtt.min(vrtt);
            self.cnt_rtt += 1;
        }
    }

    fn forget(&mut self) {
        (self.min_rtt, self.cnt_rtt) = (u64::MAX, 0);
    }
}

/// Law of Vegas by `tcp_vegas.c`, with alpha 2, beta 4 and gamma 1.
struct Vegas {
    socket: Socket,
    samples: Samples,
    beg_snd_nxt: u64,
    diff: u64,
}

impl Vegas {
    fn new() -> Self {
        Self {
            socket: Socket::default(),
            samples: Samples::NEW,
            beg_snd_nxt: 0,
            diff: 0,
        }
    }

    fn enable(&mut self) {
        self.beg_snd_nxt = self.socket.snd_nxt;
        self.samples.forget();
    }

    /// Adjusts the window to the number of queued segments, once per round trip (`tcp_vegas_cong_avoid`).
    fn cong_avoid(&mut self, acked: u64, window: &mut Window) {
        if !self.socket.is_open() {
            return self.socket.reno_cong_avoid(window, acked);
        }
        if self.socket.snd_una <= self.beg_snd_nxt {
            if window.in_slow_start() {
                slow_start(window, acked);
            }
            return;
        }
        self.beg_snd_nxt = self.socket.snd_nxt;
        if self.samples.cnt_rtt <= 2 {
            self.socket.reno_cong_avoid(window, acked);
        } else {
            let (rtt, base) = (self.samples.min_rtt, self.samples.base_rtt);
            let cwnd = window.cwnd() as u64;
            let target = cwnd * base / rtt;
            self.diff = cwnd * (rtt - base) / base;
            if self.diff > 1 && window.in_slow_start() {
                window.set_cwnd(cwnd.min(target + 1) as f64);
                window.set_ssthresh(window.ssthresh().min(window.cwnd()));
            } else if window.in_slow_start() {
                slow_start(window, acked);
            } else if self.diff > 4 {
                window.set_cwnd((cwnd - 1) as f64);
                window.set_ssthresh(window.ssthresh().min(window.cwnd()));
            } else if self.diff < 2 {
                window.set_cwnd((cwnd + 1) as f64);
            }
            window.set_cwnd(window.cwnd().max(2.0));
            let cwnd = window.cwnd() as u64;
            window.set_ssthresh(window.ssthresh().max(((cwnd >> 1) + (cwnd >> 2)) as f64));
        }
        self.samples.forget();
    }
}

impl Law for Vegas {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                self.samples.pkts_acked(ack.rtt);
                if self.socket.on_ack(ack) {
                    self.enable();
                }
                if phase.may_grow() {
                    self.cong_avoid(ack.credit as u64, window);
                }
            }
            Event::Signal(signal) => self.socket.reduce(signal, half(signal.base), window),
            Event::Timeout(timeout) => {
                self.socket.enter_loss(timeout, half(timeout.base), window);
            }
            Event::Exit(now) => {
                if self.socket.end_recovery(*now) {
                    self.enable();
                }
            }
            Event::Idle(_) => {
                self.samples.base_rtt = u64::MAX;
                self.enable();
            }
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("queued", self.diff as f64)]
    }
}

#[test]
fn vegas() {
    assert_variant(
        "vegas",
        Variant::Linux6_18,
        &[],
        Vegas::new,
        &[30.0, 4.0, 9.0],
    );
}

/// Law of Veno by `tcp_veno.c`. Queued segments are counted in halves, and beta is 3 segments.
struct Veno {
    socket: Socket,
    samples: Samples,
    inc: bool,
    diff: u64,
}

impl Veno {
    fn new() -> Self {
        Self {
            socket: Socket::default(),
            samples: Samples::NEW,
            inc: true,
            diff: 0,
        }
    }

    fn cong_avoid(&mut self, mut acked: u64, window: &mut Window) {
        if !self.socket.is_open() {
            return self.socket.reno_cong_avoid(window, acked);
        }
        if self.samples.cnt_rtt <= 2 {
            self.socket.reno_cong_avoid(window, acked);
            self.samples.min_rtt = u64::MAX;
            return;
        }
        // Without a sample since the last acknowledgement, the smallest sample is `0x7fffffff`.
        let (base, rtt) = (
            self.samples.base_rtt.min(0x7fff_ffff),
            self.samples.min_rtt.min(0x7fff_ffff),
        );
        let cwnd = window.cwnd() as u64;
        self.diff = (cwnd << 1) - (cwnd << 1) * base / rtt;
        self.samples.min_rtt = u64::MAX;
        if window.in_slow_start() {
            acked = slow_start(window, acked);
            if acked == 0 {
                return;
            }
        }
        let cwnd = window.cwnd() as u64;
        if self.diff < 6 {
            self.socket.cong_avoid_ai(window, cwnd, acked);
        } else if self.socket.cnt >= cwnd {
            if self.inc {
                window.grow(1.0);
            }
            self.inc = !self.inc;
            self.socket.cnt = 0;
        } else {
            self.socket.cnt += acked;
        }
    }

    fn ssthresh(&self, base: f64) -> u64 {
        if self.diff < 6 {
            (base as u64 * 4 / 5).max(2)
        } else {
            half(base)
        }
    }
}

impl Law for Veno {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                self.samples.pkts_acked(ack.rtt);
                if self.socket.on_ack(ack) {
                    self.samples.min_rtt = u64::MAX;
                }
                if phase.may_grow() {
                    self.cong_avoid(ack.credit as u64, window);
                }
            }
            Event::Signal(signal) => {
                let ssthresh = self.ssthresh(signal.base);
                self.socket.reduce(signal, ssthresh, window);
            }
            Event::Timeout(timeout) => {
                let ssthresh = self.ssthresh(timeout.base);
                self.socket.enter_loss(timeout, ssthresh, window);
            }
            Event::Exit(now) => {
                if self.socket.end_recovery(*now) {
                    self.samples.min_rtt = u64::MAX;
                }
            }
            Event::Idle(_) => {
                (self.samples.base_rtt, self.samples.min_rtt) = (u64::MAX, u64::MAX);
                self.inc = true;
            }
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("queued", self.diff as f64 / 2.0)]
    }
}

#[test]
fn veno() {
    assert_variant(
        "veno",
        Variant::Linux6_18,
        &[],
        Veno::new,
        &[30.0, 4.0, 9.0],
    );
}

/// Law of YeAH by `tcp_yeah.c`, with `TCP_YEAH_ALPHA` 20, phy 8, epsilon 1/2, delta 1/8, rho 4 and zeta 3.
struct Yeah {
    socket: Socket,
    samples: Samples,
    beg_snd_nxt: u64,
    last_q: u64,
    doing_reno_now: u64,
    reno_count: u64,
    fast_count: u64,
}

impl Yeah {
    fn new() -> Self {
        Self {
            socket: Socket::default(),
            samples: Samples::NEW,
            beg_snd_nxt: 0,
            last_q: 0,
            doing_reno_now: 0,
            reno_count: 2,
            fast_count: 0,
        }
    }

    fn enable(&mut self) {
        self.beg_snd_nxt = self.socket.snd_nxt;
        self.samples.forget();
    }

    fn cong_avoid(&mut self, mut acked: u64, window: &mut Window) {
        if window.in_slow_start() {
            acked = slow_start(window, acked);
        }
        if acked > 0 {
            let cwnd = window.cwnd() as u64;
            let w = if self.doing_reno_now == 0 {
                cwnd.min(100)
            } else {
                cwnd
            };
            self.socket.cong_avoid_ai(window, w, acked);
        }
        if self.socket.snd_una > self.beg_snd_nxt {
            if self.samples.cnt_rtt > 2 {
                self.end_round(window);
            }
            self.enable();
        }
    }

    fn end_round(&mut self, window: &mut Window) {
        let cwnd = window.cwnd() as u64;
        let (rtt, base) = (self.samples.min_rtt, self.samples.base_rtt);
        let bw = rtt - base;
        let queue = cwnd * bw / rtt;
        if queue > 20 || bw > base / 8 {
            if queue > 20 && cwnd > self.reno_count {
                let reduction = queue.min(cwnd >> 1);
                let left = (cwnd - reduction).max(self.reno_count) as f64;
                window.set_cwnd(left);
                window.set_ssthresh(left);
            }
            self.reno_count = if self.reno_count <= 2 {
                (window.cwnd() as u64 >> 1).max(2)
            } else {
                self.reno_count + 1
            };
            self.doing_reno_now += 1;
        } else {
            self.fast_count += 1;
            if self.fast_count > 3 {
                (self.reno_count, self.fast_count) = (2, 0);
            }
            self.doing_reno_now = 0;
        }
        self.last_q = queue;
    }

    fn ssthresh(&mut self, base: f64) -> u64 {
        let cwnd = base as u64;
        let reduction = if self.doing_reno_now < 4 {
            self.last_q.min(half(base)).max(cwnd >> 3)
        } else {
            half(base)
        };
        self.fast_count = 0;
        self.reno_count = (self.reno_count >> 1).max(2);
        cwnd.saturating_sub(reduction).max(2)
    }
}

impl Law for Yeah {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                self.samples.pkts_acked(ack.rtt);
                if self.socket.on_ack(ack) {
                    self.enable();
                }
                if phase.may_grow() {
                    self.cong_avoid(ack.credit as u64, window);
                }
            }
            Event::Signal(signal) => {
                let ssthresh = self.ssthresh(signal.base);
                self.socket.reduce(signal, ssthresh, window);
            }
            Event::Timeout(timeout) => {
                // The kernel calls `ssthresh` only where it sets a threshold.
                let ssthresh = if timeout.keep_ssthresh {
                    2
                } else {
                    self.ssthresh(timeout.base)
                };
                self.socket.enter_loss(timeout, ssthresh, window);
            }
            Event::Exit(now) => {
                if self.socket.end_recovery(*now) {
                    self.enable();
                }
            }
            Event::Idle(_) => {
                self.samples.base_rtt = u64::MAX;
                self.enable();
            }
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![
            ("queued", self.last_q as f64),
            ("standard_window", self.reno_count as f64),
        ]
    }
}

#[test]
fn yeah() {
    let given = [
        ("max_queued", 20.0),
        ("max_delay", 0.125),
        ("max_taken_back", 0.5),
        ("competing", 4.0),
        ("alone", 3.0),
    ];
    assert_variant(
        "yeah",
        Variant::Linux6_18,
        &given,
        Yeah::new,
        &[30.0, 150.0, 9.0],
    );
}
