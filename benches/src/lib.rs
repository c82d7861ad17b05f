//! The simulations that are timed, as scenarios that a user could write.

use longhaul_engine::Config;

/// One simulation to time.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// What its time is mostly spent on.
    pub name: &'static str,
    scenario: &'static str,
}

impl Work {
    /// The simulation, resolved.
    ///
    /// # Panics
    ///
    /// If the scenario is not valid.
    #[must_use]
    pub fn config(&self) -> Config {
        match longhaul_scenario::parse(self.scenario, self.name, None, &[]) {
            Ok(scenario) => scenario.config().clone(),
            Err(error) => panic!("{error}"),
        }
    }
}

/// The parts of the engine one by one, then whole dumbbells.
pub const WORK: [Work; 8] = [
    Work {
        name: "event loop: 1,000 datagram streams over access links, idle queues",
        scenario: include_str!("../scenarios/event_loop.toml"),
    },
    Work {
        name: "link: one datagram stream over a full queue",
        scenario: include_str!("../scenarios/link.toml"),
    },
    Work {
        name: "scoreboard: a window of 100,000 packets, 1 % lost",
        scenario: include_str!("../scenarios/scoreboard.toml"),
    },
    Work {
        name: "scoreboard: four flows overshoot 100 Gbit/s, SACK",
        scenario: include_str!("../scenarios/overshoot_sack.toml"),
    },
    Work {
        name: "scoreboard: four flows overshoot 100 Gbit/s, RACK-TLP",
        scenario: include_str!("../scenarios/overshoot_rack.toml"),
    },
    Work {
        name: "dumbbell: one flow, drop-tail",
        scenario: include_str!("../scenarios/one_flow.toml"),
    },
    Work {
        name: "dumbbell: ten flows, RED with ECN",
        scenario: include_str!("../scenarios/ten_flows.toml"),
    },
    Work {
        name: "dumbbell: a thousand flows with access links",
        scenario: include_str!("../scenarios/thousand_flows.toml"),
    },
];
