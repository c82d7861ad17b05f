//! The simulations that the benchmarks time, as scenarios that a user could write.

use longhaul_engine::Config;

/// One simulation to time.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Name, with the part of the engine that takes most of the time.
    pub name: &'static str,
    scenario: &'static str,
    /// Settings (`KEY=VALUE`) that replace values of the scenario.
    settings: &'static [&'static str],
}

impl Work {
    /// Returns the simulation, fully resolved.
    ///
    /// # Panics
    ///
    /// Panics if the scenario is not valid.
    #[must_use]
    pub fn config(&self) -> Config {
        let settings = self.settings.iter().map(ToString::to_string);
        let settings: Vec<String> = settings.collect();
        match longhaul_scenario::parse(self.scenario, self.name, None, &settings) {
            Ok(scenario) => scenario.config().clone(),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Eight CUBIC flows on 10 Gbit/s and 120 ms, to compare the cost of queue disciplines with that of
/// drop-tail.
const DISCIPLINES: &str = include_str!("../scenarios/disciplines.toml");

/// All benchmarks: the parts of the engine one by one, whole dumbbells, one dumbbell with each of several
/// queue disciplines, and web traffic.
pub const WORK: [Work; 20] = [
    Work {
        name: "event loop: 1,000 datagram streams over access links, idle queues",
        scenario: include_str!("../scenarios/event_loop.toml"),
        settings: &[],
    },
    Work {
        name: "link: one datagram stream over a full queue",
        scenario: include_str!("../scenarios/link.toml"),
        settings: &[],
    },
    Work {
        name: "scoreboard: a window of 100,000 packets, 1 % lost",
        scenario: include_str!("../scenarios/scoreboard.toml"),
        settings: &[],
    },
    Work {
        name: "scoreboard: four flows overshoot 100 Gbit/s, SACK",
        scenario: include_str!("../scenarios/overshoot_sack.toml"),
        settings: &[],
    },
    Work {
        name: "scoreboard: four flows overshoot 100 Gbit/s, RACK-TLP",
        scenario: include_str!("../scenarios/overshoot_rack.toml"),
        settings: &[],
    },
    Work {
        name: "dumbbell: one flow, drop-tail",
        scenario: include_str!("../scenarios/one_flow.toml"),
        settings: &[],
    },
    Work {
        name: "dumbbell: ten flows, RED with ECN",
        scenario: include_str!("../scenarios/ten_flows.toml"),
        settings: &[],
    },
    Work {
        name: "dumbbell: a thousand flows with access links",
        scenario: include_str!("../scenarios/thousand_flows.toml"),
        settings: &[],
    },
    Work {
        name: "discipline: eight flows, drop-tail",
        scenario: DISCIPLINES,
        settings: &[],
    },
    Work {
        name: "discipline: eight flows, head drop",
        scenario: DISCIPLINES,
        settings: &["topology.dumbbell.bottleneck.queue.drop=head"],
    },
    Work {
        name: "discipline: eight flows, CoDel",
        scenario: DISCIPLINES,
        settings: &["topology.dumbbell.bottleneck.queue.kind=codel"],
    },
    Work {
        name: "discipline: eight flows, PIE",
        scenario: DISCIPLINES,
        settings: &["topology.dumbbell.bottleneck.queue.kind=pie"],
    },
    Work {
        name: "discipline: eight flows, FQ-CoDel",
        scenario: DISCIPLINES,
        settings: &[
            "topology.dumbbell.bottleneck.queue.kind=fq-codel",
            "topology.dumbbell.bottleneck.queue.limit=1 BDP",
        ],
    },
    Work {
        name: "discipline: eight flows, deficit round robin",
        scenario: DISCIPLINES,
        settings: &["topology.dumbbell.bottleneck.queue.kind=drr"],
    },
    Work {
        name: "dumbbell: ten thousand flows, 10 Gbit/s",
        scenario: include_str!("../scenarios/ten_thousand_flows.toml"),
        settings: &[],
    },
    Work {
        name: "dumbbell: a thousand flows, 100 Gbit/s",
        scenario: include_str!("../scenarios/thousand_flows_100_gbps.toml"),
        settings: &[],
    },
    Work {
        name: "web: PackMime, 10 Mbit/s",
        scenario: include_str!("../../python/longhaul/scenarios/packmime.toml"),
        settings: &[],
    },
    Work {
        name: "web: PackMime with delay boxes, until so many exchanges are complete",
        scenario: include_str!("../../python/longhaul/scenarios/http_dumbbell.toml"),
        settings: &[],
    },
    Work {
        name: "web: PackMime, 10 Gbit/s",
        scenario: include_str!("../scenarios/packmime_10_gbps.toml"),
        settings: &[],
    },
    Work {
        name: "set-up: 20,000 web sources with access links",
        scenario: include_str!("../scenarios/set_up.toml"),
        settings: &[],
    },
];

/// Returns the processor time of this process so far, in seconds, as Linux counts it.
///
/// # Panics
///
/// Panics on systems other than Linux.
#[must_use]
pub fn processor_time_s() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux tells it");
    let nanoseconds: f64 = text
        .split(' ')
        .next()
        .and_then(|field| field.parse().ok())
        .expect("a number comes first");
    nanoseconds * 1e-9
}
