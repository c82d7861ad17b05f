//! Size of a run's output, as far as it can be predicted.

use longhaul_engine::config::{Config, Link, Transport};

use super::{packet_bytes, segment_bytes};

/// Measured bytes per sample of a flow or link in the table of time series. The first value is for frequent samples,
/// with few changes between them; the second is for rare samples.
const BYTES_PER_SAMPLE: [f64; 2] = [4.0, 30.0];
/// Bytes per packet in a capture: a block of pcapng with Ethernet, IP, TCP and timestamps.
const BYTES_PER_CAPTURED_PACKET: f64 = 100.0;
/// Minimum output for a warning, in bytes.
const MANY_BYTES: f64 = 1e9;

/// Returns the number of samples that a run would record if all flows started at time 0.
fn samples(config: &Config) -> f64 {
    let Some(every) = config.measure.every else {
        return 0.0;
    };
    let sampled = config.links.iter().filter(|link| link.sampled).count();
    let series = config.flows.len() + sampled;
    config.duration.as_secs_f64() / every.as_secs_f64() * series as f64
}

/// Returns the number of bytes that a run is expected to write: its samples at their minimum size,
/// and the captures of flows that send without pause.
pub(crate) fn expected_bytes(config: &Config) -> f64 {
    // An unlimited source fills the links; other sources may offer less than the links carry.
    let all_the_time = |transport: &Transport| match transport {
        Transport::Tcp(tcp) if tcp.transfer.is_none() => f64::INFINITY,
        Transport::Stack(stack) if stack.transfer.is_none() => f64::INFINITY,
        Transport::Udp(udp) if udp.bursts.is_none() => udp.rate.as_bps() as f64,
        _ => 0.0,
    };
    let offered = offered_bps(config, all_the_time);
    // Data fills one direction of a link, and the other one carries its ACKs.
    let one_way = |link: &&Link| !is_opposite_of_captured(config, link);
    let captures = captured(config).filter(one_way);
    let captures: f64 = captures
        .map(|link| captured_bytes(config, link, offered))
        .sum();
    samples(config) * BYTES_PER_SAMPLE[0] + captures
}

/// Returns the sum of the rates (bit/s) that all flows offer; `of` returns the rate of one flow.
fn offered_bps(config: &Config, of: impl Fn(&Transport) -> f64) -> f64 {
    config.flows.iter().map(|flow| of(&flow.transport)).sum()
}

/// Returns the captured links: those named, and those at captured nodes.
fn captured(config: &Config) -> impl Iterator<Item = &Link> {
    let at_node = |link: &Link| {
        let ends = [link.from, link.to];
        ends.iter().any(|node| config.captured_nodes.contains(node))
    };
    let links = config.links.iter();
    links.filter(move |link| link.captured || at_node(link))
}

/// Returns the names of the links and nodes that are captured.
fn captured_names(config: &Config) -> Vec<&str> {
    let links = config.links.iter().filter(|link| link.captured);
    let nodes = config
        .captured_nodes
        .iter()
        .map(|&node| config.nodes[node].as_str());
    links.map(|link| link.name.as_str()).chain(nodes).collect()
}

/// Returns true if the opposite direction of `link` is captured, too, and precedes `link` in the
/// configuration.
fn is_opposite_of_captured(config: &Config, link: &Link) -> bool {
    let mut earlier = captured(config).take_while(|other| other.name != link.name);
    earlier.any(|other| (other.from, other.to) == (link.to, link.from))
}

/// Returns the bytes of a link's capture if full data packets pass at the link's rate, or at the rate `offered_bps`
/// that sources offer, if this is lower. All packets are taken to be as small as the smallest full packet of a flow.
fn captured_bytes(config: &Config, link: &Link, offered_bps: f64) -> f64 {
    let packet_bytes = config
        .flows
        .iter()
        .map(|flow| packet_bytes(&flow.transport))
        .min();
    let bits = 8.0 * f64::from(packet_bytes.unwrap_or(1500));
    let rate = offered_bps.min(link.rate.as_bps() as f64);
    let packets = rate / bits * config.duration.as_secs_f64();
    packets * BYTES_PER_CAPTURED_PACKET
}

pub(super) fn warn_of_captures(config: &Config, out: &mut Vec<String>) {
    let duration = config.duration.as_secs_f64();
    let at_most = |transport: &Transport| match transport {
        Transport::Tcp(tcp) => tcp.transfer.map_or(f64::INFINITY, |bytes| {
            let packets = bytes.div_ceil(u64::from(tcp.mss_bytes)) as f64;
            packets * 8.0 * f64::from(segment_bytes(tcp)) / duration
        }),
        Transport::Udp(udp) => udp.rate.as_bps() as f64,
        Transport::Stack(stack) => stack
            .transfer
            .map_or(f64::INFINITY, |bytes| 8.0 * bytes as f64 / duration),
        Transport::Traffic(..) | Transport::Messages(..) | Transport::Outside(_) => f64::INFINITY,
    };
    let offered = offered_bps(config, at_most);
    let bytes: f64 = captured(config)
        .map(|link| captured_bytes(config, link, offered))
        .sum();
    if bytes > MANY_BYTES {
        out.push(format!(
            "measure.capture of {} takes up to {:.0} GB",
            captured_names(config).join(", "),
            bytes / 1e9
        ));
    }
}

pub(super) fn warn_of_sampling(config: &Config, out: &mut Vec<String>) {
    let Some(every) = config.measure.every else {
        return;
    };
    let sampled = config.links.iter().filter(|link| link.sampled);
    let series = config.flows.len() + sampled.clone().count();
    let samples = samples(config);
    let [least, most] = BYTES_PER_SAMPLE.map(|bytes| samples * bytes / 1e9);
    if most * 1e9 > MANY_BYTES {
        out.push(format!(
            "measure.every = {every} makes {samples:.0} samples of {series} series, between {least:.1} and \
             {most:.0} GB"
        ));
    }
    let slowest = sampled.min_by_key(|link| link.rate);
    if let Some(link) = slowest
        && every < link.rate.transmission(1500).0
    {
        out.push(format!(
            "measure.every = {every} samples {} more often than it sends packets of 1500 B",
            link.name
        ));
    }
}
