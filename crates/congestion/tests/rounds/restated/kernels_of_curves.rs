//! Laws of the algorithms of Linux 6.18 that grow the window along a curve.

use longhaul_congestion::{Phase, Variant, Window};
use longhaul_units::{Span, Time};

use super::kernels::{HZ, Socket, half, jiffies, jiffies_begun};
use super::{Event, Law, assert_variant, restart_below};

/// Law of BIC by `tcp_bic.c`, with its parameters: `low_window` 14, `max_increment` 16, `smooth_part` 20, `beta` 819.
struct Bic {
    socket: Socket,
    last_max_cwnd: u64,
    cnt: u64,
    last: (u64, u64),
    delayed_ack: u64,
}

impl Bic {
    fn new() -> Self {
        Self {
            socket: Socket::default(),
            last_max_cwnd: 0,
            cnt: 0,
            last: (0, 0),
            delayed_ack: 2 << 4,
        }
    }

    fn update(&mut self, cwnd: u64, now: u64) {
        if self.last.0 == cwnd && now - self.last.1 <= HZ / 32 {
            return;
        }
        self.last = (cwnd, now);
        if cwnd <= 14 {
            self.cnt = cwnd;
            return;
        }
        self.cnt = if cwnd < self.last_max_cwnd {
            match (self.last_max_cwnd - cwnd) / 4 {
                16.. => cwnd / 16,
                0 | 1 => cwnd * 20 / 4,
                distance => cwnd / distance,
            }
        } else if cwnd < self.last_max_cwnd + 4 {
            cwnd * 20 / 4
        } else if cwnd < self.last_max_cwnd + 16 * 3 {
            cwnd * 3 / (cwnd - self.last_max_cwnd)
        } else {
            cwnd / 16
        };
        if self.last_max_cwnd == 0 {
            self.cnt = self.cnt.min(20);
        }
        self.cnt = ((self.cnt << 4) / self.delayed_ack).max(1);
    }

    fn ssthresh(&mut self, base: f64) -> u64 {
        let cwnd = base as u64;
        self.last_max_cwnd = if cwnd < self.last_max_cwnd {
            cwnd * (1024 + 819) / 2048
        } else {
            cwnd
        };
        if cwnd <= 14 {
            half(base)
        } else {
            (cwnd * 819 / 1024).max(2)
        }
    }
}

impl Law for Bic {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                if self.socket.is_open() {
                    self.delayed_ack += ack.acked;
                    self.delayed_ack -= (self.delayed_ack - ack.acked) >> 4;
                }
                self.socket.on_ack(ack);
                if *phase == Phase::Avoidance {
                    self.update(window.cwnd() as u64, jiffies(ack.now));
                    self.socket
                        .cong_avoid_ai(window, self.cnt, ack.credit as u64);
                }
            }
            Event::Signal(signal) => {
                let ssthresh = self.ssthresh(signal.base);
                self.socket.reduce(signal, ssthresh, window);
            }
            Event::Timeout(timeout) => {
                let ssthresh = self.ssthresh(timeout.base);
                self.socket.enter_loss(timeout, ssthresh, window);
                let socket = std::mem::take(&mut self.socket);
                *self = Self {
                    socket,
                    ..Self::new()
                };
            }
            Event::Exit(now) => {
                self.socket.end_recovery(*now);
            }
            Event::Idle(_) => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("peak", self.last_max_cwnd as f64)]
    }
}

#[test]
fn bic() {
    let given = [
        ("decrease", 1.0 - 819.0 / 1024.0),
        ("low_window", 14.0),
        ("max_increment", 16.0),
        ("min_increment", 0.2),
    ];
    assert_variant(
        "bic",
        Variant::Linux6_18,
        &given,
        Bic::new,
        &[100.0, 14.0, 400.0],
    );
}

/// Law of CUBIC by `tcp_cubic.c`, with `bic_scale` 410 / 10 and `beta` 717. The cube root is exact.
struct Cubic {
    socket: Socket,
    last_max_cwnd: u64,
    cnt: u64,
    last_time: u64,
    last_cwnd: u64,
    /// Start, origin point, K, `tcp_cwnd` and `ack_cnt` of the epoch; `None` outside an epoch.
    epoch: Option<(u64, u64, u64, u64, u64)>,
}

impl Cubic {
    fn new() -> Self {
        Self {
            socket: Socket::default(),
            last_max_cwnd: 0,
            cnt: 0,
            last_time: 0,
            last_cwnd: 0,
            epoch: None,
        }
    }

    /// Computes the number of acknowledged segments per segment of growth (`bictcp_update`).
    fn update(&mut self, now: u64, cwnd: u64, acked: u64, delay_min: Span) {
        if let Some((.., ack_cnt)) = &mut self.epoch {
            *ack_cnt += acked;
            if self.last_cwnd == cwnd && now - self.last_time <= HZ / 32 {
                return;
            }
        }
        if self.epoch.is_none() || now != self.last_time {
            (self.last_cwnd, self.last_time) = (cwnd, now);
            let origin = self.last_max_cwnd.max(cwnd);
            let k = (((1_u64 << 40) / 410) as f64 * (origin - cwnd) as f64).cbrt() as u64;
            let (start, origin, k, ..) = *self.epoch.get_or_insert((now, origin, k, cwnd, acked));
            let t = (now.saturating_sub(start) + jiffies_begun(delay_min)) * 1024 / HZ;
            let away = u128::from(t.abs_diff(k)).pow(3);
            let delta = ((410 * away) >> 40) as u64;
            let target = if t < k {
                origin.saturating_sub(delta)
            } else {
                origin + delta
            };
            self.cnt = if target > cwnd {
                cwnd / (target - cwnd)
            } else {
                100 * cwnd
            };
            if self.last_max_cwnd == 0 {
                self.cnt = self.cnt.min(20);
            }
        }
        let (_, _, _, tcp_cwnd, ack_cnt) = self.epoch.as_mut().expect("it has begun");
        // This factor is the kernel's `beta_scale`.
        let delta = (cwnd * (8 * (1024 + 717) / 3 / (1024 - 717)) / 8).max(1);
        while *ack_cnt > delta {
            *ack_cnt -= delta;
            *tcp_cwnd += 1;
        }
        if *tcp_cwnd > cwnd {
            self.cnt = self.cnt.min(cwnd / (*tcp_cwnd - cwnd));
        }
        self.cnt = self.cnt.max(2);
    }

    fn ssthresh(&mut self, base: f64) -> u64 {
        let cwnd = base as u64;
        self.epoch = None;
        self.socket.cnt = 0;
        self.last_max_cwnd = if cwnd < self.last_max_cwnd {
            cwnd * (1024 + 717) / 2048
        } else {
            cwnd
        };
        cwnd * 717 / 1024
    }
}

impl Law for Cubic {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, Phase::Avoidance) => {
                let acked = ack.credit as u64;
                self.update(jiffies(ack.now), window.cwnd() as u64, acked, ack.min_rtt);
                self.socket.cong_avoid_ai(window, self.cnt, acked);
            }
            Event::Signal(signal) => {
                let ssthresh = self.ssthresh(signal.base);
                window.reduce_to(ssthresh as f64);
            }
            Event::Timeout(timeout) => {
                let ssthresh = self.ssthresh(timeout.base);
                restart_below(timeout, ssthresh as f64, window);
                *self = Self::new();
            }
            Event::Idle(idle) => {
                // As in `cubictcp_cwnd_event`.
                if let Some((start, ..)) = &mut self.epoch {
                    let now = jiffies(idle.now);
                    *start = now.min(*start + jiffies(Time::ZERO + idle.since_sent));
                }
            }
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        let mut state = vec![("peak", self.last_max_cwnd as f64)];
        state.extend(
            self.epoch
                .map(|(.., tcp_cwnd, _)| ("standard_window", tcp_cwnd as f64)),
        );
        state
    }
}

#[test]
fn cubic() {
    assert_variant(
        "cubic",
        Variant::Linux6_18,
        &[("decrease", 1.0 - 717.0 / 1024.0)],
        Cubic::new,
        &[100.0, 14.0, 400.0],
    );
}
