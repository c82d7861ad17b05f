//! Tables of events and what a sender does about them: what they say, as read from text.
//!
//! ```text
//! == directory/name: what it holds
//! with KEY=VALUE ...
//! +DELAY EVENT | segments that leave | state afterwards
//! ```
//!
//! Delays are milliseconds after the line before. Events: `write N`, so many segments; `ack N`, all up to segment N are
//! acknowledged, several numbers for ACKs with the delay before each; behind it `sack A-B C ...` and `ece`. A line
//! without an event waits for what leaves by itself. Nothing else may leave, unless the segments are `*`. The state has
//! the names of Linux's `TCP_INFO` (see [`Info`]); segments are numbered from 1.

use std::ops::RangeInclusive;

use crate::transport::tcp::info::Info;

/// A sender's script.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) settings: Settings,
    pub(super) steps: Vec<Step>,
}

/// What is not as the profile `linux` has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Round trip of the handshake, in milliseconds.
    pub(super) handshake: f64,
    /// The peer's window, in segments.
    pub(super) window: u64,
    pub(super) sack: bool,
    pub(super) ecn: bool,
    pub(super) pacing: bool,
    /// Segments that leave together at least where they are paced (`tcp_min_tso_segs`).
    pub(super) burst: u32,
    /// Whether a window that was not used is restarted (`tcp_slow_start_after_idle`).
    pub(super) restarts: bool,
}

impl Settings {
    pub(super) const USUAL: Self = Self {
        handshake: 100.0,
        window: 1000,
        sack: true,
        ecn: false,
        pacing: false,
        burst: 2,
        restarts: true,
    };
}

/// One line.
#[derive(Debug)]
pub(super) struct Step {
    /// Milliseconds after the step before.
    pub(super) delay: f64,
    pub(super) event: Option<Event>,
    pub(super) leaving: Leaving,
    pub(super) state: Vec<Fact>,
    /// As it was written.
    pub(super) line: String,
}

#[derive(Debug, PartialEq)]
pub(super) enum Event {
    /// Segments that the application gives.
    Write(u64),
    /// Everything up to the segment `acked` is acknowledged, and the ranges.
    Ack {
        acked: u64,
        sack: Vec<RangeInclusive<u64>>,
        ece: bool,
    },
}

/// What leaves at a step.
#[derive(Debug, PartialEq)]
pub(super) enum Leaving {
    /// These, and nothing else.
    Exactly(Vec<u64>),
    Unchecked,
}

/// A value that the sender's state has to have.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) name: String,
    pub(super) value: String,
}

impl Fact {
    /// Why it does not hold, if so.
    pub(super) fn differs(&self, info: &Info) -> Option<String> {
        let found = match self.name.as_str() {
            "cwnd" => info.cwnd.to_string(),
            "ssthresh" if info.ssthresh >= f64::from(i32::MAX) => "infinite".to_string(),
            "ssthresh" => info.ssthresh.to_string(),
            "state" => info.ca_state.to_string(),
            "unacked" => info.unacked.to_string(),
            "sacked" => info.sacked.to_string(),
            "lost" => info.lost.to_string(),
            "retrans" => info.retrans.to_string(),
            other => panic!("no state is called {other:?}"),
        };
        let Self { name, value } = self;
        (found != *value).then(|| format!("{name} is {found}, expected {value}"))
    }
}

impl Table {
    /// All tables of a text.
    pub(super) fn read_all(text: &str) -> Vec<Self> {
        let mut tables: Vec<Self> = Vec::new();
        let lines = text
            .lines()
            .map(|line| line.split('#').next().unwrap_or(""));
        for line in lines.map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(title) = line.strip_prefix("== ") {
                let name = title.split(':').next().unwrap_or(title);
                tables.push(Self {
                    name: name.to_string(),
                    settings: Settings::USUAL,
                    steps: Vec::new(),
                });
                continue;
            }
            let table = tables.last_mut().expect("a title before the first line");
            match line.strip_prefix("with ") {
                Some(given) => table.settings.read(given),
                None => table.steps.extend(Step::read(line)),
            }
        }
        tables
    }
}

impl Settings {
    fn read(&mut self, given: &str) {
        for pair in given.split_whitespace() {
            let (key, value) = pair.split_once('=').expect("KEY=VALUE");
            match key {
                "handshake" => self.handshake = value.parse().expect("milliseconds"),
                "window" => self.window = value.parse().expect("segments"),
                "sack" => self.sack = value.parse().expect("true or false"),
                "ecn" => self.ecn = value.parse().expect("true or false"),
                "burst" => self.burst = value.parse().expect("segments"),
                "restarts" => self.restarts = value.parse().expect("true or false"),
                "pacing" => self.pacing = value.parse().expect("true or false"),
                other => panic!("no setting is called {other:?}"),
            }
        }
    }
}

impl Step {
    /// The steps of a line: one for each number of `ack`, of which the last has what follows.
    fn read(line: &str) -> Vec<Self> {
        let mut columns = line.split('|').map(str::trim);
        let first = columns.next().unwrap_or("");
        let (delay, event) = first.split_once(' ').unwrap_or((first, ""));
        let delay: f64 = delay
            .strip_prefix('+')
            .and_then(|delay| delay.parse().ok())
            .unwrap_or_else(|| panic!("no delay: {line}"));
        let leaving = match columns.next() {
            Some("*") => Leaving::Unchecked,
            Some(segments) => Leaving::Exactly(ranges(segments).into_iter().flatten().collect()),
            None => Leaving::Exactly(Vec::new()),
        };
        let state = columns.flat_map(str::split_whitespace).map(|fact| {
            let (name, value) = fact.split_once('=').expect("NAME=VALUE");
            Fact {
                name: name.to_string(),
                value: value.to_string(),
            }
        });
        let mut events: Vec<_> = Event::read(event.trim()).into_iter().map(Some).collect();
        let last = events.pop().flatten();
        let step = |event| Self {
            delay,
            event,
            leaving: Leaving::Exactly(Vec::new()),
            state: Vec::new(),
            line: line.to_string(),
        };
        let unchecked = leaving == Leaving::Unchecked;
        let mut steps: Vec<Self> = events.into_iter().map(step).collect();
        for step in steps.iter_mut().filter(|_| unchecked) {
            step.leaving = Leaving::Unchecked;
        }
        steps.push(Self {
            leaving,
            state: state.collect(),
            ..step(last)
        });
        steps
    }
}

impl Event {
    fn read(text: &str) -> Vec<Self> {
        let mut words = text.split_whitespace();
        let number =
            |word: &str| -> u64 { word.parse().unwrap_or_else(|_| panic!("no number: {word}")) };
        match words.next() {
            None => Vec::new(),
            Some("write") => vec![Self::Write(number(
                words.next().expect("how many segments"),
            ))],
            Some("ack") => {
                let numbers = words.next().expect("up to which segment");
                let rest: Vec<&str> = words.collect();
                let ece = rest.contains(&"ece");
                let blocks = rest.iter().filter(|&&word| word != "sack" && word != "ece");
                let sack: Vec<_> = blocks.flat_map(|word| ranges(word)).collect();
                let ack = |acked| Self::Ack {
                    acked,
                    sack: sack.clone(),
                    ece,
                };
                acknowledged(numbers).into_iter().map(ack).collect()
            }
            Some(other) => panic!("no event is called {other:?}"),
        }
    }
}

/// The numbers of `2`, `2,4`, or `2..10/2`: from 2 to 10 by twos.
fn acknowledged(text: &str) -> Vec<u64> {
    let number =
        |word: &str| -> u64 { word.parse().unwrap_or_else(|_| panic!("no number: {word}")) };
    match text.split_once("..") {
        None => text.split(',').map(number).collect(),
        Some((first, rest)) => {
            let (last, step) = rest.split_once('/').unwrap_or((rest, "1"));
            (number(first)..=number(last))
                .step_by(number(step) as usize)
                .collect()
        }
    }
}

/// Segments and ranges of them.
fn ranges(text: &str) -> Vec<RangeInclusive<u64>> {
    let number =
        |word: &str| -> u64 { word.parse().unwrap_or_else(|_| panic!("no number: {word}")) };
    let range = |word: &str| match word.split_once('-') {
        Some((first, last)) => number(first)..=number(last),
        None => number(word)..=number(word),
    };
    text.split_whitespace().map(range).collect()
}
