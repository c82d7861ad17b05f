//! Laws of algorithms that use no delays, but windows, marks and feedback of routers.

use longhaul_congestion::{
    Cause, ControllerSpec, Load, Phase, Phases, RouterFeedback, Variant, Window,
};
use longhaul_units::{Span, Time};

use super::{Event, Law, answer_as_standard, assert_follows, grow_as_standard, restart_below};
use crate::controller;

#[track_caller]
fn assert_stateless(kind: &str, given: &[(&str, f64)], law: impl Fn(&Event, &mut Window) + Copy) {
    let algorithm = controller(kind, Variant::Paper, given).build().unwrap();
    assert_follows(&algorithm, || law, &[30.0, 3.0, 400.0]);
}

/// Checks standard TCP with other amounts of increase and decrease (RFC 5681 equations 3 and 4, RFC 8511 sections 3 and
/// 4). A mark in slow start removes as much of the window as a loss.
#[test]
fn standard_tcp_with_other_amounts() {
    let given = [("increase", 0.7), ("decrease", 0.3), ("ecn_decrease", 0.2)];
    assert_stateless("reno", &given, |event, window| match event {
        Event::Ack(ack, Phase::Avoidance) => window.grow(0.7 * ack.credit / window.cwnd()),
        Event::Signal(signal) => {
            let gentle = signal.cause == Cause::Ecn && !signal.in_slow_start;
            window.reduce_to(signal.base * if gentle { 0.8 } else { 0.7 });
        }
        _ => answer_as_standard(event, window),
    });
}

/// Checks standard TCP of ns-2.35 (`tcp.cc`, `slowdown`): the first reduction and any in slow start halve the window.
#[test]
fn standard_tcp_of_ns2() {
    let spec = controller("reno", Variant::Ns2, &[("decrease", 0.3)]);
    let law = |event: &Event, window: &mut Window| match event {
        Event::Ack(ack, Phase::Avoidance) => grow_as_standard(ack, window),
        Event::Signal(signal) => {
            let halves = signal.first || signal.in_slow_start;
            window.reduce_to(signal.base * if halves { 0.5 } else { 0.7 });
        }
        _ => answer_as_standard(event, window),
    };
    assert_follows(&spec.build().unwrap(), || law, &[30.0, 3.0, 400.0]);
}

/// Standard TCP of Linux 6.18 (`tcp_cong_avoid_ai`): windows are whole numbers and grow by one segment for each window
/// of acknowledged segments. TCP-LP of Linux has the same law.
#[test]
fn standard_tcp_of_linux() {
    let law = || {
        let mut counted = 0;
        move |event: &Event, window: &mut Window| match event {
            Event::Ack(ack, Phase::Avoidance) => {
                let cwnd = window.cwnd() as u64;
                let mut more = 0;
                if counted >= cwnd {
                    (counted, more) = (0, 1);
                }
                counted += ack.credit as u64;
                more += counted / cwnd;
                counted %= cwnd;
                window.grow(more as f64);
            }
            Event::Signal(signal) => {
                counted = 0;
                window.reduce_to((signal.base / 2.0).floor());
            }
            Event::Timeout(timeout) => {
                counted = 0;
                restart_below(timeout, (timeout.base / 2.0).floor(), window);
            }
            _ => {}
        }
    };
    for kind in ["reno", "lp"] {
        let spec = controller(kind, Variant::Linux6_18, &[]);
        assert_follows(&spec.build().unwrap(), law, &[30.0, 3.0]);
    }
}

/// Law of GAIMD by Yang and Lam, ICNP 2000. It is friendly to standard TCP if `alpha = 4 (1 - beta^2) / 3`.
#[test]
fn gaimd() {
    assert_stateless("gaimd", &[("decrease", 0.2)], |event, window| match event {
        Event::Ack(ack, Phase::Avoidance) => {
            window.grow(4.0 / 3.0 * (1.0 - 0.8 * 0.8) * ack.credit / window.cwnd());
        }
        Event::Signal(signal) => window.reduce_to(0.8 * signal.base),
        _ => answer_as_standard(event, window),
    });
}

/// MulTCP (Crowcroft and Oechslin, CCR 28(3), 1998). Four flows in one add four segments per round trip. A loss halves
/// one flow's share of the window.
#[test]
fn multcp() {
    assert_stateless("multcp", &[("flows", 4.0)], |event, window| match event {
        Event::Ack(ack, Phase::Avoidance) => window.grow(4.0 * ack.credit / window.cwnd()),
        Event::Signal(signal) => window.reduce_to(signal.base * (1.0 - 0.5 / 4.0)),
        _ => answer_as_standard(event, window),
    });
}

/// Checks binomial control (Bansal and Balakrishnan, INFOCOM 2001, equation 1). The equation gives the change per round
/// trip; each acknowledged segment contributes `1 / w` of this change.
#[test]
fn binomial() {
    let given = [("k", 0.7), ("l", 0.4), ("increase", 2.0), ("decrease", 0.6)];
    assert_stateless("binomial", &given, |event, window| {
        let cwnd = window.cwnd();
        match event {
            Event::Ack(ack, Phase::Avoidance) => {
                window.grow(2.0 / cwnd.powf(0.7) * ack.credit / cwnd);
            }
            Event::Signal(signal) => {
                window.reduce_to((signal.base - 0.6 * signal.base.powf(0.4)).max(1.0));
            }
            _ => answer_as_standard(event, window),
        }
    });
}

/// The constant-rate algorithm (Floyd, CCR 21(5), 1991) and its modified form, increase by k. The growth is limited to
/// one segment for each acknowledged segment.
#[test]
fn constant_rate_and_increase_by_k() {
    assert_stateless("constant-rate", &[("c", 400.0)], |event, window| {
        if let Event::Ack(ack, Phase::Avoidance) = event {
            let rtt_s = ack.srtt.as_secs_f64();
            window.grow((400.0 * rtt_s * rtt_s / window.cwnd()).min(1.0) * ack.credit);
        }
        answer_as_standard(event, window);
    });
    assert_stateless("increase-by-k", &[("k", 4.0)], |event, window| {
        if let Event::Ack(ack, Phase::Avoidance) = event {
            window.grow((4.0 / window.cwnd()).min(1.0) * ack.credit);
        }
        answer_as_standard(event, window);
    });
}

/// Scalable TCP (Kelly, CCR 33(2), 2003): from the low window of 16 segments on, each acknowledgement adds 0.01
/// segments and a loss reduces the window by an eighth.
#[test]
fn scalable() {
    for low_window in [16.0, 30.0] {
        let given = [("low_window", low_window)];
        let algorithm = controller("scalable", Variant::Paper, &given)
            .build()
            .unwrap();
        let law = || {
            move |event: &Event, window: &mut Window| match event {
                Event::Ack(ack, Phase::Avoidance) if window.cwnd() < low_window => {
                    grow_as_standard(ack, window);
                }
                Event::Ack(ack, Phase::Avoidance) => window.grow(0.01 * ack.credit),
                Event::Signal(signal) => {
                    let decrease = if signal.base < low_window { 0.5 } else { 0.125 };
                    window.reduce_to(signal.base * (1.0 - decrease));
                }
                _ => answer_as_standard(event, window),
            }
        };
        assert_follows(&algorithm, law, &[30.0, 16.0, 400.0]);
    }
}

/// Law of DECbit by Ramakrishnan and Jain, TOCS 8(2), 1990. A decision needs acknowledgements of the last window and of
/// the current one; it uses the marks of the current one.
#[derive(Default)]
struct DecBit {
    /// Marks of the segments acknowledged since the last change of the window: true for a segment with a mark.
    seen: Vec<bool>,
    /// Number of segments in the window before its last change.
    before: usize,
}

impl Law for DecBit {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        let cwnd = window.cwnd();
        match event {
            Event::Ack(ack, phase)
                if phase.may_grow() || *phase == Phase::NoGrowth && ack.ecn_echo =>
            {
                self.seen.extend((0..ack.acked).map(|_| ack.ecn_echo));
                let current = self.seen.get(self.before..).unwrap_or_default();
                let marked = current.iter().filter(|&&marked| marked).count();
                let reduces = 2 * marked >= current.len();
                if current.len() < cwnd as usize || !reduces && !phase.may_grow() {
                    return;
                }
                if reduces {
                    window.shrink(cwnd / 8.0);
                } else {
                    window.grow(1.0);
                }
                (self.seen, self.before) = (Vec::new(), cwnd as usize);
            }
            Event::Signal(signal) if signal.cause == Cause::Ecn => {}
            Event::Signal(signal) => {
                (self.seen, self.before) = (Vec::new(), signal.base as usize);
                window.reduce_to(signal.base / 2.0);
            }
            Event::Timeout(_) => {
                *self = Self::default();
                answer_as_standard(event, window);
            }
            _ => {}
        }
    }
}

#[test]
fn decbit() {
    let spec = controller("decbit", Variant::Paper, &[]);
    assert_follows(&spec.build().unwrap(), DecBit::default, &[2.0, 5.0, 8.0]);
}

/// Law of DCTCP by Alizadeh and others, SIGCOMM 2010, and RFC 8257 section 3.3: `alpha += g (F - alpha)` once per
/// window, `cwnd *= 1 - alpha / 2` for a mark, and half of the window for a loss.
struct Dctcp {
    alpha: f64,
    delivered: u64,
    window: (u64, u64),
}

impl Law for Dctcp {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                let (segments, marked) = self.window;
                if ack.round_start && segments > 0 {
                    self.alpha += (marked as f64 / segments as f64 - self.alpha) / 16.0;
                }
                if ack.round_start {
                    self.window = (0, 0);
                }
                let newly = ack.delivered - self.delivered;
                self.delivered = ack.delivered;
                self.window.0 += newly;
                self.window.1 += if ack.ecn_echo { newly } else { 0 };
                if *phase == Phase::Avoidance {
                    grow_as_standard(ack, window);
                }
            }
            Event::Signal(signal) if signal.cause == Cause::Ecn => {
                window.reduce_to(signal.base * (1.0 - self.alpha / 2.0));
            }
            _ => answer_as_standard(event, window),
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("alpha", self.alpha)]
    }
}

#[test]
fn dctcp() {
    let spec = controller("dctcp", Variant::Paper, &[]);
    let law = || Dctcp {
        alpha: 1.0,
        delivered: 0,
        window: (0, 0),
    };
    assert_follows(&spec.build().unwrap(), law, &[20.0, 60.0]);
}

/// Law of packet pair by Keshav, SIGCOMM 1991: the window is the number of segments that the path holds at the mean
/// spacing of pairs, plus one segment. Losses have no effect. Slow start lasts until the first pair.
#[derive(Default)]
struct PacketPair {
    spacing_s: Option<f64>,
}

impl Law for PacketPair {
    fn phases(&self) -> Phases {
        if self.spacing_s.is_some() {
            Phases::SlowStart
        } else {
            Phases::Avoidance
        }
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                let measured = ack.pair_spacing.map_or(0.0, Span::as_secs_f64);
                if measured > 0.0 {
                    let mean = self.spacing_s.unwrap_or(measured);
                    self.spacing_s = Some(mean + (measured - mean) / 4.0);
                }
                if let Some(spacing_s) = self.spacing_s
                    && phase.may_grow()
                {
                    window.set_cwnd(ack.min_rtt.as_secs_f64() / spacing_s + 2.0);
                }
            }
            Event::Timeout(_) => answer_as_standard(event, window),
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("spacing", self.spacing_s.unwrap_or(f64::NAN))]
    }
}

#[test]
fn packet_pair() {
    let spec = controller(
        "packet-pair",
        Variant::Paper,
        &[("queued", 2.0), ("weight", 0.25)],
    );
    assert_follows(&spec.build().unwrap(), PacketPair::default, &[2.0, 50.0]);
}

/// Law of XCP by Katabi, Handley and Rohrs, SIGCOMM 2002, section 3.3: the window changes by the throughput
/// change that routers grant, multiplied by the round-trip time. In phases without growth, only decreases apply.
#[derive(Default)]
struct Xcp {
    granted: f64,
}

impl Law for Xcp {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        if let Event::Ack(ack, phase) = event
            && let Some(RouterFeedback::Xcp { change }) = ack.router
            && *phase != Phase::Recovery
            && ack.acked > 0
        {
            self.granted = change;
            let change = if phase.may_grow() {
                change
            } else {
                change.min(0.0)
            };
            window.grow(change * ack.srtt.as_secs_f64());
        }
        answer_as_standard(event, window);
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("granted", self.granted)]
    }
}

#[test]
fn xcp() {
    let spec = controller("xcp", Variant::Paper, &[]);
    assert_follows(&spec.build().unwrap(), Xcp::default, &[2.0, 50.0]);
}

/// Law of VCP by Xia and others, SIGCOMM 2005. The multiplicative and the additive increase are scaled to an interval
/// of 200 ms. On overload, one decrease is followed by an interval without change and by a round trip of additive
/// increase.
#[derive(Default)]
struct Vcp {
    rests_until: Time,
    grows_until: Time,
}

impl Law for Vcp {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        let Event::Ack(ack, phase) = event else {
            return answer_as_standard(event, window);
        };
        let Some(RouterFeedback::Vcp(load)) = ack.router else {
            return;
        };
        if *phase == Phase::Recovery || ack.acked == 0 {
            return;
        }
        let intervals = ack.srtt.as_secs_f64() / 0.2;
        let additive = 1.5 * intervals * intervals / window.cwnd();
        let step = match load {
            Load::Low => ((1.0_f64 + 0.5).powf(intervals) - 1.0).min(1.0),
            Load::High => additive,
            Load::Over if ack.now < self.rests_until => 0.0,
            Load::Over if ack.now < self.grows_until => additive,
            Load::Over => {
                self.rests_until = ack.now + Span::from_millis(200);
                self.grows_until = self.rests_until + ack.srtt;
                return window.set_cwnd(window.cwnd() * 0.875);
            }
        };
        if phase.may_grow() {
            window.grow(step * ack.credit);
        }
    }
}

#[test]
fn vcp() {
    let spec = controller("vcp", Variant::Paper, &[("xi", 0.5), ("alpha", 1.5)]);
    assert_follows(&spec.build().unwrap(), Vcp::default, &[2.0, 50.0]);
}

/// Checks that values from a table are linear in the window between two points, and constant outside of all points.
#[test]
fn table() {
    fn line(w: f64, from: (f64, f64), to: (f64, f64)) -> f64 {
        let part = ((w - from.0) / (to.0 - from.0)).clamp(0.0, 1.0);
        from.1 + (to.1 - from.1) * part
    }
    let function = |name: &str, points: [(f64, f64); 2]| (name.to_string(), points.to_vec());
    let increase = [(10.0, 1.0), (60.0, 6.0)];
    let decrease = [(20.0, 0.5), (50.0, 0.2)];
    let spec = ControllerSpec {
        functions: vec![
            function("increase", increase),
            function("decrease", decrease),
        ],
        ..controller("table", Variant::Paper, &[])
    };
    let law = || {
        move |event: &Event, window: &mut Window| match event {
            Event::Ack(ack, Phase::Avoidance) => {
                let cwnd = window.cwnd();
                window.grow(line(cwnd, increase[0], increase[1]) * ack.credit / cwnd);
            }
            Event::Signal(signal) => {
                let part = line(signal.base, decrease[0], decrease[1]);
                window.reduce_to(signal.base * (1.0 - part));
            }
            _ => answer_as_standard(event, window),
        }
    };
    assert_follows(&spec.build().unwrap(), law, &[10.0, 60.0, 30.0]);
}
