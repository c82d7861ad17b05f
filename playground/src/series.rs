//! Time series of the first flows and links.

use longhaul_engine::config::Config;
use longhaul_engine::measure::{
    AckTrace, CapturedPacket, Control, DataPackets, Event, Exchange, FlowSample, LinkSample,
    ProxySample, Recorder,
};
use longhaul_units::Time;
use serde::Serialize;

/// Maximum number of lines in a plot, so that they can be told apart.
const MAX_LINES: u32 = 8;

/// A line of a plot, with the name of its flow or link; missing values are none.
#[derive(Serialize)]
pub struct Line {
    name: String,
    t_s: Vec<f64>,
    y: Vec<Option<f64>>,
}

/// A recorder that keeps the samples of the first flows and links.
#[derive(Default)]
pub struct Series {
    flows: Vec<FlowSample>,
    links: Vec<LinkSample>,
}

impl Series {
    /// Returns the congestion windows in segments.
    pub fn cwnd(&self, config: &Config) -> Vec<Line> {
        let points = |flow: u32| self.of_flow(flow).map(|one| (seconds(one.time), one.cwnd));
        flows(config, |flow| points(flow).collect())
    }

    /// Returns the goodput in Mbit/s over each interval between two samples.
    pub fn goodput(&self, config: &Config) -> Vec<Line> {
        let rate = |before: &FlowSample, after: &FlowSample| {
            let bytes = after.delivered_bytes - before.delivered_bytes;
            bytes as f64 * 8e-6 / (seconds(after.time) - seconds(before.time))
        };
        flows(config, |flow| {
            let ends = self.of_flow(flow).zip(self.of_flow(flow).skip(1));
            ends.map(|(before, after)| (seconds(after.time), Some(rate(before, after))))
                .collect()
        })
    }

    /// Returns the numbers of packets that wait for links.
    pub fn queue(&self, config: &Config) -> Vec<Line> {
        let of = |index: u32| {
            let samples = self.links.iter().filter(move |one| one.link == index);
            samples.map(|one| (seconds(one.time), Some(one.queue_pkts as f64)))
        };
        let sampled = config
            .links
            .iter()
            .zip(0..)
            .filter(|(link, _)| link.sampled);
        sampled
            .take(MAX_LINES as usize)
            .map(|(link, index)| line(&link.name, of(index).collect()))
            .collect()
    }

    fn of_flow(&self, flow: u32) -> impl Iterator<Item = &FlowSample> {
        self.flows.iter().filter(move |one| one.flow == flow)
    }
}

fn flows(config: &Config, points: impl Fn(u32) -> Vec<(f64, Option<f64>)>) -> Vec<Line> {
    let first = config.flows.iter().zip(0..MAX_LINES);
    first
        .map(|(flow, index)| line(&flow.name, points(index)))
        .collect()
}

fn line(name: &str, points: Vec<(f64, Option<f64>)>) -> Line {
    let (t_s, y) = points.into_iter().unzip();
    Line {
        name: name.to_string(),
        t_s,
        y,
    }
}

fn seconds(time: Time) -> f64 {
    time.as_secs_f64()
}

impl Recorder for Series {
    fn flow_sample(&mut self, sample: &FlowSample) {
        if sample.flow < MAX_LINES {
            self.flows.push(*sample);
        }
    }

    fn link_sample(&mut self, sample: &LinkSample) {
        self.links.push(*sample);
    }

    fn proxy_sample(&mut self, _: &ProxySample) {}
    fn event(&mut self, _: &Event) {}
    fn trace(&mut self, _: &AckTrace) {}
    fn exchange(&mut self, _: &Exchange) {}
    fn packet(&mut self, _: &CapturedPacket) {}

    fn progress(&mut self, _: Time, _: DataPackets<'_>) -> Control {
        Control::Continue
    }
}
