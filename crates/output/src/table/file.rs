//! The Parquet file of a table, independent of the type of its rows.

use std::path::PathBuf;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use super::Kind;
use super::heading::{Heading, schema};
use super::values::Values;
use crate::digest::{DigestedFile, NewFile};
use crate::error::OutputError;

/// Number of rows in a row group: the default, and the maximum. Rows are kept in memory until their
/// group is full, and take at most two or three megabytes.
const ROW_GROUP_ROWS: u64 = 8_192;

/// Metadata key of a Parquet file for the descriptions of its columns, as JSON.
const DESCRIPTIONS: &str = "longhaul.columns";

/// A Parquet file. A row group is written as soon as `group` rows are waiting.
pub(super) struct TableFile {
    pub(super) path: PathBuf,
    pub(super) columns: Vec<(Heading, Values)>,
    pub(super) rows: u64,
    /// Number of rows in a row group.
    group: u64,
    pub(super) writer: SerializedFileWriter<DigestedFile>,
}

impl TableFile {
    pub(super) fn create(file: NewFile, headings: Vec<Heading>) -> Result<Self, OutputError> {
        let created = file.create();
        let path = file.path;
        let file = created.map_err(OutputError::io("create", &path))?;
        let writer = schema(&headings)
            .and_then(|schema| {
                SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties(&headings)))
            })
            .map_err(OutputError::table(&path))?;
        let columns = headings.into_iter().map(|mut heading| {
            let values = heading.values();
            (heading, values)
        });
        Ok(Self {
            path,
            columns: columns.collect(),
            rows: 0,
            group: ROW_GROUP_ROWS,
            writer,
        })
    }

    pub(super) fn limit_row_groups(&mut self, rows: u64) {
        self.group = rows.clamp(1, ROW_GROUP_ROWS);
    }

    /// Counts one more row. Returns true if the row group is now full.
    #[inline]
    pub(super) fn count_row(&mut self) -> bool {
        self.rows += 1;
        self.rows.is_multiple_of(self.group)
    }

    /// Returns, for each column, the values that have not been written yet.
    pub(super) fn values(&mut self) -> impl Iterator<Item = &mut Values> {
        self.columns.iter_mut().map(|(_, values)| values)
    }

    pub(super) fn write_row_group(&mut self) -> Result<(), OutputError> {
        let columns = self.columns.iter_mut().map(|(_, values)| values);
        row_group(&mut self.writer, columns).map_err(OutputError::table(&self.path))
    }

    /// Writes the remaining rows, waits until they are on disk, and returns the total number of
    /// rows.
    pub(super) fn finish(mut self) -> Result<u64, OutputError> {
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
}

impl std::fmt::Debug for TableFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("path", &self.path)
            .field("rows", &self.rows)
            .finish()
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

/// Returns the settings of the Parquet file: its encodings, compression and metadata, without the time of writing.
fn properties(headings: &[Heading]) -> WriterProperties {
    let descriptions = serde_json::to_string(headings).expect("strings are JSON");
    let mut builder = WriterProperties::builder()
        .set_created_by("longhaul".to_string())
        .set_compression(Compression::SNAPPY)
        // Numbers repeat too rarely for a dictionary. The compression exploits repeated names at a third of the cost
        // of a dictionary.
        .set_dictionary_enabled(false)
        .set_key_value_metadata(Some(vec![KeyValue::new(
            DESCRIPTIONS.to_string(),
            descriptions,
        )]))
        .set_statistics_enabled(EnabledStatistics::None)
        // A row group has a single page per column.
        .set_offset_index_disabled(true);
    for heading in headings {
        let encoding = match heading.kind {
            Kind::Text => Encoding::PLAIN,
            Kind::Count => Encoding::DELTA_BINARY_PACKED,
            Kind::Real => Encoding::BYTE_STREAM_SPLIT,
        };
        let path = ColumnPath::from(heading.name.as_str());
        builder = builder.set_column_encoding(path, encoding);
    }
    builder.build()
}
