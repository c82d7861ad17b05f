//! Names and titles from an untrusted scenario file, which end up in terminals, pages and file names.

use crate::{BASE, refusal};

/// Returns [`BASE`] with a title and a label of its flows. Both texts may contain escapes of TOML.
fn named(title: &str, label: &str) -> String {
    let flows = format!("[[flows]]\nlabel = \"{label}\"");
    format!(
        "title = \"{title}\"\n{}",
        BASE.replacen("[[flows]]", &flows, 1)
    )
}

#[test]
fn control_characters_are_refused_with_their_place_and_never_printed() {
    let cases = [
        (
            named(r"clear\u001b[2J", "a"),
            "wrong.toml:1:9: title: '\\u{1b}' is no printable character",
        ),
        (
            named(r"two\nlines", "a"),
            "wrong.toml:1:9: title: '\\n' is no printable character; expected one line",
        ),
        (
            named("fine", r"\u202egpj.exe"),
            "flows.0.label: '\\u{202e}' is no printable character",
        ),
        (
            named("fine", "a").replacen("duration", "\"dur\\u001bation\"", 1),
            "dur\u{fffd}ation: unknown",
        ),
        (
            format!("description = \"\\u009b2J\"\n{BASE}"),
            "description: '\\u{9b}' is no printable character; expected printable text",
        ),
        (
            BASE.replacen("\"droptail\"", "\"drop\\u001btail\"", 1),
            "drop\u{fffd}tail",
        ),
    ];
    for (text, expected) in cases {
        let message = refusal(&text);
        assert!(message.contains(expected), "{message:?}");
        assert!(
            !message.contains(['\u{1b}', '\u{9b}', '\u{202e}']),
            "{message:?}"
        );
    }
}

#[test]
fn characters_that_are_in_the_file_itself_are_not_printed_either() {
    let message = refusal(&named("right \u{202e}left", "a"));
    assert!(
        message.contains("'\\u{202e}' is no printable character"),
        "{message:?}"
    );
    assert!(!message.contains('\u{202e}'), "{message:?}");
}

#[test]
fn titles_and_labels_are_of_bounded_length() {
    let message = refusal(&named(&"x".repeat(201), "a"));
    assert!(
        message.contains("title: found 201 characters; expected at most 200"),
        "{message}"
    );
    let message = refusal(&named("fine", &"y".repeat(100_000)));
    assert!(
        message.contains("label: found 100000 characters; expected at most 200"),
        "{message:.300}"
    );
}
