//! All algorithms and slow starts by name, and the selection of one of them with its parameters.

use crate::algorithms::{Controller, ENTRIES};
use crate::custom::Custom;
use crate::entry::Entry;
use crate::parameter::{Point, Settings, SpecError, Variant};
use crate::slow_start::{self, SlowStart};

/// Returns the declarations of all congestion control algorithms.
pub fn algorithms() -> &'static [Entry<Controller>] {
    ENTRIES
}

/// Returns the declarations of all slow starts.
pub fn slow_starts() -> &'static [Entry<SlowStart>] {
    slow_start::ENTRIES
}

/// Returns the algorithm with this name, or an error.
pub fn find_algorithm(kind: &str) -> Result<&'static Entry<Controller>, SpecError> {
    find("congestion control", algorithms(), kind)
}

/// Returns the slow start with this name, or an error.
pub fn find_slow_start(kind: &str) -> Result<&'static Entry<SlowStart>, SpecError> {
    find("slow start", slow_starts(), kind)
}

fn find<T>(
    what: &'static str,
    entries: &'static [Entry<T>],
    kind: &str,
) -> Result<&'static Entry<T>, SpecError> {
    let kinds = || entries.iter().map(|entry| entry.kind);
    entries
        .iter()
        .find(|entry| entry.kind == kind)
        .ok_or_else(|| SpecError::UnknownKind {
            what,
            kind: kind.to_string(),
            known: kinds().collect(),
        })
}

/// An algorithm chosen by name, with the given parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControllerSpec {
    /// Name in the registry, for example `hstcp`; for a custom algorithm, any name.
    pub kind: String,
    /// Variant of the algorithm: the implementation that it follows in detail.
    pub variant: Variant,
    /// Names and values of given parameters, in the registry's units.
    pub parameters: Vec<(String, f64)>,
    /// Names and points of given parameters that are functions of the window.
    pub functions: Vec<(String, Vec<Point>)>,
    /// The algorithm's factory, if the registry does not list the algorithm.
    pub custom: Option<Custom>,
}

impl ControllerSpec {
    /// Returns the checked values of all parameters, given or default. Returns an error if the registry does not list
    /// the algorithm, as for custom algorithms.
    pub fn settings(&self) -> Result<Settings, SpecError> {
        find_algorithm(&self.kind)?
            .settings(self.variant, &self.parameters)?
            .with_functions(&self.functions)
    }

    /// Builds the algorithm. Flows of one kind use clones of one controller, which share its tables.
    pub fn build(&self) -> Result<Controller, SpecError> {
        if let Some(Custom(factory)) = &self.custom {
            return Ok(Controller::Custom(factory.make()));
        }
        (find_algorithm(&self.kind)?.build)(&self.settings()?)
    }
}

/// A slow start chosen by name, with the given parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlowStartSpec {
    /// Name in the registry, for example `limited`.
    pub kind: String,
    /// Names and values of given parameters, in the registry's units.
    pub parameters: Vec<(String, f64)>,
}

impl SlowStartSpec {
    /// Returns the checked values of all parameters, given or default.
    pub fn settings(&self) -> Result<Settings, SpecError> {
        find_slow_start(&self.kind)?.settings(Variant::Paper, &self.parameters)
    }

    /// Builds the slow start.
    pub fn build(&self) -> Result<SlowStart, SpecError> {
        (find_slow_start(&self.kind)?.build)(&self.settings()?)
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::{Span, Time};

    use super::*;
    use crate::congestion_control::CongestionControl;
    use crate::parameter::DefaultValue;
    use crate::{Cause, Congestion, Phases, Rounding, Signal, Window};

    fn spec(kind: &str, parameters: &[(&str, f64)]) -> ControllerSpec {
        let parameters = parameters
            .iter()
            .map(|&(name, value)| (name.to_string(), value));
        ControllerSpec {
            kind: kind.to_string(),
            variant: Variant::Paper,
            parameters: parameters.collect(),
            ..ControllerSpec::default()
        }
    }

    fn message(kind: &str, parameters: &[(&str, f64)]) -> String {
        spec(kind, parameters).build().unwrap_err().to_string()
    }

    #[test]
    fn every_entry_builds_from_its_defaults_in_every_variant() {
        for entry in algorithms() {
            assert_eq!(entry.variants[0], Variant::Paper, "{}", entry.kind);
            for &variant in entry.variants {
                let spec = ControllerSpec {
                    variant,
                    ..spec(entry.kind, &[])
                };
                spec.build().unwrap_or_else(|error| panic!("{error}"));
            }
        }
        for entry in slow_starts() {
            let spec = SlowStartSpec {
                kind: entry.kind.to_string(),
                parameters: Vec::new(),
            };
            spec.build().unwrap_or_else(|error| panic!("{error}"));
        }
    }

    #[test]
    fn names_are_unique_and_texts_are_there() {
        for (index, entry) in algorithms().iter().enumerate() {
            assert!(
                algorithms()[..index]
                    .iter()
                    .all(|earlier| earlier.kind != entry.kind)
            );
            assert!(entry.description.ends_with('.') && !entry.source.is_empty());
            assert!(!entry.law.is_empty(), "{}", entry.kind);
            for parameter in entry.parameters {
                assert!(
                    parameter.help.ends_with('.'),
                    "{}.{}",
                    entry.kind,
                    parameter.name
                );
                let name = format!("{}.{}", entry.kind, parameter.name);
                assert!(
                    !parameter.unit.is_empty(),
                    "{name}: no unit; write `fraction` for a ratio, with of what, or `1` for a number without one"
                );
                assert!(!parameter.source.is_empty(), "{name}: no source");
                if let DefaultValue::Derived { rule, .. } = parameter.default {
                    assert!(!rule.is_empty());
                }
            }
        }
    }

    /// Checks the signals that each algorithm declares against the algorithm's requirements and reactions. For example,
    /// an algorithm that requires delivery rates must declare the rate as a signal.
    #[test]
    fn what_is_listened_to_is_measured_and_reacted_to() {
        let reacts = |entry: &Entry<Controller>, cause| {
            let mut controller = built(entry);
            let mut window = Window::new(100.0, 60.0, 1e6, Rounding::Real);
            let before = window;
            let congestion = Congestion {
                now: Time::ZERO + Span::from_secs(1),
                cause,
                base: 100.0,
                in_flight: 100,
                in_slow_start: false,
                first: true,
            };
            controller.on_congestion(&congestion, &mut window);
            (window.cwnd(), window.ssthresh()) != (before.cwnd(), before.ssthresh())
        };
        for entry in algorithms() {
            let (kind, needs) = (entry.kind, built(entry).needs());
            let listens = |signal| entry.listens_to.contains(&signal);
            assert!(listens(Signal::Rate) || !needs.delivery_rate, "{kind}");
            assert!(listens(Signal::Delay) || !needs.one_way_delay, "{kind}");
            assert!(!(listens(Signal::Ecn) && needs.no_ecn), "{kind}");
            // Senders of ECN-capable segments respond to marks (RFC 3168 section 6.1.2). Packet
            // pair responds only to the rate of fair queues, and its segments are never marked.
            let responds = listens(Signal::Ecn) || !listens(Signal::Delay);
            assert!(responds || needs.no_ecn, "{kind}");
            let counts_marks = needs.every_mark || needs.exact_marks;
            assert!(
                !listens(Signal::Ecn) || counts_marks || reacts(entry, Cause::Ecn),
                "{kind}"
            );
            // Algorithms that control the window at all times may count losses instead of
            // responding to each: BBR v3 in the samples from which it takes rates, Vivace in
            // intervals, Copa in its competitive mode.
            let counts_losses = built(entry).phases() == Phases::All;
            assert!(
                !listens(Signal::Loss) || counts_losses || reacts(entry, Cause::Loss),
                "{kind}"
            );
        }
    }

    fn built(entry: &Entry<Controller>) -> Controller {
        let settings = entry.settings(entry.variants[0], &[]).expect("defaults");
        (entry.build)(&settings).expect("defaults build")
    }

    #[test]
    fn a_mistyped_name_is_answered_with_the_nearest() {
        let unknown = message("hstpc", &[]);
        assert!(unknown.starts_with("unknown congestion control `hstpc` (did you mean `hstcp`?)"));
        assert!(
            unknown.contains("`longhaul list algorithms` shows all"),
            "{unknown}"
        );
        let parameter = message("hstcp", &[("low_windwo", 31.0)]);
        assert!(
            parameter
                .starts_with("hstcp: unknown parameter `low_windwo` (did you mean `low_window`?)")
        );
        assert!(
            message("reno", &[("alpha", 1.0)])
                .ends_with("allowed: increase, decrease, ecn_decrease")
        );
    }

    #[test]
    fn an_impossible_value_is_answered_with_what_is_allowed() {
        assert_eq!(
            message("reno", &[("decrease", 1.5)]),
            "reno: expected `decrease` above 0 and below 1 (fraction of the window), found 1.5"
        );
        assert_eq!(
            message("hstcp", &[("low_window", 90000.0)]),
            "hstcp: expected `low_window` below `high_window` (83000), found 90000"
        );
        assert!(message("hstcp", &[("high_p", f64::NAN)]).contains("found NaN"));
        assert!(message("reno", &[("increase", 1.0), ("increase", 2.0)]).contains("given twice"));
    }

    #[test]
    fn a_variant_that_the_algorithm_lacks_is_refused() {
        let spec = ControllerSpec {
            variant: Variant::Nist,
            ..spec("reno", &[])
        };
        assert_eq!(
            spec.build().unwrap_err().to_string(),
            "reno: no variant `nist`; known: paper, ns2, linux-6.18"
        );
    }

    #[test]
    fn settings_show_derived_defaults() {
        let low_p = spec("hstcp", &[]).settings().unwrap().get("low_p");
        assert!((low_p - 1e-3).abs() < 1e-18, "RFC 3649 section 5: {low_p}");
        let ns2 = ControllerSpec {
            variant: Variant::Ns2,
            ..spec("hstcp", &[("low_window", 31.0)])
        };
        let low_p = ns2.settings().unwrap().get("low_p");
        assert!((low_p - 1.560874e-3).abs() < 1e-9, "1.5 / 31^2: {low_p}");
    }
}
