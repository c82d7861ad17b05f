//! The last transmission of each segment in flight, as a list in the order of sending. The first segment that can be
//! lost is always the first of the list: no walk through all segments is necessary (as in RFC 8985 section 6.2).
//!
//! The doubly linked list is stored in the ring of segments. Every segment enters and leaves the list once per
//! transmission. Only the methods for undoing a reduction (`restore_lost`, `repeated_in`) have a cost that depends on
//! the window. A segment takes 16 bytes, plus two bits once any segment was retransmitted.

use longhaul_units::Time;

use crate::transport::tcp::bitmap::Bitmap;
use crate::transport::tcp::segment_ring::SegmentRing;

/// Number that stands for no segment.
const NONE: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Time of the last transmission; [`Time::NEVER`] once the segment is delivered.
    sent: Time,
    /// Lower 32 bits of the number of the preceding segment in the list; for the first segment, of its own number.
    before: u32,
    /// Lower 32 bits of the number of the following segment in the list; for the last segment, of its own number.
    after: u32,
}

/// Time and segment number of a transmission. RACK orders transmissions by time, then by number (`RACK_sent_after`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Transmission {
    pub(crate) sent: Time,
    pub(crate) segment: u64,
}

/// The segments in flight.
#[derive(Debug)]
pub(crate) struct Transmissions {
    entries: SegmentRing<Entry>,
    first: u64,
    last: u64,
    /// Number of the last-sent segment in flight that has been overtaken: a segment sent later has arrived.
    overtaken: u64,
    /// Number of segments that are lost and not retransmitted.
    lost_count: u64,
    /// Segments that are lost and not retransmitted.
    lost: Bitmap,
    /// Segments sent more than once.
    repeated: Bitmap,
    /// One past the highest segment that was ever sent more than once.
    repeated_below: u64,
    /// One past the highest segment that has arrived (`RACK.fack`).
    fack: u64,
    /// Degree of reordering: the maximum of `fack` less the number of a segment that arrives below it, thus 2 if two
    /// neighbours are exchanged. A retransmitted segment counts only if its first copy is known to have arrived. Zero
    /// without reordering (`RACK.reordering_seen`; Linux, `tcp_check_sack_reordering`).
    reordering: u64,
}

impl Default for Transmissions {
    fn default() -> Self {
        Self {
            entries: SegmentRing::default(),
            first: NONE,
            last: NONE,
            overtaken: NONE,
            lost_count: 0,
            lost: Bitmap::default(),
            repeated: Bitmap::default(),
            repeated_below: 0,
            fack: 0,
            reordering: 0,
        }
    }
}

impl Transmissions {
    /// Returns the number of segments lost and not retransmitted.
    #[inline]
    pub(crate) fn lost(&self) -> u64 {
        self.lost_count
    }

    /// Returns true if the first copy of a segment has arrived after a higher segment (RFC 8985 section 6.2, step 3).
    #[inline]
    pub(crate) fn reordering_seen(&self) -> bool {
        self.reordering > 0
    }

    /// Returns the degree of reordering in segments; zero if none was seen.
    pub(crate) fn reordering(&self) -> u64 {
        self.reordering
    }

    /// Records that a segment has been overtaken by the highest segment that has arrived, to update the degree of
    /// reordering.
    #[inline]
    pub(crate) fn see_overtaken(&mut self, segment: u64) {
        self.reordering = self.reordering.max(self.fack.saturating_sub(segment));
    }

    /// Returns true if a segment is lost and not retransmitted.
    #[inline]
    pub(crate) fn is_lost(&self, segment: u64) -> bool {
        self.lost.contains(segment)
    }

    /// Returns the number of segments in `[from, to)` with a retransmission in flight: it has neither arrived nor been
    /// marked as lost.
    pub(crate) fn repeated_in(&self, from: u64, to: u64) -> u64 {
        let under_way = |&segment: &u64| {
            let sent = self.entries.at(segment).sent;
            sent != Time::NEVER && self.repeated.contains(segment) && !self.is_lost(segment)
        };
        (from.max(1)..to).filter(under_way).count() as u64
    }

    /// Returns the first segment that is lost and not retransmitted.
    #[inline]
    pub(crate) fn first_lost(&self) -> Option<u64> {
        if self.lost_count == 0 {
            return None;
        }
        self.lost.next(self.entries.base())
    }

    /// Records a transmission of a segment, the first one or a later one.
    #[inline]
    pub(crate) fn send(&mut self, segment: u64, now: Time) {
        if segment < self.entries.end() {
            self.withdraw(segment);
        }
        self.append(segment, now);
    }

    /// Appends a segment to the list.
    #[inline(always)]
    fn append(&mut self, segment: u64, now: Time) {
        let own = segment as u32;
        let last = std::mem::replace(&mut self.last, segment);
        let before = if last == NONE { own } else { last as u32 };
        let entry = Entry {
            sent: now,
            before,
            after: own,
        };
        self.entries.set(segment, entry);
        if last == NONE {
            self.first = segment;
        } else {
            self.entries.at_mut(last).after = own;
        }
    }

    /// Records the first transmission of a segment.
    #[inline(always)]
    pub(crate) fn send_new(&mut self, segment: u64, now: Time) {
        debug_assert!(segment == self.entries.end(), "sent before");
        self.append(segment, now);
    }

    /// Removes a segment from the list of transmissions, because the segment is about to be retransmitted.
    #[inline(never)]
    fn withdraw(&mut self, segment: u64) {
        self.repeated.insert(segment, segment + 1);
        self.repeated_below = self.repeated_below.max(segment + 1);
        if !self.find_again(segment) && self.entries.at(segment).sent != Time::NEVER {
            self.unlink(segment);
        }
    }

    /// Removes a segment from the set of lost segments. Returns true if it was in the set.
    #[inline]
    fn find_again(&mut self, segment: u64) -> bool {
        let was_lost = self.lost_count > 0 && self.lost.remove(segment);
        self.lost_count -= u64::from(was_lost);
        was_lost
    }

    /// Records that a segment is acknowledged. Returns the time of its last transmission, and true if it was sent more
    /// than once. Returns `None` if it had been delivered before.
    #[inline]
    pub(crate) fn deliver(&mut self, segment: u64) -> Option<(Time, bool)> {
        let entry = self.entries.get_mut(segment)?;
        let sent = std::mem::replace(&mut entry.sent, Time::NEVER);
        if sent == Time::NEVER {
            return None;
        }
        if !self.find_again(segment) {
            self.unlink(segment);
        }
        let repeated = self.repeated.contains(segment);
        if segment >= self.fack {
            self.fack = segment + 1;
        } else if !repeated {
            self.see_overtaken(segment);
        }
        Some((sent, repeated))
    }

    /// Returns true if no segment is lost or overtaken.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        self.lost_count == 0 && self.overtaken == NONE
    }

    /// Returns true if the list contains the segments from `una` on in ascending order. Only valid if no segment from
    /// `una` on has been delivered or lost.
    #[inline]
    pub(crate) fn is_in_order_from(&self, una: u64) -> bool {
        self.repeated_below <= una
    }

    /// Records the acknowledgement of all segments below `next`, and forgets them. They must be the first of the list,
    /// and at least one segment must remain. Returns the last acknowledged transmission.
    #[inline]
    pub(crate) fn deliver_first(&mut self, next: u64) -> Transmission {
        debug_assert!(self.first < next && self.lost_count == 0, "in order");
        let newest = self.transmission(next - 1);
        self.entries.at_mut(next).before = next as u32;
        self.first = next;
        self.fack = next;
        self.entries.forget_below(next);
        newest
    }

    /// Marks a segment in flight as lost.
    pub(crate) fn mark_lost(&mut self, segment: u64) {
        self.unlink(segment);
        self.lost.insert(segment, segment + 1);
        self.lost_count += 1;
    }

    /// Marks all lost segments as not lost. Inserts them into the list of segments in flight, ordered by send time.
    #[cold]
    pub(crate) fn restore_lost(&mut self) {
        let base = self.entries.base();
        while let Some(segment) = self.lost.next(base).filter(|_| self.lost_count > 0) {
            self.find_again(segment);
            self.put_in_line(self.transmission(segment));
        }
        self.overtaken = NONE;
    }

    /// Inserts a transmission into the list, before all transmissions that were sent later.
    fn put_in_line(&mut self, own: Transmission) {
        let mut after = self.first;
        while after != NONE && self.transmission(after) < own {
            after = self.after(after);
        }
        let before = match after {
            NONE => self.last,
            next => self.before(next),
        };
        let segment = own.segment;
        let half = |neighbour| if neighbour == NONE { segment } else { neighbour } as u32;
        let entry = self.entries.at_mut(segment);
        (entry.before, entry.after) = (half(before), half(after));
        match before {
            NONE => self.first = segment,
            before => self.entries.at_mut(before).after = segment as u32,
        }
        match after {
            NONE => self.last = segment,
            after => self.entries.at_mut(after).before = segment as u32,
        }
    }

    /// Forgets all segments below `segment`, which must be delivered.
    #[inline]
    pub(crate) fn forget_below(&mut self, segment: u64) {
        if self.lost_count > 0 {
            self.lost.remove_below(segment);
        }
        if self.repeated_below > self.entries.base() {
            self.repeated.remove_below(segment);
        }
        self.entries.forget_below(segment);
    }

    /// Advances `overtaken` to the list's last segment sent before `newest`, the newest transmission that has arrived.
    #[inline]
    pub(crate) fn overtake(&mut self, newest: Transmission) {
        loop {
            let next = match self.overtaken {
                NONE => self.first,
                segment => self.after(segment),
            };
            if next == NONE || self.transmission(next) > newest {
                return;
            }
            self.overtaken = next;
        }
    }

    /// Returns the first transmission in the list.
    #[inline]
    pub(crate) fn first(&self) -> Option<Transmission> {
        (self.first != NONE).then(|| self.transmission(self.first))
    }

    /// Returns the last transmission in the list that a later transmission has overtaken.
    #[inline]
    pub(crate) fn last_overtaken(&self) -> Option<Transmission> {
        (self.overtaken != NONE).then(|| self.transmission(self.overtaken))
    }

    #[inline]
    fn transmission(&self, segment: u64) -> Transmission {
        let sent = self.entries.at(segment).sent;
        Transmission { sent, segment }
    }

    #[inline]
    fn before(&self, segment: u64) -> u64 {
        self.neighbour(segment, self.entries.at(segment).before)
    }

    #[inline]
    fn after(&self, segment: u64) -> u64 {
        self.neighbour(segment, self.entries.at(segment).after)
    }

    /// Returns the number of the segment before or after `segment` in the list; `half` is the lower half of this
    /// number. Returns [`NONE`] if there is no such segment: `half` is then the lower half of `segment` itself.
    #[inline]
    fn neighbour(&self, segment: u64, half: u32) -> u64 {
        if half == segment as u32 {
            return NONE;
        }
        let base = self.entries.base();
        base + u64::from(half.wrapping_sub(base as u32))
    }

    #[inline]
    fn unlink(&mut self, segment: u64) {
        let (before, after) = (self.before(segment), self.after(segment));
        let half =
            |neighbour: u64, other: u64| if neighbour == NONE { other } else { neighbour } as u32;
        if before == NONE {
            self.first = after;
        } else {
            self.entries.at_mut(before).after = half(after, before);
        }
        if after == NONE {
            self.last = before;
        } else {
            self.entries.at_mut(after).before = half(before, after);
        }
        if self.overtaken == segment {
            self.overtaken = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Span;
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum State {
        UnderWay,
        Lost,
        Delivered,
    }

    /// State of a segment in the reference model.
    #[derive(Clone, Copy, Debug)]
    struct Known {
        last: Transmission,
        repeated: bool,
        state: State,
    }

    /// Reference model of the tests: it keeps all segments ever sent, and each query visits all of them.
    #[derive(Default)]
    struct Plain(Vec<Known>);

    impl Plain {
        fn under_way(&self, up_to: Option<Transmission>) -> Vec<Transmission> {
            let known = self.0.iter().filter(|known| known.state == State::UnderWay);
            let mut all: Vec<_> = known.map(|known| known.last).collect();
            all.retain(|&one| up_to.is_none_or(|newest| one <= newest));
            all.sort_unstable();
            all
        }

        fn lost(&self) -> Vec<u64> {
            let lost = self.0.iter().filter(|known| known.state == State::Lost);
            lost.map(|known| known.last.segment).collect()
        }
    }

    proptest! {
        /// Compares the list of transmissions with a reference model that walks through all segments.
        #[test]
        fn finds_what_walks_through_the_window_find(
            steps in prop::collection::vec((0u8..8, 0u64..100, 1u64..30), 1..120),
        ) {
            let mut line = Transmissions::default();
            let mut plain = Plain::default();
            let mut newest = None;
            let mut fack = 0;
            let mut reordering_seen = false;
            let mut una = 1;
            for (at, (action, number, count)) in (1..).zip(steps) {
                let now = Time::ZERO + Span::from_millis(at);
                let chosen = (una + number) as usize;
                match action {
                    0 => for _ in 0..count {
                        let segment = plain.0.len() as u64 + 1;
                        line.send(segment, now);
                        let last = Transmission { sent: now, segment };
                        plain.0.push(Known { last, repeated: false, state: State::UnderWay });
                    },
                    1 => for segment in plain.lost().into_iter().take(count as usize) {
                        line.send(segment, now);
                        let known = &mut plain.0[segment as usize - 1];
                        known.last.sent = now;
                        known.repeated = true;
                        known.state = State::UnderWay;
                    },
                    2 => for first in plain.under_way(None).into_iter().take(count as usize) {
                        line.mark_lost(first.segment);
                        plain.0[first.segment as usize - 1].state = State::Lost;
                    },
                    3 | 4 => for known in plain.0.iter_mut().skip(chosen - 1).step_by(2).take(count as usize) {
                        let Known { last, repeated, state } = *known;
                        let found = line.deliver(last.segment);
                        let expected = (state != State::Delivered).then_some((last.sent, repeated));
                        prop_assert_eq!(found, expected);
                        if expected.is_some() {
                            reordering_seen |= !repeated && last.segment < fack;
                            fack = fack.max(last.segment + 1);
                            newest = newest.max(Some(last));
                            known.state = State::Delivered;
                        }
                    },
                    5 => {
                        line.restore_lost();
                        let lost = plain.0.iter_mut().filter(|known| known.state == State::Lost);
                        lost.for_each(|known| known.state = State::UnderWay);
                    }
                    _ => {
                        let kept = plain.0.iter().position(|known| known.state != State::Delivered);
                        una = kept.unwrap_or(plain.0.len()) as u64 + 1;
                        line.forget_below(una);
                    }
                }
                if let Some(newest) = newest {
                    line.overtake(newest);
                }
                let overtaken = newest.and_then(|newest| plain.under_way(Some(newest)).pop());
                prop_assert_eq!(line.last_overtaken(), overtaken);
                prop_assert_eq!(line.first(), plain.under_way(None).first().copied());
                let lost = plain.lost();
                prop_assert_eq!(line.lost(), lost.len() as u64);
                prop_assert_eq!(line.first_lost(), lost.first().copied());
                prop_assert!((1..fack).all(|segment| line.is_lost(segment) == lost.contains(&segment)));
                prop_assert_eq!(line.reordering_seen(), reordering_seen);
            }
        }
    }
}
