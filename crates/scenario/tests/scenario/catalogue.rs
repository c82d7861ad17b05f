//! Tests of the lists that `longhaul list` prints: their keys, values and defaults agree with scenarios.

use longhaul_engine::queue::DISCIPLINES;
use longhaul_scenario::{keys, profiles, queues};

use crate::with;

/// Returns a dotted path with `*` in place of each index of a list.
fn pattern(path: &str) -> String {
    let parts = path.split('.').map(|part| match part.parse::<usize>() {
        Ok(_) => "*",
        Err(_) => part,
    });
    parts.collect::<Vec<_>>().join(".")
}

/// Returns a path without the kinds of tables in brackets.
fn without_kinds(path: &str) -> String {
    let parts = path
        .split('[')
        .enumerate()
        .map(|(index, part)| match index {
            0 => part,
            _ => part.split_once(']').map_or(part, |(_, rest)| rest),
        });
    parts.collect()
}

/// Checks that every value of a complete scenario has a listed key, and that listed keys have a meaning and allowed
/// values. Keys of queues and algorithms have separate lists.
#[test]
fn values_of_scenarios_have_listed_keys() {
    let listed = keys();
    let known: Vec<String> = listed.iter().map(|key| without_kinds(&key.path)).collect();
    assert!(
        listed
            .iter()
            .all(|key| !key.help.is_empty() && !key.allowed.is_empty())
    );
    let scenario = with(&["flows.0.access={ rate = \"2 Gbps\", delay = \"1 ms\" }"]);
    let elsewhere = ["queue", "congestion", "slow_start"];
    let mut found = 0;
    for row in scenario.explain() {
        let path = pattern(&row.path);
        if path.contains(' ')
            || elsewhere
                .iter()
                .any(|part| path.split('.').any(|one| one == *part))
        {
            continue;
        }
        found += 1;
        assert!(known.contains(&path), "{path} of {known:#?}");
    }
    assert!(found > 30, "{found}");
}

/// Checks that the listed defaults of each queue discipline are the values of a queue that gives only its `kind`.
#[test]
fn listed_defaults_of_queues_are_those_that_they_get() {
    let listed = queues();
    let kinds: Vec<&str> = listed.iter().map(|queue| queue.kind).collect();
    let known: Vec<&str> = DISCIPLINES
        .iter()
        .map(|discipline| discipline.kind)
        .collect();
    assert_eq!(kinds, known);
    let mut compared = 0;
    for queue in listed {
        let texts = [queue.title, queue.description, queue.source];
        assert!(texts.iter().all(|text| !text.is_empty()), "{}", queue.kind);
        let kind = queue.kind;
        let scenario = with(&[
            &format!("topology.dumbbell.bottleneck.queue={{ kind = {kind:?} }}"),
            "topology.dumbbell.bottleneck.rate=100 Mbps",
        ]);
        let rows = scenario.explain();
        for key in queue.keys {
            let path = format!("topology.dumbbell.bottleneck.queue.{}", key.name);
            let row = rows.iter().find(|row| row.path == path);
            assert!(!key.help.is_empty() && !key.allowed.is_empty(), "{path}");
            match row {
                // Values that follow from the link or the profile are not in the list.
                Some(row) if row.origin.starts_with("derived: ") || key.default.is_empty() => {}
                Some(row) => {
                    assert_eq!(row.value, key.default, "{kind}: {path}");
                    compared += 1;
                }
                // Some keys apply only together with others.
                None => {}
            }
        }
    }
    assert!(compared > 40, "{compared}");
}

/// Every profile of the list is accepted in a scenario, and has a description.
#[test]
fn listed_profiles_may_be_chosen() {
    let names: Vec<&str> = profiles().iter().map(|profile| profile.name).collect();
    assert_eq!(names[..2], ["rfc", "linux"]);
    for profile in profiles() {
        with(&[&format!("profile={}", profile.name)]);
        assert!(!profile.description.is_empty());
    }
}
