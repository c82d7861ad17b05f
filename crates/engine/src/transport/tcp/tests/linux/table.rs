//! Tables of events and of a sender's reactions, read from text.
//!
//! ```text
//! == directory/name: description
//! with KEY=VALUE ...
//! +DELAY EVENT | segments that leave | state afterwards
//! ```
//!
//! Delays are milliseconds since the line before. Events: `write N` (N segments); `close`; `ack N` (acknowledges all
//! segments up to N), followed by `sack A-B C ...` and `ece`. `ack N,M` is two ACKs, each after the delay. A line
//! without an event waits for segments that leave by themselves. Only the given segments may leave; `*` allows any.
//! The state has the names of Linux's `TCP_INFO` (see [`Info`]); segments are numbered from 1.

use std::ops::RangeInclusive;

use crate::transport::tcp::info::Info;

/// A table of events and of a sender's reactions.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) settings: Settings,
    pub(super) steps: Vec<Step>,
    /// Quantities that a script checks but that the sender's state does not include.
    pub(super) not_looked_at: Vec<String>,
}

/// Settings that differ from the profile `linux`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Bytes of a full segment.
    pub(super) segment: u32,
    /// Round-trip time of the handshake, in milliseconds.
    pub(super) handshake: f64,
    /// The peer's window, in segments.
    pub(super) window: u64,
    pub(super) sack: bool,
    pub(super) ecn: bool,
    pub(super) pacing: bool,
    /// Minimum number of paced segments that leave together (`tcp_min_tso_segs`).
    pub(super) burst: u32,
    /// True if the window is reduced after an idle time (`tcp_slow_start_after_idle`).
    pub(super) restarts: bool,
}

impl Settings {
    pub(super) const USUAL: Self = Self {
        segment: 1000,
        handshake: 100.0,
        window: 1000,
        sack: true,
        ecn: false,
        pacing: false,
        burst: 2,
        restarts: true,
    };
}

/// A line of a table: an event, and the expected packets and state.
#[derive(Debug)]
pub(super) struct Step {
    /// Delay since the previous step, in milliseconds.
    pub(super) delay: f64,
    pub(super) event: Option<Event>,
    pub(super) leaving: Leaving,
    pub(super) state: Vec<Fact>,
    /// Text of the line.
    pub(super) line: String,
}

#[derive(Debug, PartialEq)]
pub(super) enum Event {
    /// The application writes this many bytes.
    Write(u64),
    /// An ACK arrives. It acknowledges all segments up to `acked`, and the ranges in `sack`.
    Ack {
        acked: u64,
        sack: Vec<RangeInclusive<u64>>,
        ece: bool,
    },
    /// The application closes: a FIN follows once the data is acknowledged.
    Close,
}

/// Segments that the sender must send at one step of a table.
#[derive(Debug, PartialEq)]
pub(super) enum Leaving {
    /// The listed segments, and no others.
    Exactly(Vec<u64>),
    Unchecked,
}

/// A condition on a value of the sender's state.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) name: String,
    pub(super) relation: Relation,
    pub(super) value: f64,
}

/// Relation of a value to its expected value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Relation {
    Equal,
    Other,
    AtLeast,
    AtMost,
    Above,
    Below,
}

/// Fields of the kernel's `TCP_INFO`, each with its name in a [`Table`].
const NAMES: [(&str, &str); 8] = [
    ("snd_cwnd", "cwnd"),
    ("snd_ssthresh", "ssthresh"),
    ("ca_state", "state"),
    ("unacked", "unacked"),
    ("sacked", "sacked"),
    ("lost", "lost"),
    ("retrans", "retrans"),
    ("reordering", "reordering"),
];

/// Congestion avoidance states, in the order of their numbers in the kernel.
const STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];

/// Value of an unlimited ssthresh (`TCP_INFINITE_SSTHRESH`).
const INFINITE: f64 = i32::MAX as f64;

impl Relation {
    /// Returns the relation that results if the two sides are exchanged.
    pub(super) fn turned(self) -> Self {
        match self {
            Self::AtLeast => Self::AtMost,
            Self::AtMost => Self::AtLeast,
            Self::Above => Self::Below,
            Self::Below => Self::Above,
            same => same,
        }
    }

    fn holds(self, found: f64, value: f64) -> bool {
        match self {
            Self::Equal => found == value,
            Self::Other => found != value,
            Self::AtLeast => found >= value,
            Self::AtMost => found <= value,
            Self::Above => found > value,
            Self::Below => found < value,
        }
    }
}

impl Fact {
    /// Creates a condition as in packetdrill's scripts: the kernel's variable `name` is compared with `value`.
    pub(super) fn of_kernel(name: &str, relation: Relation, value: f64) -> Self {
        let own = NAMES.iter().find(|(kernel, _)| *kernel == name);
        Self {
            name: own.map_or(name, |(_, own)| own).to_string(),
            relation,
            value,
        }
    }

    /// Reads a condition of a table, such as `cwnd=10`.
    fn read(text: &str) -> Self {
        let (name, value) = text.split_once('=').expect("NAME=VALUE");
        let state = STATES.iter().position(|state| *state == value);
        let number = match value {
            "infinite" => Some(INFINITE),
            value => state.map_or_else(|| value.parse().ok(), |state| Some(state as f64)),
        };
        let fact = Self {
            name: name.to_string(),
            relation: Relation::Equal,
            value: number.unwrap_or_else(|| panic!("no value: {text}")),
        };
        assert!(fact.is_known(), "no state is called {name:?}");
        fact
    }

    /// Returns true if the sender's state includes the value.
    pub(super) fn is_known(&self) -> bool {
        NAMES.iter().any(|(_, own)| *own == self.name)
    }

    /// Compares the value in the sender's state `info` with the expected one; describes the difference, if any.
    pub(super) fn differs(&self, info: &Info) -> Option<String> {
        let state = STATES.iter().position(|state| *state == info.ca_state);
        let found = match self.name.as_str() {
            "cwnd" => info.cwnd as f64,
            "ssthresh" => info.ssthresh.min(INFINITE),
            "state" => state.map_or(f64::NAN, |state| state as f64),
            "unacked" => info.unacked as f64,
            "sacked" => info.sacked as f64,
            "lost" => info.lost as f64,
            "retrans" => info.retrans as f64,
            "reordering" => info.reordering as f64,
            other => unreachable!("{other}"),
        };
        let Self {
            name,
            relation,
            value,
        } = self;
        (!relation.holds(found, *value))
            .then(|| format!("{name} is {found}, expected {relation:?} {value}"))
    }
}

impl Leaving {
    /// Adds segments to the expected ones.
    pub(super) fn push(&mut self, segments: RangeInclusive<u64>) {
        if let Self::Exactly(expected) = self {
            expected.extend(segments);
        }
    }
}

impl Table {
    /// Reads all tables of a text.
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
                    not_looked_at: Vec::new(),
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
    /// Reads the steps of one line of a table. An `ack` with several numbers gives one step for each number. The
    /// segments and the state that the line expects are checked in the last step.
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
        let state = columns.flat_map(str::split_whitespace).map(Fact::read);
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
            Some("write") => {
                let segments = number(words.next().expect("how many segments"));
                vec![Self::Write(segments * u64::from(Settings::USUAL.segment))]
            }
            Some("close") => vec![Self::Close],
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

/// Reads a list of numbers such as `2`, `2,4`, or `2..10/2` (every second number from 2 to 10).
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

/// Reads a list of segments and of ranges of segments.
fn ranges(text: &str) -> Vec<RangeInclusive<u64>> {
    let number =
        |word: &str| -> u64 { word.parse().unwrap_or_else(|_| panic!("no number: {word}")) };
    let range = |word: &str| match word.split_once('-') {
        Some((first, last)) => number(first)..=number(last),
        None => number(word)..=number(word),
    };
    text.split_whitespace().map(range).collect()
}
