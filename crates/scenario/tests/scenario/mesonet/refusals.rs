//! Refused scenarios of MesoNet: one message states position, key, value and allowed values.

use longhaul_scenario::parse;

use super::BASE;

/// Returns the message about [`BASE`] with the additional `lines`.
fn refusal(lines: &str) -> String {
    let text = format!("{BASE}{lines}\n");
    match parse(&text, "wrong.toml", None, &[]) {
        Ok(_) => panic!("accepted: {lines}"),
        Err(error) => error.to_string(),
    }
}

/// Checks that [`BASE`] with the additional `lines` is refused with one message that contains all `parts`.
fn assert_refused(lines: &str, parts: &[&str]) {
    let message = refusal(lines);
    let heads = message
        .lines()
        .filter(|line| line.starts_with("wrong.toml:"));
    assert_eq!(heads.count(), 1, "{message}");
    for part in parts {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
}

#[test]
fn shares_and_probabilities_have_to_add_up() {
    let shares = "hosts.source_shares = { normal = 0.5, fast = 0.6, direct = 0.3 }";
    assert_refused(
        shares,
        &["mesonet.hosts.source_shares", "1.4", "add up to 1"],
    );
    let shares = "hosts.receiver_shares = { normal = 0.5, fast = 0.1, direct = 0.1 }";
    assert_refused(shares, &["mesonet.hosts.receiver_shares", "0.7"]);
    let mix = "algorithms = [{ share = 0.5 }, { congestion = { kind = \"bic\" }, share = 0.4 }]";
    assert_refused(mix, &["mesonet.algorithms", "0.9", "add up to 1"]);
    let paths = "files.path_shares = { very_fast = 0.1, fast = 0.1, typical = 0.5 }";
    assert_refused(paths, &["mesonet.files.path_shares", "0.7", "add up to 1"]);
    let start = "users.start = { at_once = 0.9, second = 0.2 }";
    assert_refused(start, &["mesonet.users.start", "more than 1"]);
    let files = "files = { documents = { probability = 0.9 }, movies = { probability = 0.2 } }";
    assert_refused(files, &["mesonet.files", "more than 1"]);
    assert_refused(
        "prTCP = 0.3\nprBICTCP = 0.3",
        &["mesonet.algorithms", "0.6"],
    );
    assert_refused(
        "files.documents.probability = 1.5",
        &["1.5 is out of range", "from 0 to 1"],
    );
}

/// Checks that a link between backbone routers without a delay is refused: its two routers could exchange events for
/// ever within one time step.
#[test]
fn links_between_backbone_routers_take_a_time_step() {
    let network = |access: u64, delay: &str| {
        format!(
            "network.topology = {{ backbone = [{{ name = \"X\", direct = {access} }}, {{ name = \"Y\", direct = 1 }}], \
             links = [{{ from = \"X\", to = \"Y\", delay = \"{delay}\" }}] }}"
        )
    };
    let place = "network.topology.links.0.delay";
    assert_refused(&network(1, "0 ms"), &[place, "0 time steps"]);
    assert_refused(&network(1, "0.4 ms"), &[place, "0.4 time steps"]);
    parse(
        &format!("{BASE}{}\n", network(1, "0.6 ms")),
        "right.toml",
        None,
        &[],
    )
    .unwrap();
    assert_refused(
        &network(65_535, "5 ms"),
        &["65536 points of presence", "65535"],
    );
}

#[test]
fn queues_with_a_server_each_share_no_buffer() {
    let network = "network = { service = \"dual\", shared_buffer = true }";
    assert_refused(
        network,
        &["mesonet.network.shared_buffer", "service = \"shared\""],
    );
}

#[test]
fn numbers_have_their_ranges() {
    assert_refused("files.shape = 1", &["mesonet.files.shape", "above 1"]);
    assert_refused(
        "network.backbone_rate = 0",
        &["mesonet.network.backbone_rate", "above 0"],
    );
    assert_refused("network.buffer = 0", &["mesonet.network.buffer", "from 1"]);
    assert_refused(
        "network.buffer_factor = 1e-9",
        &["mesonet.network.buffer_factor", "no packet"],
    );
    assert_refused(
        "hosts.sources = 1e6",
        &["mesonet.hosts.sources", "at most 100000000"],
    );
    assert_refused("interval = 0", &["mesonet.interval"]);
    assert_refused(
        "users.think = \"-3 s\"",
        &["mesonet.users.think", "negative"],
    );
    assert_refused("MB = 0", &["mesonet.flush_every", "from 1"]);
    // The first code means that the algorithm is drawn. The flows have no routers.
    let message = refusal("SOURCE_TYPE = [0, 1]");
    assert!(message.contains("mesonet.long_lived.0"), "{message}");
    assert_refused(
        "interval = 1e9",
        &["mesonet.interval: expected at most 100000 s"],
    );
    let jumbo = "files.jumbo = { from = 0.8, until = 0.6, factor = 100 }";
    assert_refused(jumbo, &["mesonet.files.jumbo.until", "later end"]);
    let period = "periods = [{ name = \"x\", from = 0.5, to = 0.2 }]";
    assert_refused(period, &["mesonet.periods.0.to", "after its beginning"]);
    let text = "[mesonet]\nusers = { think = 5 }\n";
    let message = parse(text, "wrong.toml", None, &[])
        .expect_err("no length")
        .to_string();
    assert!(
        message.starts_with("wrong.toml:1:1: mesonet: the key `intervals` is missing"),
        "{message}"
    );
}

#[test]
fn receivers_have_to_be_where_sources_look_for_them() {
    let none = "hosts.receiver_shares = { normal = 0.5, fast = 0.5, direct = 0 }";
    assert_refused(
        none,
        &[
            "mesonet.hosts.receiver_shares.direct",
            "no receiver is below any direct",
        ],
    );
    let topology = "network.topology = { backbone = [\
        { name = \"X\", direct = [{}, { receivers = 4 }] }, \
        { name = \"Y\", direct = [{ receivers = 0 }] }], \
        links = [{ from = \"X\", to = \"Y\", delay = 5 }] }";
    assert_refused(
        topology,
        &["mesonet.hosts.receiver_shares", "backbone router `Y`"],
    );
}

#[test]
fn numbers_and_names_have_to_be_known() {
    let flow =
        |from: &str, more: &str| format!("long_lived = [{{ from = {from}, to = 131{more} }}]");
    assert_refused(
        &flow("140", ""),
        &["mesonet.long_lived.0.from", "`140`", "from 1 to 139"],
    );
    assert_refused(&flow("0", ""), &["mesonet.long_lived.0.from", "`0`"]);
    assert_refused(&flow("\"B0b\"", ""), &["did you mean `B0a`"]);
    assert_refused(
        &flow("131", ""),
        &["mesonet.long_lived.0.to", "same access router"],
    );
    assert_refused(
        &flow("12", ", algorithm = \"bic\""),
        &["unknown algorithm `bic`", "reno"],
    );
    assert_refused(
        &flow("12", ", start = 0.5, stop = 0.2"),
        &["mesonet.long_lived.0.stop"],
    );
    assert_refused("LL_FLOWS = 2", &["mesonet.LL_FLOWS", "0 long-lived flows"]);
    assert_refused(
        "BB_LINK_TO_MONITOR = 29",
        &["mesonet.measure.backbone_link", "from 1 to 28"],
    );
    assert_refused(
        "measure.tables = [\"network\", \"flows\"]",
        &["mesonet.measure.tables.1"],
    );
    let twins = "algorithms = [{ share = 0.5 }, { share = 0.5 }]";
    assert_refused(
        twins,
        &["mesonet.algorithms.1.label", "two algorithms `reno`"],
    );
}

#[test]
fn keys_of_other_simulations_do_not_belong() {
    let text = "duration = \"1 s\"\n[mesonet]\nintervals = 1\n";
    let message = parse(text, "wrong.toml", None, &[])
        .expect_err("two clocks")
        .to_string();
    assert!(
        message.contains("a scenario with [mesonet] has no `duration`"),
        "{message}"
    );
    assert_refused("lambdaOf = 3", &["unknown key `lambdaOf`"]);
}

/// Returns a topology with the links `links`, the lines `more`, and two direct access routers.
fn topology(links: &str, more: &str) -> String {
    format!(
        "network.topology = {{ backbone = [{{ name = \"X\", direct = 1 }}, {{ name = \"Y\" }}, \
         {{ name = \"Z\", direct = 1 }}], links = [{links}]{more} }}"
    )
}

#[test]
fn every_way_through_the_backbone_has_to_arrive() {
    const XY: &str = "{ from = \"X\", to = \"Y\", delay = 5 }";
    const YZ: &str = "{ from = \"Y\", to = \"Z\", delay = 5 }";
    assert_refused(
        &topology(XY, ""),
        &["mesonet.network.topology", "no route leads from `X` to `Z`"],
    );
    let one_way = format!("{XY}, {{ from = \"Y\", to = \"Z\", delay = 5, both = false }}");
    assert_refused(&topology(&one_way, ""), &["no route leads from `Z` to `X`"]);
    let both = format!("{XY}, {YZ}");
    let circle = ", routes = [{ at = \"Y\", next = \"X\", to = [\"Z\"] }]";
    assert_refused(
        &topology(&both, circle),
        &["from `X` to `Z` are in a routing loop: X, Y, X"],
    );
    let wrong = [
        (
            "{ at = \"X\", next = \"Z\", to = [\"Z\"] }",
            "no link leads from `X` to `Z`",
        ),
        ("{ at = \"X\", next = \"Y\", to = [\"X\"] }", "have arrived"),
        (
            "{ at = \"X\", next = \"Y\", to = [\"Y\", \"Y\"] }",
            "another route",
        ),
        (
            "{ at = \"W\", next = \"Y\", to = [\"Y\"] }",
            "unknown backbone router `W`",
        ),
    ];
    for (route, part) in wrong {
        assert_refused(&topology(&both, &format!(", routes = [{route}]")), &[part]);
    }
    let links = [
        ("{ from = \"X\", to = \"X\", delay = 5 }", "to itself"),
        ("{ from = \"X\", to = \"Z\", delay = -5 }", "found -5"),
        (
            "{ from = \"X\", to = \"Z\", delay = \"-5 ms\" }",
            "negative",
        ),
        (
            "{ from = \"X\", to = \"V\", delay = 5 }",
            "unknown backbone router `V`",
        ),
        (
            "{ from = \"Y\", to = \"X\", delay = 5 }",
            "two links from `Y` to `X`",
        ),
    ];
    for (link, part) in links {
        assert_refused(&topology(&format!("{both}, {link}"), ""), &[part]);
    }
    let twins = "network.topology = { backbone = [{ name = \"X\", direct = 1 }, \
                 { name = \"X0a\", direct = 1 }], links = [{ from = \"X\", to = \"X0a\", delay = 5 }] }";
    assert_refused(twins, &["two routers `X0a`"]);
    let alone = "network.topology = { backbone = [{ name = \"X\", direct = 2 }], links = [] }";
    assert_refused(alone, &["below two backbone routers"]);
    let unconnected = topology("{ from = \"X\", to = \"Z\", delay = 5 }", "");
    assert_refused(&unconnected, &["router `Y` has neither hosts nor links"]);
    assert_refused(
        "network.topology = \"abilen\"",
        &["abilene, dumbbell", "cannot read"],
    );
}

#[test]
fn what_is_wrong_in_a_topology_file_is_told_of_that_file() {
    let folder = std::env::temp_dir().join(format!("longhaul-topology-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("mine.toml");
    std::fs::write(
        &file,
        "backbone = [{ name = \"X\", speed = 3 }]\nlinks = []\n",
    )
    .expect("a file");
    let text = format!(
        "{BASE}network.topology = {:?}\n",
        file.display().to_string()
    );
    let message = parse(&text, "wrong.toml", None, &[])
        .expect_err("a wrong key")
        .to_string();
    std::fs::remove_dir_all(&folder).expect("the folder");
    assert!(
        message.contains("mine.toml:1:27: backbone.0.speed: unknown key"),
        "{message}"
    );
}

#[test]
fn losses_that_are_not_answered_are_refused() {
    for keys in ["loss_threshold = 0.1", "variant = \"picoquic\""] {
        let cubic = format!("algorithms = [{{ congestion = {{ kind = \"cubic\", {keys} }} }}]");
        assert_refused(&cubic, &["congestion.loss_threshold", "answers every loss"]);
    }
    // BBR's parameter of the same name has another meaning.
    for answered in ["kind = \"cubic\", loss_threshold = 0", "kind = \"bbr3\""] {
        let algorithms = format!("algorithms = [{{ congestion = {{ {answered} }} }}]");
        assert!(parse(&format!("{BASE}{algorithms}\n"), "right.toml", None, &[]).is_ok());
    }
}
