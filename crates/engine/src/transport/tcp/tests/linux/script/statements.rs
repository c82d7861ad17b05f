//! Division of a script into statements, each with a time and an action.

/// A statement of a script: its time and its action.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) when: When,
    pub(super) action: Action,
    /// First line of the statement, for messages.
    pub(super) line: String,
}

/// Time of a statement in seconds. If the script gives a range of times, this is the beginning of the range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum When {
    /// Time since the previous statement.
    After(f64),
    /// Time since the beginning of the script.
    At(f64),
}

/// An action or an expected event.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    /// Text between backticks: shell commands.
    Shell(String),
    /// Text between `%{` and `}%`: an assertion.
    Python(String),
    /// Text after `<`: a segment that arrives at the sender.
    Arrives(String),
    /// Text after `>`: a segment that is expected to leave.
    Leaves(String),
    /// A system call.
    Call {
        name: String,
        arguments: String,
        result: String,
    },
}

/// Returns the statements of a script; lines with packetdrill's options (`--`) are skipped.
pub(super) fn statements(text: &str) -> Result<Vec<Statement>, String> {
    let text = without_comments(text);
    let mut rest = text.trim_start();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let line = rest.lines().next().unwrap_or("").trim().to_string();
        if rest.starts_with("--") {
            rest = after_line(rest).1.trim_start();
            continue;
        }
        let (when, behind) = when(rest);
        let (action, behind) = action(behind).ok_or_else(|| format!("not understood: {line}"))?;
        rest = behind.trim_start();
        found.push(Statement { when, action, line });
    }
    Ok(found)
}

/// Removes C and C++ comments; comments of shells and Python remain.
fn without_comments(text: &str) -> String {
    let line = |line: &str| {
        let comment = line
            .find("//")
            .filter(|&at| at == 0 || !line[..at].ends_with(':'));
        comment.map_or(line, |at| &line[..at]).to_string()
    };
    let mut text = text.lines().map(line).collect::<Vec<_>>().join("\n");
    while let Some(begin) = text.find("/*") {
        let end = text[begin..]
            .find("*/")
            .map_or(text.len(), |at| begin + at + 2);
        text.replace_range(begin..end, "");
    }
    text
}

/// Splits `text` into the time at its beginning and the rest.
fn when(text: &str) -> (When, &str) {
    let number = |text: &str| {
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let end = text.find(|c| !is_number(c)).unwrap_or(text.len());
        text[..end]
            .parse::<f64>()
            .ok()
            .map(|seconds| (seconds, end))
    };
    let relative = text.strip_prefix('+');
    let digits = relative.unwrap_or(text);
    let Some((seconds, end)) = number(digits) else {
        return (When::After(0.0), text);
    };
    let mut rest = digits[end..].trim_start();
    // The end of a range of times is ignored.
    if let Some(last) = rest.strip_prefix('~').or_else(|| rest.strip_prefix("...")) {
        let last = last.trim_start().trim_start_matches('+');
        rest = number(last).map_or(last, |(_, end)| last[end..].trim_start());
    }
    match relative {
        Some(_) => (When::After(seconds), rest),
        None => (When::At(seconds), rest),
    }
}

/// Splits `text`, which follows a time, into an action and the rest.
fn action(text: &str) -> Option<(Action, &str)> {
    if let Some(rest) = text.strip_prefix('`') {
        let (commands, rest) = rest.split_once('`')?;
        return Some((Action::Shell(commands.to_string()), rest));
    }
    if let Some(rest) = text.strip_prefix("%{") {
        let (code, rest) = rest.split_once("}%")?;
        return Some((Action::Python(code.to_string()), rest));
    }
    if let Some(rest) = text.strip_prefix('<') {
        let (segment, rest) = after_line(rest);
        return Some((Action::Arrives(segment.trim().to_string()), rest));
    }
    if let Some(rest) = text.strip_prefix('>') {
        let (segment, rest) = after_line(rest);
        return Some((Action::Leaves(segment.trim().to_string()), rest));
    }
    let (name, rest) = text.split_once('(')?;
    let mut depth = 1;
    let end = rest.find(|c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    })?;
    let (result, behind) = after_line(&rest[end + 1..]);
    let result = result.trim().strip_prefix('=').unwrap_or("");
    let call = Action::Call {
        name: name.trim().to_string(),
        arguments: rest[..end].to_string(),
        result: result.split_whitespace().next().unwrap_or("").to_string(),
    };
    Some((call, behind))
}

/// Splits `text` into its first line and the rest.
fn after_line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}
