//! Which of several hundred lines comes next: a tournament of the times of their first packets.
//!
//! A line's time and number are one integer, so that each game is one comparison without a branch and
//! ties go to the lower number. When the first packet of all has gone, its line's games are played
//! again, one per doubling of the number of lines. A packet on a line that was empty plays until it
//! loses, which is soon.

use longhaul_units::{Span, Time};

/// The games: winners from position 1, the lines' own keys in the last half. With one of two sizes, so
/// that no position has to be checked.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    games: Games,
    /// What times are counted from.
    base: Time,
}

#[derive(Clone, Debug)]
enum Games {
    Small(Box<[u64; SMALL]>),
    Large(Box<[u64; LARGE]>),
}

/// Twice the lines of a small network: the published one has less than 512.
const SMALL: usize = 1 << 10;
/// Twice the most lines.
const LARGE: usize = 1 << (LINE_BITS + 1);
/// Bits of a key that hold the line's number.
const LINE_BITS: u32 = 16;
/// The key of an empty line.
const IDLE: u64 = u64::MAX;
/// Times from here on, as long as the base is what it is, are as good as none: 281 s.
const FAR: u64 = u64::MAX >> LINE_BITS;

impl Default for Tournament {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Tournament {
    /// How long after a call of [`Self::rebase`] the next one is due.
    pub(crate) const REACH: Span = Span::from_secs(200);

    /// For `lines` empty lines.
    ///
    /// # Panics
    ///
    /// If there are more than 65,536.
    pub(crate) fn new(lines: usize) -> Self {
        assert!(
            lines <= LARGE / 2,
            "a network of {lines} lines is too large"
        );
        let games = if lines <= SMALL / 2 {
            Games::Small(Box::new([IDLE; SMALL]))
        } else {
            Games::Large(Box::new([IDLE; LARGE]))
        };
        Self {
            games,
            base: Time::ZERO,
        }
    }

    /// The key of a packet that arrives at `time` on `line`.
    #[inline]
    fn key(&self, line: usize, time: Time) -> u64 {
        let since = time.since(self.base).as_ps().min(FAR - 1);
        since << LINE_BITS | line as u64
    }

    /// The line whose packet comes first, if that is by `limit`.
    #[inline]
    pub(crate) fn first_by(&self, limit: Time) -> Option<usize> {
        let first = match &self.games {
            Games::Small(games) => games[1],
            Games::Large(games) => games[1],
        };
        let since = limit.since(self.base).as_ps().min(FAR - 2);
        (first >> LINE_BITS <= since).then_some((first & (LARGE as u64 / 2 - 1)) as usize)
    }

    /// A packet that arrives at `time` comes on `line`, which was empty.
    #[inline]
    pub(crate) fn enter(&mut self, line: usize, time: Time) {
        let key = self.key(line, time);
        match &mut self.games {
            Games::Small(games) => play_up(games, line, key),
            Games::Large(games) => play_up(games, line, key),
        }
    }

    /// The first packet of `line`, which was the first of all, has gone; the next one arrives at
    /// `time`, if there is one.
    #[inline(always)]
    pub(crate) fn renew(&mut self, line: usize, time: Option<Time>) {
        let key = time.map_or(IDLE, |time| self.key(line, time));
        match &mut self.games {
            Games::Small(games) => play_again(games, line, key),
            Games::Large(games) => play_again(games, line, key),
        }
    }

    /// Counts times from `base` on; `firsts` are the times of all lines.
    pub(crate) fn rebase(&mut self, base: Time, firsts: impl Iterator<Item = Option<Time>>) {
        self.base = base;
        match &mut self.games {
            Games::Small(games) => games.fill(IDLE),
            Games::Large(games) => games.fill(IDLE),
        }
        for (line, time) in firsts.enumerate() {
            if let Some(time) = time {
                self.enter(line, time);
            }
        }
    }
}

/// A key that is lower than the line's last one.
#[inline]
fn play_up<const N: usize>(games: &mut [u64; N], line: usize, key: u64) {
    let mut at = (N / 2 + line) & (N - 1);
    while at > 0 && key < games[at] {
        games[at] = key;
        at /= 2;
    }
}

/// A key that is higher than the line's last one, which won all games.
#[inline]
fn play_again<const N: usize>(games: &mut [u64; N], line: usize, key: u64) {
    let mut at = (N / 2 + line) & (N - 1);
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

    /// Lines of which the first is renewed or emptied, or another one is entered, as they come.
    fn play(lines: usize) {
        let mut stream = Streams::of_seed(3, 0, Randomness::Streams).component("test");
        let mut tournament = Tournament::new(lines);
        let mut times: Vec<Option<Time>> = vec![None; lines];
        let far = Time::from_ps(u64::MAX >> 20);
        let mut now = 1000;
        for round in 0..20_000 {
            // Few different times, so that there are ties.
            let mut later = |now| Time::from_ps(now + (stream.uniform() * 6.0) as u64);
            let line = round * 7919 % lines;
            if times[line].is_none() {
                let time = later(now);
                times[line] = Some(time);
                tournament.enter(line, time);
            }
            if round % 1000 == 0 {
                tournament.rebase(Time::from_ps(now - 1), times.iter().copied());
            }
            let firsts = times.iter().enumerate();
            let earliest = firsts.filter_map(|(line, time)| Some((time.as_ref()?.as_ps(), line)));
            let Some((time, line)) = earliest.min() else {
                assert_eq!(tournament.first_by(far), None);
                continue;
            };
            assert_eq!(tournament.first_by(far), Some(line));
            assert_eq!(tournament.first_by(Time::from_ps(time)), Some(line));
            assert_eq!(tournament.first_by(Time::from_ps(time - 1)), None);
            if round % 2 == 0 {
                now = time;
                times[line] = (round % 3 > 0).then(|| later(now));
                tournament.renew(line, times[line]);
            }
        }
    }

    #[test]
    fn the_earliest_wins_and_ties_go_to_the_lower_line() {
        play(37);
        play(700);
    }

    /// What is further away than a key can say counts as later than anything.
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
