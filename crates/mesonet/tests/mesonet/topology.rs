//! The network of the tests against NIST SP 500-282, chapters 3, 4 and 6.

use longhaul_mesonet::config::{AccessClass, Router, Topology};

use crate::network::{Buffers, Study, mean_round_trip_ms, route};

fn built(study: Study) -> Topology {
    study.topology()
}

#[test]
fn elements_are_as_many_as_published_and_have_their_names() {
    let topology = built(Study::CONDITION_8);
    assert_eq!((topology.backbone.len(), topology.links.len()), (11, 28));
    assert_eq!((topology.pops.len(), topology.access.len()), (22, 139));
    let of = |class| {
        topology
            .access
            .iter()
            .filter(|access| access.class == class)
            .count()
    };
    assert_eq!(of(AccessClass::Normal), 105);
    assert_eq!((of(AccessClass::Fast), of(AccessClass::Direct)), (28, 6));
    for (id, name) in [
        (1, "A1a"),
        (12, "B0a"),
        (24, "C0a"),
        (50, "E0a"),
        (62, "F0a"),
        (102, "I0a"),
        (131, "K0a"),
        (139, "K2d"),
    ] {
        assert_eq!(topology.access[id - 1].router.name, name);
    }
    assert_eq!(
        (
            &*topology.pops[0].router.name,
            &*topology.pops[21].router.name
        ),
        ("A1", "K2")
    );
    assert_eq!(
        (&*topology.links[0].name, &*topology.links[1].name),
        ("A-B", "B-A")
    );
}

#[test]
fn routes_have_the_published_delays_and_five_pairs_differ_there_and_back() {
    let topology = built(Study::CONDITION_8);
    let trip = |a: usize, b: usize| (route(&topology, a, b).0, route(&topology, b, a).0);
    let mut asymmetric = Vec::new();
    let mut sums = Vec::new();
    for b in 0..11 {
        for a in 0..b {
            let (there, back) = trip(a, b);
            sums.push(there + back);
            if there != back {
                let name = |at: usize| (b'A' + at as u8) as char;
                asymmetric.push((name(a), name(b), there, back));
            }
        }
    }
    asymmetric.sort_unstable();
    let expected = [
        ('A', 'H', 34, 43),
        ('B', 'K', 36, 43),
        ('D', 'E', 24, 30),
        ('D', 'G', 37, 36),
        ('F', 'G', 17, 16),
    ];
    assert_eq!(asymmetric, expected);
    assert_eq!(
        (sums.iter().min(), sums.iter().max()),
        (Some(&6), Some(&100))
    );
    assert_eq!(sums.iter().sum::<u64>(), 2238);
    // The route from A to J passes B, D, F and H.
    assert_eq!(route(&topology, 0, 9).1, [0, 1, 3, 5, 7, 9]);
    assert_eq!(route(&topology, 9, 5).1, [9, 7, 5]);
}

#[test]
fn delays_are_multiplied_and_rounded_halves_to_even() {
    for (delay_factor, mean) in [(1.0, 40.6909), (2.0, 81.3818), (0.5, 20.8), (2.5, 102.1818)] {
        let topology = built(Study {
            delay_factor,
            ..Study::CONDITION_8
        });
        let found = mean_round_trip_ms(&topology);
        assert!((found - mean).abs() < 1e-4, "{found} for {mean}");
        let own = topology.mean_round_trip_s().expect("routes");
        assert!((own * 1e3 - found).abs() < 1e-9, "{own}");
    }
}

#[test]
fn there_are_as_many_hosts_as_published() {
    let count = |sources_per_router, source_shares| {
        let topology = built(Study {
            sources_per_router,
            source_shares,
            ..Study::CONDITION_8
        });
        let sources: u32 = topology.access.iter().map(|access| access.sources).sum();
        let receivers: u32 = topology.access.iter().map(|access| access.receivers).sum();
        (sources, receivers)
    };
    // 278e3 and 174.6e3 sources, 1675.2e3 receivers.
    assert_eq!(count(2000.0, [1.0 / 3.0; 3]), (278_000, 1_675_200));
    assert_eq!(count(2000.0, [0.1, 0.6, 0.3]).0, 174_600);
    assert_eq!(count(100.0, [1.0 / 3.0; 3]).0, 13_900);
}

/// Checks the mean buffers of backbone routers, points of presence and access routers against the published tables.
#[test]
fn buffers_are_those_of_the_published_tables() {
    let mean = |routers: Vec<&Router>| {
        let sum: u64 = routers.iter().map(|router| router.buffer).sum();
        sum as f64 / routers.len() as f64
    };
    let means = |study: Study| {
        let topology = built(study);
        let access: Vec<&Router> = topology
            .access
            .iter()
            .map(|access| &access.router)
            .collect();
        [
            mean(topology.backbone.iter().collect()),
            mean(topology.pops.iter().map(|pop| &pop.router).collect()),
            mean(access),
        ]
    };
    let chapter_6 = Study {
        r1: 4000.0,
        sources_per_router: 2000.0,
        ..Study::CONDITION_8
    };
    let cases = [
        (chapter_6, [325_528.0, 40_691.0, 6470.0]),
        (
            Study {
                r1: 400.0,
                backbone_speedup: 1.0,
                ..chapter_6
            },
            [16_277.0, 4070.0, 647.0],
        ),
        (
            Study {
                r1: 600.0,
                ..Study::CONDITION_8
            },
            [48_830.0, 6104.0, 971.0],
        ),
    ];
    for (study, expected) in cases {
        for (found, expected) in means(study).into_iter().zip(expected) {
            assert!((found - expected).abs() <= 1.0, "{found} for {expected}");
        }
    }
    let few = means(Study {
        buffers: Buffers::RttCOverRootN,
        ..chapter_6
    });
    assert!((few[0] - 1153.0).abs() < 1.0, "{few:?}");
}
