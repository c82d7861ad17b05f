//! A table that is declared column by column and written to Parquet as it grows.

mod file;
mod heading;
mod stored;
mod values;

use parquet::data_type::ByteArray;

use self::file::TableFile;
use self::heading::Heading;
use self::values::Values;
use crate::digest::NewFile;
use crate::error::OutputError;

pub(crate) use self::stored::StoredTable;
pub(crate) use self::values::Number;

/// Maximum number of rows that are collected before they are split into columns: few enough to stay in the cache.
const BATCH_ROWS: usize = 256;

/// A text that many rows share, in the form that Parquet's writer takes.
#[derive(Clone)]
pub(crate) struct Name(ByteArray);

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

/// The value of one column in one row.
pub(crate) enum Cell<'a> {
    Null,
    Text(&'a str),
    Name(Name),
    Count(u64),
    Real(f64),
}

impl From<Option<f64>> for Cell<'_> {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Cell::Null, Cell::Real)
    }
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(value: Option<&'a str>) -> Self {
        value.map_or(Cell::Null, Cell::Text)
    }
}

/// Kind of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Texts, such as names.
    Text,
    /// Counts and identifiers. The file stores signed numbers, so that a reader can subtract columns
    /// without wrapping around.
    Count,
    /// Real numbers.
    Real,
}

/// A column of a table with rows of type `R`: its description, and the function that reads its
/// value from a row.
pub(crate) struct Column<R> {
    heading: Heading,
    take: Take<R>,
}

/// Function that appends the values of a column for several rows of type `R`. One call for all rows
/// is faster than one call for each.
type Take<R> = Box<dyn Fn(&[R], &mut Values) + Send>;

impl<R> Column<R> {
    /// Creates a column. `name` must already end in the unit, if there is one.
    pub(crate) fn new(
        name: impl Into<String>,
        kind: Kind,
        unit: &'static str,
        description: impl Into<String>,
        value: impl Fn(&R) -> Cell<'_> + Send + 'static,
    ) -> Self {
        Self {
            heading: Heading::new(name.into(), kind, unit, description.into()),
            take: Box::new(move |rows, values| {
                // A plain loop: chained iterators would triple the size of the code of all columns.
                let mut cells = Vec::with_capacity(rows.len());
                for row in rows {
                    cells.push(value(row));
                }
                values.extend(cells);
            }),
        }
    }

    /// Creates a column whose texts come from `list`. `number` returns the index in `list` of the
    /// text for a row.
    pub(crate) fn of_list(
        name: impl Into<String>,
        description: impl Into<String>,
        list: Vec<Name>,
        number: impl Fn(&R) -> usize + Send + 'static,
    ) -> Self {
        Self {
            heading: Heading::of_list(name.into(), description.into(), list),
            take: Box::new(move |rows, values| {
                let listed = values.listed();
                for row in rows {
                    listed.push(number(row), 1);
                }
            }),
        }
    }

    /// Creates a column of texts from the list `few`. `number` returns a row's index in the list.
    /// Rows that are `alike` (see [`Table::create_of_runs`]) must have the same text.
    pub(crate) fn dictionary(
        name: impl Into<String>,
        description: impl Into<String>,
        few: &[&str],
        number: impl Fn(&R) -> usize + Send + 'static,
    ) -> Self {
        let copies = |text: &&str| vec![Name::from(*text); BATCH_ROWS];
        let list = few.iter().flat_map(copies).collect();
        Self {
            heading: Heading::of_list(name.into(), description.into(), list),
            take: Box::new(move |rows, values| {
                if let Some(first) = rows.first() {
                    values.listed().push(number(first) * BATCH_ROWS, rows.len());
                }
            }),
        }
    }

    /// Creates a column of numbers that `value` reads from an optional part of each row; null for
    /// rows without the part, and if `value` returns `None`. Two rows that are `alike` (see
    /// [`Table::create_of_runs`]) must both have the part, or both lack it.
    pub(crate) fn optional_group<P: 'static, N: Number>(
        name: impl Into<String>,
        unit: &'static str,
        description: impl Into<String>,
        part: impl Fn(&R) -> Option<&P> + Send + 'static,
        value: impl Fn(&P) -> N + Send + 'static,
    ) -> Self {
        let take: Take<R> = Box::new(move |rows, values| {
            if rows.first().and_then(&part).is_some() {
                let mut numbers = Vec::with_capacity(rows.len());
                for row in rows {
                    numbers.push(value(part(row).expect("rows are alike")));
                }
                N::append(numbers, values);
            } else {
                values.skip(rows.len());
            }
        });
        Self {
            heading: Heading::new(name.into(), N::KIND, unit, description.into()),
            take,
        }
    }

    /// Returns the column's name, unit and description.
    pub(crate) fn info(&self) -> (&str, &'static str, &str) {
        let heading = &self.heading;
        (&heading.name, heading.unit, &heading.description)
    }
}

/// Returns the unit at the end of a column's name; empty if there is none.
pub(crate) fn unit(name: &str) -> &'static str {
    const UNITS: [(&str, &str); 6] = [
        ("_pkt_s", "pkts s"),
        ("_pkts", "pkts"),
        ("_bytes", "bytes"),
        ("_bps", "bit/s"),
        ("_pps", "pps"),
        ("_s", "s"),
    ];
    let known = UNITS.iter().find(|(ending, _)| name.ends_with(ending));
    known.map_or("", |(_, unit)| unit)
}

/// A table with rows of type `R`, written to a Parquet file. Code that does not depend on `R` is in
/// [`TableFile`], and is therefore compiled only once.
pub(crate) struct Table<R> {
    takes: Vec<Take<R>>,
    /// The latest rows, which have not been split into columns yet.
    pending: Vec<R>,
    /// Returns true if two rows have the same optional parts; always true if the table was not made
    /// by [`Table::create_of_runs`].
    alike: fn(&R, &R) -> bool,
    file: TableFile,
}

impl<R> Table<R> {
    pub(crate) fn create(
        file: impl Into<NewFile>,
        columns: Vec<Column<R>>,
    ) -> Result<Self, OutputError> {
        Self::create_of_runs(file, columns, |_, _| true)
    }

    /// Creates a table whose rows have optional parts. `alike` returns true if two rows have the
    /// same parts. Consecutive rows that are alike are processed together.
    pub(crate) fn create_of_runs(
        file: impl Into<NewFile>,
        columns: Vec<Column<R>>,
        alike: fn(&R, &R) -> bool,
    ) -> Result<Self, OutputError> {
        let (headings, takes) = split(columns);
        Ok(Self::of(
            TableFile::create(file.into(), headings)?,
            takes,
            alike,
        ))
    }

    /// Resumes a table that another process has begun to write to `file`, from its last state
    /// `stored`. The table must be from [`Self::create`]: all rows count as alike.
    pub(crate) fn resume(
        file: impl Into<NewFile>,
        columns: Vec<Column<R>>,
        stored: StoredTable,
    ) -> Result<Self, OutputError> {
        let (headings, takes) = split(columns);
        let file = TableFile::resume(file.into(), headings, stored)?;
        Ok(Self::of(file, takes, |_, _| true))
    }

    fn of(file: TableFile, takes: Vec<Take<R>>, alike: fn(&R, &R) -> bool) -> Self {
        Self {
            takes,
            pending: Vec::with_capacity(BATCH_ROWS),
            alike,
            file,
        }
    }

    /// Returns the table with row groups of `rows` rows each, limited to 1 to 8192 rows. Must be
    /// called before the first [`Self::push`].
    pub(crate) fn with_row_groups(mut self, rows: u64) -> Self {
        self.file.limit_row_groups(rows);
        self
    }

    #[inline]
    pub(crate) fn push(&mut self, row: R) -> Result<(), OutputError> {
        self.pending.push(row);
        let ends_group = self.file.count_row();
        if ends_group || self.pending.len() == BATCH_ROWS {
            self.split_rows();
        }
        if ends_group {
            self.file.write_row_group()?;
        }
        Ok(())
    }

    /// Splits the pending rows into columns, one column after the other, which is faster than row
    /// by row.
    fn split_rows(&mut self) {
        for run in self.pending.chunk_by(self.alike) {
            for (take, values) in self.takes.iter().zip(self.file.values()) {
                take(run, values);
            }
        }
        self.pending.clear();
    }

    /// Writes the remaining rows, waits until they are on disk, and returns the total number of
    /// rows.
    pub(crate) fn finish(mut self) -> Result<u64, OutputError> {
        self.split_rows();
        self.file.finish()
    }

    /// Syncs all full row groups to disk, and returns the table's state for resuming.
    pub(crate) fn store(&mut self) -> Result<StoredTable, OutputError> {
        self.split_rows();
        self.file.store()
    }
}

fn split<R>(columns: Vec<Column<R>>) -> (Vec<Heading>, Vec<Take<R>>) {
    let columns = columns.into_iter();
    columns
        .map(|Column { heading, take }| (heading, take))
        .unzip()
}

impl<R> std::fmt::Debug for Table<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.file.fmt(f)
    }
}
