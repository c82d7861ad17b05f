//! Macros that declare structs together with their keys and readers.

/// Declares the keys of a table. The macro makes a struct with a field for each key, the list
/// `KEYS` of the declared [`Key`](crate::Key)s, and the function `of`, which reads the struct from a
/// [`Table`](crate::Table). The struct implements [`Read`](crate::Read), unless it has the block
/// `beside`. Each key except those of `flattened` also gets a constant: the [`Field`](crate::Field)
/// with which code accesses the key in a table. `as` does not change the name of the constant.
///
/// A field has the name of its key, unless `as` gives the key another name; its documentation is
/// the key's help. A value is read as the field's type after defaults have been filled in and
/// derived.
///
/// Four more blocks may follow, in this order:
///
/// - `flattened` declares fields whose types have keys, as structs of this macro do. The keys of such a
///   type become keys of the table.
/// - `apart` declares keys without a field, because other code resolves their values.
/// - `beside` declares fields without a key. Their values are additional arguments of `of`.
/// - `initially` declares fields without a key, with their initial values.
///
/// ```
/// longhaul_keys::keys! {
///     /// CoDel (RFC 8289).
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub struct CoDelParameters {
///         /// Queueing delay to keep.
///         pub target: Span = Kind::Positive(TIME).key().default("5 ms").source("RFC 8289 section 4.4"),
///         /// True to mark ECN-capable packets instead of dropping them.
///         pub ecn: bool = Kind::Flag.key().default("false").in_profile(Profile::Ns2_2003, "true"),
///     }
/// }
/// let keys: &[Key] = CoDelParameters::KEYS;
/// let table = Table::defaults(keys, Profile::Rfc);
/// let parameters = CoDelParameters::of(&table);
/// let target: Span = table.read(CoDelParameters::target);
/// ```
#[macro_export]
macro_rules! keys {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $struct:ident {
            $(
                $(#[doc = $help:literal])+
                $of_field:vis $field:ident $(as $name:literal)?: $type:ty = $key:expr
            ),* $(,)?
        }
        $(flattened {
            $($(#[$about:meta])+ $of_part:vis $part:ident: $keys:ty),* $(,)?
        })?
        $(apart {
            $(
                $(#[doc = $part_help:literal])+
                $of_apart:vis $apart:ident $(as $apart_name:literal)?: $apart_type:ty = $apart_key:expr
            ),* $(,)?
        })?
        $(beside {
            $($(#[$note:meta])+ $of_other:vis $other:ident: $given:ty),* $(,)?
        })?
        $(initially {
            $($(#[$remark:meta])+ $of_set:vis $set:ident: $set_type:ty = $initial:expr),* $(,)?
        })?
    ) => {
        $(#[$meta])*
        $visibility struct $struct {
            $($(#[doc = $help])+ $of_field $field: $type,)*
            $($($(#[$about])+ $of_part $part: $keys,)*)?
            $($($(#[$note])+ $of_other $other: $given,)*)?
            $($($(#[$remark])+ $of_set $set: $set_type,)*)?
        }

        #[allow(non_upper_case_globals, dead_code)]
        impl $struct {
            $(
                $(#[doc = $help])+
                $of_field const $field: $crate::Field<$type> =
                    $crate::Field::new($crate::__name!($field $($name)?));
            )*
            $($(
                $(#[doc = $part_help])+
                $of_apart const $apart: $crate::Field<$apart_type> =
                    $crate::Field::new($crate::__name!($apart $($apart_name)?));
            )*)?
        }

        impl $struct {
            /// Declarations of the keys.
            pub const KEYS: &'static [$crate::Key] = {
                const OWN: &[$crate::Key] = &[
                    $($crate::Key::named(
                        $key,
                        $crate::__name!($field $($name)?),
                        concat!($($help),+),
                    )),*
                ];
                const APART: &[$crate::Key] = &[
                    $($($crate::Key::named(
                        $apart_key,
                        $crate::__name!($apart $($apart_name)?),
                        concat!($($part_help),+),
                    )),*)?
                ];
                $crate::together!(OWN, $($(<$keys>::KEYS,)*)? APART)
            };

            /// Reads the struct from a checked table.
            pub fn of(#[allow(unused_variables)] table: &$crate::Table $($(, $other: $given)*)?) -> Self {
                Self {
                    $($field: table.read(Self::$field),)*
                    $($($part: <$keys>::of(table),)*)?
                    $($($other,)*)?
                    $($($set: $initial,)*)?
                }
            }
        }

        $crate::__read!($struct $($($other)*)?);
    };
}

/// Joins the keys of several lists into one list.
#[macro_export]
macro_rules! together {
    ($($keys:expr),+ $(,)?) => {{
        const LISTS: &[&[$crate::Key]] = &[$($keys),+];
        &$crate::joined::<{ $crate::count(LISTS) }>(LISTS)
    }};
}

/// Declares the allowed words of a key: an enum with a variant for each word, `WORDS`, and
/// [`Read`](crate::Read).
///
/// ```
/// longhaul_keys::words! {
///     /// Packets that count towards the limit of a queue.
///     #[derive(Clone, Copy, Debug, PartialEq, Eq)]
///     pub enum Counting {
///         /// Packets that wait.
///         Waiting = "waiting",
///         /// Packets that wait, and the packet in service, as in ns-2.
///         InService = "in-service",
///     }
/// }
/// const KIND: Kind = Kind::Word(Counting::WORDS);
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $enum:ident {
            $($(#[$help:meta])+ $variant:ident = $word:literal),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $visibility enum $enum {
            $($(#[$help])+ $variant),*
        }

        impl $enum {
            /// The words, as they are written in scenario files.
            pub const WORDS: &'static [&'static str] = &[$($word),*];
        }

        impl $crate::Read for $enum {
            fn read(value: Option<&$crate::Value>) -> Option<Self> {
                match value {
                    $(Some($crate::Value::Text(word)) if word == $word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

/// Declares a table with keys that depend on its key `kind`: an enum with a variant for each kind,
/// `KINDS`, and [`Read`](crate::Read).
///
/// ```
/// longhaul_keys::tagged! {
///     /// Behaviour of an application.
///     pub enum Application {
///         /// Bursts and pauses.
///         OnOff(OnOffKeys) = "on-off",
///     }
/// }
/// const KIND: Kind = Kind::Tagged(Application::KINDS);
/// ```
#[macro_export]
macro_rules! tagged {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $enum:ident {
            $($(#[$help:meta])+ $variant:ident($keys:ty) = $kind:literal),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $visibility enum $enum {
            $($(#[$help])+ $variant($keys)),*
        }

        impl $enum {
            /// Kinds of the table, each with its name in scenario files and its keys.
            pub const KINDS: &'static [(&'static str, &'static [$crate::Key])] =
                &[$(($kind, <$keys>::KEYS)),*];
        }

        impl $crate::Read for $enum {
            fn read(value: Option<&$crate::Value>) -> Option<Self> {
                let Some($crate::Value::Table(table)) = value else {
                    return None;
                };
                match table.word($crate::KIND) {
                    $($kind => Some(Self::$variant(<$keys>::of(table))),)*
                    _ => None,
                }
            }
        }
    };
}

/// Implements [`Read`](crate::Read) for a struct that is read from one table. Expands to nothing if
/// the struct has fields of the block `beside`.
#[doc(hidden)]
#[macro_export]
macro_rules! __read {
    ($struct:ident) => {
        impl $crate::Read for $struct {
            fn read(value: Option<&$crate::Value>) -> Option<Self> {
                match value {
                    Some($crate::Value::Table(table)) => Some(Self::of(table)),
                    _ => None,
                }
            }
        }
    };
    ($struct:ident $($other:ident)+) => {};
}

/// Expands to the name of a field's key.
#[doc(hidden)]
#[macro_export]
macro_rules! __name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}

#[cfg(test)]
mod tests {
    use longhaul_units::{Quantity, Span};

    use crate::{COUNT_MAX, DefaultText, Kind, Node, Origin, Profile, SIZE, TIME, Table, Value};

    words! {
        /// Packets that count towards the limit of a queue.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Counting {
            /// Packets that wait.
            Waiting = "waiting",
            /// Packets that wait, and the packet in service.
            InService = "in-service",
        }
    }

    keys! {
        /// A timer.
        #[derive(Clone, Copy, Debug, PartialEq)]
        struct Timer {
            /// Lower
            /// bound.
            min: Span = Kind::Positive(TIME).key().default("1 s").in_ns2("200 ms"),
            /// Length of a tick.
            clock as "tick": Option<Span> = Kind::Positive(TIME).key().in_ns2("10 ms"),
        }
    }

    keys! {
        /// A table.
        #[derive(Clone, Debug, PartialEq)]
        struct Options {
            /// Packets that the limit counts.
            counting: Counting = Kind::Word(Counting::WORDS).key().default("waiting"),
            /// Window in packets; `None` for `auto`.
            window: Option<u64> = Kind::OneOf(&[
                Kind::Word(&["auto"]),
                Kind::Whole { min: 1, max: COUNT_MAX },
                Kind::Positive(SIZE),
            ]).key().default("auto").in_profile(Profile::Linux, "7"),
            /// Retransmission timer.
            timer: Timer = Kind::OneOf(&[Kind::Flag, Kind::Table(Timer::KEYS)]).key()
                .default("{ min = 3 s }").in_ns2("true"),
            /// Times.
            times: Vec<Span> = Kind::List(&Kind::Quantity(TIME)).key().default("[]"),
        }
    }

    #[test]
    fn a_declaration_names_its_keys_and_explains_them() {
        let [min, tick] = Timer::KEYS else {
            panic!("two fields are two keys")
        };
        assert_eq!((min.name, min.help), ("min", "Lower bound."));
        assert_eq!((tick.name, tick.help), ("tick", "Length of a tick."));
        let own = [None, None, Some("10 ms"), Some("10 ms")];
        assert_eq!(tick.default, DefaultText::ByProfile(own));
        let words = [min, tick].map(|key| key.default.to_string());
        assert_eq!(words[0], "1 s (rfc, linux), 200 ms (ns2-2.35, ns2-2003)");
        assert_eq!(words[1], "none (rfc, linux), 10 ms (ns2-2.35, ns2-2003)");
    }

    #[test]
    fn defaults_are_those_of_the_profile() {
        let timer = |profile| Timer::of(&Table::defaults(Timer::KEYS, profile));
        let (min, clock) = (Span::from_secs(1), None);
        assert_eq!(timer(Profile::Linux), Timer { min, clock });
        let (min, clock) = (Span::from_millis(200), Some(Span::from_millis(10)));
        assert_eq!(timer(Profile::Ns2_35), Timer { min, clock });
    }

    #[test]
    fn values_are_read_as_the_types_of_the_fields() {
        let values = Table::defaults(Options::KEYS, Profile::Rfc);
        let options = Options::of(&values);
        let (min, clock) = (Span::from_secs(3), None);
        let expected = Options {
            counting: Counting::Waiting,
            window: None,
            timer: Timer { min, clock },
            times: Vec::new(),
        };
        assert_eq!(options, expected);
        let times = vec![Node::new(
            Value::Quantity(Quantity::Span(min)),
            Origin::Default,
        )];
        let values = values
            .with(Options::counting, Value::text("in-service"))
            .with(Options::times, Value::List(times));
        let options = Options::of(&values);
        assert_eq!(
            (options.counting, options.times),
            (Counting::InService, vec![min])
        );
        let linux = Options::of(&Table::defaults(Options::KEYS, Profile::Linux));
        assert_eq!(linux.window, Some(7));
        let ns2 = Options::of(&Table::defaults(Options::KEYS, Profile::Ns2_35)).timer;
        let (min, clock) = (Span::from_millis(200), Some(Span::from_millis(10)));
        assert_eq!(ns2, Timer { min, clock });
    }

    #[test]
    fn a_default_outside_of_what_its_key_allows_is_none() {
        let kinds = [
            (Kind::Whole { min: 1, max: 3 }, "4"),
            (Kind::Word(&["a"]), "b"),
            (Kind::Positive(TIME), "5 B"),
            (Kind::Table(Timer::KEYS), "{ max = 1 s }"),
        ];
        for (kind, text) in kinds {
            assert_eq!(kind.parse(text), None, "{text}");
        }
    }
}
