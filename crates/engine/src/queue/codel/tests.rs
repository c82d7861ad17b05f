//! CoDel against a literal transcription of RFC 8289's pseudo-code, and against drops computed by
//! hand.

use std::collections::VecDeque;

use longhaul_units::{Bytes, Span, Time};
use proptest::prelude::*;

use super::*;
use crate::queue::QueueConfig;
use crate::queue::tests::{Bench, check_passing, packet};

const PARAMETERS: CoDelParameters = CoDelParameters {
    variant: CoDelVariant::Rfc8289,
    target: Span::from_millis(5),
    interval: Span::from_millis(100),
    max_packet: Bytes(1500),
};

fn bench(ecn: bool) -> Bench {
    Bench::new(&QueueConfig::CoDel(CoDelConfig {
        limit: Capacity::Packets(1000),
        ecn,
        control: PARAMETERS,
    }))
}

/// Returns a test bench with Linux's variant.
pub(super) fn linux() -> Bench {
    Bench::new(&QueueConfig::CoDel(CoDelConfig {
        limit: Capacity::Packets(1000),
        ecn: false,
        control: CoDelParameters {
            variant: CoDelVariant::Linux,
            ..PARAMETERS
        },
    }))
}

fn ms(ms: f64) -> Time {
    Time::from_secs_f64(ms * 1e-3)
}

/// The pseudo-code of RFC 8289 section 5, with its names. Times are in picoseconds; zero means no time.
#[derive(Default)]
struct Rfc {
    queue: VecDeque<(u64, u64, u64)>,
    bytes: u64,
    first_above_time: u64,
    drop_next: u64,
    count: u32,
    lastcount: u32,
    dropping: bool,
    dropped: Vec<u64>,
}

impl Rfc {
    const TARGET: u64 = 5_000_000_000;
    const INTERVAL: u64 = 100_000_000_000;
    const MAXPACKET: u64 = 1500;

    fn enqueue(&mut self, number: u64, bytes: u64, now: u64) {
        self.queue.push_back((number, bytes, now));
        self.bytes += bytes;
    }

    fn control_law(t: u64, count: u32) -> u64 {
        t + (Self::INTERVAL as f64 / f64::from(count).sqrt()) as u64
    }

    fn dodequeue(&mut self, now: u64) -> (Option<u64>, bool) {
        let Some((number, bytes, tstamp)) = self.queue.pop_front() else {
            self.first_above_time = 0;
            return (None, false);
        };
        self.bytes -= bytes;
        let mut ok_to_drop = false;
        let sojourn_time = now - tstamp;
        if sojourn_time < Self::TARGET || self.bytes <= Self::MAXPACKET {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + Self::INTERVAL;
        } else if now >= self.first_above_time {
            ok_to_drop = true;
        }
        (Some(number), ok_to_drop)
    }

    fn dequeue(&mut self, now: u64) -> Option<u64> {
        let mut r = self.dodequeue(now);
        if self.dropping {
            if !r.1 {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.dropped.extend(r.0);
                self.count += 1;
                r = self.dodequeue(now);
                if r.1 {
                    self.drop_next = Self::control_law(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if r.1 {
            self.dropped.extend(r.0);
            r = self.dodequeue(now);
            self.dropping = true;
            let delta = self.count - self.lastcount;
            self.count = 1;
            // The difference is signed, since the next drop may be in the future.
            if delta > 1 && (now as i64 - self.drop_next as i64) < 16 * Self::INTERVAL as i64 {
                self.count = delta;
            }
            self.drop_next = Self::control_law(now, self.count);
            self.lastcount = self.count;
        }
        r.0
    }
}

proptest! {
    /// CoDel forwards and drops the same packets as the pseudo-code of RFC 8289. A random load lets the queue grow or
    /// shrink in phases of up to several intervals.
    #[test]
    fn drops_are_those_of_the_pseudo_code(
        phases in prop::collection::vec((1u64..600, 0u64..4, 1u64..4, 100u16..=1500), 1..12),
    ) {
        let (mut bench, mut rfc) = (bench(false), Rfc::default());
        let mut number = 0;
        for (steps, arrivals, service_ms, bytes) in phases {
            for _ in 0..steps {
                for _ in 0..arrivals {
                    if bench.enqueue(packet(number, bytes)).is_ok() {
                        rfc.enqueue(number, u64::from(bytes), bench.now.as_ps());
                    }
                    number += 1;
                }
                bench.now += Span::from_millis(service_ms);
                let out = bench.dequeue().map(|packet| packet.seq);
                prop_assert_eq!(out, rfc.dequeue(bench.now.as_ps()));
                prop_assert_eq!(bench.dropped(), std::mem::take(&mut rfc.dropped));
            }
        }
    }
}

/// The gaps between drops shrink with the square root of the number of drops (RFC 8289, `control_law`). The queue stays
/// above the target, and one packet is served per millisecond.
#[test]
fn gaps_between_drops_shrink_with_the_root_of_their_number() {
    let mut bench = bench(false);
    for number in 0..1000 {
        bench.enqueue(packet(number, 1000)).expect("there is room");
    }
    let mut drops = vec![];
    for time in 1..=400 {
        bench.now = ms(f64::from(time));
        bench.dequeue();
        if !bench.dropped().is_empty() {
            drops.push(time);
        }
    }
    // The delay is above the target from 5 ms on. The first drop is an interval later, at 105 ms. The following drops
    // come at intervals of 100 / sqrt(n) ms: at 205, 275.7, 333.4 and 383.4 ms, rounded up to the next departure, which
    // happens every millisecond.
    assert_eq!(drops, [105, 205, 276, 334, 384]);
}

#[test]
fn capable_packets_are_marked_and_go_out() {
    let mut bench = bench(true);
    for number in 0..1000 {
        bench.enqueue(packet(number, 1000)).expect("there is room");
    }
    let mut marks = vec![];
    for time in 1..=400 {
        bench.now = ms(f64::from(time));
        let packet = bench.dequeue().expect("a standing queue");
        assert_eq!(packet.seq, time as u64 - 1, "none is dropped");
        if packet.flags.has(Flags::CE) {
            marks.push(time);
        }
    }
    assert_eq!(marks, [105, 205, 276, 334, 384]);
    assert_eq!(bench.dropped(), []);
}

/// A new dropping state continues with the drop rate of the previous state, if the previous state ended less than
/// sixteen intervals ago.
#[test]
fn a_new_dropping_state_goes_on_with_the_last_rate() {
    for (pause_ms, second_gap_ms) in [(300.0, 58.0), (3000.0, 100.0)] {
        let mut bench = bench(false);
        let overload = |from_ms: f64, bench: &mut Bench| {
            bench.now = ms(from_ms);
            for number in 0..500 {
                bench.enqueue(packet(number, 1000)).expect("there is room");
            }
            let mut drops = vec![];
            for time in 1..=350 {
                bench.now = ms(from_ms + f64::from(time));
                bench.dequeue();
                drops.extend(bench.dropped().iter().map(|_| time));
            }
            bench.dequeue_all();
            bench.dropped();
            drops
        };
        // There are four drops, at 105, 205, 276 and 334 ms. The count is 4; 3 of these drops follow the first.
        assert_eq!(overload(0.0, &mut bench), [105, 205, 276, 334]);
        let again = overload(350.0 + pause_ms, &mut bench);
        // The second gap is 100 / sqrt(3) = 57.7 ms if the count continues at 3.
        assert_eq!(f64::from(again[1] - again[0]), second_gap_ms, "{again:?}");
    }
}

#[test]
fn a_packet_that_finds_the_link_idle_passes() {
    check_passing(&QueueConfig::CoDel(CoDelConfig {
        limit: Capacity::Packets(1000),
        ecn: false,
        control: PARAMETERS,
    }));
}
