//! A table that is described column by column and written to Parquet as it grows.

mod stored;
mod values;

use std::path::PathBuf;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::ByteArray;
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use serde::Serialize;

use self::values::{Listed, Values};
use crate::digest::{DigestedFile, NewFile};
use crate::error::OutputError;

pub(crate) use self::stored::StoredTable;
pub(crate) use self::values::Number;

/// Rows of a row group: bounds what is held before it is written, two or three megabytes.
const ROW_GROUP_ROWS: u64 = 8_192;

/// Rows that are split into columns at once: few enough to stay in the cache.
const BATCH_ROWS: usize = 256;

/// Key of a file's metadata that describes its columns, as JSON.
const DESCRIPTIONS: &str = "longhaul.columns";

/// A text that many rows have, in the form that Parquet's writer takes: copies share it.
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

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Names.
    Text,
    /// Numbers of things and identifiers. Signed in the file, so that differences of columns do
    /// not wrap around.
    Count,
    /// Measures.
    Real,
}

/// One column of a table with rows of type `R`: its description, and its value in a row.
pub(crate) struct Column<R> {
    name: String,
    kind: Kind,
    unit: &'static str,
    description: String,
    /// What its texts are taken from, if it is a list.
    list: Vec<Name>,
    take: Take<R>,
}

/// Takes over what a column holds in some rows: one call through a pointer for all of them.
type Take<R> = Box<dyn Fn(&[R], &mut Values) + Send>;

impl<R> Column<R> {
    /// The name ends in the unit, if there is one.
    pub(crate) fn new(
        name: impl Into<String>,
        kind: Kind,
        unit: &'static str,
        description: impl Into<String>,
        value: impl Fn(&R) -> Cell<'_> + Send + 'static,
    ) -> Self {
        let (name, description) = (name.into(), description.into());
        Self {
            name,
            kind,
            unit,
            description,
            list: Vec::new(),
            take: Box::new(move |rows, values| values.extend(rows, &value)),
        }
    }

    /// One of texts that are in a list; `number` is the place of a row's in it.
    pub(crate) fn of_list(
        name: impl Into<String>,
        description: impl Into<String>,
        list: Vec<Name>,
        number: impl Fn(&R) -> usize + Send + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            kind: Kind::Text,
            unit: "",
            description: description.into(),
            list,
            take: Box::new(move |rows, values| {
                let listed = values.listed();
                rows.iter().for_each(|row| listed.push(number(row), 1));
            }),
        }
    }

    /// One of a few texts, the same for all rows that are taken over together; `number` is the place of
    /// theirs among them.
    pub(crate) fn dictionary(
        name: impl Into<String>,
        description: impl Into<String>,
        few: &[&str],
        number: impl Fn(&R) -> usize + Send + 'static,
    ) -> Self {
        let copies = |text: &&str| vec![Name::from(*text); BATCH_ROWS];
        Self {
            name: name.into(),
            kind: Kind::Text,
            unit: "",
            description: description.into(),
            list: few.iter().flat_map(copies).collect(),
            take: Box::new(move |rows, values| {
                if let Some(first) = rows.first() {
                    values.listed().push(number(first) * BATCH_ROWS, rows.len());
                }
            }),
        }
    }

    /// Numbers that say something of a part that not all rows have; empty for others. Of rows taken
    /// over together all have it or none ([`Table::create_of_runs`]).
    pub(crate) fn optional_group<P: 'static, N: Number>(
        name: impl Into<String>,
        unit: &'static str,
        description: impl Into<String>,
        part: impl Fn(&R) -> Option<&P> + Send + 'static,
        value: impl Fn(&P) -> N + Send + 'static,
    ) -> Self {
        let take: Take<R> = Box::new(move |rows, values| {
            if rows.first().and_then(&part).is_some() {
                let parts = rows.iter().map(|row| part(row).expect("rows are alike"));
                N::append(parts.map(&value), values);
            } else {
                values.skip(rows.len());
            }
        });
        Self {
            name: name.into(),
            kind: N::KIND,
            unit,
            description: description.into(),
            list: Vec::new(),
            take,
        }
    }

    /// Room for what it holds in rows that are not written yet.
    fn values(&mut self) -> Values {
        if self.list.is_empty() {
            Values::new(self.kind)
        } else {
            Values::Listed(Listed::new(std::mem::take(&mut self.list)))
        }
    }

    fn schema(&self) -> ParquetResult<Type> {
        let (physical, logical) = match self.kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Count => (Physical::INT64, None),
            Kind::Real => (Physical::DOUBLE, None),
        };
        Type::primitive_type_builder(&self.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
    }

    /// Name, unit, and what it holds.
    pub(crate) fn info(&self) -> (&str, &'static str, &str) {
        (&self.name, self.unit, &self.description)
    }

    fn description(&self) -> Description<'_> {
        Description {
            name: &self.name,
            unit: self.unit,
            description: &self.description,
        }
    }
}

/// The unit that a column's name ends in.
pub(crate) fn unit(name: &str) -> &'static str {
    const UNITS: [(&str, &str); 5] = [
        ("_pkt_s", "pkts s"),
        ("_pkts", "pkts"),
        ("_bytes", "bytes"),
        ("_bps", "bit/s"),
        ("_s", "s"),
    ];
    let known = UNITS.iter().find(|(ending, _)| name.ends_with(ending));
    known.map_or("", |(_, unit)| unit)
}

/// What a column holds, as the file's metadata say it.
#[derive(Serialize)]
struct Description<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    unit: &'a str,
    description: &'a str,
}

/// A table in a Parquet file.
pub(crate) struct Table<R> {
    path: PathBuf,
    columns: Vec<(Column<R>, Values)>,
    /// The newest rows, which have not been split into columns yet.
    pending: Vec<R>,
    /// Whether two rows have the same parts.
    alike: fn(&R, &R) -> bool,
    rows: u64,
    /// Rows of a row group.
    group: u64,
    writer: SerializedFileWriter<DigestedFile>,
}

impl<R> Table<R> {
    pub(crate) fn create(
        file: impl Into<NewFile>,
        columns: Vec<Column<R>>,
    ) -> Result<Self, OutputError> {
        Self::create_of_runs(file, columns, |_, _| true)
    }

    /// One whose rows come in runs of rows that are `alike` in their parts.
    pub(crate) fn create_of_runs(
        file: impl Into<NewFile>,
        columns: Vec<Column<R>>,
        alike: fn(&R, &R) -> bool,
    ) -> Result<Self, OutputError> {
        let file = file.into();
        let created = file.create();
        let path = file.path;
        let file = created.map_err(OutputError::io("create", &path))?;
        let writer = schema(&columns)
            .and_then(|schema| {
                SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties(&columns)))
            })
            .map_err(OutputError::table(&path))?;
        let columns = columns.into_iter().map(|mut column| {
            let values = column.values();
            (column, values)
        });
        Ok(Self {
            path,
            columns: columns.collect(),
            pending: Vec::with_capacity(BATCH_ROWS),
            alike,
            rows: 0,
            group: ROW_GROUP_ROWS,
            writer,
        })
    }

    /// The table with smaller row groups.
    pub(crate) fn with_row_groups(self, rows: u64) -> Self {
        Self {
            group: rows.clamp(1, ROW_GROUP_ROWS),
            ..self
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, row: R) -> Result<(), OutputError> {
        self.pending.push(row);
        self.rows += 1;
        if self.pending.len() == BATCH_ROWS {
            self.split_rows();
        }
        if self.rows.is_multiple_of(self.group) {
            self.write_row_group()?;
        }
        Ok(())
    }

    /// Column by column, which is quicker than row by row.
    fn split_rows(&mut self) {
        for run in self.pending.chunk_by(self.alike) {
            for (column, values) in &mut self.columns {
                (column.take)(run, values);
            }
        }
        self.pending.clear();
    }

    /// Writes what is left, waits until the disk has it, and says how many rows there are.
    pub(crate) fn finish(mut self) -> Result<u64, OutputError> {
        if !self.rows.is_multiple_of(self.group) {
            self.write_row_group()?;
        }
        let file = self
            .writer
            .into_inner()
            .map_err(OutputError::table(&self.path))?;
        file.finish(&self.path)
            .map_err(OutputError::io("write", &self.path))?;
        Ok(self.rows)
    }

    fn write_row_group(&mut self) -> Result<(), OutputError> {
        self.split_rows();
        let columns = self.columns.iter_mut().map(|(_, values)| values);
        row_group(&mut self.writer, columns).map_err(OutputError::table(&self.path))
    }
}

fn row_group<'a>(
    writer: &mut SerializedFileWriter<DigestedFile>,
    columns: impl Iterator<Item = &'a mut Values>,
) -> ParquetResult<()> {
    let mut group = writer.next_row_group()?;
    let mut levels = Vec::new();
    for values in columns {
        let mut column = group.next_column()?.expect("the schema has all columns");
        values.write(&mut column, &mut levels)?;
        column.close()?;
    }
    group.close()?;
    Ok(())
}

fn schema<'a, R: 'a>(columns: impl IntoIterator<Item = &'a Column<R>>) -> ParquetResult<Type> {
    let fields: ParquetResult<Vec<_>> = columns
        .into_iter()
        .map(|column| column.schema().map(Arc::new))
        .collect();
    Type::group_type_builder("row").with_fields(fields?).build()
}

/// Numbers repeat too rarely for dictionaries: counters are stored as differences, measures byte
/// by byte, which compresses better. Names repeat in the order of the rows, which compression finds
/// at a third of the cost of looking each up. A column has a page in each row group, so that an index of
/// pages would say nothing. Nothing in a file tells when it was written.
fn properties<R>(columns: &[Column<R>]) -> WriterProperties {
    let mut builder = WriterProperties::builder()
        .set_created_by("longhaul".to_string())
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_key_value_metadata(Some(vec![KeyValue::new(
            DESCRIPTIONS.to_string(),
            descriptions(columns),
        )]))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true);
    for column in columns {
        let encoding = match column.kind {
            Kind::Text => Encoding::PLAIN,
            Kind::Count => Encoding::DELTA_BINARY_PACKED,
            Kind::Real => Encoding::BYTE_STREAM_SPLIT,
        };
        let path = ColumnPath::from(column.name.as_str());
        builder = builder.set_column_encoding(path, encoding);
    }
    builder.build()
}

fn descriptions<R>(columns: &[Column<R>]) -> String {
    let descriptions: Vec<_> = columns.iter().map(Column::description).collect();
    serde_json::to_string(&descriptions).expect("strings are JSON")
}

impl<R> std::fmt::Debug for Table<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("path", &self.path)
            .field("rows", &self.rows)
            .finish()
    }
}
