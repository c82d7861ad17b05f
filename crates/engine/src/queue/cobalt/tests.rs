//! Tests of COBALT against drops and probabilities computed by hand from `net/sched/sch_cake.c`.

use longhaul_units::{Bytes, Span, Time};

use super::*;
use crate::queue::tests::{Bench, packet};
use crate::queue::{BufferedQueue, QueueConfig};

fn config(limit: u64, ecn: bool) -> QueueConfig {
    QueueConfig::Cobalt(CobaltConfig {
        limit: Capacity::Packets(limit),
        control: CobaltParameters {
            ecn,
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            mtu_time: Span::from_millis(1),
            blue_up: 1.0 / 256.0,
            blue_down: 1.0 / 4096.0,
        },
    })
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Fills the queue with a thousand packets at `from`, then serves one packet per millisecond for `for_ms` milliseconds.
/// Returns the times of drops and the times of marks, both in milliseconds after `from`.
fn overload(bench: &mut Bench, from: u64, for_ms: u64) -> (Vec<u64>, Vec<u64>) {
    bench.now = ms(from);
    for number in 0..1000 {
        bench.enqueue(packet(number, 1000)).expect("there is room");
    }
    let (mut drops, mut marks) = (vec![], vec![]);
    for time in 1..=for_ms {
        bench.now = ms(from + time);
        let sent = bench.dequeue().expect("a standing queue");
        drops.extend(bench.dropped().iter().map(|_| time));
        if sent.flags.has(Flags::CE) {
            marks.push(time);
        }
    }
    (drops, marks)
}

fn blue(bench: &Bench) -> f64 {
    bench.discipline.state().drop_p.expect("it is shown")
}

/// Gaps between drops are 100 / sqrt(count) ms. The delay exceeds the target at 6 ms, and drops are due at 106, 176.7,
/// 234.4, 284.4, 329.2 and 369.99 ms. Each is made when the next packet leaves, at a whole millisecond. (In CoDel, the
/// second gap would be an interval.)
#[test]
fn gaps_between_drops_shrink_with_the_root_of_the_count() {
    let times = vec![106, 177, 235, 285, 330, 370];
    let drops = overload(&mut Bench::new(&config(1000, false)), 0, 400);
    assert_eq!(drops, (times.clone(), vec![]));
    let marks = overload(&mut Bench::new(&config(1000, true)), 0, 400);
    assert_eq!(marks, (vec![], times));
}

/// Checks that the count of drops, which determines the time between drops, decays while the queue is empty.
#[test]
fn the_count_decays_while_nothing_waits() {
    // After six drops, the count is 7. The queue is empty from 400 ms on, and the count falls by one at 407.8, 448.6,
    // 493.3, 543.3, 601.1, 671.8 and 771.8 ms. An overload then begins with a gap of 100 / sqrt(4) ms at
    // 500 ms, and of 100 ms at 900 ms.
    for (pause, first) in [(500, [56, 101]), (900, [106, 177])] {
        let mut bench = Bench::new(&config(1000, false));
        overload(&mut bench, 0, 400);
        bench.dequeue_all();
        assert_eq!(bench.dropped(), [], "none is due");
        let (drops, _) = overload(&mut bench, pause, 200);
        assert_eq!(drops[..2], first);
    }
}

/// Checks that all overdue drops are made at the next departure, but only one of several overdue marks
/// (`cobalt_should_drop`).
#[test]
fn overdue_drops_are_made_up_for_and_overdue_marks_are_not() {
    // The delay exceeds the target at 6 ms. No packet leaves from then until 300 ms. Drops are due at 106, 176.7, 234.4
    // and 284.4 ms. The second mark is due at 300 ms, and the third 100 / sqrt(3) ms later.
    for (ecn, dropped, marked) in [
        (false, vec![(300, 4), (330, 1), (370, 1)], vec![]),
        (true, vec![], vec![300, 301, 358, 408]),
    ] {
        let mut bench = Bench::new(&config(1000, ecn));
        for number in 0..1000 {
            bench.enqueue(packet(number, 1000)).expect("there is room");
        }
        let (mut drops, mut marks) = (vec![], vec![]);
        for time in [6].into_iter().chain(300..410) {
            bench.now = ms(time);
            let sent = bench.dequeue().expect("a standing queue");
            drops.extend(Some((time, bench.dropped().len())).filter(|drops| drops.1 > 0));
            marks.extend(Some(time).filter(|_| sent.flags.has(Flags::CE)));
        }
        drops.retain(|drops| drops.0 < 400);
        assert_eq!((drops, marks), (dropped, marked));
    }
}

/// A queue is at rest if no drop is due or will become due, BLUE's probability is zero, and the last packet left an
/// interval ago. Until then, Linux reserves the queue for its flow (`cake_hash`).
#[test]
fn a_queue_is_at_rest_without_drops_to_come() {
    let QueueConfig::Cobalt(CobaltConfig { control, .. }) = config(10, false) else {
        unreachable!("that is what it is");
    };
    let later = ms(10) + Span::from_ps(1);
    for (count, blue, drop_next, rests) in [
        (0, 0.0, ms(10), true),
        (0, 0.0, later, false),
        (1, 0.0, ms(10), false),
        (0, 0.5, ms(10), false),
    ] {
        let mut state = Control {
            count,
            blue,
            drop_next,
            ..Control::default()
        };
        assert_eq!(state.is_at_rest(&control, ms(10)), rests, "{count} {blue}");
    }
}

/// BLUE's probability is at most 1 and at least 0.
#[test]
fn blue_stays_between_zero_and_one() {
    let mut bench = Bench::new(&config(1, false));
    bench.enqueue(packet(0, 1000)).expect("room");
    let set = |bench: &mut Bench, probability| {
        let BufferedQueue::Cobalt(cobalt) = &mut bench.discipline else {
            unreachable!("that is what it was made of");
        };
        cobalt.control.blue = probability;
    };
    set(&mut bench, 0.999);
    bench.now = ms(6);
    bench.enqueue(packet(1, 1000)).expect_err("it is full");
    assert_eq!(blue(&bench), 1.0);
    set(&mut bench, 1.0 / 8192.0);
    bench.now = ms(12);
    bench.dequeue_all();
    assert_eq!(blue(&bench), 0.0);
}

/// A packet is dropped if its random number is below BLUE's probability, unless it is the last packet in the queue.
#[test]
fn a_number_below_blue_s_probability_drops() {
    let drawn = Stream::new(1, 0, "bench").uniform();
    for (probability, dropped) in [(drawn, vec![]), (f64::next_up(drawn), vec![0])] {
        let mut bench = Bench::new(&config(10, false));
        let BufferedQueue::Cobalt(cobalt) = &mut bench.discipline else {
            unreachable!("that is what it was made of");
        };
        cobalt.control.blue = probability;
        for number in 0..2 {
            bench.enqueue(packet(number, 1000)).expect("room");
        }
        bench.dequeue();
        assert_eq!(bench.dropped(), dropped);
    }
}

/// The count also decays while packets leave with delays that do not exceed the target.
#[test]
fn the_count_decays_below_the_target() {
    let mut bench = Bench::new(&config(1000, false));
    overload(&mut bench, 0, 400);
    bench.dequeue_all();
    for time in 401..500 {
        bench.now = ms(time);
        bench.enqueue(packet(0, 1000)).expect("room");
        bench.enqueue(packet(0, 1000)).expect("room");
        bench.now = ms(time) + Span::from_micros(500);
        bench.dequeue_all();
    }
    let (drops, _) = overload(&mut bench, 500, 200);
    assert_eq!(drops[..2], [56, 101]);
}

/// BLUE's probability rises by 1/256 for an overflow, at most once in 5 ms (the target delay). It falls by 1/4096 for
/// each 5 ms in which the queue is empty.
#[test]
fn blue_rises_with_overflows_and_falls_while_nothing_waits() {
    let mut bench = Bench::new(&config(10, false));
    for number in 0..10 {
        bench.enqueue(packet(number, 1000)).expect("room");
    }
    // The overflows at 6, 12, 18, ..., 120 ms increase the probability.
    for time in 1..=120 {
        bench.now = ms(time);
        assert_eq!(bench.enqueue(packet(99, 1000)), Err(DropReason::Overflow));
    }
    assert_eq!(blue(&bench), 20.0 / 256.0);
    bench.now = ms(130);
    bench.dequeue_all();
    let empty = 20.0 / 256.0 - 1.0 / 4096.0;
    assert_eq!(blue(&bench), empty, "found empty once");
    bench.now = ms(130 + 80 + 4);
    bench.enqueue(packet(0, 1000)).expect("room");
    assert_eq!(
        blue(&bench),
        empty - 16.0 / 4096.0,
        "sixteen targets of 5 ms"
    );
    bench.dequeue_all();
    bench.now = ms(10_000);
    bench.enqueue(packet(0, 1000)).expect("room");
    assert_eq!(blue(&bench), 0.0);
}

/// BLUE drops packets with its probability even if they could be marked, but never the last packet.
#[test]
fn blue_drops_whatever_ecn_says() {
    let mut bench = Bench::new(&config(100_000, true));
    let BufferedQueue::Cobalt(cobalt) = &mut bench.discipline else {
        unreachable!("that is what it was made of");
    };
    cobalt.control.blue = 0.25;
    for number in 0..10_000 {
        bench.enqueue(packet(number, 1000)).expect("room");
    }
    let sent = bench.dequeue_all();
    // The standard deviation is 43.
    assert!((7350..7650).contains(&sent.len()), "{}", sent.len());
    assert_eq!(sent.len() + bench.dropped().len(), 10_000);
    let BufferedQueue::Cobalt(cobalt) = &mut bench.discipline else {
        unreachable!("that is what it was made of");
    };
    cobalt.control.blue = 1.0;
    bench.enqueue(packet(1, 1000)).expect("room");
    assert_eq!(bench.dequeue_all(), [1]);
}

/// On slow links, the target is the time of 1.5 packets instead of 5 ms, and the interval grows by the same difference.
/// At 1 Mbit/s, a packet of 1500 bytes takes 12 ms: the target is 18 ms, and both values grow by 13 ms.
#[test]
fn slow_links_have_longer_targets() {
    let complete = |bps| {
        let mut values = Table::defaults(CobaltConfig::KEYS, longhaul_keys::Profile::Rfc);
        let link = LinkContext::new(Rate::from_bps(bps), Span::from_millis(10), Bytes(1500));
        CobaltParameters::complete(&mut values, &link);
        let control = CobaltParameters::of(&values);
        [control.target, control.interval, control.mtu_time].map(|span| span.as_ps() / 1_000_000)
    };
    assert_eq!(complete(1_000_000), [18_000, 113_000, 12_000]);
    assert_eq!(complete(10_000_000), [5_000, 100_000, 1_200]);
    // A packet takes 120 ms, so that the target is 180 ms; the interval is twice the target, which is more than 275 ms.
    assert_eq!(complete(100_000), [180_000, 360_000, 120_000]);
}

/// When the queue becomes empty, BLUE's probability falls if its last change is more than a target ago. While the queue
/// stays empty, the probability falls once per target, computed at the next arrival (`cobalt_queue_empty`).
#[test]
fn blue_falls_once_in_a_target() {
    let mut bench = Bench::new(&config(1, false));
    bench.enqueue(packet(0, 1000)).expect("room");
    bench.now = ms(6);
    bench.enqueue(packet(1, 1000)).expect_err("it is full");
    let mut expected = 1.0 / 256.0;
    assert_eq!(blue(&bench), expected);
    bench.now = ms(8);
    bench.dequeue_all();
    assert_eq!(blue(&bench), expected, "2 ms after the last change");
    // At 34 ms, exactly one target has passed, and the probability falls only after more than one.
    for (arrival, empty, falls) in [
        (12, 12, 1.0),
        (15, 17, 1.0),
        (18, 19, 0.0),
        (20, 23, 1.0),
        (27, 29, 1.0),
        (30, 34, 0.0),
        (35, 35, 1.0),
    ] {
        bench.now = ms(arrival);
        bench.enqueue(packet(arrival, 1000)).expect("room");
        bench.now = ms(empty);
        bench.dequeue_all();
        expected -= falls / 4096.0;
        assert_eq!(blue(&bench), expected, "{empty} ms");
    }
}
