//! One direction of the link: when packets leave it, and which do not.

use std::collections::VecDeque;

use crate::case::{Case, Reordering};
use crate::packet::{self, LARGEST};
use crate::system::nanoseconds;

/// A packet on its way.
pub(crate) struct Transit {
    /// When it is to be at the other end.
    pub(crate) due: i64,
    /// When its transmission begins.
    begins: i64,
    pub(crate) length: usize,
    pub(crate) bytes: Box<[u8; LARGEST]>,
}

/// What became of a packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    Forwarded,
    Marked,
    /// It comes to the queue later.
    HeldBack,
    /// The queue is full.
    Overflow,
    /// As the case has it.
    Lost,
}

/// A rate, a delay, and a queue before them.
pub(crate) struct Link {
    rate_bps: f64,
    delay: i64,
    limit: usize,
    marks_from: usize,
    /// In order of due times.
    transit: VecDeque<Transit>,
    /// Of these, from the front, those whose transmission has begun.
    begun: usize,
    /// When the last transmission ends.
    free_at: i64,
    impairments: Impairments,
    /// Packets that come to the queue later, and when.
    held: VecDeque<Transit>,
    #[allow(clippy::vec_box, reason = "packets take their memory along")]
    unused: Vec<Box<[u8; LARGEST]>>,
}

/// What happens to data packets before the queue.
#[derive(Default)]
struct Impairments {
    arrived: u64,
    /// Numbers of packets to lose, the next one last.
    drops: Vec<u64>,
    outage: Option<(i64, i64)>,
    reordering: Option<Reordering>,
    random: u64,
}

impl Link {
    /// Towards the receivers; times are after `start`.
    pub(crate) fn forward(case: &Case, start: i64) -> Self {
        let at = |seconds: f64| start + nanoseconds(seconds);
        Self {
            limit: case.limit_pkts,
            marks_from: case.mark_from_pkts.unwrap_or(usize::MAX),
            impairments: Impairments {
                arrived: 0,
                drops: case.drops.iter().rev().copied().collect(),
                outage: case.outage_s.map(|(begin, end)| (at(begin), at(end))),
                reordering: case.reordering,
                random: case.reordering.map_or(0, |reordering| reordering.seed),
            },
            ..Self::reverse(case)
        }
    }

    /// Back, without impairments or a limit.
    pub(crate) fn reverse(case: &Case) -> Self {
        Self {
            rate_bps: case.rate_bps,
            delay: case.delay_ns(),
            limit: usize::MAX,
            marks_from: usize::MAX,
            transit: VecDeque::with_capacity(4096),
            begun: 0,
            free_at: 0,
            impairments: Impairments::default(),
            held: VecDeque::new(),
            unused: (0..4096).map(|_| Box::new([1; LARGEST])).collect(),
        }
    }

    /// A packet arrives, and what becomes of it.
    pub(crate) fn arrive(&mut self, packet: &[u8], is_data: bool, now: i64) -> Fate {
        if is_data {
            match self.impairments.fate(now) {
                Fate::HeldBack => {
                    let delay = self.impairments.reordering.map_or(0.0, |of| of.delay_s);
                    let held = self.in_transit(packet, now + nanoseconds(delay), now);
                    self.held.push_back(held);
                    return Fate::HeldBack;
                }
                Fate::Forwarded => {}
                lost => return lost,
            }
        }
        self.queue(packet, now)
    }

    /// Packets that were held back come to the queue when it is time.
    pub(crate) fn release(&mut self, now: i64) {
        while self.held.front().is_some_and(|packet| packet.due <= now) {
            if let Some(packet) = self.held.pop_front() {
                self.queue(&packet.bytes[..packet.length], packet.due);
                self.unused.push(packet.bytes);
            }
        }
    }

    fn queue(&mut self, packet: &[u8], now: i64) -> Fate {
        let waiting = self.waiting(now);
        if waiting >= self.limit {
            return Fate::Overflow;
        }
        let begins = self.free_at.max(now);
        self.free_at = begins + (packet.len() as f64 * 8e9 / self.rate_bps) as i64;
        let mut transit = self.in_transit(packet, self.free_at + self.delay, begins);
        let marked = waiting >= self.marks_from && packet::mark(&mut transit.bytes[..packet.len()]);
        self.transit.push_back(transit);
        if marked {
            Fate::Marked
        } else {
            Fate::Forwarded
        }
    }

    fn in_transit(&mut self, packet: &[u8], due: i64, begins: i64) -> Transit {
        let mut bytes = self.unused.pop().unwrap_or_else(|| Box::new([0; LARGEST]));
        bytes[..packet.len()].copy_from_slice(packet);
        Transit {
            due,
            begins,
            length: packet.len(),
            bytes,
        }
    }

    /// Packets that wait, without the one in service.
    pub(crate) fn waiting(&mut self, now: i64) -> usize {
        let begun = |packet: &Transit| packet.begins <= now;
        while self.transit.get(self.begun).is_some_and(begun) {
            self.begun += 1;
        }
        self.transit.len() - self.begun
    }

    /// When something is to be done next.
    pub(crate) fn next(&self) -> i64 {
        let due = |queue: &VecDeque<Transit>| queue.front().map_or(i64::MAX, |packet| packet.due);
        due(&self.transit).min(due(&self.held))
    }

    /// The next packet that is due.
    pub(crate) fn leave(&mut self, now: i64) -> Option<Transit> {
        if self.transit.front().is_none_or(|packet| packet.due > now) {
            return None;
        }
        let packet = self.transit.pop_front()?;
        // It was transmitted, whether or not that was looked at.
        self.begun = self.begun.saturating_sub(1);
        Some(packet)
    }

    /// Takes back the memory of a packet that has left.
    pub(crate) fn recycle(&mut self, packet: Transit) {
        self.unused.push(packet.bytes);
    }
}

impl Impairments {
    /// Of the next data packet.
    fn fate(&mut self, now: i64) -> Fate {
        let number = self.arrived;
        self.arrived += 1;
        if self.drops.pop_if(|next| *next == number).is_some() {
            return Fate::Lost;
        }
        if self
            .outage
            .is_some_and(|(begin, end)| (begin..end).contains(&now))
        {
            return Fate::Lost;
        }
        let probability = self.reordering.map_or(0.0, |of| of.probability);
        if probability > 0.0 && self.draw() < probability {
            return Fate::HeldBack;
        }
        Fate::Forwarded
    }

    /// Uniform in [0, 1): SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    fn draw(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::{Fate, Link};
    use crate::case::Case;

    /// 12 Mbit/s: a packet of 1500 bytes a millisecond.
    fn link(more: &str) -> Link {
        let text = format!(
            r#"{{"name": "", "rate_bps": 12e6, "delay_s": 0.01, "limit_pkts": 2, "duration_s": 1, "sample_s": 1,
            "flows": [{{"algorithm": "reno", "start_s": 0}}]{more}}}"#
        );
        Link::forward(&Case::read(&text).expect("a case"), 0)
    }

    const MS: i64 = 1_000_000;

    fn leaving(link: &mut Link, until: i64) -> Vec<i64> {
        std::iter::from_fn(|| link.leave(until).map(|packet| packet.due / MS)).collect()
    }

    #[test]
    fn packets_leave_at_the_rate_and_the_queue_holds_its_limit() {
        let mut link = link("");
        let fates = [0; 5].map(|now| link.arrive(&[0; 1500], true, now));
        let (yes, no) = (Fate::Forwarded, Fate::Overflow);
        assert_eq!(fates, [yes, yes, yes, no, no], "one in service, two wait");
        assert_eq!(link.waiting(MS), 1);
        assert_eq!(leaving(&mut link, 12 * MS), [11, 12]);
        assert_eq!(link.arrive(&[0; 1500], true, 12 * MS), yes);
        assert_eq!(leaving(&mut link, 100 * MS), [13, 23]);
        assert_eq!(link.next(), i64::MAX);
    }

    #[test]
    fn loses_the_packets_of_the_case_and_no_acknowledgement() {
        let mut link = link(r#", "drops": [1], "outage_s": [0.5, 0.6]"#);
        let fates = [false, true, true, true].map(|data| link.arrive(&[0; 100], data, 0));
        let (yes, lost) = (Fate::Forwarded, Fate::Lost);
        assert_eq!(fates, [yes, yes, lost, yes]);
        let fates = [499, 500, 600].map(|ms| link.arrive(&[0; 100], true, ms * MS));
        assert_eq!(fates, [yes, lost, yes]);
    }

    #[test]
    fn a_packet_held_back_is_overtaken() {
        let mut link = link(r#", "reordering": {"probability": 1, "delay_s": 0.003, "seed": 1}"#);
        assert_eq!(link.arrive(&[0; 1500], true, 0), Fate::HeldBack);
        assert_eq!(link.arrive(&[0; 1500], false, MS), Fate::Forwarded);
        assert_eq!(link.next(), 3 * MS);
        link.release(3 * MS);
        assert_eq!(leaving(&mut link, 100 * MS), [12, 14]);
    }
}
