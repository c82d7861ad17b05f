//! Columns of a run's tables, for `longhaul list columns`.

use std::path::Path;

use crate::series::Names;
use crate::table::Column;
use crate::{acks, delays, events, exchanges, flows, links, proxies, series};

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Name of the table: its file name without the suffix.
    pub table: String,
    /// Name of the column, which ends in the unit if there is one.
    pub name: String,
    /// Unit of the values; empty if there is none.
    pub unit: &'static str,
    /// Meaning of the column's values.
    pub description: String,
    /// Key or queue discipline that at least one link must have for the table to contain the
    /// column; `None` if the table always contains it.
    pub only_with: Option<&'static str>,
}

/// Returns every column of the tables of a run, except those of MesoNet.
pub fn columns() -> Vec<ColumnInfo> {
    [
        of(flows::FILE, &flows::columns()),
        of(links::FILE, &links::columns()),
        of(proxies::FILE, &proxies::columns()),
        of(delays::FILE, &delays::columns()),
        of(series::FILE, &series::columns(Names::NONE)),
        of(events::FILE, &events::columns()),
        of(acks::FILE, &acks::columns()),
        of(exchanges::FILE, &exchanges::columns()),
    ]
    .concat()
}

fn of<R>(file: &str, columns: &[Column<R>]) -> Vec<ColumnInfo> {
    let table = Path::new(file).file_stem().unwrap_or_default();
    let table = table.to_string_lossy().into_owned();
    let info = |column: &Column<R>| {
        let (name, unit, description) = column.info();
        ColumnInfo {
            table: table.clone(),
            name: name.to_string(),
            unit,
            description: description.to_string(),
            only_with: (file == links::FILE)
                .then(|| links::only_with(name))
                .flatten(),
        }
    };
    columns.iter().map(info).collect()
}
