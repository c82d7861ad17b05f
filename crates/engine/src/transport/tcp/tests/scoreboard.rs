//! Differential test of senders with selective acknowledgements. For each acknowledgement, a reference computes the
//! state of RFC 6675 from scratch, with a set of segments and walks through the window.

use std::collections::{BTreeSet, VecDeque};

use proptest::prelude::*;

use super::{SenderBench, ms, reno, tcp};
use crate::config::{Recovery, Tcp};
use crate::measure::FlowSample;

/// `DupThresh`.
const THRESHOLD: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Open,
    Recovery,
    /// After a timeout.
    Loss,
}

/// A sender as in RFC 6675. Its methods are the functions of section 4. It counts segments instead of octets. Upper
/// limits are exclusive.
struct Reference {
    forward: bool,
    phase: Phase,
    una: u64,
    max_sent: u64,
    end: u64,
    sacked: BTreeSet<u64>,
    /// `HighRxt` of RFC 6675.
    high_rxt: u64,
    /// `RecoveryPoint` of RFC 6675.
    recovery_point: u64,
    rescued: bool,
    dupacks: usize,
    /// Number below which all unacknowledged segments count as lost, even if no later segment has arrived. Raised by
    /// timeouts and new recoveries.
    given_up: u64,
}

impl Reference {
    /// Returns the state of a sender that has sent its first window, the segments from 1 to below `max_sent`.
    fn new(recovery: Recovery, end: u64, max_sent: u64) -> Self {
        Self {
            forward: recovery == Recovery::Fack,
            phase: Phase::Open,
            una: 1,
            max_sent,
            end,
            sacked: BTreeSet::new(),
            high_rxt: 0,
            recovery_point: 0,
            rescued: false,
            dupacks: 0,
            given_up: 0,
        }
    }

    /// Returns the segments not selectively acknowledged.
    fn missing(&self) -> impl Iterator<Item = u64> {
        (self.una..self.max_sent).filter(|segment| !self.sacked.contains(segment))
    }

    /// Returns true if at least `DupThresh` segments above `segment` have arrived (section 4). The other condition of
    /// the RFC, three discontiguous sequences, implies this one.
    fn is_lost(&self, segment: u64) -> bool {
        let counted = || self.sacked.range(segment + 1..).count() > THRESHOLD - 1;
        segment < self.given_up || !self.forward && counted()
    }

    /// Applies FACK (Mathis and Mahdavi, SIGCOMM 1996): a segment is lost if a higher one has arrived. Outside a
    /// recovery, the higher one must be more than three segments ahead.
    fn give_up_below_the_furthest(&mut self) {
        if let Some(&last) = self.sacked.last()
            && (self.phase != Phase::Open || last >= self.una + THRESHOLD as u64)
        {
            self.given_up = self.given_up.max(last);
        }
    }

    /// Returns the pipe, the number of segments in flight (`SetPipe`).
    fn pipe(&self) -> u64 {
        let counts =
            |segment| u64::from(!self.is_lost(segment)) + u64::from(segment < self.high_rxt);
        self.missing().map(counts).sum()
    }

    /// Returns the next segment to send (`NextSeg`), if there is one, and records its transmission. Outside a recovery,
    /// this is always new data.
    fn next(&mut self) -> Option<u64> {
        let highest = self.sacked.last().copied().unwrap_or(0);
        let repeats = |reference: &Self, lost: bool| {
            let unrepaired = reference
                .missing()
                .filter(|&segment| segment >= reference.high_rxt);
            let mut candidates = unrepaired.filter(|&segment| {
                if lost {
                    reference.is_lost(segment)
                } else {
                    segment < highest
                }
            });
            candidates.next()
        };
        if self.phase != Phase::Open
            && let Some(segment) = repeats(self, true)
        {
            self.high_rxt = segment + 1;
            return Some(segment);
        }
        if self.max_sent < self.end {
            self.max_sent += 1;
            return Some(self.max_sent - 1);
        }
        if self.phase != Phase::Recovery {
            return None;
        }
        if let Some(segment) = repeats(self, false) {
            self.high_rxt = segment + 1;
            return Some(segment);
        }
        // The rescue retransmission does not move `HighRxt`.
        let last = self
            .missing()
            .last()
            .filter(|&last| last > highest && last >= self.high_rxt);
        let rescue = last.filter(|_| !self.rescued);
        self.rescued |= rescue.is_some();
        rescue
    }

    /// Processes an acknowledgement (section 5). Returns the segment that is sent at once, regardless of the window.
    fn on_ack(&mut self, next: u64, blocks: &[(u64, u64)]) -> Option<u64> {
        let advanced = next > self.una;
        self.una = self.una.max(next);
        self.high_rxt = self.high_rxt.max(self.una);
        let before = self.sacked.len();
        let blocks = blocks.iter().flat_map(|&(left, right)| left..right);
        self.sacked
            .extend(blocks.filter(|&segment| segment >= next));
        let news = self.sacked.len() > before;
        self.sacked = self.sacked.split_off(&self.una);
        if advanced {
            self.dupacks = 0;
        } else if news {
            self.dupacks += 1;
        }
        if self.forward {
            self.give_up_below_the_furthest();
        }
        if self.phase != Phase::Open && self.una >= self.recovery_point {
            let recovered = self.phase == Phase::Recovery;
            self.phase = Phase::Open;
            if recovered {
                return None;
            }
        }
        let lost = self.missing().any(|segment| self.is_lost(segment));
        let enters = lost || self.dupacks >= THRESHOLD;
        if self.phase != Phase::Open || !enters || self.una == self.max_sent {
            return None;
        }
        self.phase = Phase::Recovery;
        self.recovery_point = self.max_sent;
        self.rescued = false;
        self.given_up = self.given_up.max(self.una + 1);
        (self.high_rxt <= self.una).then(|| {
            self.high_rxt = self.una + 1;
            self.una
        })
    }

    /// Processes a timeout: all segments that have not arrived are to be retransmitted (RFC 6675 section 5.1).
    fn on_timeout(&mut self) {
        self.phase = Phase::Loss;
        self.recovery_point = self.max_sent;
        self.given_up = self.max_sent;
        self.high_rxt = self.una;
        self.dupacks = 0;
    }

    /// Sends as many segments as the window allows. Returns the list of their numbers. The list begins with `first`,
    /// the number of a segment that has already been sent, if there is one.
    fn send(&mut self, first: Option<u64>, cwnd: f64) -> Vec<u64> {
        let mut sent = Vec::from_iter(first);
        while (self.pipe() + 1) as f64 <= cwnd
            && let Some(segment) = self.next()
        {
            sent.push(segment);
        }
        sent
    }
}

/// A sender and its reference, with a path and a receiver.
struct Pair {
    bench: SenderBench,
    reference: Reference,
    at: u64,
    timeouts: u64,
    path: VecDeque<u64>,
    received: BTreeSet<u64>,
    /// SACK blocks, the most recently reported first.
    reported: Vec<(u64, u64)>,
}

impl Pair {
    fn new(recovery: Recovery, window: f64, segments: u64) -> Self {
        let config = Tcp {
            initial_window: window,
            transfer: Some(segments * 1460),
            ..tcp(recovery)
        };
        let mut bench = SenderBench::open(config, reno());
        let path = VecDeque::from(bench.sent());
        let path: VecDeque<u64> = path.into_iter().filter(|&segment| segment > 0).collect();
        let max_sent = path.back().map_or(1, |last| last + 1);
        Self {
            reference: Reference::new(recovery, segments + 1, max_sent),
            bench,
            at: 200,
            timeouts: 0,
            path,
            received: BTreeSet::from([0]),
            reported: Vec::new(),
        }
    }

    fn next_expected(&self) -> u64 {
        (0..)
            .find(|next| !self.received.contains(next))
            .expect("there is an end")
    }

    /// Delivers a segment to the receiver, and updates the SACK blocks of its acknowledgement (RFC 2018 section 4).
    fn receive(&mut self, segment: u64) {
        self.received.insert(segment);
        let next = self.next_expected();
        let first = (segment > next).then(|| {
            let apart = |at: &u64| !self.received.contains(at);
            let left = (0..segment).rev().find(apart).map_or(0, |at| at + 1);
            (left, (segment..).find(apart).unwrap_or(segment))
        });
        let old = std::mem::take(&mut self.reported);
        let inside = |(left, right): (u64, u64)| {
            left < next || first.is_some_and(|(l, r)| l <= left && right <= r)
        };
        self.reported = Vec::from_iter(first);
        self.reported
            .extend(old.into_iter().filter(|&block| !inside(block)));
        self.reported.truncate(3);
    }

    fn sample(&mut self) -> FlowSample {
        self.bench.sender.sample(ms(self.at))
    }

    /// Advances the time by `span` milliseconds. After each timeout, compares the sender with the reference.
    fn wait(&mut self, span: u64) -> Result<(), TestCaseError> {
        for _ in 0..span {
            self.at += 1;
            self.bench.wait(self.at);
            let timeouts = self.bench.sender.counters(ms(self.at)).timeouts;
            if timeouts > self.timeouts {
                self.timeouts = timeouts;
                self.reference.on_timeout();
                self.compare(None)?;
            }
        }
        Ok(())
    }

    fn ack(&mut self) -> Result<(), TestCaseError> {
        let next = self.next_expected();
        self.bench.ack(self.at, next, &self.reported);
        let first = self.reference.on_ack(next, &self.reported);
        self.compare(first)
    }

    /// Checks that the sender and the reference send the same segments and have the same number in flight. `first` is
    /// the segment that the reference sent at once when it processed an acknowledgement, if any.
    fn compare(&mut self, first: Option<u64>) -> Result<(), TestCaseError> {
        let cwnd = self.sample().cwnd.unwrap();
        let sent = self.bench.sent();
        let expected = self.reference.send(first, cwnd);
        prop_assert_eq!(&sent, &expected, "window {} at {} ms", cwnd, self.at);
        prop_assert_eq!(self.sample().in_flight, self.reference.pipe());
        self.path.extend(sent);
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Senders send the same segments as a second implementation of RFC 6675, and have the same number in flight. Many
    /// segments and acknowledgements are lost or reordered. Some losses are repaired only after a timeout.
    #[test]
    fn selective_acknowledgements_are_accounted_for_as_rfc_6675_says(
        recovery in prop::sample::select(vec![Recovery::Sack, Recovery::Fack]),
        window in 4u32..80,
        segments in 50u64..400,
        loss in prop::sample::select(vec![0.05, 0.3, 0.6]),
        fates in prop::collection::vec((0.0..1.0, 0.0..1.0, 0usize..40), 400),
    ) {
        let mut pair = Pair::new(recovery, window.into(), segments);
        for (segment_fate, ack_fate, overtakes) in fates {
            let Some(segment) = pair.path.pop_front() else {
                if pair.reference.una > segments {
                    break;
                }
                pair.wait(1000)?;
                continue;
            };
            pair.wait(1)?;
            if overtakes < 3 {
                let later = overtakes.min(pair.path.len());
                pair.path.insert(later, segment);
                continue;
            }
            if segment_fate >= loss {
                pair.receive(segment);
                if ack_fate >= 0.1 {
                    pair.ack()?;
                }
            }
        }
    }
}
