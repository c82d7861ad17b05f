//! Connection vectors of Tmix, in both formats of ns-2 (ns manual, chapter "Tmix: Internet Traffic
//! Generation", sections "Original" and "Alternate Connection Vector Format").
//!
//! A vector lists the data units that the two sides of a connection send. A unit of the initiator is a request; the
//! acceptor's next unit is the response to it. If the acceptor sends while no request waits for a response, a request
//! of one byte is added. If the initiator sends twice in a row, the first request has no response. In a concurrent
//! vector, both sides send independently, so each side has a separate connection. Windows, round-trip times, losses
//! and segment sizes of a vector are read but not used: the network and the flow determine them. The time before the
//! FIN is not used either.

use longhaul_engine::config::TraceEntry;
use longhaul_units::{Span, Time};

/// Size in bytes of the request that is added if the acceptor of a connection sends data without a request.
const ASKED_WITH: u64 = 1;

const MICROSECONDS: f64 = 1e-6;

/// Returns the trace entries of all connection vectors in `text`; multiplies start times by `scale`.
pub(super) fn parse(text: &str, scale: f64) -> Result<Vec<TraceEntry>, String> {
    let mut vectors: Vec<Vector> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let words: Vec<&str> = line
            .split('#')
            .next()
            .unwrap_or("")
            .split_whitespace()
            .collect();
        if let [first, rest @ ..] = words.as_slice() {
            take(&mut vectors, first, rest, scale)
                .map_err(|reason| format!("line {number}: {reason}"))?;
        }
    }
    let mut connections: Vec<Vec<TraceEntry>> =
        vectors.iter().flat_map(Vector::connections).collect();
    if connections.is_empty() {
        return Err("there is no connection vector with data".to_string());
    }
    // The sort is stable: connections with the same start keep their order.
    connections.sort_by_key(|connection| connection[0].time);
    Ok(connections.concat())
}

/// One connection of a Tmix file.
struct Vector {
    start: Time,
    is_concurrent: bool,
    units: Vec<Unit>,
    /// Time before the next data unit, from either side.
    wait: Span,
    /// Time before the next data unit of each [`Side`] of a concurrent vector, in addition to `wait`.
    waits: [Span; 2],
}

/// Data that one side sends at once (application data unit).
struct Unit {
    side: Side,
    wait: Span,
    bytes: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Initiator,
    Acceptor,
}

/// Adds the content of one line of a Tmix file to `vectors`: a new vector, or data and times of the last vector.
/// `first` is the first word of the line, `rest` are the other words.
fn take(vectors: &mut Vec<Vector>, first: &str, rest: &[&str], scale: f64) -> Result<(), String> {
    if let "SEQ" | "S" | "CONC" | "C" = first {
        let start = rest.first().ok_or("a connection without its time")?;
        vectors.push(Vector {
            start: Time::from_secs_f64(scale * seconds(start)?),
            is_concurrent: first.starts_with('C'),
            units: Vec::new(),
            wait: Span::ZERO,
            waits: [Span::ZERO; 2],
        });
        return Ok(());
    }
    let Some(vector) = vectors.last_mut() else {
        return Err(format!("`{first}` before the first SEQ, CONC, S or C"));
    };
    match (first, rest) {
        // These lines contain windows, round-trip time, losses and segment sizes.
        ("w" | "l" | "m", [one, other]) => number(one).and(number(other)).map(drop),
        ("r", [rtt]) => number(rtt).map(drop),
        (">", [bytes]) => vector.sends(Side::Initiator, bytes),
        ("<", [bytes]) => vector.sends(Side::Acceptor, bytes),
        ("t", [wait]) => {
            vector.wait += span(wait)?;
            Ok(())
        }
        ("c>", [bytes]) if vector.is_concurrent => vector.sends(Side::Initiator, bytes),
        ("c<", [bytes]) if vector.is_concurrent => vector.sends(Side::Acceptor, bytes),
        ("t>", [wait]) if vector.is_concurrent => vector.waits(Side::Initiator, wait),
        ("t<", [wait]) if vector.is_concurrent => vector.waits(Side::Acceptor, wait),
        ("I", [sent, received, bytes]) => vector.acts(Side::Initiator, sent, received, bytes),
        ("A", [sent, received, bytes]) => vector.acts(Side::Acceptor, sent, received, bytes),
        _ => Err(format!(
            "`{first}` with {} values; expected SEQ, CONC, S or C with a time, w, r, l or m, > or < \
             with bytes, t with a time, c>, c<, t> or t< of a concurrent connection, or I or A with two times and bytes",
            rest.len()
        )),
    }
}

impl Vector {
    /// Adds a data unit of `bytes` bytes, which `side` sends after the current wait.
    fn sends(&mut self, side: Side, bytes: &str) -> Result<(), String> {
        let own = std::mem::take(&mut self.waits[side as usize]);
        let wait = std::mem::take(&mut self.wait) + own;
        match bytes.parse::<u64>() {
            Ok(bytes @ 1..=1_000_000_000_000) => self.units.push(Unit { side, wait, bytes }),
            // This is the FIN of the alternate format.
            Ok(0) => {}
            _ => {
                return Err(format!(
                    "{bytes:?} is no whole number of bytes from 0 to 1e12"
                ));
            }
        }
        Ok(())
    }

    fn waits(&mut self, side: Side, wait: &str) -> Result<(), String> {
        self.waits[side as usize] += span(wait)?;
        Ok(())
    }

    /// Processes a line of the alternate format: `side` sends `bytes` bytes. `sent` and `received`
    /// are the waits after the last data that `side` sent and received.
    fn acts(&mut self, side: Side, sent: &str, received: &str, bytes: &str) -> Result<(), String> {
        self.wait = span(sent)? + span(received)?;
        self.sends(side, bytes)
    }

    /// Returns the exchanges of the vector: as one list or, if both sides send concurrently, as a list for each side.
    /// Empty lists are left out.
    fn connections(&self) -> Vec<Vec<TraceEntry>> {
        let of = |sides: &[Side]| {
            let units = self.units.iter().filter(|unit| sides.contains(&unit.side));
            exchanges(self.start, units)
        };
        let all = if self.is_concurrent {
            vec![of(&[Side::Initiator]), of(&[Side::Acceptor])]
        } else {
            vec![of(&[Side::Initiator, Side::Acceptor])]
        };
        all.into_iter().filter(|one| !one.is_empty()).collect()
    }
}

fn exchanges<'a>(start: Time, units: impl Iterator<Item = &'a Unit>) -> Vec<TraceEntry> {
    let mut entries: Vec<TraceEntry> = Vec::new();
    for unit in units {
        let after = (!entries.is_empty()).then_some(unit.wait);
        let asked = entries
            .last_mut()
            .filter(|last| last.response_bytes.is_none());
        match (unit.side, asked) {
            (Side::Acceptor, Some(request)) => {
                request.response_bytes = Some(unit.bytes);
                request.server_delay = unit.wait;
            }
            (side, _) => entries.push(TraceEntry {
                time: start,
                after,
                request_bytes: if side == Side::Initiator {
                    unit.bytes
                } else {
                    ASKED_WITH
                },
                response_bytes: (side == Side::Acceptor).then_some(unit.bytes),
                server_delay: Span::ZERO,
            }),
        }
    }
    entries
}

fn number(word: &str) -> Result<f64, String> {
    let found = word.parse::<f64>().ok();
    found
        .filter(|number| number.is_finite() && *number >= 0.0)
        .ok_or_else(|| format!("{word:?} is no number from 0 up"))
}

/// Converts a number of microseconds to seconds. More than 100,000 s are an error.
fn seconds(word: &str) -> Result<f64, String> {
    let seconds = number(word)? * MICROSECONDS;
    if seconds > 100_000.0 {
        return Err(format!("{word} microseconds are more than 100000 s"));
    }
    Ok(seconds)
}

fn span(word: &str) -> Result<Span, String> {
    seconds(word).map(Span::from_secs_f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two connections from the ns manual in the original format; `ALTERNATE` has them in the alternate format.
    const ORIGINAL: &str = "SEQ 6851 1 21217 555382 # starts at 6.851 ms\nw 64800 6432\nr 1176194\nl 0.000000 0.000000\n\
                            > 245\nt 51257\n< 510\nt 6304943\n\n\
                            CONC 1429381 2 2 26876 793318\nw 65535 5840\nr 36556\nl 0.000000 0.000000\n\
                            c> 222\nt> 62436302\nc< 726\nt< 62400173\nc> 16\nt> 725\nc< 84\nt< 130\n";
    const ALTERNATE: &str = "S 6851 1 21217 555382\nw 64800 6432\nr 1176194\nl 0.000000 0.000000\nm 1460 496\n\
                             I 0 0 245\nA 0 51257 510\nA 6304943 0 0\n\
                             C 1429381 2 2 26876 793318\nw 65535 5840\nr 36556\nl 0.000000 0.000000\n\
                             I 0 0 222\nA 0 0 726\nI 62436302 0 16\nA 62400173 0 84\nI 725 0 0\nA 130 0 0\n";

    fn us(microseconds: u64) -> Span {
        Span::from_micros(microseconds)
    }

    #[test]
    fn both_formats_tell_the_same() {
        let entries = parse(ORIGINAL, 1.0).unwrap();
        assert_eq!(entries, parse(ALTERNATE, 1.0).unwrap());
        let first = entries[0];
        assert_eq!(first.time, Time::ZERO + us(6851));
        assert_eq!((first.after, first.request_bytes), (None, 245));
        assert_eq!(
            (first.response_bytes, first.server_delay),
            (Some(510), us(51_257))
        );
        // The two sides of the concurrent vector send independently.
        let sent = entries[1..]
            .iter()
            .map(|entry| (entry.after, entry.request_bytes, entry.response_bytes));
        let expected = [
            (None, 222, None),
            (Some(us(62_436_302)), 16, None),
            (None, 1, Some(726)),
            (Some(us(62_400_173)), 1, Some(84)),
        ];
        assert_eq!(sent.collect::<Vec<_>>(), expected);
    }

    /// Checks three cases of data without a request or response: the acceptor sends first, the acceptor sends again
    /// after its response, and the initiator sends twice.
    #[test]
    fn either_side_may_send_unasked() {
        let text = "SEQ 10 3 1 2\n< 49\nt 5\n> 15\nt 6\n< 20\nt 7\n< 30\nt 8\n> 40\nt 9\n> 50\n";
        let entries = parse(text, 2.0).unwrap();
        let told = entries.iter().map(|entry| {
            let TraceEntry {
                after,
                request_bytes,
                response_bytes,
                server_delay,
                ..
            } = *entry;
            (after, request_bytes, response_bytes, server_delay)
        });
        let expected = [
            (None, 1, Some(49), Span::ZERO),
            (Some(us(5)), 15, Some(20), us(6)),
            (Some(us(7)), 1, Some(30), Span::ZERO),
            (Some(us(8)), 40, None, Span::ZERO),
            (Some(us(9)), 50, None, Span::ZERO),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
        assert!(
            entries
                .iter()
                .all(|entry| entry.time == Time::ZERO + us(20)),
            "scaled"
        );
    }

    #[test]
    fn connections_are_in_the_order_of_their_times() {
        let entries = parse("S 20 1 1 1\nI 0 0 2\nS 10 1 1 1\nI 0 0 1\nI 3 0 1\n", 1.0).unwrap();
        let sizes: Vec<_> = entries.iter().map(|entry| entry.request_bytes).collect();
        assert_eq!(sizes, [1, 1, 2]);
    }

    #[test]
    fn says_what_is_wrong_with_which_line() {
        for (text, reason) in [
            ("", "no connection vector"),
            ("SEQ 5 1 1 1\n", "no connection vector with data"),
            ("# a comment\n> 5\n", "line 2: `>` before the first SEQ"),
            ("SEQ\n", "line 1: a connection without its time"),
            ("SEQ x 1\n", "line 1: \"x\" is no number"),
            (
                "SEQ 5 1\n> 1.5\n",
                "line 2: \"1.5\" is no whole number of bytes",
            ),
            (
                "SEQ 5 1\n> 5\nt -3\n",
                "line 3: \"-3\" is no number from 0 up",
            ),
            (
                "SEQ 5 1\nc> 5\n",
                "line 2: `c>` with 1 values; expected SEQ",
            ),
            (
                "SEQ 5 1\nt 1e12\n",
                "line 2: 1e12 microseconds are more than",
            ),
            ("S 5 1\nI 0 5\n", "line 2: `I` with 2 values"),
        ] {
            let message = parse(text, 1.0).expect_err(text);
            assert!(message.contains(reason), "{message}");
        }
    }
}
