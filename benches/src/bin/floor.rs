//! Lower bound of the engine's time per packet: the arithmetic for one flow's packets, without a simulator around it.
//!
//! The flow's window grows by HighSpeed TCP's table with each acknowledgement, over one drop-tail link and back. One
//! loop over two arrays computes the sums of ns-2's clock, the round-trip estimator in ticks, the retransmission
//! timer's deadline, and the counters of queue and flow. There are no losses, no other flows and no events, and the
//! loop has no options.
#![allow(clippy::print_stdout)]

use std::hint::black_box;

use longhaul_benches::processor_time_s;

const PACKETS: u64 = 20_000_000;
/// Number of packets in flight for which the arrays have a place: larger than the largest window.
const PLACES: usize = 1 << 15;
const RATE_BPS: f64 = 1e9;
const DELAY_S: f64 = 0.05;
const TICK_PS: u64 = 10_000_000_000;

/// One direction of a link: its transmission time, and the time at which it is idle again.
struct Line {
    transmission_s: f64,
    idle_from_s: f64,
}

impl Line {
    fn new(bytes: f64) -> Self {
        Self {
            transmission_s: 8.0 * bytes / RATE_BPS,
            idle_from_s: 0.0,
        }
    }

    /// Returns the time at which a packet that arrives now begins service, and the time at which it reaches the far
    /// end.
    fn take(&mut self, now_s: f64) -> (f64, f64) {
        let begin_s = now_s.max(self.idle_from_s);
        self.idle_from_s = begin_s + self.transmission_s;
        (begin_s, begin_s + (self.transmission_s + DELAY_S))
    }
}

/// The queue in front of the link; each service begins one transmission time after the previous one.
#[derive(Default)]
struct Queue {
    waiting: u64,
    next_begin_s: f64,
    longest: u64,
    found: u64,
    waited_ps: u128,
}

/// The estimator of RFC 6298 in scaled ticks, as in ns-2 and BSD, with the sum, minimum and maximum of the samples.
struct RoundTrips {
    srtt: i64,
    variation: i64,
    sum_ps: u64,
    least_ps: u64,
    most_ps: u64,
    deadline_ps: u64,
}

impl RoundTrips {
    fn take(&mut self, sent_ps: u64, now_ps: u64) {
        let sample_ps = now_ps - sent_ps;
        self.sum_ps += sample_ps;
        self.least_ps = self.least_ps.min(sample_ps);
        self.most_ps = self.most_ps.max(sample_ps);
        let ticks = ((sample_ps + sent_ps % TICK_PS) / TICK_PS).max(1) as i64;
        let error = ticks - (self.srtt >> 3);
        self.srtt += error;
        self.variation += error.abs() - (self.variation >> 2);
        let timeout = (self.srtt >> 3) + self.variation;
        self.deadline_ps = now_ps + (timeout as u64 * TICK_PS).max(200_000_000_000);
    }
}

fn ps(time_s: f64) -> u64 {
    (time_s * 1e12 + 0.5) as u64
}

fn main() {
    let began_s = processor_time_s();
    let (there, waits) = simulate();
    let each_ns = (processor_time_s() - began_s) * 1e9 / PACKETS as f64;
    println!("{each_ns:.1} ns a data packet ({there} in flight at the end, longest queue {waits})");
}

fn simulate() -> (u64, u64) {
    let (mut link, mut back) = (Line::new(1500.0), Line::new(40.0));
    let mut queue = Queue::default();
    let mut arrivals_s = vec![0.0_f64; PLACES];
    let mut sent_ps = vec![0_u64; PLACES];
    let mut trips = RoundTrips {
        srtt: 80,
        variation: 20,
        sum_ps: 0,
        least_ps: u64::MAX,
        most_ps: 0,
        deadline_ps: 0,
    };
    let table: Vec<(f64, f64)> = (0..64).map(|step| (f64::from(step), 1.0)).collect();
    let (mut sent, mut acknowledged) = (0_u64, 0_u64);
    let (mut cwnd, mut integral, mut since_ps) = (8_000.0_f64, 0.0_f64, 0_u64);
    let mut now_s = 0.0;
    while sent < PACKETS {
        // The sender fills the window.
        while ((sent - acknowledged + 1) as i64 as f64) <= cwnd {
            while queue.waiting > 0 && queue.next_begin_s < now_s {
                queue.waiting -= 1;
                queue.next_begin_s += link.transmission_s;
            }
            queue.found += queue.waiting;
            let (begin_s, arrival_s) = link.take(now_s);
            if begin_s > now_s {
                if queue.waiting == 0 {
                    queue.next_begin_s = begin_s;
                }
                queue.waiting += 1;
                queue.longest = queue.longest.max(queue.waiting);
                queue.waited_ps += u128::from(ps(begin_s) - ps(now_s));
            }
            let place = sent as usize % PLACES;
            (arrivals_s[place], sent_ps[place]) = (arrival_s, ps(now_s));
            sent += 1;
        }
        // The next packet arrives, and its acknowledgement comes back.
        let place = acknowledged as usize % PLACES;
        now_s = back.take(arrivals_s[place]).1;
        acknowledged += 1;
        let now_ps = ps(now_s);
        integral += cwnd * (now_ps - since_ps) as i64 as f64;
        since_ps = now_ps;
        trips.take(sent_ps[place], now_ps);
        let cell = table[(cwnd.to_bits() >> 46) as usize % 64];
        cwnd = (cwnd + 1e-3 * (cell.0 + cell.1) / cwnd).min(15_000.0);
    }
    black_box((
        integral,
        trips.deadline_ps,
        trips.sum_ps,
        queue.found,
        queue.waited_ps,
    ));
    black_box((trips.least_ps, trips.most_ps));
    (sent - acknowledged, queue.longest)
}
