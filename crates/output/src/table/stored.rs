//! Tables that another process can resume: their state in a checkpoint.
//!
//! Full row groups are already in the file; a checkpoint contains only Parquet's description of them. It also contains
//! the rows of the unfinished group. If a table is resumed, rows written after the checkpoint are discarded. Each group
//! has a fixed number of rows, so that the file finally has the same bytes as one that was never interrupted.

use std::fs::{self, File};
use std::ops::Range;
use std::sync::Arc;

use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::{
    FileMetaData, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
    ParquetMetaDataWriter,
};
use serde::{Deserialize, Serialize};

use super::file::TableFile;
use super::heading::Heading;
use super::values::{Runs, TypedValues, Values};
use crate::digest::NewFile;
use crate::error::OutputError;

/// The stored state of a table that is being written.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredTable {
    rows: u64,
    /// Parquet's description of the row groups in the file.
    groups: Vec<u8>,
    /// Values of each column that have not been written to the file.
    waiting: Vec<StoredValues>,
}

/// Values of a column: the non-null values, and runs of rows with or without a value. A text from a
/// list is stored as its index.
#[derive(Debug, Serialize, Deserialize)]
enum StoredValues {
    Text(Vec<String>, Runs),
    Listed(Vec<Range<usize>>),
    Count(Vec<i64>, Runs),
    Real(Vec<f64>, Runs),
}

impl StoredValues {
    fn of(values: &Values) -> Self {
        match values {
            Values::Text(TypedValues { values, runs }) => {
                let texts = values.iter().map(|text| {
                    let text = text.as_utf8().expect("texts are UTF-8");
                    text.to_string()
                });
                Self::Text(texts.collect(), runs.clone())
            }
            Values::Listed(listed) => Self::Listed(listed.runs.clone()),
            Values::Count(TypedValues { values, runs }) => {
                Self::Count(values.clone(), runs.clone())
            }
            Values::Real(TypedValues { values, runs }) => Self::Real(values.clone(), runs.clone()),
        }
    }

    /// Puts the stored values into an empty column.
    fn restore(self, column: &mut Values) {
        *column = match self {
            Self::Text(texts, runs) => {
                let texts = texts.iter().map(|text| text.as_str().into());
                let values = texts.collect();
                Values::Text(TypedValues { values, runs })
            }
            Self::Listed(runs) => {
                column.listed().runs = runs;
                return;
            }
            Self::Count(values, runs) => Values::Count(TypedValues { values, runs }),
            Self::Real(values, runs) => Values::Real(TypedValues { values, runs }),
        }
    }
}

impl TableFile {
    /// Syncs all full row groups to disk, and returns the table's state for resuming.
    pub(super) fn store(&mut self) -> Result<StoredTable, OutputError> {
        self.sync()?;
        let columns = self.columns.iter();
        Ok(StoredTable {
            rows: self.rows,
            groups: self.groups().map_err(OutputError::table(&self.path))?,
            waiting: columns
                .map(|(_, values)| StoredValues::of(values))
                .collect(),
        })
    }

    fn sync(&mut self) -> Result<(), OutputError> {
        self.writer
            .flush()
            .and_then(|()| self.writer.inner().inner().sync_data())
            .map_err(OutputError::io("write", &self.path))
    }

    fn groups(&self) -> ParquetResult<Vec<u8>> {
        /// Number of bytes after the metadata at the end of a file: the metadata's length, and a
        /// magic number.
        const TRAILER: usize = 8;
        let schema = self.writer.schema_descr().clone();
        let file = FileMetaData::new(1, self.rows as i64, None, None, Arc::new(schema), None);
        let metadata = ParquetMetaData::new(file, self.writer.flushed_row_groups().to_vec());
        let mut bytes = Vec::new();
        ParquetMetaDataWriter::new(&mut bytes, &metadata).finish()?;
        bytes.truncate(bytes.len() - TRAILER);
        Ok(bytes)
    }

    /// Resumes the table at the path of `file`, which another process has begun.
    pub(super) fn resume(
        file: NewFile,
        headings: Vec<Heading>,
        stored: StoredTable,
    ) -> Result<Self, OutputError> {
        let path = file.path.clone();
        let copy = path.with_extension("copy");
        let mut table = Self::create(file.renamed(copy.clone()), headings)?;
        let old = File::open(&path).map_err(OutputError::io("open", &path))?;
        table
            .copy_groups(&old, &stored.groups)
            .map_err(OutputError::table(&path))?;
        table.sync()?;
        fs::rename(&copy, &path).map_err(OutputError::io("rename", &copy))?;
        for ((_, values), stored) in table.columns.iter_mut().zip(stored.waiting) {
            stored.restore(values);
        }
        table.rows = stored.rows;
        table.path = path;
        Ok(table)
    }

    fn copy_groups(&mut self, old: &File, groups: &[u8]) -> ParquetResult<()> {
        let options = ParquetMetaDataOptions::new().with_encoding_stats_as_mask(false);
        let metadata = ParquetMetaDataReader::decode_metadata_with_options(groups, Some(&options))?;
        for group in metadata.row_groups() {
            let mut writer = self.writer.next_row_group()?;
            for chunk in group.columns() {
                let copied = ColumnCloseResult {
                    bytes_written: chunk.compressed_size() as u64,
                    rows_written: group.num_rows() as u64,
                    metadata: chunk.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                writer.append_column(old, copied)?;
            }
            writer.close()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::table::{Cell, Column, Kind, Name, Table};

    fn columns() -> Vec<Column<u64>> {
        let even = |row: &u64| row.is_multiple_of(2);
        let names = ["a", "b", "c"].map(Name::from);
        vec![
            Column::of_list("name", "", names.into(), |row: &u64| (row % 3) as usize),
            Column::new("count", Kind::Count, "", "", |row: &u64| {
                Cell::Count(row * row)
            }),
            Column::new("real", Kind::Real, "", "", move |row: &u64| {
                even(row).then_some(*row as f64 / 7.0).into()
            }),
            Column::new("text", Kind::Text, "", "", move |row: &u64| {
                even(row).then_some("even").into()
            }),
        ]
    }

    fn push(table: &mut Table<u64>, rows: std::ops::Range<u64>) {
        rows.for_each(|row| table.push(row).unwrap());
    }

    /// Checks that a resumed table has the same bytes as a table written without interruption. The state is stored at
    /// several positions in a row group. Rows written after the storing are discarded.
    #[test]
    fn a_table_gone_on_with_has_the_bytes_of_one_written_in_one_go() {
        let folder = std::env::temp_dir().join(format!("longhaul-stored-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let whole = folder.join("whole.parquet");
        let create = |path: PathBuf| {
            Table::create(path, columns())
                .unwrap()
                .with_row_groups(1000)
        };
        let mut table = create(whole.clone());
        push(&mut table, 0..5500);
        assert_eq!(table.finish().unwrap(), 5500);
        let parts = folder.join("parts.parquet");
        for after in [0, 1, 999, 1000, 1001, 3700, 5500] {
            let mut table = create(parts.clone());
            push(&mut table, 0..after);
            let stored = table.store().unwrap();
            push(&mut table, after..after + 2600);
            drop(table);
            let bytes = postcard::to_stdvec(&stored).unwrap();
            let resume = || {
                let stored = postcard::from_bytes(&bytes).unwrap();
                let table = Table::resume(parts.clone(), columns(), stored).unwrap();
                let mut table = table.with_row_groups(1000);
                push(&mut table, after..5500);
                table
            };
            // The first resumed process is killed, too.
            drop(resume());
            assert_eq!(resume().finish().unwrap(), 5500);
            assert!(
                fs::read(&whole).unwrap() == fs::read(&parts).unwrap(),
                "{after}"
            );
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
