//! What a recording leaves: `samples.csv`, `packets.csv`, `late.csv` and `recording.json`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Error, Result, Write};
use std::path::Path;

use serde::Serialize;

use crate::case::Case;
use crate::forwarder::{Arrival, Log};
use crate::lateness::Summary;
use crate::link::Fate;
use crate::machine::Machine;
use crate::samples::Sample;

/// Everything about a recording.
pub(crate) struct Report<'a> {
    pub(crate) case: &'a Case,
    pub(crate) machine: &'a Machine,
    pub(crate) log: &'a Log,
    pub(crate) samples: &'a [Sample],
    pub(crate) busy: Busy,
}

/// How busy the machine was: ticks of all processors.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Busy {
    /// Ticks in which processors did anything.
    used: u64,
    idle: u64,
    /// Ticks that a hypervisor gave to others.
    stolen: u64,
}

impl Busy {
    pub(crate) fn begin() -> Self {
        let text = fs::read_to_string("/proc/stat").unwrap_or_default();
        let words = text.lines().next().unwrap_or_default().split_whitespace();
        // user nice system idle iowait irq softirq steal
        let ticks: Vec<u64> = words.skip(1).flat_map(str::parse).collect();
        let of = |places: &[usize]| places.iter().filter_map(|&at| ticks.get(at)).sum();
        Self {
            used: of(&[0, 1, 2, 5, 6]),
            idle: of(&[3, 4]),
            stolen: of(&[7]),
        }
    }

    pub(crate) fn end(self) -> Self {
        let now = Self::begin();
        Self {
            used: now.used - self.used,
            idle: now.idle - self.idle,
            stolen: now.stolen - self.stolen,
        }
    }
}

#[derive(Serialize)]
struct Document<'a> {
    case: &'a Case,
    kernel: String,
    lateness: Summary,
    /// Of all processors, during the recording.
    ticks: Busy,
    /// From the SYN to the ACK of the last byte, of each flow that has one.
    completion_s: Vec<Option<f64>>,
    /// The largest window that receivers advertised.
    largest_window_bytes: u32,
    sysctls: &'a BTreeMap<String, String>,
    counters: BTreeMap<String, BTreeMap<String, u64>>,
}

impl Report<'_> {
    /// Writes all files.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder)?;
        self.write_samples(&folder.join("samples.csv"))?;
        self.write_packets(&folder.join("packets.csv"))?;
        self.write_late(&folder.join("late.csv"))?;
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
        let seconds = |ns: i64| ns as f64 / 1e9;
        let completions = self
            .log
            .flows
            .iter()
            .map(|flow| flow.completion().map(seconds));
        let document = Document {
            case: self.case,
            kernel: kernel.trim().to_string(),
            lateness: self.log.lateness.summary(),
            ticks: self.busy,
            completion_s: completions.collect(),
            largest_window_bytes: self
                .samples
                .iter()
                .map(|s| s.info.snd_wnd)
                .max()
                .unwrap_or(0),
            sysctls: &self.machine.sysctls,
            counters: self.machine.counters()?,
        };
        let text = serde_json::to_string_pretty(&document).map_err(Error::other)?;
        fs::write(folder.join("recording.json"), text)
    }

    fn write_samples(&self, file: &Path) -> Result<()> {
        let mut out = BufWriter::new(File::create(file)?);
        writeln!(
            out,
            "t,flow,cwnd,ssthresh,rtt_us,rttvar_us,min_rtt_us,retrans,lost,sacked,unacked,ca_state,bytes_acked,\
             pacing_rate,reordering,reord_seen,dsack_dups,snd_wnd,rto_us,bbr_bw,bbr_min_rtt_us,bbr_pacing_gain"
        )?;
        for Sample {
            time,
            flow,
            info: i,
            bbr,
        } in self.samples
        {
            writeln!(
                out,
                "{:.6},{flow},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                self.seconds(*time),
                i.cwnd,
                i.ssthresh,
                i.rtt_us,
                i.rttvar_us,
                i.min_rtt_us,
                i.total_retrans,
                i.lost,
                i.sacked,
                i.unacked,
                i.ca_state,
                i.bytes_acked,
                i.pacing_rate,
                i.reordering,
                i.reord_seen,
                i.dsack_dups,
                i.snd_wnd,
                i.rto_us,
                bbr.bandwidth(),
                bbr.min_rtt_us,
                bbr.pacing_gain(),
            )?;
        }
        out.flush()
    }

    fn write_packets(&self, file: &Path) -> Result<()> {
        let mut out = BufWriter::new(File::create(file)?);
        writeln!(out, "t,flow,offset,payload,waiting,fate")?;
        for arrival in &self.log.arrivals {
            let Arrival {
                flow,
                offset,
                payload,
                waiting,
                ..
            } = arrival;
            let (time, fate) = (self.seconds(arrival.time), word(arrival.fate));
            writeln!(out, "{time:.6},{flow},{offset},{payload},{waiting},{fate}")?;
        }
        out.flush()
    }

    fn write_late(&self, file: &Path) -> Result<()> {
        let mut out = BufWriter::new(File::create(file)?);
        writeln!(out, "due,late_us")?;
        for (due, late) in &self.log.lateness.late {
            writeln!(out, "{:.6},{}", self.seconds(*due), late / 1000)?;
        }
        out.flush()
    }

    /// Of the recording's clock.
    fn seconds(&self, time: i64) -> f64 {
        (time - self.log.start) as f64 / 1e9
    }
}

fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::Forwarded => "forwarded",
        Fate::Marked => "marked",
        Fate::HeldBack => "held-back",
        Fate::Overflow => "overflow",
        Fate::Lost => "lost",
    }
}
