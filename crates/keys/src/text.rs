//! Checks of texts that are shown in terminals, on web pages and in file names.

/// Maximum length of a name or title, in characters.
pub const NAME_MAX: usize = 200;

/// Returns true for a character that a terminal or a web page would interpret instead of showing:
/// control characters, marks that change the direction of the following text (Unicode Standard
/// Annex 9), line separators, and other invisible characters.
fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// Checks that a name or title is one line of printable text of at most [`NAME_MAX`] characters. The error is the
/// reason if it is not.
pub fn check_name(text: &str) -> Result<(), String> {
    if let Some(character) = text.chars().find(|&character| is_unprintable(character)) {
        return Err(format!(
            "{character:?} is no printable character; expected one line of printable text"
        ));
    }
    match text.chars().count() {
        length if length > NAME_MAX => Err(format!(
            "found {length} characters; expected at most {NAME_MAX}"
        )),
        _ => Ok(()),
    }
}

/// Checks that a text of any length is printable; line breaks and tabs are allowed. The error is the reason.
pub fn check_text(text: &str) -> Result<(), String> {
    let is_wrong = |&character: &char| is_unprintable(character) && !"\n\r\t".contains(character);
    match text.chars().find(is_wrong) {
        Some(character) => Err(format!(
            "{character:?} is no printable character; expected printable text"
        )),
        None => Ok(()),
    }
}

/// Returns a text with U+FFFD in place of each unprintable character except line feeds and tabs. A carriage return is
/// replaced, too.
pub fn printable(text: &str) -> String {
    let shown = |character: char| match character {
        '\n' | '\t' => character,
        _ if is_unprintable(character) => char::REPLACEMENT_CHARACTER,
        _ => character,
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_line_of_printable_text() {
        for name in ["CUBIC, 10 Gbit/s", "Überlauf <b>", "μs → 1", "🛰 link", ""] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in [
            "\u{1b}[2J",
            "a\nb",
            "a\tb",
            "\u{202e}gpj",
            "\u{7f}",
            "\u{9b}2J",
            "\u{2028}",
            "\u{feff}",
        ] {
            let wrong = check_name(name).expect_err(name);
            assert!(wrong.is_ascii() && wrong.contains("printable"), "{wrong}");
            assert!(!printable(name).contains(['\u{1b}', '\u{9b}', '\u{202e}']));
        }
        assert_eq!(check_name(&"ü".repeat(NAME_MAX)), Ok(()));
        assert!(check_name(&"ü".repeat(NAME_MAX + 1)).is_err());
    }

    #[test]
    fn texts_may_have_lines_and_tabs() {
        assert_eq!(check_text("at, rate\r\n1,\t2\n"), Ok(()));
        assert!(check_text("1\u{1b}[2J").is_err());
        assert_eq!(printable("a\tb\n\u{1b}c"), "a\tb\n\u{fffd}c");
    }
}
