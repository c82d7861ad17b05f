//! noq, the second stack.

use crate::{refusal, run, with};

fn of(congestion: &str) -> [String; 2] {
    let kind = r#"flows.0.stack.kind="noq""#.to_string();
    [kind, congestion.to_string()]
}

/// Checks that each controller of noq, and one of Longhaul's algorithms in noq, fills most of a path. Two runs have the
/// same results, unless the controller draws random numbers without a seed.
#[test]
fn its_controllers_fill_a_path() {
    for congestion in [
        r#"flows.0.stack.congestion="cubic""#,
        r#"flows.0.stack.congestion="newreno""#,
        r#"flows.0.stack.congestion="bbr3""#,
        r#"flows.0.congestion={ kind = "bbr3" }"#,
    ] {
        let [kind, congestion] = of(congestion);
        let scenario = with(&[&kind, &congestion, r#"measure.from="3 s""#]);
        let (totals, records) = run(&scenario);
        assert!(totals.run_warnings.is_empty(), "{:?}", totals.run_warnings);
        let share = totals.flows[0].window.delivered_bytes as f64 * 8.0 / 7.0 / 10e6;
        assert!((0.7..0.96).contains(&share), "{congestion}: {share}");
        let warnings = scenario.warnings();
        if warnings
            .iter()
            .any(|text| text.contains("results do not repeat"))
        {
            assert!(congestion.contains("stack.congestion=\"bbr3\""));
        } else {
            assert_eq!((totals, records), run(&scenario));
        }
    }
}

/// Losses are counted one by one, since noq reports each one to its controller.
#[test]
fn losses_are_counted() {
    let [kind, congestion] = of(r#"flows.0.stack.congestion="cubic""#);
    let (totals, _) = run(&with(&[&kind, &congestion]));
    let flow = &totals.flows[0].total;
    assert!(flow.dropped_pkts > 5);
    assert!(flow.retransmitted_pkts >= flow.dropped_pkts);
    assert!(flow.cuts_loss > 0);
}

#[test]
fn its_controllers_are_its_own() {
    let [kind, congestion] = of(r#"flows.0.stack.congestion="bbr""#);
    let message = refusal(&[&kind, &congestion]);
    assert!(message.contains("noq has no congestion control `bbr`; allowed: cubic, newreno, bbr3"));
}
