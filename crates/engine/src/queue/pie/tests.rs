//! Tests of PIE against a literal transcription of RFC 8033's pseudo-code, and against probabilities computed by hand.

use longhaul_units::Time;
use proptest::prelude::*;

use super::*;
use crate::queue::tests::{Bench, check_passing};
use crate::queue::{PacketQueue, QueueConfig};

const RATE_MBPS: u64 = 12;

fn config(derandomise: bool) -> PieConfig {
    PieConfig {
        limit: Capacity::Packets(200),
        ecn: false,
        delay_estimate: DelayEstimate::Rate,
        control: PieParameters {
            variant: PieVariant::Rfc8033,
            target: Span::from_millis(15),
            update: Span::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Span::from_millis(150),
            mark_up_to: 0.1,
            derandomise,
            mean_packet: Bytes(1500),
        },
        rate: Rate::from_bps(RATE_MBPS * 1_000_000),
    }
}

/// Returns the parameters of Linux's variant.
pub(super) fn linux() -> PieParameters {
    PieParameters {
        variant: PieVariant::Linux,
        update: Span::from_millis(16),
        ..config(true).control
    }
}

fn pie(config: PieConfig) -> Pie {
    Pie::new(config, stream())
}

/// Returns the controller of a `pie` that uses RFC 8033's variant.
fn exact(pie: &mut Pie) -> &mut exact::Control {
    match &mut pie.control {
        Control::Rfc8033(control) => control,
        Control::Linux(_) => panic!("of the RFC's variant"),
    }
}

fn stream() -> Stream {
    Stream::new(1, 0, "pie")
}

/// Returns the arrival of a packet of 1500 bytes that finds `waiting` others.
fn arrival(waiting: u64) -> Arrival {
    Arrival {
        now: Time::ZERO,
        bytes: 1500,
        ecn_capable: true,
        low_priority: false,
        waiting_pkts: waiting,
        waiting_bytes: 1500 * waiting,
        idle_since: None,
    }
}

/// PIE by RFC 8033, sections 4.1 to 4.4, 5.4 and 5.5, with the names of these sections; times are in seconds.
struct Rfc {
    drop_prob: f64,
    qdelay_old: f64,
    burst_allowance: f64,
    accu_prob: f64,
    derandomise: bool,
    random: Stream,
}

impl Rfc {
    const QDELAY_REF: f64 = 0.015;
    const T_UPDATE: f64 = 0.015;
    const MAX_BURST: f64 = 0.150;
    const MEAN_PKTSIZE: u64 = 1500;

    fn drop_early(&mut self, byte_length: u64) -> bool {
        if (self.qdelay_old < Self::QDELAY_REF / 2.0 && self.drop_prob < 0.2)
            || byte_length <= 2 * Self::MEAN_PKTSIZE
        {
            return false;
        }
        if self.derandomise {
            if self.drop_prob == 0.0 {
                self.accu_prob = 0.0;
            }
            self.accu_prob += self.drop_prob;
            if self.accu_prob < 0.85 {
                return false;
            }
            if self.accu_prob >= 8.5 {
                return true;
            }
        }
        self.random.uniform() < self.drop_prob
    }

    /// Returns true if an arriving packet is dropped.
    fn enque(&mut self, waiting: u64) -> bool {
        if waiting >= 200 {
            self.accu_prob = 0.0;
            return true;
        }
        // The sum of periods equals the burst allowance except for rounding.
        let drop = self.burst_allowance < 1e-9 && self.drop_early(1500 * waiting);
        if drop {
            self.accu_prob = 0.0;
        }
        drop
    }

    fn calculate_drop_prob(&mut self, byte_length: u64) {
        let current_qdelay = (byte_length * 8) as f64 / (RATE_MBPS * 1_000_000) as f64;
        let mut p =
            0.125 * (current_qdelay - Self::QDELAY_REF) + 1.25 * (current_qdelay - self.qdelay_old);
        if self.drop_prob < 0.000_001 {
            p /= 2048.0;
        } else if self.drop_prob < 0.000_01 {
            p /= 512.0;
        } else if self.drop_prob < 0.000_1 {
            p /= 128.0;
        } else if self.drop_prob < 0.001 {
            p /= 32.0;
        } else if self.drop_prob < 0.01 {
            p /= 8.0;
        } else if self.drop_prob < 0.1 {
            p /= 2.0;
        }
        if self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        self.drop_prob += p;
        if current_qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.burst_allowance = f64::max(0.0, self.burst_allowance - Self::T_UPDATE);
        if self.drop_prob == 0.0
            && current_qdelay < Self::QDELAY_REF / 2.0
            && self.qdelay_old < Self::QDELAY_REF / 2.0
        {
            self.burst_allowance = Self::MAX_BURST;
        }
        self.qdelay_old = current_qdelay;
    }
}

proptest! {
    /// Compares probabilities and drops with RFC 8033's pseudo-code, for random and for empty queues.
    #[test]
    fn drops_are_those_of_the_pseudo_code(
        derandomise: bool,
        phases in prop::collection::vec((1usize..80, 0u64..120), 1..10),
        lengths in prop::collection::vec((0u64..100, 0usize..20), 800),
    ) {
        let mut pie = pie(config(derandomise));
        let mut rfc = Rfc {
            drop_prob: 0.0,
            qdelay_old: 0.0,
            burst_allowance: Rfc::MAX_BURST,
            accu_prob: 0.0,
            derandomise,
            random: stream(),
        };
        let mut lengths = lengths.into_iter();
        for (periods, level) in phases {
            for (more, arrivals) in lengths.by_ref().take(periods) {
                let waiting = if level < 20 { 0 } else { level + more };
                for _ in 0..arrivals {
                    let verdict = pie.on_arrival(&arrival(waiting));
                    prop_assert_eq!(verdict != Verdict::Accept, rfc.enque(waiting));
                }
                pie.update((waiting, 1500 * waiting));
                rfc.calculate_drop_prob(1500 * waiting);
                // Divisions by powers of two are exact, so that rounding makes no difference.
                prop_assert_eq!(pie.control.probability(), rfc.drop_prob);
            }
        }
    }
}

/// The probability grows in the steps of RFC 8033, section 4.2. The delay is 40 ms: forty packets wait, and each takes
/// a millisecond to send.
#[test]
fn the_probability_by_hand() {
    let mut pie = pie(config(false));
    // The first step is (0.125 * 0.025 + 1.25 * 0.04) / 2048 = 0.053125 / 2048 = 2.6e-5. The next
    // steps consist of the deviation alone, 0.003125, divided by 128 up to a probability of 1e-4
    // and by 32 beyond.
    let first = 0.053_125 / 2048.0;
    let (small, larger) = (0.003_125 / 128.0, 0.003_125 / 32.0);
    let steps = [0.0, small, small, small, small, larger, larger];
    let mut expected = first;
    for step in steps {
        expected += step;
        pie.update((40, 40 * 1500));
        assert!(
            (pie.control.probability() - expected).abs() < 1e-15,
            "{}",
            pie.control.probability()
        );
    }
}

/// Checks that steps of the probability are divided by a power of two that depends on the probability (RFC 8033,
/// section 4.2). Tested at each bound and just below it.
#[test]
fn small_probabilities_move_by_small_steps() {
    for (bound, below, at) in [
        (1e-6, 2048.0, 512.0),
        (1e-5, 512.0, 128.0),
        (1e-4, 128.0, 32.0),
        (1e-3, 32.0, 8.0),
        (1e-2, 8.0, 2.0),
        (1e-1, 2.0, 1.0),
    ] {
        for (probability, divisor) in [(f64::next_down(bound), below), (bound, at)] {
            let mut pie = pie(config(false));
            pie.update((40, 40 * 1500));
            exact(&mut pie).probability = probability;
            pie.update((40, 40 * 1500));
            let step = pie.control.probability() - probability;
            // The undivided step is 0.125 (40 ms - 15 ms).
            assert!((step * divisor - 0.003_125).abs() < 1e-12, "{probability}");
        }
    }
}

/// A step is at most 0.02 if the probability is a tenth or more (RFC 8033 section 5.5). Without this limit, a delay of
/// 500 ms would add 0.060625.
#[test]
fn large_probabilities_rise_by_two_hundredths_at_most() {
    for (probability, step) in [(f64::next_down(0.1), 0.060_625 / 2.0), (0.1, 0.02)] {
        let mut pie = pie(config(false));
        pie.update((500, 500 * 1500));
        exact(&mut pie).probability = probability;
        pie.update((500, 500 * 1500));
        assert!((pie.control.probability() - probability - step).abs() < 1e-12);
    }
}

/// Section 4.1: a packet is selected if its random number is below the probability and more than two packets of mean
/// size wait.
#[test]
fn a_number_below_the_probability_selects() {
    let drawn = stream().uniform();
    let above = f64::next_up(drawn);
    for (probability, waiting, drops) in [
        (drawn, 20, false),
        (above, 20, true),
        (above, 2, false),
        (above, 3, true),
    ] {
        let mut pie = pie(config(false));
        let control = exact(&mut pie);
        (control.probability, control.calm) = (probability, false);
        control.burst_allowance = Span::ZERO;
        assert_eq!(pie.on_arrival(&arrival(waiting)) != Verdict::Accept, drops);
    }
}

/// RFC 8033, section 4.2: the probability is at most 1, and at least 0.
#[test]
fn the_probability_stays_between_zero_and_one() {
    let mut pie = pie(config(false));
    exact(&mut pie).probability = 0.99;
    pie.update((500, 500 * 1500));
    assert_eq!(pie.control.probability(), 1.0);
    exact(&mut pie).probability = 0.01;
    pie.update((0, 0));
    assert_eq!(pie.control.probability(), 0.0);
}

/// Checks the bounds of RFC 8033 section 5.4 for the sum of drop probabilities, which includes the arriving packet's:
/// below 0.85, no packet is dropped; from 8.5 on, every packet is.
#[test]
fn sums_of_probabilities_decide_at_their_bounds() {
    let dropped = |number: u64, before: f64, probability: f64| {
        let mut pie = Pie::new(config(true), Stream::new(number, 0, "pie"));
        let control = exact(&mut pie);
        (control.probability, control.calm) = (probability, false);
        (control.burst_allowance, control.accumulated) = (Span::ZERO, before);
        let verdict = pie.on_arrival(&arrival(20));
        (verdict != Verdict::Accept, exact(&mut pie).accumulated)
    };
    let p = 1.0 / 16.0;
    let count = |before| {
        (0..100)
            .filter(|&number| dropped(number, before, p).0)
            .count()
    };
    assert_eq!(count(f64::next_down(0.85 - p)), 0);
    assert!((1..50).contains(&count(0.85 - p)));
    assert!((1..50).contains(&count(8.5 - p - 1e-12)));
    assert_eq!(count(8.5 - p), 100);
    assert_eq!(dropped(1, 8.5 - p, p), (true, 0.0));
    assert_eq!(dropped(1, 8.5, 0.0), (false, 0.0));
    let mut pie = pie(config(true));
    exact(&mut pie).accumulated = 5.0;
    let full = Verdict::Drop(DropReason::Overflow);
    assert_eq!(pie.on_arrival(&arrival(200)), full);
    assert_eq!(exact(&mut pie).accumulated, 0.0);
}

#[test]
fn a_burst_passes_and_a_large_probability_rises_slowly() {
    let mut pie = pie(config(false));
    exact(&mut pie).probability = 0.5;
    // 150 ms are ten periods of 15 ms each.
    for period in 0..10 {
        assert!(
            (0..50).all(|_| pie.on_arrival(&arrival(100)) == Verdict::Accept),
            "{period}"
        );
        pie.update((100, 100 * 1500));
    }
    // The first period's step would be 0.125 * 0.085 + 1.25 * 0.1, but is at most 0.02.
    let steps = 0.02 + 9.0 * 0.125 * 0.085;
    assert!(
        (pie.control.probability() - 0.5 - steps).abs() < 1e-12,
        "{}",
        pie.control.probability()
    );
    let dropped = (0..50).filter(|_| pie.on_arrival(&arrival(100)) != Verdict::Accept);
    assert!(dropped.count() > 10);
}

#[test]
fn capable_packets_are_marked_up_to_a_probability() {
    for (probability, verdict) in [
        (0.1, Verdict::AcceptMarked),
        (0.11, Verdict::Drop(DropReason::Early)),
    ] {
        let mut pie = pie(PieConfig {
            ecn: true,
            ..config(false)
        });
        let control = exact(&mut pie);
        (control.probability, control.calm) = (probability, false);
        control.burst_allowance = Span::ZERO;
        let mut verdicts = (0..1000).map(|_| pie.on_arrival(&arrival(20)));
        assert_eq!(
            verdicts.find(|&found| found != Verdict::Accept),
            Some(verdict)
        );
    }
}

/// From one drop to the next there are 0.85/p to 8.5/p packets (RFC 8033 section 5.4), here with p = 1/16.
#[test]
fn derandomised_drops_keep_their_distance() {
    let mut pie = pie(config(true));
    let control = exact(&mut pie);
    (control.probability, control.calm) = (1.0 / 16.0, false);
    control.burst_allowance = Span::ZERO;
    let mut gaps = vec![];
    let mut gap = 0;
    for _ in 0..100_000 {
        gap += 1;
        if pie.on_arrival(&arrival(20)) != Verdict::Accept {
            gaps.push(std::mem::take(&mut gap));
        }
    }
    assert!(gaps.iter().all(|gap| (14..=136).contains(gap)));
    // The gap consists of thirteen packets that are certain to pass and a geometric number with a mean of 16.
    let mean = 100_000.0 / gaps.len() as f64;
    assert!((mean - 29.0).abs() < 1.0, "{mean}");
}

#[test]
fn a_packet_that_finds_the_link_idle_passes() {
    for derandomise in [false, true] {
        check_passing(&QueueConfig::Pie(config(derandomise)));
    }
}

/// No packet bypasses PIE in Linux: `sch_pie.c` does not set `TCQ_F_CAN_BYPASS`. A packet that need not wait also
/// leaves through `pie_qdisc_dequeue`, which uses up the burst allowance.
#[test]
fn no_packet_goes_by_the_discipline_in_linux() {
    let linux = PieConfig {
        control: linux(),
        ..config(false)
    };
    assert!(!Bench::new(&QueueConfig::Pie(linux)).discipline.passes());
}

/// With timestamps, the delay is the sojourn time of the last packet that left, however long the queue is now. A
/// sojourn time of 40 ms gives the same probability as forty waiting packets of a millisecond each. Once the queue was
/// empty, the delay is zero.
#[test]
fn timestamps_measure_the_delay_of_the_packet_that_left_last() {
    let mut by_rate = pie(config(false));
    let mut measured = pie(PieConfig {
        delay_estimate: DelayEstimate::Timestamps,
        ..config(false)
    });
    let packet = crate::queue::tests::packet(0, 1500);
    measured.on_departure(&packet, Time::ZERO + Span::from_millis(40), 3);
    by_rate.update((40, 40 * 1500));
    measured.update((3, 3 * 1500));
    assert!(measured.control.probability() > 0.0);
    assert_eq!(
        measured.control.probability(),
        by_rate.control.probability()
    );
    measured.on_departure(&packet, Time::ZERO + Span::from_millis(50), 0);
    by_rate.update((0, 0));
    measured.update((0, 0));
    assert_eq!(
        measured.control.probability(),
        by_rate.control.probability()
    );
}
