//! Laws of the algorithms of Linux 6.18 that use delays and rates.

use longhaul_congestion::{AckSample, Limit, Phase, Variant, Window};
use longhaul_units::{Span, Time};

use super::kernels::{HZ, Socket, half, jiffies, jiffies_begun};
use super::{Event, Law, assert_variant};

/// Law of Illinois by `tcp_illinois.c`, with alpha in units of 1/128 from 38 to 1280 and beta in units of 1/64 from 8
/// to 32.
struct Illinois {
    socket: Socket,
    base_rtt: u64,
    max_rtt: u64,
    sum_rtt: u64,
    cnt_rtt: u64,
    end_seq: u64,
    rtt_low: u64,
    rtt_above: bool,
    acked: u64,
    alpha: u64,
    beta: u64,
}

impl Illinois {
    fn new() -> Self {
        Self {
            socket: Socket::default(),
            base_rtt: 0x7fff_ffff,
            max_rtt: 0,
            sum_rtt: 0,
            cnt_rtt: 0,
            end_seq: 0,
            rtt_low: 0,
            rtt_above: false,
            acked: 0,
            alpha: 1280,
            beta: 32,
        }
    }

    fn rtt_reset(&mut self, in_flight: u64) {
        self.end_seq = self.socket.snd_una + in_flight;
        (self.cnt_rtt, self.sum_rtt) = (0, 0);
    }

    fn alpha(&mut self, da: u64, dm: u64) -> u64 {
        let d1 = dm / 100;
        if da <= d1 {
            if !self.rtt_above {
                return 1280;
            }
            self.rtt_low += 1;
            if self.rtt_low < 5 {
                return self.alpha;
            }
            (self.rtt_low, self.rtt_above) = (0, false);
            return 1280;
        }
        self.rtt_above = true;
        let (dm, da) = (dm - d1, da - d1);
        (dm * 1280) / (dm + (da * (1280 - 38)) / 38)
    }

    fn beta(da: u64, dm: u64) -> u64 {
        let (d2, d3) = (dm / 10, 8 * dm / 10);
        if da <= d2 {
            8
        } else if da >= d3 || d3 <= d2 {
            32
        } else {
            (8 * d3 - 32 * d2 + (32 - 8) * da) / (d3 - d2)
        }
    }

    fn update_params(&mut self, cwnd: u64) {
        if cwnd < 15 {
            (self.alpha, self.beta) = (128, 32);
        } else if let Some(mean) = self.sum_rtt.checked_div(self.cnt_rtt) {
            let (dm, da) = (self.max_rtt - self.base_rtt, mean - self.base_rtt);
            self.alpha = self.alpha(da, dm);
            self.beta = Self::beta(da, dm);
        }
        self.cnt_rtt = 0;
    }

    fn ssthresh(&self, base: f64) -> u64 {
        let cwnd = base as u64;
        (cwnd - ((cwnd * self.beta) >> 6)).max(2)
    }
}

impl Law for Illinois {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                self.acked = ack.acked;
                if let Some(rtt) = ack.rtt {
                    let rtt = rtt.as_ps() / 1_000_000;
                    self.base_rtt = self.base_rtt.min(rtt);
                    self.max_rtt = self.max_rtt.max(rtt);
                    (self.cnt_rtt, self.sum_rtt) = (self.cnt_rtt + 1, self.sum_rtt + rtt);
                }
                self.socket.on_ack(ack);
                // The kernel also calls `tcp_illinois_cong_avoid` while the window is not used.
                let unused = *phase == Phase::NoGrowth
                    && ack.limit != Limit::Network
                    && ack.acked > 0
                    && !ack.ecn_echo
                    && self.socket.is_open();
                if !phase.may_grow() && !unused {
                    return;
                }
                if self.socket.snd_una > self.end_seq {
                    self.update_params(window.cwnd() as u64);
                    self.rtt_reset(ack.in_flight);
                }
                if *phase == Phase::Avoidance {
                    self.socket.cnt += std::mem::replace(&mut self.acked, 1);
                    let delta = (self.socket.cnt * self.alpha) >> 7;
                    let cwnd = window.cwnd() as u64;
                    if delta >= cwnd {
                        window.grow((delta / cwnd) as f64);
                        self.socket.cnt = 0;
                    }
                }
            }
            Event::Signal(signal) => {
                let ssthresh = self.ssthresh(signal.base);
                self.socket.reduce(signal, ssthresh, window);
            }
            Event::Timeout(timeout) => {
                let ssthresh = self.ssthresh(timeout.base);
                self.socket.enter_loss(timeout, ssthresh, window);
                (self.alpha, self.beta) = (128, 32);
                (self.rtt_low, self.rtt_above) = (0, false);
                self.rtt_reset(timeout.sent.saturating_sub(self.socket.snd_una));
            }
            Event::Exit(now) => {
                self.socket.end_recovery(*now);
            }
            Event::Idle(_) => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![
            ("increase", self.alpha as f64 / 128.0),
            ("decrease", self.beta as f64 / 64.0),
        ]
    }
}

#[test]
fn illinois() {
    assert_variant(
        "illinois",
        Variant::Linux6_18,
        &[],
        Illinois::new,
        &[15.0, 4.0, 60.0],
    );
}

/// Returns the kernel's clock in ticks; it starts an hour before the run.
fn clock(time: Time) -> u64 {
    3600 * HZ + jiffies(time)
}

/// Law of H-TCP by `tcp_htcp.c`, with factors in units of 1/128. A loss keeps at most 102/128 of the window.
struct Htcp {
    socket: Socket,
    alpha: u64,
    beta: u64,
    modeswitch: bool,
    min_rtt: u64,
    max_rtt: u64,
    /// Time of the last congestion event, or of the beginning of the connection (`htcp_init`).
    last_cong: Option<u64>,
    undo_last_cong: bool,
    pkts_acked: u64,
    packetcount: u64,
    lasttime: u64,
    bi: u64,
    max_b: u64,
    old_max_b: u64,
}

impl Htcp {
    fn new() -> Self {
        Self {
            socket: Socket::default(),
            alpha: 128,
            beta: 64,
            modeswitch: false,
            min_rtt: 0,
            max_rtt: 0,
            last_cong: None,
            undo_last_cong: false,
            pkts_acked: 1,
            packetcount: 0,
            lasttime: 0,
            bi: 0,
            max_b: 0,
            old_max_b: 0,
        }
    }

    /// Measures round-trip times and the throughput from an acknowledgement (`measure_achieved_throughput`).
    fn measure(&mut self, ack: &AckSample, cwnd: u64) {
        let (now, open) = (clock(ack.now), self.socket.is_open());
        if open {
            self.pkts_acked = ack.acked;
        }
        if let Some(rtt) = ack.rtt {
            let srtt = jiffies_begun(rtt);
            if self.min_rtt == 0 || srtt < self.min_rtt {
                self.min_rtt = srtt;
            }
            if open {
                self.max_rtt = self.max_rtt.max(self.min_rtt);
                if self.max_rtt < srtt
                    && srtt <= self.max_rtt + jiffies_begun(Span::from_millis(20))
                {
                    self.max_rtt = srtt;
                }
            }
        }
        if !open {
            (self.packetcount, self.lasttime) = (0, now);
            return;
        }
        self.packetcount += ack.acked;
        let enough = cwnd.saturating_sub((self.alpha >> 7).max(1));
        let passed = now - self.lasttime;
        if self.packetcount >= enough && passed >= self.min_rtt && self.min_rtt > 0 {
            let rate = self.packetcount * HZ / passed;
            if self.since_congestion(now) < 4 * self.min_rtt {
                (self.bi, self.max_b) = (rate, rate);
            } else {
                self.bi = (3 * self.bi + rate) / 4;
                self.max_b = self.max_b.max(self.bi);
            }
            (self.packetcount, self.lasttime) = (0, now);
        }
    }

    fn since_congestion(&self, now: u64) -> u64 {
        self.last_cong.map_or(0, |last| now - last)
    }

    fn alpha_update(&mut self, now: u64) {
        let mut factor = 1;
        let mut diff = self.since_congestion(now);
        if diff > HZ {
            diff -= HZ;
            factor = 1 + (10 * diff + ((diff / 2) * (diff / 2) / HZ)) / HZ;
        }
        if self.min_rtt > 0 {
            let scale = ((HZ << 3) / (10 * self.min_rtt)).clamp(1 << 2, 10 << 3);
            factor = ((factor << 3) / scale).max(1);
        }
        self.alpha = 2 * factor * (128 - self.beta);
    }

    fn beta_update(&mut self) {
        let (max_b, old) = (self.max_b, self.old_max_b);
        self.old_max_b = max_b;
        if !(4 * old <= 5 * max_b && 5 * max_b <= 6 * old) {
            (self.beta, self.modeswitch) = (64, false);
        } else if self.modeswitch
            && self.min_rtt > jiffies_begun(Span::from_millis(10))
            && self.max_rtt > 0
        {
            self.beta = ((self.min_rtt << 7) / self.max_rtt).clamp(64, 102);
        } else {
            (self.beta, self.modeswitch) = (64, true);
        }
    }

    fn ssthresh(&mut self, base: f64, now: u64) -> u64 {
        self.beta_update();
        self.alpha_update(now);
        if self.max_rtt > self.min_rtt {
            self.max_rtt = self.min_rtt + (self.max_rtt - self.min_rtt) * 95 / 100;
        }
        (self.last_cong, self.undo_last_cong) = (Some(now), true);
        ((base as u64 * self.beta) >> 7).max(2)
    }

    /// Processes the end of a reduction (`TCP_CA_Open`), from which H-TCP counts the time without congestion.
    fn open(&mut self, now: u64) {
        if std::mem::take(&mut self.undo_last_cong) {
            self.last_cong = Some(now);
        }
    }
}

impl Law for Htcp {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                let cwnd = window.cwnd() as u64;
                let since = ack.now.since(Time::ZERO);
                let began = since.saturating_sub(ack.rtt.unwrap_or(Span::ZERO));
                self.last_cong.get_or_insert(clock(Time::ZERO + began));
                self.measure(ack, cwnd);
                if self.socket.on_ack(ack) {
                    self.open(clock(ack.now));
                }
                if *phase == Phase::Avoidance {
                    if (self.socket.cnt * self.alpha) >> 7 >= cwnd {
                        window.grow(1.0);
                        self.socket.cnt = 0;
                        self.alpha_update(clock(ack.now));
                    } else {
                        self.socket.cnt += self.pkts_acked;
                    }
                    self.pkts_acked = 1;
                }
            }
            Event::Signal(signal) => {
                let ssthresh = self.ssthresh(signal.base, clock(signal.now));
                self.socket.reduce(signal, ssthresh, window);
            }
            Event::Timeout(timeout) => {
                let ssthresh = self.ssthresh(timeout.base, clock(timeout.now));
                self.socket.enter_loss(timeout, ssthresh, window);
            }
            Event::Exit(now) => {
                if self.socket.end_recovery(*now) {
                    self.open(clock(*now));
                }
            }
            Event::Idle(_) => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![
            ("kept", self.beta as f64 / 128.0),
            ("max_rtt_s", self.max_rtt as f64 / HZ as f64),
        ]
    }
}

#[test]
fn htcp() {
    assert_variant(
        "htcp",
        Variant::Linux6_18,
        &[],
        Htcp::new,
        &[100.0, 14.0, 400.0],
    );
}

/// Law of Westwood+ by `tcp_westwood.c`, with rates in bytes per tick and segments of 1448 B of payload.
struct Westwood {
    socket: Socket,
    bw_ns_est: u64,
    bw_est: u64,
    rtt_win_sx: u64,
    bk: u64,
    delivered: u64,
    accounted: u64,
    rtt: u64,
    rtt_min: u64,
    first_ack: bool,
    reset_rtt_min: bool,
    completes: bool,
}

const MSS: u64 = 1448;

impl Westwood {
    fn new() -> Self {
        Self {
            socket: Socket::default(),
            bw_ns_est: 0,
            bw_est: 0,
            rtt_win_sx: 0,
            bk: 0,
            delivered: 0,
            accounted: 0,
            rtt: 20 * HZ,
            rtt_min: 20 * HZ,
            first_ack: true,
            reset_rtt_min: true,
            completes: false,
        }
    }

    /// Ends the bandwidth sample once it is longer than the round-trip time and 50 ms, and adds it to the average
    /// (`westwood_update_window`, `westwood_filter`).
    fn update_window(&mut self, now: u64) {
        let delta = now - self.rtt_win_sx;
        if self.rtt > 0 && delta > self.rtt.max(HZ / 20) {
            let sample = self.bk / delta;
            if self.bw_ns_est == 0 && self.bw_est == 0 {
                (self.bw_ns_est, self.bw_est) = (sample, sample);
            } else {
                self.bw_ns_est = (7 * self.bw_ns_est + sample) >> 3;
                self.bw_est = (7 * self.bw_est + self.bw_ns_est) >> 3;
            }
            (self.bk, self.rtt_win_sx) = (0, now);
        }
    }

    /// Returns the bytes that an acknowledgement counts for (`westwood_acked_count`).
    fn acked_count(&mut self, cumul: u64) -> u64 {
        if cumul == 0 {
            self.accounted += MSS;
            return MSS;
        }
        if cumul <= MSS {
            return cumul;
        }
        if self.accounted >= cumul {
            self.accounted -= cumul;
            return MSS;
        }
        cumul - std::mem::take(&mut self.accounted)
    }

    fn on_ack(&mut self, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            self.rtt = jiffies_begun(rtt);
        }
        self.update_window(jiffies(ack.now));
        let newly = ack.delivered - self.delivered;
        self.delivered = ack.delivered;
        self.socket.on_ack(ack);
        let sacked = self.delivered > self.socket.snd_una;
        let fast_path = !ack.ecn_echo && ack.acked > 0 && ack.acked == newly && !sacked;
        let cumul = if std::mem::take(&mut self.first_ack) {
            0
        } else {
            ack.acked * MSS
        };
        self.bk += if fast_path {
            cumul
        } else {
            self.acked_count(cumul)
        };
        let smallest = if std::mem::take(&mut self.reset_rtt_min) {
            u64::MAX
        } else {
            self.rtt_min
        };
        self.rtt_min = smallest.min(self.rtt);
    }

    fn bw_rttmin(&self) -> u64 {
        (self.bw_est * self.rtt_min / MSS).max(2)
    }

    /// Sets the window and the threshold to the bandwidth-delay product at the end of a reduction
    /// (`CA_EVENT_COMPLETE_CWR`).
    fn complete(&mut self, window: &mut Window) {
        if std::mem::take(&mut self.completes) {
            let carried = self.bw_rttmin() as f64;
            window.set_ssthresh(carried);
            window.set_cwnd(carried);
        }
    }
}

impl Law for Westwood {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                self.on_ack(ack);
                if *phase == Phase::Avoidance {
                    if self.socket.is_open() {
                        self.complete(window);
                    }
                    let cwnd = window.cwnd() as u64;
                    self.socket.cong_avoid_ai(window, cwnd, ack.credit as u64);
                }
            }
            Event::Signal(signal) => {
                self.completes = true;
                self.socket.reduce(signal, half(signal.base), window);
            }
            Event::Timeout(timeout) => {
                // As for the kernel's `CA_EVENT_LOSS`.
                self.completes = false;
                self.reset_rtt_min |= !timeout.keep_ssthresh;
                let ssthresh = self.bw_rttmin();
                self.socket.enter_loss(timeout, ssthresh, window);
            }
            Event::Exit(now) => {
                if self.socket.end_recovery(*now) {
                    self.complete(window);
                }
            }
            Event::Idle(_) => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![
            (
                "bandwidth_segments_per_s",
                self.bw_est as f64 * HZ as f64 / MSS as f64,
            ),
            ("carried", self.bw_rttmin() as f64),
        ]
    }
}

#[test]
fn westwood() {
    assert_variant(
        "westwood",
        Variant::Linux6_18,
        &[],
        Westwood::new,
        &[30.0, 15.0, 9.0],
    );
}
