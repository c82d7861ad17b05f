//! Warning about congestion windows that may not fit into memory.

use longhaul_engine::config::{Config, Tcp, Transport};

/// Bytes of memory per segment in flight: its packet in a link's ring, which may be half empty, and its entry in the
/// sender's scoreboard.
const BYTES_PER_SEGMENT: f64 = 150.0;
/// Minimum memory for a warning, in bytes: a quarter of the memory of a small machine (8 GB).
const MANY_BYTES: f64 = 2e9;

/// Warns if the full windows of all TCP flows without `traffic` may not fit into memory. The warning names the group
/// whose flows have the largest windows.
pub(super) fn warn_of_windows(config: &Config, out: &mut Vec<String>) {
    let greedy = config
        .flows
        .iter()
        .filter_map(|flow| match &flow.transport {
            Transport::Tcp(tcp) => Some((&flow.label, largest_flight(tcp))),
            _ => None,
        });
    let greedy: Vec<(&String, f64)> = greedy.collect();
    let bytes = BYTES_PER_SEGMENT * greedy.iter().map(|(_, segments)| segments).sum::<f64>();
    let largest = greedy.iter().max_by(|one, other| one.1.total_cmp(&other.1));
    if let Some((label, segments)) = largest
        && bytes > MANY_BYTES
    {
        out.push(format!(
            "full windows would take some {:.1} GB of memory: {segments:.2e} segments in flight for a flow of `{label}`; a \
             run stops before it takes more than there is (--memory); a lower rate, a shorter path or tcp.receive_window \
             bounds it",
            bytes / 1e9
        ));
    }
}

/// Returns the maximum number of segments that a connection can have in flight.
fn largest_flight(tcp: &Tcp) -> f64 {
    let windows = tcp.send_buffer.unwrap_or(u64::MAX).min(tcp.receive_window);
    let transfer = tcp
        .transfer
        .unwrap_or(u64::MAX)
        .div_ceil(u64::from(tcp.mss_bytes));
    windows.min(transfer) as f64
}
