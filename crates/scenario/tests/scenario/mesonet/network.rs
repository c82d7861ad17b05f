//! Tests of the topology, routes, speeds, buffers and numbers of hosts (NIST SP 500-282, chapters 3, 4 and 6).

use longhaul_mesonet::config::{AccessClass, Config, PacketRate, Parent, Topology};
use longhaul_scenario::parse;
use longhaul_units::Span;

use super::{BASE, SMALL, config, scenario, with};

fn access(topology: &Topology, name: &str) -> usize {
    let found = topology
        .access
        .iter()
        .position(|one| one.router.name == name);
    found.unwrap_or_else(|| panic!("no access router {name}")) + 1
}

/// Returns the names of the routers on a route, and the route's delay in milliseconds.
fn way(topology: &Topology, from: usize, to: usize) -> (String, u64) {
    let (mut at, mut names) = (from, topology.backbone[from].name.clone());
    let mut delay = Span::ZERO;
    while at != to {
        let link = &topology.links[topology.next_link[at][to].expect("a route")];
        assert_eq!(link.from, at);
        delay += link.delay;
        at = link.to;
        names = format!("{names}-{}", topology.backbone[at].name);
    }
    (names, delay.as_ps() / 1_000_000_000)
}

#[test]
fn the_published_network_has_its_routers_and_their_numbers() {
    // NIST SP 500-282, chapter 3: numbers of routers, and their classes.
    let topology = with(&[]).topology;
    assert_eq!(topology.backbone.len(), 11);
    assert_eq!(topology.links.len(), 28);
    assert_eq!(topology.pops.len(), 22);
    assert_eq!(topology.access.len(), 139);
    let count = |class| {
        topology
            .access
            .iter()
            .filter(|one| one.class == class)
            .count()
    };
    let classes = [AccessClass::Normal, AccessClass::Fast, AccessClass::Direct];
    assert_eq!(classes.map(count), [105, 28, 6]);
    let numbers = [
        ("A1a", 1),
        ("B0a", 12),
        ("C0a", 24),
        ("E0a", 50),
        ("F0a", 62),
        ("I0a", 102),
        ("K0a", 131),
        ("K2d", 139),
    ];
    for (name, number) in numbers {
        assert_eq!(access(&topology, name), number, "{name}");
    }
    assert_eq!(topology.pops[0].router.name, "A1");
    assert_eq!(topology.pops[21].router.name, "K2");
    assert_eq!(topology.links[0].name, "A-B");
    assert_eq!(topology.links[1].name, "B-A");
    for one in &topology.access {
        let name = &one.router.name;
        let above = match one.parent {
            Parent::Pop(pop) => &topology.pops[pop].router.name,
            Parent::Backbone(backbone) => &topology.backbone[backbone].name,
        };
        assert!(name.starts_with(above.as_str()), "{name} below {above}");
        let direct = matches!(one.parent, Parent::Backbone(_));
        assert_eq!(direct, one.class == AccessClass::Direct, "{name}");
    }
}

#[test]
fn the_published_network_has_its_delays_and_routes() {
    let topology = with(&[]).topology;
    let number = |name: &str| name.as_bytes()[0] as usize - usize::from(b'A');
    // Forward links of table 3-1.
    let delays = [10, 12, 12, 4, 8, 20, 10, 7, 9, 7, 4, 7, 5, 3];
    for (index, link) in topology.links.iter().enumerate() {
        assert_eq!(
            link.delay,
            Span::from_millis(delays[index / 2]),
            "{}",
            link.name
        );
    }
    // Table 3-2: the five pairs whose routes differ by direction, the longest and the shortest.
    let ways = [
        ("A", "H", "A-C-E-G-H", 34),
        ("H", "A", "H-F-D-B-A", 43),
        ("B", "K", "B-C-E-G-I-K", 36),
        ("K", "B", "K-J-H-F-D-B", 43),
        ("D", "E", "D-B-C-E", 24),
        ("E", "D", "E-F-D", 30),
        ("D", "G", "D-F-E-G", 37),
        ("G", "D", "G-H-F-D", 36),
        ("F", "G", "F-E-G", 17),
        ("G", "F", "G-H-F", 16),
        ("A", "J", "A-B-D-F-H-J", 50),
        ("J", "A", "J-H-F-D-B-A", 50),
        ("J", "K", "J-K", 3),
        ("J", "F", "J-H-F", 16),
    ];
    for (from, to, names, delay) in ways {
        let found = way(&topology, number(from), number(to));
        assert_eq!(found, (names.to_string(), delay));
    }
    let pairs = |from: usize| {
        (0..11)
            .filter(move |&to| to != from)
            .map(move |to| (from, to))
    };
    let both: Vec<u64> = (0..11)
        .flat_map(pairs)
        .map(|(from, to)| way(&topology, from, to).1 + way(&topology, to, from).1)
        .collect();
    // Shortest, longest and mean round trip; ten routes differ by direction.
    assert_eq!(
        (both.iter().min(), both.iter().max()),
        (Some(&6), Some(&100))
    );
    let mean = both.iter().sum::<u64>() as f64 / 110.0;
    assert!((mean - 40.6909).abs() < 5e-5, "{mean}");
    let differ = (0..11)
        .flat_map(pairs)
        .filter(|&(from, to)| way(&topology, from, to).1 != way(&topology, to, from).1);
    assert_eq!(differ.count(), 10);
}

#[test]
fn delays_are_multiplied_and_rounded_to_even_steps() {
    // Published mean round trips at factors of 0.5, 2 and 2.5.
    for (factor, mean) in [("0.5", "20.8000"), ("2", "81.3818"), ("2.5", "102.1818")] {
        let scenario = scenario(&[&format!("network.delay_factor={factor}")]);
        let rows = scenario.explain();
        let row = rows
            .iter()
            .find(|row| row.path == "mesonet.network.mean_round_trip");
        assert_eq!(row.expect("a row").value, format!("{mean} time steps"));
    }
}

#[test]
fn capacities_follow_from_one_number() {
    // NIST SP 500-282, chapter 3: capacities as multiples or parts of R1.
    let config = with(&["network.backbone_rate=400", "network.backbone_speedup=1"]);
    let topology = &config.topology;
    let per_step = |rate| PacketRate::per(rate, Span::from_millis(1));
    assert_eq!(topology.backbone[0].capacity, per_step(400.0));
    assert!((topology.backbone[0].capacity.as_per_s() - 4e5).abs() < 1e-6);
    assert_eq!(topology.pops[0].router.capacity, per_step(100.0));
    let capacity = |name| topology.access[access(topology, name) - 1].router.capacity;
    assert_eq!(capacity("A1a"), per_step(10.0));
    assert_eq!(capacity("A2a"), per_step(20.0));
    assert_eq!(capacity("B0a"), per_step(100.0));
    // Another time step gives other times in seconds.
    let config = with(&[
        "network.backbone_rate=400",
        "step=0.002",
        "network.backbone_speedup=1",
    ]);
    assert!((config.topology.backbone[0].capacity.as_per_s() - 2e5).abs() < 1e-6);
    assert_eq!(config.topology.links[0].delay, Span::from_millis(20));
}

/// Returns the mean buffers, in packets, of backbone routers, points of presence and access
/// routers.
fn mean_buffers(config: &Config) -> [f64; 3] {
    let mean = |buffers: Vec<u64>| buffers.iter().sum::<u64>() as f64 / buffers.len() as f64;
    let topology = &config.topology;
    [
        mean(
            topology
                .backbone
                .iter()
                .map(|router| router.buffer)
                .collect(),
        ),
        mean(topology.pops.iter().map(|pop| pop.router.buffer).collect()),
        mean(
            topology
                .access
                .iter()
                .map(|one| one.router.buffer)
                .collect(),
        ),
    ]
}

#[test]
fn buffers_are_those_of_the_published_tables() {
    // Each case: R1, speedup, deltaX, rule, true if sources are skewed, and the published means.
    // The mean of a tier is 0 if it was printed for another population.
    let skewed = "hosts.source_shares={ normal = 0.1, fast = 0.6 }";
    let uniform = "hosts.scale=2";
    let cases = [
        (
            "400",
            "1",
            "1",
            "1",
            uniform,
            "100",
            [16277.0, 4070.0, 647.0],
        ),
        (
            "800",
            "1",
            "2",
            "1",
            uniform,
            "100",
            [65106.0, 16277.0, 2588.0],
        ),
        (
            "4000",
            "2",
            "1",
            "1",
            uniform,
            "1000",
            [325_528.0, 40691.0, 6470.0],
        ),
        ("4000", "2", "1", "2", uniform, "1000", [1153.0, 0.0, 0.0]),
        ("4000", "2", "1", "2", skewed, "1000", [0.0, 221.0, 91.0]),
        ("8000", "2", "2", "2", skewed, "1000", [4654.0, 0.0, 0.0]),
        ("8000", "2", "2", "2", uniform, "1000", [0.0, 908.0, 369.0]),
        ("600", "2", "1", "2", uniform, "100", [547.0, 0.0, 0.0]),
        ("600", "2", "1", "2", skewed, "100", [0.0, 105.0, 44.0]),
        ("1200", "2", "2", "2", skewed, "100", [2208.0, 0.0, 0.0]),
    ];
    for (rate, speedup, delta, rule, shares, base, published) in cases {
        let config = with(&[
            &format!("R1={rate}"),
            &format!("BBspeedup={speedup}"),
            &format!("deltaX={delta}"),
            &format!("QszAlg={rule}"),
            &format!("baseSources={base}"),
            shares,
        ]);
        for (found, published) in mean_buffers(&config).into_iter().zip(published) {
            let close = published == 0.0 || (found - published).abs() <= 1.0;
            assert!(
                close,
                "{rate} {delta} {rule} {shares}: {found}, {published}"
            );
        }
    }
    // A given number of packets is multiplied and truncated for every router (NIST SP 500-282,
    // chapter 3: `QszAlg`).
    let config = with(&["QszAlg=10", "Qfactor=0.25"]);
    assert_eq!(mean_buffers(&config), [2.0; 3]);
}

#[test]
fn hosts_are_where_their_shares_put_them() {
    let sums = |config: &Config| {
        let access = &config.topology.access;
        let sources: u32 = access.iter().map(|one| one.sources).sum();
        let receivers: u32 = access.iter().map(|one| one.receivers).sum();
        (sources, receivers)
    };
    let third = "hosts.receiver_shares={ normal = 0.33, fast = 0.33, direct = 0.33 }";
    // Thirds, however they are rounded.
    assert_eq!(sums(&with(&["deltaU=1", third])), (13_900, 55_600));
    assert_eq!(sums(&with(&["deltaU=2", third])), (27_800, 111_200));
    // Unequal shares of sources and receivers.
    let config = with(&[
        "hosts.source_shares={ normal = 0.1, fast = 0.6, direct = 0.3 }",
        "hosts.receiver_shares={ normal = 0.8, fast = 0.1, direct = 0.1 }",
    ]);
    let each = |name| {
        let one = &config.topology.access[access(&config.topology, name) - 1];
        (one.sources, one.receivers)
    };
    assert_eq!(
        [each("A1a"), each("A2a"), each("B0a")],
        [(60, 1920), (360, 240), (180, 240)]
    );
    assert_eq!(sums(&config), (17_460, 209_760));
    // The receivers of table 3-9.
    let config = with(&["baseSources=1000", "deltaU=2"]);
    assert_eq!(sums(&config), (278_000, 1_675_200));
}

#[test]
fn expected_shares_of_flow_classes_are_explained() {
    // NIST SP 500-282 prints 0.04, 0.6, 6.2, 1.9, 57 and 35 percent.
    let scenario = scenario(&[
        "hosts.source_shares={ normal = 0.1, fast = 0.6, direct = 0.3 }",
        "hosts.receiver_shares={ normal = 0.8, fast = 0.1, direct = 0.1 }",
    ]);
    let rows = scenario.explain();
    let row = rows
        .iter()
        .find(|row| row.path == "mesonet.hosts.flow_classes");
    let value = &row.expect("a row").value;
    assert_eq!(
        value,
        "DD 0.04 %, DF 0.59 %, DN 6.19 %, FF 1.85 %, FN 56.64 %, NN 34.68 %"
    );
}

#[test]
fn the_dumbbell_is_that_of_the_verification() {
    // NIST SP 500-282, chapter 5: buffers of a fifth of the bandwidth-delay product.
    for (delay, buffer) in [(21, 176), (81, 680), (162, 1360)] {
        let config = with(&[
            "network.topology=dumbbell",
            &format!("network.delay_factor={delay}"),
            "network.buffer_factor=0.2",
            "long_lived=[{ from = \"bottleneck\", to = \"far\" }]",
        ]);
        let topology = &config.topology;
        assert_eq!(topology.links[0].delay, Span::from_millis(delay));
        let bottleneck = &topology.access[config.long_lived[0].from];
        assert_eq!(bottleneck.router.buffer, buffer);
        assert_eq!(bottleneck.router.capacity, PacketRate::per_ms(21.0));
        assert_eq!(topology.backbone[1].capacity, PacketRate::per_ms(82.0));
        assert!(
            topology
                .access
                .iter()
                .all(|one| one.sources + one.receivers == 0)
        );
    }
}

#[test]
fn a_topology_of_ones_own_has_names_sizes_and_shortest_ways() {
    let config = with(&[SMALL, "network.buffer=7"]);
    let topology = &config.topology;
    assert_eq!(topology.access[0].router.name, "X1a");
    assert_eq!(topology.next_link[0][1], Some(0));
    assert_eq!(topology.next_link[1][0], Some(1));
    assert_eq!(topology.access[1].router.buffer, 7);
    // The route has the smaller delay, over a router without hosts.
    let triangle = "network.topology = { backbone = [\
        { name = \"X\", direct = [{ rate = 3, sources = 5, receivers = 9 }] }, { name = \"Y\" }, \
        { name = \"Z\", direct = 1 }], links = [\
        { from = \"X\", to = \"Z\", delay = 9 }, { from = \"X\", to = \"Y\", delay = \"4 ms\" }, \
        { from = \"Y\", to = \"Z\", delay = 4, both = false }] }";
    let config = with(&[triangle]);
    let topology = &config.topology;
    assert_eq!(way(topology, 0, 2), ("X-Y-Z".to_string(), 8));
    assert_eq!(way(topology, 2, 0), ("Z-X".to_string(), 9));
    let own = &topology.access[0];
    assert_eq!((own.sources, own.receivers), (5, 9));
    assert_eq!(own.router.capacity, PacketRate::per_ms(3.0));
    // The round trip has 17 steps, with three packets in each.
    assert_eq!(own.router.buffer, 51);
}

#[test]
fn the_resolved_scenario_is_the_scenario() {
    for overrides in [&[][..], &[SMALL, "long_lived=[{ from = 1, to = \"Y1a\" }]"]] {
        let first = scenario(overrides);
        let text = first.resolved_json().to_string();
        let second = longhaul_scenario::parse(&text, "resolved.json", None, &[])
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(first.resolved_json(), second.resolved_json());
        let debug = |scenario| format!("{:?}", config(scenario));
        assert_eq!(debug(&first), debug(&second));
    }
}

#[test]
fn other_routers_come_with_routes_of_their_own() {
    let folder = std::env::temp_dir().join(format!("longhaul-extends-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let lower = "[mesonet]\nintervals = 9\n[mesonet.network.topology]\n\
        backbone = [{ name = \"X\", direct = 1 }, { name = \"Y\", direct = 1 }]\n\
        links = [{ from = \"X\", to = \"Y\", delay = 5 }]\n\
        routes = [{ at = \"X\", next = \"Y\", to = [\"Y\"] }]\n";
    std::fs::write(folder.join("lower.toml"), lower).expect("a file");
    let upper = "extends = \"lower.toml\"\n[mesonet]\nM = 100\n[mesonet.network.topology]\n\
        backbone = [{ name = \"V\", direct = 1 }, { name = \"W\", direct = 2 }]\n\
        links = [{ from = \"V\", to = \"W\", delay = 5 }]\n";
    let scenario = longhaul_scenario::parse(upper, "upper.toml", Some(&folder), &[]);
    std::fs::remove_dir_all(&folder).expect("the folder");
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(config(&scenario).topology.access.len(), 3);
    assert_eq!(config(&scenario).measure.every, Span::from_millis(100));
}

/// Checks that two queues with one server share a buffer by default, and that queues with separate
/// servers have separate buffers (NIST SP 500-282, chapter 5).
#[test]
fn one_server_has_one_buffer_unless_told_otherwise() {
    let shared = |overrides: &[&str]| with(overrides).topology.shared_buffer;
    assert!(shared(&[]));
    assert!(shared(&["network.service=alternating"]));
    assert!(!shared(&["network.service=dual"]));
    assert!(!shared(&["network.shared_buffer=false"]));
}

/// Checks that a tier of routers slower than the tier below it causes a warning; an equally fast
/// one does not. The published networks have their bottlenecks at access routers (NIST SP 500-282,
/// chapter 3).
#[test]
fn a_tier_that_is_slower_than_the_one_below_is_told_of() {
    let told = |overrides: &[&str]| scenario(overrides).warnings().join("; ");
    assert_eq!(told(&["network.access_divisor=1"]), "");
    assert_eq!(told(&["network.pop_divisor=0.5"]), "");
    let normal = told(&["network.access_divisor=0.5"]);
    assert!(
        normal.starts_with(
            "points of presence forward 300 packets per time step, normal access routers 600"
        ),
        "{normal}"
    );
    let pop = told(&["network.pop_divisor=0.4"]);
    assert!(
        pop.starts_with(
            "backbone routers forward 2400 packets per time step, points of presence 3000"
        ),
        "{pop}"
    );
}

/// Checks the total numbers of sources and of receivers in the output of `longhaul explain`, and that too many hosts
/// are refused. The network has two normal access routers. Each has a third of 3 x 40 sources, and 60 % of 4 x 3 x 40
/// receivers.
#[test]
fn hosts_of_all_routers_are_explained_and_counted_together() {
    let scenario = scenario(&[SMALL, "hosts.sources=40", "hosts.scale=1"]);
    let all = |kind: &str| {
        let path = format!("hosts.{kind}.all");
        let rows = scenario.explain();
        let row = rows.iter().find(|row| row.path.ends_with(&path));
        row.expect("a row for each kind").value.clone()
    };
    assert_eq!([all("sources"), all("receivers")], ["80", "576"]);
    let text = format!("{BASE}{SMALL}\nhosts = {{ sources = 1e7, scale = 2 }}\n");
    let error = parse(&text, "wrong.toml", None, &[]).expect_err("too many");
    let message = "this makes 328000000 hosts; at most 100000000 can be simulated";
    assert!(error.to_string().contains(message), "{error}");
}
