//! Test of recorded state: every algorithm records exactly the quantities that its registry entry declares.

use std::collections::BTreeSet;
use std::ops::Bound;

use longhaul_congestion::registry::algorithms;
use longhaul_congestion::{Cause, Controller, ControllerSpec, Entry, RateSample};
use longhaul_units::Span;

use crate::sender::Sender;

/// Returns configurations of an algorithm: each variant with its default parameters, and with one parameter at a time
/// set to one of its named values or to its largest value.
pub fn specs(entry: &Entry<Controller>) -> Vec<ControllerSpec> {
    let mut specs = Vec::new();
    for &variant in entry.variants {
        let spec = |parameters| ControllerSpec {
            kind: entry.kind.to_string(),
            variant,
            parameters,
            ..ControllerSpec::default()
        };
        specs.push(spec(Vec::new()));
        for parameter in entry.parameters {
            let choices = (0..parameter.allowed.names.len()).map(|choice| choice as f64);
            for value in choices.chain(included(parameter.allowed.max)) {
                specs.push(spec(vec![(parameter.name.to_string(), value)]));
            }
        }
    }
    specs.retain(|spec| spec.build().is_ok());
    specs
}

fn included(bound: Bound<f64>) -> Option<f64> {
    match bound {
        Bound::Included(value) => Some(value),
        _ => None,
    }
}

/// Returns the names of the quantities that a flow records before and after a loss. The one-way delay of the path rises
/// by a tenth of a millisecond with each acknowledgement.
fn recorded(spec: &ControllerSpec) -> BTreeSet<&'static str> {
    let mut sender = Sender::new(spec, 20.0, 2.0);
    let mut names = BTreeSet::new();
    for number in 0..200 {
        if number == 100 {
            sender.signal(Cause::Loss);
        }
        sender.acknowledge(|ack| {
            ack.one_way_delay = Some(Span::from_micros(50_000 + 100 * number));
            ack.delivery_rate = Some(RateSample::new(20.0, Span::from_millis(100)));
            ack.round_start = number % 10 == 0;
        });
        sender.state.probe(&mut |name, _| {
            names.insert(name);
        });
    }
    names
}

#[test]
fn the_registry_declares_what_algorithms_record() {
    for entry in algorithms() {
        let declared: BTreeSet<_> = entry.state.iter().map(|quantity| quantity.name).collect();
        let found: BTreeSet<_> = specs(entry).iter().flat_map(recorded).collect();
        assert_eq!(found, declared, "{}", entry.kind);
    }
}
