//! Distributions: every key with a distribution accepts the same distributions, with the same keys
//! and refusals.

use longhaul_engine::config::{
    DelayBox, Distribution, Link, Process, Quantiles, Requests, Source, Transport, Web,
};
use longhaul_scenario::{Scenario, parse};

use crate::refusal;

/// A key with a distribution as value. `written` returns a scenario's text in which the key has a given value; `of`
/// returns the key's distribution in a resolved scenario.
struct Place {
    key: &'static str,
    written: fn(&str) -> String,
    of: fn(&Scenario) -> Distribution,
    unit: Unit,
}

/// Unit of a distribution's values. It determines how they are written in a scenario and stored in the engine.
#[derive(Clone, Copy)]
enum Unit {
    Seconds,
    Bits,
    Bytes,
    Probability,
    Count,
}

impl Unit {
    fn write(self, number: f64) -> String {
        match self {
            Self::Seconds => format!("\"{number} s\""),
            Self::Bits => format!("\"{number} kbps\""),
            Self::Bytes => format!("\"{number} kB\""),
            Self::Probability | Self::Count => number.to_string(),
        }
    }

    fn engine(self, number: f64) -> f64 {
        match self {
            Self::Bits | Self::Bytes => 1000.0 * number,
            Self::Seconds | Self::Probability | Self::Count => number,
        }
    }
}

fn link(entry: &str) -> String {
    format!(
        "duration = \"9 s\"\n[topology.dumbbell.bottleneck]\nrate = \"1 Mbps\"\ndelay = \"1 s\"\n{entry}\n[[flows]]\n"
    )
}

fn flow(traffic: &str) -> String {
    format!(
        "duration = \"9 s\"\ntopology.dumbbell.bottleneck = {{ rate = \"1 Mbps\", delay = \"1 s\" }}\n\
         [[flows]]\ntraffic = {traffic}\n"
    )
}

fn first_link(scenario: &Scenario) -> &Link {
    &scenario.config().links[0]
}

fn delay_box(scenario: &Scenario) -> DelayBox {
    first_link(scenario).delay_box.clone().expect("a delay box")
}

fn source(scenario: &Scenario) -> &Source {
    match &scenario.config().flows[0].transport {
        Transport::Traffic(_, source) => source,
        other => panic!("{other:?}"),
    }
}

fn requests(scenario: &Scenario) -> &Requests {
    match source(scenario) {
        Source::Requests(requests) => requests,
        other => panic!("{other:?}"),
    }
}

fn web(scenario: &Scenario) -> &Web {
    match source(scenario) {
        Source::Web(web) => web,
        other => panic!("{other:?}"),
    }
}

fn bursts(scenario: &Scenario) -> &longhaul_engine::config::Bursts {
    match &scenario.config().flows[0].transport {
        Transport::Messages(_, messages) => &messages.bursts,
        other => panic!("{other:?}"),
    }
}

fn independent(process: &Process) -> Distribution {
    match process {
        Process::Independent(distribution) => distribution.clone(),
        other => panic!("{other:?}"),
    }
}

fn web_with(key: &str, value: &str) -> String {
    let mut keys = vec![
        ("inter_page", "\"1 s\""),
        ("objects", "3"),
        ("inter_object", "\"1 s\""),
        ("object", "\"1 kB\""),
    ];
    keys.retain(|(other, _)| *other != key);
    keys.push((key, value));
    let keys: Vec<String> = keys.iter().map(|(k, v)| format!("{k} = {v}")).collect();
    flow(&format!("{{ kind = \"web\", {} }}", keys.join(", ")))
}

fn places() -> Vec<Place> {
    let place = |key, unit, written, of| Place {
        key,
        written,
        of,
        unit,
    };
    vec![
        place(
            "delay_box.delay",
            Unit::Seconds,
            |v| link(&format!("delay_box = {{ delay = {v} }}")),
            |s| delay_box(s).delay.expect("a delay"),
        ),
        place(
            "delay_box.loss",
            Unit::Probability,
            |v| link(&format!("delay_box = {{ loss = {v} }}")),
            |s| delay_box(s).loss.expect("a loss"),
        ),
        place(
            "delay_box.rate",
            Unit::Bits,
            |v| link(&format!("delay_box = {{ rate = {v} }}")),
            |s| delay_box(s).rate.expect("a rate"),
        ),
        place(
            "host_processing_delay",
            Unit::Seconds,
            |v| link(&format!("host_processing_delay = {v}")),
            |s| {
                let delay = first_link(s).host_processing_delay.clone();
                delay.expect("it was given")
            },
        ),
        place(
            "reordering.delay",
            Unit::Seconds,
            |v| {
                link(&format!(
                    "reordering = {{ probability = 0.1, delay = {v} }}"
                ))
            },
            |s| {
                let reordering = first_link(s).direction.reordering.clone();
                reordering.expect("reordering").delay
            },
        ),
        place(
            "traffic.interval",
            Unit::Seconds,
            |v| {
                flow(&format!(
                    "{{ kind = \"requests\", response = \"1 B\", interval = {v} }}"
                ))
            },
            |s| independent(&requests(s).arrivals),
        ),
        place(
            "traffic.request",
            Unit::Bytes,
            |v| {
                flow(&format!(
                    "{{ kind = \"requests\", interval = \"1 s\", response = \"1 B\", request = {v} }}"
                ))
            },
            |s| independent(&requests(s).request),
        ),
        place(
            "traffic.response",
            Unit::Bytes,
            |v| {
                flow(&format!(
                    "{{ kind = \"requests\", interval = \"1 s\", response = {v} }}"
                ))
            },
            |s| independent(&requests(s).response),
        ),
        place(
            "traffic.extra_rtt",
            Unit::Seconds,
            |v| {
                flow(&format!(
                    "{{ kind = \"requests\", interval = \"1 s\", response = \"1 B\", extra_rtt = {v} }}"
                ))
            },
            |s| independent(&requests(s).round_trip),
        ),
        place(
            "traffic.server_delay",
            Unit::Seconds,
            |v| {
                flow(&format!(
                    "{{ kind = \"packmime\", rate = 1, server_delay = {v} }}"
                ))
            },
            |s| requests(s).server_delay.clone(),
        ),
        place(
            "traffic.think",
            Unit::Seconds,
            |v| flow(&format!("{{ kind = \"packmime\", rate = 1, think = {v} }}")),
            |s| requests(s).think.clone(),
        ),
        place(
            "traffic.inter_page",
            Unit::Seconds,
            |v| web_with("inter_page", v),
            |s| web(s).inter_page.clone(),
        ),
        place(
            "traffic.objects",
            Unit::Count,
            |v| web_with("objects", v),
            |s| web(s).objects.clone(),
        ),
        place(
            "traffic.inter_object",
            Unit::Seconds,
            |v| web_with("inter_object", v),
            |s| web(s).inter_object.clone(),
        ),
        place(
            "traffic.object",
            Unit::Bytes,
            |v| web_with("object", v),
            |s| web(s).object.clone(),
        ),
        place(
            "traffic.on",
            Unit::Seconds,
            |v| {
                flow(&format!(
                    "{{ kind = \"on-off\", rate = \"1 Mbps\", message = \"1 kB\", off = \"1 s\", on = {v} }}"
                ))
            },
            |s| bursts(s).on.clone(),
        ),
        place(
            "traffic.off",
            Unit::Seconds,
            |v| {
                flow(&format!(
                    "{{ kind = \"on-off\", rate = \"1 Mbps\", message = \"1 kB\", on = \"1 s\", off = {v} }}"
                ))
            },
            |s| bursts(s).off.clone(),
        ),
    ]
}

/// Returns a TOML table with `keys`. The placeholders `{0}`, `{1}` and `{2}` become 0, 1/4 and 1/2 in the given unit.
fn table(unit: Unit, keys: &str) -> String {
    let numbers = [("{0}", 0.0), ("{1}", 0.25), ("{2}", 0.5)];
    let written = numbers
        .iter()
        .fold(keys.to_string(), |text, (mark, number)| {
            text.replace(mark, &unit.write(*number))
        });
    format!("{{ {written} }}")
}

#[test]
fn every_place_accepts_every_distribution() {
    for Place {
        key,
        written,
        of,
        unit,
    } in places()
    {
        let [a, b] = [0.25, 0.5].map(|number| unit.engine(number));
        let limited = |of: Distribution| Distribution::Limited {
            of: Box::new(of),
            max: b,
        };
        let quantiles = |root: Option<f64>| {
            let last = if root.is_none() { 1.0 } else { 0.9 };
            Distribution::Empirical(Quantiles::new(&[(0.0, a), (last, b)], root))
        };
        let (mean, scale, median) = (a, a, a);
        for (keys, expected) in [
            (
                "kind = \"uniform\", min = {1}, max = {2}",
                Distribution::Uniform(a, b),
            ),
            (
                "kind = \"exponential\", mean = {1}, limit = {2}",
                limited(Distribution::Exponential { mean }),
            ),
            (
                "kind = \"pareto\", mean = {1}, shape = 1.5",
                Distribution::Pareto { mean, shape: 1.5 },
            ),
            (
                "kind = \"pareto\", mean = {1}, shape = 1.5, limit = {2}",
                limited(Distribution::Pareto { mean, shape: 1.5 }),
            ),
            (
                "kind = \"pareto-ii\", mean = {1}, shape = 2, limit = {2}",
                limited(Distribution::ParetoII { mean, shape: 2.0 }),
            ),
            (
                "kind = \"bounded-pareto\", min = {1}, max = {2}, shape = 1",
                Distribution::BoundedPareto {
                    min: a,
                    max: b,
                    shape: 1.0,
                },
            ),
            (
                "kind = \"weibull\", scale = {1}, limit = {2}, shape = 0.7",
                limited(Distribution::Weibull { shape: 0.7, scale }),
            ),
            (
                "kind = \"log-normal\", median = {1}, limit = {2}, sigma = 0.3",
                limited(Distribution::LogNormal { median, sigma: 0.3 }),
            ),
            (
                "kind = \"empirical\", probabilities = [0, 1], values = [{1}, {2}]",
                quantiles(None),
            ),
            (
                "kind = \"empirical\", probabilities = [0, 0.9], values = [{1}, {2}], root = 3",
                quantiles(Some(3.0)),
            ),
        ] {
            let value = table(unit, keys);
            let text = written(&value);
            let scenario = parse(&text, "base.toml", None, &[]);
            let scenario = scenario.unwrap_or_else(|error| panic!("{key}: {error}"));
            assert_eq!(of(&scenario), expected, "{key} = {value}");
        }
        let constant = parse(&written(&unit.write(0.25)), "base.toml", None, &[]);
        let constant = constant.unwrap_or_else(|error| panic!("{key}: {error}"));
        assert_eq!(of(&constant), Distribution::Constant(a), "{key}");
    }
}

#[test]
fn every_place_refuses_the_same_mistakes() {
    for place in places() {
        for (keys, part, message) in [
            ("", "", "the key `kind` is missing"),
            ("kind = \"paretto\"", "kind", "did you mean `pareto`"),
            (
                "kind = \"uniform\", min = {1}",
                "",
                "the key `max` is missing",
            ),
            (
                "kind = \"uniform\", min = {2}, max = {1}",
                "min",
                "min must not exceed max",
            ),
            (
                "kind = \"exponential\", mean = {1}, sigma = 1",
                "sigma",
                "unknown key `sigma`",
            ),
            ("kind = \"exponential\", mean = \"5\"", "mean", ""),
            (
                "kind = \"pareto\", mean = {1}, shape = 1",
                "shape",
                "1 is out of range",
            ),
            (
                "kind = \"bounded-pareto\", min = {1}, max = {1}, shape = 1",
                "min",
                "min must be less than max",
            ),
            (
                "kind = \"weibull\", scale = {1}, shape = 0",
                "shape",
                "0 is out of range",
            ),
            (
                "kind = \"log-normal\", median = {1}, sigma = -1",
                "sigma",
                "-1 is out of range",
            ),
            (
                "kind = \"empirical\", probabilities = [0, 1], values = [{1}]",
                "values",
                "as many values",
            ),
            (
                "kind = \"empirical\", probabilities = [0, 1], values = [{2}, {1}]",
                "values",
                "non-decreasing",
            ),
            (
                "kind = \"empirical\", probabilities = [0.1, 1], values = [{1}, {2}]",
                "probabilities",
                "ascend from 0",
            ),
            (
                "kind = \"empirical\", probabilities = [0, 0.9], values = [{1}, {2}]",
                "probabilities",
                "from 0 to 1",
            ),
            (
                "kind = \"empirical\", probabilities = [0, 1], values = [{1}, {2}], root = 3",
                "probabilities",
                "less than 1 with `root`",
            ),
        ] {
            let value = table(place.unit, keys);
            let text = (place.written)(&value);
            let found = refusal(&text);
            let at = match part {
                "" => format!("{}: ", place.key),
                part => format!("{}.{part}: ", place.key),
            };
            assert!(found.contains(&at), "no {at:?} for {value} in: {found}");
            assert!(
                found.contains(message),
                "no {message:?} for {value} in: {found}"
            );
        }
    }
}

/// Checks that a distribution of times or probabilities may have the minimum zero. Distributions of other
/// quantities may not, and no distribution may have the mean zero.
#[test]
fn the_least_may_be_zero_where_values_may() {
    for place in places() {
        let zero = table(place.unit, "kind = \"uniform\", min = {0}, max = {2}");
        let accepted = parse(&(place.written)(&zero), "base.toml", None, &[]).is_ok();
        let values = matches!(place.unit, Unit::Seconds | Unit::Probability);
        assert_eq!(accepted, values, "{}", place.key);
        let mean = table(place.unit, "kind = \"exponential\", mean = {0}");
        assert!(
            refusal(&(place.written)(&mean)).contains("mean: "),
            "{}",
            place.key
        );
    }
}
