//! Tests of C4 on a path of 20 Mbit/s and 80 ms with a buffer of a bandwidth-delay product, 133 segments. This is the
//! test "alone" of draft-huitema-ccwg-c4-test, section 2.1.1.

use longhaul_congestion::Variant;
use longhaul_units::Span;

use crate::pipe::{Bottleneck, Pipe};
use crate::{controller, flow, slow_start};

const RATE: f64 = 20e6 / 12e3;
const RTT: Span = Span::from_millis(80);

fn pipe() -> Pipe {
    let spec = controller("c4", Variant::Paper, &[]);
    let state = flow(&spec, slow_start("standard", None), 10.0, 100_000.0).state;
    let path = Bottleneck {
        buffer: 133.0,
        ..Bottleneck::endless(RATE, RTT)
    };
    Pipe::single(path, state)
}

fn probe(pipe: &Pipe, name: &str) -> f64 {
    let mut found = f64::NAN;
    pipe.senders[0].state.probe(&mut |each, value| {
        if each == name {
            found = value;
        }
    });
    found
}

/// Checks that C4 finds the rate of the path within a second. The nominal maximum round-trip time first includes a full
/// queue. It then falls by an eighth in each era of Recovery and Cruising, until a short queue remains.
#[test]
fn it_fills_the_pipe_and_keeps_the_queue_short() {
    let mut pipe = pipe();
    pipe.run(1.0);
    let rate = probe(&pipe, "nominal_segments_per_s");
    assert!((rate / RATE - 1.0).abs() < 0.01, "{rate}");
    let early = pipe.run(1.0)[0];
    let late = pipe.run(4.0)[0];
    assert_eq!(late.lost, 0);
    assert!(late.rate > 0.995 * RATE, "{late:?}");
    assert!(
        late.mean_queue < early.mean_queue && late.mean_queue < 20.0,
        "{early:?} {late:?}"
    );
    let max_rtt_s = probe(&pipe, "nominal_max_rtt_s");
    assert!((0.085..0.095).contains(&max_rtt_s), "{max_rtt_s}");
}
