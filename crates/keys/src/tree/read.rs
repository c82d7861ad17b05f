//! Conversion of checked values to the declared types of fields.

use longhaul_units::{Bytes, Quantity, Rate, Span, Time};

use super::{Table, Value};
use crate::Profile;

/// A Rust type to which the value of a key can be converted.
pub trait Read: Sized {
    /// Converts the value of a key; `value` is `None` if the key has none. Returns `None` if the type refuses it.
    fn read(value: Option<&Value>) -> Option<Self>;
}

/// Reads a missing value as `None`. `false` and words such as `auto` or `unlimited` are also `None` if `T` has no such
/// value.
impl<T: Read> Read for Option<T> {
    fn read(value: Option<&Value>) -> Option<Self> {
        let given = value.and_then(|given| T::read(Some(given)));
        match value {
            None | Some(Value::Text(_) | Value::Flag(false)) => Some(given),
            Some(_) => given.map(Some),
        }
    }
}

/// Reads a missing value as an empty list.
impl<T: Read> Read for Vec<T> {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value {
            None => Some(Self::new()),
            Some(Value::List(items)) => items
                .iter()
                .map(|item| T::read(Some(&item.value)))
                .collect(),
            Some(_) => None,
        }
    }
}

macro_rules! read {
    ($($type:ty: $($pattern:pat => $value:expr),+;)+) => {
        $(impl Read for $type {
            fn read(value: Option<&Value>) -> Option<Self> {
                match value? {
                    $($pattern => $value,)+
                    _ => None,
                }
            }
        })+
    };
}

read! {
    bool: Value::Flag(flag) => Some(*flag);
    f64: Value::Number(number) => Some(*number),
        Value::Quantity(Quantity::Packets(number)) => Some(*number);
    u64: Value::Whole(whole) => u64::try_from(*whole).ok(),
        Value::Quantity(Quantity::Bytes(bytes)) => Some(bytes.0);
    u32: Value::Whole(whole) => u32::try_from(*whole).ok(),
        Value::Quantity(Quantity::Bytes(bytes)) => u32::try_from(bytes.0).ok();
    u8: Value::Whole(whole) => u8::try_from(*whole).ok();
    String: Value::Text(text) => Some(text.clone());
    Span: Value::Quantity(Quantity::Span(span)) => Some(*span);
    Time: Value::Quantity(Quantity::Span(span)) => Some(Time::ZERO + *span);
    Rate: Value::Quantity(Quantity::Rate(rate)) => Some(*rate);
    Bytes: Value::Quantity(Quantity::Bytes(bytes)) => Some(*bytes);
    Quantity: Value::Quantity(quantity) => Some(*quantity);
    Profile: Value::Text(name) => Self::find(name);
    Table: Value::Table(table) => Some(table.clone());
}
