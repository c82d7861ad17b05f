//! The event list: a tournament tree (winner tree) over the next events of the stations of a region.
//!
//! Time and number of a station are one integer, so that a comparison needs no branch and ties go to the
//! lower number. When the event of a station changes, the path from its leaf to the root is played again:
//! log2 of the number of stations comparisons.

use longhaul_units::{Span, Time};

/// The tree: winners from index 1, keys of the stations in the upper half. Of one of a few sizes known to
/// the compiler, so that no index is checked and loops are unrolled.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    games: Games,
    /// Origin of the times in keys.
    base: Time,
}

#[derive(Clone, Debug)]
enum Games {
    Few(Box<[u64; FEW]>),
    Some(Box<[u64; SOME]>),
    Many(Box<[u64; MANY]>),
    Most(Box<[u64; MOST]>),
}

/// Twice the stations of a region of the published network: with one server in each router.
const FEW: usize = 1 << 6;
/// The same with two.
const SOME: usize = 1 << 7;
/// Twice the stations of the published network as one region.
const MANY: usize = 1 << 10;
/// Twice the maximum of stations.
const MOST: usize = 1 << (STATION_BITS + 1);
/// Bits of a key that hold the number of the station.
const STATION_BITS: u32 = 16;
/// The key of a station without an event.
const IDLE: u64 = u64::MAX;
/// Times that are this far from the base, 281 s, compare as later than all.
const FAR: u64 = u64::MAX >> STATION_BITS;

impl Default for Tournament {
    fn default() -> Self {
        Self::new(0)
    }
}

/// Evaluates an expression for the tree of whichever size.
macro_rules! with_games {
    ($tournament:expr, $games:ident => $value:expr) => {
        match $tournament {
            Games::Few($games) => $value,
            Games::Some($games) => $value,
            Games::Many($games) => $value,
            Games::Most($games) => $value,
        }
    };
}

impl Tournament {
    /// Longest time between two changes of the base.
    pub(crate) const REACH: Span = Span::from_secs(200);

    /// For so many stations without an event.
    ///
    /// # Panics
    ///
    /// If there are more than 65,536.
    pub(crate) fn new(stations: usize) -> Self {
        assert!(
            stations <= MOST / 2,
            "a region of {stations} stations is too large"
        );
        let games = if 2 * stations <= FEW {
            Games::Few(Box::new([IDLE; FEW]))
        } else if 2 * stations <= SOME {
            Games::Some(Box::new([IDLE; SOME]))
        } else if 2 * stations <= MANY {
            Games::Many(Box::new([IDLE; MANY]))
        } else {
            Games::Most(Box::new([IDLE; MOST]))
        };
        Self {
            games,
            base: Time::ZERO,
        }
    }

    /// Counts times from `base` on; no station may have an event.
    pub(crate) fn set_base(&mut self, base: Time) {
        self.base = base;
    }

    /// The key of the first event.
    #[inline]
    fn first(&self) -> u64 {
        match &self.games {
            Games::Few(games) => games[1],
            games => with_games!(games, games => games[1]),
        }
    }

    /// The station of the first event, if that is by `limit`.
    #[inline]
    pub(crate) fn first_by(&self, limit: Time) -> Option<usize> {
        let first = self.first();
        let since = limit.since(self.base).as_ps().min(FAR - 2);
        (first >> STATION_BITS <= since).then_some((first & (MOST as u64 / 2 - 1)) as usize)
    }

    /// Whether `time` is before the first event.
    #[inline]
    pub(crate) fn is_before_first(&self, time: Time) -> bool {
        time.since(self.base).as_ps() < self.first() >> STATION_BITS
    }

    /// The next event of a station is at `time`; never if it has none.
    #[inline]
    pub(crate) fn set(&mut self, station: usize, time: Time) {
        let since = time.since(self.base).as_ps().min(FAR - 1);
        let key = since << STATION_BITS | station as u64;
        match &mut self.games {
            Games::Few(games) => play(games, station, key),
            games => play_in_many(games, station, key),
        }
    }
}

#[inline(never)]
fn play_in_many(games: &mut Games, station: usize, key: u64) {
    with_games!(games, games => play(games, station, key));
}

/// Replaces the key of a station, and plays the games on its path to the root again. The winner of each
/// is a minimum: no branch depends on the keys.
#[inline(always)]
fn play<const N: usize>(games: &mut [u64; N], station: usize, key: u64) {
    let mut at = (N / 2 + station) & (N - 1);
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
    use longhaul_kernel::random::Randomness;
    use longhaul_kernel::random::Streams;

    /// Stations whose events happen and are entered at random.
    fn play(stations: usize) {
        let mut stream = Streams::new(3, 0, Randomness::Streams).component("test");
        let mut tournament = Tournament::new(stations);
        let mut times: Vec<Option<Time>> = vec![None; stations];
        let far = Time::from_ps(u64::MAX >> 20);
        let mut now = 1000;
        for round in 0..20_000 {
            // Few different times, so that there are ties.
            let mut later = |now| Time::from_ps(now + (stream.uniform() * 6.0) as u64);
            let station = round * 7919 % stations;
            if times[station].is_none() {
                let time = later(now);
                times[station] = Some(time);
                tournament.set(station, time);
            }
            if round % 1000 == 0 {
                tournament = Tournament::new(stations);
                tournament.set_base(Time::from_ps(now - 1));
                for (station, time) in times.iter().enumerate() {
                    tournament.set(station, time.unwrap_or(Time::NEVER));
                }
            }
            let firsts = times.iter().enumerate();
            let earliest =
                firsts.filter_map(|(station, time)| Some((time.as_ref()?.as_ps(), station)));
            let Some((time, station)) = earliest.min() else {
                assert_eq!(tournament.first_by(far), None);
                continue;
            };
            let ps = Time::from_ps;
            assert_eq!(tournament.first_by(far), Some(station));
            assert_eq!(tournament.first_by(ps(time)), Some(station));
            assert_eq!(tournament.first_by(ps(time - 1)), None);
            assert!(tournament.is_before_first(ps(time - 1)));
            assert!(!tournament.is_before_first(ps(time)));
            if round % 2 == 0 {
                now = time;
                times[station] = (round % 3 > 0).then(|| later(now));
                tournament.set(station, times[station].unwrap_or(Time::NEVER));
            }
        }
    }

    #[test]
    fn the_earliest_wins_and_ties_go_to_the_lower_number() {
        [25, 42, 400, 700].into_iter().for_each(play);
    }

    /// Times that no key can hold compare as later than all.
    #[test]
    fn far_times_wait_for_the_base_to_come_nearer() {
        let mut tournament = Tournament::new(2);
        let far = Time::ZERO + Span::from_secs(1000);
        tournament.set(0, far);
        assert_eq!(tournament.first_by(Time::NEVER), None);
        let mut tournament = Tournament::new(2);
        tournament.set_base(Time::ZERO + Span::from_secs(900));
        tournament.set(0, far);
        assert_eq!(tournament.first_by(far), Some(0));
    }
}
