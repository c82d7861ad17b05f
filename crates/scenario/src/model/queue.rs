//! Queue disciplines that a scenario may name, and their keys. Both come from the engine's table of disciplines.

use longhaul_engine::queue::{DISCIPLINES, Discipline};
use longhaul_keys::{Key, Kind};

/// Allowed values of a key for the queue of a link: any discipline.
pub(crate) const QUEUE: Kind = Kind::Tagged(&kinds::<{ count(Use::Link) }>(Use::Link));

/// Allowed values of a key for a discipline that replaces another one during a run: disciplines that decide about a
/// packet only on its arrival, so that the packets that wait at the change can stay in the queue.
pub(crate) const QUEUE_ON_ARRIVAL: Kind =
    Kind::Tagged(&kinds::<{ count(Use::OnArrival) }>(Use::OnArrival));

/// Allowed values of a key for a queue that is not in front of a link: disciplines that work
/// without a link.
pub(crate) const QUEUE_OUTSIDE_LINKS: Kind =
    Kind::Tagged(&kinds::<{ count(Use::OutsideLinks) }>(Use::OutsideLinks));

/// Use of a queue, which decides on the allowed disciplines.
#[derive(Clone, Copy)]
enum Use {
    Link,
    OnArrival,
    OutsideLinks,
}

impl Use {
    const fn admits(self, discipline: &Discipline) -> bool {
        match self {
            Self::Link => true,
            Self::OnArrival => discipline.on_arrival,
            Self::OutsideLinks => discipline.outside_links,
        }
    }
}

const fn count(of: Use) -> usize {
    let (mut count, mut index) = (0, 0);
    while index < DISCIPLINES.len() {
        count += of.admits(&DISCIPLINES[index]) as usize;
        index += 1;
    }
    count
}

/// Returns the names and keys of the `N` disciplines that are suitable for the use `of`.
const fn kinds<const N: usize>(of: Use) -> [(&'static str, &'static [Key]); N] {
    let mut kinds: [(&str, &[Key]); N] = [("", &[]); N];
    let (mut count, mut index) = (0, 0);
    while index < DISCIPLINES.len() {
        if of.admits(&DISCIPLINES[index]) {
            kinds[count] = (DISCIPLINES[index].kind, DISCIPLINES[index].keys);
            count += 1;
        }
        index += 1;
    }
    kinds
}
