//! A table that is described column by column and written to Parquet as it grows.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::error::OutputError;

/// Rows that are collected before they are encoded.
const BATCH_ROWS: usize = 4096;
/// Rows of a row group: bounds what the encoder holds, a few megabytes.
const ROW_GROUP_ROWS: usize = 65_536;

/// The value of one column in one row.
pub(crate) enum Cell<'a> {
    Null,
    Text(&'a str),
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
    /// Names, stored as a dictionary.
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
    value: Value<R>,
}

type Value<R> = Box<dyn Fn(&R) -> Cell<'_> + Send>;

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
            value: Box::new(value),
        }
    }

    fn field(&self) -> Field {
        let data_type = match self.kind {
            Kind::Text => DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into()),
            Kind::Count => DataType::Int64,
            Kind::Real => DataType::Float64,
        };
        let mut metadata = HashMap::from([("description".to_string(), self.description.clone())]);
        if !self.unit.is_empty() {
            metadata.insert("unit".to_string(), self.unit.to_string());
        }
        Field::new(&self.name, data_type, true).with_metadata(metadata)
    }
}

/// The values of a column that are not encoded yet.
enum Pending {
    Text(StringDictionaryBuilder<Int32Type>),
    Count(Int64Builder),
    Real(Float64Builder),
}

impl Pending {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(StringDictionaryBuilder::new()),
            Kind::Count => Self::Count(Int64Builder::new()),
            Kind::Real => Self::Real(Float64Builder::new()),
        }
    }

    fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Self::Text(values), Cell::Text(text)) => values.append_value(text),
            (Self::Text(values), Cell::Null) => values.append_null(),
            (Self::Count(values), Cell::Count(count)) => values.append_value(count as i64),
            (Self::Count(values), Cell::Null) => values.append_null(),
            (Self::Real(values), Cell::Real(real)) => values.append_value(real),
            (Self::Real(values), Cell::Null) => values.append_null(),
            _ => unreachable!("a column holds values of its kind"),
        }
    }

    fn take(&mut self) -> ArrayRef {
        match self {
            Self::Text(values) => Arc::new(values.finish()),
            Self::Count(values) => Arc::new(values.finish()),
            Self::Real(values) => Arc::new(values.finish()),
        }
    }
}

/// A table in a Parquet file.
pub(crate) struct Table<R> {
    path: PathBuf,
    columns: Vec<(Column<R>, Pending)>,
    pending_rows: usize,
    rows: u64,
    schema: SchemaRef,
    writer: ArrowWriter<File>,
}

impl<R> Table<R> {
    pub(crate) fn create(path: PathBuf, columns: Vec<Column<R>>) -> Result<Self, OutputError> {
        let file = File::create(&path).map_err(OutputError::io("create", &path))?;
        let schema = Arc::new(Schema::new(
            columns.iter().map(Column::field).collect::<Vec<_>>(),
        ));
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties(&columns)))
            .map_err(OutputError::table(&path))?;
        let columns = columns.into_iter().map(|column| {
            let pending = Pending::new(column.kind);
            (column, pending)
        });
        let columns = columns.collect();
        Ok(Self {
            path,
            columns,
            pending_rows: 0,
            rows: 0,
            schema,
            writer,
        })
    }

    pub(crate) fn push(&mut self, row: &R) -> Result<(), OutputError> {
        for (column, pending) in &mut self.columns {
            pending.push((column.value)(row));
        }
        self.pending_rows += 1;
        self.rows += 1;
        if self.pending_rows == BATCH_ROWS {
            self.encode()
        } else {
            Ok(())
        }
    }

    /// Writes what is left, waits until the disk has it, and says how many rows there are.
    pub(crate) fn finish(mut self) -> Result<u64, OutputError> {
        self.encode()?;
        let file = self
            .writer
            .into_inner()
            .map_err(OutputError::table(&self.path))?;
        file.sync_all()
            .map_err(OutputError::io("write", &self.path))?;
        Ok(self.rows)
    }

    fn encode(&mut self) -> Result<(), OutputError> {
        let arrays = self
            .columns
            .iter_mut()
            .map(|(_, pending)| pending.take())
            .collect();
        self.pending_rows = 0;
        RecordBatch::try_new(self.schema.clone(), arrays)
            .map_err(Into::into)
            .and_then(|batch| self.writer.write(&batch))
            .map_err(OutputError::table(&self.path))
    }
}

/// Numbers repeat too rarely for dictionaries: counters are stored as differences, measures byte
/// by byte, which compresses better. Nothing in a file tells when it was written.
fn properties<R>(columns: &[Column<R>]) -> WriterProperties {
    let mut builder = WriterProperties::builder()
        .set_created_by("longhaul".to_string())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for column in columns {
        let encoding = match column.kind {
            Kind::Text => continue,
            Kind::Count => Encoding::DELTA_BINARY_PACKED,
            Kind::Real => Encoding::BYTE_STREAM_SPLIT,
        };
        let path = ColumnPath::from(column.name.as_str());
        builder = builder
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, encoding);
    }
    builder.build()
}

impl<R> std::fmt::Debug for Table<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("path", &self.path)
            .field("rows", &self.rows)
            .finish()
    }
}
