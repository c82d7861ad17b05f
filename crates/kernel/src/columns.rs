//! Records that declare their columns in tables. The documentation of a field is the description of
//! its column. A column's name ends in its unit, if it has one.

use longhaul_units::{Span, Time};

/// Receiver of the columns of a record of type `R`. Each call passes one column.
///
/// There is a method for each type of values, so that values need no allocation.
pub trait Columns<R> {
    /// Receives a column of counts or identifiers.
    fn count(&mut self, name: &'static str, doc: &'static str, value: impl Value<R, u64>);
    /// Receives a column of counts that are missing in some records.
    fn optional_count(
        &mut self,
        name: &'static str,
        doc: &'static str,
        value: impl Value<R, Option<u64>>,
    );
    /// Receives a column of real numbers.
    fn real(&mut self, name: &'static str, doc: &'static str, value: impl Value<R, f64>);
    /// Receives a column of real numbers that are missing in some records.
    fn optional_real(
        &mut self,
        name: &'static str,
        doc: &'static str,
        value: impl Value<R, Option<f64>>,
    );
    /// Receives a column of keywords, which may be missing in some records.
    fn word(
        &mut self,
        name: &'static str,
        doc: &'static str,
        value: impl Value<R, Option<&'static str>>,
    );
}

/// Function that reads a value of type `V` from a record of type `R`.
pub trait Value<R, V>: Fn(&R) -> V + Copy + Send + Sync + 'static {}

impl<R, V, F: Fn(&R) -> V + Copy + Send + Sync + 'static> Value<R, V> for F {}

/// Type of a field with values for a column.
pub trait Figure: Sized {
    /// Passes a column with values of type `Self` to the matching method of `columns`.
    fn declare<R>(
        columns: &mut impl Columns<R>,
        name: &'static str,
        doc: &'static str,
        value: impl Value<R, Self>,
    );
}

macro_rules! figures {
    ($($type:ty => $method:ident, $convert:expr;)*) => {$(
        impl Figure for $type {
            fn declare<R>(
                columns: &mut impl Columns<R>,
                name: &'static str,
                doc: &'static str,
                value: impl Value<R, Self>,
            ) {
                columns.$method(name, doc, move |record: &R| $convert(value(record)));
            }
        }
    )*};
}

figures! {
    u32 => count, u64::from;
    u64 => count, std::convert::identity;
    Option<u64> => optional_count, std::convert::identity;
    f64 => real, std::convert::identity;
    Option<f64> => optional_real, std::convert::identity;
    Span => real, Span::as_secs_f64;
    Time => real, Time::as_secs_f64;
    Option<Time> => optional_real, |time: Option<Time>| time.map(Time::as_secs_f64);
    &'static str => word, Some;
    Option<&'static str> => word, std::convert::identity;
}

/// Declares a record: its struct, and its columns in tables.
///
/// A field with `as "NAME"` becomes a column of that name. A field without `as` has no column. The
/// block `columns` declares further columns, each with a function that computes its value.
#[macro_export]
macro_rules! record {
    (
        $(#[$attribute:meta])*
        pub struct $record:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty $(as $column:literal)?,)*
        }
        $(columns {
            $($(#[doc = $more:literal])+ $name:literal: $kind:ty = $value:expr,)*
        })?
    ) => {
        $(#[$attribute])*
        pub struct $record {
            $($(#[doc = $doc])+ pub $field: $type,)*
        }

        impl $record {
            /// Declares the record's columns: those of fields in order, then the further columns.
            pub fn columns(to: &mut impl $crate::Columns<Self>) {
                $($crate::record!(
                    @column to, concat!($($doc),+), $field: $type $(as $column)?
                );)*
                $($(<$kind as $crate::Figure>::declare(
                    to,
                    $name,
                    concat!($($more),+),
                    { let value: fn(&Self) -> $kind = $value; value },
                );)*)?
            }
        }
    };
    (@column $to:ident, $doc:expr, $field:ident: $type:ty) => {};
    (@column $to:ident, $doc:expr, $field:ident: $type:ty as $column:literal) => {
        <$type as $crate::Figure>::declare(
            $to,
            $column,
            $doc,
            |record: &Self| record.$field,
        )
    };
}
