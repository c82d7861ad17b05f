//! Exchanges of requests and responses from a CSV table, with start times and sizes.

use longhaul_engine::config::TraceEntry;
use longhaul_units::{Span, Time};

/// Names of the columns that the CSV table of a traffic trace may have, in any order.
const COLUMNS: [&str; 5] = [
    "start_s",
    "bytes",
    "request_bytes",
    "response_bytes",
    "server_delay_s",
];

/// Reads the CSV table of a traffic trace. Empty lines and lines that begin with `#` are skipped, and start times must
/// not decrease. The error is a message about the header or the first wrong line.
pub(crate) fn parse(text: &str) -> Result<Vec<TraceEntry>, String> {
    let mut lines = text
        .lines()
        .zip(1..)
        .filter(|(line, _)| !line.trim().is_empty() && !line.starts_with('#'));
    let header: Vec<&str> = match lines.next() {
        Some((line, _)) => line.split(',').map(str::trim).collect(),
        None => return Err("the table is empty; its first line names the columns".to_string()),
    };
    if let Some(unknown) = header.iter().find(|name| !COLUMNS.contains(name)) {
        return Err(format!(
            "unknown column `{unknown}`; allowed: {}",
            COLUMNS.join(", ")
        ));
    }
    if let Some(twice) = COLUMNS
        .iter()
        .find(|name| header.iter().filter(|own| own == name).count() > 1)
    {
        return Err(format!("there are two columns `{twice}`"));
    }
    let has = |name| header.contains(&name);
    let one_way = has("bytes") && !has("request_bytes") && !has("response_bytes");
    let two_way = has("request_bytes") && has("response_bytes") && !has("bytes");
    if !has("start_s") || !(one_way || two_way) {
        return Err(
            "the table needs start_s and bytes, or start_s, request_bytes and response_bytes"
                .to_string(),
        );
    }
    let mut entries: Vec<TraceEntry> = Vec::new();
    for (line, number) in lines {
        let entry = entry(&header, line).map_err(|reason| format!("line {number}: {reason}"))?;
        if entries.last().is_some_and(|last| last.time > entry.time) {
            return Err(format!("line {number} begins before the line above it"));
        }
        entries.push(entry);
    }
    if entries.is_empty() {
        return Err("the table has no line below its header".to_string());
    }
    Ok(entries)
}

fn entry(header: &[&str], line: &str) -> Result<TraceEntry, String> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    if cells.len() != header.len() {
        let (cells, columns) = (cells.len(), header.len());
        return Err(format!("{cells} cells for {columns} columns"));
    }
    let cell = |name: &str| {
        let at = header.iter().position(|column| *column == name)?;
        Some(cells[at])
    };
    let seconds = |name: &str| match cell(name) {
        None => Ok(0.0),
        Some(text) => text
            .parse::<f64>()
            .ok()
            .filter(|seconds| (0.0..=100_000.0).contains(seconds))
            .ok_or_else(|| format!("{name} is {text:?}, not a number of seconds up to 100000")),
    };
    let bytes = |name: &str| match cell(name) {
        None => Ok(None),
        Some(text) => match text.parse::<u64>() {
            Ok(bytes) if (1..=1_000_000_000_000).contains(&bytes) => Ok(Some(bytes)),
            _ => Err(format!(
                "{name} is {text:?}, not a whole number of bytes from 1 to 1e12"
            )),
        },
    };
    let one_way = bytes("bytes")?;
    let response_bytes = bytes("response_bytes")?;
    Ok(TraceEntry {
        time: Time::from_secs_f64(seconds("start_s")?),
        after: None,
        request_bytes: one_way.or(bytes("request_bytes")?).unwrap_or(1),
        response_bytes,
        server_delay: Span::from_secs_f64(seconds("server_delay_s")?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_kinds_of_tables() {
        let two_way = "# a comment\nstart_s, request_bytes, response_bytes, server_delay_s\n\
                       0.5, 400, 10000, 0.01\n\n1.25,300,5,0\n";
        let entries = parse(two_way).expect("a good table");
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].time, Time::from_secs_f64(0.5));
        assert_eq!(entries[0].response_bytes, Some(10_000));
        assert_eq!(entries[0].server_delay, Span::from_millis(10));
        assert_eq!(entries[1].request_bytes, 300);
        let one_way = parse("bytes,start_s\n7,0\n").expect("a good table");
        assert_eq!(
            (one_way[0].request_bytes, one_way[0].response_bytes),
            (7, None)
        );
    }

    #[test]
    fn says_what_is_wrong_with_which_line() {
        for (text, reason) in [
            ("", "empty"),
            ("start_s,byte\n", "unknown column `byte`"),
            ("start_s\n0\n", "needs start_s and bytes"),
            ("start_s,bytes\n", "no line"),
            ("start_s,bytes\n0,1\n1\n", "line 3: 1 cells for 2 columns"),
            ("start_s,bytes\n-1,1\n", "line 2: start_s is \"-1\""),
            ("start_s,bytes\n1,0\n", "line 2: bytes is \"0\""),
            ("start_s,bytes\n1,5\n\n0,5\n", "line 4 begins before"),
        ] {
            let message = parse(text).expect_err(text);
            assert!(message.contains(reason), "{message}");
        }
    }
}
