//! Description of a column: name, kind of values, unit and text.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::errors::Result as ParquetResult;
use parquet::schema::types::Type;
use serde::Serialize;

use super::values::{ListedTexts, Values};
use super::{Kind, Name};

/// Description of a column, independent of the type of rows.
#[derive(Serialize)]
pub(super) struct Heading {
    pub(super) name: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) unit: &'static str,
    pub(super) description: String,
    #[serde(skip)]
    pub(super) kind: Kind,
    /// Texts that rows refer to by index; empty if the column stores its values themselves, and
    /// after [`Self::values`].
    #[serde(skip)]
    list: Vec<Name>,
}

impl Heading {
    pub(super) fn new(name: String, kind: Kind, unit: &'static str, description: String) -> Self {
        Self {
            name,
            unit,
            description,
            kind,
            list: Vec::new(),
        }
    }

    pub(super) fn of_list(name: String, description: String, list: Vec<Name>) -> Self {
        Self {
            list,
            ..Self::new(name, Kind::Text, "", description)
        }
    }

    /// Returns an empty buffer that keeps the column's values until they are written. Moves the list
    /// of texts into the buffer, so it must be called only once.
    pub(super) fn values(&mut self) -> Values {
        if self.list.is_empty() {
            Values::new(self.kind)
        } else {
            Values::Listed(ListedTexts::new(std::mem::take(&mut self.list)))
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
}

/// Returns the schema of a table with these columns.
pub(super) fn schema(headings: &[Heading]) -> ParquetResult<Type> {
    let columns = headings.iter();
    let fields: ParquetResult<Vec<_>> = columns
        .map(|heading| heading.schema().map(Arc::new))
        .collect();
    Type::group_type_builder("row").with_fields(fields?).build()
}
