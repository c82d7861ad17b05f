//! Tests that a run that continues from a stored state equals a run that was never stopped.

use longhaul_congestion::{ControllerSpec, Variant};
use longhaul_mesonet::config::{Admission, Algorithm, Cell, Config, Jumbo, Service, Trace};
use longhaul_mesonet::records::{
    Control, DataPackets, FlowRecord, FlowState, GoodputBatch, Interval, PacketTraceRecord,
    Recorder, Totals,
};
use longhaul_mesonet::{SetupError, resume, run, simulate};
use longhaul_units::{Span, Time};

use crate::network::{Buffers, Study, controller, long_lived};
use crate::records::Keeper;

/// A recorder that keeps all records. If the number of recorded intervals is in `after`, it also keeps the simulation's
/// state and a copy of the records so far.
#[derive(Default)]
struct Storing {
    keeper: Keeper,
    after: Vec<usize>,
    states: Vec<(Vec<u8>, Keeper)>,
}

impl Recorder for Storing {
    fn interval(&mut self, interval: &Interval<'_>) {
        self.keeper.interval(interval);
    }

    fn batch(&mut self, batch: &GoodputBatch) {
        self.keeper.batch(batch);
    }

    fn flow(&mut self, flow: &FlowRecord) {
        self.keeper.flow(flow);
    }

    fn flow_state(&mut self, state: &FlowState) {
        self.keeper.flow_state(state);
    }

    fn packet(&mut self, record: &PacketTraceRecord) {
        self.keeper.packet(record);
    }

    fn progress(&mut self, _: Time, _: DataPackets<'_>) -> Control {
        Control::Continue
    }

    fn checkpoint(&mut self, state: &dyn Fn() -> Vec<u8>) {
        if self.after.contains(&self.keeper.intervals.len()) {
            self.states.push((state(), self.keeper.clone()));
        }
    }
}

/// Returns a network with every kind of state: users, long-lived flows of each algorithm that start
/// and stop, larger files for a part of the run, limits on large files, and losses.
fn busy(algorithms: &[ControllerSpec]) -> Config {
    let study = Study {
        r1: 120.0,
        sources_per_router: 20.0,
        buffers: Buffers::RttCOverRootN,
        think_ms: 1000,
        seconds: 4,
        ..Study::CONDITION_8
    };
    let mut config = study.config("reno", Variant::Paper);
    let share = 1.0 / algorithms.len() as f64;
    let algorithm = |congestion: &ControllerSpec| Algorithm {
        label: congestion.kind.clone(),
        congestion: congestion.clone(),
        share,
        alternate: congestion.kind != "reno",
    };
    config.algorithms = algorithms.iter().map(algorithm).collect();
    let ends = [("B0a", "K0a"), ("C0a", "I0a"), ("E0a", "F0a")];
    for at in 0..algorithms.len() {
        let (from, to) = ends[at % ends.len()];
        let mut flow = long_lived(&config.topology, from, to, at as f64 * 0.25);
        flow.algorithm = Some(at);
        flow.stop = Time::from_secs_f64(3.5);
        config.long_lived.push(flow);
    }
    let seconds = Time::from_secs_f64;
    config.files.jumbo = Some(Jumbo {
        from: seconds(1.0),
        until: seconds(3.0),
        factor: 100,
        web_factor: 1000,
    });
    config.files.large[1].probability = 0.001;
    config.files.admission = Some(Admission {
        max: [300, 5, 2],
        min: [[2; Cell::COUNT], [1; Cell::COUNT], [0; Cell::COUNT]],
    });
    config.trace = Some(Trace {
        long_lived: vec![0],
        sources: vec![(0, 30)],
        from: seconds(0.55),
        until: seconds(3.0),
        max: 100_000,
    });
    config.measure.every = Span::from_millis(100);
    config.measure.batch = 50;
    config.measure.flow_log = true;
    config
}

fn whole(config: &Config, after: Vec<usize>) -> (Storing, Totals) {
    let mut recorder = Storing {
        after,
        ..Storing::default()
    };
    let totals = run(config, &mut recorder).expect("valid");
    (recorder, totals)
}

/// Runs `config` completely while storing several states, and resumes it from each of them. Checks
/// that the results and all later states are the same.
fn check(config: &Config) {
    let after = vec![1, 13, 27, 39];
    let (whole, totals) = whole(config, after.clone());
    assert!(!whole.keeper.flows.is_empty() && !whole.keeper.records.is_empty());
    let drops = whole.keeper.intervals.iter();
    assert!(
        drops
            .flat_map(|kept| &kept.access)
            .any(|one| one.down.dropped > 0)
    );
    for (at, (state, before)) in whole.states.iter().enumerate() {
        let mut rest = Storing {
            keeper: before.clone(),
            after: after.clone(),
            states: Vec::new(),
        };
        let found = resume(config, state, &mut rest).expect("a state");
        assert_eq!(found, totals);
        assert_eq!(rest.keeper, whole.keeper, "from interval {}", after[at]);
        for (one, other) in rest.states.iter().zip(&whole.states[at + 1..]) {
            assert!(one.0 == other.0, "states of later intervals differ");
        }
        assert_eq!(rest.states.len(), after.len() - 1 - at);
    }
}

#[test]
fn runs_of_the_study_s_algorithms_go_on() {
    let paper = ["reno", "fast", "fast-at", "ctcp", "ctcp-nist"];
    let nist = ["bic", "hstcp", "htcp", "scalable"];
    let paper = paper.map(|kind| controller(kind, Variant::Paper));
    let nist = nist.map(|kind| controller(kind, Variant::Nist));
    check(&busy(&[paper.as_slice(), &nist].concat()));
}

/// Checks that resumed runs have the results of uninterrupted runs, for algorithms that use tables, boxed state, or
/// their own clocks.
#[test]
fn runs_of_other_algorithms_go_on() {
    let others = [
        "cubic", "ghstcp", "bbr", "bbr3", "vegas", "illinois", "westwood", "ledbat", "ledbat++",
        "copa", "vivace",
    ];
    check(&busy(&others.map(|kind| controller(kind, Variant::Paper))));
}

#[test]
fn runs_in_which_queues_share_a_server_go_on() {
    let mut config = busy(&["reno", "fast-at"].map(|kind| controller(kind, Variant::Paper)));
    config.topology.service = Service::Shared;
    check(&config);
}

/// Checks that the number of threads changes neither reports nor the states between intervals. A run may also continue
/// from the state of a run with another number of threads.
#[test]
fn the_number_of_threads_changes_nothing() {
    for service in [Service::Dual, Service::Shared] {
        let mut config = busy(&["reno", "ctcp"].map(|kind| controller(kind, Variant::Paper)));
        config.topology.service = service;
        config.duration = Time::from_secs_f64(1.5);
        let after = vec![7, 12];
        let (one, totals) = whole(&config, after.clone());
        for threads in [2, 3, 100] {
            let mut other = Storing {
                after: after.clone(),
                ..Storing::default()
            };
            let found = simulate(&config, None, threads, &mut other).expect("valid");
            assert_eq!(
                (&found, &other.keeper),
                (&totals, &one.keeper),
                "{threads} threads"
            );
            assert!(other.states == one.states, "states with {threads} threads");
            let (state, mut rest) = other.states.swap_remove(0);
            let found = simulate(&config, Some(&state), threads + 1, &mut rest).expect("a state");
            assert_eq!((&found, &rest), (&totals, &one.keeper));
        }
    }
}

/// Checks that a run of 1200 s can be resumed if its events are far apart: sources wait for 400 s on average between
/// two files. In between, the origin of the times in the event list moves, at least every 100 s.
#[test]
fn long_runs_with_few_events_go_on() {
    let study = Study {
        sources_per_router: 1.0,
        think_ms: 400_000,
        seconds: 1200,
        ..Study::CONDITION_8
    };
    let mut config = study.config("reno", Variant::Paper);
    config.measure.every = Span::from_secs(15);
    config.measure.flow_log = true;
    let (whole, totals) = whole(&config, vec![5, 6, 7, 8, 60]);
    for (state, mut keeper) in whole.states {
        let found = resume(&config, &state, &mut keeper).expect("a state");
        assert_eq!((found, &keeper), (totals.clone(), &whole.keeper));
    }
}

#[test]
fn bytes_that_are_no_state_are_refused() {
    let config = busy(&[controller("reno", Variant::Paper)]);
    let (whole, _) = whole(&config, vec![2]);
    let state = &whole.states[0].0;
    let cut = resume(&config, &state[..state.len() / 2], &mut Keeper::default());
    assert!(matches!(cut, Err(SetupError::Checkpoint(_))));
}
