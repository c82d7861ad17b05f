//! Typed keys: code accesses the values of a table with them.

use std::fmt;
use std::marker::PhantomData;

/// A declared key; `T` is the type of its value. [`keys!`](crate::keys!) makes a constant of this type for each key
/// that it declares, with the field's name in the declaration.
pub struct Field<T> {
    name: &'static str,
    of: PhantomData<fn() -> T>,
}

/// The key that selects the kind of a table, if the table's other keys depend on it.
pub const KIND: Field<String> = Field::new("kind");

impl<T> Field<T> {
    /// Returns the key with this name.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            of: PhantomData,
        }
    }

    /// Returns the key's name in scenario files.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Returns the key with `U` as the type of its value. A value that is not resolved yet may have another type than
    /// `T`: it may be a word such as `auto`, or a quantity in another unit.
    pub const fn seen_as<U>(self) -> Field<U> {
        Field::new(self.name)
    }
}

impl<T> Clone for Field<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Field<T> {}

impl<T> fmt::Debug for Field<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<T> fmt::Display for Field<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name)
    }
}
