//! Placement of sources and receivers (NIST SP 500-282, chapter 3: `baseSources`, `deltaU`, `probNs`
//! to `probNrd`).

use longhaul_keys::Field;
use longhaul_mesonet::config::AccessClass;

use super::keys::{HostKeys, SourceShares as Shares};
use super::layout::{Access, Layout, class_name};
use crate::document::{Node, Table, Value, join};
use crate::error::Diagnostic;

/// The classes of access routers in the order of the published tables.
const CLASSES: [AccessClass; 3] = [AccessClass::Normal, AccessClass::Fast, AccessClass::Direct];

/// Maximum number of hosts. A larger number would need gigabytes of state.
const MAX_HOSTS: u64 = 100_000_000;

/// Allowed deviation of a sum of three shares from 1. Published tables round thirds to 0.33.
pub(crate) const SHARE_TOLERANCE: f64 = 0.011;

/// Returns the scenario key for the fraction of hosts that are attached to routers of `class`. The
/// tables of sources and of receivers use the same key.
fn share(class: AccessClass) -> Field<f64> {
    match class {
        AccessClass::Normal => Shares::normal,
        AccessClass::Fast => Shares::fast,
        AccessClass::Direct => Shares::direct,
    }
}

/// Derives a share from the other two if it is the only one missing.
pub(crate) fn complete_shares(hosts: &mut Table) {
    let keys = [
        HostKeys::source_shares.seen_as::<Table>(),
        HostKeys::receiver_shares.seen_as(),
    ];
    for key in keys {
        let Some(shares) = hosts.table_mut(key) else {
            continue;
        };
        let missing = CLASSES.map(share).into_iter();
        let missing: Vec<Field<f64>> = missing.filter(|class| !shares.has(*class)).collect();
        if let [class] = missing[..] {
            let given: f64 = shares.entries.values().map(Node::read::<f64>).sum();
            let rest = Value::Number((1.0 - given).max(0.0));
            shares.derive(class, rest, "the remainder of the other two shares");
        }
    }
}

/// Numbers of sources and receivers below each access router.
pub(crate) struct Population {
    pub sources: Vec<u32>,
    pub receivers: Vec<u32>,
}

impl Population {
    pub fn of(hosts: &Table, layout: &Layout, out: &mut Vec<Diagnostic>) -> Option<Self> {
        let before = out.len();
        let base = 3.0 * hosts.read(HostKeys::scale) * hosts.read(HostKeys::sources);
        let key = HostKeys::source_shares.seen_as();
        let sources = counts(hosts, key, base, layout, |access| access.sources, out);
        let (key, base) = (HostKeys::receiver_shares.seen_as(), 4.0 * base);
        let receivers = counts(hosts, key, base, layout, |access| access.receivers, out);
        let population = Self { sources, receivers };
        let all = population.all_sources() + population.all_receivers();
        if all > MAX_HOSTS {
            let message = format!("this makes {all} hosts; at most {MAX_HOSTS} can be simulated");
            let path = "mesonet.hosts";
            out.push(Diagnostic::at(hosts, HostKeys::sources, path, message));
        }
        if out.len() == before && population.sources.iter().any(|&count| count > 0) {
            population.check_receivers(hosts, layout, out);
        }
        (out.len() == before).then_some(population)
    }

    /// Checks that every source can find a receiver, and that each class of access routers has receivers. A source
    /// chooses a backbone router other than its own with equal probability, and then a receiver below it (NIST SP
    /// 500-282, chapter 3).
    fn check_receivers(&self, hosts: &Table, layout: &Layout, out: &mut Vec<Diagnostic>) {
        let (path, key) = ("mesonet.hosts", HostKeys::receiver_shares);
        let shares = hosts.sub(key);
        for class in CLASSES {
            let mut below = layout.access.iter().zip(&self.receivers);
            let exists = layout.access.iter().any(|access| access.class == class);
            if exists && below.all(|(access, &count)| access.class != class || count == 0) {
                let name = class_name(class);
                let message = format!(
                    "no receiver is below any {name} access router; give the class a share that \
                     makes at least one of them"
                );
                let path = join(path, key.name());
                return out.push(Diagnostic::at(shares, share(class), &path, message));
            }
        }
        for (index, router) in layout.backbone.iter().enumerate() {
            let below = layout.access.iter().zip(&self.receivers);
            let mut below = below.filter(|(access, _)| access.backbone(layout) == index);
            let has_access = below.clone().next().is_some();
            if has_access && below.all(|(_, &count)| count == 0) {
                let message = format!(
                    "no receiver is below the backbone router `{}`, which sources elsewhere choose \
                     as often as any other",
                    router.name
                );
                return out.push(Diagnostic::at(hosts, key, path, message));
            }
        }
    }

    /// Returns half the number of hosts below an access router. The rules for buffer sizes use this
    /// half as the number of flows.
    pub fn half(&self, access: usize) -> f64 {
        (f64::from(self.sources[access]) + f64::from(self.receivers[access])) / 2.0
    }

    /// Returns the total number of sources.
    pub fn all_sources(&self) -> u64 {
        self.sources.iter().map(|&count| u64::from(count)).sum()
    }

    /// Returns the total number of receivers.
    pub fn all_receivers(&self) -> u64 {
        self.receivers.iter().map(|&count| u64::from(count)).sum()
    }

    /// Returns the fractions of the sources and of the receivers that are below routers of `class`.
    pub fn shares(&self, class: AccessClass, layout: &Layout) -> (f64, f64) {
        let share = |counts: &[u32]| {
            let of_class = layout.access.iter().zip(counts);
            let of_class = of_class.filter(|(access, _)| access.class == class);
            let all: f64 = counts.iter().map(|&count| f64::from(count)).sum();
            of_class.map(|(_, &count)| f64::from(count)).sum::<f64>() / all.max(1.0)
        };
        (share(&self.sources), share(&self.receivers))
    }
}

/// Returns the number of sources or of receivers below each access router. It is given in the
/// router's table, or follows from the router's class.
fn counts(
    hosts: &Table,
    key: Field<Table>,
    base: f64,
    layout: &Layout,
    own: fn(&Access) -> Option<u32>,
    out: &mut Vec<Diagnostic>,
) -> Vec<u32> {
    let shares = hosts.sub(key);
    let all = CLASSES.map(|class| shares.read(share(class)));
    let sum: f64 = all.iter().sum();
    if (sum - 1.0).abs() > SHARE_TOLERANCE {
        let message = format!("the three shares add up to {sum}; they have to add up to 1");
        out.push(Diagnostic::at(hosts, key, "mesonet.hosts", message));
    }
    let count = |class: AccessClass| (base * (shares.read(share(class)) / sum)).round() as u32;
    let below = layout.access.iter();
    below
        .map(|access| own(access).unwrap_or_else(|| count(access.class)))
        .collect()
}
