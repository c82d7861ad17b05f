//! Messages about unknown names: the name that was probably meant, and some more names or the
//! command that lists all.

/// Maximum number of names listed beside a suggestion, or as the nearest. More names would hide the suggestion.
const FEW: usize = 5;

/// Maximum number of names that are all listed if none is similar and no command lists them.
const MANY: usize = 20;

/// Returns the candidate that is nearest to `name` by edit distance, if at most a third of the
/// letters, rounded up, differ; `None` otherwise.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.chars().count().div_ceil(3);
    candidates
        .into_iter()
        // An empty name is never suggested.
        .filter(|candidate| !candidate.is_empty())
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the end of a message about a name that is not in `known`. It contains the probable name, if one is similar,
/// and all known names if there are at most five. If there are more, it contains `command`, which lists them. Without a
/// command, it contains the nearest five names, or all names if none is similar and there are at most twenty.
pub fn suggestion(name: &str, known: &[&str], command: Option<&str>) -> String {
    let count = known.len();
    let near = nearest(name, known.iter().copied());
    let hint = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
    match command {
        _ if count <= FEW => format!("{hint}; allowed: {}", known.join(", ")),
        Some(command) => format!("{hint}; `{command}` shows all {count}"),
        None if near.is_some() || count > MANY => {
            let mut sorted = known.to_vec();
            sorted.sort_by_key(|known| distance(name, known));
            sorted.truncate(FEW);
            format!("{hint}; nearest of {count}: {}", sorted.join(", "))
        }
        None => format!("; allowed: {}", known.join(", ")),
    }
}

/// Returns Levenshtein's edit distance between two names, ignoring case and treating `-` and `_` as
/// equal.
fn distance(a: &str, b: &str) -> usize {
    let letters = |text: &str| -> Vec<char> {
        text.chars()
            .map(|c| {
                if c == '-' {
                    '_'
                } else {
                    c.to_ascii_lowercase()
                }
            })
            .collect()
    };
    let (a, b) = (letters(a), letters(b));
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let substituted = previous[j] + usize::from(x != y);
            row.push(substituted.min(previous[j + 1] + 1).min(row[j] + 1));
        }
        previous = row;
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_probably_meant() {
        let names = ["hstcp", "reno", "cubic"];
        assert_eq!(nearest("hstpc", names), Some("hstcp"));
        assert_eq!(nearest("htcp", names), Some("hstcp"));
        assert_eq!(nearest("Reno", names), Some("reno"));
        assert_eq!(nearest("bottelneck", ["bottleneck"]), Some("bottleneck"));
        assert_eq!(nearest("vegas", names), None);
        assert_eq!(nearest("a", [""]), None);
    }

    #[test]
    fn a_message_lists_at_most_five_names_beside_the_one_meant() {
        let many = ["hstcp", "reno", "cubic", "bic", "htcp", "vegas", "illinois"];
        assert_eq!(
            suggestion("cubik", &many[..3], Some("list")),
            " (did you mean `cubic`?); allowed: hstcp, reno, cubic"
        );
        assert_eq!(
            suggestion("cubik", &many, Some("list all")),
            " (did you mean `cubic`?); `list all` shows all 7"
        );
        assert_eq!(
            suggestion("cubik", &many, None),
            " (did you mean `cubic`?); nearest of 7: cubic, bic, hstcp, reno, htcp"
        );
        assert!(suggestion("x", &many, None).ends_with("vegas, illinois"));
    }

    #[test]
    fn distances_are_levenshteins() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("min-th", "min_th"), 0);
        assert_eq!(distance("", "abc"), 3);
    }
}
