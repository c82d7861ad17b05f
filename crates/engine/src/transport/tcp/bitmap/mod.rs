//! A set of numbers in a window that moves up. Each number has one bit, in a ring of 64-bit words.
//!
//! Two trees over the words speed up searches. The tree of non-empty words finds the next or the last number in the
//! set; the tree of non-full words finds the next or the last missing number. Each level covers 64 times as much as the
//! level below: every search is `O(log64 n)`. Memory: 1.03 bits for each number of the window, rounded up to a power of
//! two.

mod tree;

use std::ops::{Deref, Range};

use self::tree::Tree;

const BITS: u64 = u64::BITS as u64;

/// The set; a null pointer until something is added, since most connections lose few segments.
#[derive(Debug, Default)]
pub(super) struct Bitmap(Option<Box<Words>>);

static NOTHING: Words = Words::NONE;

impl Deref for Bitmap {
    type Target = Words;

    #[inline]
    fn deref(&self) -> &Words {
        self.0.as_deref().unwrap_or(&NOTHING)
    }
}

impl Bitmap {
    /// Adds the numbers `[left, right)`. The range must not be empty.
    #[inline]
    pub(super) fn insert(&mut self, left: u64, right: u64) {
        let words = self.0.get_or_insert_with(|| Box::new(Words::NONE));
        words.insert(left, right);
    }

    /// Removes a number. Returns true if it was in the set.
    #[inline]
    pub(super) fn remove(&mut self, number: u64) -> bool {
        self.0.as_mut().is_some_and(|words| words.remove(number))
    }

    /// Removes everything below `number`; returns the count of numbers removed.
    #[inline]
    pub(super) fn remove_below(&mut self, number: u64) -> u64 {
        let words = self.0.as_mut();
        words.map_or(0, |words| words.remove_below(number))
    }

    pub(super) fn clear(&mut self) {
        self.remove_below(self.window.end * BITS);
    }
}

/// Content of the set: its words, and the trees for searches.
#[derive(Debug)]
pub(super) struct Words {
    /// Ring of words, indexed by the number of a word modulo the length, a power of two. The ring holds the words of
    /// the range `window`, and at least one more word, which is empty.
    words: Vec<u64>,
    not_empty: Tree,
    not_full: Tree,
    /// Range of word numbers: all words outside are empty.
    window: Range<u64>,
}

impl Words {
    const NONE: Self = Self {
        words: Vec::new(),
        not_empty: Tree::EMPTY,
        not_full: Tree::EMPTY,
        window: 0..0,
    };
    const FEWEST_WORDS: usize = 4;

    #[inline]
    fn place(&self, word: u64) -> usize {
        word as usize & (self.words.len() - 1)
    }

    /// Returns the number of words from the index `from` forward to the index `to`, around the ring.
    #[inline]
    fn distance(&self, from: usize, to: usize) -> u64 {
        (to.wrapping_sub(from) & (self.words.len() - 1)) as u64
    }

    #[inline]
    pub(super) fn contains(&self, number: u64) -> bool {
        let word = number / BITS;
        self.window.contains(&word) && self.words[self.place(word)] >> (number % BITS) & 1 != 0
    }

    /// Returns the smallest number at or above `from` that is not in the set.
    #[inline]
    pub(super) fn next_absent(&self, from: u64) -> u64 {
        let word = from / BITS;
        if !self.window.contains(&word) {
            return from;
        }
        let place = self.place(word);
        let absent = !self.words[place] >> (from % BITS);
        if absent != 0 {
            return from + u64::from(absent.trailing_zeros());
        }
        let found = self.not_full.next_round(place + 1);
        let word = word + self.distance(place, found);
        word * BITS + u64::from(self.words[found].trailing_ones())
    }

    /// Returns the first number of the run of consecutive numbers in the set that ends with `end - 1`; `end` if `end -
    /// 1` is not in the set.
    #[inline]
    pub(super) fn begin_of_run(&self, end: u64) -> u64 {
        let Some(last) = end.checked_sub(1) else {
            return end;
        };
        let word = last / BITS;
        if !self.window.contains(&word) {
            return end;
        }
        let place = self.place(word);
        let unused = BITS - 1 - last % BITS;
        let present = u64::from((self.words[place] << unused).leading_ones());
        if present + unused < BITS {
            return end - present;
        }
        let found = self.not_full.last_round(place, self.words.len());
        let above = word + 1 - self.distance(found, place);
        above * BITS - u64::from(self.words[found].leading_ones())
    }

    /// Returns the smallest number in the set at or above `from`.
    #[inline]
    pub(super) fn next(&self, from: u64) -> Option<u64> {
        let from = from.max(self.window.start * BITS);
        let word = from / BITS;
        if word >= self.window.end {
            return None;
        }
        let place = self.place(word);
        let present = self.words[place] >> (from % BITS);
        if present != 0 {
            return Some(from + u64::from(present.trailing_zeros()));
        }
        let found = self.not_empty.next(place + 1);
        let found = found.or_else(|| self.not_empty.next(0))?;
        let word = word + self.distance(place, found);
        let number = word * BITS + u64::from(self.words[found].trailing_zeros());
        (found != place && word < self.window.end).then_some(number)
    }

    /// Returns the largest number in the set below `end`.
    #[inline]
    pub(super) fn last(&self, end: u64) -> Option<u64> {
        let last = end.min(self.window.end * BITS).checked_sub(1)?;
        let word = last / BITS;
        if word < self.window.start {
            return None;
        }
        let place = self.place(word);
        let unused = BITS - 1 - last % BITS;
        let present = self.words[place] << unused;
        if present != 0 {
            return Some(last - u64::from(present.leading_zeros()));
        }
        let found = self.not_empty.last(place);
        let found = found.or_else(|| self.not_empty.last(self.words.len()))?;
        let back = self.distance(found, place);
        let inside = found != place && back <= word - self.window.start;
        inside
            .then(|| (word - back) * BITS + BITS - 1 - u64::from(self.words[found].leading_zeros()))
    }

    /// Returns the count of numbers of the set in `[left, right)`. Reads all words from `left` to `right`.
    pub(super) fn count(&self, left: u64, right: u64) -> u64 {
        let words = self.window.start.max(left / BITS)..self.window.end.min(right.div_ceil(BITS));
        let count = |word| (self.words[self.place(word)] & mask(word, left, right)).count_ones();
        words.map(count).map(u64::from).sum()
    }

    #[inline]
    fn insert(&mut self, left: u64, right: u64) {
        debug_assert!(left < right, "nothing to add");
        let words = left / BITS..right.div_ceil(BITS);
        if words.start < self.window.start || words.end > self.window.end {
            self.widen(words.clone());
        }
        for word in words {
            let place = self.place(word);
            let before = self.words[place];
            let after = before | mask(word, left, right);
            self.words[place] = after;
            if before == 0 {
                self.not_empty.insert(place);
            }
            if after == u64::MAX {
                self.not_full.remove(place);
            }
        }
    }

    /// Widens the window to include `words`. If the set is empty, `words` becomes the window.
    #[inline(never)]
    fn widen(&mut self, words: Range<u64>) {
        let mut window = words;
        if !self.not_empty.is_empty() {
            window = window.start.min(self.window.start)..window.end.max(self.window.end);
        }
        if window.end - window.start >= self.words.len() as u64 {
            self.grow(window.end - window.start);
        }
        self.window = window;
    }

    /// Grows the ring so that it has more than `count` words.
    #[cold]
    fn grow(&mut self, count: u64) {
        let places = (count as usize + 1).next_power_of_two();
        let places = places.max(Self::FEWEST_WORDS);
        let mut words = vec![0; places];
        self.not_full = Tree::of_all(places);
        let not_empty = std::mem::replace(&mut self.not_empty, Tree::of_none(places));
        if !not_empty.is_empty() {
            for word in self.window.clone() {
                let place = word as usize & (places - 1);
                words[place] = self.words[self.place(word)];
                if words[place] != 0 {
                    self.not_empty.insert(place);
                }
                if words[place] == u64::MAX {
                    self.not_full.remove(place);
                }
            }
        }
        self.words = words;
    }

    #[inline]
    fn remove(&mut self, number: u64) -> bool {
        let present = self.contains(number);
        if present {
            let place = self.place(number / BITS);
            let before = self.words[place];
            self.set_word(place, before, before & !(1 << (number % BITS)));
        }
        present
    }

    #[inline]
    fn remove_below(&mut self, number: u64) -> u64 {
        if number <= self.window.start * BITS {
            return 0;
        }
        let mut removed = 0;
        let end = self.window.end.min(number.div_ceil(BITS));
        for word in self.window.start..end {
            let place = self.place(word);
            let before = self.words[place];
            if before != 0 {
                let kept = before & !mask(word, 0, number);
                removed += (before & !kept).count_ones();
                self.set_word(place, before, kept);
            }
        }
        self.window.start = self.window.end.min(number / BITS);
        removed.into()
    }

    /// Replaces the word `before` at the index `place` by `after`, which has no bit that `before` lacks. Updates the
    /// search trees.
    #[inline]
    fn set_word(&mut self, place: usize, before: u64, after: u64) {
        self.words[place] = after;
        if before == u64::MAX && after != before {
            self.not_full.insert(place);
        }
        if after == 0 {
            self.not_empty.remove(place);
        }
    }
}

/// Returns the mask of the bits for the numbers `[left, right)` in the word number `word` (not its index in
/// the ring).
#[inline]
fn mask(word: u64, left: u64, right: u64) -> u64 {
    let first = word * BITS;
    let below = |number: u64| match number.saturating_sub(first) {
        bits @ 0..BITS => (1 << bits) - 1,
        _ => u64::MAX,
    };
    below(right) & !below(left)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_removed_from_a_full_word_is_absent() {
        let mut bitmap = Bitmap::default();
        bitmap.insert(1, 300);
        assert!(bitmap.remove(70));
        assert_eq!((bitmap.next_absent(1), bitmap.next_absent(71)), (70, 300));
    }

    /// Reference for tests of [`Bitmap`]: a set of units. Each unit stands for `size` consecutive numbers.
    struct Units {
        size: u64,
        units: BTreeSet<u64>,
    }

    impl Units {
        fn contains(&self, number: u64) -> bool {
            self.units.contains(&(number / self.size))
        }

        /// Returns the first number, from `from` on, for which [`Self::contains`] returns `present`.
        fn next(&self, from: u64, present: bool) -> Option<u64> {
            let last = self.units.last().map_or(0, |last| last + 1);
            let unit = from / self.size;
            let mut units = unit..=unit.max(last);
            let unit = units.find(|unit| self.units.contains(unit) == present)?;
            Some(from.max(unit * self.size))
        }

        /// Returns the last number below `end` for which [`Self::contains`] returns `present`.
        fn last(&self, end: u64, present: bool) -> Option<u64> {
            let mut units = (0..end.div_ceil(self.size)).rev();
            let unit = units.find(|unit| self.units.contains(unit) == present)?;
            Some((end - 1).min((unit + 1) * self.size - 1))
        }

        fn count(&self, left: u64, right: u64) -> u64 {
            let overlap = |unit: &u64| {
                let first = unit * self.size;
                (first + self.size)
                    .min(right)
                    .saturating_sub(first.max(left))
            };
            self.units.iter().map(overlap).sum()
        }
    }

    proptest! {
        /// Compares the bitmap with a reference set, in windows of up to three levels of the trees.
        #[test]
        fn behaves_like_a_set(
            size in prop::sample::select(vec![1u64, 64, 70, 5000]),
            steps in prop::collection::vec((0u64..400, 1u64..40, 0u8..5), 1..40),
        ) {
            let mut bitmap = Bitmap::default();
            let mut set = Units { size, units: BTreeSet::new() };
            let mut floor = 0;
            for (at, count, action) in steps {
                let (left, right) = ((floor + at) * size, (floor + at + count) * size);
                if action == 0 {
                    floor += at;
                    prop_assert_eq!(bitmap.remove_below(left), set.count(0, left));
                    set.units.retain(|&unit| unit >= floor);
                } else if action == 1 {
                    for number in left..right {
                        prop_assert_eq!(bitmap.remove(number), set.contains(number));
                    }
                    set.units.retain(|unit| !(floor + at..floor + at + count).contains(unit));
                } else {
                    bitmap.insert(left, right);
                    set.units.extend(floor + at..floor + at + count);
                }
                for number in [left.saturating_sub(1), left, left + 1, right - 1, right, right + size] {
                    prop_assert_eq!(bitmap.contains(number), set.contains(number));
                    prop_assert_eq!(bitmap.next(number), set.next(number, true));
                    prop_assert_eq!(Some(bitmap.next_absent(number)), set.next(number, false));
                    prop_assert_eq!(bitmap.last(number), set.last(number, true));
                    let begin = set.last(number, false).map_or(0, |last| last + 1);
                    prop_assert_eq!(bitmap.begin_of_run(number), begin);
                }
                let counted = bitmap.count(left + 1, right + size);
                prop_assert_eq!(counted, set.count(left + 1, right + size));
            }
        }
    }
}
