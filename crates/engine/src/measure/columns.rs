//! Counters of a period, as records ([`longhaul_kernel::record`]) that can be added and subtracted.

use longhaul_units::Span;

use crate::config::Work;

/// A type of counter. `sum` adds two counts of one period; `since` subtracts an earlier count from a later one.
pub(crate) trait Counter: Copy {
    fn sum(self, other: Self) -> Self;
    fn since(self, before: Self) -> Self;
}

macro_rules! plain_counters {
    ($($number:ty),*) => {$(
        impl Counter for $number {
            fn sum(self, other: Self) -> Self {
                self + other
            }

            fn since(self, before: Self) -> Self {
                self - before
            }
        }
    )*};
}

plain_counters!(u64, u128, f64);

impl Counter for Work {
    fn sum(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    fn since(self, before: Self) -> Self {
        Self::since(self, before)
    }
}

impl Counter for Span {
    fn sum(self, other: Self) -> Self {
        self + other
    }

    fn since(self, before: Self) -> Self {
        self.saturating_sub(before)
    }
}

/// Returns the smaller of two values. A value of zero means that there is no value.
pub(crate) fn smaller<T: Default + Ord + Copy>(one: T, other: T) -> T {
    if one == T::default() || other == T::default() {
        one.max(other)
    } else {
        one.min(other)
    }
}

/// Declares a record of counters. Each counter is a sum, a minimum or a maximum over a period of the run.
macro_rules! counters {
    (
        $(#[$attribute:meta])*
        pub struct $record:ident {
            $($(#[doc = $doc:literal])+ $op:ident $field:ident: $type:ty $(as $column:literal)?,)*
        }
        $(columns { $($columns:tt)* })?
    ) => {
        longhaul_kernel::record! {
            $(#[$attribute])*
            pub struct $record {
                $($(#[doc = $doc])+ $field: $type $(as $column)?,)*
            }
            $(columns { $($columns)* })?
        }

        impl $record {
            /// Adds the counters `other` of the same period, for example of another link.
            pub(crate) fn add(&mut self, other: &Self) {
                $(self.$field = $crate::measure::columns::counters!(@add $op self.$field, other.$field);)*
            }

            /// Returns the counters of a period that began with the counters `before` and ended with `self`. Minima and
            /// maxima are those of `self`.
            pub(crate) fn since(&self, before: &Self) -> Self {
                Self {
                    $($field: $crate::measure::columns::counters!(@since $op self.$field, before.$field),)*
                }
            }
        }

        impl $crate::measure::columns::Counter for $record {
            fn sum(mut self, other: Self) -> Self {
                self.add(&other);
                self
            }

            fn since(self, before: Self) -> Self {
                Self::since(&self, &before)
            }
        }
    };
    (@add sum $one:expr, $other:expr) => { $crate::measure::columns::Counter::sum($one, $other) };
    (@add min $one:expr, $other:expr) => { $crate::measure::columns::smaller($one, $other) };
    (@add max $one:expr, $other:expr) => { $one.max($other) };
    (@since sum $end:expr, $before:expr) => { $crate::measure::columns::Counter::since($end, $before) };
    (@since min $end:expr, $before:expr) => { $end };
    (@since max $end:expr, $before:expr) => { $end };
}

pub(crate) use counters;
