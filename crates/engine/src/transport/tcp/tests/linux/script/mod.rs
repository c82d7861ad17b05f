//! Reader of packetdrill's scripts (`.pkt`): translates each script into a [`Table`], which the tests run.
//!
//! ```sh
//! PACKETDRILL=FOLDER cargo test -p longhaul-engine packetdrill -- --ignored --nocapture
//! ```
//!
//! The reader accepts lines with `<` and `>`, `write`, `close`, sysctls, and assertions about `tcpi_...`. In a script
//! that can be run, only one endpoint sends data, in full segments. If a script cannot be run, for example since the
//! peer sends data, the test prints the reason.

mod python;
mod segment;
mod shell;
mod statements;

use std::path::Path;

use self::python::Variables;
use self::segment::Segment;
use self::statements::{Action, When, statements};
use super::table::{Event, Leaving, Settings, Step, Table};

/// System calls without an effect on a sender of whole segments.
const WITHOUT_EFFECT: &[&str] = &[
    "socket",
    "bind",
    "listen",
    "accept",
    "connect",
    "fcntl",
    "getsockopt",
];

/// Socket options without an effect on the sender that scripts test.
const OPTIONS_WITHOUT_EFFECT: &[&str] = &["SO_REUSEADDR", "SO_SNDBUF", "SO_ERROR", "TCP_NODELAY"];

/// Reads a script; returns an error with the reason if the script cannot be run.
pub(super) fn read(name: &str, text: &str) -> Result<Table, String> {
    let mut reader = Reader::new(name);
    for statement in statements(text)? {
        reader
            .take(&statement.when, &statement.action)
            .map_err(|reason| format!("{reason}: {}", statement.line))?;
        if reader.is_over {
            break;
        }
    }
    reader.finish()
}

/// Returns all scripts below a folder, in order of their paths below it.
pub(super) fn all_below(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(current) = folders.pop() {
        let entries = std::fs::read_dir(&current).expect("a folder of scripts");
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "pkt") {
                let text = std::fs::read_to_string(&path).expect("a script");
                let name = path.strip_prefix(folder).unwrap_or(&path).display();
                found.push((name.to_string(), text));
            }
        }
    }
    found.sort();
    found
}

/// State while a script is read.
struct Reader {
    table: Table,
    variables: Variables,
    /// Payload bytes of a full segment.
    mss: u64,
    /// Window scale of the peer: the shift of its windows.
    window_scale: u32,
    /// Time in seconds at which the SYN or SYN-ACK left.
    opened_at: Option<f64>,
    is_open: bool,
    /// Smallest window that the peer has announced, in bytes.
    window: u64,
    /// Time of the last statement, in seconds.
    clock: f64,
    /// Time of the last step of `table`, in seconds.
    last_step: f64,
    closed: bool,
    /// True if the last segment written is not full.
    has_part: bool,
    /// True if both ends have closed. The rest of the script is then not read, since it does not concern the sender.
    is_over: bool,
}

impl Reader {
    fn new(name: &str) -> Self {
        Self {
            table: Table {
                name: name.to_string(),
                settings: Settings {
                    // This is the default of packetdrill's `defaults.sh`.
                    restarts: false,
                    ..Settings::USUAL
                },
                steps: Vec::new(),
                not_looked_at: Vec::new(),
            },
            variables: Variables::default(),
            mss: 0,
            window_scale: 0,
            opened_at: None,
            is_open: false,
            window: u64::MAX,
            clock: 0.0,
            last_step: 0.0,
            closed: false,
            has_part: false,
            is_over: false,
        }
    }

    fn take(&mut self, when: &When, action: &Action) -> Result<(), String> {
        self.clock = match when {
            When::After(seconds) => self.clock + seconds,
            When::At(seconds) => *seconds,
        };
        match action {
            Action::Shell(commands) => shell::apply(commands, &mut self.table.settings),
            Action::Python(code) => self.assert(code),
            Action::Arrives(text) => self.arrives(&Segment::read(text)?),
            Action::Leaves(text) => self.leaves(&Segment::read(text)?),
            Action::Call {
                name,
                arguments,
                result,
            } => self.call(name, arguments, result),
        }
    }

    fn arrives(&mut self, segment: &Segment) -> Result<(), String> {
        if segment.has('S') {
            return self.handshake(segment);
        }
        if !self.is_open {
            self.open()?;
            self.window = segment.window.unwrap_or(u64::MAX) << self.window_scale;
            return Ok(());
        }
        if segment.has('F') && self.closed {
            self.is_over = true;
            return Ok(());
        }
        if segment.has('R') || segment.has('F') || segment.end > segment.start {
            return Err("the peer sends something other than an ACK".to_string());
        }
        if let Some(window) = segment.window {
            self.window = self.window.min(window << self.window_scale);
        }
        if self.window < self.mss {
            return Err("the peer closes its window".to_string());
        }
        let acked = self.segments_below(segment.ack.ok_or("no ACK")?)?;
        let sack = segment
            .sack
            .iter()
            .map(|&(start, end)| Ok(self.segments_below(start)? + 1..=self.segments_below(end)?));
        let sack = sack.collect::<Result<_, String>>()?;
        self.step(Some(Event::Ack {
            acked,
            sack,
            ece: segment.has('E'),
        }));
        Ok(())
    }

    /// Reads the peer's SYN or SYN-ACK.
    fn handshake(&mut self, segment: &Segment) -> Result<(), String> {
        if segment.has_timestamps {
            return Err("timestamps".to_string());
        }
        self.mss = segment.mss.ok_or("no segment size")?;
        self.window_scale = segment.window_scale;
        let settings = &mut self.table.settings;
        settings.segment = self.mss as u32;
        settings.sack &= segment.can_sack;
        settings.ecn = segment.has('E');
        if segment.ack.is_some() {
            // This segment is the answer to the sender's own SYN.
            self.open()?;
            self.window = segment.window.unwrap_or(u64::MAX);
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), String> {
        let opened_at = self.opened_at.ok_or("no handshake")?;
        self.is_open = true;
        self.table.settings.handshake = (self.clock - opened_at) * 1e3;
        self.last_step = self.clock;
        Ok(())
    }

    fn leaves(&mut self, segment: &Segment) -> Result<(), String> {
        if segment.has('S') {
            self.opened_at = Some(self.clock);
            return Ok(());
        }
        if segment.has('F') {
            let fin = self.segments_below(segment.end)? + 1;
            return self.expect(fin..=fin);
        }
        if segment.end == segment.start {
            // This segment is the last ACK of a handshake.
            let opens = self.table.steps.is_empty();
            return if opens {
                Ok(())
            } else {
                Err("an ACK leaves".to_string())
            };
        }
        let first = self.segments_below(segment.start)? + 1;
        self.expect(first..=self.segments_below(segment.end)?)
    }

    /// Adds `segments` to the segments that must leave at the current time of the script.
    fn expect(&mut self, segments: std::ops::RangeInclusive<u64>) -> Result<(), String> {
        self.at_this_moment().leaving.push(segments);
        Ok(())
    }

    fn call(&mut self, name: &str, arguments: &str, result: &str) -> Result<(), String> {
        if WITHOUT_EFFECT.contains(&name) {
            return Ok(());
        }
        match name {
            "setsockopt" => {
                let is_known = OPTIONS_WITHOUT_EFFECT
                    .iter()
                    .any(|option| arguments.contains(option));
                is_known.then_some(()).ok_or("a socket option".to_string())
            }
            "write" | "send" => {
                let bytes: u64 = result
                    .parse()
                    .map_err(|_| "a write that does not succeed")?;
                if self.has_part {
                    return Err("a write behind a part of a segment".to_string());
                }
                self.has_part = !bytes.is_multiple_of(self.mss.max(1));
                self.step(Some(Event::Write(bytes)));
                Ok(())
            }
            "close" => {
                self.closed = true;
                self.step(Some(Event::Close));
                Ok(())
            }
            _ => Err("a call".to_string()),
        }
    }

    fn assert(&mut self, code: &str) -> Result<(), String> {
        let facts = self.variables.facts(code)?;
        if !self.is_open {
            return Ok(());
        }
        for fact in facts {
            if fact.is_known() {
                self.at_this_moment().state.push(fact);
            } else {
                self.table.not_looked_at.push(fact.name);
            }
        }
        Ok(())
    }

    /// Returns the step for the current time: the last step or, if time has advanced since that step, a new step
    /// without an event.
    fn at_this_moment(&mut self) -> &mut Step {
        if self.table.steps.is_empty() || self.clock > self.last_step {
            self.step(None);
        }
        self.table.steps.last_mut().expect("one was added")
    }

    fn step(&mut self, event: Option<Event>) {
        let delay = (self.clock - self.last_step) * 1e3;
        self.last_step = self.clock;
        let line = format!("{:.3} s, {event:?}", self.clock);
        self.table.steps.push(Step {
            delay,
            event,
            leaving: Leaving::Exactly(Vec::new()),
            state: Vec::new(),
            line,
        });
    }

    /// Returns the number of segments below a sequence number, where data begins with sequence number 1.
    fn segments_below(&self, sequence: u64) -> Result<u64, String> {
        let bytes = sequence.checked_sub(1).ok_or("a sequence number of 0")?;
        match bytes % self.mss.max(1) {
            0 => Ok(bytes / self.mss.max(1)),
            // This number follows a FIN.
            1 if self.closed => Ok(bytes / self.mss + 1),
            _ => Err("parts of segments".to_string()),
        }
    }

    fn finish(mut self) -> Result<Table, String> {
        if !self.is_open {
            return Err("no connection".to_string());
        }
        self.table.settings.window = self.window / self.mss;
        let steps = &mut self.table.steps;
        let has_sent = |step: &Step| step.leaving != Leaving::Exactly(Vec::new());
        // A script that has no line about leaving segments after some point allows anything from there on.
        let checked = steps.iter().rposition(has_sent).map_or(0, |last| last + 1);
        for step in &mut steps[checked..] {
            step.leaving = Leaving::Unchecked;
        }
        Ok(self.table)
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::transport::tcp::tests::linux::table::{Event, Leaving};

    const SCRIPT: &str = "
// The line is a comment.
`../common/defaults.sh
sysctl -q net.ipv4.tcp_slow_start_after_idle=1`
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
   +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
 +.02 < . 1:1(0) ack 1 win 300
   +0 accept(3, ..., ...) = 4
   +0 write(4, ..., 3000) = 3000
   +0 > P. 1:3001(3000) ack 1
   +0 %{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd
assert tcpi_rtt >= 20000 }%
+.02 < . 1:1(0) ack 1001 win 257 <sack 2001:3001,nop,nop>
+.01~+.012 > . 1001:2001(1000) ack 1
   +0 close(4) = 0
";

    #[test]
    fn a_script_becomes_a_table() {
        let table = read("script", SCRIPT).expect("a script");
        let settings = &table.settings;
        assert!(settings.restarts && settings.sack && !settings.ecn);
        assert_eq!((settings.handshake, settings.window), (20.0, 32));
        assert_eq!(table.not_looked_at, ["rtt"]);
        let delays: Vec<f64> = table.steps.iter().map(|step| step.delay.round()).collect();
        assert_eq!(delays, [0.0, 20.0, 10.0, 0.0]);
        assert_eq!(table.steps[0].event, Some(Event::Write(3000)));
        assert_eq!(table.steps[0].leaving, Leaving::Exactly(vec![1, 2, 3]));
        assert_eq!(table.steps[0].state.len(), 1);
        let ack = Event::Ack {
            acked: 1,
            sack: vec![3..=3],
            ece: false,
        };
        assert_eq!(table.steps[1].event, Some(ack));
        assert_eq!(table.steps[2].leaving, Leaving::Exactly(vec![2]));
        assert_eq!(table.steps[3].event, Some(Event::Close));
        assert_eq!(table.steps[3].leaving, Leaving::Unchecked);
    }

    #[test]
    fn what_a_sender_alone_cannot_do_is_not_run() {
        let refused = |from: &str, to: &str| {
            let script = SCRIPT.replace(from, to);
            assert_ne!(script, SCRIPT, "{from}");
            read("script", &script).expect_err(to)
        };
        let parts = refused("2001:3001", "2000:3001");
        assert!(parts.starts_with("parts of segments: "), "{parts}");
        let closes = refused("win 257", "win 0");
        assert!(
            closes.starts_with("the peer closes its window: "),
            "{closes}"
        );
        let data = refused("< . 1:1(0) ack 1001", "< . 1:11(10) ack 1001");
        assert!(data.starts_with("the peer sends something other"), "{data}");
        let sysctl = refused("tcp_slow_start_after_idle", "tcp_thin_dupack");
        assert!(sysctl.starts_with("a sysctl: "), "{sysctl}");
        let stamps = refused("sackOK,nop,nop,nop,wscale 7", "sackOK,TS val 1 ecr 0");
        assert!(stamps.starts_with("timestamps: "), "{stamps}");
    }
}
