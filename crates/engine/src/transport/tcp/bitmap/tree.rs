//! A set of indices from 0, called places, stored as words of bits. The non-empty words form a set at the next level,
//! and so on up to a single word (a hierarchical bitmap).

const BITS: usize = u64::BITS as usize;

/// A set of places (indices from 0), as a tree of words of bits.
#[derive(Debug)]
pub(super) struct Tree {
    /// Bits of each level. The first level has one bit for each place; the last level is a single word.
    levels: Vec<Vec<u64>>,
}

impl Tree {
    /// An empty set, without room for any place.
    pub(super) const EMPTY: Self = Self { levels: Vec::new() };

    /// Returns an empty set, with room for the places below `places`.
    pub(super) fn of_none(places: usize) -> Self {
        let mut levels = Vec::new();
        let mut words = places;
        while words > 1 || levels.is_empty() {
            words = words.div_ceil(BITS);
            levels.push(vec![0; words]);
        }
        Self { levels }
    }

    /// Returns the set of all places below `places`.
    pub(super) fn of_all(places: usize) -> Self {
        let mut tree = Self::of_none(places);
        (0..places).for_each(|place| tree.insert(place));
        tree
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.levels.last().is_none_or(|top| top[0] == 0)
    }

    #[inline]
    pub(super) fn insert(&mut self, place: usize) {
        let mut at = place;
        for level in &mut self.levels {
            let word = &mut level[at / BITS];
            let was_empty = *word == 0;
            *word |= 1 << (at % BITS);
            if !was_empty {
                return;
            }
            at /= BITS;
        }
    }

    #[inline]
    pub(super) fn remove(&mut self, place: usize) {
        let mut at = place;
        for level in &mut self.levels {
            let word = &mut level[at / BITS];
            *word &= !(1 << (at % BITS));
            if *word != 0 {
                return;
            }
            at /= BITS;
        }
    }

    /// Returns the first place in the set at or after `from`.
    #[inline]
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        let mut at = from;
        for (height, level) in self.levels.iter().enumerate() {
            let later = level.get(at / BITS)? >> (at % BITS);
            if later != 0 {
                at += later.trailing_zeros() as usize;
                let first =
                    |at: usize, level: &Vec<u64>| at * BITS + level[at].trailing_zeros() as usize;
                return Some(self.levels[..height].iter().rev().fold(at, first));
            }
            at = at / BITS + 1;
        }
        None
    }

    /// Returns the last place in the set before `end`.
    #[inline]
    pub(super) fn last(&self, end: usize) -> Option<usize> {
        let mut at = end.checked_sub(1)?;
        for (height, level) in self.levels.iter().enumerate() {
            let earlier = level[at / BITS] << (BITS - 1 - at % BITS);
            if earlier != 0 {
                at -= earlier.leading_zeros() as usize;
                let last = |at: usize, level: &Vec<u64>| {
                    at * BITS + BITS - 1 - level[at].leading_zeros() as usize
                };
                return Some(self.levels[..height].iter().rev().fold(at, last));
            }
            at = (at / BITS).checked_sub(1)?;
        }
        None
    }

    /// Returns the first place of the set at or after `from`. If there is none, returns the first place of the set. The
    /// set must not be empty.
    #[inline]
    pub(super) fn next_round(&self, from: usize) -> usize {
        let found = self.next(from).or_else(|| self.next(0));
        found.expect("the ring has a place to spare")
    }

    /// Returns the last place in the set before `end`. If there is none, returns the last place of the set. The tree
    /// has `places` places, and the set must not be empty.
    #[inline]
    pub(super) fn last_round(&self, end: usize, places: usize) -> usize {
        let found = self.last(end).or_else(|| self.last(places));
        found.expect("the ring has a place to spare")
    }
}
