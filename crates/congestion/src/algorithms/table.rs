//! Additive increase and multiplicative decrease from tables: both are given as functions of the window.
//!
//! The two tables represent any response to the window, with the speed of a built-in algorithm. Between two points, a
//! function is linear in the window; before the first point and after the last one, it is constant.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::congestion_control::CongestionControl;
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::Congestion;
use crate::parameter::{DefaultValue, Parameter, Point, Range, Settings, Variant};
use crate::quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<TableDriven> = Entry {
    kind: "table",
    title: "Increase and decrease by table",
    description: "Adds increase(w) segments to a window of w segments each round trip and removes \
        the fraction decrease(w) of it at a congestion signal. Each function is a list of points \
        [window, value], or a number for the same value at all windows; between points it is a \
        straight line in the window, outside them constant.",
    law: &[
        "each ACK: cwnd += increase(cwnd) * acked / cwnd",
        "congestion: cwnd = (1 - decrease(cwnd)) * cwnd",
    ],
    source: "Longhaul",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[quantity::INCREASE, quantity::DECREASE],
    variants: &[Variant::Paper],
    parameters: &[
        Parameter {
            name: "increase",
            unit: "segments per round trip",
            default: DefaultValue::Points(&[(1.0, 1.0)]),
            allowed: Range::closed(0.0, 1e6),
            help: "Additive increase at each window.",
            source: "RFC 5681 equation 3",
        },
        Parameter {
            name: "decrease",
            unit: "fraction of the window",
            default: DefaultValue::Points(&[(1.0, 0.5)]),
            allowed: Range::open(0.0, 1.0),
            help: "Part of the window removed at a congestion signal, at each window.",
            source: "RFC 5681 equation 4",
        },
    ],
    build: |settings| Ok(TableDriven::new(settings)),
};

/// State of additive increase and multiplicative decrease by table, for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableDriven {
    increase: Function,
    decrease: Function,
}

impl TableDriven {
    fn new(settings: &Settings) -> Self {
        let function = |name| Function {
            points: settings.points(name).into(),
            above: 0,
        };
        Self {
            increase: function("increase"),
            decrease: function("decrease"),
        }
    }
}

impl CongestionControl for TableDriven {
    #[inline]
    fn increment(&mut self, credit: f64, cwnd: f64) -> Option<f64> {
        Some(self.increase.at(cwnd) * credit / cwnd)
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        window.reduce_to(event.base * (1.0 - self.decrease.at(event.base)));
    }

    fn probe(&self, window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("a", self.increase.value(window.cwnd()));
        out("b", self.decrease.value(window.cwnd()));
    }

    fn share_tables(&mut self, like: &Self) {
        self.increase.points = Arc::clone(&like.increase.points);
        self.decrease.points = Arc::clone(&like.decrease.points);
    }
}

/// A piecewise linear function through points with increasing windows.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Function {
    #[serde(skip)]
    points: Arc<[Point]>,
    /// Index of the first point above the window of the last query. Windows change little between queries, so a search
    /// is rarely needed.
    above: usize,
}

impl Function {
    /// Returns the tabulated function's value at `window`. Stores the window's position among the points.
    #[inline]
    fn at(&mut self, window: f64) -> f64 {
        if !self.is_between(window) {
            self.above = self.search(window);
        }
        self.line(self.above, window)
    }

    /// Returns the function's value at `window`.
    fn value(&self, window: f64) -> f64 {
        self.line(self.search(window), window)
    }

    fn search(&self, window: f64) -> usize {
        self.points.partition_point(|&(w, _)| w <= window)
    }

    /// Returns the function's value at `window`; `above` is the index of the first point above `window`.
    #[inline]
    fn line(&self, above: usize, window: f64) -> f64 {
        let below = above
            .checked_sub(1)
            .and_then(|below| self.points.get(below));
        match (below, self.points.get(above)) {
            (Some(&(w, value)), Some(&(end, last))) => {
                value + (last - value) * ((window - w) / (end - w))
            }
            (Some(&(_, value)), None) | (None, Some(&(_, value))) => value,
            (None, None) => unreachable!("a function has points"),
        }
    }

    /// Returns true if `above` is the index of the first point above `window`.
    #[inline]
    fn is_between(&self, window: f64) -> bool {
        let reached = self.above == 0 || self.points[self.above - 1].0 <= window;
        let passed = self
            .points
            .get(self.above)
            .is_some_and(|&(w, _)| w <= window);
        reached && !passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(points: &[Point]) -> Function {
        Function {
            points: points.into(),
            above: 0,
        }
    }

    #[test]
    fn a_function_is_a_line_between_points_and_constant_outside() {
        let mut function = function(&[(10.0, 1.0), (20.0, 3.0), (100.0, 3.0), (200.0, 8.0)]);
        // The order of these windows moves the stored position forwards, backwards and past several points.
        for (window, value) in [
            (1.0, 1.0),
            (10.0, 1.0),
            (12.5, 1.5),
            (19.0, 2.8),
            (150.0, 5.5),
            (1e9, 8.0),
            (200.0, 8.0),
            (20.0, 3.0),
            (60.0, 3.0),
            (2.0, 1.0),
            (199.0, 7.95),
        ] {
            let found = function.at(window);
            assert!((found - value).abs() < 1e-12, "{window}: {found}");
        }
    }

    #[test]
    fn points_that_cannot_be_are_refused() {
        let settings = |name: &str, points: &[Point]| {
            let given = [(name.to_string(), points.to_vec())];
            let defaults = ENTRY.settings(Variant::Paper, &[]).unwrap();
            defaults
                .with_functions(&given)
                .map(|_| ())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            settings("decrease", &[(1.0, 0.5), (10.0, 1.0)]),
            "table: `decrease`, point 2: expected a value above 0 and below 1 \
             (fraction of the window), found 1"
        );
        assert_eq!(
            settings("increase", &[(10.0, 1.0), (10.0, 2.0)]),
            "table: `increase`, point 2: expected a window above 10, found 10"
        );
        assert!(settings("increase", &[]).ends_with("at least one point"));
        assert!(settings("increase", &[(f64::NAN, 1.0)]).contains("NaN"));
        assert!(settings("decraese", &[]).contains("did you mean `decrease`"));
    }
}
