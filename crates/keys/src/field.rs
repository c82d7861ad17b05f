//! Keys by which code reaches the values of a table.

use std::fmt;
use std::marker::PhantomData;

/// A declared key, whose value is read as `T`. [`keys!`](crate::keys!) makes one for each key that it declares, with
/// the name of the struct's field.
pub struct Field<T> {
    name: &'static str,
    of: PhantomData<fn() -> T>,
}

/// Kind of a table, for tables that may be of several kinds with different keys.
pub const KIND: Field<String> = Field::new("kind");

impl<T> Field<T> {
    /// Returns the key of this name.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            of: PhantomData,
        }
    }

    /// Returns its name in scenario files.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Returns the same key, read as another type: until its value in words or in other units is made explicit.
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
