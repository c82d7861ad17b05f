//! Queue disciplines that a scenario may name, from the engine's table of them.

use longhaul_engine::queue::DISCIPLINES;
use longhaul_keys::{Key, Kind};

/// Any discipline.
pub(crate) const QUEUE: Kind =
    Kind::Tagged(&kinds::<{ DISCIPLINES.len() }>(&[true; DISCIPLINES.len()]));

/// A discipline that decides on arrival: waiting packets may be kept in another queue.
pub(crate) const QUEUE_ON_ARRIVAL: Kind = Kind::Tagged(&kinds::<{ count(&DECIDES_ON_ARRIVAL) }>(
    &DECIDES_ON_ARRIVAL,
));

/// A discipline that works without a link.
pub(crate) const QUEUE_OUTSIDE_LINKS: Kind = Kind::Tagged(
    &kinds::<{ count(&WORKS_OUTSIDE_LINKS) }>(&WORKS_OUTSIDE_LINKS),
);

type Chosen = [bool; DISCIPLINES.len()];

const DECIDES_ON_ARRIVAL: Chosen = {
    let (mut chosen, mut index) = ([false; DISCIPLINES.len()], 0);
    while index < DISCIPLINES.len() {
        chosen[index] = DISCIPLINES[index].on_arrival;
        index += 1;
    }
    chosen
};

const WORKS_OUTSIDE_LINKS: Chosen = {
    let (mut chosen, mut index) = ([false; DISCIPLINES.len()], 0);
    while index < DISCIPLINES.len() {
        chosen[index] = DISCIPLINES[index].outside_links;
        index += 1;
    }
    chosen
};

const fn count(chosen: &Chosen) -> usize {
    let (mut count, mut index) = (0, 0);
    while index < chosen.len() {
        count += chosen[index] as usize;
        index += 1;
    }
    count
}

/// The keys of the chosen disciplines, `N` together.
const fn kinds<const N: usize>(chosen: &Chosen) -> [(&'static str, &'static [Key]); N] {
    let mut kinds: [(&str, &[Key]); N] = [("", &[]); N];
    let (mut count, mut index) = (0, 0);
    while index < chosen.len() {
        if chosen[index] {
            kinds[count] = (DISCIPLINES[index].kind, DISCIPLINES[index].keys);
            count += 1;
        }
        index += 1;
    }
    kinds
}
