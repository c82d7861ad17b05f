//! Execution of an emulation, from a checked scenario to its run directory.

use std::path::{Path, PathBuf};

use longhaul_scenario::Scenario;
use pyo3::prelude::*;

/// Options of an emulation.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only on Linux"))]
pub(crate) struct Wanted {
    /// Names of the nodes with hosts.
    pub(crate) nodes: Vec<String>,
    /// Programs, each with the index of its host, its command line, and true if in the foreground.
    pub(crate) programs: Vec<(usize, Vec<String>, bool)>,
    /// True if the scenario's flows share the network with the programs.
    pub(crate) background: bool,
    /// Kernel settings (sysctls) of all hosts.
    pub(crate) sysctls: Vec<(String, String)>,
    /// Capture file for the packets of all hosts; `None` for no capture.
    pub(crate) pcap: Option<PathBuf>,
    /// True to replace an older run of the same name.
    pub(crate) overwrite: bool,
}

/// Result of an emulation: the directory of the results; facts about the emulation as JSON; the
/// error of writing to the requested directory, if another one had to be used; and the exception
/// that stopped the emulation, if any.
pub(crate) type Left = (PathBuf, String, Option<String>, Option<PyErr>);

#[cfg(not(target_os = "linux"))]
pub(crate) fn run(_: &Scenario, _: &Path, _: Wanted) -> PyResult<Left> {
    Err(crate::error::EmulationError::new_err(
        "an emulation needs Linux: its hosts are network namespaces",
    ))
}

#[cfg(target_os = "linux")]
pub(crate) use linux::run;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
    use std::thread::{self, JoinHandle};
    use std::time::{Duration, Instant};

    use longhaul_emulate::{
        Emulated, Emulation, Program, Refusal, Setup, TappedPacket, address_of,
    };
    use longhaul_engine::Config;
    use longhaul_engine::measure::Control;
    use longhaul_output::{HostCapture, OutputError as WriteError, RunWriter};
    use longhaul_scenario::Simulation;
    use serde_json::{Value, json};

    use super::{Left, Path, PathBuf, PyErr, PyResult, Python, Scenario, Wanted};
    use crate::error::{EmulationError, OutputError};
    use crate::run::meta;

    /// Wall-clock time between two checks for signals.
    const STEP: Duration = Duration::from_millis(20);

    /// Maximum number of packets that wait to be written to the capture.
    const MAX_TAPPED: usize = 1 << 14;

    /// Emulates the network of `scenario`, and writes a run directory to `out`, or elsewhere if
    /// `out` cannot be written. Must be called without the interpreter's lock.
    pub(crate) fn run(scenario: &Scenario, out: &Path, wanted: Wanted) -> PyResult<Left> {
        let refused = |refusal: Refusal| EmulationError::new_err(refusal.to_string());
        let Simulation::Tcp(config) = scenario.simulation() else {
            let message =
                "MesoNet's packets have no size and no bytes: its networks cannot be emulated";
            return Err(EmulationError::new_err(message));
        };
        let mut config = config.as_ref().clone();
        if !wanted.background {
            config.flows.clear();
            config.proxies.clear();
        }
        let (tap, capture) = match &wanted.pcap {
            Some(path) => {
                let capture = HostCapture::create(path, &wanted.nodes);
                let capture = capture.map_err(|error| OutputError::new_err(error.to_string()))?;
                let (to, from) = sync_channel(MAX_TAPPED);
                (Some(to), Some(thread::spawn(move || write(capture, &from))))
            }
            None => (None, None),
        };
        let began = Instant::now();
        let emulation = Emulation::start(setup(config, &wanted, tap)?).map_err(refused)?;
        let mut raised = None;
        while !emulation.is_over() {
            thread::sleep(STEP);
            if raised.is_none()
                && let Err(error) = Python::attach(|py| py.check_signals())
            {
                raised = Some(error);
                emulation.stop();
            }
        }
        let emulated = emulation.finish().map_err(refused)?;
        let mut faults = Vec::new();
        if let Some(Err(error)) = capture.and_then(|thread: JoinHandle<_>| thread.join().ok()) {
            faults.push(format!("the capture ends early: {error}"));
        }
        let wall = began.elapsed();
        let circumstances = circumstances(&emulated, &wanted);
        let text = circumstances.to_string();
        let keep = |out: &Path, overwrite: bool| {
            let circumstances = circumstances.clone();
            store(
                scenario,
                &emulated,
                out,
                overwrite,
                circumstances,
                wall,
                &faults,
                raised.as_ref(),
            )
        };
        match keep(out, wanted.overwrite) {
            Ok(directory) => Ok((directory, text, None, raised)),
            Err(error) => {
                let elsewhere = elsewhere(out);
                match keep(&elsewhere, true) {
                    Ok(directory) => Ok((directory, text, Some(error.to_string()), raised)),
                    Err(_) => Err(OutputError::new_err(error.to_string())),
                }
            }
        }
    }

    /// Returns the description of an emulation. Fails if the network has no node of a name in
    /// `wanted.nodes`.
    fn setup(
        config: Config,
        wanted: &Wanted,
        tap: Option<SyncSender<TappedPacket>>,
    ) -> PyResult<Setup> {
        let node = |name: &String| {
            let position = config.nodes.iter().position(|node| node == name);
            position.ok_or_else(|| EmulationError::new_err(format!("there is no node `{name}`")))
        };
        let hosts = wanted.nodes.iter().map(node).collect::<PyResult<_>>()?;
        let program = |(host, arguments, is_in_foreground): &(usize, Vec<String>, bool)| Program {
            host: *host,
            arguments: arguments.clone(),
            is_in_foreground: *is_in_foreground,
        };
        Ok(Setup {
            hosts,
            programs: wanted.programs.iter().map(program).collect(),
            sysctls: wanted.sysctls.clone(),
            tap,
            config,
        })
    }

    /// Writes packets to the capture until the emulation ends. After an error it discards further
    /// packets.
    fn write(mut capture: HostCapture, from: &Receiver<TappedPacket>) -> Result<(), WriteError> {
        let mut result = Ok(());
        for packet in from {
            if result.is_ok() {
                result = capture.push(packet.host, packet.time, &packet.bytes);
            }
        }
        result.and_then(|()| capture.finish())
    }

    /// Returns the facts about an emulation for run.json.
    fn circumstances(emulated: &Emulated, wanted: &Wanted) -> Value {
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let hosts = wanted.nodes.iter().enumerate();
        let hosts = hosts
            .map(|(number, node)| json!({"node": node, "address": address_of(number).to_string()}));
        let programs = emulated.programs.iter().map(|ended| {
            json!({
                "node": wanted.nodes[ended.program.host],
                "arguments": ended.program.arguments,
                "in_foreground": ended.program.is_in_foreground,
                "code": ended.code,
                "was_asked_to_end": ended.was_asked,
            })
        });
        json!({
            "kernel": kernel.trim(),
            "hosts": hosts.collect::<Vec<_>>(),
            "programs": programs.collect::<Vec<_>>(),
            "sysctls": wanted.sysctls,
            "lateness": emulated.lateness,
            "is_excessively_late": emulated.lateness.is_excessive(),
            "missed_window_from_s": emulated.missed_window.map(|from| from.as_secs_f64()),
            "not_real_time": emulated.not_real_time,
            "processor_ticks": emulated.busy,
            "stray_pkts": emulated.stray_pkts,
            "missed_in_capture_pkts": emulated.missed_pkts,
        })
    }

    /// Returns the run directory to use if `out` cannot be written: in `/dev/shm` (memory), or else
    /// in the system's directory for temporary files.
    fn elsewhere(out: &Path) -> PathBuf {
        let name = out.file_name().unwrap_or_default().to_string_lossy();
        let shared_memory = Path::new("/dev/shm");
        let place = match shared_memory.is_dir() {
            true => shared_memory.to_path_buf(),
            false => std::env::temp_dir(),
        };
        place.join(format!("longhaul-{}-{name}", std::process::id()))
    }

    /// Writes the run directory of an emulation to `out`. Returns its path.
    #[expect(clippy::too_many_arguments, reason = "the parts of a run directory")]
    fn store(
        scenario: &Scenario,
        emulated: &Emulated,
        out: &Path,
        overwrite: bool,
        circumstances: Value,
        wall: Duration,
        faults: &[String],
        raised: Option<&PyErr>,
    ) -> Result<PathBuf, WriteError> {
        let mut totals = emulated.totals.clone();
        let mut meta = meta(scenario, emulated.config.clone(), overwrite);
        let late = emulated.lateness;
        if late.is_excessive() {
            let share = late.share_over_1ms * 100.0;
            meta.warnings.insert(
                0,
                format!("not in time: {share:.1} % of the packets were more than 1 ms late"),
            );
        }
        meta.warnings.extend_from_slice(faults);
        totals.stopped = raised.is_some();
        if raised.is_none() {
            // The planned duration was that of the program, with the scenario's duration as the
            // limit.
            meta.duration = totals.end;
        }
        let writer = RunWriter::create(out, meta, Box::new(|_, _| Control::Continue))?;
        let mut writer = writer.of_emulation(circumstances);
        if raised.is_some() {
            writer.note_stop("an interrupt");
        }
        emulated.records.replay(&mut writer);
        writer.finish(&totals, wall, 0).map(|run| run.directory)
    }
}
