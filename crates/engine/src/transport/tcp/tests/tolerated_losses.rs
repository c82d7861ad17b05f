//! Tests of algorithms that tolerate some losses: recovery continues with the unreduced window.

use longhaul_congestion::{Controller, ControllerSpec, Variant};

use super::{SenderBench, ms, tcp};
use crate::config::{AckCounting, Recovery, Tcp};

const RECOVERIES: [Recovery; 4] = [
    Recovery::Sack,
    Recovery::SackPrr,
    Recovery::RackTlp,
    Recovery::RackTlpPrr,
];

/// Returns CUBIC with tolerance of a smoothed loss rate up to 0.15. It tolerates two lost segments in a row, but not
/// three.
fn cubic() -> Controller {
    let spec = ControllerSpec {
        kind: "cubic".to_string(),
        variant: Variant::Picoquic,
        ..ControllerSpec::default()
    };
    spec.build().expect("a registered algorithm")
}

/// Sends forty segments from 100 ms on, and loses the first `lost`. The others are acknowledged one by one. Returns the
/// window and the segments sent after each acknowledgement.
fn lose(recovery: Recovery, lost: u64) -> (Vec<f64>, Vec<Vec<u64>>) {
    let config = Tcp {
        initial_window: 40.0,
        ack_counting: AckCounting::Delivered,
        ..tcp(recovery)
    };
    let mut bench = SenderBench::open(config, cubic());
    bench.sent();
    let first = 1 + lost;
    let mut windows = Vec::new();
    let mut sent = Vec::new();
    for above in first..40 {
        let at = 200 + above;
        bench.ack(at, 1, &[(first, above + 1)]);
        windows.push(bench.sender.sample(ms(at)).cwnd.unwrap());
        sent.push(bench.sent());
    }
    (windows, sent)
}

/// Checks that a single loss does not reduce the window. The lost segment is resent once, and slow start continues:
/// from the fifth acknowledgement on, each acknowledgement lets at least one segment leave.
#[test]
fn a_single_loss_changes_nothing() {
    for recovery in RECOVERIES {
        let (windows, sent) = lose(recovery, 1);
        assert!(windows.is_sorted(), "{recovery:?}: {windows:?}");
        assert!(windows.last() > Some(&70.0), "{recovery:?}: {windows:?}");
        let repeated = sent.iter().flatten().filter(|&&segment| segment == 1);
        assert_eq!(repeated.count(), 1, "{recovery:?}");
        let outpaced = sent[4..].iter().all(|sent| !sent.is_empty());
        assert!(outpaced, "{recovery:?}: {sent:?}");
    }
}

/// Checks that three losses reduce the window only once, at the third loss, to 49/64. This is 7/8 for the loss, times
/// 7/8 for fast convergence, which picoquic also applies to the first reduction of a connection.
#[test]
fn three_losses_in_a_row_reduce_the_window_once() {
    for recovery in RECOVERIES {
        let (windows, sent) = lose(recovery, 3);
        let falls: Vec<_> = windows
            .windows(2)
            .filter(|pair| pair[1] < pair[0])
            .collect();
        assert_eq!(falls.len(), 1, "{recovery:?}: {windows:?}");
        let kept = falls[0][1] / falls[0][0];
        assert!((0.74..0.78).contains(&kept), "{recovery:?}: {kept}");
        for lost in 1..=3 {
            let repeated = sent.iter().flatten().filter(|&&segment| segment == lost);
            assert_eq!(repeated.count(), 1, "{recovery:?}");
        }
    }
}
