//! Clock, users, files, algorithms and long-lived flows.

use longhaul_congestion::{SlowStart, Variant};
use longhaul_mesonet::config::{Cell, Jumbo, PathClass};
use longhaul_units::{Span, Time};

use super::{scenario, with};

#[test]
fn the_clock_is_steps_intervals_and_parts_of_the_run() {
    // 7500 intervals of 200 steps; a flow that starts at 0.4 starts with interval 3000.
    let config = with(&[
        "M=200",
        "MI=7500",
        "LL_FLOWS=3",
        "LL_FLOW_SOURCES=[12, 24, 50]",
        "LL_FLOW_RECEIVERS=[131, 102, 62]",
        "LLon=[0.4, 0.4, 1.0]",
    ]);
    assert_eq!(config.duration, Time::ZERO + Span::from_secs(1500));
    assert_eq!(config.measure.every, Span::from_millis(200));
    assert_eq!(
        config.long_lived[0].start,
        Time::ZERO + Span::from_secs(600)
    );
    assert_eq!(config.long_lived[2].start, config.duration);
    let names = |index: usize| {
        let flow = &config.long_lived[index];
        [flow.from, flow.to].map(|at| config.topology.access[at].router.name.clone())
    };
    assert_eq!(
        [names(0), names(1), names(2)],
        [["B0a", "K0a"], ["C0a", "I0a"], ["E0a", "F0a"]]
    );
    let written = with(&["interval=100 ms", "step=500 us", "users.think=\"2 s\""]);
    assert_eq!(written.duration, Time::ZERO + Span::from_secs(10));
    assert_eq!(written.users.think, Span::from_secs(2));
    assert_eq!(with(&["step=500 us"]).users.think, Span::from_millis(2500));
}

#[test]
fn periods_and_intervals_are_resolved_to_times() {
    let scenario = scenario(&["periods=[{ name = \"late\", from = 0.5, to = \"20 s\" }]"]);
    let json = scenario.resolved_json();
    assert_eq!(
        json.pointer("/mesonet/periods/0/from").expect("a time"),
        "10 s"
    );
    assert_eq!(json.pointer("/mesonet/interval").expect("a time"), "200 ms");
}

#[test]
fn jumbo_files_belong_to_a_part_of_the_run() {
    let config = with(&["Jon=0.6", "Joff=0.8", "Jx=100"]);
    let at = |ms| Time::ZERO + Span::from_millis(ms);
    let jumbo = Jumbo {
        from: at(12_000),
        until: at(16_000),
        factor: 100,
        web_factor: 1000,
    };
    assert_eq!(config.files.jumbo, Some(jumbo));
    let literal = with(&["Jon=0.6", "Joff=0.8", "Jx=100", "files.jumbo.base=file"]);
    let web_factor = literal.files.jumbo.expect("given").web_factor;
    assert_eq!((web_factor, jumbo.web_factor), (100, 100 * 10));
    // With Jon at 1 or above there are no jumbo files, for any Joff.
    assert_eq!(with(&["Jon=1", "Joff=0.2", "Jx=100"]).files.jumbo, None);
}

#[test]
fn algorithms_follow_nist_where_they_can() {
    let config = with(&[
        "prTCP=0.5",
        "prHSTCP=0.25",
        "prFAST=0.25",
        "LL_FLOW_SOURCES=[12, 24]",
        "LL_FLOW_RECEIVERS=[131, 102]",
        "SOURCE_TYPE=[6, 0]",
    ]);
    let kinds: Vec<_> = config
        .algorithms
        .iter()
        .map(|one| {
            (
                one.congestion.kind.as_str(),
                one.congestion.variant,
                one.share,
                one.alternate,
            )
        })
        .collect();
    assert_eq!(
        kinds,
        [
            ("reno", Variant::Paper, 0.5, false),
            ("fast", Variant::Paper, 0.25, true),
            ("hstcp", Variant::Nist, 0.25, true),
            ("htcp", Variant::Nist, 0.0, true),
        ]
    );
    assert_eq!(config.long_lived[0].algorithm, Some(3));
    assert_eq!(config.long_lived[1].algorithm, None);
    // An original name refers to the algorithm with this name, or to Reno if the file names no
    // algorithm.
    let config = with(&[
        "algorithms=[{}, { congestion = { kind = \"htcp\" } }]",
        "prTCP=0.9",
    ]);
    assert_eq!(config.algorithms.len(), 2);
    assert!((config.algorithms[1].share - 0.1).abs() < 1e-12);
    // An algorithm without a share gets the remainder.
    let mix = "algorithms=[{}, { congestion = { kind = \"bic\" }, share = 0.3, label = \"B\" }]";
    let config = with(&[mix]);
    assert!((config.algorithms[0].share - 0.7).abs() < 1e-12);
    assert_eq!(config.algorithms[1].label, "B");
}

#[test]
fn the_transport_is_what_chapter_three_says() {
    let transport = with(&["MAX_SS_THRESHOLD=50", "INITIAL_TCP_SS_THRESHOLD=1073741824"]).transport;
    assert_eq!(
        transport.slow_start,
        SlowStart::NistLimited { max_ssthresh: 50.0 }
    );
    assert!((transport.initial_ssthresh - 1_073_741_824.0).abs() < 1e-9);
    assert!((transport.initial_cwnd - 2.0).abs() < 1e-9);
}

#[test]
fn limits_on_large_files_are_the_published_ones() {
    // nist_d_derived_target_minimums.csv: chapter 8, x9 = 2, x6 = 1 (Fp 0.02), x7 = x8 = 0.3.
    let config = with(&[
        "hosts.source_shares={ normal = 0.1, fast = 0.6, direct = 0.3 }",
        "deltaU=2",
        "FastHostProb=0.3",
        "prTCP=0.7",
        "prHTCP=0.3",
        "files.admission=true",
        "Fp=0.02",
        "files.service_packs.probability=0.002",
        "files.movies.probability=0.0002",
    ]);
    let admission = config.files.admission.expect("limits");
    assert_eq!(admission.max, [1000, 100, 10]);
    let least = |file: usize, path, fast_interface| {
        [false, true].map(|alternate| {
            let cell = Cell {
                path,
                fast_interface,
                alternate,
            };
            admission.min[file][cell.index()]
        })
    };
    use PathClass::{Fast, Typical, VeryFast};
    assert_eq!(least(0, VeryFast, true), [1, 1]);
    assert_eq!(least(0, Fast, true), [2, 1]);
    // Table 8-11 has other shares of paths, for 59 sources below a normal router: with these the
    // first minimum is 4.
    assert_eq!(least(0, Fast, false), [3, 2]);
    assert_eq!(least(0, Typical, true), [20, 9]);
    assert_eq!(least(0, Typical, false), [46, 20]);
    assert_eq!(least(1, Typical, true), [2, 1]);
    assert_eq!(least(1, Typical, false), [5, 2]);
    assert_eq!(admission.min[2].iter().sum::<u64>(), 12);
    // Many sources raise the upper limits: x9 = 3, x6 = 2.
    let config = with(&[
        "hosts.source_shares={ normal = 0.1, fast = 0.6, direct = 0.3 }",
        "deltaU=3",
        "files.admission=true",
        "Fp=0.04",
        "files.service_packs.probability=0.004",
        "files.movies.probability=0.0004",
    ]);
    assert_eq!(config.files.admission.expect("limits").max, [1048, 105, 11]);
}

/// Checks that a type of file with probability zero has no minimum number of active files, since a
/// minimum would force transfers. The other types have a minimum of one in each cell (table 8-7).
#[test]
fn a_type_that_is_never_drawn_has_no_limits_that_make_flows_transfer_it() {
    let config = with(&["files.admission=true", "Fp=0.02", "Sp=0", "Mp=0.0002"]);
    let admission = config.files.admission.expect("limits");
    assert_eq!(admission.max, [1000, 0, 10]);
    assert_eq!(admission.min[1], [0; Cell::COUNT]);
    assert_eq!(admission.min[2], [1; Cell::COUNT]);
}

#[test]
fn shares_of_paths_may_be_given_for_the_limits_alone() {
    // Table 8-11.
    let config = with(&[
        "files.admission=true",
        "files.path_shares={ very_fast = 0.00107, fast = 0.061479, typical = 0.937451 }",
        "FastHostProb=0.3",
        "prTCP=0.7",
        "prHTCP=0.3",
        "Fp=0.02",
    ]);
    let cell = Cell {
        path: PathClass::Fast,
        fast_interface: false,
        alternate: false,
    };
    assert_eq!(
        config.files.admission.expect("limits").min[0][cell.index()],
        4
    );
}

/// Checks that the probabilities `at_once`, `second` and `third` may add up to one. The mean first wait is then less
/// than `users.think` for every source (NIST SP 500-282, chapter 3).
#[test]
fn users_may_all_start_in_the_first_three_waves() {
    for (second, third) in [(0.25, 0.0), (0.25, 0.25)] {
        let start = format!("users.start={{ at_once = 0.5, second = {second}, third = {third} }}");
        let waves = with(&[&start]).users.start;
        assert_eq!(
            (waves.at_once, waves.second, waves.third),
            (0.5, second, third)
        );
    }
}

/// Checks that `longhaul explain` has the limits on active files of each large type, if limits apply.
#[test]
fn limits_on_large_files_are_explained() {
    let limits = |overrides: &[&str]| -> Vec<(String, String)> {
        let rows = scenario(overrides).explain();
        let rows = rows.into_iter().filter(|row| {
            row.path.starts_with("mesonet.files.")
                && (row.path.ends_with(".max") || row.path.ends_with(".min"))
        });
        rows.map(|row| (row.path, row.value)).collect()
    };
    let rare = [
        "files.admission=true",
        "files.service_packs.probability=0.002",
        "files.movies.probability=0.0002",
    ];
    let found = limits(&rare);
    let largest = found.iter().filter(|(path, _)| path.ends_with(".max"));
    let largest: Vec<&str> = largest.map(|(_, value)| value.as_str()).collect();
    assert_eq!(largest, ["1000", "100", "10"]);
    assert_eq!(found.len(), 6, "{found:?}");
    let without = limits(&["files.admission=false"]);
    assert!(without.is_empty(), "{without:?}");
}
