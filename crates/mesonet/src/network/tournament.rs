//! The event list: a tournament tree (winner tree) over the arrival times of the first packets of
//! several hundred FIFOs.
//!
//! Time and number of a FIFO are one integer, so that a comparison needs no branch and ties go to the
//! lower number. After an event the path from its leaf to the root is played again: log2 of the number
//! of FIFOs comparisons. A packet in an empty FIFO ascends until it loses, mostly at once.

use longhaul_units::{Span, Time};

/// The tree: winners from index 1, keys of the FIFOs in the upper half. Of one of two sizes known to the
/// compiler, so that no index is checked.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    games: Games,
    /// Origin of the times in keys.
    base: Time,
}

#[derive(Clone, Debug)]
enum Games {
    Small(Box<[u64; SMALL]>),
    Large(Box<[u64; LARGE]>),
}

/// Twice the FIFOs of a small network: the published one has fewer than 512.
const SMALL: usize = 1 << 10;
/// Twice the maximum of FIFOs.
const LARGE: usize = 1 << (FIFO_BITS + 1);
/// Bits of a key that hold the number of the FIFO.
const FIFO_BITS: u32 = 16;
/// The key of an empty FIFO.
const IDLE: u64 = u64::MAX;
/// Times that are this far from the base, 281 s, compare as later than all.
const FAR: u64 = u64::MAX >> FIFO_BITS;

impl Default for Tournament {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Tournament {
    /// Longest time between two calls of [`Self::rebase`].
    pub(crate) const REACH: Span = Span::from_secs(200);

    /// For so many empty FIFOs.
    ///
    /// # Panics
    ///
    /// If there are more than 65,536.
    pub(crate) fn new(fifos: usize) -> Self {
        assert!(
            fifos <= LARGE / 2,
            "a network of {fifos} fifos is too large"
        );
        let games = if fifos <= SMALL / 2 {
            Games::Small(Box::new([IDLE; SMALL]))
        } else {
            Games::Large(Box::new([IDLE; LARGE]))
        };
        Self {
            games,
            base: Time::ZERO,
        }
    }

    /// The key of a packet that arrives at `time` on `fifo`.
    #[inline]
    fn key(&self, fifo: usize, time: Time) -> u64 {
        let since = time.since(self.base).as_ps().min(FAR - 1);
        since << FIFO_BITS | fifo as u64
    }

    /// The FIFO whose packet arrives first, if that is by `limit`.
    #[inline]
    pub(crate) fn first_by(&self, limit: Time) -> Option<usize> {
        let first = match &self.games {
            Games::Small(games) => games[1],
            Games::Large(games) => games[1],
        };
        let since = limit.since(self.base).as_ps().min(FAR - 2);
        (first >> FIFO_BITS <= since).then_some((first & (LARGE as u64 / 2 - 1)) as usize)
    }

    /// A packet that arrives at `time` is the first of a FIFO that was empty.
    #[inline]
    pub(crate) fn enter(&mut self, fifo: usize, time: Time) {
        let key = self.key(fifo, time);
        match &mut self.games {
            Games::Small(games) => play_up(games, fifo, key),
            Games::Large(games) => play_up(games, fifo, key),
        }
    }

    /// The earliest packet of all has left its FIFO, whose next one arrives at `time`, if there is one.
    #[inline(always)]
    pub(crate) fn renew(&mut self, fifo: usize, time: Option<Time>) {
        let key = time.map_or(IDLE, |time| self.key(fifo, time));
        match &mut self.games {
            Games::Small(games) => play_again(games, fifo, key),
            Games::Large(games) => play_again(games, fifo, key),
        }
    }

    /// Counts times from `base` on; `firsts` are those of all FIFOs.
    pub(crate) fn rebase(&mut self, base: Time, firsts: impl Iterator<Item = Option<Time>>) {
        self.base = base;
        match &mut self.games {
            Games::Small(games) => games.fill(IDLE),
            Games::Large(games) => games.fill(IDLE),
        }
        for (fifo, time) in firsts.enumerate() {
            if let Some(time) = time {
                self.enter(fifo, time);
            }
        }
    }
}

/// Replaces the key of a leaf by a lower one.
#[inline]
fn play_up<const N: usize>(games: &mut [u64; N], fifo: usize, key: u64) {
    let mut at = (N / 2 + fifo) & (N - 1);
    while at > 0 && key < games[at] {
        games[at] = key;
        at /= 2;
    }
}

/// Replaces the key of the leaf that won by a higher one.
#[inline]
fn play_again<const N: usize>(games: &mut [u64; N], fifo: usize, key: u64) {
    let mut at = (N / 2 + fifo) & (N - 1);
    let mut winner = key;
    games[at] = key;
    for _ in 0..N.trailing_zeros() - 1 {
        winner = winner.min(games[at ^ 1]);
        at /= 2;
        games[at] = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_engine::config::Randomness;
    use longhaul_engine::random::Streams;

    /// FIFOs whose first packets leave and arrive at random.
    fn play(fifos: usize) {
        let mut stream = Streams::new(3, 0, Randomness::Streams).component("test");
        let mut tournament = Tournament::new(fifos);
        let mut times: Vec<Option<Time>> = vec![None; fifos];
        let far = Time::from_ps(u64::MAX >> 20);
        let mut now = 1000;
        for round in 0..20_000 {
            // Few different times, so that there are ties.
            let mut later = |now| Time::from_ps(now + (stream.uniform() * 6.0) as u64);
            let fifo = round * 7919 % fifos;
            if times[fifo].is_none() {
                let time = later(now);
                times[fifo] = Some(time);
                tournament.enter(fifo, time);
            }
            if round % 1000 == 0 {
                tournament.rebase(Time::from_ps(now - 1), times.iter().copied());
            }
            let firsts = times.iter().enumerate();
            let earliest = firsts.filter_map(|(fifo, time)| Some((time.as_ref()?.as_ps(), fifo)));
            let Some((time, fifo)) = earliest.min() else {
                assert_eq!(tournament.first_by(far), None);
                continue;
            };
            assert_eq!(tournament.first_by(far), Some(fifo));
            assert_eq!(tournament.first_by(Time::from_ps(time)), Some(fifo));
            assert_eq!(tournament.first_by(Time::from_ps(time - 1)), None);
            if round % 2 == 0 {
                now = time;
                times[fifo] = (round % 3 > 0).then(|| later(now));
                tournament.renew(fifo, times[fifo]);
            }
        }
    }

    #[test]
    fn the_earliest_wins_and_ties_go_to_the_lower_number() {
        play(37);
        play(700);
    }

    /// Times that no key can hold compare as later than all.
    #[test]
    fn far_times_wait_for_the_base_to_come_nearer() {
        let mut tournament = Tournament::new(2);
        let far = Time::ZERO + Span::from_secs(1000);
        tournament.enter(0, far);
        assert_eq!(tournament.first_by(Time::NEVER), None);
        tournament.rebase(
            Time::ZERO + Span::from_secs(900),
            [Some(far), None].into_iter(),
        );
        assert_eq!(tournament.first_by(far), Some(0));
    }
}
