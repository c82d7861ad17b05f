//! Types and sizes of files, and limits on active large ones (NIST SP 500-282, chapter 8).

use longhaul_mesonet::config::{
    AccessClass, Admission, Algorithm, Cell, Files, Jumbo, LargeFile, PathClass,
};
use longhaul_units::Time;

use super::clock::Clock;
use super::hosts::{Population, SHARE_TOLERANCE};
use super::layout::Layout;
use crate::document::{Node, Origin, Table, Value};
use crate::error::Diagnostic;
use crate::typed::Typed;

/// Keys of the large types, in the order of `FileType::LARGE`, with the lower bound of the maximum of
/// active files (NIST SP 500-282, chapter 8, equations 1 to 3).
pub(crate) const LARGE: [(&str, u64); 3] =
    [("documents", 1000), ("service_packs", 100), ("movies", 10)];

/// Keys of the classes of paths, in the order of `PathClass`.
const PATHS: [&str; 3] = ["very_fast", "fast", "typical"];

/// Sizes of files, without the limits on their numbers.
pub(crate) fn files(table: &mut Table, clock: &Clock, out: &mut Vec<Diagnostic>) -> Files {
    let large = LARGE.map(|(key, _)| {
        let kind = table.sub(key);
        LargeFile {
            probability: kind.read("probability"),
            factor: kind.read("factor"),
        }
    });
    let sum: f64 = large.iter().map(|kind| kind.probability).sum();
    if sum > 1.0 {
        let message = format!("the probabilities of the large types add up to {sum}, more than 1");
        let origin = &table.node("documents").origin;
        out.push(Diagnostic::new("mesonet.files", origin, message));
    }
    check_path_shares(table, out);
    Files {
        mean: table.read("mean"),
        shape: table.read("shape"),
        large,
        admission: None,
        jumbo: jumbo(table, large[0].factor, clock, out),
    }
}

fn check_path_shares(table: &Table, out: &mut Vec<Diagnostic>) {
    let Some(node) = table.get("path_shares") else {
        return;
    };
    let shares = node.table().expect("the checker knows a table");
    let sum: f64 = PATHS.iter().map(|path| shares.read::<f64>(path)).sum();
    if (sum - 1.0).abs() > SHARE_TOLERANCE {
        let message = format!("the three shares add up to {sum}; they have to add up to 1");
        let origin = &node.origin;
        out.push(Diagnostic::new(
            "mesonet.files.path_shares",
            origin,
            message,
        ));
    }
}

fn jumbo(
    table: &mut Table,
    document_factor: u64,
    clock: &Clock,
    out: &mut Vec<Diagnostic>,
) -> Option<Jumbo> {
    let jumbo = table.get_mut("jumbo").and_then(Node::table_mut)?;
    jumbo.default("base", Value::Text("document".to_string()), Origin::Default);
    let [from, until] = ["from", "until"].map(|key| clock.moment(jumbo.node(key)));
    // As in the original, a beginning at the end of the run means no jumbo files.
    if from >= clock.end() {
        return None;
    }
    if from >= until {
        let message = format!(
            "the period of jumbo files ends at {}, but begins at {}; write a later end, or from = 1 for none",
            until.since(Time::ZERO),
            from.since(Time::ZERO)
        );
        let origin = &jumbo.node("until").origin;
        out.push(Diagnostic::new(
            "mesonet.files.jumbo.until",
            origin,
            message,
        ));
    }
    let factor: u64 = jumbo.read("factor");
    let web_factor = match jumbo.word("base") {
        "file" => factor,
        _ => factor.saturating_mul(document_factor),
    };
    Some(Jumbo {
        from,
        until,
        factor,
        web_factor,
    })
}

/// The shares of flows by class of path, as the limits count them: those given, or products of the
/// classes' shares of sources and receivers (NIST SP 500-282, chapter 3).
fn path_shares(files: &Table, population: &Population, layout: &Layout) -> [f64; 3] {
    if let Some(shares) = files.get("path_shares").and_then(Node::table) {
        return PATHS.map(|path| shares.read::<f64>(path));
    }
    let shares = |class| population.shares(class, layout);
    let (direct, fast) = (shares(AccessClass::Direct), shares(AccessClass::Fast));
    let very_fast = direct.0 * direct.1;
    let both = (direct.0 + fast.0) * (direct.1 + fast.1);
    [very_fast, both - very_fast, 1.0 - both]
}

/// Limits on active large files (equations 1 to 3 and table 8-7); zero for types of probability zero.
pub(crate) fn admission(
    table: &Table,
    files: &Files,
    population: &Population,
    layout: &Layout,
    fast_share: f64,
    algorithms: &[Algorithm],
) -> Admission {
    let sources = population.all_sources() as f64;
    let alternates = algorithms.iter().filter(|algorithm| algorithm.alternate);
    let alternate: f64 = alternates.map(|algorithm| algorithm.share).sum();
    let paths = path_shares(table, population, layout);
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
            // The probability of one fast host, as published, though an interface needs two.
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
