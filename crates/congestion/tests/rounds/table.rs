//! Tests that compare the table-driven algorithm with the algorithms that its tables represent.

use longhaul_congestion::rounds::{Loss, Path, Round, mean_window};
use longhaul_congestion::{ControllerSpec, Point, Variant};
use longhaul_units::Span;

use crate::{controller, flow, slow_start};

fn table(increase: &[Point], decrease: &[Point]) -> ControllerSpec {
    let function = |name: &str, points: &[Point]| (name.to_string(), points.to_vec());
    ControllerSpec {
        functions: vec![
            function("increase", increase),
            function("decrease", decrease),
        ],
        ..controller("table", Variant::Paper, &[])
    }
}

/// Returns the rounds of a flow that starts in slow start and has a loss every `segments_per_loss` segments.
fn rounds(spec: &ControllerSpec, segments_per_loss: u64) -> Vec<Round> {
    let mut flow = flow(spec, slow_start("standard", None), 10.0, 1e6);
    let path = Path {
        loss: Loss::Every(segments_per_loss),
        ..Path::clean(Span::from_millis(100))
    };
    flow.run(&path, 400)
}

#[test]
fn constants_give_aimd_to_the_bit() {
    let aimd = [("increase", 2.0), ("decrease", 0.25)];
    let expected = rounds(&controller("reno", Variant::Paper, &aimd), 5000);
    assert!(expected.iter().filter(|round| round.congestion).count() > 10);
    assert_eq!(
        rounds(&table(&[(1.0, 2.0)], &[(1.0, 0.25)]), 5000),
        expected
    );
    // A single number gives a constant function; a function that is not given is that of standard TCP.
    let numbers = controller("table", Variant::Paper, &aimd);
    assert_eq!(rounds(&numbers, 5000), expected);
    let standard = rounds(&controller("reno", Variant::Paper, &[]), 5000);
    assert_eq!(
        rounds(&controller("table", Variant::Paper, &[]), 5000),
        standard
    );
}

/// Checks that the table of RFC 3649 appendix B (windows and decreases) gives HighSpeed TCP's increase and decrease.
#[test]
fn the_table_of_the_rfc_gives_highspeed_tcp() {
    let windows = [
        38.0, 118.0, 221.0, 347.0, 495.0, 663.0, 851.0, 1058.0, 1284.0, 1529.0,
    ];
    let decreases = [0.50, 0.44, 0.41, 0.38, 0.37, 0.35, 0.34, 0.33, 0.32, 0.31];
    let increase: Vec<Point> = windows.into_iter().zip((1..).map(f64::from)).collect();
    let decrease: Vec<Point> = windows.into_iter().zip(decreases).collect();
    let rounded = [("low_p", 9.91641e-4), ("high_p", 9.75441e-8)];
    let trajectory = |spec: &ControllerSpec| {
        let mut flow = flow(spec, slow_start("standard", None), 800.0, 2.0);
        let path = Path {
            loss: Loss::Every(40_000),
            ..Path::clean(Span::from_millis(100))
        };
        flow.run(&path, 400)
    };
    let expected = trajectory(&controller("hstcp", Variant::Paper, &rounded));
    let found = trajectory(&table(&increase, &decrease));
    // The decreases in the table have two digits.
    let ratio = mean_window(&found) / mean_window(&expected);
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
    let cuts = |rounds: &[Round]| rounds.iter().filter(|round| round.congestion).count();
    assert!(
        cuts(&found).abs_diff(cuts(&expected)) <= 1 && cuts(&found) >= 7,
        "{} cuts, {} expected",
        cuts(&found),
        cuts(&expected)
    );
}
