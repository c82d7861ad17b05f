//! Columns of counters, and of figures derived from counters, of a period.

use crate::table::{Cell, Column, Kind};

/// A counter or a figure derived from counters, of a period `P`.
pub(crate) struct Counter<P> {
    name: &'static str,
    kind: Kind,
    unit: &'static str,
    description: &'static str,
    value: fn(&P) -> Cell<'static>,
}

impl<P: 'static> Counter<P> {
    /// A number of packets.
    pub(crate) const fn pkts(
        name: &'static str,
        description: &'static str,
        value: fn(&P) -> Cell<'static>,
    ) -> Self {
        Self {
            name,
            kind: Kind::Count,
            unit: "pkts",
            description,
            value,
        }
    }

    /// A number of bytes.
    pub(crate) const fn bytes(
        name: &'static str,
        description: &'static str,
        value: fn(&P) -> Cell<'static>,
    ) -> Self {
        Self {
            name,
            kind: Kind::Count,
            unit: "bytes",
            description,
            value,
        }
    }

    /// A number of anything else.
    pub(crate) const fn number(
        name: &'static str,
        description: &'static str,
        value: fn(&P) -> Cell<'static>,
    ) -> Self {
        Self {
            name,
            kind: Kind::Count,
            unit: "",
            description,
            value,
        }
    }

    /// A measure.
    pub(crate) const fn real(
        name: &'static str,
        unit: &'static str,
        description: &'static str,
        value: fn(&P) -> Cell<'static>,
    ) -> Self {
        Self {
            name,
            kind: Kind::Real,
            unit,
            description,
            value,
        }
    }

    /// Its column, where rows hold one period, the `part` of them.
    pub(crate) fn column_of<R: 'static>(
        &self,
        part: impl Fn(&R) -> &P + Send + 'static,
    ) -> Column<R> {
        let value = self.value;
        Column::new(
            self.name,
            self.kind,
            self.unit,
            self.description,
            move |row: &R| value(part(row)),
        )
    }

    /// Its column for the period that `period` takes from a row.
    pub(crate) fn column<R: 'static>(
        &self,
        prefix: &str,
        period_name: &str,
        period: impl Fn(&R) -> P + Send + 'static,
    ) -> Column<R> {
        let name = format!("{prefix}{}", self.name);
        let description = format!("{}, in the {period_name}", self.description);
        let value = self.value;
        Column::new(name, self.kind, self.unit, description, move |row: &R| {
            value(&period(row))
        })
    }
}

/// A quotient; nothing if there is nothing to divide by.
pub(crate) fn ratio(value: f64, over: f64) -> Cell<'static> {
    if over > 0.0 {
        Cell::Real(value / over)
    } else {
        Cell::Null
    }
}
