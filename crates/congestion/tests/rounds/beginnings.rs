//! Tests of flows that begin at other times than zero.

use std::collections::BTreeSet;

use longhaul_congestion::registry::algorithms;
use longhaul_congestion::{Cause, ControllerSpec, RateSample};
use longhaul_units::{Span, Time};

use crate::sender::Sender;
use crate::state::specs;

/// Algorithms whose random choices depend on the time at which a flow begins.
const DRAWN: [&str; 3] = ["bbr", "bbr3", "vivace"];
/// Returns the window, the pacing rate and the recorded state after each acknowledgement of a flow that begins at the
/// time `began`, with or without a handshake. The flow has a loss, a timeout and a second without data.
fn course(spec: &ControllerSpec, began: Time, handshake: bool) -> Vec<Vec<f64>> {
    let mut sender = Sender::new(spec, 20.0, 1e5).beginning_at(began);
    if handshake {
        sender.shake_hands(|_| {});
    }
    let mut step = |number: u64| {
        match number {
            60 => {
                sender.signal(Cause::Loss);
            }
            70 => sender.recover(),
            140 => sender.time_out(),
            170 => sender.idle(),
            _ => {}
        }
        sender.rtt = Span::from_millis(80 + 7 * (number % 13));
        let cwnd = sender.acknowledge(|ack| {
            ack.round_start = number.is_multiple_of(10);
            ack.one_way_delay = ack.rtt.map(|rtt| rtt / 2);
            ack.delivery_rate = Some(RateSample::new(20.0, Span::from_millis(100)));
        });
        let rate = sender.state.pacing_rate();
        let mut seen = vec![cwnd, rate.map_or(0.0, |rate| rate.as_bps() as f64)];
        let record = &mut |_, value: f64| seen.push(value);
        sender.state.probe(record);
        seen
    };
    (0..250).map(&mut step).collect()
}

/// Checks that the behaviour of a flow does not depend on its start time, except for rounding of times in seconds.
#[test]
fn the_time_of_the_beginning_does_not_matter() {
    let mut differing = BTreeSet::new();
    let others = algorithms()
        .iter()
        .filter(|entry| !DRAWN.contains(&entry.kind));
    for entry in others {
        for spec in specs(entry) {
            for handshake in [true, false] {
                let [first, later] = [Span::from_secs(1), Span::from_secs(4097)]
                    .map(|after| course(&spec, Time::ZERO + after, handshake));
                let near = |(one, other): (&f64, &f64)| {
                    (one - other).abs() <= 1e-6 * one.abs() || one.to_bits() == other.to_bits()
                };
                let mut pairs = first.iter().flatten().zip(later.iter().flatten());
                if !pairs.all(near) {
                    differing.insert((entry.kind, spec.variant.name(), handshake));
                }
            }
        }
    }
    assert_eq!(differing, BTreeSet::new());
}
