//! Tables of a run: they contain the recorded values.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul_engine::config::{Source, Transport};
use longhaul_engine::measure::{Exchange, Recorder};
use longhaul_output::RunWriter;
use longhaul_units::Span;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::Value;

use crate::fixture::{config, meta, no_progress, scratch, seconds};
use crate::records::{SAMPLES, flow_sample, link_sample, totals, write};

/// A table that was read from its file.
pub struct Read {
    reader: SerializedFileReader<File>,
    pub rows: Vec<Row>,
}

impl Read {
    pub fn new(path: &Path) -> Self {
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let rows = reader.get_row_iter(None).unwrap();
        let rows = rows.collect::<Result<_, _>>().unwrap();
        Self { reader, rows }
    }

    /// Returns the descriptions of the columns in the file's metadata.
    pub fn descriptions(&self) -> Vec<Value> {
        let metadata = self.reader.metadata().file_metadata();
        let pairs = metadata.key_value_metadata().unwrap();
        let columns = pairs.iter().find(|pair| pair.key == "longhaul.columns");
        let json = columns.and_then(|pair| pair.value.as_ref()).unwrap();
        serde_json::from_str(json).unwrap()
    }

    pub fn row_groups(&self) -> usize {
        self.reader.metadata().num_row_groups()
    }

    pub fn field(&self, column: &str, row: usize) -> &Field {
        let mut fields = self.rows[row].get_column_iter();
        fields.find(|(name, _)| *name == column).expect(column).1
    }

    pub fn is_null(&self, column: &str, row: usize) -> bool {
        *self.field(column, row) == Field::Null
    }

    pub fn real(&self, column: &str, row: usize) -> f64 {
        match self.field(column, row) {
            Field::Double(real) => *real,
            other => panic!("{column} is {other:?}"),
        }
    }

    pub fn count(&self, column: &str, row: usize) -> i64 {
        match self.field(column, row) {
            Field::Long(count) => *count,
            other => panic!("{column} is {other:?}"),
        }
    }

    pub fn text(&self, column: &str, row: usize) -> &str {
        match self.field(column, row) {
            Field::Str(text) => text,
            other => panic!("{column} is {other:?}"),
        }
    }
}

#[test]
fn the_series_hold_every_sample() {
    let out = scratch("series").join("new").join("run");
    let summary = write(&out, Duration::from_secs(1));
    assert_eq!(summary.rows.series, Some(3 * SAMPLES));
    let series = Read::new(&summary.directory.join("series.parquet"));
    assert_eq!(series.rows.len() as u64, 3 * SAMPLES);
    for n in [0, 1, 2, 5461, 5462, 5999] {
        let sample = flow_sample(n);
        let row = 3 * n as usize;
        assert_eq!(series.text("kind", row), "flow");
        assert_eq!(series.count("id", row), i64::from(sample.flow));
        assert_eq!(
            series.text("name", row),
            ["hstcp-1", "reno-1"][sample.flow as usize]
        );
        assert!((series.real("t_s", row) - n as f64 / 1000.0).abs() < 1e-12);
        assert_eq!(Some(series.real("cwnd_pkts", row)), sample.cwnd);
        assert_eq!(Some(series.real("ssthresh_pkts", row)), sample.ssthresh);
        assert_eq!(series.is_null("srtt_s", row), n < 2);
        assert_eq!(series.count("in_flight_pkts", row), 1 + n as i64);
        assert_eq!(series.count("sent_pkts", row), 2 + 3 * n as i64);
        assert_eq!(series.count("retransmitted_pkts", row), n as i64 / 7);
        assert_eq!(series.count("delivered_bytes", row), 1448 * n as i64);
        assert_eq!(series.count("in_order_bytes", row), 1000 * n as i64);
        assert!(series.is_null("queue_pkts", row) && series.is_null("marked_pkts", row));

        let sample = link_sample(n);
        let row = row + 1;
        assert_eq!(series.text("kind", row), "link");
        assert_eq!(series.text("name", row), "bottleneck-reverse");
        assert_eq!(series.count("queue_pkts", row), n as i64 % 100);
        assert_eq!(series.count("queue_bytes", row), n as i64 % 100 * 1500);
        assert_eq!(series.is_null("queue_avg_pkts", row), n % 2 == 1);
        assert!(series.is_null("max_p", row) && series.is_null("cwnd_pkts", row));
        match sample.drop_p {
            Some(drop_p) => assert_eq!(series.real("drop_p", row), drop_p),
            None => assert!(series.is_null("drop_p", row)),
        }
        assert_eq!(
            series.real("queue_integral_pkt_s", row),
            sample.queue_integral
        );
        assert_eq!(series.count("departed_pkts", row), 5 * n as i64);
        assert_eq!(series.count("departed_bytes", row), 7500 * n as i64);
        assert_eq!(
            series.real("transmitted_bytes", row),
            sample.transmitted_bytes
        );
        assert_eq!(series.count("dropped_pkts", row), n as i64 / 10);
        assert_eq!(series.count("marked_pkts", row), n as i64 / 20);
        // The link's rate is 100 Mbit/s.
        let capacity = series.real("t_s", row) * 12.5e6;
        let found = series.count("capacity_bytes", row) as f64;
        assert!((found - capacity).abs() <= 1.0, "{found}, not {capacity}");
    }
}

#[test]
fn exchanges_are_there_where_traffic_opens_connections() {
    let mut config = config();
    let tcp = config.flows[1].transport.tcp().expect("TCP").clone();
    let source = Arc::new(Source::Trace([].into()));
    config.flows[1].transport = Transport::Traffic(tcp, source);
    let out = scratch("exchanges");
    let mut writer = RunWriter::create(&out, meta(config), no_progress()).unwrap();
    let whole = Exchange {
        flow: 1,
        connection: 7,
        start: seconds(1.0),
        requested: Some(seconds(1.5)),
        answered: Some(seconds(1.75)),
        end: Some(seconds(2.5)),
        request_bytes: 400,
        response_bytes: Some(9000),
        round_trip: Span::from_millis(30),
        retransmitted_pkts: 3,
        timeouts: 2,
    };
    let cut_short = Exchange {
        requested: None,
        answered: None,
        end: None,
        response_bytes: None,
        ..whole
    };
    writer.exchange(&whole);
    writer.exchange(&cut_short);
    let summary = writer.finish(&totals(), Duration::from_secs(1), 0).unwrap();
    assert_eq!(summary.rows.exchanges, Some(2));
    let table = Read::new(&summary.directory.join("exchanges.parquet"));
    assert_eq!(
        (table.text("name", 0), table.count("flow", 0)),
        ("reno-1", 1)
    );
    for (column, count) in [
        ("connection", 7),
        ("request_bytes", 400),
        ("response_bytes", 9000),
        ("retransmitted_pkts", 3),
        ("timeouts", 2),
    ] {
        assert_eq!(table.count(column, 0), count, "{column}");
    }
    for (column, seconds) in [
        ("start_s", 1.0),
        ("requested_s", 1.5),
        ("answered_s", 1.75),
        ("end_s", 2.5),
        ("extra_rtt_s", 0.03),
    ] {
        assert_eq!(table.real(column, 0), seconds, "{column}");
    }
    for column in ["requested_s", "answered_s", "end_s", "response_bytes"] {
        assert!(table.is_null(column, 1), "{column}");
    }
    assert!(
        table
            .descriptions()
            .iter()
            .all(|column| column["description"] != "")
    );
}

#[test]
fn flows_have_window_and_total_counters() {
    let summary = write(&scratch("flows"), Duration::from_secs(1));
    let flows = Read::new(&summary.directory.join("flows.parquet"));
    assert_eq!(flows.rows.len(), 3);
    assert_eq!(flows.text("name", 0), "hstcp-1");
    assert_eq!(flows.text("label", 1), "reno");
    assert_eq!(flows.text("congestion", 0), "hstcp");
    assert!(flows.is_null("congestion", 2));
    assert_eq!(
        (flows.text("from", 0), flows.text("to", 0)),
        ("west", "east")
    );
    assert_eq!(flows.real("start_s", 0), 0.5);
    assert!(flows.is_null("finish_s", 0) && flows.is_null("completion_s", 0));
    assert_eq!(
        (flows.real("finish_s", 1), flows.real("completion_s", 1)),
        (7.0, 4.0)
    );
    for (prefix, n) in [("", 1000), ("total_", 2000)] {
        let count = |name: &str| flows.count(&format!("{prefix}{name}"), 0) - n;
        let real = |name: &str| flows.real(&format!("{prefix}{name}"), 0);
        let counts = [
            "sent_pkts",
            "sent_bytes",
            "retransmitted_pkts",
            "delivered_pkts",
            "delivered_bytes",
            "cuts_loss",
            "cuts_ecn",
            "timeouts",
            "dropped_pkts",
            "marked_pkts",
            "in_order_pkts",
            "in_order_bytes",
        ];
        assert_eq!(counts.map(count), [1, 2, 3, 4, 5, 6, 7, 8, 14, 15, 16, 17]);
        let n_s = n as f64 / 1000.0;
        assert!((real("rtt_mean_s") - n_s).abs() < 1e-12);
        assert!((real("rtt_min_s") - n_s / 2.0).abs() < 1e-12);
        assert!((real("rtt_max_s") - n_s * 2.0).abs() < 1e-12);
        assert!((real("limited_network_s") - n_s - 0.009).abs() < 1e-12);
        assert!((real("limited_receive_window_s") - n_s - 0.010).abs() < 1e-12);
        assert!((real("limited_application_s") - n_s - 0.011).abs() < 1e-12);
    }
    // Bits are divided by 8 s of the window, or by 10 s of the run.
    assert_eq!(flows.real("goodput_bps", 0), 1005.0 * 8.0 / 8.0);
    assert_eq!(flows.real("total_goodput_bps", 0), 2005.0 * 8.0 / 10.0);
    // The first flow exists during 8 s of the window and 9.5 s of the run, the second during 4 s.
    assert_eq!(flows.real("cwnd_mean_pkts", 0), 1000.0 / 8.0);
    assert_eq!(flows.real("total_cwnd_mean_pkts", 0), 2000.0 / 9.5);
    assert_eq!(flows.real("cwnd_mean_pkts", 1), 100.0 / 4.0);
    assert!(flows.is_null("rtt_mean_s", 2) && flows.is_null("rtt_min_s", 2));
}

#[test]
fn links_conserve_packets() {
    let summary = write(&scratch("links"), Duration::from_secs(1));
    let links = Read::new(&summary.directory.join("links.parquet"));
    assert_eq!(links.rows.len(), 2);
    assert_eq!(links.text("name", 1), "bottleneck-reverse");
    assert_eq!(
        (links.text("from", 1), links.text("to", 1)),
        ("east", "west")
    );
    assert_eq!(
        (links.count("rate_bps", 0), links.real("delay_s", 0)),
        (100_000_000, 0.05)
    );
    for (prefix, n, duration) in [("", 0, 8.0), ("total_", 100, 10.0)] {
        let count = |name: &str| links.count(&format!("{prefix}{name}"), 0);
        let causes = [
            "dropped_loss_pkts",
            "dropped_overflow_pkts",
            "dropped_early_pkts",
            "dropped_forced_pkts",
        ];
        assert_eq!(causes.map(count), [0, 21, 30, 49]);
        assert_eq!(count("dropped_pkts"), causes.map(count).iter().sum::<i64>());
        assert_eq!(
            count("arrived_pkts"),
            count("departed_pkts") + count("dropped_pkts")
        );
        assert_eq!(
            (count("arrived_bytes"), count("departed_bytes")),
            (2000 + n, 50_000_000)
        );
        assert_eq!(
            (count("marked_pkts"), count("queue_max_pkts")),
            (n + 7, n + 8)
        );
        assert_eq!(count("duplicated_pkts"), n + 9);
        let real = |name: &str| links.real(&format!("{prefix}{name}"), 0);
        // 50 MB take 4 s at 100 Mbit/s. 1000 bytes less: part of a packet was transmitted before
        // the window.
        let bits = 8.0 * 49_999_000.5;
        assert_eq!(
            (real("utilization"), real("queue_mean_pkts")),
            (bits / (1e8 * duration), 80.0 / duration)
        );
        assert_eq!(real("line_utilization"), bits / (4e8 * duration));
        assert_eq!(real("queue_found_mean_pkts"), 3.0);
    }
}

#[test]
fn events_have_kind_and_cause() {
    let summary = write(&scratch("events"), Duration::from_secs(1));
    let events = Read::new(&summary.directory.join("events.parquet"));
    let kinds: Vec<_> = (0..6).map(|row| events.text("event", row)).collect();
    assert_eq!(
        kinds,
        ["start", "cut", "cut", "recovery_exit", "timeout", "finish"]
    );
    assert_eq!(
        (events.text("cause", 1), events.text("cause", 2)),
        ("loss", "ecn")
    );
    assert!(events.is_null("cause", 0) && events.is_null("cause", 4));
    assert_eq!((events.real("t_s", 1), events.count("flow", 1)), (1.5, 1));
    assert_eq!(events.text("name", 1), "reno-1");
    assert_eq!(
        (
            events.real("cwnd_before_pkts", 1),
            events.real("cwnd_after_pkts", 1)
        ),
        (100.0, 50.5)
    );
    assert_eq!(
        (
            events.real("ssthresh_after_pkts", 1),
            events.count("in_flight_pkts", 1)
        ),
        (50.0, 99)
    );
}

#[test]
fn every_column_says_what_it_is() {
    let summary = write(&scratch("metadata"), Duration::from_secs(1));
    let endings = [
        ("pkts", "_pkts"),
        ("bytes", "_bytes"),
        ("s", "_s"),
        ("bit/s", "_bps"),
        ("pkts s", "_pkt_s"),
    ];
    for file in [
        "flows.parquet",
        "links.parquet",
        "series.parquet",
        "events.parquet",
    ] {
        let table = Read::new(&summary.directory.join(file));
        let described = table.descriptions();
        let names = table.rows[0].get_column_iter().map(|(name, _)| name);
        assert!(
            names.eq(described
                .iter()
                .map(|column| column["name"].as_str().unwrap()))
        );
        for column in described {
            let name = column["name"].as_str().unwrap();
            assert_ne!(column["description"], "", "{file}: {name}");
            let Some(unit) = column.get("unit") else {
                continue;
            };
            let ending = endings.iter().find(|(name, _)| name == unit).expect(name).1;
            assert!(name.ends_with(ending), "{file}: {name} in {unit}");
        }
    }
}
