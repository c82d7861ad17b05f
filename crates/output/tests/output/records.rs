//! Records of an invented run: samples, events and totals. All their numbers differ, so that no two
//! can be confused.

use std::path::Path;
use std::time::Duration;

use longhaul_congestion::Cause;
use longhaul_engine::config::Work;
use longhaul_engine::measure::{
    Event, EventKind, FlowCounters, FlowSample, FlowTotals, LimitTimes, LinkCounters, LinkSample,
    LinkTotals, Recorder, Totals,
};
use longhaul_output::{RunSummary, RunWriter};
use longhaul_units::{PS_PER_S, Rate, Span, Time};

use crate::fixture::{config, meta, no_progress, seconds};

/// Number of sampling points. With three rows for each, the table has more than one row group.
pub const SAMPLES: u64 = 6000;

pub fn flow_sample(n: u64) -> FlowSample {
    FlowSample {
        time: Time::from_ps(n * 1_000_000_000),
        flow: (n % 2) as u32,
        cwnd: Some(10.5 + n as f64),
        ssthresh: Some(100.25 + n as f64),
        srtt: if n < 2 {
            Span::ZERO
        } else {
            Span::from_micros(100_000 + n)
        },
        in_flight: 1 + n,
        sent_pkts: 2 + 3 * n,
        retransmitted_pkts: n / 7,
        delivered_bytes: 1448 * n,
        in_order_bytes: 1000 * n,
    }
}

pub fn link_sample(n: u64) -> LinkSample {
    LinkSample {
        time: Time::from_ps(n * 1_000_000_000),
        link: 1,
        queue_pkts: n % 100,
        queue_bytes: n % 100 * 1500,
        queue_avg_pkts: n.is_multiple_of(2).then_some(n as f64 / 3.0),
        max_p: None,
        drop_p: n.is_multiple_of(3).then_some(1e-6 * n as f64),
        queue_integral: n as f64 * 0.5,
        departed_pkts: 5 * n,
        departed_bytes: 7500 * n,
        transmitted_bytes: 7500.25 * n as f64,
        dropped_pkts: n / 10,
        marked_pkts: n / 20,
        capacity_bytes: Some(12_500 * n),
    }
}

pub fn event(kind: EventKind) -> Event {
    Event {
        time: seconds(1.5),
        flow: 1,
        kind,
        cwnd_before: 100.0,
        cwnd_after: 50.5,
        ssthresh_after: 50.0,
        in_flight: 99,
    }
}

/// Returns counters of a flow, all different, which depend on `n`.
pub fn flow_counters(n: u64) -> FlowCounters {
    FlowCounters {
        sent_pkts: n + 1,
        sent_bytes: n + 2,
        retransmitted_pkts: n + 3,
        delivered_pkts: n + 4,
        delivered_bytes: n + 5,
        in_order_pkts: n + 16,
        in_order_bytes: n + 17,
        dropped_pkts: n + 14,
        marked_pkts: n + 15,
        cuts_loss: n + 6,
        cuts_ecn: n + 7,
        timeouts: n + 8,
        rtt_samples: 4,
        rtt_sum: Span::from_millis(4 * n),
        rtt_min: Span::from_millis(n / 2),
        rtt_max: Span::from_millis(n * 2),
        cwnd_integral: n as f64,
        limited: LimitTimes {
            network: Span::from_millis(n + 9),
            receive_window: Span::from_millis(n + 10),
            application: Span::from_millis(n + 11),
        },
        exchanges: n + 13,
        ..FlowCounters::default()
    }
}

/// Returns counters of a link over `seconds` seconds, with a token bucket of 100 Mbit/s and a line
/// of 400 Mbit/s.
pub fn link_counters(n: u64, seconds: u64) -> LinkCounters {
    let capacity =
        |mbps: u64| Work::of_rate(Rate::from_bps(mbps * 1_000_000), Span::from_secs(seconds));
    LinkCounters {
        arrived_pkts: n + 1000,
        arrived_bytes: n + 2000,
        departed_pkts: n + 900,
        departed_bytes: 50_000_000,
        transmitted: Work(49_999_000_500 * 8_000_000_000),
        bucket_capacity: capacity(100),
        line_capacity: capacity(400),
        dropped_overflow_pkts: 21,
        dropped_early_pkts: 30,
        dropped_forced_pkts: 49,
        marked_pkts: n + 7,
        duplicated_pkts: n + 9,
        queue_integral_ps: 80 * u128::from(PS_PER_S),
        queue_found_pkts: 3 * (n + 1000),
        queue_max_pkts: n + 8,
        ..LinkCounters::default()
    }
}

/// Returns the totals of a run of 10 s with a measurement window from 2 s on. The second flow lasts from 3 s to 7 s;
/// the third sends nothing.
pub fn totals() -> Totals {
    let flow = |start, finish, total, window| FlowTotals {
        start,
        finish,
        total,
        window,
    };
    let link = LinkTotals {
        total: link_counters(100, 10),
        window: link_counters(0, 8),
    };
    Totals {
        end: seconds(10.0),
        stopped: false,
        out_of_memory: None,
        flows: vec![
            flow(seconds(0.5), None, flow_counters(2000), flow_counters(1000)),
            flow(
                seconds(3.0),
                Some(seconds(7.0)),
                flow_counters(200),
                flow_counters(100),
            ),
            flow(
                Time::ZERO,
                None,
                FlowCounters::default(),
                FlowCounters::default(),
            ),
        ],
        links: vec![link.clone(), link],
        proxies: Vec::new(),
        delays: None,
        data_packets: 123_456,
        events: 700_000,
        events_pending_max: 9,
        run_warnings: vec!["the run was short".to_string()],
    }
}

pub fn record(writer: &mut RunWriter) {
    for n in 0..SAMPLES {
        writer.flow_sample(&flow_sample(n));
        writer.link_sample(&link_sample(n));
        writer.flow_sample(&flow_sample(n + 1));
    }
    for kind in [
        EventKind::Start,
        EventKind::Cut(Cause::Loss),
        EventKind::Cut(Cause::Ecn),
        EventKind::RecoveryExit,
        EventKind::Timeout,
        EventKind::Finish,
    ] {
        writer.event(&event(kind));
    }
}

pub fn write(out: &Path, wall: Duration) -> RunSummary {
    let mut writer = RunWriter::create(out, meta(config()), no_progress()).unwrap();
    record(&mut writer);
    writer.finish(&totals(), wall, 10_000_000).unwrap()
}
