//! Input of the tests: a network of two nodes with a link in each direction, two TCP flows and a
//! UDP flow; and directories to write to.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul_congestion::{ControllerSpec, SlowStart};
use longhaul_engine::config::{
    AckCounting, Clock, ClockError, Config, DirectionKeys, Flow, Link, Measure, Randomness,
    Recovery, Shaper, Spacing, Start, Tcp, Transport, Udp,
};
use longhaul_engine::measure::Control;
use longhaul_engine::queue::{Capacity, DropTail, QueueConfig};
use longhaul_keys::{Profile, Table, Value};
use longhaul_output::{Progress, RunMeta};
use longhaul_units::{Bytes, Rate, Span, Time};

pub fn seconds(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

/// Returns a path that does not exist yet, in an existing directory for temporary files.
pub fn scratch(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory.join("run")
}

pub fn meta(config: Config) -> RunMeta {
    RunMeta {
        scenario_hash: "0123abcd".to_string(),
        resolved_scenario: serde_json::json!({ "title": "two nodes", "duration": "10 s" }),
        config: Arc::new(config),
        version: "0.1.0".to_string(),
        warnings: vec!["the buffer is small".to_string()],
        overwrite: false,
        duration: seconds(10.0),
    }
}

pub fn no_progress() -> Progress {
    Box::new(|_, _| Control::Continue)
}

pub fn config() -> Config {
    Config {
        seed: 42,
        replication: 3,
        duration: seconds(10.0),
        clock: Clock::Exact,
        randomness: Randomness::Streams,
        measure: Measure {
            from: seconds(2.0),
            every: Some(Span::from_millis(100)),
            events: true,
            delays: false,
            stop: None,
        },
        nodes: vec!["west".to_string(), "east".to_string()],
        captured_nodes: Vec::new(),
        links: vec![link("bottleneck", 0, 1), link("bottleneck-reverse", 1, 0)],
        flows: vec![
            flow("hstcp-1", Transport::Tcp(Arc::new(tcp("hstcp")))),
            flow("reno-1", Transport::Tcp(Arc::new(tcp("reno")))),
            flow(
                "noise-1",
                Transport::Udp(Udp {
                    rate: Rate::from_bps(1_000_000),
                    packet_bytes: 500,
                    header_bytes: 28,
                    bursts: None,
                    spacing: Spacing::Even,
                }),
            ),
        ],
        proxies: Vec::new(),
    }
}

fn link(name: &str, from: usize, to: usize) -> Link {
    let carries = (Rate::from_bps(100_000_000), Span::from_millis(50));
    let queue = QueueConfig::DropTail(DropTail::new(Capacity::Packets(100)));
    Link {
        direction: DirectionKeys {
            shaper: Some(Shaper {
                rate: Rate::from_bps(50_000_000),
                burst: Bytes(15_000),
            }),
            ..DirectionKeys::default()
        },
        sampled: true,
        captured: true,
        ..Link::plain(name.to_string(), (from, to), carries, queue)
    }
}

fn flow(name: &str, transport: Transport) -> Flow {
    Flow {
        label: name.trim_end_matches("-1").to_string(),
        name: name.to_string(),
        bundle: name.to_string(),
        from: 0,
        to: 1,
        start: Start::At(Time::ZERO),
        stop: None,
        via: None,
        via_back: None,
        traced: Vec::new(),
        clock: ClockError::default(),
        transport,
    }
}

/// Returns TCP parameters with a receive window of 1000 segments of 1448 bytes. This window needs a window scale of 5.
fn tcp(kind: &str) -> Tcp {
    let rfc =
        Table::defaults(Tcp::KEYS, Profile::Rfc).with(Tcp::receive_window, Value::Whole(1000));
    let congestion = ControllerSpec {
        kind: kind.to_string(),
        ..Default::default()
    };
    Tcp {
        ack_counting: AckCounting::PerAck,
        delayed_ack: None,
        ..Tcp::of(
            &rfc,
            None,
            1448,
            congestion,
            SlowStart::Standard,
            Recovery::Sack,
        )
    }
}
