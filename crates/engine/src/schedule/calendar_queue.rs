//! A priority queue for any number of entries: a calendar queue (Brown, "Calendar queues", CACM 31(10), 1988). The
//! entries of a day are sorted when the day begins. Until the queue first has more than 64 entries, all are sorted.

use std::cmp::Reverse;

use longhaul_kernel::Key;

/// Number of days in a year. Each day has a bucket.
const YEAR: u64 = 2048;

/// An entry of the queue, which is due at a time.
pub(crate) trait Due: Copy {
    /// Returns the key for the order of entries. It begins with the time.
    fn key(&self) -> Key;
}

impl Due for Key {
    #[inline]
    fn key(&self) -> Key {
        *self
    }
}

/// A calendar queue: entries of type `T`, grouped by days. Days are intervals of equal length, numbered from time zero
/// on. The day of an entry contains its due time.
#[derive(Debug)]
pub(crate) struct CalendarQueue<T> {
    /// Entries of `today` and of earlier days, sorted in descending order: the first one due is last.
    due: Vec<T>,
    today: u64,
    /// Binary logarithm of the length of a day in picoseconds.
    day_bits: u32,
    /// Buckets of unsorted entries, one for each day of the following year. A bucket's index is the lowest bits of its
    /// day's number.
    days: Vec<Vec<T>>,
    /// One bit for each bucket, which is set if the bucket has entries.
    busy: [u64; YEAR as usize / 64],
    /// Entries of days that were a year or more ahead when the entries were stored.
    later: Vec<T>,
    /// The earliest day of the entries in `later`; `u64::MAX` if there are none.
    first_later: u64,
    /// Number of entries that are due after `today`.
    ahead: usize,
    /// Maximum number of entries in `due`; with more, days become shorter. The limit is raised if many entries are
    /// simultaneous, and then falls by an eighth per day to `usual_limit`.
    limit: usize,
    /// Value of `limit` unless many entries of a day are simultaneous.
    usual_limit: usize,
}

impl<T: Due> Default for CalendarQueue<T> {
    /// Returns a queue with a single day for all entries.
    fn default() -> Self {
        Self {
            due: Vec::new(),
            today: u64::MAX,
            day_bits: 0,
            days: Vec::new(),
            busy: [0; YEAR as usize / 64],
            later: Vec::new(),
            first_later: u64::MAX,
            ahead: 0,
            limit: Self::MANY,
            usual_limit: Self::MANY,
        }
    }
}

impl<T: Due> CalendarQueue<T> {
    /// Desired number of entries per day, if there are at most some 16000 entries. With more, days are longer, so that
    /// a quarter of a year contains half of all entries.
    const PER_DAY: u64 = 16;
    /// Smallest value of `limit`: days do not become shorter while the current day has at most this number of entries.
    const MANY: usize = 64;

    /// Returns the first entry.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        self.due.last()
    }

    /// Returns the entries of the current day and of earlier days, in order of their due times.
    #[inline]
    pub(super) fn coming(&self) -> impl Iterator<Item = T> {
        self.due.iter().rev().copied()
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.due.len() + self.ahead
    }

    /// Adds an entry.
    #[inline]
    pub(crate) fn push(&mut self, entry: T) {
        let day = self.day_of(&entry);
        if day > self.today && !self.due.is_empty() {
            self.put(day, entry);
        } else {
            // If the queue is empty and the entry's day is later than today, this day becomes the current day.
            self.today = self.today.max(day);
            self.insert(entry);
        }
    }

    /// Removes the first entry.
    #[inline]
    pub(crate) fn remove_first(&mut self) {
        self.due.pop();
        self.keep_going();
    }

    #[inline]
    fn day_of(&self, entry: &T) -> u64 {
        time_of(entry) >> self.day_bits
    }

    #[inline]
    fn insert(&mut self, entry: T) {
        let key = entry.key();
        let at = self.due.partition_point(|other| other.key() > key);
        self.due.insert(at, entry);
        if self.due.len() > self.limit {
            self.divide();
        }
    }

    /// Stores an entry in the bucket of `day`. If `day` is a year or more ahead, stores it in the list of later
    /// entries.
    #[inline]
    fn put(&mut self, day: u64, entry: T) {
        self.ahead += 1;
        if day - self.today < YEAR {
            let place = (day % YEAR) as usize;
            self.days[place].push(entry);
            self.busy[place / 64] |= 1 << (place % 64);
        } else {
            self.later.push(entry);
            self.first_later = self.first_later.min(day);
        }
    }

    /// Begins the next day if no entry is due and there are entries ahead.
    #[inline]
    fn keep_going(&mut self) {
        if self.due.is_empty() && self.ahead > 0 {
            self.turn_page();
        }
    }

    /// Begins the next day that has entries.
    #[inline(never)]
    fn turn_page(&mut self) {
        let mut next = self.next_busy_day();
        if next.is_none_or(|day| day >= self.first_later) {
            self.begin_year(next.is_none());
            if !self.due.is_empty() {
                // `begin_year` has changed the length of days and begun a day.
                return;
            }
            next = self.next_busy_day();
        }
        let day = next.expect("entries ahead have a day");
        let place = (day % YEAR) as usize;
        self.busy[place / 64] &= !(1 << (place % 64));
        std::mem::swap(&mut self.due, &mut self.days[place]);
        self.due.sort_unstable_by_key(|entry| Reverse(entry.key()));
        self.ahead -= self.due.len();
        self.today = day;
        self.limit = (self.limit - self.limit / 8).max(self.usual_limit);
        if self.due.len() > self.limit {
            self.divide();
        }
    }

    /// Returns the first day after today that has entries in its bucket.
    fn next_busy_day(&self) -> Option<u64> {
        let words = self.busy.len() as u64;
        let first = (self.today + 1) % YEAR;
        // The word with the first day is visited twice: first for the days from the first one on, and last for the days
        // before it.
        (0..=words).find_map(|step| {
            let word = (first / 64 + step) % words;
            let from_first = u64::MAX << (first % 64);
            let days = match step {
                0 => from_first,
                _ if step == words => !from_first,
                _ => u64::MAX,
            };
            let busy = self.busy[word as usize] & days;
            let place = word * 64 + u64::from(busy.trailing_zeros());
            (busy > 0).then(|| self.today + 1 + (place + YEAR - first) % YEAR)
        })
    }

    /// Moves entries of later days to their buckets, if their days are now within a year. `alone` is true if all
    /// buckets are empty; the year then begins with the first later day. If more than half of the entries ahead are
    /// still a year or more ahead, chooses a new length of days and begins a day (`divide`).
    fn begin_year(&mut self, alone: bool) {
        if alone {
            self.today = self.first_later - 1;
        }
        let waiting = std::mem::take(&mut self.later);
        self.first_later = u64::MAX;
        self.ahead -= waiting.len();
        for entry in waiting {
            self.put(self.day_of(&entry), entry);
        }
        if 2 * self.later.len() > self.ahead {
            self.divide();
        }
    }

    /// Chooses a new length of days, from the mean spacing of the earlier half of all entries. Sorts the entries into
    /// the new days, and begins the day of the first entry.
    #[inline(never)]
    fn divide(&mut self) {
        let mut all = std::mem::take(&mut self.due);
        self.days.iter_mut().for_each(|day| all.append(day));
        all.append(&mut self.later);
        all.sort_unstable_by_key(T::key);
        let half = all.len() as u64 / 2;
        let span = time_of(&all[half as usize]) - time_of(&all[0]);
        let per_day = Self::PER_DAY.max(half / (YEAR / 4));
        let day = span / half * per_day;
        // The length of a day is rounded up to a power of two, which is at most twice as long.
        self.day_bits = (u64::BITS - day.leading_zeros()).min(u64::BITS - 1);
        self.today = self.day_of(&all[0]);
        self.days.resize_with(YEAR as usize, Vec::new);
        (self.busy, self.first_later, self.ahead) = ([0; _], u64::MAX, 0);
        let due = all.partition_point(|entry| self.day_of(entry) == self.today);
        for &entry in &all[due..] {
            self.put(self.day_of(&entry), entry);
        }
        all.truncate(due);
        all.reverse();
        self.due = all;
        self.usual_limit = Self::MANY.max(8 * per_day as usize);
        self.limit = self.usual_limit.max(2 * due);
    }
}

#[inline]
fn time_of(entry: &impl Due) -> u64 {
    (entry.key() >> 64) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(time: u64, tag: u64) -> Key {
        Key::from(time) << 64 | Key::from(tag)
    }

    /// Checks the queue against an ordered set after each step. A step adds an entry some time from now or removes the
    /// first entry.
    fn check(steps: Vec<(bool, u64, u32)>) -> Result<(), TestCaseError> {
        let mut queue = CalendarQueue::<Key>::default();
        let mut model = std::collections::BTreeSet::new();
        let mut now = 0;
        for (number, (enters, gap, scale)) in (0..).zip(steps) {
            if enters {
                let new = key(now + (gap << scale), number);
                queue.push(new);
                model.insert(new);
            } else if let Some(first) = model.pop_first() {
                prop_assert_eq!(queue.first(), Some(&first));
                now = (first >> 64) as u64;
                queue.remove_first();
            }
            prop_assert_eq!(queue.len(), model.len());
            prop_assert_eq!(queue.first(), model.first());
            let coming: Vec<Key> = queue.coming().collect();
            let expected: Vec<Key> = model.iter().take(coming.len()).copied().collect();
            prop_assert_eq!(coming, expected);
        }
        while let Some(first) = model.pop_first() {
            prop_assert_eq!(queue.first(), Some(&first));
            queue.remove_first();
        }
        prop_assert_eq!(queue.first(), None);
        Ok(())
    }

    proptest! {
        /// Entries come out in order from a queue with far more entries than are sorted at once, the usual case.
        #[test]
        fn entries_come_out_in_order(
            steps in prop::collection::vec((prop::bool::weighted(0.6), 0u64..1000, 0u32..24), 0..3000),
        ) {
            check(steps)?;
        }

        /// Entries come out in order even if many are due at the same time.
        #[test]
        fn those_of_one_time_too(
            steps in prop::collection::vec((prop::bool::weighted(0.6), 0u64..2, 0u32..2), 0..1500),
        ) {
            check(steps)?;
        }
    }

    /// A day has a few entries, however many entries are added per second: its length follows their spacing.
    #[test]
    fn days_have_some_entries_whatever_the_rate() {
        let mut queue = CalendarQueue::<Key>::default();
        let (mut now, mut number) = (0, 0);
        for gap in [1_u64, 1000, 10, 1_000_000] {
            // The queue contains two thousand entries at a time; one is added after each gap.
            for _ in 0..20_000 {
                number += 1;
                queue.push(key(now + 2000 * gap, number));
                now += gap;
                while queue.first().is_some_and(|first| time_of(first) <= now) {
                    queue.remove_first();
                }
            }
            let [due, later] = [queue.due.len(), queue.later.len()];
            assert!(due <= CalendarQueue::<Key>::MANY, "gap {gap}: {due}");
            assert!(later <= queue.len() / 2, "gap {gap}: {later}");
        }
    }
}
