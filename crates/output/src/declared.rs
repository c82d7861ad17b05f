//! Output columns, derived from the fields that each simulation record declares
//! ([`longhaul_engine::measure::Columns`]).

use longhaul_engine::measure::{Columns, Value};

use crate::counters::Counter;
use crate::table::{Cell, Column, Kind, Number, unit};

/// The columns that a record adds to a table with rows of type `R`. `part`, a function of type `F`,
/// returns the record that a row contains.
pub(crate) struct RecordColumns<R, F> {
    part: F,
    pub(crate) columns: Vec<Column<R>>,
}

/// Returns the columns that `declare` adds, for rows that each contain a record of type `P`. `part` returns the record
/// of a row, never `None`.
pub(crate) fn columns_of<R: 'static, P: 'static>(
    part: fn(&R) -> Option<&P>,
    declare: impl FnOnce(&mut RecordColumns<R, fn(&R) -> Option<&P>>),
) -> Vec<Column<R>> {
    let mut declared = RecordColumns::new(part);
    declare(&mut declared);
    declared.columns
}

impl<R, F> RecordColumns<R, F> {
    /// Creates an empty list of columns for a record in the rows of a table. `part` returns the record of a row, or
    /// `None` if the row has none, as for [`Column::optional_group`].
    pub(crate) const fn new(part: F) -> Self {
        Self {
            part,
            columns: Vec::new(),
        }
    }

    fn push<P: 'static, N: Number>(
        &mut self,
        name: &'static str,
        doc: &'static str,
        value: impl Value<P, N>,
    ) where
        F: Fn(&R) -> Option<&P> + Copy + Send + 'static,
    {
        self.columns.push(Column::optional_group(
            name,
            unit(name),
            described(doc),
            self.part,
            value,
        ));
    }
}

impl<R: 'static, P: 'static, F> Columns<P> for RecordColumns<R, F>
where
    F: Fn(&R) -> Option<&P> + Copy + Send + 'static,
{
    fn count(&mut self, name: &'static str, doc: &'static str, value: impl Value<P, u64>) {
        self.push(name, doc, value);
    }

    fn optional_count(
        &mut self,
        name: &'static str,
        doc: &'static str,
        value: impl Value<P, Option<u64>>,
    ) {
        self.push(name, doc, value);
    }

    fn real(&mut self, name: &'static str, doc: &'static str, value: impl Value<P, f64>) {
        self.push(name, doc, value);
    }

    fn optional_real(
        &mut self,
        name: &'static str,
        doc: &'static str,
        value: impl Value<P, Option<f64>>,
    ) {
        self.push(name, doc, value);
    }

    fn word(
        &mut self,
        name: &'static str,
        doc: &'static str,
        value: impl Value<P, Option<&'static str>>,
    ) {
        let part = self.part;
        self.columns.push(Column::new(
            name,
            Kind::Text,
            "",
            described(doc),
            move |row: &R| part(row).and_then(value).map_or(Cell::Null, Cell::Text),
        ));
    }
}

/// Columns for the counters of a period. A record of type `P` describes the period, and contains the record of type `C`
/// with the counters.
pub(crate) struct PeriodCounters<P, C> {
    counted: fn(&P) -> &C,
    /// Function that returns true if the counter of the given name has a value in a period. Otherwise its cell is null.
    is_known: fn(&str, &P) -> bool,
    pub(crate) counters: Vec<Counter<P>>,
}

impl<P: 'static, C: 'static> PeriodCounters<P, C> {
    pub(crate) const fn new(counted: fn(&P) -> &C, is_known: fn(&str, &P) -> bool) -> Self {
        Self {
            counted,
            is_known,
            counters: Vec::new(),
        }
    }

    fn push(
        &mut self,
        kind: Kind,
        name: &'static str,
        doc: &'static str,
        cell: impl Fn(&C) -> Cell<'static> + Send + Sync + 'static,
    ) {
        let (counted, is_known) = (self.counted, self.is_known);
        self.counters
            .push(Counter::new(name, kind, described(doc), move |period| {
                if is_known(name, period) {
                    cell(counted(period))
                } else {
                    Cell::Null
                }
            }));
    }
}

impl<P: 'static, C: 'static> Columns<C> for PeriodCounters<P, C> {
    fn count(&mut self, name: &'static str, doc: &'static str, value: impl Value<C, u64>) {
        self.push(Kind::Count, name, doc, move |counted| {
            Cell::Count(value(counted))
        });
    }

    fn optional_count(
        &mut self,
        name: &'static str,
        doc: &'static str,
        value: impl Value<C, Option<u64>>,
    ) {
        self.push(Kind::Count, name, doc, move |counted| {
            value(counted).map_or(Cell::Null, Cell::Count)
        });
    }

    fn real(&mut self, name: &'static str, doc: &'static str, value: impl Value<C, f64>) {
        self.push(Kind::Real, name, doc, move |counted| {
            Cell::Real(value(counted))
        });
    }

    fn optional_real(
        &mut self,
        name: &'static str,
        doc: &'static str,
        value: impl Value<C, Option<f64>>,
    ) {
        self.push(Kind::Real, name, doc, move |counted| value(counted).into());
    }

    fn word(
        &mut self,
        name: &'static str,
        doc: &'static str,
        value: impl Value<C, Option<&'static str>>,
    ) {
        self.push(Kind::Text, name, doc, move |counted| value(counted).into());
    }
}

/// Converts the documentation of a field to the description of a column: without a full stop, and
/// with a small first letter, unless the second letter is a capital, as in abbreviations.
fn described(doc: &str) -> String {
    let text = doc.trim().trim_end_matches('.');
    let mut characters = text.chars();
    if text.chars().nth(1).is_some_and(char::is_uppercase) {
        return text.to_string();
    }
    let first = characters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_in_units_and_descriptions_in_no_full_stop() {
        assert_eq!(unit("queue_integral_pkt_s"), "pkts s");
        assert_eq!(unit("rtt_mean_s"), "s");
        assert_eq!(unit("timeouts"), "");
        assert_eq!(
            described(" Packets sent, SYN included."),
            "packets sent, SYN included"
        );
        assert_eq!(described(" SYNs sent."), "SYNs sent");
    }
}
