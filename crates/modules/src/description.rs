//! Description of a module: its name, its parameters, and its needs.

use std::fmt;

use longhaul_units::suggestion;

use crate::interface::Traits;

/// The value of a module's parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A boolean.
    Flag(bool),
    /// A whole number.
    Whole(i128),
    /// A fractional number, which no parameter accepts.
    Real(f64),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Real(number) => write!(f, "{number}"),
        }
    }
}

/// The C type of a parameter: name, size and limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    name: &'static str,
    pub(crate) bytes: usize,
    signed: bool,
}

/// Names of the supported types of `module_param`, each with true if it is signed. Text parameters
/// (`charp`) are left out: they cannot be set, and keep their defaults.
const KINDS: [(&str, bool); 9] = [
    ("bool", false),
    ("byte", false),
    ("short", true),
    ("ushort", false),
    ("int", true),
    ("uint", false),
    ("long", true),
    ("ulong", false),
    ("ullong", false),
];

impl Kind {
    pub(crate) fn named(name: &str, bytes: usize) -> Option<Self> {
        let (name, signed) = *KINDS.iter().find(|(known, _)| *known == name)?;
        (bytes <= 8).then_some(Self {
            name,
            bytes,
            signed,
        })
    }

    fn is_flag(self) -> bool {
        self.name == "bool"
    }

    fn range(self) -> (i128, i128) {
        let bits = 8 * self.bytes as u32;
        if self.is_flag() {
            (0, 1)
        } else if self.signed {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        }
    }

    /// Returns the value that `bytes` of this type represent.
    pub(crate) fn value(self, bytes: [u8; 8]) -> Value {
        if self.is_flag() {
            return Value::Flag(bytes[0] != 0);
        }
        let number = i128::from(u64::from_ne_bytes(bytes));
        let beyond = 1 << (8 * self.bytes as u32);
        let negative = self.signed && number > self.range().1;
        Value::Whole(if negative { number - beyond } else { number })
    }

    /// Returns `value` as bytes of this type, of which the caller uses the first [`Self::bytes`]
    /// (little-endian). The error is a message with the allowed values.
    pub(crate) fn bytes_of(self, value: &Value) -> Result<[u8; 8], String> {
        let (min, max) = self.range();
        let number = match *value {
            Value::Flag(flag) if self.is_flag() => i128::from(flag),
            Value::Whole(number) if (min..=max).contains(&number) => number,
            _ if self.is_flag() => return Err("true or false".to_string()),
            _ => {
                let name = self.name;
                return Err(format!("a whole number from {min} to {max} ({name})"));
            }
        };
        // In two's complement, a prefix of the bytes is the number in a shorter type.
        Ok((number as u64).to_ne_bytes())
    }
}

/// A parameter of a module, as `module_param` declares it.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name of the parameter in scenario files.
    pub name: String,
    /// Default value.
    pub default: Value,
    pub(crate) kind: Kind,
}

impl Parameter {
    /// Returns the name of the parameter's type in `module_param`.
    pub fn type_name(&self) -> &'static str {
        self.kind.name
    }
}

/// Description of a module, which is read from its object file.
#[derive(Clone, Debug)]
pub struct Description {
    /// Name of the module's registration.
    pub name: String,
    /// Parameters, in the order of the source file.
    pub parameters: Vec<Parameter>,
    /// Clock ticks per second assumed by the compiled module.
    pub hz: u32,
    pub(crate) traits: Traits,
}

impl Description {
    /// Returns the names of the module's hooks, without those that every module has and rare ones
    /// (`Traits::HOOKS` lists the others).
    pub fn hooks(&self) -> Vec<&'static str> {
        let all = Traits::HOOKS.iter();
        all.filter(|(bit, _)| self.traits.has(*bit))
            .map(|(_, name)| *name)
            .collect()
    }

    /// Returns the names of the transport's properties that the module needs.
    pub fn needs(&self) -> Vec<&'static str> {
        let all = [
            (Traits::CONG_CONTROL, "delivery rates"),
            (Traits::CONG_CONTROL, "pacing"),
            (Traits::NEEDS_ECN, "ECN"),
            (Traits::NEEDS_L4S, "L4S"),
        ];
        all.into_iter()
            .filter(|(bit, _)| self.traits.has(*bit))
            .map(|(_, name)| name)
            .collect()
    }
}

/// Returns the message about a parameter `name` that the module does not have.
pub(crate) fn unknown<'a>(
    name: &str,
    known: impl Iterator<Item = &'a Parameter> + Clone,
) -> String {
    let names: Vec<&str> = known.map(|parameter| parameter.name.as_str()).collect();
    if names.is_empty() {
        return format!("unknown parameter `{name}`; it has none");
    }
    let end = suggestion(name, &names, None);
    format!("unknown parameter `{name}`{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_into_their_types_and_come_back() {
        let kind = |name, bytes| Kind::named(name, bytes).unwrap();
        for (name, bytes, number) in [
            ("int", 4, -7),
            ("int", 4, i128::from(i32::MIN)),
            ("uint", 4, i128::from(u32::MAX)),
            ("byte", 1, 255),
            ("short", 2, -32_768),
            ("ulong", 8, i128::from(u64::MAX)),
            ("long", 8, i128::from(i64::MIN)),
        ] {
            let kind = kind(name, bytes);
            let mut held = kind.bytes_of(&Value::Whole(number)).unwrap();
            // Bytes after a short variable do not belong to it.
            held[bytes..].fill(0);
            assert_eq!(kind.value(held), Value::Whole(number), "{name}");
        }
        let flag = kind("bool", 1);
        assert_eq!(
            flag.value(flag.bytes_of(&Value::Flag(true)).unwrap()),
            Value::Flag(true)
        );
    }

    #[test]
    fn a_value_that_the_type_does_not_hold_is_refused_with_what_is_allowed() {
        let int = Kind::named("int", 4).unwrap();
        let allowed = "a whole number from -2147483648 to 2147483647 (int)";
        for value in [Value::Whole(1 << 31), Value::Real(0.5), Value::Flag(true)] {
            assert_eq!(int.bytes_of(&value), Err(allowed.to_string()));
        }
        let flag = Kind::named("bool", 1).unwrap();
        assert_eq!(
            flag.bytes_of(&Value::Whole(2)),
            Err("true or false".to_string())
        );
        assert!(Kind::named("charp", 8).is_none());
    }
}
