//! Tests of RED against the published curves, closed forms and ns-2.35's numbers.

use longhaul_keys::{Field, Profile, Value};
use longhaul_units::{Bytes, Quantity, Rate};

use super::*;

const LINK: (Rate, Span) = (Rate::from_bps(100_000_000), Span::from_millis(250));
const MEAN: u64 = 500;

/// Returns RED in front of a link, with `values` and otherwise the recommended values (profile `rfc`).
pub(super) fn config<const N: usize>(
    rate: Rate,
    delay: Span,
    values: [(&'static str, Value); N],
) -> RedConfig {
    let limit = Value::Quantity(Quantity::Packets(1e6));
    let defaults = Table::defaults(RedConfig::KEYS, Profile::Rfc).with(RedConfig::limit, limit);
    let given = values.into_iter();
    let mut values = given.fold(defaults, |values, (key, value)| {
        values.with(Field::<()>::new(key), value)
    });
    let link = LinkContext::new(rate, delay, Bytes(1500));
    <RedConfig as Parameters>::complete(&mut values, &link).expect("sound values");
    RedConfig::complete(&values, rate)
}

/// Returns parameters with thresholds of 62.5 and 187.5 packets. With a weight of 1, the average is the number of
/// waiting packets.
pub(super) fn parameters() -> RedConfig {
    let mean = Value::Quantity(Quantity::Bytes(Bytes(MEAN)));
    let weight = ("weight", Value::Number(1.0));
    config(LINK.0, LINK.1, [("mean_packet", mean), weight])
}

/// Returns Adaptive RED's default parameters, without a lower bound.
pub(super) fn adaptation(rule: Rule) -> Adaptation {
    Adaptation {
        rule,
        interval: Span::from_millis(500),
        alpha: 0.01,
        beta: 0.9,
        top: 0.5,
        bottom: None,
    }
}

fn red(parameters: RedConfig) -> Red {
    Red::new(parameters, Stream::new(1, 0, "red"))
}

/// Returns the arrival of a packet of mean size that finds `waiting` others.
fn arrival(waiting: u64) -> Arrival {
    Arrival {
        now: Time::ZERO,
        bytes: MEAN as u32,
        ecn_capable: true,
        low_priority: false,
        waiting_pkts: waiting,
        waiting_bytes: waiting * MEAN,
        idle_since: None,
    }
}

/// Returns `selections` distances, in packets, between packets that RED drops or marks at a queue of `waiting` packets.
fn gaps(red: &mut Red, waiting: u64, selections: usize) -> Vec<u64> {
    let mut gaps = vec![];
    let mut gap = 0;
    while gaps.len() <= selections {
        gap += 1;
        if red.decide(&arrival(waiting)) != Verdict::Accept {
            gaps.push(std::mem::take(&mut gap));
        }
    }
    // The first gap begins when the average crosses the threshold, not with a selected packet.
    gaps.split_off(1)
}

#[test]
fn drop_curve_of_the_split_connection_study() {
    // ns-2.35's automatic configuration for 100 Mbit/s and packets of 500 bytes gives a probability of zero up to 62.5
    // packets, of 0.1 at 187.5 packets and, with gentle, of 1 at 375 packets.
    let curve = |gentle| {
        red(RedConfig {
            gentle,
            ..parameters()
        })
        .curve
    };
    for (average, expected) in [
        (62.5, 0.0),
        (125.0, 0.05),
        (187.5, 0.1),
        (281.25, 0.55),
        (375.0, 1.0),
    ] {
        let probability = curve(Gentle::On).probability(average);
        assert!(
            (probability - expected).abs() < 1e-12,
            "{probability} at {average}"
        );
    }
    assert_eq!(curve(Gentle::On).probability(1000.0), 1.0);
    assert!((curve(Gentle::Off).probability(187.49) - 0.1).abs() < 1e-4);
    assert_eq!(curve(Gentle::Off).probability(187.5), 1.0);
    // The time series contains the probability for the average, which is zero below the lower threshold.
    let mut red = red(parameters());
    for (waiting, expected) in [(0, 0.0), (50, 0.0), (125, 0.05), (175, 0.09), (400, 1.0)] {
        red.decide(&arrival(waiting));
        assert!((red.drop_p() - expected).abs() < 1e-12, "{}", red.drop_p());
    }
}

/// Checks that RED with equal thresholds and without averaging marks each packet that finds a queue between threshold
/// and limit, as DCTCP needs (RFC 8257 section 3.1). The first such packet is not marked, as in ns-2.
#[test]
fn one_threshold_without_an_average_marks_up_to_the_limit() {
    let packets = |packets| Value::Quantity(Quantity::Packets(packets));
    let verdicts = |mark_p: Value| {
        let mean = Value::Quantity(Quantity::Bytes(Bytes(MEAN)));
        let values = [
            ("limit", packets(100.0)),
            ("min_th", packets(65.0)),
            ("max_th", packets(65.0)),
            ("weight", Value::Number(1.0)),
            ("gentle", Value::Flag(false)),
            ("ecn", Value::Flag(true)),
            ("mean_packet", mean),
            ("mark_p", mark_p),
        ];
        let mut red = red(config(LINK.0, LINK.1, values));
        (0..102)
            .map(|waiting| red.decide(&arrival(waiting)))
            .collect::<Vec<_>>()
    };
    let marked = verdicts(Value::Number(1.0));
    assert!(
        marked[..=65].iter().all(|one| *one == Verdict::Accept),
        "{marked:?}"
    );
    assert!(
        marked[66..100]
            .iter()
            .all(|one| *one == Verdict::AcceptMarked),
        "{marked:?}"
    );
    assert_eq!(marked[100..], [Verdict::Drop(DropReason::Overflow); 2]);
    // The probability in the time series also jumps at the thresholds.
    let values = [
        ("min_th", packets(65.0)),
        ("max_th", packets(65.0)),
        ("weight", Value::Number(1.0)),
        ("gentle", Value::Flag(false)),
    ];
    let mut shown = red(config(LINK.0, LINK.1, values));
    for (waiting, expected) in [(64, 0.0), (65, 1.0)] {
        shown.decide(&arrival(waiting));
        assert_eq!(shown.drop_p(), expected);
    }
    // With other values of the setting, an average above the upper threshold forces drops, as in the RED paper.
    let forced = verdicts(Value::Text("always".to_string()));
    assert!(
        forced[65..100]
            .iter()
            .all(|one| *one == Verdict::Drop(DropReason::Forced))
    );
}

#[test]
fn the_gentle_line_follows_max_p_unless_frozen() {
    // 1.5 times the upper threshold is half way between the thresholds at which the probability is max_p and 1.
    for (gentle, expected) in [(Gentle::On, 0.6), (Gentle::Frozen, 0.55)] {
        let mut curve = red(RedConfig {
            gentle,
            ..parameters()
        })
        .curve;
        curve.set_max_p(0.2);
        assert!((curve.probability(281.25) - expected).abs() < 1e-12);
        assert!((curve.probability(125.0) - 0.1).abs() < 1e-12);
    }
}

/// Returns the chi-squared statistic of `gaps` against the uniform distribution on `low..=high`.
fn chi_squared_uniform(gaps: &[u64], low: u64, high: u64) -> f64 {
    let mut counts = vec![0_u32; (high - low + 1) as usize];
    for gap in gaps {
        assert!((low..=high).contains(gap), "gap {gap}");
        counts[(gap - low) as usize] += 1;
    }
    let expected = gaps.len() as f64 / counts.len() as f64;
    counts
        .iter()
        .map(|&n| (f64::from(n) - expected).powi(2) / expected)
        .sum()
}

#[test]
fn gaps_between_marks_are_uniform() {
    // At 125 packets, the probability is 0.05. With `wait`, gaps are from 20 to 39 packets, otherwise from 1 to 19
    // packets (RED paper, section 4; ns-2.35). The 99.9 % quantiles of chi-squared are 43.8 with 19 degrees of freedom
    // and 42.3 with 18.
    let spaced = gaps(&mut red(parameters()), 125, 20_000);
    assert!(chi_squared_uniform(&spaced, 20, 39) < 43.8);
    let plain = gaps(
        &mut red(RedConfig {
            wait: false,
            ..parameters()
        }),
        125,
        20_000,
    );
    assert!(chi_squared_uniform(&plain, 1, 19) < 42.3);
}

#[test]
fn small_packets_are_selected_less_often_when_size_counts() {
    // Gaps are counted in mean packets: gaps of 20 to 39 mean packets are four times as many packets of 125 bytes.
    let parameters = RedConfig {
        scale_by_size: true,
        ..parameters()
    };
    let mut red = red(parameters);
    let mut selected = 0.0;
    let arrivals = 400_000;
    for _ in 0..arrivals {
        if red.decide(&Arrival {
            bytes: 125,
            ..arrival(125)
        }) != Verdict::Accept
        {
            selected += 1.0;
        }
    }
    let gap_in_mean_pkts = f64::from(arrivals) / selected / 4.0;
    // The gap is from 1/p to 2/p mean packets.
    assert!(
        (20.0..=40.0).contains(&gap_in_mean_pkts),
        "{gap_in_mean_pkts}"
    );
}

#[test]
fn the_marking_rule_decides_between_mark_and_drop() {
    let verdicts = |ecn, marking, waiting, ecn_capable| {
        let mut red = red(RedConfig {
            ecn,
            marking,
            ..parameters()
        });
        let mut seen = vec![];
        for _ in 0..1000 {
            let verdict = red.decide(&Arrival {
                ecn_capable,
                ..arrival(waiting)
            });
            if verdict != Verdict::Accept && !seen.contains(&verdict) {
                seen.push(verdict);
            }
        }
        seen
    };
    let early = Verdict::Drop(DropReason::Early);
    let forced = Verdict::Drop(DropReason::Forced);
    // The averages are below the upper threshold, on the gentle line, and above this line.
    let mark_p = Marking::UpTo(0.1);
    assert_eq!(verdicts(true, mark_p, 125, true), [Verdict::AcceptMarked]);
    assert_eq!(verdicts(true, mark_p, 200, true), [early]);
    assert_eq!(verdicts(true, mark_p, 400, true), [forced]);
    let always = Marking::Always;
    assert_eq!(verdicts(true, always, 200, true), [Verdict::AcceptMarked]);
    assert_eq!(verdicts(true, always, 375, true), [forced]);
    assert_eq!(verdicts(true, always, 125, false), [early]);
    assert_eq!(verdicts(false, always, 125, true), [early]);
    // The upper threshold is at 187.5 packets.
    let below = Marking::BelowMaxTh;
    assert_eq!(verdicts(true, below, 187, true), [Verdict::AcceptMarked]);
    assert_eq!(verdicts(true, below, 188, true), [early]);
    assert_eq!(verdicts(true, below, 375, true), [forced]);
}

#[test]
fn the_first_packet_above_the_threshold_and_a_short_queue_are_safe() {
    // If the probability were 1 for any average, all other packets would be dropped.
    let parameters = RedConfig {
        min_th_pkts: 0.5,
        max_th_pkts: 0.5,
        gentle: Gentle::Off,
        marking: Marking::UpTo(0.1),
        ..parameters()
    };
    let mut red = red(parameters);
    assert_eq!(red.decide(&arrival(1)), Verdict::Accept);
    assert_eq!(red.decide(&arrival(2)), Verdict::Accept);
    assert_eq!(red.decide(&arrival(2)), Verdict::Drop(DropReason::Forced));
    assert_eq!(red.decide(&arrival(1)), Verdict::Accept);
    assert_eq!(red.decide(&arrival(2)), Verdict::Accept);
}

#[test]
fn max_p_rests_one_step_beyond_its_floor() {
    // ns-2.35 compares max_p with the lower bound before the step, so that max_p falls from 0.1 to 0.1 * 0.9^66 =
    // 9.55e-5 with a lower bound of 1e-4, after 33 s. With a lower bound of 8e-5, max_p stays at 7.73554e-5.
    for (floor, rest, steps) in [(1e-4, 9.55005e-5, 66.0), (8e-5, 7.73554e-5, 68.0)] {
        let adaptive = Adaptive(Some(Adaptation {
            bottom: Some(floor),
            ..adaptation(Rule::Adaptive)
        }));
        let mut red = red(RedConfig {
            adaptive,
            ..parameters()
        });
        let mut last_change = 0.0;
        for ms in 0..60_000 {
            let before = red.max_p();
            red.decide(&Arrival {
                now: Time::ZERO + Span::from_millis(ms),
                ..arrival(0)
            });
            if red.max_p() != before {
                last_change = ms as f64 / 1e3;
            }
        }
        assert!((red.max_p() / rest - 1.0).abs() < 1e-5, "{}", red.max_p());
        // The interval begins with the last change. max_p changes when it is exceeded, here by one arrival, which is 1
        // ms.
        assert!((last_change - steps * 0.501).abs() < 1e-9, "{last_change}");
    }
}

/// Adaptive RED, section 5: `max_p` changes only outside the average's target range, and within its own bounds. Tested
/// at and near these limits.
#[test]
fn steps_are_taken_beyond_the_target_and_within_the_bounds() {
    let adaptation = Adaptation {
        bottom: Some(0.125),
        ..adaptation(Rule::Adaptive)
    };
    for (average, max_p, expected) in [
        (9.0, 0.25, Some(0.25 * 0.9)),
        (10.0, 0.25, None),
        (20.0, 0.25, None),
        (21.0, 0.25, Some(0.26)),
        (9.0, 0.125, None),
        (9.0, f64::next_up(0.125), Some(f64::next_up(0.125) * 0.9)),
        (21.0, 0.5, None),
        (21.0, f64::next_down(0.5), Some(f64::next_down(0.5) + 0.01)),
        // The increase is a quarter of max_p if this is less than alpha.
        (21.0, 0.02, Some(0.025)),
    ] {
        assert_eq!(
            adaptation.step(average, (10.0, 20.0), max_p),
            expected,
            "{average} {max_p}"
        );
    }
}

#[test]
fn max_p_rises_by_a_quarter_at_most() {
    let adaptive = Adaptive(Some(adaptation(Rule::Adaptive)));
    let mut red = red(RedConfig {
        adaptive,
        max_p: 0.02,
        ..parameters()
    });
    let mut sequence = vec![];
    for step in 1..=60 {
        red.decide(&Arrival {
            now: Time::ZERO + Span::from_millis(501 * step),
            ..arrival(150)
        });
        sequence.push(red.max_p());
    }
    // max_p is 0.02, 0.025, 0.03125 and 0.0390625, and then grows in steps of 0.01 (Adaptive RED, section 5) up to 0.5.
    for (value, expected) in
        sequence
            .iter()
            .zip([0.025, 0.03125, 0.0390625, 0.048828125, 0.058828125])
    {
        assert!((value - expected).abs() < 1e-12);
    }
    let last = sequence[59];
    assert!((0.5..0.51).contains(&last), "{last}");
}

/// Returns `max_p` after each of several arrivals, 501 ms apart. They find queues of `lengths` packets. The target
/// range of the average is 112.5 to 137.5 packets.
fn adapted(rule: Rule, lengths: &[u64]) -> Vec<f64> {
    let adaptive = Adaptive(Some(adaptation(rule)));
    let mut red = red(RedConfig {
        adaptive,
        ..parameters()
    });
    let arrivals = lengths.iter().zip(0..).map(|(&waiting, number)| {
        red.decide(&Arrival {
            now: Time::ZERO + Span::from_millis(250 + 501 * number),
            ..arrival(waiting)
        });
        red.max_p()
    });
    arrivals.collect()
}

fn assert_sequence(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() < 1e-12,
            "{found} is not {expected}"
        );
    }
}

/// Compares `max_p` of gentle Adaptive RED with values computed by hand (thesis, Osaka University, 2006, chapter 3). An
/// adaptation interval ends between any two arrivals.
#[test]
fn gentle_adaptation_follows_an_average_that_moves_away() {
    // `max_p` grows while the average rises above the target, but not while the average returns to the target. It falls
    // while the average falls below the target, but not while it returns or is below the lower threshold of 62.5.
    let lengths = [150, 160, 155, 150, 130, 100, 90, 95, 80, 60, 70, 65];
    let expected = [
        0.1, 0.11, 0.12, 0.12, 0.12, 0.12, 0.108, 0.0972, 0.0972, 0.08748, 0.08748, 0.08748,
    ];
    assert_sequence(&adapted(Rule::GentleAdaptive, &lengths), &expected);
    // Adaptive RED uses the average at arrivals and changes `max_p` until the average is in the target range.
    let expected = [0.1, 0.11, 0.12, 0.13, 0.13, 0.117, 0.1053, 0.09477];
    assert_sequence(&adapted(Rule::Adaptive, &lengths[..8]), &expected);
}

/// Only the first of several intervals without arrivals may change `max_p`, since the average stays constant in the
/// others.
#[test]
fn gentle_adaptation_rests_while_nothing_arrives() {
    let adaptive = Adaptive(Some(adaptation(Rule::GentleAdaptive)));
    let mut red = red(RedConfig {
        adaptive,
        ..parameters()
    });
    // At the ends of intervals, the average is 130 packets, and then 100 packets for ten seconds.
    for (ms, waiting) in [(400, 130), (900, 100), (11_000, 100)] {
        red.decide(&Arrival {
            now: Time::ZERO + Span::from_millis(ms),
            ..arrival(waiting)
        });
    }
    assert!((red.max_p() - 0.09).abs() < 1e-12, "{}", red.max_p());
}

#[test]
fn the_average_decays_while_the_link_is_idle() {
    let weight = 0.002;
    let mut red = red(RedConfig {
        weight,
        ..parameters()
    });
    red.average = 60.0;
    // 100 Mbit/s are 25 000 packets of 500 bytes per second, so that 40.02 ms are 1000 packets, and the arriving packet
    // adds a sample.
    let idle = Span::from_micros(40_020);
    red.decide(&Arrival {
        now: Time::ZERO + idle,
        idle_since: Some(Time::ZERO),
        ..arrival(0)
    });
    let expected = 60.0 * 0.998_f64.powi(1001);
    assert!((red.average_pkts() / expected - 1.0).abs() < 1e-12);
}

#[test]
fn the_hard_limit_counts_what_waits() {
    let verdict = |limit, limit_overshoot, waiting, bytes| {
        let queue_in_bytes = matches!(limit, Capacity::Bytes(_));
        let parameters = RedConfig {
            limit,
            limit_overshoot,
            queue_in_bytes,
            ..parameters()
        };
        red(parameters).decide(&Arrival {
            bytes,
            ..arrival(waiting)
        })
    };
    let overflow = Verdict::Drop(DropReason::Overflow);
    assert_eq!(
        verdict(Capacity::Packets(100), false, 99, 500),
        Verdict::Accept
    );
    assert_eq!(verdict(Capacity::Packets(100), false, 100, 500), overflow);
    assert_eq!(
        verdict(Capacity::Bytes(50_000), false, 99, 500),
        Verdict::Accept
    );
    assert_eq!(verdict(Capacity::Bytes(50_000), false, 99, 501), overflow);
    assert_eq!(
        verdict(Capacity::Bytes(50_000), true, 99, 1500),
        Verdict::Accept
    );
    assert_eq!(verdict(Capacity::Bytes(50_000), true, 100, 40), overflow);
}

#[test]
fn thresholds_in_bytes_are_those_in_mean_packets() {
    // 63 000 bytes are 126 mean packets, although only 42 packets wait.
    let mut red = red(RedConfig {
        queue_in_bytes: true,
        ..parameters()
    });
    let large = Arrival {
        bytes: 1500,
        waiting_pkts: 42,
        waiting_bytes: 63_000,
        ..arrival(0)
    };
    red.decide(&large);
    assert!((red.average_pkts() - 126.0).abs() < 1e-12);
    assert!((red.curve.probability(red.average) - 0.1 * 63.5 / 125.0).abs() < 1e-12);
}
