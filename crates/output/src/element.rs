//! Rows of flows, links or proxies: the element's position in the scenario, and its counters in the
//! measurement window and in the whole run.

use std::sync::Arc;

use longhaul_engine::Config;
use longhaul_engine::measure::{
    FlowCounters, FlowTotals, LinkCounters, LinkTotals, ProxyCounters, ProxyTotals,
};
use longhaul_units::Time;

use crate::counters::Counter;
use crate::table::{Cell, Column};

/// Counters of one flow, link or proxy.
pub(crate) trait Totals: Clone + 'static {
    type Counters: Copy;

    fn window(&self) -> Self::Counters;
    fn total(&self) -> Self::Counters;
}

macro_rules! totals {
    ($totals:ty, $counters:ty) => {
        impl Totals for $totals {
            type Counters = $counters;

            fn window(&self) -> $counters {
                self.window
            }

            fn total(&self) -> $counters {
                self.total
            }
        }
    };
}

totals!(FlowTotals, FlowCounters);
totals!(LinkTotals, LinkCounters);
totals!(ProxyTotals, ProxyCounters);

/// A row of a table: a flow, link or proxy. `T` is the type of its counters.
pub(crate) struct Element<T> {
    pub(crate) id: usize,
    pub(crate) config: Arc<Config>,
    pub(crate) totals: T,
    /// End time of the run.
    pub(crate) end: Time,
}

impl<T: Totals> Element<T> {
    /// Returns the table rows of all flows, all links, or all proxies; `totals` has their counters.
    pub(crate) fn all(config: &Arc<Config>, totals: &[T], end: Time) -> Vec<Self> {
        let row = |(id, totals): (usize, &T)| Self {
            id,
            config: config.clone(),
            totals: totals.clone(),
            end,
        };
        totals.iter().enumerate().map(row).collect()
    }

    /// Returns the name of the node with index `node`.
    pub(crate) fn node(&self, node: usize) -> Cell<'_> {
        Cell::Text(&self.config.nodes[node])
    }

    /// Returns the seconds from `from` to the end of the run.
    pub(crate) fn seconds_since(&self, from: Time) -> f64 {
        self.end.since(from).as_secs_f64()
    }
}

/// Returns the columns of `counters` twice: for the measurement window and, with names that begin with `total_`, for
/// the whole run. `period` takes a row, the row's counters in one of these periods, and the time at which the period
/// began. It returns the value from which the columns are computed.
pub(crate) fn of_both_periods<T: Totals, P: 'static>(
    counters: &[Counter<P>],
    period: fn(&Element<T>, T::Counters, Time) -> P,
) -> Vec<Column<Element<T>>> {
    let in_window = counters.iter().map(|counter| {
        counter.column("", "measurement window", move |row: &Element<T>| {
            period(row, row.totals.window(), row.config.measure.from)
        })
    });
    let in_total = counters.iter().map(|counter| {
        counter.column("total_", "whole run", move |row: &Element<T>| {
            period(row, row.totals.total(), Time::ZERO)
        })
    });
    in_window.chain(in_total).collect()
}
