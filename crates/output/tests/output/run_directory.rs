//! Run directories: a repeated run gives the same bytes, and no unfinished or unrequested file
//! stays on disk.

use std::fs;
use std::path::Path;
use std::time::Duration;

use longhaul_engine::measure::{Control, Recorder};
use longhaul_output::{OutputError, Progress, RunWriter};

use crate::fixture::{config, meta, no_progress, scratch, seconds};
use crate::records::{SAMPLES, record, totals, write};

#[test]
fn the_same_run_gives_the_same_bytes() {
    let first = write(&scratch("first"), Duration::from_secs(1)).directory;
    let second = write(&scratch("second"), Duration::from_secs(2)).directory;
    for file in [
        "flows.parquet",
        "links.parquet",
        "series.parquet",
        "events.parquet",
        "packets.pcapng",
    ] {
        assert!(
            fs::read(first.join(file)).unwrap() == fs::read(second.join(file)).unwrap(),
            "{file}"
        );
    }
    let run = |directory: &Path| {
        let text = fs::read_to_string(directory.join("run.json")).unwrap();
        let (simulation, machine) = text.split_once("\"machine\"").unwrap();
        (simulation.to_string(), machine.to_string())
    };
    assert_eq!(run(&first).0, run(&second).0);
    assert_ne!(run(&first).1, run(&second).1);
}

#[test]
fn run_json_tells_where_the_tables_come_from() {
    let summary = write(&scratch("run_json"), Duration::from_secs(2));
    let text = fs::read_to_string(summary.directory.join("run.json")).unwrap();
    let mut run: serde_json::Value = serde_json::from_str(&text).unwrap();
    let fields = run.as_object_mut().unwrap();
    let files = fields.remove("sha256").unwrap();
    let names: Vec<_> = files.as_object().unwrap().keys().collect();
    let expected = ["events", "flows", "links", "packets", "series"];
    assert!(
        names
            .iter()
            .zip(expected)
            .all(|(name, of)| name.starts_with(of))
    );
    assert_eq!(
        fields
            .remove("sha256_above")
            .unwrap()
            .as_str()
            .unwrap()
            .len(),
        64
    );
    let expected = serde_json::json!({
        "version": "0.1.0",
        "results_version": longhaul_engine::RESULTS_VERSION,
        "seed": 42,
        "replication": 3,
        "simulated_s": 10.0,
        "duration_s": 10.0,
        "stopped": false,
        "measured_from_s": 2.0,
        "data_packets": 123_456,
        "events": 700_000,
        "events_pending_max": 9,
        "warnings": ["the buffer is small", "the run was short"],
        "rows": { "flows": 3, "links": 2, "series": 3 * SAMPLES, "events": 6, "packets": 0 },
        "scenario_hash": "0123abcd",
        "scenario": { "title": "two nodes", "duration": "10 s" },
        "machine": { "wall_s": 2.0, "packets_per_s": 61_728.0, "peak_memory_bytes": 10_000_000 },
    });
    assert_eq!(run, expected);
}

/// Checks that the keys of run.json have the same order in every build. Our code must sort the keys
/// of JSON values: `serde_json` sorts them only in a build of this crate alone. In a build of the
/// workspace, it keeps the order of insertion, since quinn's qlog enables `preserve_order`.
#[test]
fn keys_of_run_json_have_one_order_in_every_build() {
    let writer = RunWriter::create(&scratch("order"), meta(config()), no_progress()).unwrap();
    let writer = writer.of_emulation(serde_json::json!({
        "sysctls": { "tcp_sack": "1", "tcp_ecn": "0" },
        "hosts": [{ "node": "left", "address": "10.0.0.1" }],
    }));
    let run = writer.finish(&totals(), Duration::from_secs(1), 0).unwrap();
    let text = fs::read_to_string(run.directory.join("run.json")).unwrap();
    let key = |line: &str, indent: usize| {
        let name = line.get(indent..)?.strip_prefix('"')?.split('"').next()?;
        (line.len() - line.trim_start().len() == indent).then(|| name.to_string())
    };
    let keys = |text: &str, indent: usize| -> Vec<String> {
        text.lines().filter_map(|line| key(line, indent)).collect()
    };
    let parts = [
        "version",
        "results_version",
        "seed",
        "replication",
        "simulated_s",
        "duration_s",
        "stopped",
        "measured_from_s",
        "data_packets",
        "events",
        "events_pending_max",
        "emulation",
        "warnings",
        "rows",
        "scenario_hash",
        "scenario",
        "sha256",
        "sha256_above",
        "machine",
    ];
    assert_eq!(keys(&text, 2), parts);
    let (_, rest) = text.split_once("\"emulation\"").unwrap();
    let (emulation, _) = rest.split_once("\"warnings\"").unwrap();
    assert_eq!(keys(emulation, 4), ["hosts", "sysctls"]);
    assert_eq!(keys(emulation, 6), ["tcp_ecn", "tcp_sack"]);
    assert_eq!(keys(emulation, 8), ["address", "node"]);
}

#[test]
fn only_what_was_asked_for_is_written() {
    let mut config = config();
    config.measure.every = None;
    config.measure.events = false;
    config
        .links
        .iter_mut()
        .for_each(|link| link.captured = false);
    let writer = RunWriter::create(&scratch("minimal"), meta(config), no_progress()).unwrap();
    let directory = writer
        .finish(&totals(), Duration::from_secs(1), 0)
        .unwrap()
        .directory;
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    files.sort();
    assert_eq!(files, ["flows.parquet", "links.parquet", "run.json"]);
}

#[test]
fn a_run_that_is_not_finished_leaves_nothing() {
    let out = scratch("killed");
    let mut writer = RunWriter::create(&out, meta(config()), no_progress()).unwrap();
    record(&mut writer);
    assert!(!out.exists());
    drop(writer);
    assert_eq!(fs::read_dir(out.parent().unwrap()).unwrap().count(), 0);
}

#[test]
fn two_writers_of_one_name_do_not_share_a_directory() {
    let out = scratch("twins");
    let first = RunWriter::create(&out, meta(config()), no_progress()).unwrap();
    let second = RunWriter::create(&out, meta(config()), no_progress()).unwrap();
    first.finish(&totals(), Duration::from_secs(1), 0).unwrap();
    let refused = second
        .finish(&totals(), Duration::from_secs(1), 0)
        .unwrap_err();
    assert!(matches!(refused, OutputError::Exists(_)), "{refused}");
    assert_eq!(fs::read_dir(out.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn an_older_run_stays_unless_overwriting_is_allowed() {
    let out = scratch("older");
    write(&out, Duration::from_secs(1));
    let before = fs::read(out.join("run.json")).unwrap();
    let refused = RunWriter::create(&out, meta(config()), no_progress()).unwrap_err();
    assert!(refused.to_string().contains("already exists"), "{refused}");
    assert!(
        refused.to_string().contains(&out.display().to_string()),
        "{refused}"
    );
    assert_eq!(fs::read(out.join("run.json")).unwrap(), before);

    let mut meta = meta(config());
    meta.overwrite = true;
    let writer = RunWriter::create(&out, meta, no_progress()).unwrap();
    // The older run stays until the new one is complete.
    assert_eq!(fs::read(out.join("run.json")).unwrap(), before);
    writer.finish(&totals(), Duration::from_secs(5), 0).unwrap();
    assert_ne!(fs::read(out.join("run.json")).unwrap(), before);
    assert_eq!(fs::read_dir(out.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_directory_that_is_no_run_is_never_overwritten() {
    let out = scratch("precious");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("thesis.tex"), "years of work").unwrap();
    let mut meta = meta(config());
    meta.overwrite = true;
    let refused = RunWriter::create(&out, meta, no_progress()).unwrap_err();
    assert!(matches!(refused, OutputError::NotARun(_)), "{refused}");
    assert!(out.join("thesis.tex").exists());
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let file = scratch("unwritable");
    fs::write(&file, "a file, not a directory").unwrap();
    let refused = RunWriter::create(&file.join("run"), meta(config()), no_progress()).unwrap_err();
    assert!(
        refused.to_string().starts_with("cannot create"),
        "{refused}"
    );
    assert!(
        refused.to_string().contains(&file.display().to_string()),
        "{refused}"
    );
}

#[test]
fn the_callback_sees_progress_and_can_stop() {
    let (sender, seen) = std::sync::mpsc::channel();
    let progress: Progress = Box::new(move |now, packets| {
        let packets = packets();
        sender.send((now, packets)).unwrap();
        if packets < 100 {
            Control::Continue
        } else {
            Control::Stop
        }
    });
    let mut writer = RunWriter::create(&scratch("progress"), meta(config()), progress).unwrap();
    assert_eq!(writer.progress(seconds(1.0), &mut || 10), Control::Continue);
    assert_eq!(writer.progress(seconds(2.0), &mut || 100), Control::Stop);
    assert_eq!(
        seen.try_iter().collect::<Vec<_>>(),
        [(seconds(1.0), 10), (seconds(2.0), 100)]
    );
}
