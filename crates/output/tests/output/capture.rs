//! Tests of packets.pcapng as tshark reads it. They do nothing if tshark is not installed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use longhaul_engine::measure::{CapturedPacket, Recorder, Totals};
use longhaul_output::RunWriter;

use crate::fixture::{config, meta, no_progress, scratch, seconds};

/// Returns a data segment of the first flow.
fn data() -> CapturedPacket {
    CapturedPacket {
        time: seconds(1.25),
        interface: 0,
        connection: 0,
        flow: 0,
        opened_by_receiver: false,
        reverse: false,
        udp: false,
        payload_bytes: 1448,
        sequence: 1,
        acknowledgement: 1,
        window_bytes: 1_448_000,
        syn: false,
        ack: true,
        fin: false,
        ece: false,
        cwr: false,
        ae: false,
        ect: true,
        ect1: false,
        ce: false,
        timestamps: Some((seconds(1.2), seconds(1.1))),
        sack: [None; 3],
        dropped: false,
    }
}

/// Returns a pure acknowledgement of the first flow.
fn ack() -> CapturedPacket {
    CapturedPacket {
        interface: 1,
        reverse: true,
        payload_bytes: 0,
        ect: false,
        ..data()
    }
}

fn packets() -> Vec<CapturedPacket> {
    let syn = CapturedPacket {
        syn: true,
        ack: false,
        sequence: 0,
        acknowledgement: 0,
        payload_bytes: 0,
        ect: false,
        ece: true,
        cwr: true,
        ..data()
    };
    let syn_ack = CapturedPacket {
        syn: true,
        sequence: 0,
        acknowledgement: 1,
        ece: true,
        ..ack()
    };
    let sack = [Some((2897, 4345)), Some((5793, 7241)), Some((8689, 10_137))];
    // The first byte beyond 32 bits is number 2^32.
    let far = (1 << 32) + 100;
    vec![
        syn,
        syn_ack,
        CapturedPacket {
            reverse: false,
            interface: 0,
            ..ack()
        },
        data(),
        CapturedPacket {
            ce: true,
            sequence: 1449,
            dropped: true,
            ..data()
        },
        CapturedPacket {
            acknowledgement: 1449,
            sack,
            ece: true,
            ..ack()
        },
        CapturedPacket {
            cwr: true,
            ae: true,
            ect1: true,
            sequence: 2897,
            ..data()
        },
        CapturedPacket {
            timestamps: None,
            sack,
            acknowledgement: 1449,
            ..ack()
        },
        CapturedPacket {
            flow: 1,
            sequence: far,
            ..data()
        },
        CapturedPacket {
            flow: 1,
            acknowledgement: far + 1448,
            ..ack()
        },
        CapturedPacket {
            fin: true,
            payload_bytes: 0,
            sequence: 4345,
            ..data()
        },
        CapturedPacket {
            flow: 2,
            udp: true,
            payload_bytes: 472,
            ect: false,
            ..data()
        },
        CapturedPacket {
            flow: 2,
            udp: true,
            payload_bytes: 0,
            ect: false,
            ..data()
        },
    ]
}

fn capture(name: &str) -> PathBuf {
    let mut writer = RunWriter::create(&scratch(name), meta(config()), no_progress()).unwrap();
    for packet in packets() {
        writer.packet(&packet);
    }
    let totals = Totals {
        end: seconds(10.0),
        stopped: false,
        out_of_memory: None,
        flows: vec![],
        links: vec![],
        proxies: Vec::new(),
        delays: None,
        data_packets: 0,
        events: 0,
        events_pending_max: 0,
        run_warnings: Vec::new(),
    };
    let summary = writer.finish(&totals, Duration::from_secs(1), 0).unwrap();
    assert_eq!(summary.rows.packets, Some(packets().len() as u64));
    summary.directory.join("packets.pcapng")
}

/// Returns the lines that tshark prints about a file; `None` if tshark is not installed.
fn tshark(file: &Path, arguments: &[&str]) -> Option<Vec<String>> {
    let checks = [
        "tcp.check_checksum:TRUE",
        "ip.check_checksum:TRUE",
        "udp.check_checksum:TRUE",
    ];
    let output = Command::new("tshark")
        .arg("-r")
        .arg(file)
        .args(checks.iter().flat_map(|check| ["-o", check]))
        .args(arguments)
        .output()
        .ok()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(str::to_string)
            .collect(),
    )
}

#[test]
fn tshark_finds_nothing_wrong() {
    let wrong = "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0 \
                 || udp.checksum.status == 0 || _ws.expert.severity == error";
    let Some(lines) = tshark(&capture("valid"), &["-Y", wrong]) else {
        return;
    };
    assert_eq!(lines, [""; 0]);
    let verified = "tcp.checksum.status == 1 && ip.checksum.status == 1";
    let lines = tshark(&capture("verified"), &["-Y", verified]).unwrap();
    let without_payload = packets()
        .iter()
        .filter(|p| !p.udp && p.payload_bytes == 0)
        .count();
    assert_eq!(lines.len(), without_payload, "{lines:?}");
}

/// Returns the named fields of every packet, as tshark reads them; `None` if tshark is not
/// installed. All are read in one call, since tshark starts slowly.
fn dissected(file: &Path, names: &[&'static str]) -> Option<Vec<BTreeMap<&'static str, String>>> {
    let mut arguments = vec!["-T", "fields", "-E", "separator=;"];
    arguments.extend(names.iter().flat_map(|name| ["-e", name]));
    let lines = tshark(file, &arguments)?;
    let packet = |line: &String| {
        let values = line.split(';').map(str::to_string);
        names.iter().copied().zip(values).collect()
    };
    Some(lines.iter().map(packet).collect())
}

#[test]
fn tshark_reads_what_was_sent() {
    const FIELDS: [&str; 24] = [
        "frame.time_epoch",
        "frame.len",
        "frame.cap_len",
        "frame.interface_name",
        "frame.interface_description",
        "frame.comment",
        "ip.src",
        "ip.dst",
        "ip.len",
        "ip.proto",
        "ip.dsfield.ecn",
        "tcp.len",
        "tcp.flags",
        "tcp.seq_raw",
        "tcp.ack_raw",
        "tcp.window_size_value",
        "tcp.window_size",
        "tcp.options.mss_val",
        "tcp.options.wscale.shift",
        "tcp.options.timestamp.tsval",
        "tcp.options.timestamp.tsecr",
        "tcp.options.sack_le",
        "tcp.options.sack_re",
        "udp.length",
    ];
    let Some(packets) = dissected(&capture("fields"), &FIELDS) else {
        return;
    };
    let assert_fields = |number: usize, expected: &[(&str, &str)]| {
        for (name, value) in expected {
            assert_eq!(
                packets[number - 1][name],
                *value,
                "{name} of packet {number}"
            );
        }
    };
    // SYN, ECE and CWR; an unscaled window.
    let syn = [
        ("tcp.flags", "0x00c2"),
        ("tcp.options.mss_val", "1460"),
        ("tcp.options.wscale.shift", "5"),
        ("tcp.window_size_value", "65535"),
    ];
    assert_fields(1, &syn);
    // 14 + 20 + 32 + 1448 bytes of which 66 are kept; ECT(0); window 1 448 000 / 32.
    let data = [
        ("frame.time_epoch", "1.250000000"),
        ("frame.len", "1514"),
        ("frame.cap_len", "66"),
        ("tcp.len", "1448"),
        ("ip.dsfield.ecn", "2"),
        ("ip.src", "10.0.0.1"),
        ("ip.dst", "10.0.0.2"),
        ("tcp.window_size", "1448000"),
        ("tcp.options.timestamp.tsval", "1200"),
        ("tcp.options.timestamp.tsecr", "1100"),
        ("frame.interface_name", "bottleneck"),
        (
            "frame.interface_description",
            "packets as they come to the link from west to east, before its queue",
        ),
        ("frame.comment", ""),
    ];
    assert_fields(4, &data);
    let dropped = ("frame.comment", "dropped on arrival at this link");
    assert_fields(5, &[("ip.dsfield.ecn", "3"), dropped]);
    let ack = [
        ("tcp.flags", "0x0050"),
        ("tcp.ack_raw", "1449"),
        ("tcp.options.sack_le", "2897,5793,8689"),
        ("tcp.options.sack_re", "4345,7241,10137"),
    ];
    assert_fields(6, &ack);
    // CWR and AE; ECT(1).
    assert_fields(7, &[("tcp.flags", "0x0190"), ("ip.dsfield.ecn", "1")]);
    assert_fields(9, &[("tcp.seq_raw", "100")]);
    assert_fields(11, &[("tcp.flags", "0x0011")]);
    let datagram = [("udp.length", "480"), ("ip.len", "500"), ("ip.proto", "17")];
    assert_fields(12, &datagram);
}
