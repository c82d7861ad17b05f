//! Fuzzing of the reader: any text results in a scenario, or in a message with a position.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use longhaul_scenario::parse;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Pieces of scenarios and of other texts, which are inserted.
const PIECES: &[&str] = &[
    "\n",
    " ",
    "=",
    ".",
    ",",
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "[[",
    "]]",
    "#",
    "\"\"\"",
    "\0",
    "é",
    "\u{1f600}",
    "0",
    "-1",
    "1e308",
    "nan",
    "true",
    "99999999999999999999",
    "\"0 s\"",
    "\"1 ps\"",
    "\"-1 Mbps\"",
    "\"1e300 Gbps\"",
    "\"1 BDP\"",
    "\"0 packets\"",
    "\"\"",
    "[]",
    "{}",
    "title",
    "duration",
    "measure",
    "topology",
    "dumbbell",
    "bottleneck",
    "rate",
    "delay",
    "queue",
    "kind",
    "flows",
    "congestion",
    "start",
    "uniform",
    "extends",
    "profile",
    "mesonet",
    "traffic",
    "proxies",
    "count",
    "transfer",
    "python",
    "\"/dev/zero\"",
    "\"red\"",
    "\"hstcp\"",
    "\"ns2-2.35\"",
    "{\"scenario\": {",
    "\"results_version\": 1",
];

/// Draws a change of a text: its position, the number of characters removed, and the text inserted
/// instead.
fn change() -> impl Strategy<Value = (Index, usize, Vec<&'static str>)> {
    let pieces = prop::collection::vec(select(PIECES), 0..4);
    (
        any::<Index>(),
        prop_oneof![Just(0), 1_usize..30, 1_usize..2000],
        pieces,
    )
}

fn shipped() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let scenarios = files
        .iter()
        .filter(|file| file.extension().is_some_and(|end| end == "toml"));
    scenarios
        .map(|file| fs::read_to_string(file).unwrap())
        .collect()
}

fn scenario() -> impl Strategy<Value = String> {
    let mut texts = shipped();
    texts.push(String::new());
    (select(texts), prop::collection::vec(change(), 0..6)).prop_map(|(mut text, changes)| {
        for (place, gone, pieces) in changes {
            let bounds: Vec<usize> = (0..=text.len())
                .filter(|&at| text.is_char_boundary(at))
                .collect();
            let first = place.index(bounds.len());
            let last = (first + gone).min(bounds.len() - 1);
            text.replace_range(bounds[first]..bounds[last], &pieces.concat());
        }
        text
    })
}

/// Reads at most `cases` mutated texts as scenarios, for at most `time`.
fn read(cases: u32, time: Duration) {
    let config = Config {
        cases: 1,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let (scenarios, began) = (scenario(), Instant::now());
    let mut done = 0;
    while done < cases && began.elapsed() < time {
        let answer = runner.run(&scenarios, |text| {
            if let Err(error) = parse(&text, "fuzz.toml", None, &[]) {
                let message = error.to_string();
                prop_assert!(!message.is_empty());
                // An empty name is never suggested.
                prop_assert!(!message.contains("did you mean ``"), "{}", message);
            }
            Ok(())
        });
        answer.unwrap_or_else(|error| panic!("{error}"));
        done += 1;
    }
}

#[test]
fn whatever_is_read_is_answered() {
    read(300, Duration::from_secs(60));
}

/// Reads mutated scenario texts for ten minutes. Checks that each gives a scenario or an error message.
#[test]
#[ignore = "takes ten minutes"]
fn whatever_is_read_in_ten_minutes_is_answered() {
    read(u32::MAX, Duration::from_secs(600));
}
