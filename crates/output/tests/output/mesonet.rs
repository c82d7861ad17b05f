//! Tests of the tables of a simulation of MesoNet. The written records are made up, not simulated.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul_congestion::{ControllerSpec, SlowStart};
use longhaul_mesonet::config::{
    AccessClass, AccessRouter, Algorithm, BackboneLink, Config, FileType, Files, Hosts, LargeFile,
    LongLived, Measure, PacketRate, Parent, PathClass, Pop, Router, Service, StartWaves, Topology,
    Transport, Users,
};
use longhaul_mesonet::records::{
    ClassSample, ClassTotals, EdgeSample, FlowClass, FlowGroup, FlowRecord, GoodputBatch, Interval,
    LongLivedSample, QueueSample, Recorder, RouterSample, Totals,
};
use longhaul_output::{MesoNetMeta, MesoNetWriter, RunMeta};
use longhaul_units::{Span, Time};
use serde_json::Value;

use crate::fixture::{no_progress, scratch, seconds};
use crate::tables::Read;

const TABLES: [&str; 7] = [
    "network",
    "classes",
    "long_lived",
    "routers",
    "edges",
    "backbone_links",
    "goodput",
];

fn router(name: &str, rate: f64, buffer: u64) -> Router {
    Router {
        name: name.to_string(),
        capacity: PacketRate::per_ms(rate),
        buffer,
    }
}

fn access(name: &str, class: AccessClass, parent: Parent) -> AccessRouter {
    AccessRouter {
        router: router(name, 10.0, 20),
        class,
        parent,
        sources: 5,
        receivers: 7,
    }
}

/// Returns a network of two backbone routers: X with a normal access router below a point of
/// presence, and Y with a direct access router. Intervals are 200 ms.
fn config() -> Config {
    let link = |name: &str, from, to| BackboneLink {
        name: name.to_string(),
        from,
        to,
        delay: Span::from_millis(5),
    };
    let algorithm = |kind: &str, alternate| Algorithm {
        label: kind.to_uppercase(),
        congestion: ControllerSpec {
            kind: kind.to_string(),
            ..Default::default()
        },
        share: 0.5,
        alternate,
    };
    Config {
        seed: 7,
        replication: 2,
        duration: seconds(0.4),
        topology: Topology {
            backbone: vec![router("X", 100.0, 50), router("Y", 100.0, 50)],
            links: vec![link("X-Y", 0, 1), link("Y-X", 1, 0)],
            next_link: vec![vec![None, Some(0)], vec![Some(1), None]],
            pops: vec![Pop {
                router: router("X1", 40.0, 30),
                backbone: 0,
            }],
            access: vec![
                access("X1a", AccessClass::Normal, Parent::Pop(0)),
                access("Y0a", AccessClass::Direct, Parent::Backbone(1)),
            ],
            service: Service::Dual,
            shared_buffer: false,
        },
        hosts: Hosts {
            base: PacketRate::per_ms(8.0),
            fast: PacketRate::per_ms(80.0),
            fast_share: 0.4,
        },
        transport: Transport {
            initial_cwnd: 2.0,
            initial_ssthresh: 100.0,
            slow_start: SlowStart::Standard,
            max_cwnd: 1e9,
            min_cwnd: 1,
            srtt_gain: 0.125,
            srtt_allowance: Span::ZERO,
            rtt_excess: Span::ZERO,
            handshake_rtt: true,
        },
        algorithms: vec![algorithm("reno", false), algorithm("hstcp", true)],
        users: Users {
            think: Span::from_secs(5),
            start: StartWaves {
                at_once: 1.0,
                second: 0.0,
                third: 0.0,
            },
        },
        files: Files {
            mean: 50.0,
            shape: 1.5,
            large: [LargeFile {
                probability: 0.0,
                factor: 1,
            }; 3],
            admission: None,
            jumbo: None,
        },
        long_lived: vec![LongLived {
            label: "L1".to_string(),
            from: 0,
            to: 1,
            start: Time::ZERO,
            stop: seconds(0.4),
            algorithm: Some(1),
            speed: PacketRate::per_ms(80.0),
        }],
        measure: Measure {
            every: Span::from_millis(200),
            batch: 1000,
            flow_log: true,
        },
        trace: None,
    }
}

fn meta(tables: &[&str]) -> MesoNetMeta {
    MesoNetMeta {
        run: RunMeta {
            scenario_hash: "0123abcd".to_string(),
            resolved_scenario: serde_json::json!({ "mesonet": {} }),
            config: Arc::new(config()),
            version: "0.1.0".to_string(),
            warnings: vec![],
            overwrite: false,
            duration: Time::ZERO + Span::from_secs(10),
        },
        tables: tables.iter().map(ToString::to_string).collect(),
        flush_every: Some(1),
        checkpoint_every: None,
    }
}

/// Returns a sample of a class with ten active flows. Four are in initial slow start. The other six are past it: five
/// behave as standard TCP, and one differs from standard TCP.
fn class() -> ClassSample {
    ClassSample {
        active: 10,
        connecting: 3,
        in_initial_slow_start: 4,
        in_normal_mode: 5,
        above_threshold: 1,
        srtt_sum_s: 2.0,
        cwnd_sum: 120.0,
        completed: 4,
        failed: 1,
        retransmission_sum: 0.5,
        packets_out: 600,
        naks: 20,
        timeouts: 5,
        increases: 50,
        growth_sum: 25.0,
    }
}

fn long_lived() -> LongLivedSample {
    LongLivedSample {
        active: true,
        in_initial_slow_start: false,
        above_threshold: true,
        cwnd: 30.0,
        ssthresh: 40.0,
        srtt: Span::from_millis(200),
        fast_alpha: None,
        packets_out: 100,
        naks: 2,
        timeouts: 1,
        increases: 9,
        growth: 4.5,
    }
}

/// Returns the sample of a router after `intervals` intervals. In each interval, 100 packets were
/// forwarded upwards and 3 dropped.
fn queues(intervals: u64) -> RouterSample {
    RouterSample {
        up: QueueSample {
            waiting: 10,
            arrived: 103 * intervals + 10,
            forwarded: 100 * intervals,
            dropped: 3 * intervals,
        },
        down: QueueSample {
            waiting: 5,
            arrived: 5 + 200 * intervals,
            forwarded: 200 * intervals,
            dropped: 0,
        },
        active_flows: 6,
        completed_flows: 2 * intervals,
    }
}

const GROUP: FlowGroup = FlowGroup {
    file: FileType::ServicePack,
    path: PathClass::Typical,
    fast_interface: true,
    alternate: true,
};

/// Writes a run of two intervals, a batch of goodputs and two flows. Returns the content of its
/// run.json.
fn write(out: &Path, tables: &[&str]) -> Value {
    write_run(out, meta(tables))
}

fn write_run(out: &Path, meta: MesoNetMeta) -> Value {
    let mut writer = MesoNetWriter::create(out, meta, no_progress()).unwrap();
    let mut classes = [ClassSample::default(); 6];
    classes[FlowClass::Dn as usize] = class();
    for number in 1..=2 {
        writer.interval(&Interval {
            number,
            end: seconds(0.2 * number as f64),
            packets_in: 1000,
            packets_out: 700,
            classes: &classes,
            long_lived: &[long_lived()],
            backbone: &[queues(number); 2],
            pops: &[queues(number)],
            access: &[queues(number); 2],
            edges: &[EdgeSample {
                active: 4,
                naks: 6,
                first_syns: 2,
                syns: 3,
                no_receivers: 1,
                ..EdgeSample::default()
            }; 2],
            links: &[11, 12],
            large_files: [7, 5, 3],
        });
    }
    writer.batch(&GoodputBatch {
        group: GROUP,
        interval: 2,
        count: 1000,
        mean: 50.0,
        deviation: 4.0,
        min: 1.0,
        max: 99.0,
        deciles: [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0],
    });
    let flow = FlowRecord {
        source: 1,
        receiver: 9,
        from: 0,
        to: 1,
        class: FlowClass::Dn,
        group: GROUP,
        algorithm: 1,
        start: seconds(0.05),
        connected: Some(seconds(0.1)),
        end: seconds(0.3),
        size_pkts: 40,
        sent_pkts: 44,
        syns: 1,
        naks: 2,
        timeouts: 0,
    };
    writer.flow(&flow);
    writer.flow(&FlowRecord {
        connected: None,
        ..flow
    });
    let mut totals = Totals {
        end: seconds(0.4),
        stopped: false,
        packets_in: 2000,
        packets_out: 1400,
        events: 9000,
        classes: [ClassTotals::default(); 6],
        trace_full: None,
        max_flows: 14,
        bytes_per_flow: 256,
        bytes_per_host: (32, 16),
    };
    totals.classes[FlowClass::Dn as usize] = ClassTotals {
        connected: 10,
        completed: 8,
        failed: 2,
        goodput_sum: 1600.0,
        syns: 12,
    };
    writer
        .finish(&totals, Duration::from_secs(1), 1000)
        .unwrap();
    let text = std::fs::read_to_string(out.join("run.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-12, "{found}, not {wanted}");
}

#[test]
fn the_network_is_the_sum_of_classes_and_long_lived_flows() {
    let out = scratch("mesonet-network");
    write(&out, &TABLES);
    let network = Read::new(&out.join("network.parquet"));
    assert_eq!(network.rows.len(), 2);
    assert_eq!(network.count("interval", 1), 2);
    near(network.real("t_s", 1), 0.4);
    assert_eq!(network.count("active_flows", 0), 11);
    assert_eq!(network.count("above_threshold_flows", 0), 2);
    assert_eq!(network.count("initial_slow_start_flows", 0), 4);
    // Sums over active flows: (2 + 0.2) s and (120 + 30) packets; NAKs 22.
    near(network.real("srtt_mean_s", 0), 0.2);
    near(network.real("cwnd_mean_pkts", 0), 150.0 / 11.0);
    near(network.real("naks_per_flow", 0), 2.0);
    // The mean is over completed flows.
    near(network.real("retransmission_rate", 0), 0.125);
    near(network.real("loss_rate", 0), 0.3);
    assert_eq!(network.count("no_receivers", 0), 2);
    let large = ["document_flows", "service_pack_flows", "movie_flows"];
    assert_eq!(large.map(|column| network.count(column, 1)), [7, 5, 3]);
}

#[test]
fn a_class_counts_flows_completed_in_the_interval_half() {
    let out = scratch("mesonet-classes");
    write(&out, &TABLES);
    let classes = Read::new(&out.join("classes.parquet"));
    assert_eq!(classes.rows.len(), 12);
    assert_eq!(classes.text("class", 2), "DN");
    assert_eq!(classes.count("active_flows", 2), 10);
    // 600 packets in 200 ms, 10 + 4 / 2 flows.
    near(classes.real("throughput_pps", 2), 250.0);
    near(classes.real("increases_per_flow", 2), 5.0);
    near(classes.real("growth_mean_pkts", 2), 2.5);
    // Without flows there is no mean.
    assert_eq!(classes.text("class", 6), "DD");
    assert!(classes.is_null("cwnd_mean_pkts", 6));
    assert!(classes.is_null("throughput_pps", 6));
}

#[test]
fn long_lived_flows_have_their_mode_and_rate() {
    let out = scratch("mesonet-long-lived");
    write(&out, &TABLES);
    let flows = Read::new(&out.join("long_lived.parquet"));
    assert_eq!(flows.text("flow", 0), "L1");
    assert_eq!(flows.text("mode", 0), "alternate");
    near(flows.real("throughput_pps", 0), 500.0);
    near(flows.real("srtt_s", 0), 0.2);
    assert!(flows.is_null("fast_alpha_pkts", 0));
}

#[test]
fn routers_count_what_happened_in_the_interval() {
    let out = scratch("mesonet-routers");
    write(&out, &TABLES);
    let routers = Read::new(&out.join("routers.parquet"));
    assert_eq!(routers.rows.len(), 10);
    // The access router X1a in the second interval: 10 packets a millisecond, 20 in each queue.
    let row = 5 + 3;
    assert_eq!(routers.text("tier", row), "access");
    assert_eq!(routers.text("router", row), "X1a");
    assert_eq!(routers.count("forwarded_up_pkts", row), 100);
    assert_eq!(routers.count("forwarded_down_pkts", row), 200);
    assert_eq!(routers.count("dropped_up_pkts", row), 3);
    assert_eq!(routers.count("arrived_up_pkts", row), 103);
    near(routers.real("queue_share", row), 15.0 / 40.0);
    near(routers.real("utilisation", row), 300.0 / 2000.0);
    // A backbone router has one queue.
    assert!(routers.is_null("queue_down_pkts", 5));
    near(routers.real("queue_share", 5), 0.2);
    near(routers.real("utilisation", 5), 100.0 / 20_000.0);
}

#[test]
fn a_buffer_for_both_queues_is_half_as_large_as_two() {
    let out = scratch("mesonet-routers-one-buffer");
    let mut meta = meta(&TABLES);
    let mut config = config();
    config.topology.service = Service::Shared;
    config.topology.shared_buffer = true;
    meta.run.config = Arc::new(config);
    write_run(&out, meta);
    let routers = Read::new(&out.join("routers.parquet"));
    near(routers.real("queue_share", 5 + 3), 15.0 / 20.0);
    near(routers.real("queue_share", 5), 0.2);
}

#[test]
fn edges_links_and_groups_have_their_rows() {
    let out = scratch("mesonet-edges");
    write(&out, &TABLES);
    let edges = Read::new(&out.join("edges.parquet"));
    assert_eq!(edges.text("router", 1), "Y0a");
    near(edges.real("naks_per_flow", 1), 1.5);
    near(edges.real("syns_per_first_syn", 1), 1.5);
    let links = Read::new(&out.join("backbone_links.parquet"));
    assert_eq!(links.text("link", 3), "Y-X");
    assert_eq!(links.count("entered_pkts", 3), 12);
    let goodput = Read::new(&out.join("goodput.parquet"));
    // Service packs on typical paths between fast hosts: group 11 of table 8-6.
    assert_eq!(goodput.count("group", 0), 11);
    assert_eq!(goodput.text("file", 0), "service pack");
    assert_eq!(goodput.text("role", 0), "alternate");
    near(goodput.real("p90_pps", 0), 90.0);
}

#[test]
fn the_flow_log_and_the_totals_leave_out_the_time_of_connecting() {
    let out = scratch("mesonet-log");
    write(&out, &TABLES);
    let flows = Read::new(&out.join("flows.parquet"));
    assert_eq!(flows.text("algorithm", 0), "HSTCP");
    near(flows.real("goodput_pps", 0), 200.0);
    assert!(flows.is_null("goodput_pps", 1) && flows.is_null("connected_s", 1));
    let totals = Read::new(&out.join("totals.parquet"));
    assert_eq!(totals.rows.len(), 6);
    near(totals.real("goodput_mean_pps", 2), 200.0);
    near(totals.real("syns_per_connection", 2), 1.2);
    assert!(totals.is_null("goodput_mean_pps", 0));
    let topology = Read::new(&out.join("topology.parquet"));
    assert_eq!(topology.text("above", 3), "X1");
    assert_eq!(topology.text("class", 4), "direct");
    assert_eq!(topology.count("receivers", 4), 7);
    assert!(topology.is_null("class", 0));
}

#[test]
fn run_json_says_what_there_is_and_what_a_flow_took() {
    let out = scratch("mesonet-json");
    let run = write(&out, &["network"]);
    assert_eq!(run["seed"], 7);
    assert_eq!(run["data_packets"], 2000);
    assert_eq!(run["mesonet"]["delivered_packets"], 1400);
    assert_eq!(run["mesonet"]["bytes_per_source"], 32);
    assert_eq!(
        run["rows"],
        serde_json::json!({
            "network": 2, "flows": 2, "totals": 6, "topology": 5,
        })
    );
    assert!(!out.join("routers.parquet").exists());
}

#[test]
fn rows_are_in_groups_of_the_intervals_that_the_scenario_says() {
    let out = scratch("mesonet-groups");
    write(&out, &TABLES);
    assert_eq!(Read::new(&out.join("classes.parquet")).row_groups(), 2);
    assert_eq!(Read::new(&out.join("totals.parquet")).row_groups(), 1);
}
