//! Tests of DualPI2 against RFC 9332: the fractions of marks and drops at a fixed probability, the step, the scheduler,
//! and overload.

use super::*;

const MTU: u16 = 1500;

fn config() -> DualPi2Config {
    DualPi2Config {
        limit: Capacity::Packets(100_000),
        target: Span::from_millis(15),
        update: Span::from_millis(16),
        alpha: 0.16,
        beta: 3.2,
        coupling: 2.0,
        step: Span::from_millis(1),
        step_min: 0,
        classic_share: 0.1,
        classifier: Classifier::Ect1,
        mtu: Bytes(MTU.into()),
    }
}

fn queue(config: DualPi2Config) -> DualPi2 {
    DualPi2::new(config, Stream::new(1, 0, "dualpi2"))
}

const CLASSIC: Flags = Flags::NONE;
const CLASSIC_ECN: Flags = Flags::ECT;
const L4S: Flags = Flags::ECT.with(Flags::ECT1);

/// Lets `count` packets of the largest size arrive at `at` milliseconds.
fn fill(queue: &mut DualPi2, flags: Flags, count: u64, at: Time) {
    fill_with(queue, flags, MTU, count, at);
}

/// Lets `count` packets of `bytes` bytes arrive at `at` milliseconds.
fn fill_with(queue: &mut DualPi2, flags: Flags, bytes: u16, count: u64, at: Time) {
    for seq in 0..count {
        let packet = Packet {
            seq,
            bytes,
            flags,
            time: at,
            ..Packet::NONE
        };
        let (waiting_pkts, waiting_bytes) = queue.waiting();
        let arrival = Arrival {
            now: at,
            bytes: bytes.into(),
            ecn_capable: flags.has(Flags::ECT),
            low_priority: false,
            waiting_pkts,
            waiting_bytes,
            idle_since: None,
        };
        let accepted = queue.enqueue(packet, &arrival, &mut Effects::default());
        assert_eq!(accepted, Ok(()));
    }
}

/// Empties the queue at `now`. Returns the fractions of its packets that are dropped and that are marked.
fn shares(queue: &mut DualPi2, now: Time) -> (f64, f64) {
    let mut effects = Effects::default();
    let (count, _) = queue.waiting();
    while queue.dequeue(now, &mut effects).is_some() {}
    let share = |packets: usize| packets as f64 / count as f64;
    (share(effects.dropped.len()), share(effects.marked.len()))
}

fn assert_near(found: (f64, f64), expected: (f64, f64)) {
    let near = |a: f64, b: f64| (a - b).abs() < 0.01;
    assert!(
        near(found.0, expected.0) && near(found.1, expected.1),
        "{found:?} for {expected:?}"
    );
}

#[test]
fn classic_packets_suffer_the_square_of_what_l4s_packets_do_by_half() {
    for (flags, expected) in [
        (CLASSIC, (0.04, 0.0)),
        (CLASSIC_ECN, (0.0, 0.04)),
        (L4S, (0.0, 0.4)),
    ] {
        let mut queue = queue(config());
        queue.probability = 0.2;
        fill(&mut queue, flags, 20_000, Time::ZERO);
        assert_near(shares(&mut queue, Time::ZERO), expected);
    }
}

#[test]
fn in_overload_all_are_dropped_alike_and_l4s_packets_that_are_left_are_marked() {
    for (flags, expected) in [
        (CLASSIC, (0.36, 0.0)),
        (CLASSIC_ECN, (0.36, 0.0)),
        (L4S, (0.36, 0.64)),
    ] {
        let mut queue = queue(config());
        queue.probability = 0.6;
        fill(&mut queue, flags, 20_000, Time::ZERO);
        assert_near(shares(&mut queue, Time::ZERO), expected);
    }
}

#[test]
fn the_step_is_a_sojourn_time_and_marks_l4s_packets_only() {
    let ms = |ms| Time::ZERO + Span::from_millis(ms);
    for (flags, now, marked) in [
        (L4S, ms(1), 0.0),
        (L4S, ms(1) + Span::from_ps(1), 1.0),
        (CLASSIC_ECN, ms(50), 0.0),
    ] {
        let mut queue = queue(config());
        fill(&mut queue, flags, 50, Time::ZERO);
        assert_eq!(shares(&mut queue, now), (0.0, marked));
    }
}

/// The step marks an L4S packet only if at least `step_min` L4S packets wait behind it. With a minimum of one, it marks
/// the first of two packets, but not the second.
#[test]
fn the_step_spares_the_last_packets_of_a_queue() {
    for (step_min, marked) in [(0, 1.0), (1, 0.5), (2, 0.0)] {
        let mut queue = queue(DualPi2Config {
            step_min,
            ..config()
        });
        fill(&mut queue, L4S, 2, Time::ZERO);
        let late = Time::ZERO + Span::from_millis(2);
        assert_eq!(shares(&mut queue, late), (0.0, marked));
    }
}

#[test]
fn nothing_is_selected_before_two_packets_wait() {
    let mut queue = queue(config());
    queue.probability = 1.0;
    fill(&mut queue, CLASSIC, 2, Time::ZERO);
    let mut effects = Effects::default();
    assert!(queue.dequeue(Time::ZERO, &mut effects).is_some() && effects.is_empty());
}

/// L4S packets are served first, but the classic queue gets a tenth of the capacity.
#[test]
fn the_classic_queue_has_its_share_while_both_wait() {
    let mut queue = queue(config());
    fill(&mut queue, CLASSIC, 3000, Time::ZERO);
    fill(&mut queue, L4S, 3000, Time::ZERO);
    let mut effects = Effects::default();
    let sent: Vec<bool> = (0..2000)
        .filter_map(|_| queue.dequeue(Time::ZERO, &mut effects))
        .map(|packet| packet.flags.has(Flags::ECT1))
        .collect();
    assert!(sent[0], "an L4S packet first");
    let classic = sent.iter().filter(|&&l4s| !l4s).count();
    assert!(classic.abs_diff(200) <= 1, "{classic} of 2,000");
}

/// Checks that the L4S queue is served next if the classic queue has had exactly its share, a tenth of the bytes.
#[test]
fn an_even_balance_is_the_l4s_queues_turn() {
    let mut queue = queue(config());
    fill(&mut queue, CLASSIC, 2, Time::ZERO);
    for (bytes, count) in [(576, 20), (480, 1), (MTU, 2)] {
        fill_with(&mut queue, L4S, bytes, count, Time::ZERO);
    }
    let mut effects = Effects::default();
    let mut sends_l4s = || {
        let packet = queue.dequeue(Time::ZERO, &mut effects);
        packet.expect("packets wait").flags.has(Flags::ECT1)
    };
    // The balance is even after 21 L4S packets, 12,000 bytes. Rounding errors of a floating-point sum would change the
    // turn.
    assert!((0..22).all(|_| sends_l4s()));
    assert!(!sends_l4s());
}

/// Checks the probability against the formula of appendix A.1. An update adds alpha (q - target) + beta (q - previous
/// q); q is the larger of the two queues' delays.
#[test]
fn the_probability_follows_the_larger_delay() {
    let mut queue = queue(config());
    let ms = |ms| Time::ZERO + Span::from_millis(ms);
    fill(&mut queue, CLASSIC, 1, ms(5));
    fill(&mut queue, L4S, 1, ms(0));
    queue.update(ms(40));
    let first = 0.16 * (0.040 - 0.015) + 3.2 * 0.040;
    assert!((queue.probability - first).abs() < 1e-12);
    queue.update(ms(56));
    let second = first + 0.16 * (0.056 - 0.015) + 3.2 * 0.016;
    assert!((queue.probability - second).abs() < 1e-12);
    shares(&mut queue, ms(56));
    queue.update(ms(72));
    let third = second - 0.16 * 0.015 - 3.2 * 0.056;
    assert!((queue.probability - third.max(0.0)).abs() < 1e-12);
}

#[test]
fn the_probability_stays_between_zero_and_one() {
    let mut queue = queue(config());
    fill(&mut queue, CLASSIC, 1, Time::ZERO);
    queue.update(Time::ZERO + Span::from_secs(1));
    assert_eq!(queue.probability, 1.0);
    shares(&mut queue, Time::ZERO + Span::from_secs(1));
    queue.update(Time::ZERO + Span::from_secs(1));
    assert_eq!(queue.probability, 0.0);
}

/// Checks that an L4S packet is marked if a random number is below the coupled probability, and that a classic packet
/// is dropped if two random numbers are both below the base probability (appendix A.1).
#[test]
fn numbers_below_the_probability_select() {
    let mut stream = Stream::new(1, 0, "dualpi2");
    let (first, second) = (stream.uniform(), stream.uniform());
    let larger = first.max(second);
    let lost = |flags, probability: f64| {
        let mut queue = queue(config());
        queue.probability = probability;
        fill(&mut queue, flags, 3, Time::ZERO);
        let mut effects = Effects::default();
        queue.dequeue(Time::ZERO, &mut effects);
        (!effects.dropped.is_empty(), !effects.marked.is_empty())
    };
    assert_eq!(lost(CLASSIC, larger), (false, false));
    assert_eq!(lost(CLASSIC, f64::next_up(larger)), (true, false));
    // The coupled probability is twice the base probability.
    assert_eq!(lost(L4S, first / 2.0), (false, false));
    assert_eq!(lost(L4S, f64::next_up(first) / 2.0), (false, true));
}

/// Section 4.2.3: at a coupled probability of exactly 1, every L4S packet is marked; above 1, ECN is ignored.
#[test]
fn overload_begins_beyond_a_coupled_probability_of_one() {
    for (probability, drops) in [(0.5, false), (f64::next_up(0.5), true)] {
        for flags in [CLASSIC_ECN, L4S] {
            let mut queue = queue(config());
            queue.probability = probability;
            fill(&mut queue, flags, 1000, Time::ZERO);
            let (dropped, _) = shares(&mut queue, Time::ZERO);
            assert_eq!(dropped > 0.0, drops, "{probability}");
        }
    }
}

#[test]
fn any_ect_puts_classic_ecn_among_l4s() {
    let classifier = Classifier::AnyEct;
    let mut queue = queue(DualPi2Config {
        classifier,
        ..config()
    });
    fill(&mut queue, CLASSIC_ECN, 10, Time::ZERO);
    fill(&mut queue, CLASSIC, 10, Time::ZERO);
    assert_eq!((queue.l4s.waiting().0, queue.classic.waiting().0), (10, 10));
}

#[test]
fn packets_are_counted_by_class() {
    let mut queue = queue(DualPi2Config {
        limit: Capacity::Packets(500),
        ..config()
    });
    queue.probability = 0.2;
    fill(&mut queue, L4S, 200, Time::ZERO);
    fill(&mut queue, CLASSIC, 300, Time::ZERO);
    let now = Time::ZERO + Span::from_millis(1);
    let (dropped, marked) = shares(&mut queue, now);
    let [l4s, classic] = queue.classes().expect("it tells classes apart");
    assert_eq!((l4s.served_pkts, l4s.dropped_pkts), (200, 0));
    assert_eq!(classic.served_pkts + classic.dropped_pkts, 300);
    assert_eq!(l4s.marked_pkts as f64, marked * 500.0);
    assert_eq!(classic.dropped_pkts as f64, (dropped * 500.0).round());
    let ms = u128::from(Span::from_millis(1).as_ps());
    assert_eq!(l4s.waits_ps, 200 * ms);
    assert_eq!(classic.waits_ps, u128::from(classic.served_pkts) * ms);
}

#[test]
fn packets_that_find_the_queue_full_are_drops_of_their_class() {
    let mut queue = queue(DualPi2Config {
        limit: Capacity::Packets(1),
        ..config()
    });
    fill(&mut queue, CLASSIC, 1, Time::ZERO);
    let packet = Packet {
        bytes: MTU,
        flags: L4S,
        ..Packet::NONE
    };
    let arrival = Arrival {
        now: Time::ZERO,
        bytes: MTU.into(),
        ecn_capable: true,
        low_priority: false,
        waiting_pkts: 1,
        waiting_bytes: MTU.into(),
        idle_since: None,
    };
    let refused = queue.enqueue(packet, &arrival, &mut Effects::default());
    assert_eq!(refused, Err(DropReason::Overflow));
    let [l4s, classic] = queue.classes().expect("it tells classes apart");
    assert_eq!((l4s.dropped_pkts, classic.dropped_pkts), (1, 0));
}
