//! A key: its declaration, and its allowed values. A value can be a table, which has keys itself.

use std::fmt;

use longhaul_units::Dimension;

use crate::{Profile, Range};

/// Dimension of a time.
pub const TIME: &[Dimension] = &[Dimension::Time];
/// Dimension of a rate.
pub const RATE: &[Dimension] = &[Dimension::Rate];
/// Dimension of a size in bytes.
pub const SIZE: &[Dimension] = &[Dimension::Size];
/// Allowed values of a key: a probability.
pub const PROBABILITY: Kind = Kind::Number(Range::closed(0.0, 1.0));
/// Maximum count of segments, packets or bytes. A larger number is refused as a mistake.
pub const COUNT_MAX: i64 = 1_000_000_000_000;

/// Declaration of a key of a scenario's table, of an algorithm, or of a queue discipline.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name in scenario files.
    pub name: &'static str,
    /// Allowed values.
    pub kind: Kind,
    /// Unit of a number; empty if `kind` determines the unit, or the number has none.
    pub unit: &'static str,
    /// Default if the key has no value.
    pub default: DefaultText,
    /// Meaning of the key, for help texts.
    pub help: &'static str,
    /// Source of the key and its default: an RFC, a paper, or names in other implementations.
    pub source: &'static str,
}

/// Default of a key, as text that may follow `--set KEY=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultText {
    /// There is no default: a scenario without the key is refused.
    Required,
    /// The declaration has no default. Without the key, a feature is switched off, or other code
    /// chooses or demands a value.
    None,
    /// A default that is the same in every profile.
    Fixed(&'static str),
    /// A default for each profile, in the order of [`Profile::ALL`]; `None` for a profile without a
    /// default.
    ByProfile([Option<&'static str>; 4]),
    /// The default is computed from other values; the text describes the rule.
    Derived(&'static str),
}

impl fmt::Display for DefaultText {
    /// Writes the default for help texts; with the names of profiles, if it depends on the profile.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = match self {
            Self::Required => return f.write_str("required"),
            Self::None => return Ok(()),
            Self::Fixed(text) | Self::Derived(text) => return f.write_str(text),
            Self::ByProfile(texts) => texts,
        };
        let names = |text: &Option<&str>| {
            let with = texts.iter().zip(Profile::NAMES);
            let with = with.filter(|(other, _)| *other == text);
            with.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
        };
        let mut first = true;
        for (index, text) in texts.iter().enumerate() {
            if texts[..index].contains(text) {
                continue;
            }
            let comma = if first { "" } else { ", " };
            write!(f, "{comma}{} ({})", text.unwrap_or("none"), names(text))?;
            first = false;
        }
        Ok(())
    }
}

/// Allowed values of a key.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// Printable text, possibly of several lines.
    Text,
    /// One line of printable text of at most [`NAME_MAX`](crate::NAME_MAX) characters.
    Name,
    /// A whole number.
    Whole {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// A number, written without a unit. The key's `unit` may name one.
    Number(Range),
    /// A quantity greater than 0, with a unit of one of these dimensions.
    Positive(&'static [Dimension]),
    /// A quantity of at least 0, with a unit of one of these dimensions.
    Quantity(&'static [Dimension]),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of entries of this kind.
    List(&'static Kind),
    /// A table with these keys.
    Table(&'static [Key]),
    /// A table with keys that depend on its key `kind`: names of kinds, each with its keys.
    Tagged(&'static [(&'static str, &'static [Key])]),
    /// A congestion control algorithm with its parameters, from the registry of the congestion crate.
    Congestion,
    /// A slow start with its parameters, from the registry of the congestion crate.
    SlowStart,
    /// Any of these kinds. If they include a flag and a table, `true` means the table with its
    /// defaults.
    OneOf(&'static [Kind]),
}

/// Returns a key that may be left out, without a default.
pub const fn key(name: &'static str, kind: Kind, help: &'static str) -> Key {
    Key {
        name,
        kind,
        unit: "",
        default: DefaultText::None,
        help,
        source: "",
    }
}

/// Returns a key that is required: a scenario without it is refused.
pub const fn required(name: &'static str, kind: Kind, help: &'static str) -> Key {
    key(name, kind, help).required()
}

impl Kind {
    /// Returns a key of this kind. [`keys!`](crate::keys!) sets its name and help from the struct's
    /// field.
    pub const fn key(self) -> Key {
        key("", self, "")
    }
}

impl Key {
    /// Makes the key required: a scenario without it is refused.
    pub const fn required(mut self) -> Self {
        self.default = DefaultText::Required;
        self
    }

    /// Sets the default in all profiles. It replaces all defaults set before.
    pub const fn default(mut self, text: &'static str) -> Self {
        self.default = DefaultText::Fixed(text);
        self
    }

    /// Sets the default in one profile. The other profiles keep defaults set before. A requirement
    /// or a rule of derivation that was set before is lost.
    pub const fn in_profile(mut self, profile: Profile, text: &'static str) -> Self {
        let mut texts = match self.default {
            DefaultText::ByProfile(texts) => texts,
            DefaultText::Fixed(text) => [Some(text); 4],
            _ => [None; 4],
        };
        texts[profile as usize] = Some(text);
        self.default = DefaultText::ByProfile(texts);
        self
    }

    /// Sets the default in both ns-2 profiles, as [`Self::in_profile`] does for one.
    pub const fn in_ns2(self, text: &'static str) -> Self {
        self.in_profile(Profile::Ns2_35, text)
            .in_profile(Profile::Ns2_2003, text)
    }

    /// Declares that the default is computed from other values; `rule` describes the computation
    /// for help texts.
    pub const fn derived(mut self, rule: &'static str) -> Self {
        self.default = DefaultText::Derived(rule);
        self
    }

    /// Sets the unit of a number.
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// Sets the text that names the source of the key and of its default value, such as an RFC.
    pub const fn source(mut self, source: &'static str) -> Self {
        self.source = source;
        self
    }

    /// Sets the name and the help text of the key, for [`keys!`](crate::keys!).
    pub const fn named(mut self, name: &'static str, help: &'static str) -> Self {
        self.name = name;
        self.help = help.trim_ascii();
        self
    }

    /// Returns true if a scenario without the key is refused.
    pub const fn is_required(&self) -> bool {
        matches!(self.default, DefaultText::Required)
    }

    /// Returns the text of the key's default in `profile`; `None` if there is none, or if it is
    /// computed from other values.
    pub const fn default_in(&self, profile: Profile) -> Option<&'static str> {
        match self.default {
            DefaultText::Fixed(text) => Some(text),
            DefaultText::ByProfile(texts) => texts[profile as usize],
            DefaultText::Required | DefaultText::None | DefaultText::Derived(_) => None,
        }
    }
}

/// Returns the number of keys in all lists together.
pub const fn count(lists: &[&[Key]]) -> usize {
    let (mut count, mut list) = (0, 0);
    while list < lists.len() {
        count += lists[list].len();
        list += 1;
    }
    count
}

/// Returns the keys of all lists as one array. `N` must be the number of these keys, as returned by [`count`].
pub const fn joined<const N: usize>(lists: &[&[Key]]) -> [Key; N] {
    let mut all = [key("", Kind::Flag, ""); N];
    let (mut index, mut list) = (0, 0);
    while list < lists.len() {
        let mut place = 0;
        while place < lists[list].len() {
            all[index] = lists[list][place];
            index += 1;
            place += 1;
        }
        list += 1;
    }
    assert!(index == N);
    all
}
