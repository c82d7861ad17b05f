//! packets.pcapng as tshark sees it. Without tshark the tests pass without a word.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use longhaul_engine::measure::{CapturedPacket, Recorder, Totals};
use longhaul_output::RunWriter;

use crate::fixture::{config, meta, no_progress, scratch, seconds};

/// A data segment of the first flow.
fn data() -> CapturedPacket {
    CapturedPacket {
        time: seconds(1.25),
        link: 0,
        flow: 0,
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
        ect: true,
        ce: false,
        timestamps: Some((seconds(1.2), seconds(1.1))),
        sack: [None; 3],
    }
}

/// A pure acknowledgement of the first flow.
fn ack() -> CapturedPacket {
    CapturedPacket {
        link: 1,
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
            link: 0,
            ..ack()
        },
        data(),
        CapturedPacket {
            ce: true,
            sequence: 1449,
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
        flows: vec![],
        links: vec![],
        data_packets: 0,
        events: 0,
        events_pending_max: 0,
    };
    let summary = writer.finish(&totals, Duration::from_secs(1), 0).unwrap();
    assert_eq!(summary.rows.packets, Some(packets().len() as u64));
    summary.directory.join("packets.pcapng")
}

/// Lines that tshark prints about a file, or nothing if there is no tshark.
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

#[test]
fn tshark_reads_what_was_sent() {
    let fields = |number: usize, names: &[&str]| {
        let filter = format!("frame.number == {number}");
        let mut arguments = vec!["-Y", &filter, "-T", "fields", "-E", "separator=;"];
        arguments.extend(names.iter().flat_map(|name| ["-e", name]));
        tshark(&capture(&format!("fields-{number}")), &arguments).map(|lines| lines[0].clone())
    };
    let syn = [
        "tcp.flags",
        "tcp.options.mss_val",
        "tcp.options.wscale.shift",
        "tcp.window_size_value",
    ];
    let Some(line) = fields(1, &syn) else { return };
    // SYN, ECE and CWR; an unscaled window.
    assert_eq!(line, "0x00c2;1448;5;65535");
    // 1.25 s; 14 + 20 + 32 + 1448 bytes of which 66 are kept; ECT(0); window 1 448 000 / 32.
    let data = [
        "frame.time_epoch",
        "frame.len",
        "frame.cap_len",
        "tcp.len",
        "ip.dsfield.ecn",
        "ip.src",
        "ip.dst",
        "tcp.window_size",
        "tcp.options.timestamp.tsval",
        "tcp.options.timestamp.tsecr",
        "frame.interface_name",
    ];
    assert_eq!(
        fields(4, &data).unwrap(),
        "1.250000000;1514;66;1448;2;10.0.0.1;10.0.0.2;1448000;1200;1100;bottleneck"
    );
    assert_eq!(fields(5, &["ip.dsfield.ecn"]).unwrap(), "3");
    let sack = [
        "tcp.flags",
        "tcp.ack_raw",
        "tcp.options.sack_le",
        "tcp.options.sack_re",
    ];
    assert_eq!(
        fields(6, &sack).unwrap(),
        "0x0050;1449;2897,5793,8689;4345,7241,10137"
    );
    assert_eq!(fields(7, &["tcp.flags"]).unwrap(), "0x0090");
    assert_eq!(fields(9, &["tcp.seq_raw"]).unwrap(), "100");
    assert_eq!(fields(11, &["tcp.flags"]).unwrap(), "0x0011");
    assert_eq!(
        fields(12, &["udp.length", "ip.len", "ip.proto"]).unwrap(),
        "480;500;17"
    );
}
