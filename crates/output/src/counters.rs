//! Columns with counters of a period, and with values derived from counters.

use std::sync::Arc;

use crate::table::{Cell, Column, Kind, unit};

/// A table column whose value is computed from `P`, a struct with the counters of a period. The
/// column's name ends in its unit.
pub(crate) struct Counter<P> {
    name: &'static str,
    kind: Kind,
    description: String,
    value: Arc<dyn Fn(&P) -> Cell<'static> + Send + Sync>,
}

impl<P: 'static> Counter<P> {
    pub(crate) fn new(
        name: &'static str,
        kind: Kind,
        description: impl Into<String>,
        value: impl Fn(&P) -> Cell<'static> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            kind,
            description: description.into(),
            value: Arc::new(value),
        }
    }

    /// Creates a counter with whole numbers.
    pub(crate) fn number(
        name: &'static str,
        description: &'static str,
        value: fn(&P) -> Cell<'static>,
    ) -> Self {
        Self::new(name, Kind::Count, description, value)
    }

    /// Creates a counter with real numbers.
    pub(crate) fn real(
        name: &'static str,
        description: &'static str,
        value: fn(&P) -> Cell<'static>,
    ) -> Self {
        Self::new(name, Kind::Real, description, value)
    }

    /// Returns the counter's column for a table with rows of type `R`. `period` returns the period of a row.
    pub(crate) fn column<R: 'static>(
        &self,
        prefix: &str,
        period_name: &str,
        period: impl Fn(&R) -> P + Send + 'static,
    ) -> Column<R> {
        let name = format!("{prefix}{}", self.name);
        let description = format!("{}, in the {period_name}", self.description);
        let value = self.value.clone();
        Column::new(
            name,
            self.kind,
            unit(self.name),
            description,
            move |row: &R| value(&period(row)),
        )
    }
}

/// Returns `value / over`; null if `over` is zero.
pub(crate) fn ratio(value: f64, over: f64) -> Cell<'static> {
    if over > 0.0 {
        Cell::Real(value / over)
    } else {
        Cell::Null
    }
}
