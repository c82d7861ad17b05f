//! Values of a table's columns that wait to be written.
//!
//! Memory use matters with a thousand flows. A text from a list is therefore stored as its index, and definition
//! levels are run-length encoded.

use std::ops::Range;

use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::writer::SerializedColumnWriter;

use super::{Cell, Kind, Name};

/// Parquet's definition level of a row without a value.
const NULL: i16 = 0;
/// Parquet's definition level of a row with a value.
const VALUE: i16 = 1;

/// Definition levels of the rows, run-length encoded: each level, and the number of successive rows that have it.
pub(super) type Runs = Vec<(i16, usize)>;

pub(crate) enum Values {
    Text(TypedValues<ByteArrayType>),
    Listed(ListedTexts),
    Count(TypedValues<Int64Type>),
    Real(TypedValues<DoubleType>),
}

impl Values {
    pub(super) fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(TypedValues::default()),
            Kind::Count => Self::Count(TypedValues::default()),
            Kind::Real => Self::Real(TypedValues::default()),
        }
    }

    /// Appends `cells`, one value for each row. The function does not depend on the type of rows,
    /// so it is compiled only once.
    pub(super) fn extend(&mut self, cells: Vec<Cell<'_>>) {
        let cells = cells.into_iter();
        match self {
            Self::Text(values) => values.extend(cells.map(|cell| match cell {
                Cell::Null => None,
                Cell::Text(text) => Some(text.into()),
                Cell::Name(Name(text)) => Some(text),
                _ => unreachable!("a column holds values of its kind"),
            })),
            Self::Listed(_) => unreachable!("a list is appended to by number"),
            Self::Count(values) => values.extend(cells.map(|cell| match cell {
                Cell::Null => None,
                Cell::Count(count) => Some(count as i64),
                _ => unreachable!("a column holds values of its kind"),
            })),
            Self::Real(values) => values.extend(cells.map(|cell| match cell {
                Cell::Null => None,
                Cell::Real(real) => Some(real),
                _ => unreachable!("a column holds values of its kind"),
            })),
        }
    }

    fn counts(&mut self) -> &mut TypedValues<Int64Type> {
        match self {
            Self::Count(values) => values,
            _ => unreachable!("the column has counts"),
        }
    }

    fn reals(&mut self) -> &mut TypedValues<DoubleType> {
        match self {
            Self::Real(values) => values,
            _ => unreachable!("the column has reals"),
        }
    }

    /// Returns the values of a column of texts from a list.
    pub(super) fn listed(&mut self) -> &mut ListedTexts {
        match self {
            Self::Listed(listed) => listed,
            _ => unreachable!("the column has a list"),
        }
    }

    /// Appends `rows` nulls.
    pub(super) fn skip(&mut self, rows: usize) {
        match self {
            Self::Text(values) => values.note(NULL, rows),
            Self::Listed(_) => unreachable!("all rows have a text of the list"),
            Self::Count(values) => values.note(NULL, rows),
            Self::Real(values) => values.note(NULL, rows),
        }
    }

    /// Writes the values to a column of the Parquet file, and clears them. `levels` is a buffer for
    /// their definition levels, which mark nulls.
    pub(super) fn write(
        &mut self,
        column: &mut SerializedColumnWriter<'_>,
        levels: &mut Vec<i16>,
    ) -> ParquetResult<()> {
        match self {
            Self::Text(values) => values.write(column, levels),
            Self::Listed(listed) => listed.write(column, levels),
            Self::Count(values) => values.write(column, levels),
            Self::Real(values) => values.write(column, levels),
        }
    }
}

/// Type of the numbers in a column; it determines whether the column has counts or real numbers.
pub(crate) trait Number: Sized {
    const KIND: Kind;

    /// Appends a number for each row to `values`.
    fn append(numbers: Vec<Self>, values: &mut Values);
}

impl Number for u64 {
    const KIND: Kind = Kind::Count;

    fn append(numbers: Vec<Self>, values: &mut Values) {
        let counts = numbers.into_iter().map(|count| count as i64);
        values.counts().extend_all(counts);
    }
}

impl Number for Option<u64> {
    const KIND: Kind = Kind::Count;

    fn append(numbers: Vec<Self>, values: &mut Values) {
        let counts = numbers
            .into_iter()
            .map(|count| count.map(|count| count as i64));
        values.counts().extend(counts);
    }
}

impl Number for f64 {
    const KIND: Kind = Kind::Real;

    fn append(numbers: Vec<Self>, values: &mut Values) {
        values.reals().extend_all(numbers.into_iter());
    }
}

impl Number for Option<f64> {
    const KIND: Kind = Kind::Real;

    fn append(numbers: Vec<Self>, values: &mut Values) {
        values.reals().extend(numbers.into_iter());
    }
}

/// Non-null values of a column of the Parquet type `T`, and the runs of rows with or without a
/// value.
pub(crate) struct TypedValues<T: DataType> {
    pub(super) values: Vec<T::T>,
    /// Runs of rows, each with the definition level of its rows.
    pub(super) runs: Runs,
}

impl<T: DataType> Default for TypedValues<T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            runs: Vec::new(),
        }
    }
}

impl<T: DataType> TypedValues<T> {
    /// Appends the values of rows that all have a value.
    fn extend_all(&mut self, rows: impl ExactSizeIterator<Item = T::T>) {
        self.note(VALUE, rows.len());
        self.values.extend(rows);
    }

    /// Appends the values of rows; `None` for rows without a value.
    fn extend(&mut self, rows: impl ExactSizeIterator<Item = Option<T::T>>) {
        self.values.reserve(rows.len());
        let (mut level, mut run) = (VALUE, 0);
        for value in rows {
            let own = if value.is_some() { VALUE } else { NULL };
            if own != level {
                self.note(level, run);
                (level, run) = (own, 0);
            }
            run += 1;
            self.values.extend(value);
        }
        self.note(level, run);
    }

    /// Records the definition level of `rows` more rows.
    fn note(&mut self, level: i16, rows: usize) {
        match self.runs.last_mut() {
            Some((last, run)) if *last == level => *run += rows,
            _ => self.runs.push((level, rows)),
        }
    }

    fn write(
        &mut self,
        column: &mut SerializedColumnWriter<'_>,
        levels: &mut Vec<i16>,
    ) -> ParquetResult<()> {
        levels.clear();
        for (level, run) in self.runs.drain(..) {
            levels.resize(levels.len() + run, level);
        }
        let typed = column.typed::<T>();
        typed.write_batch(&self.values, Some(levels), None)?;
        self.values.clear();
        Ok(())
    }
}

/// Texts of a column, taken from a list of texts. Only their indices in the list are stored, as
/// ranges of consecutive indices.
pub(crate) struct ListedTexts {
    list: Vec<ByteArray>,
    /// Indices in `list` of the column's texts, as ranges.
    pub(super) runs: Vec<Range<usize>>,
}

impl ListedTexts {
    pub(super) fn new(list: Vec<Name>) -> Self {
        Self {
            list: list.into_iter().map(|Name(text)| text).collect(),
            runs: Vec::new(),
        }
    }

    /// Appends `count` texts, which begin at index `first` of the list.
    #[inline]
    pub(super) fn push(&mut self, first: usize, count: usize) {
        match self.runs.last_mut() {
            Some(last) if last.end == first => last.end += count,
            _ => self.runs.push(first..first + count),
        }
    }

    fn write(
        &mut self,
        column: &mut SerializedColumnWriter<'_>,
        levels: &mut Vec<i16>,
    ) -> ParquetResult<()> {
        levels.clear();
        levels.resize(self.list.len(), VALUE);
        let typed = column.typed::<ByteArrayType>();
        for run in self.runs.drain(..) {
            let levels = &levels[..run.len()];
            typed.write_batch(&self.list[run], Some(levels), None)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_a_list_are_one_run() {
        let names = ["a", "b", "c", "d"].map(Name::from);
        let mut listed = ListedTexts::new(names.into());
        // Two points of three rows are followed by a point without the first row.
        for number in [0, 1, 2, 0, 1, 2, 1, 2] {
            listed.push(number, 1);
        }
        listed.push(3, 1);
        assert_eq!(listed.runs, [0..3, 0..3, 1..4]);
    }

    #[test]
    fn rows_without_a_value_are_told_from_others() {
        let mut values: TypedValues<Int64Type> = TypedValues::default();
        values.note(NULL, 2);
        let rows = [None, Some(7), Some(8), None];
        values.extend(rows.into_iter());
        assert_eq!(values.values, [7, 8]);
        let levels = values.runs.iter();
        let levels = levels.flat_map(|&(level, run)| vec![level; run]);
        assert!(levels.eq([NULL, NULL, NULL, VALUE, VALUE, NULL]));
    }
}
