//! Tests of Sync-TCP with the examples and tables of Weigle's dissertation (UNC 2003), chapter 3.

use longhaul_congestion::rounds::{Flow, Loss, Path};
use longhaul_congestion::{
    Cause, CongestionState, ControllerSpec, Rounding, SlowStart, Variant, Window,
};
use longhaul_units::Span;

use crate::controller;
use crate::sender::{Sender, assert_near};

/// Returns the configuration of generic Sync-TCP with the named detector and the named reaction.
fn sync(detector: &str, reaction: &str) -> ControllerSpec {
    let settings = controller("sync", Variant::Paper, &[]).settings().unwrap();
    let value = |name: &str, choice: &str| {
        let mut parameters = settings.values();
        let found = parameters.find(|(parameter, _)| parameter.name == name);
        found.unwrap().0.allowed.value_of(choice).unwrap()
    };
    let given = [
        ("detector", value("detector", detector)),
        ("reaction", value("reaction", reaction)),
    ];
    controller("sync", Variant::Paper, &given)
}

/// Sends an acknowledgement that reports a transit time; returns the window after it.
fn report(sender: &mut Sender, transit: Span) -> f64 {
    sender.acknowledge(|ack| ack.one_way_delay = Some(transit))
}

/// Sends an acknowledgement with a transit time of 100 ms plus a queueing delay of `ms` milliseconds. Returns the new
/// window.
fn queued(sender: &mut Sender, ms: u64) -> f64 {
    report(sender, Span::from_millis(100 + ms))
}

#[track_caller]
fn assert_probe(sender: &Sender, name: &str, expected: f64) {
    assert_near(sender.probe(name).unwrap(), expected);
}

/// Checks that Sync-TCP(MixReact) ends slow start at the ninth acknowledgement that reports a transit time. At this
/// acknowledgement, it adjusts the window for the first time.
#[test]
fn mixreact_ends_slow_start_at_the_ninth_report() {
    let mut sender = Sender::new(&controller("sync-mixreact", Variant::Paper, &[]), 2.0, 1e6);
    let slow_start: Vec<f64> = (0..8).map(|_| queued(&mut sender, 0)).collect();
    assert_eq!(slow_start, [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
    // Without any queue, the ninth report shows no trend.
    assert_near(queued(&mut sender, 0), 10.1);
    let keep = controller("sync-mixreact", Variant::Paper, &[("tie", 1.0)]);
    let mut sender = Sender::new(&keep, 2.0, 1e6);
    assert_eq!((0..9).map(|_| queued(&mut sender, 0)).last(), Some(11.0));
}

/// Checks that congestion avoidance is that of standard TCP before the first loss. The windows are 2, 2.5, 2.9 and
/// 3.245 segments, whatever the delays are.
#[test]
fn pcwnd_is_standard_tcp_before_the_first_loss() {
    let mut sender = Sender::new(&controller("sync-pcwnd", Variant::Paper, &[]), 2.0, 2.0);
    for (ms, expected) in [(0, 2.5), (90, 2.9), (90, 2.9 + 1.0 / 2.9)] {
        assert_near(queued(&mut sender, ms), expected);
    }
}

/// Checks that a longer transit time is a queueing delay: transit times of 1 s and then 2 s give a delay of 1 s.
#[test]
fn a_longer_transit_is_a_queueing_delay() {
    let mut sender = Sender::new(&sync("pqlen", "none"), 2.0, 2.0);
    report(&mut sender, Span::from_secs(1));
    assert_probe(&sender, "queueing_delay", 0.0);
    report(&mut sender, Span::from_secs(2));
    assert_probe(&sender, "queueing_delay", 1.0);
    assert_probe(&sender, "largest_queueing_delay", 1.0);
}

/// Checks the averages of SyncMix, with the weights of table 3.1, for delays of 0, 10, ... 80 ms after a loss. Checks
/// also that MixReact then reduces the window by a quarter, since the average rises and has reached 54.9 % of 80 ms.
#[test]
fn mix_averages_and_cuts_as_worked_out() {
    let mut sender = Sender::new(&sync("mix", "mixreact"), 20.0, 2.0);
    sender.signal(Cause::Loss);
    let averages = [
        0.0,
        10.0,
        17.5,
        23.75,
        27.8125,
        30.5859375,
        34.2626953125,
        38.7298583984375,
        43.88862609863281,
    ];
    let mut window = 10.0;
    for (number, average) in averages.into_iter().enumerate() {
        let found = queued(&mut sender, 10 * number as u64);
        assert_probe(&sender, "average_queueing_delay", average / 1e3);
        window = if number < 8 {
            window + 1.0 / window
        } else {
            0.75 * window
        };
        assert_near(found, window);
    }
    assert_probe(&sender, "level", averages[8] / 80.0);
    assert_probe(&sender, "trend", 1.0);
    // Congestion avoidance continues until the next adjustment; the threshold does not change.
    assert_near(queued(&mut sender, 80), window + 1.0 / window);
    assert_eq!(sender.state.window.ssthresh(), 10.0);
}

/// Checks that MixReact grows the window faster while the average queueing delay falls: first by a tenth of the window
/// per round trip, then by a quarter, and then by a half.
#[test]
fn mixreact_grows_as_the_queue_drains() {
    let mut sender = Sender::new(&sync("mix", "mixreact"), 80.0, 2.0);
    sender.signal(Cause::Loss);
    for ms in [0, 80, 80, 80, 80, 80, 80, 80] {
        queued(&mut sender, ms);
    }
    let before = sender.cwnd();
    // The medians are 80, 80 and 80 ms and the average is 70 ms. There is no trend, so that congestion avoidance
    // continues.
    assert_near(queued(&mut sender, 0), before + 1.0 / before);
    // The averages of 61.25, 53.6 and 46.9 ms fall; 46.9 ms are 58.6 % of 80 ms.
    queued(&mut sender, 0);
    queued(&mut sender, 0);
    let before = sender.cwnd();
    assert_near(queued(&mut sender, 0), before + 0.1);
    assert_probe(&sender, "average_queueing_delay", 0.08 * 0.875_f64.powi(4));
    // The growth per round trip is computed from the window at the adjustment.
    let rate = before / 10.0;
    let grown = sender.cwnd();
    assert_near(queued(&mut sender, 0), grown + rate / grown);
    queued(&mut sender, 0);
    // 31.4 ms are 39.3 % of 80 ms, so that the window grows by a quarter per round trip.
    let before = sender.cwnd();
    assert_near(queued(&mut sender, 0), before + 0.25);
    for _ in 0..5 {
        queued(&mut sender, 0);
    }
    // The average is 14.1 ms, after 21.0 ms (26.3 % of 80 ms), so that the window grows by a half per round trip.
    let before = sender.cwnd();
    assert_probe(&sender, "level", 0.875_f64.powi(10));
    assert_near(queued(&mut sender, 0), before + 0.5);
}

/// Checks that SyncMix reduces the window even at queueing delays below 10 ms: by a tenth before the first loss, and by
/// a quarter after it.
#[test]
fn mix_compares_small_delays_with_each_other() {
    let delays = [0, 1, 2, 3, 4, 5, 6, 6, 8];
    // Before the first loss, the level of congestion is the growth of the delay from 6 to 8 ms: a third. After a loss,
    // it is the average delay divided by the largest one: 4.3 ms divided by 8 ms.
    for (lossy, kept) in [(false, 0.9), (true, 0.75)] {
        let mut sender = Sender::new(&sync("mix", "mixreact"), 40.0, 2.0);
        if lossy {
            sender.signal(Cause::Loss);
        }
        let windows: Vec<f64> = delays
            .into_iter()
            .map(|ms| queued(&mut sender, ms))
            .collect();
        assert_near(windows[8], kept * windows[7]);
    }
}

/// Checks that the average and the trend of the delay start anew after a timeout. Slow start then continues until nine
/// new samples determine a trend.
#[test]
fn mix_starts_anew_after_a_timeout() {
    let mut sender = Sender::new(&sync("mix", "mixreact"), 40.0, 2.0);
    for number in 0..12 {
        queued(&mut sender, 5 * number);
    }
    sender.time_out();
    assert_eq!(sender.cwnd(), 1.0);
    queued(&mut sender, 20);
    assert_probe(&sender, "average_queueing_delay", 0.02);
    let windows: Vec<f64> = (0..7).map(|_| queued(&mut sender, 20)).collect();
    assert_eq!(windows, [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    assert_near(queued(&mut sender, 20), 9.0 + 1.0 / 9.0);
}

/// Checks that SyncPcwnd halves the window at most once per round trip. After a loss, it halves the window in every
/// round trip in which the queueing delay is above half of its maximum. Between two reductions, the window grows or
/// remains unchanged, as `after_cut` says.
#[test]
fn pcwnd_cuts_once_a_round_trip() {
    for (after_cut, grows) in [(0.0, 1.0), (1.0, 0.0)] {
        let pcwnd = controller("sync-pcwnd", Variant::Paper, &[("after_cut", after_cut)]);
        let mut sender = Sender::new(&pcwnd, 16.0, 2.0);
        queued(&mut sender, 0);
        queued(&mut sender, 80);
        sender.signal(Cause::Loss);
        let lossy = sender.cwnd();
        assert_near(queued(&mut sender, 40), lossy + 1.0 / lossy);
        let in_flight = sender.cwnd() as u64 - 1;
        let mut window = sender.cwnd() / 2.0;
        assert_near(queued(&mut sender, 41), window);
        assert_eq!(sender.state.window.ssthresh(), window);
        for _ in 0..in_flight {
            window += grows / window;
            assert_near(queued(&mut sender, 60), window);
        }
        assert_near(queued(&mut sender, 60), window / 2.0);
        let grown = queued(&mut sender, 0);
        assert_near(grown, window / 2.0 + 2.0 / window);
        assert_probe(&sender, "early_cuts", 2.0);
    }
}

/// Checks that a reduction that is due at a duplicate acknowledgement waits for the next acknowledgement that may
/// change the window. A loss in between cancels the reduction.
#[test]
fn a_cut_waits_out_duplicates() {
    for lossy in [false, true] {
        let mut sender = Sender::new(&sync("pminott", "pcwnd"), 16.0, 2.0);
        queued(&mut sender, 0);
        let before = sender.cwnd();
        sender.duplicate(|ack| ack.one_way_delay = Some(Span::from_millis(160)));
        assert_eq!(sender.cwnd(), before);
        if lossy {
            sender.signal(Cause::Loss);
            assert_near(queued(&mut sender, 10), before / 2.0 + 2.0 / before);
        } else {
            assert_near(queued(&mut sender, 10), before / 2.0);
        }
    }
}

/// Checks that the threshold of SyncPQlen is half of the largest queueing delay so far. A queueing delay is a transit
/// time minus the smallest one, so a new smallest transit time raises the largest delay.
#[test]
fn the_threshold_of_pqlen_follows_the_largest_delay() {
    let mut sender = Sender::new(&sync("pqlen", "none"), 16.0, 2.0);
    report(&mut sender, Span::from_millis(100));
    report(&mut sender, Span::from_millis(140));
    assert_eq!(sender.probe("congested"), None);
    sender.signal(Cause::Loss);
    report(&mut sender, Span::from_millis(121));
    assert_probe(&sender, "congested", 1.0);
    report(&mut sender, Span::from_millis(60));
    assert_probe(&sender, "largest_queueing_delay", 0.08);
    report(&mut sender, Span::from_millis(100));
    assert_probe(&sender, "congested", 0.0);
    report(&mut sender, Span::from_millis(101));
    assert_probe(&sender, "congested", 1.0);
}

/// Checks that the threshold of SyncPMinOTT is half of the smallest transit time (chapter 3).
#[test]
fn pminott_has_half_the_smallest_transit_as_threshold() {
    for (min_us, threshold_us) in [(80_000, 40_000), (20_000, 10_000), (35_000, 17_500)] {
        let mut sender = Sender::new(&sync("pminott", "none"), 16.0, 2.0);
        report(&mut sender, Span::from_micros(min_us));
        assert_probe(&sender, "congested", 0.0);
        report(&mut sender, Span::from_micros(min_us + threshold_us));
        assert_probe(&sender, "congested", 0.0);
        report(&mut sender, Span::from_micros(min_us + threshold_us + 1));
        assert_probe(&sender, "congested", 1.0);
    }
}

/// Checks that SyncAvg detects congestion when the average delay exceeds 30 ms: after three reports of a delay of 100
/// ms.
#[test]
fn avg_lags_behind_the_delay() {
    let mut sender = Sender::new(&sync("avg", "none"), 16.0, 2.0);
    queued(&mut sender, 0);
    // After k reports, the average is `100 (1 - (7/8)^k)` ms.
    for (reports, congested) in [(1, 0.0), (2, 0.0), (3, 1.0)] {
        queued(&mut sender, 100);
        assert_probe(
            &sender,
            "average_queueing_delay",
            0.1 * (1.0 - 0.875_f64.powi(reports)),
        );
        assert_probe(&sender, "congested", congested);
    }
}

/// Checks the trend that SyncTrend finds in three medians: the difference of the last and the first median, divided by
/// the sum of the absolute steps between them. Medians of 2, 12 and 9 ms increase (7/13), and medians of 12, 9 and 5 ms
/// decrease (-1). Medians of 9, 5 and 8 ms have no trend (-1/7).
#[test]
fn trend_takes_the_medians_of_nine_reports() {
    let mut sender = Sender::new(&sync("trend", "none"), 16.0, 2.0);
    let mut report_all = |delays: &[u64]| {
        for &ms in delays {
            queued(&mut sender, ms);
        }
        sender.probe("trend")
    };
    assert_eq!(report_all(&[0, 2, 5, 12, 50, 11, 9, 9]), None);
    assert_eq!(report_all(&[1]), Some(1.0));
    assert_eq!(report_all(&[5, 5]), Some(1.0));
    assert_eq!(report_all(&[70]), Some(-1.0));
    assert_eq!(report_all(&[8, 8, 0]), Some(0.0));
}

/// Checks that rising delays reduce the window by more than 5 % with any detector and any reaction.
#[test]
fn any_detector_goes_with_any_reaction() {
    for detector in ["pqlen", "pminott", "trend", "avg", "mix"] {
        for reaction in ["pcwnd", "mixreact"] {
            let mut sender = Sender::new(&sync(detector, reaction), 100.0, 2.0);
            queued(&mut sender, 0);
            sender.signal(Cause::Loss);
            let start = sender.cwnd();
            let least = (1..12)
                .map(|step| queued(&mut sender, 20 * step))
                .fold(start, f64::min);
            assert!(least < 0.95 * start, "{detector}, {reaction}: {least}");
        }
    }
}

/// A detector without a reaction does not change the window.
#[test]
fn watching_changes_nothing() {
    let path = Path {
        rate: Some(500.0),
        loss: Loss::Random { p: 1e-3, seed: 7 },
        timeouts: vec![60, 150],
        ..Path::clean(Span::from_millis(100))
    };
    let windows = |spec: &ControllerSpec| {
        let window = Window::new(2.0, 1e3, 1e6, Rounding::Real);
        let state = CongestionState::new(window, SlowStart::Standard, spec.build().unwrap());
        Flow::new(state).run(&path, 300)
    };
    let standard = windows(&controller("reno", Variant::Paper, &[]));
    for detector in ["pqlen", "pminott", "trend", "avg", "mix"] {
        assert_eq!(windows(&sync(detector, "none")), standard, "{detector}");
    }
    assert_ne!(windows(&sync("pqlen", "pcwnd")), standard);
}
