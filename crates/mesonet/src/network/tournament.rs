//! The event list: a tournament tree (winner tree) over the next events of a region's stations, the
//! sources of its events.
//!
//! Time and number of a station form one integer, so a comparison needs no branch and ties go to
//! the lower number. When the event of a station changes, the path from its leaf to the root is
//! updated, with log2(number of leaves) comparisons.
//!
//! The integers are compared as the floating-point numbers with the same bits. Their order is the
//! same (IEEE 754, positive numbers), and the minimum of two takes one instruction instead of
//! three.

use longhaul_units::{Span, Time};

/// The tournament tree of the stations, which are the sources of events. Each leaf is the key of a station: the time of
/// its next event, and its number. Each inner node is the smaller key of its two children. The tree has one of four
/// fixed sizes, so that compilers can unroll loops and omit checks of indices.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// The tree in an array: inner nodes from index 2 on, then leaves in the upper half. The root is in `first`.
    games: Games,
    /// The smallest key of all stations.
    first: Key,
    /// Time that is stored as zero in keys.
    base: Time,
}

#[derive(Clone, Debug)]
enum Games {
    Few(Box<[Key; FEW]>),
    Some(Box<[Key; SOME]>),
    Many(Box<[Key; MANY]>),
    Most(Box<[Key; MOST]>),
}

/// A key: a floating-point number whose upper bits are the time of an event, and whose lower bits are
/// the number of the event's source (station).
type Key = f64;

/// Number of keys in the smallest tree, two for each station. Sufficient for a region of NIST's
/// network (SP 500-282) with one server per router.
const FEW: usize = 1 << 6;
/// Number of keys in a tree for a region of NIST's network with two servers per router.
const SOME: usize = 1 << 7;
/// Number of keys in a tree for all stations (sources of events) of NIST's network, simulated as a single region.
const MANY: usize = 1 << 10;
/// Number of keys in the largest tree: twice the maximum number of stations.
const MOST: usize = 1 << (STATION_BITS + 1);
/// Number of low bits of a key that hold the number of a station.
const STATION_BITS: u32 = 16;
/// The key of a leaf that has never been set. For a station whose event is removed, [`Tournament::set`] stores a key
/// with the time `FAR - 1`.
const IDLE: Key = f64::INFINITY;
/// Upper limit of the times in keys: 140 s after `base`, in picoseconds. The keys of all later events hold the time
/// `FAR - 1`. A [`Bound`] holds at most `FAR - 2`, so it never includes these events.
const FAR: u64 = f64::MAX.to_bits() >> STATION_BITS;
/// The largest number of a station.
const LAST: u64 = (1 << STATION_BITS) - 1;

impl Default for Tournament {
    fn default() -> Self {
        Self::new(0)
    }
}

/// Evaluates an expression in which `$games` stands for the array in a [`Games`]. The expression is compiled for each
/// size of the array.
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
    /// Longest time for which `base`, the origin of the times in keys, may stay the same.
    pub(crate) const REACH: Span = Span::from_secs(100);

    /// Returns a tree for `stations` stations without an event.
    ///
    /// # Panics
    ///
    /// Panics if `stations` is more than 65,536.
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
            first: IDLE,
            base: Time::ZERO,
        }
    }

    /// Sets the origin of the times in keys. The tree must not contain an event.
    pub(crate) fn set_base(&mut self, base: Time) {
        self.base = base;
    }

    /// Returns the key of an event at `station` at `time`, which must not be before `base`. The key holds the time
    /// since `base`, but at most `latest`.
    #[inline]
    fn key(&self, time: Time, latest: u64, station: u64) -> Key {
        debug_assert!(time >= self.base, "the base is in the past");
        let since = time.as_ps().wrapping_sub(self.base.as_ps()).min(latest);
        Key::from_bits(since << STATION_BITS | station)
    }

    /// Returns the bound for [`Self::first_within`] that includes all events by `limit`.
    #[inline]
    pub(crate) fn bound(&self, limit: Time) -> Bound {
        Bound(self.key(limit, FAR - 2, LAST))
    }

    /// Returns the number of the station (source of events) with the next event, if this event is within `bound`;
    /// otherwise `None`.
    #[inline]
    pub(crate) fn first_within(&self, bound: Bound) -> Option<usize> {
        let station = self.first.to_bits() & LAST;
        (self.first <= bound.0).then_some(station as usize)
    }

    #[inline]
    pub(crate) fn is_before_first(&self, time: Time) -> bool {
        self.key(time, FAR - 2, LAST) < self.first
    }

    /// Sets the time of a station's next event; [`Time::NEVER`] for no event.
    #[inline]
    pub(crate) fn set(&mut self, station: usize, time: Time) {
        let key = self.key(time, FAR - 1, station as u64);
        self.first = match &mut self.games {
            Games::Few(games) => play(games, station, key),
            games => play_in_many(games, station, key),
        };
    }
}

/// Time limit for [`Tournament::first_within`], stored as a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound(Key);

#[inline(never)]
fn play_in_many(games: &mut Games, station: usize, key: Key) -> Key {
    with_games!(games, games => play(games, station, key))
}

/// Replaces the key of a station, and updates the winners on its path to the root. `games` has `N`
/// keys, enough for `N / 2` stations. Winners are computed as minima, without a branch that depends
/// on the keys. Returns the smallest key of all stations.
#[inline(always)]
fn play<const N: usize>(games: &mut [Key; N], station: usize, key: Key) -> Key {
    let mut at = (N / 2 + station) & (N - 1);
    let mut winner = key;
    for _ in 0..N.trailing_zeros() - 1 {
        games[at] = winner;
        let other = games[at ^ 1];
        // `f64::min` takes four instructions more, to handle NaN.
        winner = if winner < other { winner } else { other };
        at /= 2;
    }
    winner
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_kernel::random::Randomness;
    use longhaul_kernel::random::Streams;

    fn first_by(tournament: &Tournament, limit: Time) -> Option<usize> {
        tournament.first_within(tournament.bound(limit))
    }

    /// Sets random events of stations, and checks the tree's first event against a search through all events.
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
                assert_eq!(first_by(&tournament, far), None);
                continue;
            };
            let ps = Time::from_ps;
            assert_eq!(first_by(&tournament, far), Some(station));
            assert_eq!(first_by(&tournament, ps(time)), Some(station));
            assert_eq!(first_by(&tournament, ps(time - 1)), None);
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

    /// Checks that an event 1000 s after the tree's `base` is not found, but an event 100 s after it is.
    #[test]
    fn far_times_wait_for_the_base_to_come_nearer() {
        let mut tournament = Tournament::new(2);
        let far = Time::ZERO + Span::from_secs(1000);
        tournament.set(0, far);
        assert_eq!(first_by(&tournament, Time::NEVER), None);
        let mut tournament = Tournament::new(2);
        tournament.set_base(Time::ZERO + Span::from_secs(900));
        tournament.set(0, far);
        assert_eq!(first_by(&tournament, far), Some(0));
    }
}
