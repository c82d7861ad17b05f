//! Quantities as people write them: a decimal number and a unit, such as `"622 Mbps"`, `"50 ms"` or
//! `"64 KiB"`.
//!
//! Parsing uses exact decimal arithmetic, and printing loses no digits: a printed text of at most 30
//! digits parses to the same value. Prefixes are decimal (SI); `KiB`, `MiB` and `GiB` are binary
//! (IEC 80000-13).

use std::fmt;

use crate::{Bytes, Rate, Span};

/// A quantity with its unit, as written in a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A length of time.
    Span(Span),
    /// A transmission rate.
    Rate(Rate),
    /// A number of bytes.
    Bytes(Bytes),
    /// A number of packets. It may be a fraction, as in averages and thresholds.
    Packets(f64),
    /// A multiple of the bandwidth-delay product.
    Bdp(f64),
}

/// Dimension of a quantity, which determines its units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Time, stored in picoseconds.
    Time,
    /// Rate, stored in bits per second.
    Rate,
    /// Size, stored in bytes.
    Size,
    /// Number of packets.
    Packets,
    /// Multiple of the bandwidth-delay product.
    Bdp,
}

/// Reason why a text is not an allowed quantity. The message gives a valid example.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// The text does not begin with a decimal number of at most 30 digits.
    #[error("expected {expected}, found {found:?}, which does not begin with a number")]
    NotANumber {
        /// The rejected text.
        found: String,
        /// The allowed quantities.
        expected: String,
    },
    /// A number without a unit.
    #[error("the unit is missing after {found:?}; expected {expected}")]
    MissingUnit {
        /// The rejected text.
        found: String,
        /// The allowed quantities.
        expected: String,
    },
    /// An unknown unit, or one of another dimension.
    #[error("{unit:?} is not a unit of {dimension}{hint}; expected {expected}")]
    WrongUnit {
        /// The rejected unit.
        unit: String,
        /// The dimension that is expected.
        dimension: String,
        /// Part of the message: a similar allowed unit, or the dimension of the rejected unit; may be empty.
        hint: String,
        /// The allowed quantities.
        expected: String,
    },
    /// A negative quantity.
    #[error("{found:?} is negative; expected {expected}")]
    Negative {
        /// The rejected text.
        found: String,
        /// The allowed quantities.
        expected: String,
    },
    /// A fraction of a byte.
    #[error("{found:?} is not a whole number of bytes")]
    Fraction {
        /// The rejected text.
        found: String,
    },
    /// A value that does not fit into 64 bits, or whose digits are too many for the conversion.
    #[error("{found:?} is too large")]
    TooLarge {
        /// The rejected text.
        found: String,
    },
}

/// A unit: its name, and its value in the base unit of its dimension. In the list of a dimension,
/// units for printing come first, from large to small.
struct Unit {
    name: &'static str,
    value: u64,
    printed: bool,
}

const fn unit(name: &'static str, value: u64) -> Unit {
    Unit {
        name,
        value,
        printed: true,
    }
}

const fn alias(name: &'static str, value: u64) -> Unit {
    Unit {
        name,
        value,
        printed: false,
    }
}

const K: u64 = 1000;
const M: u64 = K * K;
const G: u64 = K * M;
const T: u64 = K * G;

const TIME: &[Unit] = &[
    unit("s", T),
    unit("ms", G),
    unit("us", M),
    unit("ns", K),
    unit("ps", 1),
    alias("µs", M),
    alias("min", 60 * T),
    alias("h", 3600 * T),
];
const RATE: &[Unit] = &[
    unit("Tbps", T),
    unit("Gbps", G),
    unit("Mbps", M),
    unit("kbps", K),
    unit("bps", 1),
    alias("Tbit/s", T),
    alias("Gbit/s", G),
    alias("Mbit/s", M),
    alias("kbit/s", K),
    alias("bit/s", 1),
];
const SIZE: &[Unit] = &[
    unit("GiB", 1 << 30),
    unit("GB", G),
    unit("MiB", 1 << 20),
    unit("MB", M),
    unit("KiB", 1 << 10),
    unit("kB", K),
    unit("B", 1),
    alias("KB", K),
];
const PACKETS: &[Unit] = &[
    unit("packets", 1),
    alias("packet", 1),
    alias("pkts", 1),
    alias("pkt", 1),
    alias("segments", 1),
    alias("segment", 1),
];
const BDP: &[Unit] = &[unit("BDP", 1)];

impl Dimension {
    const ALL: [Self; 5] = [Self::Time, Self::Rate, Self::Size, Self::Packets, Self::Bdp];

    fn units(self) -> &'static [Unit] {
        match self {
            Self::Time => TIME,
            Self::Rate => RATE,
            Self::Size => SIZE,
            Self::Packets => PACKETS,
            Self::Bdp => BDP,
        }
    }

    fn unit(self, name: &str) -> Option<&'static Unit> {
        self.units().iter().find(|unit| unit.name == name)
    }

    /// Returns all names of the dimension's units.
    pub fn unit_names(self) -> impl Iterator<Item = &'static str> {
        self.units().iter().map(|unit| unit.name)
    }

    /// Returns an example quantity of this dimension.
    pub const fn example(self) -> &'static str {
        match self {
            Self::Time => "50 ms",
            Self::Rate => "1 Gbps",
            Self::Size => "64 KiB",
            Self::Packets => "7000 packets",
            Self::Bdp => "1 BDP",
        }
    }

    /// Returns the dimension with an example, for messages, such as `a time such as "50 ms"`.
    pub fn described(self) -> String {
        let article = match self {
            Self::Packets => "a number of",
            _ => "a",
        };
        format!("{article} {self} such as {:?}", self.example())
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Time => "time",
            Self::Rate => "rate",
            Self::Size => "size",
            Self::Packets => "packets",
            Self::Bdp => "bandwidth-delay product",
        })
    }
}

/// Returns a description of quantities of the dimensions `allowed`, for messages.
pub fn expected(allowed: &[Dimension]) -> String {
    let forms: Vec<String> = allowed
        .iter()
        .map(|dimension| {
            let mut names: Vec<&str> = dimension.units().iter().map(|unit| unit.name).collect();
            if *dimension == Dimension::Packets {
                names.truncate(1);
            }
            format!("{} (units: {})", dimension.described(), names.join(", "))
        })
        .collect();
    forms.join(" or ")
}

impl Quantity {
    /// Parses a quantity of one of the `allowed` dimensions. Times are rounded to picoseconds, and
    /// rates to bits per second; a fraction of a byte is an error.
    pub fn parse(text: &str, allowed: &[Dimension]) -> Result<Self, QuantityError> {
        let found = || text.to_string();
        let (number, name) = split(text.trim());
        let Some(number) = Decimal::parse(number) else {
            return Err(QuantityError::NotANumber {
                found: found(),
                expected: expected(allowed),
            });
        };
        if name.is_empty() {
            return Err(QuantityError::MissingUnit {
                found: found(),
                expected: expected(allowed),
            });
        }
        let known = allowed
            .iter()
            .find_map(|&dim| dim.unit(name).map(|unit| (dim, unit)));
        let Some((dimension, unit)) = known else {
            return Err(wrong_unit(name, allowed));
        };
        if number.negative {
            return Err(QuantityError::Negative {
                found: found(),
                expected: expected(allowed),
            });
        }
        let too_large = QuantityError::TooLarge { found: found() };
        let (value, exact) = match dimension {
            Dimension::Packets => return number.as_f64().map(Self::Packets).ok_or(too_large),
            Dimension::Bdp => return number.as_f64().map(Self::Bdp).ok_or(too_large),
            _ => number.times(unit.value).ok_or(too_large)?,
        };
        match dimension {
            Dimension::Size if !exact => Err(QuantityError::Fraction { found: found() }),
            Dimension::Time => Ok(Self::Span(Span::from_ps(value))),
            Dimension::Rate => Ok(Self::Rate(Rate::from_bps(value))),
            _ => Ok(Self::Bytes(Bytes(value))),
        }
    }
}

/// Splits a text into its number and its unit.
fn split(text: &str) -> (&str, &str) {
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.');
    let mut end = text.find(|c| !numeric(c)).unwrap_or(text.len());
    // An `e` is an exponent if digits follow it; no unit begins with an `e` and a digit.
    if let Some(exponent) = text[end..].strip_prefix(['e', 'E'])
        && exponent
            .trim_start_matches(['+', '-'])
            .starts_with(|c: char| c.is_ascii_digit())
    {
        let skip = end + 1;
        end = text[skip..]
            .find(|c| !numeric(c))
            .map_or(text.len(), |length| skip + length);
    }
    (&text[..end], text[end..].trim_start())
}

fn wrong_unit(name: &str, allowed: &[Dimension]) -> QuantityError {
    let candidates = allowed
        .iter()
        .flat_map(|dim| dim.units())
        .map(|unit| unit.name);
    let other = Dimension::ALL
        .into_iter()
        .find(|dim| dim.unit(name).is_some());
    let hint = match (
        other,
        candidates
            .into_iter()
            .find(|unit| unit.eq_ignore_ascii_case(name)),
    ) {
        (_, Some(near)) => format!(" (did you mean {near:?}?)"),
        (Some(dimension), None) => format!(" but of {dimension}"),
        (None, None) => String::new(),
    };
    let names: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    QuantityError::WrongUnit {
        unit: name.to_string(),
        dimension: names.join(" or "),
        hint,
        expected: expected(allowed),
    }
}

/// A decimal number: `digits * 10^exponent`.
struct Decimal {
    negative: bool,
    digits: u128,
    exponent: i32,
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse().ok()?),
            None => (text, 0),
        };
        let negative = mantissa.starts_with('-');
        let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let written: String = [whole, fraction].concat();
        let digits = written.trim_start_matches('0');
        if written.is_empty() || digits.len() > 30 || !written.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let exponent = i32::checked_sub(exponent, fraction.len() as i32)?;
        let digits = if digits.is_empty() {
            0
        } else {
            digits.parse().ok()?
        };
        Some(Self {
            negative,
            digits,
            exponent,
        })
    }

    /// Returns the number times `factor`, rounded to a whole number, and true if no rounding
    /// was needed; `None` if it does not fit into 64 bits, or an intermediate product not into 128.
    fn times(&self, factor: u64) -> Option<(u64, bool)> {
        let product = self.digits.checked_mul(u128::from(factor))?;
        let power = 10u128.checked_pow(self.exponent.unsigned_abs());
        if self.exponent >= 0 {
            let value = if product == 0 {
                0
            } else {
                product.checked_mul(power?)?
            };
            return Some((u64::try_from(value).ok()?, true));
        }
        // A power beyond 128 bits exceeds every product, so the value rounds to zero.
        let Some(power) = power else {
            return Some((0, product == 0));
        };
        let (quotient, remainder) = (product / power, product % power);
        let nearest = quotient + u128::from(remainder >= power.div_ceil(2));
        Some((u64::try_from(nearest).ok()?, remainder == 0))
    }

    /// Returns the nearest floating-point number; `None` if it is not finite.
    fn as_f64(&self) -> Option<f64> {
        // The standard library's parser rounds correctly; digits and exponent form a literal for
        // it.
        let literal = format!("{}e{}", self.digits, self.exponent);
        literal
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
    }
}

/// Prints `value` in the largest of the printed `units` that is not larger than it, with the decimals that it needs.
/// The values of these units must be powers of 10. A value of 0 is printed in the largest unit.
fn write_decimal(out: &mut fmt::Formatter<'_>, value: u64, units: &[Unit]) -> fmt::Result {
    let printed = || units.iter().filter(|unit| unit.printed);
    let zero_unit = printed().next();
    let unit = printed()
        .find(|unit| unit.value <= value && value > 0)
        .or(zero_unit);
    let Some(unit) = unit else {
        return write!(out, "{value}");
    };
    let (whole, mut rest) = (value / unit.value, value % unit.value);
    write!(out, "{whole}")?;
    if rest > 0 {
        out.write_str(".")?;
    }
    let mut place = unit.value;
    while rest > 0 {
        place /= 10;
        write!(out, "{}", rest / place)?;
        rest %= place;
    }
    write!(out, " {}", unit.name)
}

impl fmt::Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(out, self.as_ps(), TIME)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zero = self.as_bps() == 0;
        if zero {
            out.write_str("0 bps")
        } else {
            write_decimal(out, self.as_bps(), RATE)
        }
    }
}

impl fmt::Display for Bytes {
    /// Writes the value as a whole number of the largest unit that divides it: 1500 B, but 64 KiB.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |unit: &&Unit| self.0 > 0 && self.0.is_multiple_of(unit.value);
        let (name, value) = SIZE
            .iter()
            .filter(|unit| unit.printed)
            .find(whole)
            .map_or(("B", 1), |unit| (unit.name, unit.value));
        write!(out, "{} {name}", self.0 / value)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Span(span) => span.fmt(out),
            Self::Rate(rate) => rate.fmt(out),
            Self::Bytes(bytes) => bytes.fmt(out),
            Self::Packets(packets) if *packets == 1.0 => out.write_str("1 packet"),
            Self::Packets(packets) => write!(out, "{packets} packets"),
            Self::Bdp(multiple) => write!(out, "{multiple} BDP"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str, dimension: Dimension) -> Result<Quantity, QuantityError> {
        Quantity::parse(text, &[dimension])
    }

    #[test]
    fn units_have_their_si_and_iec_values() {
        let span = |text| parse(text, Dimension::Time);
        assert_eq!(span("50 ms"), Ok(Quantity::Span(Span::from_millis(50))));
        assert_eq!(span("8us"), Ok(Quantity::Span(Span::from_micros(8))));
        assert_eq!(span("5 min"), Ok(Quantity::Span(Span::from_secs(300))));
        assert_eq!(span("1e-3 s"), Ok(Quantity::Span(Span::from_millis(1))));
        assert_eq!(span("0.1 s"), span("100 ms"));
        let rate = |text| parse(text, Dimension::Rate);
        assert_eq!(
            rate("622 Mbps"),
            Ok(Quantity::Rate(Rate::from_bps(622_000_000)))
        );
        assert_eq!(
            rate("622.08 Mbit/s"),
            Ok(Quantity::Rate(Rate::from_bps(622_080_000)))
        );
        let size = |text| parse(text, Dimension::Size);
        assert_eq!(size("64 KiB"), Ok(Quantity::Bytes(Bytes(65_536))));
        assert_eq!(size("1 MB"), Ok(Quantity::Bytes(Bytes(1_000_000))));
        assert_eq!(size("1.5 kB"), size("1500 B"));
        assert_eq!(
            parse("7000 pkts", Dimension::Packets),
            Ok(Quantity::Packets(7000.0))
        );
        assert_eq!(parse("0.2 BDP", Dimension::Bdp), Ok(Quantity::Bdp(0.2)));
    }

    #[test]
    fn errors_say_what_is_wrong_and_what_is_right() {
        let message = |text, dim| parse(text, dim).unwrap_err().to_string();
        assert_eq!(
            message("100", Dimension::Rate),
            "the unit is missing after \"100\"; expected a rate such as \"1 Gbps\" (units: Tbps, \
             Gbps, Mbps, kbps, bps, Tbit/s, Gbit/s, Mbit/s, kbit/s, bit/s)"
        );
        assert!(
            message("7", Dimension::Packets)
                .contains("a number of packets such as \"7000 packets\"")
        );
        assert!(message("10 mbps", Dimension::Rate).contains("did you mean \"Mbps\"?"));
        assert!(message("10 ms", Dimension::Rate).contains("not a unit of rate but of time"));
        assert!(message("-1 Gbps", Dimension::Rate).contains("is negative"));
        assert!(message("fast", Dimension::Rate).contains("does not begin with a number"));
        assert!(message("1.2.3 s", Dimension::Time).contains("does not begin with a number"));
        assert!(message("1e9 h", Dimension::Time).contains("too large"));
        assert!(message("1e999 packets", Dimension::Packets).contains("too large"));
        assert!(message("0.1 B", Dimension::Size).contains("not a whole number of bytes"));
    }

    #[test]
    fn printing_chooses_familiar_units() {
        assert_eq!(Span::from_millis(50).to_string(), "50 ms");
        assert_eq!(Span::from_secs(300).to_string(), "300 s");
        assert_eq!(Span::from_micros(1500).to_string(), "1.5 ms");
        assert_eq!(Span::ZERO.to_string(), "0 s");
        assert_eq!(Rate::from_bps(622_080_000).to_string(), "622.08 Mbps");
        assert_eq!(Bytes(1500).to_string(), "1500 B");
        assert_eq!(Bytes(65_536).to_string(), "64 KiB");
        assert_eq!(Bytes(10_000_000).to_string(), "10 MB");
        assert_eq!(Bytes(0).to_string(), "0 B");
        assert_eq!(Quantity::Packets(1.0).to_string(), "1 packet");
    }

    fn quantity() -> impl Strategy<Value = Quantity> {
        prop_oneof![
            any::<u64>().prop_map(|ps| Quantity::Span(Span::from_ps(ps))),
            any::<u64>().prop_map(|bps| Quantity::Rate(Rate::from_bps(bps))),
            any::<u64>().prop_map(|bytes| Quantity::Bytes(Bytes(bytes))),
            (0..1u64 << 40).prop_map(|kib| Quantity::Bytes(Bytes(kib << 10))),
            (0.0..1e12f64).prop_map(Quantity::Packets),
            (0.0..1e6f64).prop_map(Quantity::Bdp),
        ]
    }

    proptest! {
        #[test]
        fn what_is_printed_parses_to_the_same_value(quantity in quantity()) {
            prop_assert_eq!(Quantity::parse(&quantity.to_string(), &Dimension::ALL), Ok(quantity));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,24}") {
            let _ = Quantity::parse(&text, &Dimension::ALL);
        }
    }
}
