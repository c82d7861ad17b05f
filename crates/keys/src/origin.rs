//! Origins of values: a position in a file, an override, a profile, a default, or a rule of
//! derivation.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A text from which values are read, such as a file.
#[derive(Debug)]
pub struct Source {
    /// Name of the source in messages, such as the path of a file as the user wrote it.
    pub name: String,
    /// Whole text; empty for a file that could not be read.
    pub text: String,
    /// Byte offsets of the beginnings of lines.
    lines: Vec<usize>,
}

/// Origin of a value.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A range of bytes in a file.
    File(Arc<Source>, Range<usize>),
    /// An override, as the user wrote it after `--set`.
    Set(Arc<str>),
    /// The profile with this name, which sets the value.
    Profile(&'static str),
    /// A default that is the same in every profile.
    Default,
    /// A rule that computes the value from other values, as text.
    Derived(String),
}

impl Origin {
    /// Returns the offset in the file in bytes, for sorting messages; 0 for other origins.
    pub fn offset(&self) -> usize {
        if let Self::File(_, span) = self {
            span.start
        } else {
            0
        }
    }

    /// Returns true if both origins are in the same file, or in the same override.
    pub fn is_beside(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one, _), Self::File(other, _)) => Arc::ptr_eq(one, other),
            (Self::Set(one), Self::Set(other)) => one == other,
            _ => false,
        }
    }

    /// Returns the position in the form that begins a message: `name:line:column`, or only the name
    /// for an empty text. Other origins have the form that `longhaul explain` shows.
    pub fn place(&self) -> String {
        match self {
            // A file that is empty or could not be read has no positions.
            Self::File(source, _) if source.text.is_empty() => source.name.clone(),
            Self::File(source, span) => {
                let (line, column) = source.position(span.start);
                format!("{}:{line}:{column}", source.name)
            }
            other => other.to_string(),
        }
    }

    /// Returns the line on which the value begins, with the value's part of this line underlined. A
    /// long line is shortened around the value. `None` for an empty range, which stands for a whole
    /// file, or an origin outside a file.
    pub fn snippet(&self) -> Option<String> {
        let Self::File(source, span) = self else {
            return None;
        };
        if span.is_empty() {
            return None;
        }
        let (number, column) = source.position(span.start);
        let line = source.text.lines().nth(number - 1)?;
        let length = source
            .text
            .get(span.clone())
            .map_or(1, |text| text.chars().count());
        let (text, indent) = around(line, column - 1);
        let rest = text.chars().count().saturating_sub(indent).max(1);
        let marks = "^".repeat(length.clamp(1, rest));
        let (gutter, indent) = (" ".repeat(number.to_string().len()), " ".repeat(indent));
        Some(format!(" {number} | {text}\n {gutter} | {indent}{marks}"))
    }
}

/// Maximum number of characters shown of a line. Lines may be long, since programs write whole
/// scenarios on one line.
const SHOWN: usize = 100;
/// Number of characters shown before the value, if the beginning of a long line is left out.
const SHOWN_BEFORE: usize = 40;

/// Returns the part of a line around column `place`, and the column within that part, both counted
/// from 0.
fn around(line: &str, place: usize) -> (String, usize) {
    let skipped = if line.chars().count() <= SHOWN {
        0
    } else {
        place.saturating_sub(SHOWN_BEFORE)
    };
    let mut rest = line.chars().skip(skipped);
    let mut text: String = rest.by_ref().take(SHOWN).collect();
    if rest.next().is_some() {
        text.push_str(" ...");
    }
    if skipped == 0 {
        return (text, place);
    }
    let before = "... ";
    (format!("{before}{text}"), before.len() + place - skipped)
}

impl fmt::Display for Origin {
    /// Writes the origin as `longhaul explain` shows it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(source, span) => {
                write!(out, "{}:{}", source.name, source.position(span.start).0)
            }
            Self::Set(text) => write!(out, "--set {text}"),
            Self::Profile(name) => write!(out, "profile {name}"),
            Self::Default => out.write_str("default"),
            Self::Derived(rule) => write!(out, "derived: {rule}"),
        }
    }
}

impl Source {
    /// Creates a source with the name `name` and the text `text`.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let (name, text) = (name.into(), text.into());
        let ends = text.match_indices('\n').map(|(newline, _)| newline + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        Self { name, text, lines }
    }

    /// Returns the line and the column of a byte offset, both counted from 1.
    fn position(&self, offset: usize) -> (usize, usize) {
        // An offset from a parser may be inside a character or past the end.
        let inside = self.text.is_char_boundary(offset);
        let offset = if inside { offset } else { self.text.len() };
        let line = self.lines.partition_point(|&start| start <= offset);
        let before = &self.text[self.lines[line - 1]..offset];
        (line, before.chars().count() + 1)
    }
}
