//! The nearest of several names to a mistyped one, for error messages.

/// Returns the candidate nearest to `name` by edit distance, if it is near enough to be meant: at
/// most a third of the letters, rounded up, differ.
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

/// Returns Levenshtein's edit distance without regard to case, with `-` equal to `_`.
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
    fn distances_are_levenshteins() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("min-th", "min_th"), 0);
        assert_eq!(distance("", "abc"), 3);
    }
}
