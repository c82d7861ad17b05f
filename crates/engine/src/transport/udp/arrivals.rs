//! Filter of duplicate datagrams, for paths that duplicate packets.
//!
//! The filter has one bit for each of the last `WINDOW` sequence numbers, like the replay window of IPsec (RFC 4303
//! section 3.4.3). A datagram older than the window counts as a duplicate.

use std::collections::VecDeque;

const BITS: u64 = u64::BITS as u64;

/// Number of the most recent sequence numbers whose arrivals are recorded. Their bits take 32 KiB. At 10 Gbit/s with
/// packets of 1500 bytes, they cover 0.3 s.
const WINDOW: u64 = 1 << 18;

/// Sequence numbers that have arrived.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    /// A bit for each sequence number from 64 * `first` on: 1 if the datagram has arrived. All smaller sequence numbers
    /// count as arrived.
    words: VecDeque<u64>,
    first: u64,
}

impl Arrivals {
    /// Records a datagram; returns true if it arrives for the first time.
    pub(crate) fn is_first(&mut self, sequence: u64) -> bool {
        let (word, bit) = (sequence / BITS, 1 << (sequence % BITS));
        let Some(place) = word.checked_sub(self.first) else {
            return false;
        };
        let place = self.make_room(place);
        let seen = &mut self.words[place as usize];
        let first = *seen & bit == 0;
        *seen |= bit;
        while self.words.front() == Some(&u64::MAX) {
            self.words.pop_front();
            self.first += 1;
        }
        first
    }

    /// Extends `words` to the element with index `place`. Drops the oldest elements if there would be more than
    /// `WINDOW` bits. Returns the index that the element at `place` then has.
    fn make_room(&mut self, mut place: u64) -> u64 {
        let most = WINDOW / BITS;
        if place >= most {
            let passed = place + 1 - most;
            self.words.drain(..self.words.len().min(passed as usize));
            self.first += passed;
            place -= passed;
        }
        if self.words.len() as u64 <= place {
            self.words.resize(place as usize + 1, 0);
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_told_from_first_arrivals_as_far_back_as_the_window_reaches() {
        let mut arrivals = Arrivals::default();
        // Every third datagram is lost. Each of the others arrives twice, the second time ten numbers later.
        let mut first = 0;
        for sequence in 0..3 * WINDOW {
            let copy = sequence.saturating_sub(10);
            for number in [sequence, copy] {
                first += u64::from(number % 3 != 0 && arrivals.is_first(number));
            }
        }
        assert_eq!(first, 2 * WINDOW);
        assert!(arrivals.words.len() as u64 <= WINDOW / BITS);
        let newest = 3 * WINDOW - 1;
        let oldest = (newest / BITS + 1) * BITS - WINDOW;
        let lost = oldest.next_multiple_of(3);
        assert!(arrivals.is_first(lost) && !arrivals.is_first(lost));
        assert!(!arrivals.is_first(lost - 66), "below the window");
        // If all numbers arrive in order, one word is sufficient.
        let mut arrivals = Arrivals::default();
        assert!((0..1000).all(|number| arrivals.is_first(number)));
        assert_eq!(arrivals.words.len(), 1);
    }
}
