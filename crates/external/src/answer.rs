//! Answers of a controller in another process.

use std::fmt;

use longhaul_congestion::Window;
use longhaul_units::{Rate, Span};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::report::{Fact, When};

/// Largest window and threshold in segments that an answer may set. A larger number is treated as a mistake.
const MAX_CWND: f64 = 1e12;

/// A controller's answer to an event.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    cwnd: Option<f64>,
    ssthresh: Option<f64>,
    /// Pacing rate in bits per second. `Some(None)` (`null` in the answer) switches pacing off. `None` (no such key)
    /// keeps the rate.
    #[serde(default, deserialize_with = "given")]
    pacing_bps: Option<Option<f64>>,
}

/// An object that a controller writes as JSON.
trait Written: DeserializeOwned {
    /// Description of the expected object, for error messages.
    const EXPECTED: &'static str;
}

impl Written for Answer {
    const EXPECTED: &'static str = "an object with cwnd, ssthresh and pacing_bps, each optional";
}

impl Written for Greeting {
    const EXPECTED: &'static str = "an object with facts and report, both optional";
}

/// Parses an object of type `T`, which must begin with a brace: serde would also accept a list of
/// the fields' values.
fn object<T: Written>(line: &[u8]) -> Result<T, String> {
    if !line.trim_ascii_start().starts_with(b"{") {
        return Err(wrong(line, &format_args!("expected {}", T::EXPECTED)));
    }
    serde_json::from_slice(line).map_err(|error| wrong(line, &error))
}

fn given<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<f64>>, D::Error> {
    Option::deserialize(value).map(Some)
}

impl Answer {
    pub(crate) fn read(line: &[u8]) -> Result<Self, String> {
        let answer: Self = object(line)?;
        for (name, value) in [("cwnd", answer.cwnd), ("ssthresh", answer.ssthresh)] {
            if value.is_some_and(|segments| !(0.0..=MAX_CWND).contains(&segments)) {
                return Err(wrong(line, &format!("{name}: expected 0 to 1e12 segments")));
            }
        }
        let rate = answer.pacing_bps.flatten();
        if rate.is_some_and(|bps| !(1.0..1e18).contains(&bps)) {
            return Err(wrong(line, &"pacing_bps: expected 1 to 1e18 bit/s or null"));
        }
        Ok(answer)
    }

    /// Sets the threshold, the window and the pacing rate to the values in the answer, within the bounds of [`Window`].
    /// Values that are not in the answer do not change.
    pub(crate) fn apply(&self, window: &mut Window, pacing: &mut Option<Rate>) {
        if let Some(segments) = self.ssthresh {
            window.set_ssthresh(segments);
        }
        if let Some(segments) = self.cwnd {
            window.set_cwnd(segments);
        }
        if let Some(rate) = self.pacing_bps {
            *pacing = rate.map(|bps| Rate::from_bps(bps as u64));
        }
    }
}

/// A controller's answer to the first line that it receives: which values the simulation shall report to it, and when.
#[derive(Debug)]
pub(crate) struct Hello {
    pub(crate) facts: Vec<Fact>,
    pub(crate) when: When,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Greeting {
    facts: Option<Vec<String>>,
    report: Option<Report>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Report {
    Ack,
    Round,
    EveryS(f64),
}

impl Hello {
    pub(crate) fn read(line: &[u8]) -> Result<Self, String> {
        let written: Greeting = object(line)?;
        let facts = match written.facts {
            None => Fact::ALL.to_vec(),
            Some(names) => names
                .iter()
                .map(|name| fact(name).map_err(|message| wrong(line, &message)))
                .collect::<Result<_, _>>()?,
        };
        let when = match written.report {
            None | Some(Report::Ack) => When::Ack,
            Some(Report::Round) => When::Round,
            Some(Report::EveryS(seconds)) => {
                let span = Span::from_secs_f64(seconds);
                if span == Span::ZERO {
                    return Err(wrong(line, &"every_s: expected more than 0 s"));
                }
                When::Every(span)
            }
        };
        Ok(Self { facts, when })
    }
}

fn fact(name: &str) -> Result<Fact, String> {
    let known = Fact::ALL.iter().find(|fact| fact.name() == name);
    known.copied().ok_or_else(|| {
        let names: Vec<&str> = Fact::ALL.iter().map(|fact| fact.name()).collect();
        format!(
            "unknown fact {name:?}; expected some of {}",
            names.join(", ")
        )
    })
}

fn wrong(line: &[u8], what: &dyn fmt::Display) -> String {
    let line: String = String::from_utf8_lossy(line).chars().take(200).collect();
    format!("{what}, found {line:?}")
}
