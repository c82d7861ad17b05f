//! Types and sizes of files, and limits on active large files (NIST SP 500-282, chapter 8).

use longhaul_keys::Field;
use longhaul_mesonet::config::{
    AccessClass, Admission, Algorithm, Cell, Files, Jumbo, LargeFile, PathClass,
};
use longhaul_units::Time;

use super::clock::Clock;
use super::hosts::{Population, SHARE_TOLERANCE};
use super::keys::{FileKeys, JumboBase, JumboKeys, LargeFiles, PathShares};
use super::layout::Layout;
use crate::document::{Table, Value};
use crate::error::Diagnostic;

/// Keys of documents, service packs and movies, in the order of `FileType::LARGE`. The maximum number of active files
/// of each type depends on the number of sources; it is never below the number given here (NIST SP 500-282, chapter 8,
/// equations 1 to 3). For types with probability zero, the maximum is zero.
pub(crate) const LARGE: [(Field<LargeFiles>, u64); 3] = [
    (FileKeys::documents, 1000),
    (FileKeys::service_packs, 100),
    (FileKeys::movies, 10),
];

impl PathShares {
    /// Returns the fractions of flows in the order of `PathClass`.
    fn all(&self) -> [f64; 3] {
        [self.very_fast, self.fast, self.typical]
    }
}

/// Resolves the types and sizes of files, but not the limits on their numbers.
pub(crate) fn files(table: &mut Table, clock: &Clock, out: &mut Vec<Diagnostic>) -> Files {
    let large = LARGE.map(|(key, _)| {
        let LargeFiles {
            probability,
            factor,
        } = table.read(key);
        LargeFile {
            probability,
            factor,
        }
    });
    let sum: f64 = large.iter().map(|kind| kind.probability).sum();
    if sum > 1.0 + 1e-9 {
        let message = format!("the probabilities of the large types add up to {sum}, more than 1");
        let origin = &table.node(FileKeys::documents).origin;
        out.push(Diagnostic::new("mesonet.files", origin, message));
    }
    check_path_shares(table, out);
    Files {
        mean: table.read(FileKeys::mean),
        shape: table.read(FileKeys::shape),
        large,
        admission: None,
        jumbo: jumbo(table, large[0].factor, clock, out),
    }
}

fn check_path_shares(table: &Table, out: &mut Vec<Diagnostic>) {
    let Some(shares) = table.read(FileKeys::path_shares) else {
        return;
    };
    let sum: f64 = shares.all().iter().sum();
    if (sum - 1.0).abs() > SHARE_TOLERANCE {
        let message = format!("the three shares add up to {sum}; they have to add up to 1");
        let path = "mesonet.files";
        out.push(Diagnostic::at(table, FileKeys::path_shares, path, message));
    }
}

fn jumbo(
    table: &mut Table,
    document_factor: u64,
    clock: &Clock,
    out: &mut Vec<Diagnostic>,
) -> Option<Jumbo> {
    let jumbo = table.table_mut(FileKeys::jumbo)?;
    jumbo.or_default(JumboKeys::base, Value::text("document"));
    let keys = JumboKeys::of(jumbo);
    let (from, until) = (clock.moment(keys.from), clock.moment(keys.until));
    // In the original, too, a start at the end of the run means that there are no jumbo files.
    if from >= clock.end() {
        return None;
    }
    if from >= until {
        let message = format!(
            "the period of jumbo files ends at {}, but begins at {}; write a later end, or from = 1 for none",
            until.since(Time::ZERO),
            from.since(Time::ZERO)
        );
        let path = "mesonet.files.jumbo";
        out.push(Diagnostic::at(jumbo, JumboKeys::until, path, message));
    }
    let factor = keys.factor;
    let web_factor = match keys.base {
        JumboBase::File => factor,
        JumboBase::Document => factor.saturating_mul(document_factor),
    };
    Some(Jumbo {
        from,
        until,
        factor,
        web_factor,
    })
}

/// Returns the fraction of flows in each class of path, for the limits on large files. If the scenario does not give
/// the fractions, they follow from the shares of sources and receivers below each class of access routers (NIST SP
/// 500-282, chapter 3).
fn path_shares(keys: &FileKeys, population: &Population, layout: &Layout) -> [f64; 3] {
    if let Some(shares) = &keys.path_shares {
        return shares.all();
    }
    let shares = |class| population.shares(class, layout);
    let (direct, fast) = (shares(AccessClass::Direct), shares(AccessClass::Fast));
    let very_fast = direct.0 * direct.1;
    let both = (direct.0 + fast.0) * (direct.1 + fast.1);
    [very_fast, both - very_fast, 1.0 - both]
}

/// Returns the limits on the numbers of active large files (NIST SP 500-282, chapter 8, equations 1 to 3, table 8-7).
/// The limits are zero for types of files with probability zero.
pub(crate) fn admission(
    keys: &FileKeys,
    files: &Files,
    population: &Population,
    layout: &Layout,
    fast_share: f64,
    algorithms: &[Algorithm],
) -> Admission {
    let sources = population.all_sources() as f64;
    let alternates = algorithms.iter().filter(|algorithm| algorithm.alternate);
    let alternate: f64 = alternates.map(|algorithm| algorithm.share).sum();
    let paths = path_shares(keys, population, layout);
    let mut admission = Admission {
        max: [0; 3],
        min: [[0; Cell::COUNT]; 3],
    };
    for (index, (kind, (_, lower_bound))) in files.large.iter().zip(LARGE).enumerate() {
        if kind.probability == 0.0 {
            continue;
        }
        let max = ((sources * kind.probability).ceil() as u64).max(lower_bound);
        admission.max[index] = max;
        for cell in cells() {
            // This is the probability of one fast host, as published, although a fast interface
            // needs two.
            let interface = if cell.fast_interface {
                fast_share
            } else {
                1.0 - fast_share
            };
            let algorithm = if cell.alternate {
                alternate
            } else {
                1.0 - alternate
            };
            let share = paths[cell.path as usize] * interface * algorithm;
            let min = (0.1 * max as f64 * share).ceil() as u64;
            admission.min[index][cell.index()] = min.max(1);
        }
    }
    admission
}

fn cells() -> impl Iterator<Item = Cell> {
    let paths = [PathClass::VeryFast, PathClass::Fast, PathClass::Typical];
    let of_path = |path| {
        let cell = move |(fast_interface, alternate)| Cell {
            path,
            fast_interface,
            alternate,
        };
        [(true, false), (true, true), (false, false), (false, true)].map(cell)
    };
    paths.into_iter().flat_map(of_path)
}
