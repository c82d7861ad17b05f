//! Tests of Vivace against the formulas of its paper.

use longhaul_units::Time;

use super::*;
use crate::window::Rounding;

const RTT: Span = Span::from_millis(50);
/// Vivace on a path that delivers everything at any rate.
struct Path {
    vivace: Box<Vivace>,
    window: Window,
    ack: AckSample,
    /// Rate of the application's data, as a fraction of Vivace's sending rate.
    offered: f64,
}

impl Path {
    fn new() -> Self {
        let settings = ENTRY.settings(Variant::Paper, &[]).unwrap();
        let ack = AckSample {
            delivered: 0,
            in_flight: 400,
            rtt: Some(RTT),
            srtt: RTT,
            segment_bytes: 1500,
            ..AckSample::ONE_SEGMENT
        };
        let mut path = Self {
            vivace: Box::new(Vivace::new(&settings)),
            window: Window::new(10.0, 1e9, 1e9, Rounding::Real),
            ack,
            offered: 1.0,
        };
        path.vivace.on_handshake(&path.ack, &mut path.window);
        path
    }

    /// Returns a path with a flow at 50 Mbit/s whose starting phase is over.
    fn learning() -> Self {
        let mut path = Self::new();
        (path.vivace.rate, path.vivace.started) = (50.0, true);
        path.vivace.stage = Stage::Paused;
        path.ack();
        path
    }

    /// Acknowledges one segment, a segment's transmission time after the previous acknowledgement.
    fn ack(&mut self) {
        let sent = self.offered * self.vivace.sending_rate();
        self.ack.now += Span::from_secs_f64(mbit(&self.ack) / sent);
        self.ack.delivered += 1;
        let phase = Phase::Avoidance;
        self.vivace.on_ack(&self.ack, phase, &mut self.window);
    }

    /// Acknowledges segments until the current intervals have a result; returns the newly chosen rate.
    fn decision(&mut self) -> f64 {
        let all = self.vivace.planned();
        while self.vivace.known + 1 < all || self.vivace.sent < all {
            self.ack();
        }
        while self.vivace.sent > 0 {
            self.ack();
        }
        self.vivace.rate
    }
}

fn near(found: f64, expected: f64) {
    assert!(
        (found / expected - 1.0).abs() < 1e-9,
        "{found}, not {expected}"
    );
}

/// The utility is x^0.9 - 900 x dRTT/dT - 11.35 x L, with the rate x in Mbit/s, the slope of the round-trip time
/// dRTT/dT and the loss rate L. At 100 Mbit/s, 100^0.9 is 63.0957.
#[test]
fn the_utility_is_that_of_equation_1() {
    let vivace = Path::new().vivace;
    let utility = |slope, loss| vivace.utility(&Interval::known(100.0, slope, loss));
    near(utility(0.0, 0.0), 63.095_734_448_019_32);
    near(utility(0.05, 0.0), 63.095_734_448_019_32 - 4500.0);
    near(utility(-0.02, 0.04), 63.095_734_448_019_32 + 1800.0 - 45.4);
    near(utility(0.0, 0.03), 63.095_734_448_019_32 - 3.0);
    // Without latency, an increase of the rate by 1 % costs as much as it gains at a loss rate of 0.9 / 11.35 x^-0.1,
    // which is 5 %.
    let gain = vivace.utility(&Interval::known(101.0, 0.0, 0.05)) - utility(0.0, 0.05);
    assert!(gain.abs() < 2e-3, "{gain}");
}

/// Checks that the rate doubles while the utility grows, and is then halved once. The first rate is 2.4 Mbit/s: ten
/// segments of 1500 bytes in 50 ms.
#[test]
fn it_doubles_while_the_utility_grows_and_halves_once() {
    let mut path = Path::new();
    near(path.vivace.rate, 2.4);
    for expected in [4.8, 9.6, 19.2, 38.4] {
        near(path.decision(), expected);
    }
    // The next interval has 160 segments in 50 ms, of which more than 7 % are lost, so that 38.4 * 11.35 * L is more
    // than 38.4^0.9 - 19.2^0.9.
    for _ in 0..path.ack.in_flight {
        path.ack();
    }
    path.ack.lost += 40;
    while !path.vivace.started {
        path.ack();
    }
    near(path.vivace.rate, 19.2);
    assert!(matches!(path.vivace.stage, Stage::Learning { .. }));
    near(path.window.cwnd(), 2.0 * 19.2e6 * 0.05 / 12_000.0);
}

/// Checks the two rates of a pair: 5 % above and 5 % below the base rate, each for a round trip. Then the base rate is
/// used until the results of both intervals are known.
#[test]
fn a_pair_is_five_per_cent_above_and_below() {
    let mut path = Path::learning();
    let mut rates = Vec::new();
    while rates.len() < 3 {
        let rate = path.vivace.pacing.unwrap().as_bps() as f64 / 1e6;
        if rates.last() != Some(&rate) {
            rates.push(rate);
        }
        path.ack();
    }
    rates[..2].sort_by(f64::total_cmp);
    for (found, expected) in rates.iter().zip([47.5, 52.5, 50.0]) {
        near(*found, expected);
    }
}

/// Checks four steps of the rate `x` on a path without losses and without a queue, where the utility is `x^0.9`. Each
/// step is the gradient of the utility times the confidence amplifier: 1, 2, 3 and 5.
#[test]
fn steps_on_an_empty_path_follow_the_gradient() {
    let mut path = Path::learning();
    let mut rate: f64 = 200.0;
    path.vivace.rate = rate;
    path.vivace.stage = Stage::Paused;
    path.ack();
    for amplifier in [1.0, 2.0, 3.0, 5.0] {
        let above = libm::pow(1.05 * rate, 0.9) - libm::pow(0.95 * rate, 0.9);
        rate += amplifier * above / (0.1 * rate);
        near(path.decision(), rate);
    }
}

fn decide(path: &mut Path, high: (f64, f64), low: (f64, f64)) -> f64 {
    let (rate, doubtful) = (
        path.vivace.rate,
        match path.vivace.stage {
            Stage::Learning { doubtful, .. } => doubtful,
            _ => None,
        },
    );
    path.vivace.intervals = [
        Interval::known(1.05 * rate, high.0, high.1),
        Interval::known(0.95 * rate, low.0, low.1),
    ];
    let ack = path.ack;
    path.vivace.decide_step(true, doubtful, &ack);
    path.vivace.rate - rate
}

/// Checks that the rate falls by the largest allowed steps (5, 11 and 17 %) if the faster intervals fill the queue.
#[test]
fn latency_lowers_the_rate_within_its_boundary() {
    let mut path = Path::learning();
    for bound in [0.05, 0.11, 0.17] {
        let rate = path.vivace.rate;
        near(decide(&mut path, (0.04, 0.0), (0.0, 0.0)), -bound * rate);
    }
}

/// Checks that a pair of intervals is measured again if the faster one lost less. The gradients of both pairs are
/// averaged if they agree (section 4.3).
#[test]
fn fewer_losses_at_the_higher_rate_are_measured_twice() {
    let mut path = Path::learning();
    assert_eq!(decide(&mut path, (0.0, 0.01), (0.0, 0.02)), 0.0);
    let once = |vivace: &Vivace, high: f64, low: f64| {
        let of = |rate, loss| vivace.utility(&Interval::known(rate, 0.0, loss));
        (of(52.5, high) - of(47.5, low)) / 5.0
    };
    let first = once(&path.vivace, 0.01, 0.02);
    let second = once(&path.vivace, 0.010, 0.012);
    let change = decide(&mut path, (0.0, 0.010), (0.0, 0.012));
    near(path.vivace.gradient, (first + second) / 2.0);
    near(change, path.vivace.gradient);
    assert_eq!(decide(&mut path, (0.0, 0.01), (0.0, 0.02)), 0.0);
    let rate = path.vivace.rate;
    let change = decide(&mut path, (0.0, 0.0), (0.0, 0.0));
    let above = libm::pow(1.05 * rate, 0.9) - libm::pow(0.95 * rate, 0.9);
    near(change, 2.0 * above / (0.1 * rate));
}

/// Checks that an interval limited by the application changes nothing, and that a timeout halves the rate.
#[test]
fn idle_applications_change_nothing_and_timeouts_halve() {
    let mut path = Path::learning();
    path.offered = 0.5;
    near(path.decision(), 50.0);
    let event = Timeout {
        now: Time::ZERO,
        base: 10.0,
        keep_ssthresh: false,
        sent: 0,
    };
    path.vivace.on_timeout(&event, &mut path.window);
    assert_eq!(path.window.cwnd(), 1.0);
    path.ack();
    near(path.vivace.rate, 25.0);
    assert!(matches!(path.vivace.stage, Stage::Learning { .. }));
}

#[test]
fn something_has_to_lower_the_rate() {
    let build = |latency: f64, loss: f64| {
        let given = [("latency".to_string(), latency), ("loss".to_string(), loss)];
        (ENTRY.build)(&ENTRY.settings(Variant::Paper, &given).unwrap())
    };
    assert!(build(0.0, 11.35).is_ok());
    assert!(build(900.0, 0.0).is_ok());
    let refused = build(0.0, 0.0).unwrap_err().to_string();
    assert!(refused.contains("found 0 for both"), "{refused}");
}
