//! Queue disciplines that a scenario may name, from the engine's table of them.

use longhaul_engine::queue::DISCIPLINES;
use longhaul_keys::{Key, Kind};

/// Any discipline.
pub(crate) const QUEUE: Kind = Kind::Tagged(&kinds::<{ DISCIPLINES.len() }>(false));

/// A discipline that leaves the packets to somebody else.
pub(super) const QUEUE_ON_ARRIVAL: Kind = Kind::Tagged(&kinds::<{ count_on_arrival() }>(true));

const fn count_on_arrival() -> usize {
    let (mut count, mut index) = (0, 0);
    while index < DISCIPLINES.len() {
        count += DISCIPLINES[index].on_arrival as usize;
        index += 1;
    }
    count
}

/// The keys of each discipline, `N` together.
const fn kinds<const N: usize>(on_arrival_only: bool) -> [(&'static str, &'static [Key]); N] {
    let mut kinds: [(&str, &[Key]); N] = [("", &[]); N];
    let (mut count, mut index) = (0, 0);
    while index < DISCIPLINES.len() {
        let discipline = &DISCIPLINES[index];
        if discipline.on_arrival || !on_arrival_only {
            kinds[count] = (discipline.kind, discipline.keys);
            count += 1;
        }
        index += 1;
    }
    kinds
}
