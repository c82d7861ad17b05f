//! The connection to a controller in another process. Each line that is sent gets one line as an
//! answer.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::Program;
use crate::answer::Hello;
use crate::report::{self, Fact, When};

/// Time between two calls of [`Program::stops_waiting`] while an answer is awaited.
const TICK: Duration = Duration::from_millis(100);
/// Maximum length of an answer in bytes, with its newline; actual answers are far shorter.
const MAX_ANSWER: usize = 65_536;

/// Address of a controller, written as `unix:PATH` or `tcp:HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    kind: Kind,
    place: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Unix,
    Tcp,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_port = |port: &str| port.parse::<u16>().is_ok();
        let (kind, place) = match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => (Kind::Unix, path),
            Some(("tcp", place))
                if place
                    .rsplit_once(':')
                    .is_some_and(|(_, port)| is_port(port)) =>
            {
                (Kind::Tcp, place)
            }
            _ => {
                return Err(format!(
                    "expected unix:PATH or tcp:HOST:PORT, found {text:?}"
                ));
            }
        };
        let place = place.to_string();
        Ok(Self { kind, place })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Unix => "unix",
            Kind::Tcp => "tcp",
        };
        write!(out, "{kind}:{}", self.place)
    }
}

/// Reason why a controller has not given a valid answer.
#[derive(Debug)]
pub(crate) enum Problem {
    Failed(String),
    /// The program that runs the simulation asked to stop waiting, and reports the reason itself.
    Stopped,
}

#[derive(Debug)]
enum Stream {
    #[cfg(unix)]
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// An open connection, with buffers that are reused for each exchange.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
    program: Program,
    /// Text of the next line to send.
    pub(crate) line: Vec<u8>,
    received: Vec<u8>,
    /// Facts that each report of an acknowledgement contains.
    pub(crate) facts: Vec<Fact>,
    /// Rule that selects the acknowledgements to report.
    pub(crate) when: When,
    /// Number of flows that have been announced so far.
    pub(crate) flows: u64,
}

impl Connection {
    /// Opens the connection, and sends the first line. The answer selects the facts that reports
    /// contain, and the acknowledgements to report.
    pub(crate) fn open(address: &Address, program: Program) -> Result<Self, Problem> {
        let stream = Stream::connect(address)
            .map_err(|error| Problem::Failed(format!("no controller answers ({error})")))?;
        let mut connection = Self {
            stream,
            program,
            line: Vec::with_capacity(512),
            received: vec![0; MAX_ANSWER],
            facts: Fact::ALL.to_vec(),
            when: When::Ack,
            flows: 0,
        };
        report::hello(&mut connection.line);
        let answer = connection.exchange()?;
        let hello = Hello::read(answer).map_err(Problem::Failed)?;
        connection.facts = hello.facts;
        connection.when = hello.when;
        Ok(connection)
    }

    /// Sends the text in `line` as a line, and returns the answer without its newline.
    pub(crate) fn exchange(&mut self) -> Result<&[u8], Problem> {
        self.line.push(b'\n');
        self.stream
            .write_all(&self.line)
            .map_err(|error| Problem::Failed(closed_or(&error)))?;
        let mut length = 0;
        let mut waits_since = None;
        loop {
            match self.stream.read(&mut self.received[length..]) {
                Ok(0) => return Err(Problem::Failed(CLOSED.to_string())),
                Ok(more) => length += more,
                Err(error) if is_tick(&error) => {
                    let since = waits_since.get_or_insert_with(Instant::now);
                    self.go_on_waiting(*since)?;
                    continue;
                }
                Err(error) => return Err(Problem::Failed(closed_or(&error))),
            }
            let line = &self.received[..length];
            match line.iter().position(|byte| *byte == b'\n') {
                Some(end) if end + 1 == length => break,
                Some(_) => {
                    let found = String::from_utf8_lossy(line);
                    let message = format!("expected one line as answer, found {found:?}");
                    return Err(Problem::Failed(message));
                }
                None if length == MAX_ANSWER => {
                    let message = format!("expected a line of less than {MAX_ANSWER} bytes");
                    return Err(Problem::Failed(message));
                }
                None => {}
            }
        }
        Ok(&self.received[..length - 1])
    }

    fn go_on_waiting(&self, since: Instant) -> Result<(), Problem> {
        if (self.program.stops_waiting)() {
            return Err(Problem::Stopped);
        }
        // One tick had passed already when `since` was set.
        if since.elapsed() + TICK >= self.program.patience {
            let patience = self.program.patience;
            let message = format!("the controller has not answered for {patience:?}");
            return Err(Problem::Failed(message));
        }
        Ok(())
    }
}

const CLOSED: &str = "the controller has closed the connection";

fn closed_or(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => CLOSED.to_string(),
        _ => error.to_string(),
    }
}

/// Returns true if a read ended because [`TICK`] has passed, or a signal arrived.
fn is_tick(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

impl Stream {
    fn connect(address: &Address) -> io::Result<Self> {
        match address.kind {
            #[cfg(unix)]
            Kind::Unix => {
                let stream = UnixStream::connect(&address.place)?;
                stream.set_read_timeout(Some(TICK))?;
                Ok(Self::Unix(stream))
            }
            #[cfg(not(unix))]
            Kind::Unix => Err(io::Error::other("unix: sockets are there on Unix only")),
            Kind::Tcp => {
                let stream = TcpStream::connect(&address.place)?;
                stream.set_read_timeout(Some(TICK))?;
                stream.set_nodelay(true)?;
                Ok(Self::Tcp(stream))
            }
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            #[cfg(unix)]
            Self::Unix(stream) => stream.write_all(bytes),
            Self::Tcp(stream) => stream.write_all(bytes),
        }
    }

    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            #[cfg(unix)]
            Self::Unix(stream) => stream.read(bytes),
            Self::Tcp(stream) => stream.read(bytes),
        }
    }
}
