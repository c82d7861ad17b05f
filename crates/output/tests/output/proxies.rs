//! Tables of a run with a proxy.

use std::sync::Arc;
use std::time::Duration;

use longhaul_engine::Config;
use longhaul_engine::config::Proxy;
use longhaul_engine::measure::{
    FlowCounters, FlowSample, LinkCounters, ProxyCounters, ProxySample, ProxyTotals, Recorder,
    Totals,
};
use longhaul_output::RunWriter;
use longhaul_units::Span;

use crate::fixture::{config, meta, no_progress, scratch};
use crate::records::{flow_sample, link_sample, totals};
use crate::tables::Read;

/// Returns the configuration of a run with a proxy between the two nodes. The proxy's connection
/// has the parameters of the first flow.
fn with_proxy() -> Config {
    let mut config = config();
    let proxy = Proxy {
        name: "satellite".to_string(),
        start: 0,
        end: 1,
        tcp: config.flows[0].transport.tcp().map(Arc::clone).unwrap(),
        queue: config.links[0].queue.clone(),
        credit_bytes: 200_000,
        credit_for_retransmissions: true,
        check_interval: Span::from_millis(10),
        changes: Vec::new(),
    };
    config.proxies.push(proxy);
    config
}

fn counters(n: u64) -> ProxyCounters {
    ProxyCounters {
        queue: LinkCounters {
            arrived_pkts: n + 30,
            departed_pkts: n + 20,
            dropped_overflow_pkts: 10,
            queue_integral_ps: 80 * u128::from(longhaul_units::PS_PER_S),
            queue_max_pkts: n + 9,
            ..LinkCounters::default()
        },
        carrier: FlowCounters {
            sent_pkts: n + 25,
            retransmitted_pkts: n + 5,
            cwnd_integral: 400.0,
            ..FlowCounters::default()
        },
        admitted_bytes: 1000 * (n + 20),
        forwarded_pkts: n + 15,
        forwarded_bytes: 1000 * (n + 15),
    }
}

#[test]
fn a_proxy_has_a_row_and_samples_of_its_own() {
    let mut writer = RunWriter::create(&scratch("proxies"), meta(with_proxy()), no_progress())
        .unwrap_or_else(|error| panic!("{error}"));
    writer.proxy_sample(&ProxySample {
        carrier: FlowSample {
            flow: 0,
            ..flow_sample(7)
        },
        queue: link_sample(7),
    });
    let totals = Totals {
        proxies: vec![ProxyTotals {
            total: counters(100),
            window: counters(0),
        }],
        ..totals()
    };
    let summary = writer.finish(&totals, Duration::from_secs(1), 1).unwrap();
    assert_eq!(summary.rows.proxies, Some(1));
    let proxies = Read::new(&summary.directory.join("proxies.parquet"));
    assert_eq!(
        ["name", "start", "end"].map(|column| proxies.text(column, 0)),
        ["satellite", "west", "east"]
    );
    assert_eq!(proxies.count("credit_bytes", 0), 200_000);
    // 8 s of window and 10 s of run.
    for (prefix, n, duration) in [("", 0, 8.0), ("total_", 100, 10.0)] {
        let count = |name: &str| proxies.count(&format!("{prefix}{name}"), 0);
        let counts = ["arrived_pkts", "taken_pkts", "dropped_pkts"].map(count);
        assert_eq!(counts, [n + 30, n + 20, 10]);
        assert_eq!(count("retransmitted_pkts"), n + 5);
        assert_eq!(count("forwarded_bytes"), 1000 * (n + 15));
        let real = |name: &str| proxies.real(&format!("{prefix}{name}"), 0);
        assert_eq!(real("queue_mean_pkts"), 80.0 / duration);
        assert_eq!(real("cwnd_mean_pkts"), 400.0 / duration);
    }
    for column in proxies.descriptions() {
        assert_ne!(column["description"], "");
    }
    let series = Read::new(&summary.directory.join("series.parquet"));
    assert_eq!(
        (series.text("kind", 0), series.text("name", 0)),
        ("proxy", "satellite")
    );
    assert!(!series.is_null("cwnd_pkts", 0) && !series.is_null("queue_pkts", 0));
}
