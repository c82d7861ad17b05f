//! Records what TCP senders of this machine's kernel do: `longhaul-recorder CASE.json FOLDER`, as root.
//!
//! Two network namespaces, which end with the process, each have a TUN device. A loop in user space takes packets
//! from one and gives them to the other, later, as a link with a rate, a delay and a queue would
//! ([`link`]); the senders are sampled meanwhile ([`samples`]). Nothing leaves the two namespaces.
//!
//! Exit codes: 0 recorded; 2 the case cannot be read; 3 this machine does not allow it (no root, TUN or
//! namespaces); 4 something failed while recording.

mod applications;
mod case;
mod forwarder;
mod lateness;
mod link;
mod machine;
mod packet;
mod report;
mod samples;
mod system;
mod tcp_info;
mod tun;

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use crate::case::Case;
use crate::forwarder::Forwarder;
use crate::machine::Machine;
use crate::report::Report;

/// After the recording, for the last samples.
const GRACE: Duration = Duration::from_millis(50);

/// Why nothing was recorded.
struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    fn case(message: impl Display) -> Self {
        Self {
            code: 2,
            message: message.to_string(),
        }
    }

    fn machine(message: impl Display) -> Self {
        Self {
            code: 3,
            message: format!("cannot record on this machine: {message}"),
        }
    }

    fn recording(message: impl Display) -> Self {
        Self {
            code: 4,
            message: message.to_string(),
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.as_slice() {
        [check] if check == "--check" => Machine::check().map_err(Failure::machine),
        [case, folder] => record(case, Path::new(folder)),
        _ => Err(Failure::case(
            "usage: longhaul-recorder CASE.json FOLDER, or --check",
        )),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { code, message }) => {
            eprintln!("{message}");
            ExitCode::from(code)
        }
    }
}

fn record(file: &str, folder: &Path) -> Result<(), Failure> {
    let text =
        std::fs::read_to_string(file).map_err(|error| Failure::case(format!("{file}: {error}")))?;
    let case = Case::read(&text).map_err(|error| Failure::case(format!("{file}: {error}")))?;
    let machine = Machine::prepare(&case).map_err(Failure::machine)?;
    let busy = report::Busy::begin();
    let start = system::now() + system::nanoseconds(0.05);
    let samples = samples::begin(&case, &machine, start);
    applications::begin(&case, &machine, start);
    let log = Forwarder::new(&case, &machine, start)
        .run()
        .map_err(|error| Failure::recording(format!("forwarder: {error}")))?;
    std::thread::sleep(GRACE);
    let samples = samples.end();
    let report = Report {
        case: &case,
        machine: &machine,
        log: &log,
        samples: &samples,
        busy: busy.end(),
    };
    report
        .write(folder)
        .map_err(|error| Failure::recording(format!("{}: {error}", folder.display())))
}
